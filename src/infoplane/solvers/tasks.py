"""Problems that keep U and hide S: their map, with a width that adapts and SQUAREM; and what solver=None runs.

    W' prop. to W^(1 - gamma/k) p(z)^(gamma/k) exp(-[keep D(p(u|x) || p(u|z)) - hide D(p(s|x) || p(s|z))] / k)

**The map.** No step raises L if k >= gamma + hide eta, eta = max over x, x' of TV(p(s|x), p(s|x')) (`TaskLagrangian.width`). A smaller k is
tried, and taken back if L rises: at gamma = 0 the map with the full width needs of the order of 1/tol steps.

**The default.** Trivial encoders; the map from all starts; then what the dual of the best says is missing: posteriors with
f(q) < lambda.q, found by descent, become clusters, and the map goes on (gamma > 0), or a linear programme over posteriors chooses among
them (gamma = 0; over pairs of letters if the secret is binary, which is exact). With a cap on |Z| the clusters that cost least are joined
first, and the map settles what is left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from ..certificate.tasks.boxes import Asked, search_boxes
from ..certificate.tasks.columns import generate, seeded
from ..errors import InfoplaneError
from ..information import Array, IntArray, entr
from ..joint.joint import Support
from ..kernels.common import DEAD, RUNNING, STATIONARY
from ..posterior.programme import encoder_of, linear_programme
from ..posterior.task_form import MISSING, TINY, TaskForm, missing
from ..problem import MarkovLagrangian, is_task
from ..solution import Run
from ..task_problem import TaskLagrangian
from .base import PathSolver, Solver, drive
from .job import Job, PlainIteration, work_of
from .pooling import best_runs
from .shared.resizing import merged


class ServesTasks(Solver):
    """What every solver of tasks says of itself; the first of its bases."""

    serves_tasks = True
    solvable = staticmethod(is_task)
    unsolvable = (
        "{solver.name} needs a TaskLagrangian, which keeps one target and hides another; found one Y with rho = ({problem.rho_z:g}, "
        "{problem.rho_zx:g}, {problem.rho_zy:g})."
    )


def form_of(job: Job) -> TaskForm:
    """The job's problem in posterior form."""
    assert isinstance(job.problem, TaskLagrangian)
    return TaskForm(job.support, job.problem)


class Seen(NamedTuple):
    """What one look at encoders W = exp(A) shows."""

    A: Array
    """(R, |Z|, |X|)"""
    loss: Array
    """(R,)"""
    score: Array
    """-E_z(x), (R, |Z|, |X|)."""
    log_z: Array
    """log p(z), (R, |Z|, 1)."""

    def where(self, which: Any, other: Seen) -> Seen:
        """Run by run, this one where it is true, else the other."""
        return Seen(
            *(np.where(which.reshape(-1, *(1,) * (a.ndim - 1)), a, b) for a, b in zip(self, other, strict=True))
        )


