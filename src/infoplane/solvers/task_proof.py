"""One target kept, another hidden, with a proof.

    L  >=  gamma H(X) - keep H(U) + hide H(S) + lambda.p_x + min_q (f(q) - lambda.q)

gamma > 0: lambda in closed form from the best encoder, the minimum by boxes of u = T_u q (`certificate/tasks/boxes`); a posterior that
violates the bound becomes a cluster, the map settles, and again. gamma = 0: lambda from a linear programme over posteriors, the minimum on
edges if the secret is binary (`certificate/tasks/columns`), else by boxes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..certificate.challenge import upheld
from ..certificate.tasks.boxes import Asked, box_bound, search_boxes
from ..certificate.tasks.columns import TaskOutcome, generate_any
from ..information import Array, entr
from ..posterior.task_form import TaskForm, missing
from ..problem import MarkovLagrangian
from ..solution import Run
from .base import make_starts, seed_sequence
from .job import Job
from .shared.prover import RAISE, Prover
from .task_map import ServesTasks, form_of
from .task_portfolio import TaskPortfolio, fitted_task, settled_task, with_clusters


class ProofEffort(NamedTuple):
    """How the proof begins, and how often it begins anew."""

    escapes: int = 40
    """Times that a search may send the encoder back."""
    starts: int = 2
    """Starts of the default solver, where the proof begins."""
    new: int = 64
    """Columns that a round adds, at most."""


EFFORT = ProofEffort()


@dataclass(frozen=True)
class TaskProof(ServesTasks, Prover):
    """One target kept, another hidden, with a proof by boxes, or by edges for binary secrets (what --certify runs).

    Parameters
    ----------
    tol
        Gap between loss and lower bound, in nats, that counts as certified.
    max_cells, max_seconds
        Limits of branch and bound, for each parameter; the bound reached by then is valid.

    Examples
    --------
    >>> import infoplane as ip
    >>> keep = ip.Joint.from_counts([[8, 2], [5, 5], [4, 6], [1, 9]], y_names="rich")
    >>> hide = ip.Joint.from_counts([[7, 3, 1], [2, 8, 1], [6, 4, 1], [4, 5, 2]], y_names="job")
    >>> s = ip.solve(ip.TaskJoint(keep, hide.with_prior(keep.p_x)), ip.task_funnel(0.5), ip.TaskProof())
    >>> s.status.name, s.gap <= 1e-6
    ('CERTIFIED', True)
    """

    name = "task-proof"

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """One run a problem, with its bound; from the default's answer unless that is where it begins."""
        for problem in problems:
            one = job.but(problem=problem, clusters=None)
            budget = self.budget(job.budget)
            starts = list(job.starts)
            if not job.after_default:
                W = make_starts(job.support.joint, None, EFFORT.starts, seed_sequence(0), "mixed")
                starts += [run.encoder for run in TaskPortfolio().run(one.but(starts=W, record=False))]
            yield self._proven(one.but(budget=budget), starts, job.but(problem=problem))
            if job.budget.stopped:
                return

    def _proven(self, job: Job, encoders: list[Array], asked: Job) -> Run:
        form = form_of(job)
        found = task_bound(form, job, encoders[job.best(encoders)], self.tol)
        candidates = [*encoders, form.expanded(found.encoder)]
        W = candidates[job.best(candidates)]
        if len(W) > asked.most:
            W = fitted_task(asked, form, W).encoder
        run = replace(job.standing(W, self.name), iterations=found.rounds, advice=found.contradiction or RAISE)
        return self.bounded(asked, run, found.lower, form.letters.spread(found.lam, form.gamma))


def task_bound(form: TaskForm, job: Job, W: Array, tol: float) -> TaskOutcome:
    """The best bound that the budget allows, from an encoder of the letters."""
    # I(U;Z) <= I(U;X) always holds, and needs no search.
    most = form.keep * (float(entr(form.T_u @ form.p_x).sum()) - float(entr(form.T_u).sum(axis=0) @ form.p_x))
    simple = -most * (1.0 + 1e-12) - 1e-12
    if form.gamma > 0.0:
        found = _by_escapes(form, job, W, tol)
    else:
        found = generate_any(form, form.posteriors(form.condensed(W)), 0.9 * tol, job.budget)
    return found if found.lower >= simple else found._replace(lower=simple, lam=np.zeros(len(form.p_x)))


def _by_escapes(form: TaskForm, job: Job, W: Array, tol: float) -> TaskOutcome:
    """gamma > 0: an encoder, its multipliers, a search, and what violates them as new clusters."""
    W, lower, claim, proof = form.condensed(W), -math.inf, -math.inf, Asked(form, np.zeros(len(form.p_x)))
    for rounds in range(1, EFFORT.escapes + 1):  # noqa: B007
        run = settled_task(job, form, form.expanded(W), "")
        W = form.condensed(run.encoder)
        asked = Asked(form, form.multipliers(W))
        found = search_boxes(
            asked, 0.4 * tol, job.budget
        )  # the rest is for the encoder, which is not exactly at its optimum
        bound = box_bound(form, asked.lam, found.least)
        if bound > lower:
            lower, claim, proof = bound, found.least, asked
        if job.loss(run.encoder) - lower <= tol or not found.violating or job.budget.over:
            break
        new = np.column_stack([*found.violating, missing(form, asked.lam, form.posteriors(W), EFFORT.new)])
        W = with_clusters(form, W, new)
    said = upheld(proof, claim, form.posteriors(W)) if lower > -math.inf else ""
    return TaskOutcome(W, -math.inf if said else lower, form.hide, proof.lam, rounds, said)
