"""What a proof hands over: a lower bound of the optimum, and how far the search for it has come."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from ..checks import whole_number
from ..errors import InvalidOptionError
from ..information import Array
from ..problem import MarkovLagrangian


@dataclass(frozen=True)
class Limits:
    """When a proof is good enough, and when to give up: whatever ends the search, the bound proven so far holds."""

    tol: float = 1e-6
    """Gap between loss and lower bound, in nats, that counts as certified."""
    max_cells: int = 20_000_000
    """Cells that branch and bound may open."""
    max_seconds: float = math.inf

    def __post_init__(self) -> None:
        if not (isinstance(self.tol, (int, float)) and 0.0 < self.tol < math.inf):
            raise InvalidOptionError(f"the certificate's tol must be a positive number of nats, found {self.tol!r}.")
        object.__setattr__(self, "max_cells", whole_number("max_cells", self.max_cells))
        if not self.max_seconds > 0.0:
            raise InvalidOptionError(f"max_seconds must be positive, found {self.max_seconds!r}.")


@dataclass(frozen=True)
class Certificate:
    """lower_bound <= L(W) for every encoder W of the joint; nats."""

    problem: MarkovLagrangian
    loss: float
    """L at the encoder that was judged."""
    lower_bound: float
    tol: float
    cells: int
    """Cells opened."""
    left: int
    """Cells still open when the search ended; 0 if it ran to its end."""
    seconds: float
    posterior: Array | None = field(default=None, repr=False)
    """A distribution p(x|z) that no cluster of the encoder has and that lowers the loss; None if none was met."""

    @property
    def gap(self) -> float:
        """Loss - lower_bound: the encoder is at most this far from the global optimum."""
        return self.loss - self.lower_bound

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        open_cells = f", {self.left:,} left open" if self.left else ""
        return (
            f"{said}: loss {self.loss:.9f}, lower bound {self.lower_bound:.9f}, gap {self.gap:.1e} nats "
            f"(asked for {self.tol:.0e}); {self.cells:,} cells{open_cells}, {self.seconds:.2f} s"
        )
