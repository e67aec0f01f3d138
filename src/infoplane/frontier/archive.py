"""A frontier as one .npz file: numbers as arrays, everything else as one JSON text; no pickle, nothing half-written."""

from __future__ import annotations

import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InvalidOptionError
from ..files import write_whole
from ..joint.joint import Joint
from ..problem import MarkovLagrangian
from ..solution import Solution
from ..status import Residuals, Status
from .frontier import Frontier
from .lazy_solution import StoredRun

FORMAT = 2
"""1 had an encoder for every run, and no provenance."""


def save(frontier: Frontier, path: str | os.PathLike[str]) -> None:
    """Write a frontier; see `Frontier.save`."""
    write_whole(Path(path), lambda file: np.savez_compressed(file, **_to_arrays(frontier)))


def load(path: str | os.PathLike[str]) -> Frontier:
    """Read a frontier; see `Frontier.load`."""
    try:
        with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        return _from_arrays(arrays)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise InvalidOptionError(f"{os.fspath(path)} is not a frontier that infoplane saved: {error}.") from error


def joint_words(joint: Joint) -> dict[str, Any]:
    """Shape and labels of a joint, in JSON's words."""
    return {
        "shape": joint.shape,
        "sparse": joint.is_sparse,
        "x_labels": _plain(joint.x_labels),
        "y_labels": _plain(joint.y_labels),
        "x_names": list(joint.x_names),
        "y_names": list(joint.y_names),
    }


def joint_arrays(joint: Joint) -> dict[str, Any]:
    """The cells of a joint that hold mass."""
    P = scipy.sparse.coo_array(joint.p_xy)
    return {"p_row": P.row.astype(np.int64), "p_column": P.col.astype(np.int64), "p_value": P.data}


def joint_from(words: Mapping[str, Any], arrays: Mapping[str, Any]) -> Joint:
    """The joint again, to the bit."""
    P = scipy.sparse.coo_array((arrays["p_value"], (arrays["p_row"], arrays["p_column"])), shape=tuple(words["shape"]))
    return Joint.from_matrix(
        P.tocsr() if words["sparse"] else P.toarray(),
        x_labels=_labels(words["x_labels"]),
        y_labels=_labels(words["y_labels"]),
        x_names=words["x_names"],
        y_names=words["y_names"],
    )


def _to_arrays(frontier: Frontier) -> dict[str, Any]:
    joint, runs = frontier.joint, frontier.runs
    kept = [not isinstance(run, StoredRun) or run.has_encoder for run in runs]
    meta = {
        "format": FORMAT,
        "complete": frontier.complete,
        "provenance": frontier.provenance,
        **joint_words(joint),
        "families": [run.problem.family for run in runs],
        "problem_parameters": [run.problem.parameter for run in runs],
        "solvers": [run.solver for run in runs],
        "statuses": [run.status.name for run in runs],
        "lower_bounds": [run.lower_bound for run in runs],
    }
    encoders = [run.encoder for run, has in zip(runs, kept, strict=True) if has]
    return {
        "meta": np.array(json.dumps(meta)),
        **joint_arrays(joint),
        "rho": np.array([run.problem.rho for run in runs]).reshape(-1, 3),
        "numbers": np.array([(run.parameter, run.seconds, *run.residuals) for run in runs]).reshape(-1, 5),
        "plane": np.array([(run.loss, run.ixz, run.iyz) for run in runs]).reshape(-1, 3),
        "counts": np.array([(run.start, run.iterations, run.died, run.clusters) for run in runs]).reshape(-1, 4),
        "kept": np.array(kept, dtype=bool),
        "encoders": np.concatenate(encoders or [np.empty((0, joint.shape[0]))]),
    }


def _from_arrays(arrays: dict[str, Any]) -> Frontier:
    meta = json.loads(str(arrays["meta"]))
    if meta["format"] not in range(1, FORMAT + 1):
        raise ValueError(f"its format is {meta['format']}, this version reads 1 to {FORMAT}")
    joint = joint_from(meta, arrays)
    counts = arrays["counts"]
    kept = arrays.get("kept", np.ones(len(counts), dtype=bool))
    rows = np.cumsum([0, *np.where(kept, counts[:, 3], 0).tolist()])
    runs = []
    for index, (rho, numbers) in enumerate(zip(arrays["rho"], arrays["numbers"], strict=True)):
        fields = {
            "joint": joint,
            "problem": MarkovLagrangian(
                float(rho[0]), float(rho[1]), float(rho[2]), meta["families"][index], meta["problem_parameters"][index]
            ),
            "parameter": float(numbers[0]),
            "start": int(counts[index, 0]),
            "solver": meta["solvers"][index],
            "status": Status[meta["statuses"][index]],
            "iterations": int(counts[index, 1]),
            "seconds": float(numbers[1]),
            "residuals": Residuals(*(float(r) for r in numbers[2:5])),
            "died": int(counts[index, 2]),
            "lower_bound": meta["lower_bounds"][index],
        }
        if kept[index]:
            runs.append(Solution(encoder=arrays["encoders"][rows[index] : rows[index + 1]], **fields))
        else:
            loss, ixz, iyz = (float(number) for number in arrays["plane"][index])
            runs.append(StoredRun.of(None, loss=loss, ixz=ixz, iyz=iyz, clusters=int(counts[index, 3]), **fields))
    return Frontier(joint, runs, complete=meta["complete"], provenance=meta.get("provenance"))


def _plain(label: Any) -> Any:
    """A label as JSON: tuples become {"tuple": [...]}, numpy scalars their Python value, what JSON has no word for its text."""
    if isinstance(label, tuple):
        return {"tuple": [_plain(one) for one in label]}
    if isinstance(label, np.generic):
        return _plain(label.item())
    return label if label is None or isinstance(label, (str, int, float, bool)) else str(label)


def _labels(plain: Any) -> Any:
    return tuple(_labels(one) for one in plain["tuple"]) if isinstance(plain, dict) else plain
