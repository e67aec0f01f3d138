"""How a run ended, and how far from stationary it was."""

from __future__ import annotations

import math
from enum import Enum
from typing import NamedTuple

STATIONARY_TOL = 1e-8
"""Residuals that count as stationary, unless the caller says otherwise."""


class Status(Enum):
    """How a run ended; the value is the sentence that the user reads.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.Status.STATIONARY.converged, ip.Status.STALLED.converged
    (True, False)
    >>> ip.Status.ITERATION_LIMIT.value
    'stopped at a limit on its work before it reached a stationary point'
    """

    CERTIFIED = "certified: a lower bound proves the loss globally optimal to the tolerance asked for"
    STATIONARY = "stationary: primal, dual and stationarity residuals are all below tol"
    ALMOST = "almost stationary: all residuals are below sqrt(tol), not below tol"
    ITERATION_LIMIT = "stopped at a limit on its work before it reached a stationary point"
    STALLED = "ended away from a stationary point, by its own rule or without moving on"
    INTERRUPTED = "interrupted: this is the best iterate so far"

    @property
    def remedy(self) -> str:
        """What to do about it, unless the solver knows better; "" if nothing is to be done."""
        if self in (Status.ALMOST, Status.ITERATION_LIMIT):
            return "raise max_iter"
        return "give its encoder as init to another solver" if self is Status.STALLED else ""

    @property
    def converged(self) -> bool:
        """CERTIFIED or STATIONARY, and nothing else."""
        return self in (Status.CERTIFIED, Status.STATIONARY)


class Residuals(NamedTuple):
    """Primal, dual and stationarity residual of the returned iterate; the first two are 0 for a method that splits nothing.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-1", rng=0)
    >>> s.residuals.largest <= 1e-8
    True
    """

    primal: float
    """How far the blocks of a splitting disagree, |Ap - Bq|."""
    dual: float
    """How far the last iteration has moved them, c |B(q - q_old)|."""
    stationarity: float
    """How far the encoder is from a fixed point, max |W - map(W)|."""

    @property
    def largest(self) -> float:
        """The largest of the three."""
        return max(self)


def judge(residuals: Residuals, tol: float, otherwise: Status) -> Status:
    """STATIONARY or ALMOST if the residuals are that small, whatever ended the run; else ``otherwise``."""
    if residuals.largest <= tol:
        return Status.STATIONARY
    if residuals.largest <= math.sqrt(tol):
        return Status.ALMOST
    return otherwise


def proven(gap: float | None, tol: float, residuals: Residuals, otherwise: Status) -> Status:
    """CERTIFIED if there is a gap and it is at most the tolerance *asked for*; else ``otherwise``.

    A bound above the loss by more than that, or than 1e-9, refutes itself and proves nothing.

    The only rule by which a run becomes CERTIFIED, in `solve`, sweeps, stores and files. A run that its solver called so by a
    wider tolerance is no more than its residuals show.
    """
    # Rounding may put a bound 1e-9 nats above a loss, at a beta of a million.
    if gap is not None and -max(tol, 1e-9) <= gap <= tol:
        return Status.CERTIFIED
    return judge(residuals, STATIONARY_TOL, Status.ITERATION_LIMIT) if otherwise is Status.CERTIFIED else otherwise
