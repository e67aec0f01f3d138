"""A frontier as one .npz file: numbers as arrays, everything else as one JSON text; no pickle, nothing half-written."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from ..errors import InvalidOptionError
from ..formatting import shown
from ..frontier.frontier import Frontier
from ..joint.binning import Bin
from ..joint.joint import Joint
from ..problem import MarkovLagrangian
from ..results import Residuals, Status, Trace, proven
from ..sampling.denoising import CONSTANT, MIXTURE, SHRINKAGE, Candidate, Denoising
from ..solution import Solution
from ..task_problem import problem_of
from .files import path_of, to_json, write_whole
from .npz import Expected, read_npz
from .record import LazySolution

MEMBERS = {
    "meta": Expected("U", ()),
    **dict.fromkeys(("p_row", "p_column", "n_row", "n_column", "n_value"), Expected("i", (None,))),
    "p_value": Expected("f", (None,)),
    "rho": Expected("f", (None, 3)),
    "numbers": Expected("f", (None, 5)),
    "plane": Expected("f", (None, 3)),
    "counts": Expected("i", (None, 4)),
    "kept": Expected("b", (None,)),
    "encoders": Expected("f", (None, None)),
    "trace_lengths": Expected("i", (None,)),
    "traces": Expected("f", (None, 7)),
    "multipliers": Expected("f", (None, None)),
    "multiplier_rows": Expected("i", (None,)),
}
"""Everything that a file may hold."""

UNREADABLE = (OSError, ValueError, ArithmeticError, LookupError, TypeError, AttributeError, RecursionError, MemoryError)
"""What reading a file that was not made by `save` may end in."""

FORMAT = 1
"""Of what a file holds; others are refused."""

OPTIONAL = {"n_row", "n_column", "n_value"}
"""What a file may be without: a joint that was not made of records has no counts."""


def save(frontier: Frontier, path: str | os.PathLike[str]) -> None:
    """Write a frontier; see `Frontier.save`."""
    write_whole(Path(path), lambda file: np.savez_compressed(file, **_to_arrays(frontier)))


def load(path: str | os.PathLike[str]) -> Frontier:
    """Read a frontier; see `Frontier.load`."""
    where = path_of("the file of a frontier", path)
    try:
        return _from_arrays(read_npz(where, MEMBERS))
    except FileNotFoundError:
        raise
    except UNREADABLE as error:
        said = str(error) or type(error).__name__
        raise InvalidOptionError(
            f"{shown(where)} is not a frontier that infoplane saved: {said.rstrip('.')}."
        ) from error


def joint_meta(joint: Joint) -> dict[str, Any]:
    """Shape and labels of a joint, as JSON values."""
    return {
        "shape": joint.shape,
        "sparse": joint.is_sparse,
        "x_labels": _label(joint.x_labels),
        "y_labels": _label(joint.y_labels),
        "x_names": list(joint.x_names),
        "y_names": list(joint.y_names),
        **({} if joint.denoising is None else {"denoising": _denoising_meta(joint.denoising)}),
    }


def joint_arrays(joint: Joint) -> dict[str, Any]:
    """The cells of a joint that hold mass; and, if it was made of records, those in which any fell."""
    tables = {"p": joint.p_xy} if joint.counts is None else {"p": joint.p_xy, "n": joint.counts}
    arrays: dict[str, Any] = {}
    for name, table in tables.items():
        cells = scipy.sparse.coo_array(table)
        places = {f"{name}_row": cells.row.astype(np.int64), f"{name}_column": cells.col.astype(np.int64)}
        arrays |= {**places, f"{name}_value": cells.data}
    return arrays


def joint_from(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> Joint:
    """The joint again, to the bit; ValueError or InvalidJointError if it is none."""
    shape = tuple(meta["shape"])
    if [len(meta["x_labels"]["tuple"]), len(meta["y_labels"]["tuple"])] != list(shape):
        raise ValueError(f"its joint has shape {shape}, and other numbers of labels")
    # Cells of a dense joint: beyond 2 GB a file of a few labels and cells would stand for more memory than there is.
    if not meta["sparse"] and math.prod(shape) > 2**28:
        raise ValueError(f"its joint of shape {shape} is too large for a dense table")
    joint = Joint.from_matrix(
        _table("p", arrays, shape, meta["sparse"]),
        x_labels=_labels(meta["x_labels"]),
        y_labels=_labels(meta["y_labels"]),
        x_names=meta["x_names"],
        y_names=meta["y_names"],
    )
    if not OPTIONAL & arrays.keys():
        return joint
    drawn = joint.with_counts(_table("n", arrays, shape, meta["sparse"]))
    made = meta.get("denoising")
    return drawn if made is None else drawn._drawn(drawn.p_xy, drawn.counts, _denoising(made, shape[1]))


def _denoising_meta(made: Denoising) -> dict[str, Any]:
    return {**to_json(vars(made)), "curve": [list(candidate) for candidate in made.curve]}


def _denoising(meta: Mapping[str, Any], letters: int) -> Denoising:
    """How a joint was denoised; ValueError unless its arrays fit each other and the joint's letters of Y."""
    seen = np.array(meta["seen"], dtype=bool)
    outcomes = int(seen.sum())
    arrays = {name: np.array(meta[name], dtype=float) for name in ("prior", "weights", "concentration")}
    centres = np.array(meta["centres"], dtype=float).reshape(-1, outcomes)
    curve = tuple(Candidate(int(groups), *map(float, rest)) for groups, *rest in meta["curve"])
    fits = seen.shape == (letters,) and len(centres) == len(arrays["weights"])
    fits &= arrays["prior"].shape == arrays["concentration"].shape == (outcomes,)
    finite = all(np.isfinite(one).all() and (one > 0.0).all() for one in (*arrays.values(), centres))
    if not (fits and finite and meta["how"] in (MIXTURE, SHRINKAGE, CONSTANT) and math.isfinite(meta["gain"])):
        raise ValueError("its denoising does not fit its joint")
    return Denoising(
        how=meta["how"],
        groups=int(meta["groups"]),
        gain=float(meta["gain"]),
        chosen=meta["chosen"] is True,
        centres=centres,
        seen=seen,
        curve=curve,
        **arrays,
    )


