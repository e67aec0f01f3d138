"""Two scalar equations on which the proximal steps of entropy rest, solved by Newton to rounding."""

import math

from ...runtime.compiling import part

UNIT = 2.0**-53  # the unit roundoff: what one operation may be off by, relatively
EPS = 2.0 * UNIT  # from 1 to the next number
LOG_TINY = -690.0  # log of the smallest mass that is told apart from zero
TINY = math.exp(LOG_TINY)


@part
def safe_log(p: float) -> float:
    """log p, with log 0 read as a very negative number, so that 0 log 0 = 0 and no NaN can arise."""
    return math.log(p) if p > TINY else LOG_TINY


@part
def wright_omega(b: float) -> float:
    """The w > 0 with w + log w = b (Lambert's W of e^b, without overflow)."""
    if b < -36.0:
        return math.exp(b)  # w = e^b (1 - e^b + ...): exact to rounding here
    w = b - math.log(b) if b > 2.0 else math.log1p(math.exp(b))
    for _ in range(20):
        step = w * (b - w - math.log(w)) / (1.0 + w)
        w = w + step if w + step > 0.0 else 0.5 * w
        if abs(step) <= 1e-15 * w:
            break
    return w


@part
def upper_root(b: float) -> float:
    """The s >= 0 with e^s - s = b, for b >= 1."""
    d = b - 1.0
    if d <= 0.0:
        return 0.0
    s = math.log(1.0 + d + math.sqrt(2.0 * d))  # lies above the root, from where Newton on a convex function descends
    for _ in range(40):
        slope = math.expm1(s)
        step = (slope - s - d) / slope
        s -= step
        if abs(step) <= 1e-15 * s:
            break
    return s
