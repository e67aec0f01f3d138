"""The default for problems that keep one target and hide another.

Trivial encoders; the map from all starts; then what the dual of the best says is missing: posteriors with f(q) < lambda.q, found by
descent, become clusters, and the map goes on (gamma > 0), or a linear programme over posteriors chooses among them (gamma = 0; over
pairs of letters if the secret is binary, which is exact). With a cap on |Z| the clusters that cost least are joined first, and the map
settles what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

import numpy as np

from ...certificate.tasks.edges import generate, seeded
from ...errors import InfoplaneError
from ...information import Array
from ...joint.support import Support
from ...posterior.linear import linear_programme
from ...posterior.programme import encoder_of
from ...posterior.task_columns import MISSING, missing
from ...posterior.task_form import TaskForm
from ...problem import MarkovLagrangian
from ...solution import Run
from ..base import PathSolver
from ..driver import drive
from ..job import Job, work_of
from ..shared.capping import merged
from .task_map import TaskIteration, TaskMap, form_of, task_refusal

ROUNDS = 12
"""Times that clusters are added to the best encoder, at most."""

NEW = 16
"""Clusters that a round adds, at most, where the map goes on from them."""

SHARE = 0.01
"""Of all mass that new clusters begin with."""

FEW = 600
"""Classes of letters up to which the programme over pairs of letters is solved by default: seconds."""

EDGE_TOL = 1e-6
"""Nats within which that programme is solved."""

STEPS_WORK = 1_000_000_000
"""Operations of all iterations of the map from one encoder: some seconds."""

DENSE = 400_000
"""Entries of a dense programme over posteriors up to which it is asked: tenths of a second."""


@dataclass(frozen=True)
class TaskPortfolio(PathSolver):
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
    serves_tasks = True
    grows = True

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        reason = task_refusal(problem)
        return reason and f"task-portfolio {reason}"

    def useful_starts(self, support: Support, problem: MarkovLagrangian, clusters: int, starts: int) -> int:
        """As many as the map's budget holds."""
        return TaskMap().useful_starts(support, problem, clusters, starts)

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """One run a problem, from the same starts."""
        for problem in problems:
            one = job.but(problem=problem)
            runs = self.run(one)
            yield replace(one.best_run(runs), iterations=sum(run.iterations for run in runs))
            if job.budget.stopped:
                return

    def run(self, job: Job) -> list[Run]:
        """Every start as it ended, the trivial encoders, and what was found beyond them."""
        form = form_of(job)
        found = drive(TaskIteration(job.within(work=STEPS_WORK), form))
        found += [job.standing(W, "trivial") for W in _trivial(form, job.most)]
        if not job.budget.over:
            found += _better(job, form, [run.encoder for run in found])
        return found


def _trivial(form: TaskForm, most: int) -> list[Array]:
    """A constant Z; and Z = X, if it may have as many clusters."""
    constant = form.expanded(np.ones((1, len(form.p_x))))
    return [constant, form.expanded(np.eye(len(form.p_x)))] if len(form.p_x) <= most else [constant]


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
    return [run for run in runs if len(run.encoder) <= job.most] + [
        settled(job, form, merged(job.support, job.problem, run.encoder, most=job.most), "merging")
        for run in runs
        if len(run.encoder) > job.most
    ]


def settled(job: Job, form: TaskForm, W: Array, found_by: str) -> Run:
    """The map from one encoder of the letters."""
    work = work_of(job.support, len(W))
    patient = job.but(starts=W[None], record=False).within(
        iterations=max(50, min(job.budget.iterations, STEPS_WORK // max(work, 1)))
    )
    run = drive(TaskIteration(patient, form))[0]
    return replace(
        run, found_by=f"{found_by}, {run.found_by}", died=max(job.starts.shape[1] - len(run.encoder), 0), trace=None
    )


def _grown(job: Job, form: TaskForm, best: Array) -> list[Run]:
    """gamma > 0: the best encoder with clusters that it lacks, settled, while that helps; one cluster for many that are equal."""
    runs = [settled(job, form, best, "growth")]
    rows = max(job.most, len(form.p_x)) if not job.capped else len(form.p_x)
    for _ in range(ROUNDS):
        W = form.condensed(runs[-1].encoder)
        new = missing(form, form.multipliers(W), form.posteriors(W), min(NEW, rows - len(W)))
        if not new.shape[1] or job.budget.over:
            break
        W = form.expanded(np.vstack([(1.0 - SHARE) * W, (SHARE / new.shape[1]) * new.T / form.p_x]))
        run = settled(job, form, W / W.sum(axis=0), "growth")
        if job.loss(run.encoder) > job.loss(runs[-1].encoder) - MISSING:
            break
        runs.append(run)
    joined = merged(job.support, job.problem, runs[-1].encoder, price=MISSING)
    if len(joined) < len(runs[-1].encoder):
        runs.append(settled(job, form, joined, "growth"))
    return runs[-2:]


def _programmed(job: Job, form: TaskForm, encoders: Sequence[Array]) -> Array | None:
    """gamma = 0: a linear programme over posteriors; those of two letters if that is enough, else those that descents lead to."""
    Q = np.column_stack([form.posteriors(W) for W in encoders])
    if len(form.T_s) == 2 and len(form.p_x) <= FEW:
        with suppress(InfoplaneError):
            return generate(form, seeded(form, posteriors=Q), EDGE_TOL, job.budget).encoder
    Q = np.column_stack([Q, np.eye(len(form.p_x))])
    W = None
    for _ in range(ROUNDS):
        if Q.size > DENSE or job.budget.over:
            break
        try:
            found = linear_programme(Q, form.f(Q), form.p_x, budget=job.budget)
        except InfoplaneError:
            break
        W = encoder_of(Q, found.weights)
        new = missing(form, found.lam, Q[:, found.weights > 0.0], 4 * NEW)
        if not new.shape[1]:
            break
        Q = np.column_stack([Q, new])
    return W
