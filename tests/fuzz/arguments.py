"""Public functions with arguments that are something else: joints that are none, words for numbers, 10**400, complex numbers, arrays.

Whatever comes in, the call returns or is refused by an error of infoplane's that says what was expected; no call waits, or asks for memory
that no machine has. What results promise is tried on every one that comes back: they can be compared, hashed and not written to.
"""

import inspect
import warnings
from contextlib import suppress

import numpy as np
import pandas as pd

import infoplane as ip

from .calls import Broken

JOINT = ip.datasets.paper_uniform()
W = np.eye(3)

GOOD = {
    "solve": {"joint": JOINT, "problem": ip.bottleneck(0.2), "starts": 1, "max_iter": 5, "rng": 0},
    "sweep": {"joint": JOINT, "family": ip.bottleneck, "parameters": [0.2], "starts": 1, "max_iter": 5, "rng": 0},
    "compare": {"joint": JOINT, "family": ip.bottleneck, "parameters": [0.2], "starts": 1, "max_iter": 5},
    "certify": {"joint": JOINT, "problem": ip.bottleneck(0.2), "encoder": W, "max_cells": 10},
    "critical_gamma": {"joint": JOINT},
    "transitions": {"joint": JOINT, "low": 0.6, "points": 2},
    "merge_two": {"joint": JOINT},
    "agglomerative_bottleneck": {"joint": JOINT},
    "perfect_privacy": {"joint": JOINT},
    "funnel_at_leakage": {"joint": JOINT, "max_iyz": 0.1, "max_cells": 10},
    "funnel_curve": {"joint": JOINT, "leakages": [0.1], "max_cells": 10},
    "efficiency": {"joint": JOINT, "encoders": W[None], "max_solves": 1},
    "gnid": {"joint": JOINT, "W": W, "V": W},
    "capacity": {"p_z_given_x": W},
    "capacity_prior": {"systems": [W, W]},
    "systems_from_frame": {"df": None, "x": "x", "z": "z"},
    "penalty_threshold": {
        "joint": JOINT,
        "problem": ip.bottleneck(0.2),
        "encoder": np.full((2, 3), 0.5),
        "formulation": "ib-2",
    },
    "Joint": {"P": W / 3.0},
    "DouglasRachford": {},
    "Merging": {},
    "Envelope": {},
    "Columns": {},
    "bottleneck": {"gamma": 0.2},
    "funnel": {"beta": 2.0},
}
"""Arguments that are accepted; every attack replaces one."""

HOSTILE = (
    *(None, True, 0, -1, 5, 10**9, 10**400, -(10**400), 0.5, float("nan"), float("inf"), 1e-320, 1j),
    *(
        "heart",
        "1_0",
        "",
        b"x",
        [],
        {},
        [None],
        [10**400],
        [[10**400, 1, 1]],
        [[1j]],
        [[0.5, 0.5]],
        [[0.5], [0.5, 0.5]],
    ),
    *(np.eye(2) / 2, np.float64(0.2), np.array("0.2"), np.array(None), object(), ip.Joint, ip.bottleneck, range(3)),
)


NOT_TRIED = ("executor", "store", "engine", "callback", "progress", "family")
"""Where work goes, and functions of the caller's, whose own errors are the caller's."""


def attack(rng):
    """A call with one argument replaced."""
    name = sorted(GOOD)[rng.integers(len(GOOD))]
    function = getattr(ip, name)
    parameters = [one for one in inspect.signature(function).parameters if one not in NOT_TRIED]
    chosen = parameters[rng.integers(len(parameters))]
    value = HOSTILE[rng.integers(len(HOSTILE))]
    said = f"ip.{name}(..., {chosen}={str(value)[:60]!r} of type {type(value).__name__})"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(**{**GOOD[name], chosen: value})
    except ip.InfoplaneError as error:
        if not 20 <= len(str(error)) <= 1000:
            raise Broken(f"{said}: an error that says nothing, or everything: {str(error)[:200]!r}") from error
        return "refused"
    except Exception as error:
        raise Broken(f"{said}\n    {type(error).__name__}: {str(error)[:200]}") from error
    try:
        sealed(found, said)
    except TypeError as error:
        raise Broken(f"{said}: {type(found).__name__}, {error}") from error
    return "accepted"


def sealed(found, said):
    """A result is equal to itself, has a hash, and cannot be written to; but a frame is the user's own."""
    if type(found).__module__.partition(".")[0] != "infoplane" or isinstance(found, pd.DataFrame):
        return
    if found != found or hash(found) != hash(found):
        raise Broken(f"{said}: {type(found).__name__} is not itself")
    for field, value in vars(found).items():
        if isinstance(value, np.ndarray) and value.size:
            with suppress(ValueError):
                value[...] = value
                raise Broken(f"{said}: {type(found).__name__}.{field} can be written to")
