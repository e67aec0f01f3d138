"""Several starts, whose clusters are then pooled: a linear programme chooses the best mixture of all posteriors that any run has found.

When rho_z + rho_zx + rho_zy = 0, an encoder is a set of posteriors q_z = p(x|z) with weights p(z), and up to a constant

L = sum_z p(z) f(q_z),  f(q) = rho_zx H(q) + rho_zy H(Tq),  sum_z p(z) q_z = p(x).

Local solvers end with some good clusters and some bad ones, others at every start. Over the posteriors of all runs the weights are found
by min sum_k w_k f(q_k) subject to sum_k w_k q_k = p(x), w >= 0: never worse than the best run, and where runs are good in different
places better than all of them. The result is polished by the accelerated solver, and its clusters join the pool, until nothing
improves. A funnel's pool also has the single letters and all clusters on Merge-Two's path, so that it never leaks more than merging.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..certificate.bottleneck.mixture import Mixture
from ..certificate.bottleneck.proof import gamma_of
from ..certificate.funnel.linear import linear_programme
from ..certificate.funnel.programme import encoder_of
from ..certificate.merge_path import first_columns
from ..checks import PYTHON_ONLY, whole_number
from ..errors import InfoplaneError
from ..information import Array, entr, entropy
from ..joint.support import Support
from ..problem import MarkovLagrangian, is_bottleneck, is_funnel
from ..solution import Run, Trace
from .base import Batch, BlockPace, PathSolver, Solver, losses_of
from .fixed_point.accelerated import Accelerated
from .splitting.solver import DouglasRachford
from .stopping import Stopping

SPLITTING = 10
"""Douglas-Rachford iterations before the accelerated solver, for the funnel."""

LARGEST_POOL = 1_000_000
"""Letters times posteriors of the linear programme; above it runs are not pooled (300 letters, 16 starts of 64 clusters, and Merge-Two)."""

GAIN = 1e-10
"""Fall of the loss, in nats, that is worth another round."""

DUST = 1e-9
"""Mass below which a cluster is left out of the pool."""


@dataclass(frozen=True)
class Pooling(PathSolver):
    """Starts, a few splitting iterations, the accelerated solver, and a linear programme over all clusters found.

    Parameters
    ----------
    splitting
        Douglas-Rachford iterations before the accelerated solver; None is 10 for the funnel, where they were measured to find better
        clusters, and 0 for the bottleneck, where they were not.
    rounds
        Most linear programmes, the result of each of which is polished.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.heart(), ip.funnel(3.5), ip.Pooling(), rng=0)
    >>> s.solver, round(s.loss, 4)
    ('pooling', -2.0991)
    """

    name = "pooling"
    grows = True

    splitting: int | None = field(default=None, metadata=PYTHON_ONLY)
    rounds: int = field(default=4, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rounds", whole_number("rounds", self.rounds))
        if self.splitting is not None:
            object.__setattr__(self, "splitting", whole_number("splitting", self.splitting, least=0))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        if not (is_bottleneck(problem) or is_funnel(problem)):
            return (
                "pooling needs the posterior form, rho_z + rho_zx + rho_zy = 0 with rho_zx and rho_zy of opposite signs; "
                f"found {problem.rho}. Use drs."
            )
        return Accelerated().refusal(problem)

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> PoolingBatch:
        """All starts of one problem, pooled at the end."""
        return PoolingBatch(self, support, problems, starts, stopping, record)

    def follow(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool = False,
    ) -> Iterator[Run | None]:
        """The best run of each problem, from the same starts."""
        return best_runs(self, support, problems, starts, stopping, record)


class PoolingBatch:
    """All starts of one problem: splitting, accelerated, pooled."""

    def __init__(
        self,
        options: Pooling,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool,
    ) -> None:
        self.support, self.problem, self.stopping, self.record = support, problems[0], stopping, record
        wanted = SPLITTING * is_funnel(self.problem) if options.splitting is None else options.splitting
        self.spent = 0 if support.sparse else min(wanted, stopping.max_iter)
        self.splitting = self.spent > 0
        brief = Stopping(stopping.tol, max(self.spent, 1))
        self.batch: Batch = (
            DouglasRachford().begin(support, problems, starts, brief, record)
            if self.splitting
            else self._accelerate(starts)
        )
        self.clusters, self.rounds = starts.shape[1], options.rounds
        self.split: list[Run] = []
        self.pooled: Run | None = None
        self.pooling = self._pool()
        self.over = False

    def _accelerate(self, starts: Array) -> Batch:
        stopping = replace(self.stopping, max_iter=max(self.stopping.max_iter - self.spent, 1))
        return Accelerated().begin(self.support, [self.problem] * len(starts), starts, stopping, self.record)

    def advance(self, iterations: int) -> bool:
        """At most so many iterations of every start; or one linear programme and its polish."""
        if self.over:
            return False
        if self.batch.advance(iterations):
            return True
        if self.splitting:
            self.splitting = False
            self.split = self.batch.runs()
            self.batch = self._accelerate(stacked([run.encoder for run in self.split]))
            return True
        if next(self.pooling, False) is None:
            return True
        self.over = True
        return False

    def _pool(self) -> Iterator[None]:
        """Pool, polish, and pool again while the loss falls; None after every piece of it."""
        found = [run.encoder for run in self.batch.runs()]
        losses = losses_of(self.support, self.problem, found)
        best, lowest = found[int(np.argmin(losses))], min(losses)
        letters = len(self.support.p_x)
        most = self.stopping.most_clusters(letters)
        merged = merged_letters(self.support) if is_funnel(self.problem) and most == letters else np.empty((0, letters))
        if len(found) + len(merged) == 1:  # nothing to mix a run with
            return
        for _ in range(self.rounds):
            W = pooled(self.support, self.problem, [*found, merged], best)
            if W is None or len(W) > most or self._loss(W) > lowest - GAIN:
                return
            batch = Accelerated().begin(self.support, [self.problem], W[None], self.stopping, self.record)
            pace = BlockPace()
            while pace.advance(batch):
                yield None
            run = batch.runs()[0]
            self.pooled = replace(run, found_by="pooling", died=max(self.clusters - len(run.encoder), 0))
            best, lowest = self.pooled.encoder, self._loss(self.pooled.encoder)
            found.append(best)

    def _loss(self, W: Array) -> float:
        return losses_of(self.support, self.problem, [W])[0]

    def runs(self, traces: bool = True) -> list[Run]:
        """Every start as it stands, and the pooled run last, if there is a better one."""
        found = self.batch.runs(traces)
        if self.split:
            found = [continued(first, run) for first, run in zip(self.split, found, strict=True)]
        return found if self.pooled is None else [*found, self.pooled]


def continued(first: Run, then: Run) -> Run:
    """Two runs, the second of which began where the first ended, as one."""
    trace = then.trace
    if trace is not None and first.trace is not None:
        trace = Trace.from_columns(np.concatenate([first.trace.columns(), trace.columns()]))
    return replace(
        then,
        found_by=f"{first.found_by}, {then.found_by}",
        iterations=first.iterations + then.iterations,
        died=first.died + then.died,
        trace=trace,
    )


def best_runs(
    solver: Solver,
    support: Support,
    problems: Sequence[MarkovLagrangian],
    starts: Array,
    stopping: Stopping,
    record: bool,
) -> Iterator[Run | None]:
    """What `follow` yields for a solver that looks at all starts of a problem together, one problem after another."""
    for problem in problems:
        batch = solver.begin(support, [problem] * len(starts), starts, stopping, record)
        pace = BlockPace()
        while pace.advance(batch):
            yield None
        runs = batch.runs()
        losses = losses_of(support, problem, [run.encoder for run in runs])
        yield replace(runs[int(np.argmin(losses))], iterations=sum(run.iterations for run in runs))


def stacked(encoders: Sequence[Array]) -> Array:
    """Encoders of different |Z| as one table (R, |Z|, |X|), the missing clusters empty."""
    table = np.zeros((len(encoders), max(len(W) for W in encoders), encoders[0].shape[1]))
    for row, W in zip(table, encoders, strict=True):
        row[: len(W)] = W
    return table


def merged_letters(support: Support) -> Array:
    """Every letter by itself and every cluster on Merge-Two's path, a row each, as rows of an encoder; none if the joint is sparse."""
    if support.sparse:
        return np.empty((0, len(support.p_x)))
    return np.vstack([np.eye(len(support.p_x)), first_columns(support).T / support.p_x])


