"""The other side's turn: whoever claims g(q) >= m for every q is challenged by a local search over the whole simplex.

It begins from every column met, the encoders' clusters and single letters among them, each mixed with p_x: all letters may come in; from
pairs of columns; and from p_x with noise. Of the funnel, g(q) = H(q) - beta H(Tq) - lambda.q, by the map

    q_x <- q_x^b exp((lambda_x - beta sum_y T[y,x] log u_y) / (beta - 1)) / normaliser,    u = Tq,

that never raises g (`kernels/concentration.py`), then by Newton's method on the letters left. Where one target is kept and another hidden,
g(q) = f(q) - lambda.q, from pairs of letters, too: by the map of `TaskForm.descended`, which never raises it, then mass is moved from one
letter to another while that lowers it. Nothing of the proofs is used here; a q with g(q) < m shows that the proof is wrong, and nothing of
it counts.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import ContradictionWarning
from ..information import Array, entr
from ..kernels.common import UNIT
from ..kernels.concentration import concentrate
from ..posterior.programme import Channel

if TYPE_CHECKING:
    from .tasks.boxes import Asked

NO_PROOF = (
    "the proof contradicts itself, and nothing of it counts. The encoder is as good as it says, but not certified. This is a defect of "
    "infoplane: please report it with the joint and the problem."
)

SHARES = (0.95, 0.6)
"""Shares of a column in the mixture with p_x that a descent begins from."""


class ChallengeEffort(NamedTuple):
    """How hard a bound is attacked; `benchmarks/bench_recheck.py` measures what it costs."""

    pairs: int = 128
    noisy: int = 256
    noise: float = 2.0
    """Beginnings of the two other kinds, always the same ones, and the standard deviation of log q in the latter. Of a proof that a
    defect had made wrong, columns did not find the posterior that was missing; so many pairs did in 13 of 20 trials, so much noise in
    20 of 20."""
    steps: int = 30
    """Of the map."""
    negligible: float = 1e-13
    """Mass of a letter that is left out after the map: it has left for good, the slope of H is infinite there."""
    lowest: int = 64
    few: int = 25
    """Posteriors that Newton's method takes, those of least g, and letters of each, the largest."""
    work: int = 2_000_000
    """Letters times descents, at most; the columns of least g come first. Well below a second."""


EFFORT = ChallengeEffort()


def challenge(channel: Channel, p_x: Array, lam: Array, beta: float, Q: Array) -> tuple[Array, float]:
    """The q of lowest g(q) that local search finds from the columns of Q (|X|, k), and that value; beta > 1."""
    g = _values(channel, lam, beta, Q)
    Q = Q[:, np.argsort(g, kind="stable")[: max(EFFORT.work // (len(SHARES) * len(p_x)), 1)]]
    rows = np.ascontiguousarray(beginnings(Q, p_x, EFFORT, np.random.default_rng(0)).T)
    concentrate(np.ascontiguousarray(channel.full.T), lam, beta, rows, EFFORT.steps, EFFORT.negligible)
    ends = np.hstack([Q, rows.T])
    ends = ends[:, ends.sum(axis=0) > 0.5]  # a descent from masses of 1e-320 may end nowhere
    lowest = np.argsort(_values(channel, lam, beta, ends), kind="stable")[: EFFORT.lowest]
    ends = np.hstack([ends[:, lowest], channel.descend(lam, beta, _on_few(ends[:, lowest]))[0]])
    values = _values(channel, lam, beta, ends)
    least = int(np.nanargmin(values))
    return ends[:, least], float(values[least])


def beginnings(Q: Array, p_x: Array, effort: ChallengeEffort, rng: np.random.Generator) -> Array:
    """Columns of Q mixed with p_x, pairs of them, and p_x with noise."""
    middle = (p_x / p_x.sum())[:, None]
    one, other = rng.integers(Q.shape[1], size=(2, effort.pairs))
    noisy = middle * np.exp(effort.noise * rng.standard_normal((len(p_x), effort.noisy)))
    mixed = [share * Q + (1.0 - share) * middle for share in SHARES]
    return np.hstack([*mixed, 0.5 * (Q[:, one] + Q[:, other]), noisy / noisy.sum(axis=0)])


def _values(channel: Channel, lam: Array, beta: float, Q: Array) -> Array:
    """g of every column, by the formula."""
    values: Array = entr(Q).sum(axis=0) - beta * entr(channel.full.T @ Q).sum(axis=0) - lam @ Q
    return values


def _on_few(Q: Array) -> Array:
    """The columns on their `EFFORT.few` largest letters."""
    if len(Q) > EFFORT.few:
        Q = np.where(np.partition(Q, -EFFORT.few, axis=0)[-EFFORT.few] <= Q, Q, 0.0)
    few: Array = Q / Q.sum(axis=0)
    return few


TASK_EFFORT = ChallengeEffort(pairs=64, noisy=128, work=60_000)
"""How hard a bound is attacked, as for the funnel; well below a second."""

LETTERS = 256
"""Pairs of letters, each with a random share, that are beginnings, too."""

MOVES = 24
"""Of mass between letters, from the lowest posteriors."""


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
    Q = Q[:, np.argsort(asked.values(Q), kind="stable")[: max(TASK_EFFORT.work // n, 1)]]
    x, y, t = *rng.integers(n, size=(2, LETTERS)), rng.random(LETTERS)
    two = np.zeros((n, LETTERS))
    np.add.at(two, (x, np.arange(LETTERS)), t)
    np.add.at(two, (y, np.arange(LETTERS)), 1.0 - t)
    begun = np.hstack([Q, beginnings(Q, form.p_x, TASK_EFFORT, rng), 0.98 * two + 0.02 * form.p_x[:, None]])
    ends = np.hstack([Q, two, form.descended(asked.lam, begun, TASK_EFFORT.steps)[0]])
    values = asked.values(ends)
    lowest = np.argsort(values, kind="stable")[: TASK_EFFORT.lowest]  # NaN comes last
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
