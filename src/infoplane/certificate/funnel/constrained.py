"""The answer to a funnel with a constraint: maximise I(X;Z) over encoders whose I(Y;Z) is 0, or at most a cap.

Everything that `Solution` says of an encoder can be asked of it directly; ``solution`` is the same encoder as the answer to an
unconstrained Lagrangian, which is where ``loss`` and ``lower_bound`` are.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ...encoder.encoder import EncoderView
from ...information import Array
from ...sampling.intervals import LeakageBound, leakage_bound
from ...solution import Residuals, Solution, Status

if TYPE_CHECKING:
    from ...joint.joint import Joint


@dataclass(frozen=True, eq=False)
class ReleasedEncoder(EncoderView):
    """An encoder that answers a question about a release; it is equal to itself only."""

    solution: Solution
    """The encoder as a solution of an unconstrained problem."""

    @property
    def joint(self) -> Joint:
        """p(x, y)."""
        return self.solution.joint

    @property
    def encoder(self) -> Array:
        """p(z|x) as (|Z|, |X|)."""
        return self.solution.encoder

    @property
    def status(self) -> Status:
        """How the search ended; CERTIFIED if a gap of at most the tolerance was proven."""
        return self.solution.status

    @property
    def converged(self) -> bool:
        """Whether the status is CERTIFIED or STATIONARY."""
        return self.solution.converged

    @property
    def solver(self) -> str:
        """What found it."""
        return self.solution.solver

    @property
    def iterations(self) -> int:
        """Linear programmes solved."""
        return self.solution.iterations

    @property
    def seconds(self) -> float:
        """Time that it took."""
        return self.solution.seconds

    @property
    def residuals(self) -> Residuals:
        """As in `Solution`."""
        return self.solution.residuals


@dataclass(frozen=True, eq=False)
class ConstrainedFunnel(ReleasedEncoder):
    """An encoder that satisfies the constraint on this table, and a bound that no other such encoder exceeds; nats."""

    upper_bound: float
    """No encoder that satisfies the constraint has a larger I(X;Z)."""
    tol: float
    """Gap that counts as certified."""

    @property
    def gap(self) -> float:
        """upper_bound - I(X;Z): the encoder is at most this far from the best one."""
        return self.upper_bound - self.ixz

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    @cached_property
    def leakage_bound(self) -> LeakageBound | None:
        """What the release may leak in the population, at 95%; None unless the joint is a table of records. See `infoplane.leakage_bound`.

        It was made from these records, and hides what chance put there: no sample supports a cap of 0.
        """
        return None if self.joint.counts is None else leakage_bound(self, self.joint)

    @property
    def about(self) -> str:
        """What the constraint is about, for whoever reads one line: this table and, if it is one of records, not the population."""
        bound = self.leakage_bound
        return "" if bound is None else f"About this table, not the population. {bound}"
