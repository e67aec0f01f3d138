"""Problems that keep U and hide S: their map, with a width that adapts and SQUAREM.

    W' prop. to W^(1 - gamma/k) p(z)^(gamma/k) exp(-[keep D(p(u|x) || p(u|z)) - hide D(p(s|x) || p(s|z))] / k)

No step raises L if k >= gamma + hide eta, eta = max over x, x' of TV(p(s|x), p(s|x')) (`TaskLagrangian.width`). A smaller k is tried, and
taken back if L rises: at gamma = 0 the map with the full width needs of the order of 1/tol steps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..information import Array, IntArray, entr
from ..joint.joint import Support
from ..kernels.common import DEAD
from ..posterior.task_form import TINY, TaskForm
from ..problem import MarkovLagrangian, is_task
from ..task_problem import TaskLagrangian
from .base import Solver
from .job import Job, PlainIteration, work_of


class ServesTasks(Solver):
    """What every solver of tasks says of itself; the first of its bases."""

    serves_tasks = True

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for tasks."""
        if is_task(problem):
            return None
        return (
            f"{self.name} needs a TaskLagrangian, which keeps one target and hides another; found one Y with rho = ({problem.rho_z:g}, "
            f"{problem.rho_zx:g}, {problem.rho_zy:g})."
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
            # 2.5 after a step that raised L, 0.93 after one that did not: 3 to 5 times fewer steps on Adult than at the full width.
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

    def losses(self, W: Array) -> Array:  # noqa: ARG002
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
