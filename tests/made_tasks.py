"""Random joints of one target to keep and one to hide, and what an encoder tells of each, by explicit sums."""

import numpy as np

import infoplane as ip
import verify


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
