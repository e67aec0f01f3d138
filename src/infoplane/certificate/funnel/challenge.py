"""The other side's turn: whoever claims g(q) >= m for every q is challenged by a local search over the whole simplex.

    g(q) = H(q) - beta H(Tq) - lambda.q;    q_x <- q_x^b exp((lambda_x - beta sum_y T[y,x] log u_y) / (beta - 1)) / normaliser,    u = Tq,

a map that never raises g (`kernels/concentration.py`), from every column met, the encoders' clusters and single letters among them, each
mixed with p_x: all letters may come in; from pairs of columns; and from p_x with noise. Then Newton's method on the letters left.
Nothing of the branch and bound is used here; a q with g(q) < m shows that the proof is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...information import Array, entr
from ...kernels.concentration import concentrate
from ...posterior.channel import Channel

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


class Challenge(NamedTuple):
    """The lowest g that was met, and where."""

    posterior: Array
    value: float


def challenge(channel: Channel, p_x: Array, lam: Array, beta: float, Q: Array) -> Challenge:
    """The lowest g(q) that local search finds from the columns of Q (|X|, k); beta > 1."""
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
    return Challenge(ends[:, least], float(values[least]))


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
