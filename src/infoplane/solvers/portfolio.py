"""`Portfolio`: the default of `solve`. The bottleneck is annealed and tried from other starts too; the funnel's starts are pooled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..information import Array
from ..joint.support import Support
from ..problem import MarkovLagrangian, is_bottleneck
from ..solution import Run
from .annealing import Annealing
from .base import Batch, PathSolver
from .pooling import Pooling, PoolingBatch, best_runs
from .stopping import Stopping


@dataclass(frozen=True)
class Portfolio(PathSolver):
    """Annealing where the problem is a bottleneck; `Pooling` from all starts. The best run wins, and says which part it was.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_nonuniform(), ip.bottleneck(0.2154434690031884), rng=0)
    >>> round(s.loss, 6)
    -0.187447
    """

    name = "portfolio"

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why it cannot solve a problem, or None."""
        return Pooling().refusal(problem)

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> PortfolioBatch:
        """All starts of one problem."""
        return PortfolioBatch(support, problems, starts, stopping, record)

    def follow(
        self,
        support: Support,
        problems: Sequence[MarkovLagrangian],
        starts: Array,
        stopping: Stopping,
        record: bool = False,
    ) -> Iterator[Run | None]:
        """The best run of each problem, from the same starts."""
        return best_runs(self, support, problems, starts, stopping, record)


class PortfolioBatch:
    """The starts, then the path."""

    def __init__(
        self, support: Support, problems: Sequence[MarkovLagrangian], starts: Array, stopping: Stopping, record: bool
    ) -> None:
        self.starts: PoolingBatch = Pooling().begin(support, problems, starts, stopping, record)
        self.path: Batch | None = (
            Annealing().begin(support, problems[:1], starts, stopping, record) if is_bottleneck(problems[0]) else None
        )

    def advance(self, iterations: int) -> bool:
        """A bounded piece of the starts' work, or of the path's."""
        if self.starts.advance(iterations):
            return True
        return self.path is not None and self.path.advance(iterations)

    def runs(self, traces: bool = True) -> list[Run]:
        """Every start as it stands, then what the path has found."""
        return [*self.starts.runs(traces), *(() if self.path is None else self.path.runs(traces))]
