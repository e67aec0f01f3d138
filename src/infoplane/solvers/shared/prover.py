"""What the solvers that prove their answer have in common: a lower bound of every encoder's loss comes with it; no start is random.

A bound is of all encoders: with a cap on |Z| below the optimum's, the answer is the best found with so many, and the gap says what the cap
costs.
"""

from __future__ import annotations

from dataclasses import replace

from ...information import Array
from ...runtime.budget import Limits
from ...solution import Run, proven
from ..base import PathSolver
from ..job import Job

RAISE = "raise max_cells or max_seconds"
"""What to do where a limit has ended a proof."""


class Prover(PathSolver, Limits):
    """A solver with a proof; its options are the proof's limits, for each parameter."""

    deterministic = True  # every start ends at the same optimum
    grows = True

    def bounded(self, job: Job, run: Run, lower: float, multipliers: Array | None) -> Run:
        """A run with the bound that is proven: CERTIFIED if its loss is within the tolerance of it."""
        return replace(
            run,
            status=proven(job.loss(run.encoder) - lower, self.tol, run.residuals, run.status),
            died=job.died(run.encoder),
            found_by=self.name,
            lower_bound=lower,
            multipliers=multipliers,
        )
