"""Systems that were counted in a few trials: what their noise does to epsilon, beta and gNID, and whether they may lie on the bound.

W^[z, x] = N[z, x] / n_x is noisy, and noise only leads away from the frontier: a subject that is exactly optimal has a positive epsilon in
every experiment. So

- I(X;Z) is corrected by its expected bias, to first order

      E I^(X;Z) - I(X;Z) = sum_x p_x (k_x - 1) / 2n_x - sum_zx p_x^2 W (1 - W) / (2 n_x p_z),    k_x words seen for x;

- intervals are basic bootstrap intervals: trials are drawn anew from W^, item by item, and if t^ is the number and t* those of the draws,
  the interval is [2t^ - q_.975(t*), 2t^ - q_.025(t*)], which takes the bias off twice as large as the percentiles would leave it in;
- that of I(X;Z) is the wider of this and of one by test inversion, since W^ is sharper than what it was drawn from, and its draws show too
  little bias: the I(X;Z) of those W_t = (1 - t) W^ + t p^(z), sharper for t < 0, of whose draws I^(X;Z) is between q_.025 and q_.975;
- that of beta (gamma) is what the frontier's slope has over the interval of I(X;Z): it falls along the frontier. On a straight piece all of
  it may be one number, and a bootstrap of beta itself, whose draws fall on that piece or beside it, held in 82 to 88% of experiments;
- the hypothesis "on the bound" is tested by simulation: trials drawn from an optimum give epsilons that an optimal subject would show, and
  p is the share of them that is at least the subject's, itself counted. Which optimum is not known: p is the largest at the corrected
  I(X;Z) and at both ends of its basic interval (with the corrected one alone, 6 of 20 optimal subjects of one kind were rejected at 5%).

The proven interval of epsilon (``epsilon_proven_low_bits``, ``epsilon_proven_high_bits``) is about this W^ and knows nothing of this.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..errors import InvalidOptionError
from ..information import Array, bits, plane_point
from ..joint.joint import Joint
from ..solvers.job import NO_PROOF
from .curve import Placement, Search, TrialNoise
from .given import System

ACCURACY, FEW = 1e-5, 3
"""Nats to which a draw's epsilon is found, and slopes solved for one at most: far below what trials can tell."""


class TrialEffort(NamedTuple):
    """How closely a draw is looked at."""

    level: float = 0.05
    """One minus the confidence of an interval."""
    sharpest: float = -8.0
    halvings: int = 12
    """Where the search for a sharper W_t begins, W^ to the ninth power being hard; and its halvings, to a thousandth of t."""


EFFORT = TrialEffort()


def noise_of(search: Search, placed: Placement, draws: int, rng: np.random.Generator) -> TrialNoise:
    """Intervals and the test for one system, in 4 ``draws`` experiments; the search is for them, and its curve is shared."""
    W, curve = placed.system.encoder, search.curve
    n_x, p_x = checked_trials(placed.system), curve.joint.p_x
    again = [_placed(search, _drawn(W, n_x, rng)) for _ in range(draws)]
    u = corrected_ixz(W, n_x, p_x)
    ends = _basic(placed.ixz, [one.ixz for one in again])
    inverted = inverted_ixz(W, n_x, p_x, draws, rng)
    low, high = min(ends[0], inverted[0]), max(ends[1], inverted[1])
    # Optima differ in how much noise moves them, and which of them it is, if any, is not known exactly: the least certain counts.
    shares = []
    for ixz in (u, *ends):
        best = _placed(search, _shrunk_to(curve.joint, W, ixz)).optimum.encoder
        shown = [_placed(search, _drawn(best, n_x, rng)).epsilon for _ in range(draws)]
        shares.append((1 + sum(one >= placed.epsilon - ACCURACY for one in shown)) / (draws + 1))
    return TrialNoise(
        trials=int(n_x.sum()),
        ixz_corrected=u,
        ixz=(low, high),
        epsilon=_basic(placed.epsilon, [one.epsilon for one in again]),
        parameter=(curve.parameter(search.slopes_at(high)[0]), curve.parameter(search.slopes_at(low)[1])),
        gnid=_basic(placed.gnid, [one.gnid for one in again], most=1.0),
        on_bound_p=max(shares),
    )


def checked_trials(system: System) -> Array:
    """How often each item was named, or an error that says what is missing."""
    n_x = system.trials
    if n_x is None or (n_x != np.floor(n_x)).any():
        raise InvalidOptionError(
            f"bootstrap draws trials anew, and needs whole-number counts of them: system {system.name!r} has shares. Give tables of counts "
            "with counts=True."
        )
    return n_x


