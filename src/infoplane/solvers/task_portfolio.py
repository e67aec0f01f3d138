"""What solver=None runs where U is kept and S hidden.

Trivial encoders; the map from all starts; then what the dual of the best says is missing: posteriors with f(q) < lambda.q, found by
descent, become clusters, and the map goes on (gamma > 0), or a linear programme over posteriors chooses among them (gamma = 0; over pairs
of letters if the secret is binary, which is exact). With a cap on |Z| the clusters that cost least are joined first, and the map settles
what is left.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..certificate.tasks.boxes import Asked, search_boxes
from ..certificate.tasks.columns import generate, seeded
from ..errors import InfoplaneError
from ..information import Array, IntArray
from ..joint.joint import Support
from ..kernels.common import RUNNING, STATIONARY
from ..posterior.programme import encoder_of, linear_programme
from ..posterior.task_form import MISSING, TaskForm, missing
from ..problem import MarkovLagrangian
from ..solution import Run
from .base import BestOfStarts, drive
from .job import Job, work_of
from .shared.resizing import merged
from .task_map import ServesTasks, TaskIteration, TaskMap, form_of


class TaskEffort(NamedTuple):
    """What the default may spend, step by step."""

    rounds: int = 12
    """Times that clusters are added to the best encoder, at most."""
    laps: int = 50
    """Iterations from all starts, before the first of them end."""
    new: int = 16
    """Clusters that a round adds, at most, where the map goes on from them."""
    share: float = 0.01
    """Of all mass that new clusters begin with (`with_clusters`)."""
    cells: int = 100_000
    box_floor: float = 1e-6
    """Boxes times letters, and nats, of the search for a posterior that descents did not find: tenths of a second, and a better encoder
    than that of 16 starts."""
    few: int = 600
    """Classes of letters up to which the programme over pairs of letters is solved by default: seconds."""
    edge_tol: float = 1e-6
    """Nats within which that programme is solved."""
    steps_work: int = 1_000_000_000
    """Operations of all iterations of the map from one encoder: some seconds."""
    dense: int = 400_000
    """Entries of a dense programme over posteriors up to which it is asked: tenths of a second."""


EFFORT = TaskEffort()


class Race(TaskIteration):
    """The map from all starts; half of them, those of higher loss, end at `EFFORT.laps` iterations, half of the others at twice as many,
    ...  Most lead to the same encoder, slowly; what the last lacks its dual shows. At gamma > 0 the last ends, too: it is settled later.
    """

    def advance(self, steps: IntArray, trace: Array) -> None:
        """So many steps of every run that is still in it."""
        for number in range(trace.shape[1]):
            super().advance((steps > number).astype(np.int64), trace[:, number : number + 1])
            going = np.flatnonzero(self.state.outcome == RUNNING)
            laps = self.state.iterations[going].max(initial=0) / EFFORT.laps
            if laps >= 1 and np.log2(laps).is_integer():
                kept = len(going) // 2 if self.form.gamma else (len(going) + 1) // 2
                slow = going[np.argsort(self.seen.loss[going], kind="stable")[kept:]]
                self.state.outcome[slow] = STATIONARY  # or at their limit, as their residuals say


@dataclass(frozen=True)
class TaskPortfolio(ServesTasks, BestOfStarts):
    """The default where one target is kept and another hidden: map, missing clusters, programmes over posteriors.

    Examples
    --------
    >>> import infoplane as ip
    >>> keep = ip.Joint.from_counts([[8, 2], [5, 5], [4, 6], [1, 9]], y_names="rich")
    >>> hide = ip.Joint.from_counts([[7, 3], [2, 8], [6, 4], [4, 6]], y_names="sex")
    >>> s = ip.solve(ip.TaskJoint(keep, hide), ip.task_funnel(2.0), rng=0)
    >>> round(s.iuz, 3), round(s.isz, 3)
    (0.119, 0.004)
    """

    name = "task-portfolio"
    grows = True

    def useful_starts(self, support: Support, problem: MarkovLagrangian, clusters: int, starts: int) -> int:
        """As many as the map's budget holds."""
        return TaskMap().useful_starts(support, problem, clusters, starts)

    def run(self, job: Job) -> list[Run]:
        """Every start as it ended, the trivial encoders, and what was found beyond them."""
        form = form_of(job)
        found = drive(Race(job.within(work=EFFORT.steps_work), form))
        constant, identity = np.ones((1, len(form.p_x))), np.eye(len(form.p_x))
        trivial = [constant, identity] if len(identity) <= job.most else [constant]
        found += [job.standing(form.expanded(W), "trivial") for W in trivial]
        if not job.budget.over:
            found += _better(job, form, [run.encoder for run in found])
        return found