class TaskIteration(PlainIteration):
    """Runs of the map side by side, on classes of letters."""

    found_by = "task-map"
    finest = 0.5

    def __init__(self, job: Job, form: TaskForm | None = None) -> None:
        super().__init__(job)
        self.form = form_of(job) if form is None else form
        W = np.array([self.form.condensed(start) for start in job.starts])
        self.seen = self.look(np.log(np.maximum(W, TINY)))
        self.k = np.full(len(W), max(0.5 * self.form.width, self.least))
        self.begin_from(W)

    @property
    def least(self) -> float:
        """The smallest width: gamma, where the map is that of Blahut and Arimoto; a thousandth of the full one at gamma = 0."""
        return max(self.form.gamma, 1e-3 * self.form.width)

    def look(self, A: Array) -> Seen:
        """L, and what the map is made of."""
        form = self.form
        # The least log p(z|x).
        A = np.maximum(A, -690.0)
        W = np.exp(A)
        J = W * form.p_x
        p_z = np.maximum(J.sum(axis=2), TINY)
        u, s = J @ form.T_u.T / p_z[:, :, None], J @ form.T_s.T / p_z[:, :, None]
        log_u, log_s = np.log(np.maximum(u, TINY)), np.log(np.maximum(s, TINY))
        # -(keep H(u_z) - hide H(s_z))
        inside = form.keep * (u * log_u).sum(axis=2) - form.hide * (s * log_s).sum(axis=2)
        loss = form.constant - (p_z * inside).sum(axis=1)
        if form.gamma:
            # gamma (I(X;Z) - H(X)) in place of -gamma sum p(z) H(q_z)
            loss += form.gamma * ((J * A).sum(axis=(1, 2)) + entr(p_z).sum(axis=1) - entr(form.p_x).sum())
        return Seen(A, loss, form.keep * (log_u @ form.T_u) - form.hide * (log_s @ form.T_s), np.log(p_z)[:, :, None])

    def mapped(self, seen: Seen, k: Array) -> Array:
        """log W' for widths k."""
        wide = k[:, None, None]
        A = seen.score / wide + (1.0 - self.form.gamma / wide) * seen.A
        if self.form.gamma:
            A = A + (self.form.gamma / wide) * seen.log_z
        return normalised(A)

    def mapped_once(self, seen: Seen, runs: IntArray) -> Seen:
        """One step of the map that does not raise L: with the width that has worked, or a wider one."""
        new = self.look(self.mapped(seen, self.k[runs]))
        while True:
            # A rise of L by less than 1e-14 is rounding.
            rises = (new.loss > seen.loss + 1e-14) & (self.k[runs] < self.form.width)
            if not rises.any():
                break
            # Factors of the width after a step that did not raise L, and after one that did: 3 to 5 times fewer steps on Adult than the
            # full width.
            self.k[runs[rises]] = np.minimum(2.5 * self.k[runs[rises]], self.form.width)
            new = self.look(self.mapped(seen, self.k[runs]))
        self.k[runs] = np.maximum(0.93 * self.k[runs], self.least)
        return new

    def accelerated(self, seen: Seen, runs: IntArray) -> Seen:
        """Two steps, and beyond them as far as SQUAREM says if that is no higher."""
        one = self.mapped_once(seen, runs)
        two = self.mapped_once(one, runs)
        first, second = one.A - seen.A, two.A - 2.0 * one.A + seen.A
        weight = np.exp(two.A) * self.form.p_x
        sizes = [np.sqrt((weight * part**2).sum(axis=(1, 2))) for part in (first, second)]
        reach = sizes[0] / np.maximum(sizes[1], TINY)
        # Steps that turn about, at a width that is nearly too small, leave nothing to extrapolate: a wider one is better, by 1.6.
        turned = runs[reach < 1.5]
        self.k[turned] = np.minimum(1.6 * self.k[turned], self.form.width)
        # Most that SQUAREM extrapolates by: 1,000.
        reach = np.clip(reach, 1.0, 1000.0)[:, None, None]
        beyond = self.look(normalised(np.clip(seen.A + 2.0 * reach * first + reach**2 * second, -1e6, 1e6)))
        return beyond.where(beyond.loss < two.loss, two)

    def at(self, runs: IntArray) -> Seen:
        """What was seen of some runs."""
        return Seen(*(part[runs] for part in self.seen))

    def step(self, W: Array) -> Array:  # noqa: ARG002
        """An accelerated step of the runs `some`."""
        new = self.accelerated(self.at(self.some), self.some)
        for part, value in zip(self.seen, new, strict=True):
            part[self.some] = value
        return np.exp(new.A)

    def losses(self, W: Array, rho: Array) -> Array:  # noqa: ARG002
        """L of the runs `some`, seen already."""
        return self.seen.loss[self.some]

    def stationarity(self, W: Array) -> Array:
        """max |W - W exp(-g/k) / normaliser| with the problem's own width, as `MarkovLagrangian.stationarity`."""
        k = np.full(len(W), self.job.problem.width)
        return np.asarray(np.abs(W - np.exp(self.mapped(self.at(self.some), k))).max(axis=(1, 2)))

    def encoders(self) -> list[Array]:
        """Of the letters, without the clusters that have died."""
        return [alive(self.form, np.exp(A)) for A in self.seen.A]


def alive(form: TaskForm, W: Array) -> Array:
    """The encoder of the letters from that of the classes, without the clusters that have died."""
    W = W[W @ form.p_x > DEAD]
    return form.expanded(W / W.sum(axis=0))


