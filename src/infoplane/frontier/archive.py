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
from ..files import to_json, write_whole
from ..joint.joint import Joint
from ..problem import MarkovLagrangian
from ..solution import Solution, Trace
from ..status import Residuals, Status
from .frontier import Frontier
from .lazy_solution import LazySolution

FORMAT = 4
"""1 had an encoder for every run, and no provenance; 2 had no traces, 3 no multipliers."""


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


def joint_meta(joint: Joint) -> dict[str, Any]:
    """Shape and labels of a joint, as JSON values."""
    return {
        "shape": joint.shape,
        "sparse": joint.is_sparse,
        "x_labels": _label(joint.x_labels),
        "y_labels": _label(joint.y_labels),
        "x_names": list(joint.x_names),
        "y_names": list(joint.y_names),
    }


def joint_arrays(joint: Joint) -> dict[str, Any]:
    """The cells of a joint that hold mass; and, if it was made of records, how often each x and each y was seen."""
    P = scipy.sparse.coo_array(joint.p_xy)
    counts = {} if joint._margins is None else dict(zip(("x_counts", "y_counts"), joint._margins, strict=True))
    return {"p_row": P.row.astype(np.int64), "p_column": P.col.astype(np.int64), "p_value": P.data, **counts}


def joint_from(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> Joint:
    """The joint again, to the bit."""
    P = scipy.sparse.coo_array((arrays["p_value"], (arrays["p_row"], arrays["p_column"])), shape=tuple(meta["shape"]))
    joint = Joint.from_matrix(
        P.tocsr() if meta["sparse"] else P.toarray(),
        x_labels=_labels(meta["x_labels"]),
        y_labels=_labels(meta["y_labels"]),
        x_names=meta["x_names"],
        y_names=meta["y_names"],
    )
    return joint.with_margins((arrays["x_counts"], arrays["y_counts"])) if "x_counts" in arrays else joint


def _to_arrays(frontier: Frontier) -> dict[str, Any]:
    joint, runs = frontier.joint, frontier.runs
    kept = [not isinstance(run, LazySolution) or run.has_encoder for run in runs]
    meta = {
        "format": FORMAT,
        "complete": frontier.complete,
        "provenance": frontier.provenance,
        **joint_meta(joint),
        "families": [run.problem.family for run in runs],
        "problem_parameters": [run.problem.parameter for run in runs],
        "solvers": [run.solver for run in runs],
        "statuses": [run.status.name for run in runs],
        "lower_bounds": [run.lower_bound for run in runs],
        "cluster_caps": [run.cluster_cap for run in runs],
    }
    encoders = [run.encoder for run, has in zip(runs, kept, strict=True) if has]
    traces = [run.trace for run in runs]
    # The runs of a parameter share their bound, and so what it follows from.
    multipliers = {run.multipliers.tobytes(): run.multipliers for run in runs if run.multipliers is not None}
    places = {key: place for place, key in enumerate(multipliers)}
    return {
        "meta": np.array(json.dumps(meta)),
        **joint_arrays(joint),
        "rho": np.array([run.problem.rho for run in runs]).reshape(-1, 3),
        "numbers": np.array([(run.parameter, run.seconds, *run.residuals) for run in runs]).reshape(-1, 5),
        "plane": np.array([(run.loss, run.ixz, run.iyz) for run in runs]).reshape(-1, 3),
        "counts": np.array([(run.start, run.iterations, run.died, run.clusters) for run in runs]).reshape(-1, 4),
        "kept": np.array(kept, dtype=bool),
        "encoders": np.concatenate(encoders or [np.empty((0, joint.shape[0]))]),
        "trace_lengths": np.array([0 if trace is None else len(trace) for trace in traces], dtype=np.int64),
        "traces": np.concatenate([np.empty((0, 7)), *(_numbered(trace) for trace in traces if trace is not None)]),
        "multipliers": np.array(list(multipliers.values())).reshape(-1, joint.shape[0]),
        "multiplier_rows": np.array(
            [-1 if run.multipliers is None else places[run.multipliers.tobytes()] for run in runs], dtype=np.int64
        ),
    }


def _numbered(trace: Trace) -> Any:
    """A trace as rows of its six columns and the iteration's number; 0 as the first number if all iterations are there."""
    columns = trace.columns()
    return columns if trace.iteration is not None else np.column_stack([columns, np.arange(len(trace))])


def _trace(rows: Any) -> Trace | None:
    if len(rows) == 0:
        return None
    return Trace.from_columns(rows if rows[0, 6] > 0 else rows[:, :6])


def _from_arrays(arrays: dict[str, Any]) -> Frontier:
    meta = json.loads(str(arrays["meta"]))
    if meta["format"] not in range(1, FORMAT + 1):
        raise ValueError(f"its format is {meta['format']}, this version reads 1 to {FORMAT}")
    joint = joint_from(meta, arrays)
    counts = arrays["counts"]
    kept = arrays.get("kept", np.ones(len(counts), dtype=bool))
    rows = np.cumsum([0, *np.where(kept, counts[:, 3], 0).tolist()])
    traces = arrays.get("traces", np.empty((0, 7)))
    lengths = arrays.get("trace_lengths", np.zeros(len(counts), dtype=np.int64))
    ends = np.cumsum(lengths)
    if lengths.shape != (len(counts),) or (lengths < 0).any() or traces.shape != (lengths.sum(), 7):
        raise ValueError("its traces do not fit its runs")
    multipliers = arrays.get("multipliers", np.empty((0, joint.shape[0])))
    places = arrays.get("multiplier_rows", np.full(len(counts), -1))
    if places.shape != (len(counts),) or (places >= len(multipliers)).any() or multipliers.shape[1:] != joint.shape[:1]:
        raise ValueError("its multipliers do not fit its runs")
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
            "multipliers": multipliers[places[index]] if places[index] >= 0 else None,
            "trace": _trace(traces[ends[index] - lengths[index] : ends[index]]),
            "cluster_cap": meta["cluster_caps"][index] if "cluster_caps" in meta else None,
        }
        if kept[index]:
            runs.append(Solution(encoder=arrays["encoders"][rows[index] : rows[index + 1]], **fields))
        else:
            loss, ixz, iyz = (float(number) for number in arrays["plane"][index])
            runs.append(LazySolution.of(None, loss=loss, ixz=ixz, iyz=iyz, clusters=int(counts[index, 3]), **fields))
    return Frontier(joint, runs, complete=meta["complete"], provenance=meta.get("provenance"))


def _label(label: Any) -> Any:
    """A label as JSON; tuples become {"tuple": [...]}, so that they come back as tuples, and NaN stays NaN."""
    return to_json(label, tuples=lambda members: {"tuple": members}, nonfinite=float)


def _labels(plain: Any) -> Any:
    return tuple(_labels(one) for one in plain["tuple"]) if isinstance(plain, dict) else plain
