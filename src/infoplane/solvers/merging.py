"""Greedy merging as a solver: the best partition of a merge path (`certificate/merge_path.py`)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..checks import check_one_of
from ..information import Array
from ..joint.support import Support
from ..problem import MarkovLagrangian
from ..solution import Run
from ..status import Residuals, Status
from .base import Solver
from .stopping import Stopping

if TYPE_CHECKING:
    from ..joint.joint import Joint

from ..certificate.merge_path import MergePath, agglomerative_bottleneck, merge_path, merge_two


@dataclass(frozen=True)
class Merging(Solver):
    """Greedy merging as a solver: the partition of the merge path, with no more clusters than allowed, of lowest Lagrangian.

    Parameters
    ----------
    criterion
        ``"information"``: the classical paths, Merge-Two where H(Z|Y) enters with a negative sign (the funnel), the agglomerative
        bottleneck elsewhere. ``"lagrangian"``: each merge is the one that lowers the problem's own Lagrangian most.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.5), ip.Merging())
    >>> s.clusters, round(s.loss, 6)
    (2, -0.232136)
    """

    name = "merging"
    deterministic = True  # there is one path, whatever the starts
    grows = True

    criterion: Literal["information", "lagrangian"] = "information"

    def __post_init__(self) -> None:
        check_one_of("criterion", self.criterion, ("information", "lagrangian"))

    def begin(
        self, support: Support, problems: Sequence[MarkovLagrangian], _starts: Array, stopping: Stopping, _record: bool
    ) -> MergingBatch:
        """One run per problem; problems that share a path compute it once."""
        return MergingBatch(self, support, problems, stopping)

    def path(self, joint: Joint, problem: MarkovLagrangian) -> MergePath:
        """The merge path that serves a problem."""
        if self.criterion == "lagrangian":
            return merge_path(joint, iyz_weight=problem.rho_zy, ixz_weight=-(problem.rho_z + problem.rho_zy))
        return merge_two(joint) if problem.rho_zy < 0 else agglomerative_bottleneck(joint)


class MergingBatch:
    """The best partition of its path for each problem."""

    def __init__(
        self, options: Merging, support: Support, problems: Sequence[MarkovLagrangian], stopping: Stopping
    ) -> None:
        self.options, self.support, self.problems, self.stopping = options, support, problems, stopping
        self.done: list[Run] = []

    def advance(self, _iterations: int) -> bool:
        """The merge path of one problem."""
        if len(self.done) < len(self.problems):
            self.done.append(self._walk(self.problems[len(self.done)]))
        return len(self.done) < len(self.problems)

    def _walk(self, problem: MarkovLagrangian) -> Run:
        joint = self.support.joint
        path = self.options.path(joint, problem)
        encoder = path.encoder_at(path.best(problem, self.stopping.most_clusters(len(self.support.p_x))))
        residuals = Residuals(0.0, 0.0, problem.stationarity(joint, encoder))
        return Run(
            encoder=encoder[:, self.support.x],
            status=self.stopping.judge(residuals, Status.STALLED),
            iterations=len(path.merges),
            residuals=residuals,
            found_by=self.options.name,
        )

    def runs(self, traces: bool = True) -> list[Run]:  # noqa: ARG002
        """The problems walked so far; merging has no traces."""
        return list(self.done)
