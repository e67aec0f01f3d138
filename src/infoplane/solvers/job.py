"""What a solver is asked for: one problem on one joint, from some starts, within a budget; and what is reported of its runs.

Kernels work in floating point. An iterate that has left its range is no answer, and is said to have failed. Where a letter of X or Y weighs
less than 1e-290, products of its mass with a small probability have few digits or none, and the residual of a kernel may look small
that is not: there it is taken again from its definition, `MarkovLagrangian.stationarity`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..information import Array
from ..joint.joint import Support
from ..results import STATIONARY_TOL, Residuals, Run, Status, judge, proven
from ..runtime.work import Budget

if TYPE_CHECKING:
    from ..problem import MarkovLagrangian


@dataclass(frozen=True)
class Job:
    """What a solver is asked for: one problem on one joint, from some starts, within a budget.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.joint import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> round(job.loss(np.eye(3)), 6), job.most
    (-0.234383, 3)
    """

    support: Support
    """The joint's letters of positive mass."""
    problem: MarkovLagrangian
    """What to minimise."""
    starts: Array
    """Encoders of the letters of positive mass, (R, |Z|, |X|)."""
    tol: float = STATIONARY_TOL
    """Residuals that count as stationary."""
    clusters: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters. Starts may have fewer."""
    record: bool = False
    """Whether runs keep traces."""
    budget: Budget = field(default_factory=Budget)
    """Iterations, work, cells and seconds that may be spent; also whether somebody has asked for an end."""
    after_default: bool = False
    """Whether the starts are what the default solver has found: nobody needs to ask it again."""

    def but(self, **changes: Any) -> Job:
        """The same job, with some fields changed."""
        return replace(self, **changes)

    def within(self, **limits: Any) -> Job:
        """The same job, with some limits of its budget changed."""
        return replace(self, budget=self.budget.part(**limits))

    @property
    def letters(self) -> int:
        """Letters of X of positive mass."""
        return len(self.support.p_x)

    @property
    def most(self) -> int:
        """The cap on |Z|."""
        return self.letters if self.clusters is None else min(self.clusters, self.letters)

    @property
    def capped(self) -> bool:
        """Whether |Z| may not be what X has letters."""
        return self.most < self.letters

    def losses(self, encoders: Sequence[Array]) -> list[float]:
        """The Lagrangian at each encoder."""
        return losses_of(self.support, self.problem, encoders)

    def loss(self, W: Array) -> float:
        """The Lagrangian at one encoder."""
        return self.losses([W])[0]

    def best(self, encoders: Sequence[Array]) -> int:
        """Which of some encoders has the lowest loss."""
        return int(np.argmin(self.losses(encoders)))

    def best_run(self, runs: Sequence[Run]) -> Run:
        """The run of lowest loss."""
        return runs[self.best([run.encoder for run in runs])]

    @property
    def work(self) -> int:
        """Operations of one iteration of one start."""
        return work_of(self.support, self.starts.shape[1])

    def judge(self, residuals: Residuals, otherwise: Status) -> Status:
        """STATIONARY or ALMOST if the residuals are that small, whatever ended the run; else ``otherwise``."""
        return judge(residuals, self.tol, otherwise)

    def standing(self, W: Array, found_by: str) -> Run:
        """An encoder as a run that ended here; STATIONARY if it is."""
        residuals = Residuals(0.0, 0.0, self.problem.stationarity(self.support.joint, self.support.lift(W)))
        return Run(W, self.judge(residuals, Status.STALLED), iterations=0, residuals=residuals, found_by=found_by)

    def sound(self, runs: Sequence[Run]) -> list[Run]:
        """The runs as they are reported; those that have failed with the trivial encoder in place of theirs, and the status STALLED."""
        # A mass so small that, times a probability of 1e-18, it has no longer all its digits (they end at 2.2e-308).
        faint = bool(min(self.support.p_x.min(), self.support.p_y.min()) < 1e-290)
        return [self._remeasured(one) if faint else one for one in map(_encoding, runs)]

    def _remeasured(self, run: Run) -> Run:
        if run.status not in (Status.STATIONARY, Status.ALMOST):
            return run
        stationarity = self.problem.stationarity(self.support.joint, self.support.lift(run.encoder))
        residuals = run.residuals._replace(stationarity=stationarity)
        return replace(run, residuals=residuals, status=self.judge(residuals, Status.STALLED))


FAILED = "begin elsewhere: its iterates left the range of floating point, and the encoder is the trivial one"


def _encoding(run: Run) -> Run:
    """The run, if its encoder's columns can be scaled to distributions; CERTIFIED only with a bound."""
    totals = run.encoder.sum(axis=0)
    if len(run.encoder) > 0 and (totals > 0.0).all() and (totals < np.inf).all():
        unproven = run.status is Status.CERTIFIED and run.lower_bound is None
        return replace(run, status=proven(None, 0.0, run.residuals, run.status)) if unproven else run
    trivial = np.ones((1, run.encoder.shape[1]))
    return replace(run, encoder=trivial, status=Status.STALLED, trace=None, lower_bound=None, advice=FAILED)


def work_of(support: Support, clusters: int) -> int:
    """Operations of one iteration of an encoder of so many clusters; matrix products of BLAS do many at once."""
    outcomes = support.rows.nnz / len(support.p_x) if support.sparse else len(support.p_y)
    return int(len(support.p_x) * clusters * (20 + (outcomes if outcomes < 64 else outcomes / 6)))


def losses_of(support: Support, problem: MarkovLagrangian, encoders: Sequence[Array]) -> list[float]:
    """The Lagrangian at each encoder of the support."""
    return [loss for some in support.lifted(encoders) for loss in problem.values(support.joint, some)]
