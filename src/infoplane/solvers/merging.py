"""Greedy merging as a solver: the best partition of a merge path (`certificate/merge_path.py`)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from ..checks import check_one_of
from ..problem import MarkovLagrangian
from ..results import Run
from .base import Solver
from .job import Job

if TYPE_CHECKING:
    from ..joint.joint import Joint

from ..posterior.merge_path import Callback, MergePath, agglomerative_bottleneck, merge_path, merge_two


@dataclass(frozen=True)
class Merging(Solver):
    """Greedy merging: Merge-Two for the funnel, agglomerative bottleneck; of its path the partition of lowest Lagrangian.

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

    def run(self, job: Job) -> list[Run]:
        """The best partition of the path, whatever the starts."""
        path = self.path(job.support.joint, job.problem, lambda *_: job.budget.look())
        encoder = path.encoder_at(path.best(job.problem, job.most))[:, job.support.x]
        return [replace(job.standing(encoder, self.name), iterations=len(path.merges))]

    def path(self, joint: Joint, problem: MarkovLagrangian, callback: Callback | None = None) -> MergePath:
        """The merge path that serves a problem."""
        if self.criterion == "lagrangian":
            on_x = -(problem.rho_z + problem.rho_zy)
            return merge_path(joint, iyz_weight=problem.rho_zy, ixz_weight=on_x, callback=callback)
        return (merge_two if problem.rho_zy < 0 else agglomerative_bottleneck)(joint, callback=callback)
