"""A frontier as one .npz file: numbers as arrays, everything else as one JSON text; no pickle, nothing half-written."""

from __future__ import annotations

import json
import os
import tempfile
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from .errors import InvalidOptionError
from .frontier import Frontier
from .joint import Joint
from .problem import MarkovLagrangian
from .solution import Solution
from .stopping import Residuals, Status

FORMAT = 1


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


def write_whole(path: Path, write: Callable[[Any], object]) -> None:
    """Write to a file beside ``path`` and move it there once whole, so that nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private; a result is as readable as any other file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


def _to_arrays(frontier: Frontier) -> dict[str, Any]:
    joint, runs = frontier.joint, frontier.runs
    P = scipy.sparse.coo_array(joint.p_xy)
    meta = {
        "format": FORMAT,
        "complete": frontier.complete,
        "shape": joint.shape,
        "sparse": joint.is_sparse,
        "x_labels": _plain(joint.x_labels),
        "y_labels": _plain(joint.y_labels),
        "x_names": list(joint.x_names),
        "y_names": list(joint.y_names),
        "families": [run.problem.family for run in runs],
        "problem_parameters": [run.problem.parameter for run in runs],
        "solvers": [run.solver for run in runs],
        "statuses": [run.status.name for run in runs],
        "lower_bounds": [run.lower_bound for run in runs],
    }
    return {
        "meta": np.array(json.dumps(meta)),
        "p_row": P.row.astype(np.int64),
        "p_column": P.col.astype(np.int64),
        "p_value": P.data,
        "rho": np.array([run.problem.rho for run in runs]).reshape(-1, 3),
        "numbers": np.array([(run.parameter, run.seconds, *run.residuals) for run in runs]).reshape(-1, 5),
        "counts": np.array([(run.start, run.iterations, run.died, run.clusters) for run in runs]).reshape(-1, 4),
        "encoders": np.concatenate([run.encoder for run in runs] or [np.empty((0, joint.shape[0]))]),
    }


def _from_arrays(arrays: dict[str, Any]) -> Frontier:
    meta = json.loads(str(arrays["meta"]))
    if meta["format"] != FORMAT:
        raise ValueError(f"its format is {meta['format']}, this version reads {FORMAT}")
    P = scipy.sparse.coo_array((arrays["p_value"], (arrays["p_row"], arrays["p_column"])), shape=tuple(meta["shape"]))
    joint = Joint.from_matrix(
        P.tocsr() if meta["sparse"] else P.toarray(),
        x_labels=_labels(meta["x_labels"]),
        y_labels=_labels(meta["y_labels"]),
        x_names=meta["x_names"],
        y_names=meta["y_names"],
    )
    rows = np.cumsum([0, *(int(count[3]) for count in arrays["counts"])])
    runs = [
        Solution(
            joint=joint,
            problem=MarkovLagrangian(
                float(rho[0]), float(rho[1]), float(rho[2]), meta["families"][index], meta["problem_parameters"][index]
            ),
            parameter=float(numbers[0]),
            start=int(counts[0]),
            solver=meta["solvers"][index],
            encoder=arrays["encoders"][rows[index] : rows[index + 1]],
            status=Status[meta["statuses"][index]],
            iterations=int(counts[1]),
            seconds=float(numbers[1]),
            residuals=Residuals(*(float(r) for r in numbers[2:5])),
            died=int(counts[2]),
            lower_bound=meta["lower_bounds"][index],
        )
        for index, (rho, numbers, counts) in enumerate(
            zip(arrays["rho"], arrays["numbers"], arrays["counts"], strict=True)
        )
    ]
    return Frontier(joint, runs, complete=meta["complete"])


def _plain(label: Any) -> Any:
    """A label as JSON: tuples become {"tuple": [...]}, numpy scalars their Python value, what JSON has no word for its text."""
    if isinstance(label, tuple):
        return {"tuple": [_plain(one) for one in label]}
    if isinstance(label, np.generic):
        return _plain(label.item())
    return label if label is None or isinstance(label, (str, int, float, bool)) else str(label)


def _labels(plain: Any) -> Any:
    return tuple(_labels(one) for one in plain["tuple"]) if isinstance(plain, dict) else plain
