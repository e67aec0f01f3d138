"""What a solver is asked for: one problem on one joint, from some starts, within a budget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..information import Array
from ..joint.support import Support
from ..runtime.budget import Budget
from ..solution import Run
from ..status import STATIONARY_TOL, Residuals, Status, judge

if TYPE_CHECKING:
    from ..problem import MarkovLagrangian


@dataclass(frozen=True)
class Job:
    """What a solver is asked for: one problem on one joint, from some starts, within a budget.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.support import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> round(job.loss(np.eye(3)), 6), job.most
    (-0.234383, 3)
    """

    support: Support
    problem: MarkovLagrangian
    starts: Array
    """Encoders of the letters of positive mass, (R, |Z|, |X|)."""
    tol: float = STATIONARY_TOL
    """Residuals that count as stationary."""
    clusters: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters. Starts may have fewer."""
    record: bool = False
    """Whether runs keep traces."""
    budget: Budget = field(default_factory=Budget)
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


def work_of(support: Support, clusters: int) -> int:
    """Operations of one iteration of an encoder of so many clusters; matrix products of BLAS do many at once."""
    outcomes = support.rows.nnz / len(support.p_x) if support.sparse else len(support.p_y)
    return int(len(support.p_x) * clusters * (20 + (outcomes if outcomes < 64 else outcomes / 6)))


def losses_of(support: Support, problem: MarkovLagrangian, encoders: Sequence[Array]) -> list[float]:
    """The Lagrangian at each encoder of the support."""
    return [loss for some in support.lifted(encoders) for loss in problem.values(support.joint, some)]
