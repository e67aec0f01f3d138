"""Proofs of the funnel on noisy tables with faint cells, from 1e-9 to 1e-300: where a bound once was above what another solver found.

- `of_a_bound`: no proven bound lies above the loss of an encoder that another solver, or chance, has found; no proof contradicts itself.
- `of_a_search`: multipliers for which the least g is known from many descents, and a target just above or just below it. The search never
  claims more than that, and no posterior below the target that was met lies outside the boxes that wait.
"""

import warnings

import numpy as np

import funnel_twin as twin
import infoplane as ip
from infoplane.certificate.challenge import challenge
from infoplane.certificate.funnel.generation import FreeSearch
from infoplane.kernels.funnel_proof.search import LOST, WAITING
from infoplane.posterior import programme as channels

from .calls import Broken

FAINT = (0.0, 1e-9, 1e-11, 1e-20, 1e-30, 1e-100, 1e-300)
ROUNDING = 1e-12
CELLS = 3_000
"""Of one search."""


def table(rng, largest=(14, 6)):
    """Noisy rows, some of whose cells, or all of a column, are faint."""
    n, m = int(rng.integers(3, largest[0] + 1)), int(rng.integers(2, largest[1] + 1))
    rows = rng.dirichlet(np.full(m, rng.choice([0.2, 0.5, 1.0])), n) * rng.dirichlet(np.full(n, 2.0))[:, None]
    rows = np.where(rng.random((n, m)) < rng.choice([0.1, 0.4]), rows * 10.0 ** rng.uniform(-12, -1, (n, m)), rows)
    rows = np.where(rng.random((n, m)) < rng.choice([0.0, 0.1, 0.4]), rng.choice(FAINT, (n, m)), rows)
    faint = rng.random(m) < rng.choice([0.0, 0.4])
    rows[:, faint] = np.where(rng.random((n, int(faint.sum()))) < 0.8, 0.0, rng.choice(FAINT, (n, int(faint.sum()))))
    rows[rows.sum(axis=1) < 1e-6, 0] = 0.1
    return rows


def of_a_bound(rng):
    counts, beta = table(rng), float(rng.choice([1.3, 2.0, 3.0, 5.0, 20.0]))
    joint, problem, seed = ip.Joint.from_counts(counts), ip.funnel(beta), int(rng.integers(1000))
    call = f"ip.solve(ip.Joint.from_counts({counts.tolist()}), ip.funnel({beta}), certify=True)"
    with warnings.catch_warnings():
        warnings.simplefilter("error", ip.ContradictionWarning)
        try:
            found = ip.solve(joint, problem, certify=float(rng.choice([1e-6, 1e-4])), max_seconds=5.0)
        except ip.ContradictionWarning as said:
            raise Broken(f"{said}\n    {call}") from said
    losses = {
        "pooling": ip.solve(joint, problem, "pooling", starts=2, rng=seed).loss,
        "accelerated": ip.solve(joint, problem, "accelerated", starts=2, rng=seed).loss,
    }
    for number in range(20):
        W = rng.dirichlet(np.full(int(rng.integers(1, len(counts) + 1)), 0.1), joint.shape[0]).T
        losses[f"random {number}"] = problem.value(joint, W)
    best = min(losses, key=losses.get)
    if not found.lower_bound <= losses[best] + ROUNDING:
        raise Broken(f"the bound {found.lower_bound!r} is above {losses[best]!r} of {best}, seed {seed}\n    {call}")
    return f"bound {found.status.name}"


def _covered(search, Q):
    """Whether each column of Q lies in some box that waits."""
    cells = search.heap[: search.tally[WAITING]]
    low, high = search.low[cells] - 1e-14, search.high[cells] + 1e-14
    return np.array([((low <= q) & (q <= high)).all(axis=1).any() for q in Q.T], dtype=bool)


def of_a_search(rng):
    joint = ip.Joint.from_counts(table(rng))
    p_x = joint.p_x[joint.p_x > 0.0]
    T = np.ascontiguousarray((np.asarray(joint.p_xy)[joint.p_x > 0.0] / p_x[:, None]).T)
    n, beta, slots = len(p_x), float(rng.choice([1.3, 2.0, 3.0, 20.0])), bool(rng.random() < 0.4)
    letters = channels.SLOTS_LETTERS
    channels.SLOTS_LETTERS = 0 if slots else n + 1
    memory, channels.MEMORY = channels.MEMORY, 2**24
    try:
        channel = channels.Channel(T)
        lam = -beta * rng.choice([0.1, 0.6]) * rng.random(n)
        Q = twin.sparse_posteriors(n, channel.rank, rng, 300)
        Q = np.hstack([Q, channel.descend(lam, beta, Q[:, :60].copy())[0]])
        Q = np.column_stack([Q, challenge(channel, p_x, lam, beta, Q)[0]])
        depth = float(10.0 ** rng.uniform(-6, -1))
        lam = lam + twin.values(T, lam, beta, Q).min() + depth
        lowest = twin.values(T, lam, beta, Q).min()
        search = FreeSearch(channel, lam, beta, float(-depth * (1.0 + rng.choice([-1e-1, -1e-3, -1e-6, 1e-6, 1e-2]))))
        floor = float(search.search.number[1])
        below = twin.folded(channel, Q[:, twin.values(T, lam, beta, Q) < floor - 1e-9])
        free = [np.linalg.matrix_rank(channel.T[q > 0.0]) == (q > 0.0).sum() for q in below.T]
        below = below[:, np.array(free, dtype=bool)]
        while search.advance(400) and search.cells < CELLS:
            pass
        if not search.least() <= lowest + ROUNDING * (1.0 + beta + np.abs(lam).max()):
            raise Broken(f"least {search.least()!r} is claimed, {lowest!r} is there (slots: {slots})")
        if search.mistakes:
            raise Broken(f"{search.mistakes} claims did not hold (slots: {slots})")
        outside = 0 if channel.by_slots or search.search.tally[LOST] else int((~_covered(search.search, below)).sum())
        if outside:
            raise Broken(f"{outside} posteriors below the target lie in no box that waits")
    finally:
        channels.SLOTS_LETTERS, channels.MEMORY = letters, memory
    return f"search of {'slots' if slots else 'boxes'}, {'ended' if not search.left else 'open'}"


def attack(rng):
    """One of the two."""
    return (of_a_bound if rng.random() < 0.6 else of_a_search)(rng)
