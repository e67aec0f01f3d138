"""`Portfolio`: the default of `solve`, for every Lagrangian and every size. Several ways to an encoder; the lowest loss wins.

==========================  ==========================================================================================
problem                     what runs
==========================  ==========================================================================================
bottleneck                  starts, pooled (`pooling`); annealing upwards in gamma (`annealing`), which finds |Z|: of many letters from a
                            hard partition, with the clusters that the dual says are missing (`resizing`)
funnel                      starts, pooled; hard partitions; at a large beta perfect privacy; column generation from all of them
                            (`generation`), which finds |Z|
deterministic bottleneck    of more than 64 letters hard partitions only, with as many restarts as there are starts; else as any other,
                            and the bottleneck's encoder, rounded
any other                   starts of the accelerated solver (and of Douglas-Rachford splitting, if the Lagrangian has no name);
                            hard partitions
==========================  ==========================================================================================

Hard partitions (`partitions`) are a constant Z, Z = X, the best of a merge path, and each of them with its letters moved one at a time
until no move helps; so no answer is above a trivial one. Where |Z| is capped, a bottleneck also begins from the best of them, from an
encoder with more clusters, joined until they are few enough (`resizing`), and from its best answer, rounded and moved.

Effort is bounded by work, never by time, so that the same seed gives the same bits. A start costs about |X| |Z| (|Y| + 20) operations an
iteration: of more than 64 letters as many starts are made as `EFFORT.starts_work` holds, with as many iterations as
`EFFORT.iterations_work` does; they were measured to be the dearest part there, and seldom
the best; but for a funnel of many outcomes (`pools_more`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..certificate.funnel.privacy import private_encoder
from ..information import Array
from ..joint.joint import Support
from ..posterior.form import scaled
from ..problem import MarkovLagrangian, family_of, is_bottleneck, is_funnel, lagrangian, posterior_form_below
from ..results import Run, Status
from ..runtime.budget import Stopped
from .annealing import Annealing
from .base import PathSolver
from .difference_of_convex import DifferenceOfConvex
from .fixed_point import Accelerated
from .job import Job, work_of
from .pooling import Pooling, best_runs
from .shared.partitions import encoder_of, is_hard, labels_of, moved, partitions, restarted, restarts_within, softened
from .shared.resizing import DualClimbs, asks_the_dual, grown, settled, within
from .shared.sparse_columns import GENERATION, generated
from .shared.starts import default_clusters, make_starts
from .splitting.solver import DouglasRachford


class PortfolioEffort(NamedTuple):
    """What each stage may cost, set by `benchmarks/portfolio.py`; work is in operations."""

    starts_work: int = 4_000_000
    """Operations of one iteration of all starts together: 9 starts of 64 clusters on 225 x 10 letters. What begins elsewhere was
    measured to find better encoders of more letters."""
    pooled: int = 4
    pooled_work: int = 40_000_000
    """Starts of a funnel of many outcomes (`pools_more`), and the operations of one iteration of them: 330 clusters on 330 x 330
    letters."""
    iterations_work: int = 2_000_000_000
    """Operations of all iterations of all starts: half a second, or two if the machine is busy."""
    random: int = 8
    random_iterations: int = 1000
    """Random starts of a funnel of many letters with a cap on |Z|: 2 of them were measured to end 0.18 nats below all else on 2,000 x
    20. Most were stationary within so many iterations."""
    dearer: int = 6
    """Times that an iteration of the difference-of-convex solver costs more than one of the accelerated one: its inner steps."""
    settling_work: int = 20_000_000_000
    """Operations of all iterations from an encoder that promises to be the best: some five seconds."""
    free_work: int = 11_000_000
    """Operations of an iteration up to which a capped bottleneck is also annealed with more clusters than allowed, to be joined."""
    polish_work: int = 100_000_000
    """Operations of an iteration above which an encoder is taken as it is."""
    splitting_work: int = 1_000_000
    """Operations of an iteration up to which Douglas-Rachford splitting, which is slower, runs too."""
    few_bases: int = 5_000
    """Candidate bases up to which the release of perfect privacy is looked for: a tenth of a second."""
    polished: int = 3
    """Hard partitions from which the accelerated solver goes on."""
    roundings: int = 3
    """Most times that the best of few clusters is rounded and settled again."""
    better: float = 1e-9
    """Nats by which what comes after the starts must be below all else: ties go to the starts."""
    small: int = 64
    """Letters of X up to which a start has a cluster for each of them."""


EFFORT = PortfolioEffort()


@dataclass(frozen=True)
class Portfolio(PathSolver):
    """The default: the best of annealing, pooled starts, merging and trivial encoders, within a budget.

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
        if len(support.p_x) <= EFFORT.small:
            return starts
        if is_hard(problem):
            return min(starts, restarts_within(support, clusters))
        if pools_more(support, problem, clusters):
            return min(starts, EFFORT.pooled)
        return max(1, min(starts, EFFORT.starts_work // max(work_of(support, clusters), 1)))

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """The best run of each problem, from the same starts."""
        return best_runs(self, job, problems)

    def run(self, job: Job) -> list[Run]:
        """Every start as it ended, and what other stages found."""
        candidates = Candidates(job)
        for stage in STAGES:
            if stage.applies(candidates) and not (job.budget.over and candidates.found):
                with suppress(Stopped):
                    stage.work(candidates)
        return [_advised(job, run) for run in candidates.runs]


CONTINUED = (
    "the default's own limit on work has ended it, not max_iter; solve(joint, problem, {solver!r}, init=solution.encoder, max_iter=...) "
    "goes on from here"
)
"""What a run says that did not converge before it had the iterations that were asked for."""


def _advised(job: Job, run: Run) -> Run:
    """The run with the limit that has ended it, and the call that goes on."""
    if run.status.converged or run.status is Status.INTERRUPTED or 0 < job.budget.iterations <= run.iterations:
        return run
    solver = Accelerated.name if Accelerated().refusal(job.problem) is None else DouglasRachford().name
    return replace(run, advice=CONTINUED.format(solver=solver))


def pools_more(support: Support, problem: MarkovLagrangian, clusters: int) -> bool:
    """Whether a funnel has more starts than `EFFORT.starts_work` holds: `EFFORT.pooled` of them, without splitting, pooled once.

    So it is where |Y| is large. Clusters may hold up to |Y| letters, more than column generation looks for (`GENERATION.few`), and pooled
    starts find the better ones: 4 of them on 330 x 330 letters were measured to end lower than one by 6e-3 to 9e-3 nats, in no more time,
    since one iteration of splitting costs forty of the accelerated solver there.
    """
    if (
        not is_funnel(problem)
        or support.sparse
        or len(support.p_y) <= GENERATION.few
        or len(support.p_x) <= EFFORT.small
    ):
        return False
    return EFFORT.starts_work < EFFORT.pooled * work_of(support, clusters) <= EFFORT.pooled_work


class Candidates:
    """The answers to one problem so far, and what stages ask of it."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.found: list[Run] = []
        """The runs of the stages that begin from starts."""
        self.drawn: list[Run] = []
        """Those from random starts of the portfolio's own."""
        self.later: list[Run] = []
        """What came after the starts, and is better than all of them."""
        self.brief = job.budget.part(
            iterations=job.within(work=EFFORT.iterations_work).budget.affordable(job.work * len(job.starts))
        )
        self.patient = job.but(record=False, budget=job.budget.part(work=EFFORT.settling_work))

    @property
    def runs(self) -> list[Run]:
        """Every start as it ended, then what the other stages have found."""
        return [*self.found, *self.drawn, *self.later]

    @property
    def best(self) -> Run:
        """The run of lowest loss so far."""
        return self.job.best_run(self.runs)

    @property
    def lowest(self) -> float:
        """The lowest loss so far."""
        return min(self.job.losses([run.encoder for run in self.runs]), default=math.inf)

    @property
    def bottleneck(self) -> bool:
        """Whether the problem is one."""
        return is_bottleneck(self.job.problem)

    @property
    def funnel(self) -> bool:
        """Whether the problem is one."""
        return is_funnel(self.job.problem)

    @property
    def large(self) -> bool:
        """Whether a start has no cluster for every letter."""
        return self.job.letters > EFFORT.small

    @property
    def hard(self) -> bool:
        """Whether nothing but hard partitions is looked at: of many letters, moves were measured to find all that soft encoders do."""
        return self.large and is_hard(self.job.problem)

    @property
    def asks_the_dual(self) -> bool:
        """Whether annealing grows |Z| by what the dual says (`resizing`)."""
        return asks_the_dual(self.job.support, self.job.most)

    @property
    def accelerates(self) -> bool:
        """Whether the accelerated solver takes the problem."""
        return Accelerated().refusal(self.job.problem) is None

    def keep(self, run: Run) -> None:
        """One more answer, if it is better than all others; or no worse, and converged where the best is not."""
        if len(run.encoder) > self.job.most:
            return
        settles = run.status.converged and bool(self.runs) and not self.best.status.converged
        if self.job.loss(run.encoder) < self.lowest - (0.0 if settles else EFFORT.better):
            died = max(self.job.starts.shape[1] - len(run.encoder), 0)
            self.later = [replace(run, died=died, trace=None)]

    def polish(self, W: Array, found_by: str) -> None:
        """The accelerated solver from an encoder, once it has few enough clusters."""
        if not self.accelerates:
            return
        W = within(self.job, W)
        self.job.budget.look()
        if work_of(self.job.support, len(W)) > EFFORT.polish_work:
            self.keep(self.job.standing(W, found_by))
            return
        run = settled(self.patient, W)
        del W  # a large one is not to lie beside what was made of it
        self.keep(run if found_by.endswith(run.found_by) else replace(run, found_by=f"{found_by}, {run.found_by}"))


def _pooled(candidates: Candidates) -> None:
    """All starts, their clusters pooled."""
    job = candidates.job
    more = pools_more(job.support, job.problem, job.starts.shape[1])
    # The first of several dear programmes gains the most.
    candidates.found += (Pooling(splitting=0, rounds=1) if more else Pooling()).run(job.but(budget=candidates.brief))


def _convex(candidates: Candidates) -> None:
    """All starts by the difference-of-convex iteration: of few clusters it was measured to find better ones."""
    fewer = candidates.brief.part(iterations=max(1, candidates.brief.iterations // EFFORT.dearer))
    candidates.found += DifferenceOfConvex().run(candidates.job.but(budget=fewer))


def _accelerated(candidates: Candidates) -> None:
    """All starts by the accelerated map, and by Douglas-Rachford splitting if the Lagrangian has no name and is small."""
    job = candidates.job.but(budget=candidates.brief)
    candidates.found += Accelerated().run(job)
    if family_of(job.problem) is lagrangian and job.work * len(job.starts) <= EFFORT.splitting_work:
        candidates.found += DouglasRachford().run(job)


def _annealed(candidates: Candidates) -> None:
    """Upwards in gamma, which finds |Z|."""
    candidates.found += Annealing().run(candidates.patient.but(record=candidates.job.record))


def _random(candidates: Candidates) -> None:
    """Random starts of the accelerated solver: clusters of few, each over all letters, which no other start has where beta is large."""
    job = candidates.job
    starts = make_starts(job.support.joint, job.starts.shape[1], EFFORT.random, np.random.SeedSequence(0), "random")
    affordable = job.within(work=EFFORT.iterations_work).budget.affordable(job.work * EFFORT.random)
    brief = job.budget.part(iterations=min(affordable, EFFORT.random_iterations))
    candidates.drawn += Accelerated().run(job.but(starts=starts, record=False, budget=brief))


def _partitioned(candidates: Candidates) -> None:
    """The best hard partition, nearly optimal where gamma is small or clusters are few, and the bottleneck from there."""
    hard = partitions(candidates.job, [candidates.best.encoder])[0]
    candidates.keep(candidates.job.standing(encoder_of(hard.labels), hard.found_by))
    candidates.polish(softened(hard.labels), "merging")


def _joined(candidates: Candidates) -> None:
    """From an annealed encoder with more clusters than allowed, joined."""
    job = candidates.job
    rows = default_clusters(job.letters, len(job.support.p_y))
    if rows > job.most and work_of(job.support, rows) <= EFFORT.free_work:
        start = make_starts(job.support.joint, rows, 1, np.random.SeedSequence(0), "identity")
        candidates.polish(Annealing().run(candidates.patient.but(starts=start, clusters=rows))[0].encoder, "merging")


def _rounded(candidates: Candidates) -> None:
    """The best encoder rounded, its letters moved, and the solver from there, while that helps."""
    for _ in range(EFFORT.roundings):
        before = candidates.lowest
        labels = moved(candidates.job, labels_of(candidates.best.encoder), candidates.job.most)
        candidates.polish(softened(labels), "moves")
        if candidates.lowest > before - EFFORT.better:
            return


def _grown(candidates: Candidates) -> None:
    """What the dual of the best encoder says is missing, as far as the cap on |Z| allows it."""
    best, job = candidates.best.encoder, candidates.job
    if not job.support.sparse and len(best) < job.most:
        W, _ = grown(job, best, job.most, DualClimbs(job.support))
        if W is not best:
            candidates.polish(W, "growth")


def _hardened(candidates: Candidates) -> None:
    """The bottleneck's encoder at the same gamma, whose loss is nowhere above; the other stages round it."""
    job = candidates.patient.but(problem=posterior_form_below(candidates.job.problem))
    W = Annealing().run(job)[0].encoder
    if len(W) <= job.most:
        run = candidates.job.standing(W, Annealing.name)
        candidates.found.append(replace(run, died=max(candidates.job.starts.shape[1] - len(W), 0)))


def _hard(candidates: Candidates) -> None:
    """Hard partitions, the best of which are softened and settled."""
    job = candidates.job
    hard = partitions(job, [job.starts[0]] if candidates.hard else [run.encoder for run in candidates.runs])
    candidates.keep(job.standing(encoder_of(hard[0].labels), hard[0].found_by))
    if candidates.hard:
        again = restarted(job, hard[0])
        candidates.keep(job.standing(encoder_of(again.labels), again.found_by))
        return
    for one in hard[: EFFORT.polished]:
        if one.clusters > 1:
            candidates.polish(softened(one.labels), one.found_by)
    _rounded(candidates)


def _generated(candidates: Candidates) -> None:
    """Hard partitions; column generation from them and from all that was found."""
    job = candidates.job
    hard = partitions(job)
    candidates.keep(job.standing(encoder_of(hard[0].labels), hard[0].found_by))
    if job.support.sparse:
        return
    # Column generation ends elsewhere with more to begin from, often higher: random starts count if they have the best encoder.
    drawn, begun = ([run.encoder for run in some] for some in (candidates.drawn, candidates.found))
    if min(job.losses(drawn), default=math.inf) < min(job.losses(begun), default=math.inf):
        begun += drawn
    if (
        scaled(job.problem).beta > GENERATION.large_beta
        and (W := private_encoder(job.support, EFFORT.few_bases)) is not None
    ):
        candidates.keep(job.standing(W, "perfect privacy"))
        begun.append(W)
    W = generated(job, [one.labels for one in hard[:4]], begun)
    if W is not None:
        candidates.polish(W, "columns")


def _truncated(candidates: Candidates) -> None:
    """A start that is the best gets the time that all else has had, and a hard partition may leave its corner.

    One step of the map fills all zeros of a hard encoder, from its own q(y|z); softening would move these first.
    """
    best = candidates.best
    stands = best.iterations == 0
    if not best.status.converged and (stands or not candidates.later) and best.found_by != Annealing.name:
        candidates.polish(best.encoder, best.found_by)


class Stage(NamedTuple):
    """One way to an encoder: when it applies, and what it does. What it may cost are the numbers above."""

    applies: Callable[[Candidates], bool]
    work: Callable[[Candidates], None]


STAGES = (
    Stage(lambda on: on.bottleneck or on.funnel, _pooled),
    Stage(lambda on: on.funnel and on.job.capped, _convex),
    Stage(lambda on: not (on.bottleneck or on.funnel or on.hard) and on.accelerates, _accelerated),
    Stage(lambda on: is_hard(on.job.problem) and not on.large, _hardened),
    Stage(lambda on: on.bottleneck, _annealed),
    Stage(lambda on: on.funnel and on.large and on.job.capped and on.accelerates, _random),
    Stage(lambda on: on.bottleneck and (on.job.capped or (on.large and not on.asks_the_dual)), _partitioned),
    Stage(lambda on: on.bottleneck and on.job.capped, _joined),
    Stage(lambda on: on.bottleneck and on.job.capped, _rounded),
    Stage(lambda on: on.bottleneck and on.large and not on.asks_the_dual, _grown),
    Stage(lambda on: on.funnel, _generated),
    Stage(lambda on: not (on.bottleneck or on.funnel), _hard),
    Stage(lambda on: on.brief.iterations < on.job.budget.iterations and not on.hard, _truncated),
)
"""What runs, in this order."""
