"""What the tests of sweeps share: frontiers compared to the bit, and path solvers small enough to read."""

from dataclasses import dataclass, replace

import numpy as np

import infoplane as ip
from infoplane.solution import Run
from infoplane.solvers.base import PathSolver
from infoplane.solvers.job import RunOptions
from infoplane.sweep.plan import Plan, RootSeed

UNIFORM = ip.datasets.paper_uniform()

NUMBERS = (
    "parameter",
    "start",
    "solver",
    "loss",
    "ixz",
    "iyz",
    "status",
    "iterations",
    "residuals",
    "died",
    "clusters",
)


def assert_same_runs(found, expected, encoders="best"):
    """The same runs in the same order, every number to the bit; encoders of the best runs, or of all; the same traces of the same runs."""
    assert len(found) == len(expected)
    for one, other in zip(found.runs, expected.runs, strict=True):
        for name in NUMBERS:
            assert getattr(one, name) == getattr(other, name), name
        assert one.lower_bound == other.lower_bound
        assert (one.multipliers is None) == (other.multipliers is None)
        assert one.multipliers is None or one.multipliers.tobytes() == other.multipliers.tobytes()
    assert found.best_rows() == expected.best_rows()
    for row in expected.best_rows() if encoders == "best" else range(len(expected)):
        ours, theirs = found.runs[row].encoder, expected.runs[row].encoder
        assert (ours.shape, ours.tobytes()) == (theirs.shape, theirs.tobytes())
    assert [run.trace is None for run in found.runs] == [run.trace is None for run in expected.runs]
    for one, other in zip(found.runs, expected.runs, strict=True):
        assert one.trace is None or one.trace.columns().tobytes() == other.trace.columns().tobytes()


def planned(solver=None, joint=UNIFORM, starts=6, options=None):
    """A plan with one solver, from seed 3."""
    return Plan(joint, (solver or ip.SOLVERS["ib-1"],), replace(options or RunOptions(), starts=starts), RootSeed(3))


@dataclass(frozen=True)
class Warm(PathSolver):
    """Each problem from the encoder that its neighbour has found; a lower bound, if it claims one, lies so far below."""

    segment: int | None = None
    claims: float | None = None
    tol: float = 1e-6

    name = "warm"
    deterministic = False

    def run(self, job):
        raise AssertionError("a sweep follows a path")

    def follow(self, job, problems):
        support, starts = job.support, job.starts
        W = starts[:1]
        for problem in problems:
            (run,) = ip.DouglasRachford().run(job.but(problem=problem, starts=W))
            # Every cluster must live for the next one to start from.
            W = np.ascontiguousarray(0.98 * _padded(run.encoder, starts.shape[1]) + 0.02 / starts.shape[1])[None]
            bound = None
            if self.claims is not None:
                bound = problem.value(support.joint, support.lift(run.encoder)) - self.claims
            yield Run(run.encoder, run.status, run.iterations, run.residuals, run.died, run.trace, "warm", bound)


def _padded(W, clusters):
    return np.concatenate([W, np.zeros((clusters - len(W), W.shape[1]))])
