"""The joints that every solver is tried on."""

import numpy as np

import infoplane as ip


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
