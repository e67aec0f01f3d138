"""What a file of answers claims, run by run, read without the code that wrote it: `Frontier.save`, or ``--out answer.npz``."""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InvalidAnswerError
from ..npz import NumberArchive
from .numbers import Array

FORMATS = (1, 2, 3, 4)

LARGEST_TABLE = 20_000_000
"""Cells of p(x, y) that this checker takes; it works on dense tables."""

LONGEST_TEXT = 200_000_000
"""Bytes of the JSON text."""

NORMALISED = 1e-9
"""What p(x, y), and the columns of an encoder, may be off 1 by."""

NEEDED = ("p_row", "p_column", "p_value", "rho", "numbers", "counts", "encoders")


@dataclass(frozen=True)
class ClaimedRun:
    """One run of a file: nats."""

    family: str
    parameter: float
    """gamma, beta or what else was varied; NaN if there was none."""
    rho: tuple[float, float, float]
    status: str
    encoder: Array | None
    """p(z|x), or None if it was not kept."""
    plane: tuple[float, float, float] | None
    """Loss, I(X;Z) and I(Y;Z) as the file has them; None in old files."""
    lower_bound: float | None
    multipliers: Array | None
    """lambda_x, a number for each x."""


def read_claims(path: str | os.PathLike[str]) -> tuple[Array, list[ClaimedRun]]:
    """p(x, y) as a dense table, and the runs; an `InvalidAnswerError` unless the file is whole and makes sense."""
    try:
        with NumberArchive(path) as archive:
            return _read(archive)
    except OSError as error:
        raise InvalidAnswerError(f"{os.fspath(path)} cannot be read: {error.strerror}.") from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError, OverflowError) as error:
        raise InvalidAnswerError(f"{os.fspath(path)} is no file of answers that can be verified: {error}.") from error


def _read(archive: NumberArchive) -> tuple[Array, list[ClaimedRun]]:
    meta = _meta(archive)
    missing = [name for name in NEEDED if name not in archive.members]
    if missing:
        raise ValueError(f"it has no {', '.join(missing)}")
    shape = tuple(int(size) for size in meta["shape"])
    if len(shape) != 2 or min(shape) < 1 or math.prod(shape) > LARGEST_TABLE:
        raise ValueError(f"p(x, y) of shape {shape} is none, or has more than {LARGEST_TABLE:,} cells")
    P = _table(archive, shape)
    runs = archive.members["counts"].shape[0]
    rho, numbers = _numbers(archive, "rho", (runs, 3)), _numbers(archive, "numbers", (runs, 5), finite=False)
    plane = _numbers(archive, "plane", (runs, 3)) if "plane" in archive.members else None
    clusters = [int(count) for count in _numbers(archive, "counts", (runs, 4), kinds="iu")[:, 3]]
    kept = _numbers(archive, "kept", (runs,), kinds="b") if "kept" in archive.members else np.ones(runs, dtype=bool)
    if min(clusters, default=1) < 1:
        raise ValueError("a run has no clusters")
    ends = np.cumsum([count if has else 0 for count, has in zip(clusters, kept, strict=True)])
    encoders = _numbers(archive, "encoders", (int(ends[-1]) if runs else 0, shape[0]))
    multipliers, places = np.empty((0, shape[0])), np.full(runs, -1)
    if "multipliers" in archive.members:
        places = _numbers(archive, "multiplier_rows", (runs,), kinds="i")
        multipliers = _numbers(archive, "multipliers", (int(places.max(initial=-1)) + 1, shape[0]))
    for name in ("families", "statuses", "lower_bounds"):
        if not isinstance(meta[name], list) or len(meta[name]) != runs:
            raise ValueError(f"{name} does not have one entry for each of its {runs} runs")
    claims = []
    for run in range(runs):
        W = encoders[ends[run] - clusters[run] : ends[run]] if kept[run] else None
        if W is not None and ((W < 0.0).any() or np.abs(W.sum(axis=0) - 1.0).max() > NORMALISED):
            raise ValueError(f"the encoder of run {run} has columns that are no distributions")
        bound = meta["lower_bounds"][run]
        claims.append(
            ClaimedRun(
                family=str(meta["families"][run]),
                parameter=float(numbers[run, 0]),
                rho=(float(rho[run, 0]), float(rho[run, 1]), float(rho[run, 2])),
                status=str(meta["statuses"][run]),
                encoder=W,
                plane=None if plane is None else (float(plane[run, 0]), float(plane[run, 1]), float(plane[run, 2])),
                lower_bound=None if bound is None else _finite(bound),
                multipliers=multipliers[places[run]] if places[run] >= 0 else None,
            )
        )
    return P, claims


def _meta(archive: NumberArchive) -> dict[str, Any]:
    if "meta" not in archive.members or archive.members["meta"].bytes > LONGEST_TEXT:
        raise ValueError("it has no description, or one that is too long")
    meta = json.loads(str(archive.read("meta")))
    if not isinstance(meta, dict) or meta.get("format") not in FORMATS:
        raise ValueError(f"its format is none of {', '.join(map(str, FORMATS))}")
    return meta


def _numbers(
    archive: NumberArchive, name: str, shape: tuple[int, ...], *, kinds: str = "f", finite: bool = True
) -> Any:
    found = archive.members[name]
    if found.shape != shape or found.dtype.kind not in kinds:
        raise ValueError(f"{name} holds {found.dtype} of shape {found.shape}, expected shape {shape}")
    array = archive.read(name)
    if finite and kinds == "f" and not np.isfinite(array).all():
        raise ValueError(f"{name} holds a number that is not finite")
    return array


def _table(archive: NumberArchive, shape: tuple[int, int] | tuple[int, ...]) -> Array:
    cells = archive.members["p_value"].shape
    if len(cells) != 1:
        raise ValueError("its cells of p(x, y) are no list")
    row, column = (_numbers(archive, name, cells, kinds="iu") for name in ("p_row", "p_column"))
    value = _numbers(archive, "p_value", cells)
    if (row < 0).any() or (column < 0).any() or (row >= shape[0]).any() or (column >= shape[1]).any():
        raise ValueError("it has cells of p(x, y) outside of its shape")
    P = np.zeros(shape)
    P[row, column] = value
    if len(np.unique(row * shape[1] + column)) != len(row) or (value < 0.0).any():
        raise ValueError("it has a cell of p(x, y) twice, or one below 0")
    if abs(math.fsum(value.tolist()) - 1.0) > NORMALISED:
        raise ValueError(f"p(x, y) sums to {math.fsum(value.tolist()):.12g}, not to 1")
    return P


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a lower bound is not finite")
    return number
