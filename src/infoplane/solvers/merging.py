"""Clusters merged: pair by pair, of which the best partition of a merge path is taken (`posterior/merge_path.py`), or many at a time.

**Many at a time**: Ding and Sadeghi (2019), "A submodularity-based clustering algorithm for the information bottleneck and privacy funnel",
after its abstract: the objective, the rounds, and that a round is the minimum of a difference of submodular functions are theirs; how that
minimum is looked for, from which sets, and when a round is the last are chosen here, as their text was not at hand.

Begin with Z = X; in each round merge the *set* S of clusters, not only a pair, that lowers the Lagrangian most, until none does. With
h(t) = -t log t and hard clusters, L = rho_z H(Z) + rho_zy H(Z|Y), a merge changes L by

    D(S) = rho_z [h(p(S)) - sum_S h(p(z))] + rho_zy sum_y [h(p(S, y)) - sum_S h(p(z, y))].

h of a sum of masses is submodular in S, being a concave function of a modular one; so D is a difference of submodular functions: terms of
positive weight minus terms of negative weight, plus a modular rest. It is minimised as Iyer and Bilmes (2012) do: around the present S
the first are bounded above by a modular function (the tangent of h), the second below by another (the gains along an order of the clusters
that begins with S), both exact at S; the set of all clusters with a negative bound is the next S. D never rises, and every round is a few
passes over the table p(z, y). A round begins from the best pair, so that it is never worse than that merge, and from some random sets.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..checks import PYTHON_ONLY, check_one_of, whole_number
from ..information import Array, IntArray, entr
from ..kernels.common import Flags
from ..posterior.merge_path import path_for
from ..problem import MarkovLagrangian
from ..solution import Run
from .base import Solver
from .job import Job
from .shared.partitions import encoder_of


@dataclass(frozen=True)
class Merging(Solver):
    """Greedy merging: Merge-Two for the funnel, agglomerative bottleneck; of its path the partition of lowest Lagrangian.

    Parameters
    ----------
    criterion
        ``"information"``: the classical paths, Merge-Two where H(Z|Y) enters with a negative sign (the funnel), the agglomerative
        bottleneck elsewhere. ``"lagrangian"``: each merge is the one that lowers the problem's own Lagrangian most.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.5), ip.Merging())
    >>> s.clusters, round(s.loss, 6)
    (2, -0.232136)
    """

    name = "merging"
    deterministic = True  # there is one path, whatever the starts
    grows = True

    criterion: Literal["information", "lagrangian"] = "information"

    def __post_init__(self) -> None:
        check_one_of("criterion", self.criterion, ("information", "lagrangian"))

    def run(self, job: Job) -> list[Run]:
        """The best partition of the path, whatever the starts."""
        path = path_for(job.support.joint, job.problem, self.criterion, lambda *_: job.budget.look())
        encoder = path.encoder_at(path.best(job.problem, job.most))[:, job.support.x]
        return [replace(job.standing(encoder, self.name), iterations=len(path.merges))]


ROUNDING = 1e-13
"""Nats by which L must fall for a set to count as better."""


@dataclass(frozen=True)
class Submodular(Solver):
    """Agglomerative clustering in which a round may merge many clusters at once (Ding, Sadeghi 2019).

    Parameters
    ----------
    orders
        Random sets, each with its own random orders, from which a round looks for its own beside the best pair.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.heart(), ip.funnel(2.5), ip.Submodular())
    >>> s.clusters, round(s.loss, 4) <= round(ip.solve(ip.datasets.heart(), ip.funnel(2.5), "merging").loss, 4)
    (15, True)
    """

    name = "submodular"
    deterministic = True  # whatever the starts
    grows = True

    orders: int = field(default=8, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "orders", whole_number("orders", self.orders, 0))

    def run(self, job: Job) -> list[Run]:
        """The clustering, whatever the starts."""
        labels, rounds = cluster(job, self.orders)
        return [replace(job.standing(encoder_of(labels), self.name), iterations=rounds)]


class Merger:
    """The clusters as they stand, and what merging a set of them would change."""

    def __init__(self, P: Array, problem: MarkovLagrangian) -> None:
        self.weights = np.concatenate([[problem.rho_z], np.full(P.shape[1], problem.rho_zy)])
        self.masses = np.column_stack([P.sum(axis=1), P])  # p(z) and p(z, y)
        self.labels: IntArray = np.arange(len(P))

    def change(self, chosen: Flags) -> float:
        """D(S) for a set given as a mask."""
        return float(self.weights @ (entr(self.masses[chosen].sum(axis=0)) - entr(self.masses[chosen]).sum(axis=0)))

    def best_pair(self) -> tuple[float, int, int]:
        """The pair whose merge has the least D, and that D."""
        n, alone = len(self.masses), entr(self.masses) @ self.weights
        best = (np.inf, 0, 0)
        # 4 million entries of the table of all pairs are made at once.
        block = max(1, 4_000_000 // self.masses.size)
        for rows in np.array_split(np.arange(n - 1), range(block, n - 1, block)):
            together = entr(self.masses[rows, None] + self.masses[None]) @ self.weights
            together = together - alone[rows, None] - alone[None]
            together[np.arange(n)[None] <= rows[:, None]] = np.inf
            i, j = np.unravel_index(int(together.argmin()), together.shape)
            if together[i, j] < best[0]:
                best = (float(together[i, j]), int(rows[i]), int(j))
        return best

    def improve(self, chosen: Flags, rng: np.random.Generator) -> tuple[float, Flags]:
        """Minimise modular bounds of D, each around the last minimiser, until it no longer falls; returns D(S) and S."""
        value = self.change(chosen)
        alone = self.weights * entr(self.masses)
        up, down = self.weights > 0.0, self.weights < 0.0
        # It rarely takes ten.
        for _ in range(50):
            total = self.masses[chosen].sum(axis=0)
            with np.errstate(divide="ignore", invalid="ignore"):
                slope = np.where(total > 0.0, -np.log(total) - 1.0, 0.0)
            # Above: the tangent of h at the present mass; where there is none yet, h of a sum is at most the sum of the h.
            above = np.where(total > 0.0, self.weights * slope * self.masses, alone)[:, up].sum(axis=1)
            order = np.argsort(~chosen + 0.5 * rng.random(len(chosen)), kind="stable")
            sums = entr(np.vstack([np.zeros(down.sum()), np.cumsum(self.masses[order][:, down], axis=0)]))
            below = np.empty(len(order))
            below[order] = np.diff(sums, axis=0) @ -self.weights[down]
            new = above - below - alone.sum(axis=1) < 0.0
            value_new = self.change(new)
            if not value_new < value - ROUNDING:
                break
            chosen, value = new, value_new
        return value, chosen

    def merge(self, chosen: Flags) -> None:
        """Make one cluster of a set."""
        first = int(np.flatnonzero(chosen)[0])
        self.masses[first] = self.masses[chosen].sum(axis=0)
        goes = chosen.copy()
        goes[first] = False
        numbers = np.cumsum(~goes) - 1
        numbers[goes] = numbers[first]
        self.labels, self.masses = numbers[self.labels], self.masses[~goes]


def cluster(job: Job, orders: int) -> tuple[IntArray, int]:
    """The cluster of every letter, and how many rounds it took."""
    merger, rng = Merger(job.support.P, job.problem), np.random.default_rng(0)
    rounds = 0
    while len(merger.masses) > 1:
        job.budget.look()
        n = len(merger.masses)
        least, i, j = merger.best_pair()
        pair = np.isin(np.arange(n), (i, j))
        tries = [merger.improve(pair, rng), *(merger.improve(rng.random(n) < rng.random(), rng) for _ in range(orders))]
        value, chosen = min(tries, key=lambda one: one[0])
        if value >= -ROUNDING or chosen.sum() < 2:
            if n <= job.most:
                break
            value, chosen = least, pair  # no merge lowers L, but there are more clusters than allowed
        merger.merge(chosen)
        rounds += 1
    return merger.labels, rounds
