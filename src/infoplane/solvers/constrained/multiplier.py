"""Runs with a multiplier lam: held at the problem's, or in every iteration the root of an increasing function of it, the constraint.

bottleneck   lam = 1/gamma        funnel   lam = 1/beta        (the slope of the frontier, either way)
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable

import numpy as np

from ...checks import number
from ...information import Array, IntArray
from ...kernels.common.rows import STALLED, STATIONARY
from ...problem import Family, MarkovLagrangian
from ..job import Job
from ..plain import PlainIteration


def checked(name: str, value: float | None) -> float | None:
    """A bound on an information, in nats, or None."""
    return None if value is None else number(name, value, lambda r: r > 0.0, "a positive number of nats, or None")


def ratio(problem: MarkovLagrangian, sign: float) -> float | None:
    """gamma or beta of a bottleneck (sign 1) or a funnel (-1), scaled or not; None if the problem is neither."""
    balanced = abs(problem.rho_z + problem.rho_zx + problem.rho_zy) <= 1e-12 * max(map(abs, problem.rho))
    if not balanced or sign * problem.rho_zy <= 0.0 or sign * problem.rho_zx >= 0.0:
        return None
    gamma = -problem.rho_zx / problem.rho_zy
    return gamma if sign > 0.0 else 1.0 / gamma


def root(function: Callable[[Array], tuple[Array, Array]], first: Array, most: float) -> Array:
    """The lam > 0 at which each entry of an increasing function, given with its slope, is 0; by Newton inside a bracket.

    0 where it is positive from the beginning on, ``most`` where it is not up to there.
    """
    low, high, lam = np.zeros_like(first), np.full_like(first, most), np.clip(first, 1e-3, most / 2.0)
    for _ in range(100):
        value, slope = function(lam)
        low, high = np.where(value <= 0.0, lam, low), np.where(value > 0.0, lam, high)
        with np.errstate(divide="ignore", invalid="ignore"):
            newton = lam - value / slope
        inside = (newton > low) & (newton < np.minimum(high, 4.0 * lam))
        halved = np.where(high < most, 0.5 * (low + high), 2.0 * lam)
        new = np.minimum(np.where(inside, newton, halved), most)
        done = (np.abs(new - lam) <= 1e-13 * lam) | (low >= most) | (high <= 1e-12)
        lam = np.where(done, lam, new)
        if done.all():
            break
    return np.asarray(lam)


class MultiplierIteration(PlainIteration):
    """A subclass writes `tilted`: its step at a multiplier, and the constraint with its slope there."""

    family: Family
    most: float
    """The largest multiplier: where even it does not meet the constraint, the next iterations come nearer."""

    def __init__(self, job: Job, found_by: str, target: float | None, parameter: float) -> None:
        super().__init__(job)
        self.found_by, self.target = found_by, target
        self.lam = np.full(len(job.starts), 1.0 / parameter)

    @abstractmethod
    def tilted(self, W: Array, lam: Array) -> tuple[Array, Array, Array]:
        """The next encoders of the runs `some`, the constrained information and its slope in lam."""

    def step(self, W: Array) -> Array:
        """One iteration, with the multiplier held or found."""
        target = self.target
        if target is not None:

            def excess(lam: Array) -> tuple[Array, Array]:
                _, value, slope = self.tilted(W, lam)
                return value - target, slope

            self.lam[self.some] = root(excess, self.lam[self.some], self.most)
        return self.tilted(W, self.lam[self.some])[0]

    def stationarity(self, W: Array) -> Array:
        """With a constraint: of the Lagrangian whose multiplier was found, which is what the iteration can end at."""
        if self.target is None:
            return super().stationarity(W)
        held, found = (self.rho, self.width), np.empty(len(W))
        for run, lam in enumerate(self.lam[self.some]):
            problem = self.family(min(1.0 / max(lam, 1e-9), self.family.most))
            self.rho, self.width = np.array(problem.rho), problem.width
            found[run] = super().stationarity(W[run : run + 1])[0]
        self.rho, self.width = held
        return found

    def advance(self, steps: IntArray, trace: Array) -> None:
        """As for any; a run under a constraint ends where it is stationary for its own multiplier, not for the problem's."""
        super().advance(steps, trace)
        if self.target is not None:
            self.state.outcome[self.state.outcome == STATIONARY] = STALLED

    def encoders(self) -> list[Array]:
        """Without dead clusters; the residual that is reported is that of the problem asked for, whatever the constraint."""
        if self.target is not None:
            self.state.residuals[:, 2] = super().stationarity(self.state.W)
            found = ", ".join(f"{1.0 / max(lam, 1e-9):.6g}" for lam in self.lam[:8])
            self.advice = (
                f"under a constraint a run ends at a multiplier of its own; here {self.family.parameter} = {found}"
            )
        return super().encoders()
