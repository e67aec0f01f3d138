"""When a run may stop, and which status it then has.

"Converged" means stationary: the primal residual |Ap - Bq|, the dual residual c |B(q - q_old)| (each row weighted by its mass) and the
problem's own stationarity (for the bottleneck |W - BA(W)|), each in its largest entry, are all at most ``tol``. A small primal
residual alone proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ..checks import number, whole_number
from ..status import STATIONARY_TOL, Residuals, Status, judge

FEWEST = 100
"""Iterations that every budget holds."""


@dataclass(frozen=True)
class Stopping:
    """The residuals that count as stationary, the most iterations, and the most clusters of an answer."""

    tol: float = STATIONARY_TOL
    max_iter: int = 20_000
    clusters: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters. Starts may have fewer."""

    work: float = math.inf
    """Operations (`base.work_of`) that a run may take, where `max_iter` iterations are more: a budget of the default solver."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", number("tol", self.tol, lambda tol: 0.0 < tol < 1.0, "in (0, 1)"))
        object.__setattr__(self, "max_iter", whole_number("max_iter", self.max_iter))
        if self.clusters is not None:
            object.__setattr__(self, "clusters", whole_number("clusters", self.clusters))

    def most_clusters(self, letters: int) -> int:
        """The cap on |Z|, for X of so many letters of positive mass."""
        return letters if self.clusters is None else self.clusters

    def affordable(self, work: float, each: int) -> int:
        """Iterations of so many operations each that a budget holds: no more than `max_iter`, and at least `FEWEST` of them."""
        return int(min(self.max_iter, max(FEWEST, work / max(each, 1))))

    def judge(self, residuals: Residuals, otherwise: Status) -> Status:
        """STATIONARY or ALMOST if the residuals are that small, whatever ended the run; else ``otherwise``."""
        return judge(residuals, self.tol, otherwise)
