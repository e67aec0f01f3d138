"""The manifest of a store: what is run, on which joint. Two calls with the same manifest are calls of the same sweep."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import StoreError
from ..joint.joint import Joint
from .archive import joint_arrays, joint_from, joint_meta
from .database import insert, rows_of

Manifest = dict[str, Any]
"""What was run, as JSON values by key."""

DERIVED = ("rho", "shape", "runs_a_place", "joint")
"""Keys whose values follow from others, and need no sentence of their own if one of those differs."""

KEPT_BESIDE = ("joint", "asked")
"""Keys that do not say which sweep it is: the labels of the joint, and options as they were given, for `resume`."""

DTYPES = ("<i8", "<f8")
"""Of the arrays of a joint."""


def write_manifest(connection: sqlite3.Connection, manifest: Mapping[str, Any], joint: Joint) -> None:
    """Into a new store."""
    everything = {**manifest, "joint": joint_meta(joint)}
    insert(connection, "manifest", [(key, json.dumps(value)) for key, value in everything.items()])
    for name, array in joint_arrays(joint).items():
        portable = array.astype(array.dtype.newbyteorder("<"))
        insert(connection, "arrays", [(name, portable.dtype.str, portable.tobytes())])


def manifest_of(connection: sqlite3.Connection) -> Manifest:
    """What was run, by key."""
    return {key: json.loads(value) for key, value in rows_of(connection, "manifest")}


def joint_of(connection: sqlite3.Connection, manifest: Mapping[str, Any]) -> Joint:
    """The joint that a store was begun with."""
    arrays = {
        name: np.frombuffer(data, dtype=DTYPES[DTYPES.index(dtype)])
        for name, dtype, data in rows_of(connection, "arrays")
    }
    joint = joint_from(manifest["joint"], arrays)
    if joint.fingerprint != manifest["joint_sha256"]:
        raise ValueError("its joint is another than the one whose digest it has")
    return joint


def readable(manifest: Mapping[str, Any], values: Sequence[float]) -> Manifest:
    """A manifest as people read it, with all parameters, those that refinement added too, and without what follows from the rest."""
    hidden = ("rho", "runs_a_place", *KEPT_BESIDE)
    return {key: value for key, value in manifest.items() if key not in hidden} | {"grid": list(values)}


def refuse_difference(path: Path, theirs: Mapping[str, Any], ours: Mapping[str, Any]) -> None:
    """A StoreError that names what differs, if the store was made by another call."""
    keys = [
        key for key in dict.fromkeys((*ours, *theirs)) if key not in KEPT_BESIDE and theirs.get(key) != ours.get(key)
    ]
    named = [key for key in keys if key not in DERIVED] or keys
    if named:
        sentences = "; ".join(_difference(key, theirs.get(key), ours.get(key)) for key in named)
        raise StoreError(
            f"{path} belongs to another sweep: {sentences}. Repeat the call that made it, or name another file."
        )


def _difference(name: str, there: Any, here: Any) -> str:
    """The first thing in which two values differ."""
    if isinstance(there, dict) and isinstance(here, dict):
        key = next(key for key in dict.fromkeys((*there, *here)) if there.get(key) != here.get(key))
        return _difference(f"{name}.{key}", there.get(key), here.get(key))
    if isinstance(there, list) and isinstance(here, list):
        if len(there) != len(here):
            return f"{name} has {len(there)} values there, {len(here)} here"
        at = next(at for at in range(len(there)) if there[at] != here[at])
        return _difference(f"{name}[{at}]", there[at], here[at])
    return f"{name} is {json.dumps(there)} there, {json.dumps(here)} here"