def pooled(
    support: Support, problem: MarkovLagrangian, encoders: Sequence[Array], known: Array | None = None
) -> Array | None:
    """The best encoder whose every cluster is one of those given.

    None if the programme is too large or fails, or if it cannot be better than the encoder `known` by `GAIN`.
    """
    joint_xz = np.concatenate([W * support.p_x for W in encoders])
    mass = joint_xz.sum(axis=1)
    Q = np.ascontiguousarray((joint_xz[mass > DUST] / mass[mass > DUST, None]).T)
    if Q.size > LARGEST_POOL:
        return None
    U = support.rows.T @ (Q / support.p_x[:, None]) if support.sparse else support.T @ Q
    f = problem.rho_zx * entr(Q).sum(axis=0) + problem.rho_zy * entr(U).sum(axis=0)
    if (
        known is not None
        and is_bottleneck(problem)
        and not support.sparse
        and beyond_improving(support, problem, known, Q, f)
    ):
        return None
    try:
        weights, _, _ = linear_programme(Q, f, support.p_x)
    except InfoplaneError:
        return None
    return encoder_of(Q, weights)


def beyond_improving(support: Support, problem: MarkovLagrangian, W: Array, Q: Array, f: Array) -> bool:
    """Whether no mixture of the posteriors Q, of costs f, is better than a bottleneck's encoder W by `GAIN`.

    By weak duality sum_k w_k f(q_k) >= lambda.p_x + min_k (f(q_k) - lambda.q_k) for every lambda; that of a bottleneck's optimum proves
    it optimal. Most pools end here, without a linear programme.
    """
    lam = problem.rho_zy * Mixture.of(support, W).multipliers(support, gamma_of(problem))
    bound = float(lam @ support.p_x + (f - lam @ Q).min())
    constant = -problem.rho_zx * entropy(support.p_x) - problem.rho_zy * support.h_y
    return losses_of(support, problem, [W])[0] - constant <= bound + GAIN
