"""multi-1: problems that keep U and hide S, by the splitting in Solver I's order.

    p = p(z|s),  F(p) = -hide H(Z|S),  Ap = p,  Bq = W K_s,  G(W) = rho_z H(Z) - gamma H(Z|X) + keep H(Z|U),  rho_z = gamma - keep + hide

F is convex and A the identity, so the theorem for any G covers it (docs/explanation/theory.md): with the dual variable nu = -grad F(p),
an exact p-step and a W-step that does not raise the augmented Lagrangian L_c, an iteration changes L_c by at most -kappa |p' - p|^2, row by
row, kappa > 0 for penalties above the row's curvature hide p(s)/p(z|s) times sqrt(2). It is checked along the run: `descent` has the
largest change of L_c in an iteration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..information import Array, entr
from ..posterior.task_form import TINY
from .job import Job, PlainIteration
from .task_map import ServesTasks, alive, form_of

PENALTY_FACTOR = 1.6
"""Of a row's curvature: above sqrt(2), from which on every iteration provably lowers L_c at relaxation 1."""


class SplitTasks(PlainIteration):
    """Runs of the splitting, on classes of letters."""

    found_by = "multi-1"
    finest = 0.5

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        self.form = form = form_of(job)
        self.p_s, self.p_u = form.T_s @ form.p_x, form.T_u @ form.p_x
        self.K_s, self.K_u = (form.T_s * form.p_x).T / self.p_s, (form.T_u * form.p_x).T / self.p_u
        self.rho_z = form.gamma - form.keep + form.hide
        self.begin_from(np.maximum([form.condensed(start) for start in job.starts], 1e-12))
        self.p = self.state.W @ self.K_s
        self.nu = -form.hide * self.p_s * (np.log(self.p) + 1.0)
        self.c = self.curvature(self.p)
        self.descent = np.full(len(self.p), -np.inf)
        """The largest change of L_c in any iteration of each run: at most rounding."""

    def curvature(self, p: Array) -> Array:
        """The penalty of every row: `PENALTY_FACTOR` hide p(s) / p(z|s)."""
        # The least p(z|s) that a curvature is taken at.
        return np.asarray(PENALTY_FACTOR * self.form.hide * self.p_s / np.maximum(p, 1e-9))

    def augmented(self, p: Array, W: Array, nu: Array, c: Array) -> float:
        """L_c = F(p) + G(W) + <nu, p - W K> + 1/2 sum c (p - W K)^2."""
        form, away = self.form, p - W @ self.K_s
        F = -form.hide * float((self.p_s * entr(p)).sum())
        G = self.rho_z * float(entr(W @ form.p_x).sum()) + form.keep * float((self.p_u * entr(W @ self.K_u)).sum())
        if form.gamma:
            G -= form.gamma * float((form.p_x * entr(W)).sum())
        return F + G + float((nu * away).sum()) + 0.5 * float((c * away**2).sum())

    def step(self, W: Array) -> Array:
        """One iteration of Solver I at relaxation 1, of the runs `some`: p, nu, W."""
        return np.array([self.iterated(run, one) for run, one in zip(self.some, W, strict=True)])

    def iterated(self, run: int, W: Array) -> Array:
        """The same of one run; its primal and dual residual are kept."""
        p, nu, c = self.p[run], self.nu[run], self.c[run]
        wanted = self.curvature(np.minimum(p, W @ self.K_s))
        # A row's penalty is raised once its curvature has grown by 1.3; it never falls.
        c = self.c[run] = np.where(wanted > 1.3 * c, wanted, c)
        before = self.augmented(p, W, nu, c)
        v = W @ self.K_s
        p = entropy_prox(self.form.hide * self.p_s, c, c * v - nu)
        nu = nu + c * (p - v)
        W = self._encoder_step(W, p, nu, c)
        self.descent[run] = max(self.descent[run], self.augmented(p, W, nu, c) - before)
        after = W @ self.K_s
        self.p[run], self.nu[run] = p, nu
        self.state.residuals[run, :2] = np.abs(p - after).max(), np.abs(after - v).max()
        return W

    def _encoder_step(self, W: Array, p: Array, nu: Array, c: Array) -> Array:
        """Mirror steps on G and the penalty, none of which raises L_c."""
        form = self.form
        # Mirror steps on W in an iteration, each with a line search.
        for _ in range(10):
            value = self.augmented(p, W, nu, c)
            pull = (nu + c * (p - W @ self.K_s)) / self.p_s
            slope = -self.rho_z * np.log(np.maximum(W @ form.p_x, TINY))[:, None]
            slope = slope - form.keep * np.log(np.maximum(W @ self.K_u, TINY)) @ form.T_u - pull @ form.T_s
            log_W = np.log(np.maximum(W, TINY))
            if form.gamma:
                slope = slope + form.gamma * log_W
            width = form.gamma + 0.5 * PENALTY_FACTOR * form.hide
            new = W
            for _ in range(40):  # the width is 1e12 times as large then
                trial = np.exp(log_W - slope / width - (log_W - slope / width).max(axis=0))
                trial = np.maximum(trial / trial.sum(axis=0), 1e-15)
                trial /= trial.sum(axis=0)
                if self.augmented(p, trial, nu, c) <= value:
                    new = trial
                    break
                width *= 2.0
            moved = float(np.abs(new - W).max())
            W = new
            if moved < 1e-13:
                break
        return W

    def losses(self, W: Array) -> Array:
        """L of every run."""
        return np.array(self.job.losses([self.form.expanded(one) for one in W]))

    def stationarity(self, W: Array) -> Array:
        """The problem's own."""
        problem, support = self.job.problem, self.job.support
        return np.array([problem.stationarity(support.joint, support.lift(self.form.expanded(one))) for one in W])

    def augmentation(self) -> tuple[Array, Array]:
        """L_c, and the median penalty of a row."""
        parts = (self.p, self.state.W, self.nu, self.c)
        L_c = [self.augmented(*(part[run] for part in parts)) for run in self.some]
        return np.array(L_c), np.median(self.c[self.some], axis=(1, 2))

    def encoders(self) -> list[Array]:
        """Of the letters, without the clusters that have died."""
        return [alive(self.form, W) for W in self.state.W]


