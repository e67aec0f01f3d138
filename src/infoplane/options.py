"""Options that several functions take, checked and documented once."""

from __future__ import annotations

from dataclasses import dataclass

from .checks import number, whole_number
from .runtime.budget import ITERATIONS
from .status import STATIONARY_TOL


@dataclass(frozen=True)
class RunOptions:
    """When a run has ended.

    "Converged" means stationary: the primal residual |Ap - Bq|, the dual residual c |B(q - q_old)| (each row weighted by its mass) and the
    problem's own stationarity (for the bottleneck |W - BA(W)|), each in its largest entry, are all at most ``tol``. A small primal
    residual alone proves nothing.
    """

    tol: float = STATIONARY_TOL
    """Residuals that count as stationary."""
    max_iter: int = ITERATIONS
    """Iterations of every start."""
    clusters: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters. Starts may have fewer."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", number("tol", self.tol, lambda tol: 0.0 < tol < 1.0, "in (0, 1)"))
        object.__setattr__(self, "max_iter", whole_number("max_iter", self.max_iter))
        if self.clusters is not None:
            object.__setattr__(self, "clusters", whole_number("clusters", self.clusters))
