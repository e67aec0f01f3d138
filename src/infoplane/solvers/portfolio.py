"""`Portfolio`: the default of `solve`, for every Lagrangian and every size. Several ways to an encoder; the lowest loss wins.

==========================  ==========================================================================================
problem                     what runs
==========================  ==========================================================================================
bottleneck                  starts, pooled (`pooling`); annealing upwards in gamma (`annealing`), which finds |Z|: of many letters from a
                            hard partition, or from where the only start has ended, with the clusters that the dual says are missing
                            (`resizing`)
funnel                      starts, pooled; hard partitions; at a large beta perfect privacy; column generation from all of them
                            (`sparse_columns`), which finds |Z|
deterministic bottleneck    of more than 64 letters hard partitions only, with as many restarts as there are starts; else as any other,
                            and the bottleneck's encoder, rounded
any other                   starts of the accelerated solver (and of Douglas-Rachford splitting, if the Lagrangian has no name);
                            hard partitions
==========================  ==========================================================================================

Hard partitions (`partitions`) are a constant Z, Z = X, the best of a merge path, and each of them with its letters moved one at a time
until no move helps; so no answer is above a trivial one. Where |Z| is capped, a bottleneck also begins from the best of them, and from an
encoder with more clusters, joined until they are few enough (`resizing`).

Effort is bounded by work, never by time, so that the same seed gives the same bits. A start costs about |X| |Z| (|Y| + 20) operations an
iteration: of more than 64 letters as many starts are made as `EFFORT.starts_work` holds, with as many iterations as
`EFFORT.iterations_work` does; they were measured to be the dearest part there, and seldom the best; but for a funnel of many outcomes
(`pools_more`).

What it finds is also the fallback of searches that a limit, or the user, may cut short (`default_encoder`): no answer is worse. On a table
of 100,000 letters its work may be more than a limit on seconds allows.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal, NamedTuple

import numpy as np

from ..certificate.funnel.privacy import private_encoder
from ..information import Array
from ..joint.joint import Support
from ..posterior.form import scaled
from ..problem import MarkovLagrangian, family_of, is_bottleneck, is_funnel, lagrangian, posterior_form_below
from ..runtime.budget import ITERATIONS, Stopped
from ..solution import Run, Status
from .annealing import Annealing
from .base import BestOfStarts, default_clusters, default_init, make_starts, most_clusters, seed_sequence
from .difference_of_convex import DifferenceOfConvex
from .fixed_point import Accelerated
from .job import Job, work_of
from .pooling import Pooling
from .shared.partitions import (
    Found,
    encoder_of,
    is_hard,
    labels_of,
    moved,
    partitions,
    restarted,
    restarts_within,
    softened,
)
from .shared.resizing import DualClimbs, asks_the_dual, grown, roughly, settled, within
from .shared.sparse_columns import GENERATION, generated
from .splitting.solver import DouglasRachford

STARTS = 16
"""The default solver's starts, as `solve` has them."""

PATIENCE = 2.0
"""Seconds that it has whatever the limit of a search is: most joints take less, so that no limit makes their answers worse."""

SHARE = 0.5
"""Of a limit on seconds that is the default's; the proof has the rest."""

LEAST = 0.1
"""Share of the seconds that a proof has whatever the default took before it."""