def entropy_prox(kappa: Array, c: Array, t: Array) -> Array:
    """argmin over p(.|s) of sum_z kappa p log p + c p^2 / 2 - t p on the simplex, for each column s: kappa (log p + 1) + c p = t - lambda.

    p = (kappa / c) omega((t - lambda)/kappa - 1 + log(c / kappa)), omega(y) + log omega(y) = y; lambda by bisection on sum p = 1.
    """
    from scipy.special import wrightomega

    # At the one end every p exceeds 1, at the other all are below exp(-60).
    low, high = (t - c - 60.0 * kappa).min(axis=0), t.max(axis=0) + 60.0 * kappa
    shift = np.log(c / kappa) - 1.0
    # Bisections for the multiplier of sum_z p = 1: to rounding.
    for _ in range(80):
        middle = 0.5 * (low + high)
        over = (kappa / c * wrightomega((t - middle) / kappa + shift)).sum(axis=0) > 1.0
        low, high = np.where(over, middle, low), np.where(over, high, middle)
    p = kappa / c * wrightomega((t - 0.5 * (low + high)) / kappa + shift)
    return np.asarray(np.maximum(p, TINY) / np.maximum(p, TINY).sum(axis=0))


@dataclass(frozen=True)
class Multi1(ServesTasks):
    """One target kept, another hidden, by the paper's splitting in Solver I's order, which a theorem covers.

    Examples
    --------
    >>> import infoplane as ip
    >>> keep = ip.Joint.from_counts([[8, 2], [5, 5], [4, 6], [1, 9]], y_names="rich")
    >>> hide = ip.Joint.from_counts([[7, 3], [2, 8], [6, 4], [4, 6]], y_names="sex")
    >>> s = ip.solve(ip.TaskJoint(keep, hide), ip.task_funnel(1.0, gamma=0.05), ip.Multi1(), starts=2, rng=0)
    >>> s.converged
    True
    """

    name = "multi-1"

    def begin(self, job: Job) -> SplitTasks:
        """The runs of a job, before their first iteration."""
        return SplitTasks(job)
