"""The other side's turn: whoever claims f(q) - lambda.q >= m for every q is challenged by a local search over the whole simplex.

From every column met, each mixed with p_x, from pairs of them, from p_x with noise and from pairs of letters: first the map of
`TaskForm.descended`, which never raises f(q) - lambda.q, then mass is moved from one letter to another while that lowers it. Nothing of
the proofs is used here; a q with f(q) - lambda.q < m shows that the proof is wrong, and nothing of it counts.
"""

from __future__ import annotations

import math
import warnings
from typing import NamedTuple

import numpy as np

from ...errors import ContradictionWarning
from ...information import Array
from ...kernels.common.numerics import UNIT
from ..funnel.challenge import ChallengeEffort, beginnings
from ..funnel.generation import NO_PROOF
from .boxes import Asked

EFFORT = ChallengeEffort(pairs=64, noisy=128, work=60_000)
"""How hard a bound is attacked, as for the funnel; well below a second."""

LETTERS = 256
"""Pairs of letters, each with a random share, that are beginnings, too."""

MOVES = 24
"""Of mass between letters, from the lowest posteriors."""


class TaskOutcome(NamedTuple):
    """Where a proof has ended, after the challenge."""

    encoder: Array
    """Of the classes."""
    lower: float
    """The best bound of L at ``hide``, proven with ``lam``; minus infinity if it was contradicted."""
    hide: float
    lam: Array
    rounds: int
    contradiction: str = ""
    """What has contradicted the proof."""


def upheld(asked: Asked, claim: float, Q: Array) -> str:
    """Nothing if local search from the columns of Q meets no posterior below the claim, up to rounding; else a sentence, and a warning."""
    value = lowest_met(asked, Q)
    size = asked.form.keep + asked.form.hide + asked.form.gamma
    off = 64.0 * (len(Q) + len(asked.form.T_u) + len(asked.form.T_s)) * UNIT * (size * (1.0 + math.log(len(Q) + 1.0)))
    if not value < claim - off - 64.0 * UNIT * asked.largest:
        return ""
    return disproven(f"f(q) - lambda.q >= {claim:.3e} was claimed, and a posterior with {value:.3e} is there")


def disproven(said: str) -> str:
    """The sentence, after a warning."""
    warnings.warn(f"{said}: {NO_PROOF}", ContradictionWarning, stacklevel=3)
    return said


def lowest_met(asked: Asked, Q: Array) -> float:
    """The lowest f(q) - lambda.q that local search finds from the columns of Q (|X|, k)."""
    form, n, rng = asked.form, len(Q), np.random.default_rng(0)
    Q = Q[:, np.argsort(asked.values(Q), kind="stable")[: max(EFFORT.work // n, 1)]]
    x, y, t = *rng.integers(n, size=(2, LETTERS)), rng.random(LETTERS)
    two = np.zeros((n, LETTERS))
    np.add.at(two, (x, np.arange(LETTERS)), t)
    np.add.at(two, (y, np.arange(LETTERS)), 1.0 - t)
    begun = np.hstack([Q, beginnings(Q, form.p_x, EFFORT, rng), 0.98 * two + 0.02 * form.p_x[:, None]])
    ends = np.hstack([Q, two, form.descended(asked.lam, begun, EFFORT.steps)[0]])
    values = asked.values(ends)
    lowest = np.argsort(values, kind="stable")[: EFFORT.lowest]  # NaN comes last
    return min(float(values[lowest[0]]), _moved(asked, ends[:, lowest]))


def _moved(asked: Asked, Q: Array) -> float:
    """The lowest value after moving mass from the letter of steepest slope to that of the lowest, as much of it as lowers f most."""
    shares, each = 0.5 ** np.arange(8), np.arange(Q.shape[1])
    values = asked.values(Q)
    for _ in range(MOVES):
        slope = asked.form.slopes(Q).T - asked.lam[:, None]
        if asked.form.gamma:
            slope += asked.form.gamma * np.log(np.maximum(Q, 1e-300))
        fro, to = np.where(Q > 0.0, slope, -math.inf).argmax(axis=0), slope.argmin(axis=0)
        tried = np.repeat(Q[:, :, None], len(shares), axis=2)
        moved = Q[fro, each][:, None] * shares
        tried[fro, each] -= moved
        tried[to, each] += moved
        found = asked.values(tried.reshape(len(Q), -1)).reshape(-1, len(shares))
        best = found.argmin(axis=1)
        better = found[each, best] < values
        if not better.any():
            break
        Q = np.where(better, tried[:, each, best], Q)
        values = np.where(better, found[each, best], values)
    return float(np.nanmin(values))
