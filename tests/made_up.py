"""What is made up for tests: solutions that no solver found, random tasks, samples of a known population, joints for every solver."""

import numpy as np

import infoplane as ip
import verify
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


def made_tasks(seed, letters=8, kept=3, hidden=2, peaked=1.0):
    rng = np.random.default_rng(seed)
    p_x = rng.dirichlet(np.full(letters, 2.0))
    keep, hide = (rng.dirichlet(np.full(size, peaked), letters) for size in (kept, hidden))
    return ip.TaskJoint(
        ip.Joint.from_matrix(p_x[:, None] * keep, y_names="u"), ip.Joint.from_matrix(p_x[:, None] * hide, y_names="s")
    )


def told(tasks, W):
    """(I(X;Z), I(U;Z), I(S;Z))."""
    ixz, iuz = verify.mutual_informations(tasks.keep.p_xy, W)
    return ixz, iuz, verify.mutual_informations(tasks.hide.p_xy, W)[1]


CENTRES = np.array([[0.7, 0.2, 0.1], [0.2, 0.6, 0.2], [0.1, 0.1, 0.8]])


def three_kinds(rng, letters, records):
    """Counts of letters whose p(y|x) is one of `CENTRES`, so many records each; and p(y|x)."""
    truth = CENTRES[rng.choice(3, size=letters, p=[0.5, 0.3, 0.2])]
    return np.array([rng.multinomial(records, p) for p in truth]), truth


def with_zeros():
    """Structural zeros, a letter x and a letter y of zero mass, and two identical rows."""
    return ip.Joint.from_counts(
        [[4, 0, 1, 0], [0, 0, 0, 0], [0, 3, 2, 0], [1, 1, 0, 0], [1, 1, 0, 0]],
        x_labels=list("abcde"),
        y_labels=list("ijkl"),
    )


JOINTS = {
    "paper_uniform": ip.datasets.paper_uniform,
    "paper_nonuniform": ip.datasets.paper_nonuniform,
    "zeros": with_zeros,
    "deterministic y": lambda: ip.Joint.from_matrix(np.diag([0.5, 0.3, 0.2])),
    "independent": lambda: ip.Joint.from_matrix(np.outer([0.6, 0.4], [0.5, 0.3, 0.2])),
    "one letter": lambda: ip.Joint.from_matrix([[0.4, 0.6]]),
}