def normalised(A: Array) -> Array:
    """log softmax over z."""
    A = A - A.max(axis=1, keepdims=True)
    return np.asarray(A - np.log(np.exp(A).sum(axis=1, keepdims=True)))


@dataclass(frozen=True)
class TaskMap(ServesTasks):
    """Keep one target, hide another: the map with a width that adapts, and SQUAREM.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.datasets.paper_uniform()
    >>> tasks = ip.TaskJoint(joint, joint.from_matrix(joint.p_xy[:, ::-1], y_names="other"))
    >>> ip.solve(tasks, ip.task_funnel(0.5, gamma=0.05), ip.TaskMap(), rng=0).converged
    True
    """

    name = "task-map"

    def useful_starts(self, support: Support, problem: MarkovLagrangian, clusters: int, starts: int) -> int:  # noqa: ARG002
        """As many as the budget holds, at least two."""
        # An iteration of all starts together takes 1e7 operations, about: some tenths of a second.
        return max(min(2, starts), min(starts, 10_000_000 // max(3 * work_of(support, clusters), 1)))

    def begin(self, job: Job) -> TaskIteration:
        """The runs of a job, before their first iteration."""
        return TaskIteration(job)


class TaskEffort(NamedTuple):
    """What the default may spend, step by step."""

    rounds: int = 12
    """Times that clusters are added to the best encoder, at most."""
    laps: int = 50
    """Iterations from all starts, before the first of them end."""
    new: int = 16
    """Clusters that a round adds, at most, where the map goes on from them."""
    share: float = 0.01
    """Of all mass that new clusters begin with."""
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
class TaskPortfolio(ServesTasks, PathSolver):
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

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """The best run of each problem, from the same starts."""
        return best_runs(self, job, problems)

    def run(self, job: Job) -> list[Run]:
        """Every start as it ended, the trivial encoders, and what was found beyond them."""
        form = form_of(job)
        found = drive(Race(job.within(work=EFFORT.steps_work), form))
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
        settled_task(job, form, merged(job.support, job.problem, run.encoder, most=job.most), "merging")
        for run in runs
        if len(run.encoder) > job.most
    ]


def settled_task(job: Job, form: TaskForm, W: Array, found_by: str, steps: int = EFFORT.steps_work) -> Run:
    """The map from one encoder of the letters, so many steps at most."""
    work = work_of(job.support, len(W))
    patient = job.but(starts=W[None], record=False).within(
        iterations=max(50, min(job.budget.iterations, EFFORT.steps_work // max(work, 1), steps))
    )
    run = drive(TaskIteration(patient, form))[0]
    return replace(
        run, found_by=f"{found_by}, {run.found_by}", died=max(job.starts.shape[1] - len(run.encoder), 0), trace=None
    )


def _grown(job: Job, form: TaskForm, best: Array) -> list[Run]:
    """gamma > 0: the best encoder with clusters that it lacks, settled, while that helps; one cluster for many that are equal."""
    few = 16 * EFFORT.laps
    runs = [settled_task(job, form, merged(job.support, job.problem, best, price=MISSING), "growth", few)]
    rows = max(job.most, len(form.p_x)) if not job.capped else len(form.p_x)
    for _ in range(EFFORT.rounds):
        W = form.condensed(merged(job.support, job.problem, runs[-1].encoder, price=MISSING))
        asked, room = Asked(form, form.multipliers(W)), max(rows - len(W), 0)
        new = missing(form, asked.lam, form.posteriors(W), min(EFFORT.new, room))
        if not new.shape[1]:
            brief = job.budget.part(cells=max(100, EFFORT.cells // len(form.p_x)))
            new = np.column_stack([new, *search_boxes(asked, EFFORT.box_floor, brief).violating[:room]])
        if not new.shape[1] or job.budget.over:
            break
        W = form.expanded(np.vstack([(1.0 - EFFORT.share) * W, (EFFORT.share / new.shape[1]) * new.T / form.p_x]))
        run = settled_task(job, form, W / W.sum(axis=0), "growth", few)
        if job.loss(run.encoder) > job.loss(runs[-1].encoder) - MISSING:
            break
        runs.append(run)
    joined = merged(job.support, job.problem, runs[-1].encoder, price=MISSING)
    return [runs[-1], settled_task(job, form, joined, "growth")]


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
