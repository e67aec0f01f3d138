"""Every encoder of a frontier at every parameter: L = S H(Z) - rho_zx I(X;Z) - rho_zy I(Y;Z), S = rho_z + rho_zx + rho_zy.

It is linear in rho, so that an encoder is a straight line in the parameter, known from three numbers, and where another run's line lies
below the best of a parameter's own, that encoder is the better answer there. Stored runs stay as they are: a frontier looks when read.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..errors import InvalidOptionError
from ..information import Array
from ..problem import siblings
from ..results import STATIONARY_TOL, TIE, Residuals, Status, judge
from ..solution import Solution

if TYPE_CHECKING:
    from .frontier import Frontier


class BestAnswer(NamedTuple):
    """The best encoder at a parameter: the row of the run that found it, and that run as an answer here."""

    row: int
    run: Solution
    found_at: float
    """The parameter of the run that found it."""

    @property
    def is_moved(self) -> bool:
        """Whether a run of another parameter found it."""
        return self.found_at != self.run.parameter and not (np.isnan(self.found_at) and np.isnan(self.run.parameter))


def best_answers(runs: Sequence[Solution], own: Sequence[int]) -> list[BestAnswer]:
    """For each of the rows ``own``, the best of their parameters, the best encoder of all runs of the same family."""
    found = []
    lines = _Lines(runs)
    for row in own:
        run = runs[row]
        answer = BestAnswer(row, run, run.parameter)
        for other in lines.below(run):
            moved = _judged_at(run, runs[other])
            if moved is not None:
                answer = BestAnswer(other, moved, runs[other].parameter)
                break
        found.append(answer)
    return found


def as_read(frontier: Frontier) -> tuple[Frontier, list[int], list[int]]:
    """A frontier whose runs include the answers from elsewhere, for those who show runs: they follow the stored ones, each as a run here.

    Also the number of the run that found each encoder, and where the best answer of each parameter stands.
    """
    moved = [answer for answer in frontier.best_answers() if answer.is_moved]
    stored = len(frontier)
    places = iter(range(stored, stored + len(moved)))
    best = [next(places) if answer.is_moved else answer.row for answer in frontier.best_answers()]
    if not moved:
        return frontier, list(range(stored)), best
    runs = [*frontier.runs, *(answer.run for answer in moved)]
    numbers = [*range(stored), *(answer.row for answer in moved)]
    return (
        type(frontier)(frontier.joint, runs, complete=frontier.complete, provenance=frontier.provenance),
        numbers,
        best,
    )


class _Lines:
    """The numbers of all runs from which their losses follow elsewhere."""

    def __init__(self, runs: Sequence[Solution]) -> None:
        rho = np.array([run.problem.rho for run in runs]).reshape(-1, 3)
        self.ixz = np.array([run.ixz for run in runs])
        self.iyz = np.array([run.iyz for run in runs])
        self.clusters = np.array([run.clusters for run in runs])
        families: dict[tuple[object, ...], int] = {}
        self.family = np.array(
            [families.setdefault(siblings(run.problem).key, len(families)) for run in runs], dtype=int
        )
        self.families = families
        self.told = np.array([_told(run) for run in runs]).reshape(-1, 3)
        total = rho.sum(axis=1)
        rest = np.array([run.loss for run in runs]) + rho[:, 1] * self.ixz + rho[:, 2] * self.iyz
        with np.errstate(divide="ignore", invalid="ignore"):
            self.h_z: Array = np.where(np.abs(total) > 1e-12, rest / total, np.nan)

    def below(self, run: Solution) -> list[int]:
        """The runs of the family whose encoders are better at a run's problem by more than `TIE`, within its cap on |Z|; lowest first."""
        rho = np.array(run.problem.rho)
        total = float(rho.sum()) if abs(rho.sum()) > 1e-12 else 0.0
        losses = -rho[1] * self.ixz - rho[2] * self.iyz + (total * self.h_z if total else 0.0)
        if not run.problem.single_target:
            losses = -(self.told @ rho)
        allowed = self.family == self.families[siblings(run.problem).key]
        if run.cluster_cap is not None:
            allowed &= self.clusters <= run.cluster_cap
        lower = np.flatnonzero(allowed & (losses < run.loss - TIE))
        return [int(other) for other in lower[np.argsort(losses[lower], kind="stable")]]


def _told(run: Solution) -> tuple[float, float, float]:
    """I(X;Z), I(U;Z) and I(S;Z) of a problem of tasks, whose loss is minus their product with rho."""
    return (0.0, 0.0, 0.0) if run.problem.single_target else (run.ixz, run.iuz, run.isz)


def _judged_at(run: Solution, other: Solution) -> Solution | None:
    """Another run's encoder as an answer to a run's problem, with its proven bound; None if the encoder was not kept, or is no better.

    A smaller loss under the same bound is no less certified. Otherwise it is STATIONARY only if it is, at this parameter.
    """
    try:
        W = other.encoder
    except InvalidOptionError:
        return None
    residuals = Residuals(0.0, 0.0, run.problem.stationarity(run.joint, W))
    status = judge(residuals, STATIONARY_TOL, Status.STALLED)
    moved = Solution(
        joint=run.joint,
        problem=run.problem,
        encoder=W,
        status=Status.CERTIFIED if run.status is Status.CERTIFIED else status,
        solver=other.solver,
        iterations=other.iterations,
        seconds=other.seconds,
        residuals=residuals,
        parameter=run.parameter,
        start=other.start,
        died=other.died,
        lower_bound=run.lower_bound,
        multipliers=run.multipliers,
        advice=f"found at {other.parameter:.4g}: solve(joint, problem, init=solution.encoder) goes on from here",
        cluster_cap=run.cluster_cap,
    )
    return moved if moved.loss < run.loss - TIE else None
