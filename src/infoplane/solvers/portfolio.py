"""`Portfolio`: the default of `solve`, for every Lagrangian and every size. Several ways to an encoder; the lowest loss wins.

==========================  ==========================================================================================
problem                     what runs
==========================  ==========================================================================================
bottleneck                  starts, pooled (`pooling`); annealing upwards in gamma (`annealing`), which finds |Z|: of many letters from a
                            hard partition, with the clusters that the dual says are missing (`growth`)
funnel                      starts, pooled; hard partitions; at a large beta perfect privacy; column generation from all of them
                            (`generation`), which finds |Z|
any other                   starts of the accelerated solver (and of Douglas-Rachford splitting, if the Lagrangian has no name);
                            hard partitions
==========================  ==========================================================================================

Hard partitions (`partitions`) are a constant Z, Z = X, the best of a merge path, and each of them with its letters moved one at a time
until no move helps; so no answer is above a trivial one. Where |Z| is capped, a bottleneck also begins from the best of them, from an
encoder with more clusters, joined until they are few enough (`capping`), and from its best answer, rounded and moved.

Effort is bounded by work, never by time, so that the same seed gives the same bits. A start costs about |X| |Z| (|Y| + 20) operations an
iteration: of more than 64 letters as many starts are made as `STARTS_WORK` holds, with as many iterations as `ITERATIONS_WORK` does; they
were measured to be the dearest part there, and seldom the best; but for a funnel of many outcomes (`pools_more`).
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..certificate.funnel.bound import scaled
from ..certificate.funnel.privacy import private_encoder
from ..information import Array
from ..joint.support import Support
from ..problem import LAGRANGIAN, MarkovLagrangian, family_of, is_bottleneck, is_funnel
from ..solution import Run
from .annealing import Annealing
from .base import Batch, PathSolver, Solver, losses_of, work_of
from .capping import within
from .difference_of_convex import DifferenceOfConvex
from .fixed_point.accelerated import Accelerated
from .generation import FEW, LARGE_BETA, generated
from .growth import DualClimbs, asks_the_dual, grown, settled
from .partitions import Found, as_run, labels_of, moved, partition_run, partitions, softened
from .pooling import Pooling, best_runs
from .splitting.solver import DouglasRachford
from .starts import default_clusters, make_starts
from .stopping import Stopping

STARTS_WORK = 4_000_000
"""Operations of one iteration of all starts together: 9 starts of 64 clusters on 225 x 10 letters. What begins elsewhere was measured to
find better encoders of more letters."""

POOLED, POOLED_WORK = 4, 40_000_000
"""Starts of a funnel of many outcomes (`pools_more`), and the operations of one iteration of them: 330 clusters on 330 x 330 letters."""

ITERATIONS_WORK = 2_000_000_000
"""Operations of all iterations of all starts: half a second, or two if the machine is busy."""

RANDOM, RANDOM_ITERATIONS = 8, 1000
"""Random starts of a funnel of many letters with a cap on |Z|: 2 of them were measured to end 0.18 nats below all else on 2,000 x 20.
Most were stationary within so many iterations."""

DEARER = 6
"""Times that an iteration of the difference-of-convex solver costs more than one of the accelerated one: its inner steps."""

SETTLING_WORK = 20_000_000_000
"""Operations of all iterations from an encoder that promises to be the best: some five seconds."""

FREE_WORK = 11_000_000
"""Operations of an iteration up to which a capped bottleneck is also annealed with more clusters than allowed, to be joined."""

POLISH_WORK = 100_000_000
"""Operations of an iteration above which an encoder is taken as it is."""

SPLITTING_WORK = 1_000_000
"""Operations of an iteration up to which Douglas-Rachford splitting, which is slower, runs too."""

FEW_BASES = 5_000
"""Candidate bases up to which the release of perfect privacy is looked for: a tenth of a second."""

POLISHED = 3
"""Hard partitions from which the accelerated solver goes on."""

ROUNDINGS = 3
"""Most times that the best of few clusters is rounded and settled again."""

BETTER = 1e-9
"""Nats by which what comes after the starts must be below all else: ties go to the starts."""


@dataclass(frozen=True)
class Portfolio(PathSolver):
    """The best of several solvers, within a budget; it says which of them it was.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_nonuniform(), ip.bottleneck(0.2154434690031884), rng=0)
    >>> round(s.loss, 6)
    -0.187447
    """

    name = "portfolio"
    grows = True

    def useful_starts(self, support: Support, problem: MarkovLagrangian, clusters: int, starts: int) -> int:
        """As many as the budget holds, at least one."""
        if len(support.p_x) <= SMALL:
            return starts
        if pools_more(support, problem, clusters):
            return min(starts, POOLED)
        return max(1, min(starts, STARTS_WORK // max(work_of(support, clusters), 1)))

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> PortfolioBatch:
        """All starts of one problem."""
        return PortfolioBatch(support, problems, starts, stopping, record)

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


SMALL = 64
"""Letters of X up to which a start has a cluster for each of them."""


def pools_more(support: Support, problem: MarkovLagrangian, clusters: int) -> bool:
    """Whether a funnel has more starts than `STARTS_WORK` holds: `POOLED` of them, without splitting, pooled once.

    So it is where |Y| is large. Clusters may hold up to |Y| letters, more than column generation looks for (`FEW`), and pooled starts find
    the better ones: 4 of them on 330 x 330 letters were measured to end lower than one by 6e-3 to 9e-3 nats, in no more time, since one
    iteration of splitting costs forty of the accelerated solver there.
    """
    if not is_funnel(problem) or support.sparse or len(support.p_y) <= FEW or len(support.p_x) <= SMALL:
        return False
    return STARTS_WORK < POOLED * work_of(support, clusters) <= POOLED_WORK


class PortfolioBatch:
    """The parts that begin from starts, one after another; then what goes on from their best."""

    def __init__(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> None:
        self.support, self.problem, self.stopping = support, problems[0], stopping
        self.clusters, self.letters = starts.shape[1:]
        self.most = min(stopping.most_clusters(self.letters), self.letters)
        self.work = work_of(support, self.clusters)
        brief = replace(stopping, max_iter=stopping.affordable(ITERATIONS_WORK, self.work * len(starts)))
        self.patient = replace(stopping, work=SETTLING_WORK)
        self.truncated = brief.max_iter < stopping.max_iter
        dearer = replace(brief, max_iter=max(1, brief.max_iter // DEARER))
        self.parts: list[Batch] = [
            solver.begin(
                support, list(problems), starts, dearer if isinstance(solver, DifferenceOfConvex) else brief, record
            )
            for solver in self._solvers(starts)
        ]
        if is_bottleneck(self.problem):
            self.parts.append(Annealing().begin(support, problems[:1], starts, self.patient, record))
        self.random = [*self._random_part()]
        self.parts += self.random
        self.later: list[Run] = []
        self.stride = 1
        self.going = self._work()

    def _solvers(self, starts: Array) -> Iterator[Solver]:
        """What runs from every start."""
        if is_bottleneck(self.problem) or is_funnel(self.problem):
            more = pools_more(self.support, self.problem, self.clusters)
            # The first of several dear programmes gains the most.
            yield Pooling(splitting=0, rounds=1) if more else Pooling()
            if (
                is_funnel(self.problem) and self.most < self.letters
            ):  # of few clusters it was measured to find better ones
                yield DifferenceOfConvex()
        elif Accelerated().refusal(self.problem) is None:
            yield Accelerated()
            if family_of(self.problem) is LAGRANGIAN and self.work * len(starts) <= SPLITTING_WORK:
                yield DouglasRachford()

    def _random_part(self) -> Iterator[Batch]:
        """Random starts of the accelerated solver: clusters of few, each over all letters, which no other start has where beta is large."""
        wanted = is_funnel(self.problem) and self.letters > SMALL and self.most < self.letters
        if wanted and Accelerated().refusal(self.problem) is None:
            starts = make_starts(self.support.joint, self.clusters, RANDOM, np.random.SeedSequence(0), "random")
            affordable = self.stopping.affordable(ITERATIONS_WORK, self.work * RANDOM)
            brief = replace(self.stopping, max_iter=min(affordable, RANDOM_ITERATIONS))
            yield Accelerated().begin(self.support, [self.problem] * RANDOM, starts, brief, False)

    def advance(self, iterations: int) -> bool:
        """A bounded piece of one part's work."""
        self.stride = iterations
        return next(self.going, False) is None

    def runs(self, traces: bool = True) -> list[Run]:
        """Every start as it stands, then what the other parts have found."""
        return [*(run for part in self.parts for run in part.runs(traces)), *self.later]

    def _work(self) -> Generator[None, None, None]:
        for part in self.parts:
            while part.advance(self.stride):
                yield None
        capped = self.most < self.letters
        if is_bottleneck(self.problem):
            asked = asks_the_dual(self.support, self.most)
            if capped or (self.letters > SMALL and not asked):
                yield from self._from_partitions()
            if capped:
                yield from self._from_more_clusters()
                yield from self._rounded_again()
            if self.letters > SMALL and not asked:
                yield from self._missing_clusters()
        else:
            yield from self._hard_and_generated()
        best = self.best()
        if best is None or best.status.converged or self.later or best.found_by == Annealing.name:
            return
        if self.truncated:  # a start that is the best gets the time that all else has had
            yield from self._polish(best.encoder, best.found_by)

    def best(self) -> Run | None:
        """The run of lowest loss so far."""
        runs = self.runs(traces=False)
        return runs[int(np.argmin(self._losses(runs)))] if runs else None

    def _losses(self, runs: Sequence[Run]) -> list[float]:
        return losses_of(self.support, self.problem, [run.encoder for run in runs])

    @property
    def lowest(self) -> float:
        """The lowest loss so far."""
        return min(self._losses(self.runs(traces=False)), default=math.inf)

    def _keep(self, run: Run) -> None:
        """One more answer, if it is better than all others."""
        if len(run.encoder) <= self.most and self._losses([run])[0] < self.lowest - BETTER:
            self.later = [replace(run, died=max(self.clusters - len(run.encoder), 0), trace=None)]

    def _polish(self, W: Array, found_by: str) -> Generator[None, None, None]:
        """The accelerated solver from an encoder, once it has few enough clusters."""
        if Accelerated().refusal(self.problem) is not None:
            return
        W = within(self.support, self.problem, W, self.most)
        yield None
        if work_of(self.support, len(W)) > POLISH_WORK:
            self._keep(as_run(self.support, self.problem, W, found_by, self.stopping))
            return
        given = [W]
        del W  # large: nobody keeps it once the run has it
        run = yield from settled(self.support, self.problem, given.pop(), self.patient)
        self._keep(run if found_by.endswith(run.found_by) else replace(run, found_by=f"{found_by}, {run.found_by}"))

    def _best_partitions(self, encoders: Sequence[Array]) -> Generator[None, None, list[Found]]:
        """All hard partitions, the best first."""
        found: list[Found] = []
        for one in partitions(self.support, self.problem, self.most, encoders):
            if one is None:
                yield None
            else:
                found.append(one)
        return sorted(found, key=lambda one: one.loss)

    def _from_partitions(self) -> Generator[None, None, None]:
        """The best hard partition, nearly optimal where gamma is small or clusters are few, and the bottleneck from there."""
        best = self.best()
        hard = yield from self._best_partitions([] if best is None else [best.encoder])
        del best
        if hard[0].loss < self.lowest - BETTER:
            self._keep(partition_run(self.support, self.problem, hard[0], self.stopping))
        yield from self._polish(softened(hard[0].labels), "merging")

    def _from_more_clusters(self) -> Generator[None, None, None]:
        """From an annealed encoder with more clusters than allowed, joined."""
        rows = default_clusters(self.letters, len(self.support.p_y))
        if rows <= self.most or work_of(self.support, rows) > FREE_WORK:
            return
        start = make_starts(self.support.joint, rows, 1, np.random.SeedSequence(0), "identity")
        free = replace(self.patient, clusters=rows)
        for run in Annealing().follow(self.support, [self.problem], start, free):
            yield None
            if run is not None:
                yield from self._polish(run.encoder, "merging")
                return

    def _rounded_again(self) -> Generator[None, None, None]:
        """The best encoder rounded, its letters moved, and the bottleneck from there, while that helps."""
        for _ in range(ROUNDINGS):
            best, before = self.best(), self.lowest
            if best is None:
                return
            rounded = labels_of(best.encoder)
            del best
            for labels in moved(self.support, self.problem, rounded, self.most):
                yield None
                if labels is not None:
                    yield from self._polish(softened(labels), "moves")
            if self.lowest > before - BETTER:
                return

    def _missing_clusters(self) -> Generator[None, None, None]:
        """What the dual of the best encoder says is missing, as far as the cap on |Z| allows it."""
        best = self.best()
        if best is None or self.support.sparse or len(best.encoder) >= self.most:
            return
        W, _ = yield from grown(self.support, self.problem, best.encoder, self.most, DualClimbs(self.support))
        if W is not best.encoder:
            yield from self._polish(W, "growth")

    def _hard_and_generated(self) -> Generator[None, None, None]:
        """Hard partitions; for a funnel, column generation from them and from all that was found."""
        soft = [] if is_funnel(self.problem) else [run.encoder for run in self.runs(traces=False)]
        hard = yield from self._best_partitions(soft)
        del soft
        if hard[0].loss < self.lowest - BETTER:
            self._keep(partition_run(self.support, self.problem, hard[0], self.stopping))
        if not is_funnel(self.problem):
            for one in hard[:POLISHED]:
                if one.clusters > 1:
                    yield from self._polish(softened(one.labels), one.found_by)
            yield from self._rounded_again()
            return
        if self.support.sparse:
            return
        # Column generation ends elsewhere with more to begin from, often higher: random starts count if they have the best encoder.
        drawn = [run for part in self.random for run in part.runs(traces=False)]
        others = [run for part in self.parts if part not in self.random for run in part.runs(traces=False)]
        if min(self._losses(drawn), default=math.inf) < min(self._losses(others), default=math.inf):
            others += drawn
        found = [run.encoder for run in others]
        del drawn, others
        if scaled(self.problem).beta > LARGE_BETA and (W := private_encoder(self.support, FEW_BASES)) is not None:
            self._keep(as_run(self.support, self.problem, W, "perfect privacy", self.stopping))
            found.append(W)
        for W in generated(self.support, self.problem, [one.labels for one in hard[:4]], found):
            yield None
            if W is not None:
                yield from self._polish(W, "columns")