def _better(job: Job, form: TaskForm, encoders: list[Array]) -> list[Run]:
    """What the dual of the best leads to; within the cap."""
    best = encoders[job.best(encoders)]
    if form.gamma == 0.0:
        W = _programmed(job, form, [form.condensed(one) for one in encoders])
        runs = [] if W is None else [job.standing(form.expanded(W), "columns")]
    else:
        runs = _grown(job, form, best)
    if not job.capped:
        return runs
    fitting = [run for run in runs if len(run.encoder) <= job.most]
    return fitting + [fitted_task(job, form, run.encoder) for run in runs if len(run.encoder) > job.most]


def settled_task(job: Job, form: TaskForm, W: Array, found_by: str, steps: int = EFFORT.steps_work) -> Run:
    """The map from one encoder of the letters, so many steps at most."""
    work = work_of(job.support, len(W))
    patient = job.but(starts=W[None], record=False).within(
        iterations=max(50, min(job.budget.iterations, EFFORT.steps_work // max(work, 1), steps))
    )
    run = drive(TaskIteration(patient, form))[0]
    return replace(run, found_by=f"{found_by}, {run.found_by}", died=job.died(run.encoder), trace=None)


def fitted_task(job: Job, form: TaskForm, W: Array) -> Run:
    """The same, once the clusters that cost least are joined, until there are as few as the job allows."""
    return settled_task(job, form, merged(job.support, job.problem, W, most=job.most), "merging")


def with_clusters(form: TaskForm, W: Array, new: Array) -> Array:
    """An encoder of the classes with posteriors as further clusters."""
    W = np.vstack([(1.0 - EFFORT.share) * W, (EFFORT.share / new.shape[1]) * new.T / form.p_x])
    return np.asarray(W / W.sum(axis=0))


def _grown(job: Job, form: TaskForm, best: Array) -> list[Run]:
    """gamma > 0: the best encoder with clusters that it lacks, settled, while that helps; one cluster for many that are equal."""

    def joined(W: Array) -> Array:
        return merged(job.support, job.problem, W, rise=MISSING)

    few = 16 * EFFORT.laps  # between two additions; the end is settled
    run = settled_task(job, form, joined(best), "growth", few)
    most = len(form.p_x) if job.capped else job.most
    for _ in range(EFFORT.rounds):
        W = form.condensed(joined(run.encoder))
        asked, more = Asked(form, form.multipliers(W)), max(most - len(W), 0)
        new = missing(form, asked.lam, form.posteriors(W), min(EFFORT.new, more))
        if not new.shape[1]:
            brief = job.budget.part(cells=max(100, EFFORT.cells // len(form.p_x)))
            new = np.column_stack([new, *search_boxes(asked, EFFORT.box_floor, brief).violating[:more]])
        if not new.shape[1] or job.budget.over:
            break
        before, run = run, settled_task(job, form, form.expanded(with_clusters(form, W, new)), "growth", few)
        if job.loss(run.encoder) > job.loss(before.encoder) - MISSING:
            run = before
            break
    return [run, settled_task(job, form, joined(run.encoder), "growth")]


def _programmed(job: Job, form: TaskForm, encoders: Sequence[Array]) -> Array | None:
    """gamma = 0: a linear programme over posteriors; those of two letters if that is enough, else those that descents lead to."""
    Q = np.column_stack([form.posteriors(W) for W in encoders])
    if len(form.T_s) == 2 and len(form.p_x) <= EFFORT.few:
        with suppress(InfoplaneError):
            return generate(form, seeded(form, posteriors=Q), EFFORT.edge_tol, job.budget).encoder
    Q = np.column_stack([Q, np.eye(len(form.p_x))])
    W = None
    for _ in range(EFFORT.rounds):
        if Q.size > EFFORT.dense or job.budget.over:
            break
        try:
            found = linear_programme(Q, form.f(Q), form.p_x, budget=job.budget)
        except InfoplaneError:
            break
        W = encoder_of(Q, found.weights)
        new = missing(form, found.lam, Q[:, found.weights > 0.0], 4 * EFFORT.new)
        if not new.shape[1]:
            break
        Q = np.column_stack([Q, new])
    return W