def default_encoder(job: Job, seconds: float, patience: float = PATIENCE, starts: int = STARTS) -> Array:
    """The encoder that `solve` finds by default, from its own starts and seed 0, whatever the job's are.

    The best by then, if the budget is stopped, or after half of so many seconds; but ``patience`` is what it has at least.
    """
    solver, support = Portfolio(), job.support
    # A cap that memory sets is for what grows; starts begin with fewer.
    rows = job.most if job.most < most_clusters(job.letters) else default_clusters(job.letters, len(support.p_y))
    useful = solver.useful_starts(support, job.problem, rows, starts)
    W = make_starts(support.joint, rows, useful, seed_sequence(0), default_init(job.problem))
    budget = job.budget.part(iterations=ITERATIONS, seconds=max(SHARE * seconds, patience))
    found = solver.run(job.but(starts=W, record=False, budget=budget))
    return job.best_run(found).encoder


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
class Portfolio(BestOfStarts):
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
            return max(1, min(starts, restarts_within(support, clusters)))
        if pools_more(support, problem, clusters):
            return min(starts, EFFORT.pooled)
        return max(1, min(starts, EFFORT.starts_work // max(work_of(support, clusters), 1)))

    def run(self, job: Job) -> list[Run]:
        """Every start as it ended, and what other stages found."""
        found = Candidates(job)
        for stage in STAGES:
            if stage.applies(found) and not (job.budget.over and found.started):
                with suppress(Stopped):
                    stage.work(found, getattr(found, stage.within))
        return [_advised(job, run) for run in found.runs]


def _advised(job: Job, run: Run) -> Run:
    """The run with the limit that has ended it before it had the iterations that were asked for, and the call that goes on."""
    ended = run.status.converged or run.status is Status.INTERRUPTED or job.budget.iterations <= run.iterations
    if ended or run.advice:
        return run
    solver = Accelerated.name if Accelerated().refusal(job.problem) is None else DouglasRachford().name
    advice = (
        f"the default's own limit on work has ended it, not max_iter; solve(joint, problem, {solver!r}, init=solution.encoder, "
        "max_iter=...) goes on from here"
    )
    return replace(run, advice=advice)


def pools_more(support: Support, problem: MarkovLagrangian, clusters: int) -> bool:
    """Whether a funnel has more starts than `EFFORT.starts_work` holds: `EFFORT.pooled` of them, without splitting, pooled once.

    So it is where |Y| is large. Clusters may hold up to |Y| letters, more than column generation looks for (`GENERATION.few`), and pooled
    starts find the better ones: 4 of them on 330 x 330 letters were measured to end lower than one by 6e-3 to 9e-3 nats, in no more time,
    since one iteration of splitting costs forty of the accelerated solver there.
    """
    large = len(support.p_y) > GENERATION.few and len(support.p_x) > EFFORT.small
    work = EFFORT.pooled * work_of(support, clusters)
    return is_funnel(problem) and large and not support.sparse and EFFORT.starts_work < work <= EFFORT.pooled_work


class Candidates:
    """The answers to one problem so far, and what stages ask of it."""

    def __init__(self, job: Job) -> None:
        self.whole = job
        """What was asked for; of its three budgets the one that sets no limit on work."""
        affordable = job.within(work=EFFORT.iterations_work).budget.affordable(job.work * len(job.starts))
        self.brief = job.within(iterations=affordable)
        """`EFFORT.iterations_work` for all starts together."""
        self.patient = job.within(work=EFFORT.settling_work).but(record=False)
        """`EFFORT.settling_work` from one encoder."""
        self.started: list[Run] = []
        """The runs of the stages that begin from starts."""
        self.drawn: list[Run] = []
        """Those from random starts of the portfolio's own."""
        self.later: list[Run] = []
        """What came after the starts, and is better than all of them."""
        self.bottleneck, self.funnel, self.capped = is_bottleneck(job.problem), is_funnel(job.problem), job.capped
        self.large = job.letters > EFFORT.small
        self.deterministic = is_hard(job.problem)
        self.hard = self.large and self.deterministic
        """Whether nothing but hard partitions is looked at: of many letters, moves were measured to find all that soft encoders do."""
        self.accelerates = Accelerated().refusal(job.problem) is None

    @cached_property
    def asks_the_dual(self) -> bool:
        """Whether annealing grows |Z| by what the dual says (`resizing`)."""
        return asks_the_dual(self.whole.support, self.whole.most)

    @property
    def runs(self) -> list[Run]:
        """Every start as it ended, then what the other stages have found."""
        return [*self.started, *self.drawn, *self.later]

    @property
    def best(self) -> Run:
        """The run of lowest loss so far."""
        return self.whole.best_run(self.runs)

    @property
    def lowest(self) -> float:
        """The lowest loss so far."""
        return min(self.whole.losses([run.encoder for run in self.runs]), default=math.inf)

    def keep(self, run: Run) -> None:
        """One more answer, if it is better than all others; or no worse, and converged where the best is not."""
        if len(run.encoder) > self.whole.most:
            return
        settles = run.status.converged and bool(self.runs) and not self.best.status.converged
        if self.whole.loss(run.encoder) < self.lowest - (0.0 if settles else EFFORT.better):
            self.later = [replace(run, died=self.whole.died(run.encoder), trace=None)]

    def keep_hard(self, partition: Found) -> None:
        """The same of a hard partition, as it is."""
        self.keep(self.whole.standing(encoder_of(partition.labels), partition.found_by))

    def polish(self, W: Array, found_by: str) -> None:
        """The accelerated solver from an encoder, once it has few enough clusters."""
        if not self.accelerates:
            return
        W = within(self.whole, W)
        self.whole.budget.look()
        if work_of(self.whole.support, len(W)) > EFFORT.polish_work:
            self.keep(self.whole.standing(W, found_by))
            return
        run = settled(self.patient, W)
        del W  # a large one is not to lie beside what was made of it
        self.keep(run if found_by.endswith(run.found_by) else replace(run, found_by=f"{found_by}, {run.found_by}"))


def _pooled(found: Candidates, job: Job) -> None:
    """All starts, their clusters pooled."""
    more = pools_more(job.support, job.problem, job.starts.shape[1])
    # The first of several dear programmes gains the most.
    found.started += (Pooling(splitting=0, rounds=1) if more else Pooling()).run(job)


def _convex(found: Candidates, job: Job) -> None:
    """All starts by the difference-of-convex iteration: of few clusters it was measured to find better ones."""
    found.started += DifferenceOfConvex().run(job.within(iterations=max(1, job.budget.iterations // EFFORT.dearer)))


def _accelerated(found: Candidates, job: Job) -> None:
    """All starts by the accelerated map, and by Douglas-Rachford splitting if the Lagrangian has no name and is small."""
    found.started += Accelerated().run(job)
    if family_of(job.problem) is lagrangian and job.work * len(job.starts) <= EFFORT.splitting_work:
        found.started += DouglasRachford().run(job)


def _hardened(found: Candidates, job: Job) -> None:
    """The bottleneck's encoder at the same gamma, whose loss is nowhere above; the other stages round it."""
    W = Annealing().run(job.but(problem=posterior_form_below(job.problem)))[0].encoder
    if len(W) <= job.most:
        run = found.whole.standing(W, Annealing.name)
        found.started.append(replace(run, died=job.died(W)))


def _annealed(found: Candidates, job: Job) -> None:
    """Upwards in gamma, which finds |Z|; where the dual says what is missing, a single start goes on from where it was settled."""
    starts = found.best.encoder[None] if found.asks_the_dual and len(job.starts) == 1 else job.starts
    runs = Annealing().run(job.but(starts=starts, record=found.whole.record))
    found.started += [replace(run, died=found.whole.died(run.encoder)) for run in runs]


def _random(found: Candidates, job: Job) -> None:
    """Random starts of the accelerated solver: clusters of few, each over all letters, which no other start has where beta is large."""
    starts = make_starts(job.support.joint, job.starts.shape[1], EFFORT.random, np.random.SeedSequence(0), "random")
    affordable = job.within(work=EFFORT.iterations_work).budget.affordable(job.work * EFFORT.random)
    brief = job.within(iterations=min(affordable, EFFORT.random_iterations))
    found.drawn += Accelerated().run(brief.but(starts=starts, record=False))


def _partitioned(found: Candidates, job: Job) -> None:
    """The best hard partition, nearly optimal where gamma is small or clusters are few, and the bottleneck from there."""
    hard = partitions(job, [found.best.encoder])[0]
    found.keep_hard(hard)
    found.polish(softened(hard.labels), "merging")


def _joined(found: Candidates, job: Job) -> None:
    """From an annealed encoder with more clusters than allowed, joined."""
    rows = default_clusters(job.letters, len(job.support.p_y))
    if rows > job.most and work_of(job.support, rows) <= EFFORT.free_work:
        start = make_starts(job.support.joint, rows, 1, np.random.SeedSequence(0), "identity")
        rough = roughly(job).but(starts=start, clusters=rows)  # what is joined will be settled
        found.polish(Annealing().run(rough)[0].encoder, "merging")


def _grown(found: Candidates, job: Job) -> None:
    """What the dual of the best encoder says is missing, as far as memory allows it."""
    best = found.best.encoder
    if not job.support.sparse and len(best) < job.most:
        W, _ = grown(job, best, job.most, DualClimbs(job.support))
        if W is not best:
            found.polish(W, "growth")


def _generated(found: Candidates, job: Job) -> None:
    """Hard partitions; column generation from them and from all that was found."""
    hard = partitions(job)
    found.keep_hard(hard[0])
    if job.support.sparse:
        return
    # Column generation ends elsewhere with more to begin from, often higher: random starts count if they have the best encoder.
    drawn, begun = ([run.encoder for run in some] for some in (found.drawn, found.started))
    if min(job.losses(drawn), default=math.inf) < min(job.losses(begun), default=math.inf):
        begun += drawn
    large_beta = scaled(job.problem).beta > GENERATION.large_beta
    if large_beta and (private := private_encoder(job.support, EFFORT.few_bases)) is not None:
        found.keep(job.standing(private, "perfect privacy"))
        begun.append(private)
    W = generated(job, [one.labels for one in hard[:4]], begun)
    if W is not None:
        found.polish(W, "columns")


def _hard(found: Candidates, job: Job) -> None:
    """Hard partitions, the best of which are softened and settled, and the best of all rounded again; of many letters restarted instead."""
    hard = partitions(job, [job.starts[0]] if found.hard else [run.encoder for run in found.runs])
    found.keep_hard(hard[0])
    if found.hard:
        found.keep_hard(restarted(job, hard[0]))
        return
    for one in hard[: EFFORT.polished]:
        if one.clusters > 1:
            found.polish(softened(one.labels), one.found_by)
    for _ in range(EFFORT.roundings):
        before = found.lowest
        found.polish(softened(moved(job, labels_of(found.best.encoder), job.most)), "moves")
        if found.lowest > before - EFFORT.better:
            return


def _truncated(found: Candidates, _job: Job) -> None:
    """A start that is the best gets the time that all else has had, and a hard partition may leave its corner.

    One step of the map fills all zeros of a hard encoder, from its own q(y|z); softening would move these first.
    """
    best = found.best
    stands = best.iterations == 0
    if not best.status.converged and (stands or not found.later) and best.found_by != Annealing.name:
        found.polish(best.encoder, best.found_by)


class Stage(NamedTuple):
    """One way to an encoder: when it applies, what it runs, and what it may cost."""

    applies: Callable[[Candidates], bool]
    work: Callable[[Candidates, Job], None]
    within: Literal["whole", "brief", "patient"]
    """The budget of `Candidates` that it has; beside it the numbers of `EFFORT`, and those of the modules in `shared`."""


STAGES = (
    Stage(lambda on: on.bottleneck or on.funnel, _pooled, "brief"),
    Stage(lambda on: on.funnel and on.capped, _convex, "brief"),
    Stage(lambda on: not (on.bottleneck or on.funnel or on.hard) and on.accelerates, _accelerated, "brief"),
    Stage(lambda on: on.deterministic and not on.large, _hardened, "patient"),
    Stage(lambda on: on.bottleneck, _annealed, "patient"),
    Stage(lambda on: on.funnel and on.large and on.capped and on.accelerates, _random, "whole"),
    Stage(lambda on: on.bottleneck and (on.capped or (on.large and not on.asks_the_dual)), _partitioned, "whole"),
    Stage(lambda on: on.bottleneck and on.capped, _joined, "patient"),
    Stage(lambda on: on.bottleneck and on.large and not (on.capped or on.asks_the_dual), _grown, "whole"),
    Stage(lambda on: on.funnel, _generated, "whole"),
    Stage(lambda on: not (on.bottleneck or on.funnel), _hard, "whole"),
    Stage(lambda on: on.brief.budget.iterations < on.whole.budget.iterations and not on.hard, _truncated, "whole"),
)
"""What runs, in this order: when, what, within which budget."""
