"""When a run may stop, and what is then said of it.

"Converged" means stationary: the primal residual |Ap - Bq|, the dual residual c |B(q - q_old)| (each row weighed by its mass) and the
problem's own stationarity (for the bottleneck |W - BA(W)|), each in its largest entry, are all at most ``tol``. A small primal
residual alone proves nothing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from .checks import whole_number
from .errors import InvalidOptionError


class Status(Enum):
    """How a run ended; the value is the sentence that the user reads."""

    CERTIFIED = "certified: a lower bound proves the loss globally optimal to the tolerance asked for"
    STATIONARY = "stationary: primal, dual and stationarity residuals are all below tol"
    ALMOST = "almost stationary: all residuals are below sqrt(tol), not below tol; raise max_iter"
    ITERATION_LIMIT = (
        "stopped at the iteration limit away from a stationary point: raise max_iter, or use penalty='auto'"
    )
    STALLED = "ended away from a stationary point, by its own rule or without moving on: use drs with step='exact', penalty='auto'"
    INTERRUPTED = "interrupted: this is the best iterate so far"

    @property
    def converged(self) -> bool:
        """CERTIFIED or STATIONARY, and nothing else."""
        return self in (Status.CERTIFIED, Status.STATIONARY)


class Residuals(NamedTuple):
    """Primal, dual and stationarity residual of the returned iterate; the first two are 0 for a method that splits nothing."""

    primal: float
    dual: float
    stationarity: float

    @property
    def largest(self) -> float:
        """The largest of the three."""
        return max(self)


@dataclass(frozen=True)
class Stopping:
    """What is small enough, and how long to try."""

    tol: float = 1e-8
    max_iter: int = 20_000

    def __post_init__(self) -> None:
        if not (isinstance(self.tol, (int, float)) and 0.0 < self.tol < 1.0):
            raise InvalidOptionError(f"tol must lie in (0, 1), found {self.tol!r}.")
        object.__setattr__(self, "max_iter", whole_number("max_iter", self.max_iter))

    def judge(self, residuals: Residuals, otherwise: Status) -> Status:
        """STATIONARY or ALMOST if the residuals say so, whatever ended the run; else ``otherwise``."""
        if residuals.largest <= self.tol:
            return Status.STATIONARY
        if residuals.largest <= math.sqrt(self.tol):
            return Status.ALMOST
        return otherwise
