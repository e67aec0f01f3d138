"""How low h(t) + k t is at a mass t, and which part of a range of masses a bound excludes.

phi(t) = h(t) + k t, h(t) = -t log t, is concave: on [l, b] it is least at an end, and where it reaches a level at two places it reaches
that level between them. That is all that range reduction needs. `phi` is rounded downward (docs/explanation/exact_funnel.md).
"""

import math

from ...runtime.compiling import part
from ..common.numerics import EPS


@part
def phi(h: float, k: float, t: float) -> float:
    """A lower bound of h + k t, given h = h(t) as `entropy` computes it."""
    return h + k * t - 4.0 * EPS * (h + abs(k) * t)


@part
def entropy(t: float) -> float:
    """h(t) = -t log t for 0 <= t <= 1, within three units of rounding."""
    return -t * math.log(t) if t > 0.0 else 0.0


@part
def nearest(end: float, k: float, level: float, t: float, f: float) -> float:
    """A point with phi >= level, as far from t, where phi = f >= level, towards the end of the range as a few chords find."""
    f_end = phi(entropy(end), k, end)
    if f_end >= level:
        return end
    for _ in range(5):  # chords; a root need not be exact, only on the safe side
        # The chord from the end lies below phi: where it meets the level, phi is above it.
        nearer = end + (t - end) * ((level - f_end) / (f - f_end))
        f_nearer = phi(entropy(nearer), k, nearer)
        if not (f_nearer >= level and abs(nearer - end) < abs(t - end)):
            break
        small = abs(nearer - t) <= 1e-3 * abs(t - end)
        t, f = nearer, f_nearer
        if small:
            break
    return t


@part
def excluded(k: float, l: float, b: float, level: float) -> tuple[float, float]:
    """t1 <= t2 with phi >= level on [t1, t2], a part of [l, b] as large as a few chords find; (b, l) if there is none.

    Both ends are checked, not trusted: phi(t1) >= level and phi(t2) >= level, so phi >= level between them, as phi is concave.
    """
    top = min(max(math.exp(min(k, 1.0) - 1.0), l), b)
    f_top = phi(entropy(top), k, top)
    if not f_top >= level:
        return b, l
    return nearest(l, k, level, top, f_top), nearest(b, k, level, top, f_top)
