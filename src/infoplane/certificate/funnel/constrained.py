"""The answer to a funnel with a constraint: maximise I(X;Z) over encoders whose I(Y;Z) is 0, or at most a cap.

Everything that `Solution` says of an encoder can be asked of it directly; ``solution`` is the same encoder as the answer to an
unconstrained Lagrangian, which is where ``loss`` and ``lower_bound`` are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ...information import Array
from ...solution import EncoderView, Solution
from ...status import Residuals, Status

if TYPE_CHECKING:
    from ...joint.joint import Joint


@dataclass(frozen=True, eq=False)
class ConstrainedFunnel(EncoderView):
    """An encoder that satisfies the constraint, and a bound that no other such encoder exceeds; nats. It is equal to itself only."""

    solution: Solution
    """The encoder as a solution of an unconstrained problem."""
    upper_bound: float
    """No encoder that satisfies the constraint has a larger I(X;Z)."""
    tol: float
    """Gap that counts as certified."""

    @property
    def joint(self) -> Joint:
        """p(x, y)."""
        return self.solution.joint

    @property
    def encoder(self) -> Array:
        """p(z|x) as (|Z|, |X|)."""
        return self.solution.encoder

    @property
    def gap(self) -> float:
        """upper_bound - I(X;Z): the encoder is at most this far from the best one."""
        return self.upper_bound - self.ixz

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    @property
    def status(self) -> Status:
        """How the search ended; CERTIFIED if the gap is at most ``tol``."""
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