def _table(name: str, arrays: Mapping[str, Any], shape: tuple[int, ...], is_sparse: bool) -> Any:
    cells = scipy.sparse.coo_array(
        (arrays[f"{name}_value"], (arrays[f"{name}_row"], arrays[f"{name}_column"])), shape=shape
    )
    return cells.tocsr() if is_sparse else cells.toarray()


def _meta(frontier: Frontier) -> dict[str, Any]:
    """What the text of a file says: the joint's labels, and of every run what is no number."""
    runs = frontier.runs
    return {
        "format": FORMAT,
        "complete": frontier.complete,
        "provenance": frontier.provenance,
        **joint_meta(frontier.joint),
        "families": [run.problem.family for run in runs],
        "problem_parameters": [run.problem.parameter for run in runs],
        "solvers": [run.solver for run in runs],
        "statuses": [run.status.name for run in runs],
        "lower_bounds": [run.lower_bound for run in runs],
        "cluster_caps": [run.cluster_cap for run in runs],
    }


def _to_arrays(frontier: Frontier) -> dict[str, Any]:
    joint, runs = frontier.joint, frontier.runs
    kept = [not isinstance(run, LazySolution) or run.has_encoder for run in runs]
    encoders = [run.encoder for run, has in zip(runs, kept, strict=True) if has]
    traces = [run.trace for run in runs]
    # The runs of a parameter share their bound, and so what it follows from.
    multipliers = {run.multipliers.tobytes(): run.multipliers for run in runs if run.multipliers is not None}
    places = {key: place for place, key in enumerate(multipliers)}
    return {
        "meta": np.array(json.dumps(_meta(frontier))),
        **joint_arrays(joint),
        "rho": np.array([run.problem.rho for run in runs]).reshape(-1, 3),
        "numbers": np.array([(run.parameter, run.seconds, *run.residuals) for run in runs]).reshape(-1, 5),
        "plane": np.array([(run.loss, run.ixz, run.iyz) for run in runs]).reshape(-1, 3),
        "counts": np.array(
            [(run.start, run.iterations, run.died, run.clusters) for run in runs], dtype=np.int64
        ).reshape(-1, 4),
        "kept": np.array(kept, dtype=bool),
        "encoders": np.ascontiguousarray(np.concatenate(encoders or [np.empty((0, joint.shape[0]))])),
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
    if type(meta["format"]) is not int or meta["format"] != FORMAT:  # True and 1.0 are equal to 1
        raise ValueError(f"its format is {meta['format']!r}, and this version of infoplane reads {FORMAT}")
    if missing := MEMBERS.keys() - arrays.keys() - OPTIONAL:
        raise ValueError(f"it has no {sorted(missing)[0]}")
    joint = joint_from(meta, arrays)
    counts, kept, traces, lengths = (arrays[name] for name in ("counts", "kept", "traces", "trace_lengths"))
    _check_runs(meta, arrays, kept, joint)
    rows = np.cumsum([0, *np.where(kept, counts[:, 3], 0).tolist()])
    ends = np.cumsum(lengths)
    if lengths.shape != (len(counts),) or (lengths < 0).any() or traces.shape != (lengths.sum(), 7):
        raise ValueError("its traces do not fit its runs")
    multipliers, places = arrays["multipliers"], arrays["multiplier_rows"]
    if places.shape != (len(counts),) or (places >= len(multipliers)).any() or multipliers.shape[1:] != joint.shape[:1]:
        raise ValueError("its multipliers do not fit its runs")
    runs = []
    for index, (rho, numbers) in enumerate(zip(arrays["rho"], arrays["numbers"], strict=True)):
        fields = {
            "joint": joint,
            "problem": check_claim(problem_of(rho, meta["families"][index], meta["problem_parameters"][index])),
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
            "cluster_cap": meta["cluster_caps"][index],
        }
        if kept[index]:
            runs.append(Solution(encoder=arrays["encoders"][rows[index] : rows[index + 1]], **fields))
        else:
            loss, ixz, iyz = (float(number) for number in arrays["plane"][index])
            runs.append(LazySolution.of(None, loss=loss, ixz=ixz, iyz=iyz, clusters=int(counts[index, 3]), **fields))
    provenance = meta["provenance"]
    _check_certified(runs, provenance.get("certify_nats"))
    return Frontier(joint, runs, complete=meta["complete"] is True, provenance=provenance)


LISTS: dict[str, tuple[type, ...]] = {
    "families": (str,),
    "problem_parameters": (float, int, type(None)),
    "solvers": (str,),
    "statuses": (str,),
    "lower_bounds": (float, int, type(None)),
    "cluster_caps": (int, type(None)),
}
"""What the text of a file lists, one value for each run."""


def _check_runs(meta: Mapping[str, Any], arrays: Mapping[str, Any], kept: Any, joint: Joint) -> None:
    """ValueError unless there is one of everything for each run, numbers are finite where they must be, and encoders are encoders."""
    counts, encoders = arrays["counts"], arrays["encoders"]
    for name in ("rho", "numbers", "plane", "kept"):
        if len(arrays[name]) != len(counts):
            raise ValueError(f"it has {len(counts)} runs, and {len(arrays[name])} rows of {name}")
    for name, kinds in LISTS.items():
        if len(meta[name]) != len(counts) or not all(isinstance(one, kinds) for one in meta[name]):
            raise ValueError(f"its {name} do not fit its {len(counts)} runs")
    finite = [*(bound for bound in meta["lower_bounds"] if bound is not None), *arrays["plane"].flat]
    if not np.isfinite(finite).all() or (counts < 0).any() or (counts[:, 3] > 2**40).any():
        raise ValueError("it has numbers of runs that no run has")
    residuals, stationary = arrays["numbers"][:, 2:], [status == Status.STATIONARY.name for status in meta["statuses"]]
    if (residuals < 0.0).any() or np.isposinf(residuals[stationary]).any():
        raise ValueError("it has residuals that its runs cannot have ended with")
    if encoders.shape != (counts[kept, 3].sum(), joint.shape[0]) or (counts[kept, 3] == 0).any():
        raise ValueError(f"its encoders, of shape {encoders.shape}, do not fit its runs and its joint")
    if not (np.isfinite(encoders).all() and (encoders >= 0.0).all()):
        raise ValueError("its encoders are not probabilities")
    if kept.any():
        first = np.cumsum(counts[kept, 3]) - counts[kept, 3]
        if np.abs(np.add.reduceat(encoders, first, axis=0) - 1.0).max() > 1e-9:
            raise ValueError("the columns of its encoders do not sum to 1")


def check_claim(problem: MarkovLagrangian) -> MarkovLagrangian:
    """The problem of a run; ValueError unless its coefficients are those of the family and the parameter that it is named after."""
    if not problem.record.has(problem):
        raise ValueError(f"it calls rho = {problem.rho} a {problem.family} with parameter {problem.parameter}")
    return problem


def _check_certified(runs: Sequence[Solution], tol: float | None) -> None:
    """ValueError if a run is called CERTIFIED without a bound, or with a wider gap than the sweep was asked for."""
    for run in runs:
        if (
            run.status is Status.CERTIFIED
            and proven(run.gap, tol or math.inf, run.residuals, run.status) is not run.status
        ):
            raise ValueError(f"it calls a run certified that has a gap of {run.gap} nats")


def _label(label: Any) -> Any:
    """A label as JSON; tuples become {"tuple": [...]} and bins {"bin": [...]}, so that they come back as such, and NaN stays NaN."""
    if isinstance(label, tuple):
        return {"tuple": [_label(member) for member in label]}
    if isinstance(label, Bin):
        return {"bin": [str(label), *(_edge(one) for one in (label.low, label.high)), label.rule]}
    return to_json(label, nonfinite=float)


def _labels(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    if "bin" not in plain:
        return tuple(_labels(one) for one in plain["tuple"])
    text, low, high, rule = plain["bin"]
    low, high = (datetime.fromisoformat(edge) if isinstance(edge, str) else edge for edge in (low, high))
    return Bin(text, low, high, rule)


def _edge(edge: Any) -> Any:
    return edge.isoformat() if isinstance(edge, datetime) else to_json(edge, nonfinite=float)
