"""A frontier as one .npz file: numbers as arrays, everything else as one JSON text; no pickle, nothing half-written.

A release as a file that others can check: p(x, s), p(x, u) of a target that is kept, p(z|x), its caps, its bound and multipliers. It holds
the table's shares and is for a reviewer, not for publication; a mechanism file (`mechanism`) is what goes with the release.

From either `infoplane_verify` proves the bounds again: `verify` calls it with our checks of options and our errors.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

import infoplane_verify
from infoplane_verify import RunCheck, UnreadableAnswerError

from ..checks import positive_number, whole_number
from ..errors import InvalidAnswerError, InvalidOptionError
from ..formatting import shown
from ..frontier.frontier import Frontier
from ..joint.joint import Joint
from ..solution import Residuals, Solution, Status, Trace, proven
from .files import (
    COUNTS,
    Expected,
    joint_arrays,
    joint_from,
    joint_meta,
    path_of,
    problem_of,
    read_npz,
    to_json,
    whole_file,
)
from .store import LazySolution

if TYPE_CHECKING:
    from ..frontier.release import Release

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

FORMAT = 1
"""Of what a file holds; others are refused."""


def save(frontier: Frontier, path: str | os.PathLike[str]) -> None:
    """Write a frontier; see `Frontier.save`."""
    with whole_file(path_of("the file of a frontier", path)) as file:
        np.savez_compressed(file, **_to_arrays(frontier))


def load(path: str | os.PathLike[str]) -> Frontier:
    """Read a frontier; see `Frontier.load`."""
    where = path_of("the file of a frontier", path)
    try:
        return _from_arrays(read_npz(where, MEMBERS))
    except FileNotFoundError:
        raise
    except Exception as error:  # of any kind: nothing in the file is trusted
        said = str(error) or type(error).__name__
        raise InvalidOptionError(
            f"{shown(where)} is not a frontier that infoplane saved: {said.rstrip('.')}."
        ) from error


def _to_arrays(frontier: Frontier) -> dict[str, Any]:
    joint, runs = frontier.joint, frontier.runs
    meta = {
        "format": FORMAT,
        "complete": frontier.complete,
        "provenance": to_json(frontier.provenance),
        **joint_meta(joint),
        **{name: [value(run) for run in runs] for name, (value, _) in LISTS.items()},
    }
    kept = [run.has_encoder for run in runs]
    encoders = [run.encoder for run, has in zip(runs, kept, strict=True) if has]
    traces = [run.trace for run in runs]
    # The runs of a parameter share their bound, and so what it follows from.
    multipliers = {run.multipliers.tobytes(): run.multipliers for run in runs if run.multipliers is not None}
    rows = {key: row for row, key in enumerate(multipliers)}
    return {
        "meta": np.array(json.dumps(meta)),
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
            [-1 if run.multipliers is None else rows[run.multipliers.tobytes()] for run in runs], dtype=np.int64
        ),
    }


def _numbered(trace: Trace) -> Any:
    """A trace as rows of its six columns and the iteration's number; 0 as the first number if all iterations are there."""
    columns = trace.columns()
    return columns if trace.iteration is not None else np.column_stack([columns, np.arange(len(trace))])


def _trace(rows: Any) -> Trace | None:
    return Trace.from_columns(rows if rows[0, 6] > 0 else rows[:, :6]) if len(rows) else None


def _from_arrays(arrays: dict[str, Any]) -> Frontier:
    meta = json.loads(str(arrays["meta"]))
    known = type(meta["format"]) is int and meta["format"] == FORMAT  # True and 1.0 are equal to 1
    need(known, f"its format is {meta['format']!r}, and this version of infoplane reads {FORMAT}")
    missing = MEMBERS.keys() - arrays.keys() - COUNTS
    need(not missing, f"it has no {min(missing, default='')}")
    joint = joint_from(meta, arrays)
    _check_runs(meta, arrays, joint)
    counts, kept, multipliers, rows = (arrays[one] for one in ("counts", "kept", "multipliers", "multiplier_rows"))
    encoders, traces = (
        np.split(arrays[name], np.cumsum(sizes)[:-1]) if len(counts) else []
        for name, sizes in (("encoders", np.where(kept, counts[:, 3], 0)), ("traces", arrays["trace_lengths"]))
    )
    runs = []
    for index, (rho, numbers) in enumerate(zip(arrays["rho"], arrays["numbers"], strict=True)):
        fields = {
            "joint": joint,
            "problem": problem_of(rho, meta["families"][index], meta["problem_parameters"][index]),
            "parameter": float(numbers[0]),
            "start": int(counts[index, 0]),
            "solver": meta["solvers"][index],
            "status": Status[meta["statuses"][index]],
            "iterations": int(counts[index, 1]),
            "seconds": float(numbers[1]),
            "residuals": Residuals(*(float(r) for r in numbers[2:5])),
            "died": int(counts[index, 2]),
            "lower_bound": meta["lower_bounds"][index],
            "multipliers": multipliers[rows[index]] if rows[index] >= 0 else None,
            "trace": _trace(traces[index]),
            "cluster_cap": meta["cluster_caps"][index],
        }
        if kept[index]:
            runs.append(Solution(encoder=encoders[index], **fields))
        else:
            loss, ixz, iyz = (float(number) for number in arrays["plane"][index])
            runs.append(LazySolution.of(None, loss=loss, ixz=ixz, iyz=iyz, clusters=int(counts[index, 3]), **fields))
    provenance = meta["provenance"]
    _check_claims(runs, provenance.get("certify_nats") or math.inf)
    return Frontier(joint, runs, complete=meta["complete"] is True, provenance=provenance)


