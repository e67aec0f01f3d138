"""Caps on the leakage of all sizes, 0 and those below rounding among them, on hostile tables.

Each call ends; the release is an encoder within the cap, as far as I(Y;Z) can be computed, that tells no less of X than perfect privacy
does, and no more than the bound says.
"""

import warnings

import numpy as np

import infoplane as ip
import verify

from . import hostile
from .calls import Broken

RESOLVED = 1e-24
"""Nats to which the leakage of a release that hides Y is 0, on tables as bad as these."""


def attack(rng):
    """One cap."""
    table = hostile.table(rng)
    cap = [0.0, float(10.0 ** rng.uniform(-320, -10)), float(10.0 ** rng.uniform(-12, 0.5))][rng.integers(3)]
    said = f"ip.funnel_at_leakage(ip.Joint.from_counts({table.tolist()}), {cap!r}, max_cells=100, max_seconds=1.0)"
    joint = ip.Joint.from_counts(table)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            found = ip.funnel_at_leakage(joint, cap, max_cells=100, max_seconds=1.0)
            hidden = ip.perfect_privacy(joint)
    except ip.InfoplaneError:
        return "refused"
    except Exception as error:
        raise Broken(f"{said}\n    {type(error).__name__}: {error}") from error
    verify.check_encoder(np.asarray(joint.p_xy), found.encoder)
    if found.ixz < hidden.ixz - 1e-8:
        raise Broken(f"{said}: I(X;Z) {found.ixz!r}, perfect privacy has {hidden.ixz!r}")
    if found.iyz > max(cap, RESOLVED, hidden.iyz):
        raise Broken(f"{said}: I(Y;Z) {found.iyz!r}")
    if found.ixz > found.upper_bound + 1e-9:
        raise Broken(f"{said}: I(X;Z) {found.ixz!r} above its bound {found.upper_bound!r}")
    return found.status.name