def corrected_ixz(W: Array, n_x: Array, p_x: Array) -> float:
    """I(X;Z) without the bias of few trials, at least 0 and at most the plug-in; nats."""
    seen, p_z = (W > 0.0).sum(axis=0), W @ p_x
    within = float((p_x * (seen - 1) / (2.0 * n_x)).sum())
    between = (p_x**2 / (2.0 * n_x) * W * (1.0 - W)).sum(axis=1)
    bias = within - float((between[p_z > 0.0] / p_z[p_z > 0.0]).sum())
    value = float((p_x * _divergences(W, p_z)).sum())
    return min(max(value - bias, 0.0), value)


def _divergences(W: Array, p_z: Array) -> Array:
    """KL(W_x || p_z) for each x; of many encoders at once, too."""
    ratio = np.divide(W, p_z[..., None], out=np.ones_like(W), where=W > 0.0)
    kl: Array = (W * np.log(ratio)).sum(axis=-2)
    return kl


def inverted_ixz(W: Array, n_x: Array, p_x: Array, draws: int, rng: np.random.Generator) -> tuple[float, float]:
    """Between which I(X;Z) the encoders W_t lie, in nats, whose experiments show that of W neither too seldom above nor below."""
    uniform = [rng.random((draws, int(n))) for n in n_x]  # the same for every t, so that what is shown falls as t grows

    def ixz(V: Array) -> Array:
        shown: Array = _divergences(V, V @ p_x) @ p_x
        return shown

    def shown(V: Array) -> Array:
        counts = np.empty((draws, *V.shape))
        for x, u in enumerate(uniform):
            steps = np.cumsum(V[:, x])
            word = np.minimum(np.searchsorted(steps / steps[-1], u, side="right"), len(V) - 1)
            at = np.arange(draws)[:, None] * len(V) + word
            counts[:, :, x] = np.bincount(at.ravel(), minlength=draws * len(V)).reshape(draws, len(V)) / n_x[x]
        return ixz(counts)

    def blurred(t: float) -> Array:
        made = (1.0 - t) * W + t * (W @ p_x)[:, None] if t > 0.0 else W ** (1.0 - t)
        made /= made.sum(axis=0)
        return made

    def end(quantile: float) -> float:
        def too_much(t: float) -> bool:
            return bool(np.quantile(shown(blurred(t)), quantile) > ixz(W))

        low, high = (0.0, 1.0) if too_much(0.0) else (EFFORT.sharpest, 0.0)
        for _ in range(EFFORT.halvings):
            middle = 0.5 * (low + high)
            low, high = (middle, high) if too_much(middle) else (low, middle)
        return float(ixz(blurred(0.5 * (low + high))))

    return end(1.0 - EFFORT.level / 2.0), end(EFFORT.level / 2.0)


def _placed(search: Search, W: Array) -> Placement:
    system = System("a draw", W, tuple(range(len(W))))
    return search.place(system, search.curve.line(plane_point(search.curve.joint, W)), NO_PROOF)


def _drawn(W: Array, n_x: Array, rng: np.random.Generator) -> Array:
    """Shares of trials that are drawn from W."""
    counts = [rng.multinomial(int(n), column / column.sum()) for n, column in zip(n_x, W.T, strict=True)]
    return np.array(counts).T / n_x


def _shrunk_to(joint: Joint, W: Array, u: float) -> Array:
    """W shrunk towards its own p(z) until I(X;Z) is u: the optimum nearest to it has about that."""
    from scipy.optimize import brentq

    flat = (W @ joint.p_x)[:, None]

    def shrunk(share: float) -> Array:
        made: Array = (1.0 - share) * W + share * flat
        return made

    def above(share: float) -> float:
        return plane_point(joint, shrunk(share)).ixz - u

    return shrunk(brentq(above, 0.0, 1.0) if above(0.0) > 0.0 > above(1.0) else 0.0)


def _basic(value: float, draws: list[float], most: float = np.inf) -> tuple[float, float]:
    low, high = np.quantile(draws, [EFFORT.level / 2.0, 1.0 - EFFORT.level / 2.0])
    return min(max(2.0 * value - float(high), 0.0), most), min(max(2.0 * value - float(low), 0.0), most)


def inverse(gamma: float) -> float:
    """Beta of a gamma: 1 / gamma."""
    return np.inf if gamma == 0.0 else 1.0 / gamma


def columns_of(noise: TrialNoise, hides_y: bool) -> dict[str, float]:
    """The columns that a frame of efficiencies gets from it."""

    def ends(name: str, low: float, high: float) -> dict[str, float]:
        what, *unit = name.split("_")
        return {"_".join([what, "ci", side, *unit]): end for side, end in (("low", low), ("high", high))}

    low, high = noise.parameter
    return {
        "trials": noise.trials,
        "ixz_corrected_bits": bits(noise.ixz_corrected),
        **ends("ixz_bits", *map(bits, noise.ixz)),
        **ends("epsilon_bits", *map(bits, noise.epsilon)),
        **(ends("beta", low, high) if hides_y else ends("beta", inverse(high), inverse(low))),
        **ends("gnid", *noise.gnid),
        "on_bound_p": noise.on_bound_p,
    }
