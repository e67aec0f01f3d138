"""A release as a file that others can check: p(x, s), p(x, u) of a target that is kept, p(z|x), its caps, its bound and multipliers.

From these `infoplane_verify` proves the bound again. It holds the table's shares and is for a reviewer, not for publication; a mechanism
file (`mechanism`) is what goes with the release.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import numpy as np

from .archive import joint_arrays
from .files import path_of, write_whole

if TYPE_CHECKING:
    from ..frontier.release import Release

FORMAT = 1
"""Of the file."""


def save_release(release: Release, path: str | os.PathLike[str]) -> None:
    """Write a release; see `Release.save`."""
    joint = release.joint
    table = joint if release.task is None else release.task.joint
    arrays = {name: array for name, array in joint_arrays(table).items() if name.startswith("p_")}
    caps = {
        "max_leakage": release.max_leakage,
        "max_lift": release.max_lift,
        "two_sided": release.two_sided,
        "min_group": release.min_group,
        "records": joint.records,
        "capped": [label in set(release.secrets) for label in joint.y_labels],
    }
    meta = {
        "format": FORMAT,
        "kind": "release",
        "shape": list(table.shape),
        "kept": None if release.task is None else release.task.keep.shape[1],
        "caps": caps,
        "certified": release.certified,
    }
    numbers = np.array(
        [release.beta if release.max_leakage is not None else 0.0, release.utility, release.iyz, release.upper_bound]
    )
    arrays |= {
        "encoder": release.encoder,
        # None if the bound needed none.
        "multipliers": np.zeros(joint.shape[0]) if release.multipliers is None else release.multipliers,
        "numbers": numbers,
        "meta": np.array(json.dumps(meta)),
    }
    write_whole(path_of("the file of a release", path), lambda file: np.savez_compressed(file, **arrays))
