"""`Certificate`, the result of a proof: a lower bound of the optimum; and `Limits`, how long to search for it."""

from __future__ import annotations

from dataclasses import dataclass, field

from ..checks import PYTHON_ONLY, positive_number, whole_number
from ..formatting import counted, html_facts, html_page, rounded
from ..information import Array
from ..problem import MarkovLagrangian
from ..results import Result
from ..runtime.budget import Budget


@dataclass(frozen=True)
class Limits:
    """When a proof is good enough, and when to stop without one: whatever ends the search, the bound proven so far is valid.

    Parameters
    ----------
    tol
        Gap between loss and lower bound, in nats, that counts as certified. (On the command line ``--certify`` gives it.)
    max_cells
        Most cells that branch and bound may open, for each parameter.
    max_seconds
        Most seconds that a proof may take, for each parameter.
    """

    tol: float = field(default=1e-6, metadata=PYTHON_ONLY)
    max_cells: int = 20_000_000
    max_seconds: float = 60.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", positive_number("the certificate's tol", self.tol))
        object.__setattr__(self, "max_cells", whole_number("max_cells", self.max_cells))
        object.__setattr__(self, "max_seconds", positive_number("max_seconds", self.max_seconds, finite=False))

    def budget(self, whole: Budget | None = None) -> Budget:
        """These limits as a budget, or as a part of one."""
        return (whole or Budget()).part(cells=self.max_cells, seconds=self.max_seconds)


@dataclass(frozen=True, eq=False)
class Certificate(Result):
    """lower_bound <= L(W) for every encoder W of the joint; nats. Its arrays are read-only, and it is equal to itself only.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
    >>> found = ip.certify(joint, problem, ip.solve(joint, problem, rng=0).encoder)
    >>> found.certified, 0 <= found.gap <= found.tol
    (True, True)
    """

    problem: MarkovLagrangian
    """L."""
    loss: float
    """L at the encoder that was judged."""
    lower_bound: float
    """No encoder has a smaller L: proven."""
    tol: float
    """The gap that counts as certified."""
    cells: int
    """Cells opened."""
    left: int
    """Cells still open when the search ended; 0 if it ran to its end."""
    seconds: float
    """Of the clock."""
    posterior: Array | None = field(default=None, repr=False)
    """A distribution p(x|z) that no cluster of the encoder has and that lowers the loss; None if none was met."""
    multipliers: Array | None = field(default=None, repr=False)
    """What the bound follows from, as in `Solution`."""
    limit: str = ""
    """What ended the search before it had proven all that it was asked for; "" if nothing did, or if it does not say."""

    @property
    def gap(self) -> float:
        """Loss - lower_bound: the encoder is at most this far from the global optimum."""
        return self.loss - self.lower_bound

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    def __repr__(self) -> str:
        said = "certified" if self.certified else "not certified"
        return (
            f"Certificate({self.problem.said}: {said}, loss {rounded(self.loss)} nats, lower bound "
            f"{rounded(self.lower_bound)} nats, gap {self.gap:.1e} nats)"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("verdict", f"{'certified' if self.certified else 'not certified'} to {self.tol:.0e} nats"),
            ("loss", f"{rounded(self.loss, 9)} nats"),
            ("lower bound of every encoder's loss", f"{rounded(self.lower_bound, 9)} nats"),
            ("gap", f"{self.gap:.1e} nats"),
            ("search", f"{counted(self.cells, 'cell')}, {self.left:,} left open, {self.seconds:.2f} s"),
            *([] if self.certified or not self.limit else [("ended by", self.limit)]),
        ]
        return html_page(f"Certificate, {self.problem.said}", html_facts(rows))

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        open_cells = f", {self.left:,} left open" if self.left else ""
        ended = f"; ended by {self.limit}" if self.limit and not self.certified else ""
        return (
            f"{said}: loss {self.loss:.9f}, lower bound {self.lower_bound:.9f}, gap {self.gap:.1e} nats "
            f"(asked for {self.tol:.0e}); {self.cells:,} cells{open_cells}, {self.seconds:.2f} s{ended}"
        )
