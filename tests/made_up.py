"""Solutions that no solver found, for tests of what is done with solutions."""

import numpy as np

import infoplane as ip
from infoplane.solution import Residuals, Solution, Status


def run_of(joint, W, problem=None, parameter=0.5):
    return Solution(
        joint, problem or ip.bottleneck(0.5), np.asarray(W, dtype=float), Status.STATIONARY, "made up", 1, 0.0, Residuals(0, 0, 0),
        parameter=parameter,
    )  # fmt: skip


def runs_of(joint, parameters, starts=1, clusters=4, seed=0):
    """Runs that no solver made: quick, and as many as wanted."""
    rng = np.random.default_rng(seed)
    runs = []
    for gamma in parameters:
        W = rng.random((clusters, joint.shape[0])) ** 8
        W /= W.sum(axis=0)
        for start in range(starts):
            runs.append(
                Solution(
                    joint=joint,
                    problem=ip.bottleneck(float(gamma)),
                    encoder=W,
                    status=Status.STATIONARY if start % 2 == 0 else Status.ITERATION_LIMIT,
                    solver="made up",
                    iterations=start,
                    seconds=0.25,
                    residuals=Residuals(0.0, 0.0, 1e-9),
                    parameter=float(gamma),
                    start=start,
                )
            )
    return runs
