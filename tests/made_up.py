"""Solutions that no solver found, for tests of what is done with solutions."""

import numpy as np

import infoplane as ip
from infoplane.solution import Solution
from infoplane.status import Residuals, Status


def run_of(joint, W, problem=None, parameter=0.5):
    return Solution(
        joint, problem or ip.bottleneck(0.5), np.asarray(W, dtype=float), Status.STATIONARY, "made up", 1, 0.0, Residuals(0, 0, 0),
        parameter=parameter,
    )  # fmt: skip