LISTS: dict[str, tuple[Callable[[Solution], Any], Any]] = {
    "families": (lambda run: run.problem.family, str),
    "problem_parameters": (lambda run: run.problem.parameter, float | int | None),
    "solvers": (lambda run: run.solver, str),
    "statuses": (lambda run: run.status.name, str),
    "lower_bounds": (lambda run: run.lower_bound, float | int | None),
    "cluster_caps": (lambda run: run.cluster_cap, int | None),
}
"""What the text of a file lists, one value for each run, and of which type it is."""


def need(holds: Any, said: str) -> None:
    """ValueError unless it holds."""
    if not holds:
        raise ValueError(said)


def _check_runs(meta: Mapping[str, Any], arrays: Mapping[str, Any], joint: Joint) -> None:
    """ValueError unless there is one of everything for each run, numbers are finite where they must be, and encoders are encoders."""
    counts, kept, encoders, plane = (arrays[name] for name in ("counts", "kept", "encoders", "plane"))
    for name in ("rho", "numbers", "plane", "kept", "trace_lengths", "multiplier_rows"):
        rows = len(arrays[name])
        need(rows == len(counts), f"it has {len(counts)} runs, and {rows} rows of {name}")
    for name, (_, kind) in LISTS.items():
        fits = len(meta[name]) == len(counts) and all(isinstance(one, kind) for one in meta[name])
        need(fits, f"its {name} do not fit its {len(counts)} runs")
    finite = [*(bound for bound in meta["lower_bounds"] if bound is not None), *plane.flat]
    counted = (counts >= 0).all() and (counts[:, 3] <= 2**40).all()
    need(np.isfinite(finite).all() and counted, "it has numbers of runs that no run has")
    residuals, stationary = arrays["numbers"][:, 2:], [status == Status.STATIONARY.name for status in meta["statuses"]]
    ends = not (residuals < 0.0).any() and not np.isposinf(residuals[stationary]).any()
    need(ends, "it has residuals that its runs cannot have ended with")
    sizes = counts[kept, 3]
    fits = encoders.shape == (sizes.sum(), joint.shape[0]) and (sizes > 0).all()
    need(fits, f"its encoders, of shape {encoders.shape}, do not fit its runs and its joint")
    need(np.isfinite(encoders).all() and (encoders >= 0.0).all(), "its encoders are not probabilities")
    if kept.any():
        sums = np.add.reduceat(encoders, np.cumsum(sizes) - sizes, axis=0)
        need(np.abs(sums - 1.0).max() <= 1e-9, "the columns of its encoders do not sum to 1")
    lengths, multipliers = arrays["trace_lengths"], arrays["multipliers"]
    need((lengths >= 0).all() and len(arrays["traces"]) == lengths.sum(), "its traces do not fit its runs")
    fits = multipliers.shape[1:] == joint.shape[:1] and (arrays["multiplier_rows"] < len(multipliers)).all()
    need(fits, "its multipliers do not fit its runs")


def _check_claims(runs: Sequence[Solution], tol: float) -> None:
    """ValueError if a problem's coefficients are not those of the family and the parameter that it is named after, or if a run is called
    CERTIFIED without a bound, or with a wider gap than the sweep was asked for.
    """
    for run in runs:
        problem, status = run.problem, run.status
        said = f"it calls rho = {problem.rho} a {problem.family} with parameter {problem.parameter}"
        need(problem.record.has(problem), said)
        true = status is not Status.CERTIFIED or proven(run.gap, tol, run.residuals, status) is status
        need(true, f"it calls a run certified that has a gap of {run.gap} nats")


RELEASE_FORMAT = 1
"""Of the file."""


def save_release(release: Release, path: str | os.PathLike[str]) -> None:
    """Write a release; see `Release.save`."""
    joint, task, secrets = release.joint, release.task, set(release.secrets)
    table = joint if task is None else task.joint
    arrays = {name: array for name, array in joint_arrays(table).items() if name.startswith("p_")}
    caps = {
        "max_leakage": release.max_leakage,
        "max_lift": release.max_lift,
        "two_sided": release.two_sided,
        "min_group": release.min_group,
        "records": joint.records,
        "capped": [label in secrets for label in joint.y_labels],
    }
    meta = {
        "format": RELEASE_FORMAT,
        "kind": "release",
        "shape": list(table.shape),
        "kept": None if task is None else task.keep.shape[1],
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
    with whole_file(path_of("the file of a release", path)) as file:
        np.savez_compressed(file, **arrays)


def verify(
    path: str | os.PathLike[str], *, gap: float = 1e-6, max_cells: int = 1_000_000, max_seconds: float = 60.0
) -> list[RunCheck]:
    """Check a file that `Frontier.save` or ``infoplane solve --out answer.npz`` has written; a `RunCheck` for each of its runs.

    This is `infoplane_verify.verify`, of a package of its own that needs nothing but NumPy and shares no code with the solvers and proofs
    that made the file: every loss, I(X;Z) and I(Y;Z) is recomputed, and every lower bound is proven again from the stored multipliers, by
    a slow and plain branch and bound (docs/howto/verify.md).

    Parameters
    ----------
    path
        The file.
    gap
        A run that is called certified must have a loss within this of its bound, in nats.
    max_cells, max_seconds
        How long to try, for each bound.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], certify=True)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     f.save(f"{folder}/answer.npz")
    ...     [finding.verdict.name for finding in ip.verify(f"{folder}/answer.npz")]
    ['VERIFIED', 'VERIFIED']
    """
    gap = positive_number("gap", gap)
    max_cells = whole_number("max_cells", max_cells)
    max_seconds = positive_number("max_seconds", max_seconds, finite=False)
    try:
        return infoplane_verify.verify(path, gap=gap, max_cells=max_cells, max_seconds=max_seconds)
    except UnreadableAnswerError as error:
        raise InvalidAnswerError(str(error)) from error
