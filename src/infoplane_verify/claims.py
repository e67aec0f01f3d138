"""What a file of answers claims, run by run, read without the code that wrote it: `Frontier.save`, or ``--out answer.npz``.

Whatever is missing, not finite, of another type or shape, or contradicts the rest is refused; no entry has a default.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np

from .archive import NumberArchive, UnreadableAnswerError
from .families import LARGEST, TASKS, Rho, contradiction
from .numbers import UNIT, Array, Which, at_most

Claims = TypeVar("Claims")

FORMAT = 1
"""Of the files that are read."""

LARGEST_TABLE = 20_000_000
"""Cells of p(x, y) that this checker takes; it works on dense tables."""

LONGEST_TEXT = 50_000_000
"""Characters of the JSON text."""

ROLES = ["keep or hide", "value"]
"""The names of y's columns where one target is kept and another hidden."""

SAME_MASS = 64.0
"""Units of rounding within which the two have the same p(x); counted in a bound."""

STATUSES = ("CERTIFIED", "STATIONARY", "ALMOST", "ITERATION_LIMIT", "STALLED", "INTERRUPTED")
"""How a run may have ended. CERTIFIED is checked; the others say how a search went, and claim nothing of the answer."""


@dataclass(frozen=True)
class ClaimedRun:
    """One run of a file: nats."""

    family: str
    parameter: float | None
    """gamma or beta of the family; None if it has none."""
    varied: float
    """What the sweep varied, which is the parameter as a rule; NaN if nothing was."""
    rho: Rho
    status: str
    encoder: Array | None
    """p(z|x), or None if it was not kept."""
    loss: float
    ixz: float
    iyz: float
    lower_bound: float | None
    multipliers: Array | None
    """lambda_x, a number for each x."""
    kept: Which | None = None
    """Of a run that keeps one target and hides another: whether each column is of the first."""


def read_claims(path: str | os.PathLike[str]) -> tuple[Array, list[ClaimedRun]]:
    """p(x, y) as a dense table, and the runs; an `UnreadableAnswerError` unless the file is whole and makes sense."""
    return read_with(path, _read)


def read_with(path: str | os.PathLike[str], reader: Callable[[NumberArchive], Claims]) -> Claims:
    """What a reader makes of a file; an `UnreadableAnswerError` with its name if it refuses it."""
    where = os.fspath(path)
    try:
        with NumberArchive(path) as archive:
            return reader(archive)
    except OSError as error:
        raise UnreadableAnswerError(f"{where!r} cannot be read: {error.strerror or error}.") from error
    except UnreadableAnswerError as error:
        raise UnreadableAnswerError(f"{where!r} is no file of answers that can be verified: {error}.") from error


def need(ok: bool, otherwise: str) -> None:
    """Refuse the file unless something is so."""
    if not ok:
        raise UnreadableAnswerError(otherwise)


def _read(archive: NumberArchive) -> tuple[Array, list[ClaimedRun]]:
    meta = description(archive)
    P = table_of(archive, meta)
    x = len(P)
    runs = length(archive, "counts")
    need(runs > 0, "it has no runs")
    rho, plane = finite(archive, "rho", (runs, 3)), finite(archive, "plane", (runs, 3))
    varied = archive.read("numbers", "f", (runs, 5))[:, 0]
    encoders = _encoders(archive, runs, x)
    places = archive.read("multiplier_rows", "i", (runs,))
    multipliers = finite(archive, "multipliers", (length(archive, "multipliers"), x))
    need(bool(((places >= -1) & (places < len(multipliers))).all()), "it has runs with multipliers that are not there")
    lists = {
        name: _list(meta, name, runs, kinds)
        for name, kinds in {
            "families": (str,),
            "problem_parameters": (float, int, type(None)),
            "statuses": (str,),
            "lower_bounds": (float, int, type(None)),
            "cluster_caps": (int, type(None)),
        }.items()
    }
    kept = _roles(meta, P)
    claims = [
        ClaimedRun(
            family=lists["families"][run],
            parameter=_number(lists["problem_parameters"][run], "a parameter"),
            varied=float(varied[run]),
            rho=(float(rho[run, 0]), float(rho[run, 1]), float(rho[run, 2])),
            status=lists["statuses"][run],
            encoder=encoders[run],
            loss=float(plane[run, 0]),
            ixz=float(plane[run, 1]),
            iyz=float(plane[run, 2]),
            lower_bound=_number(lists["lower_bounds"][run], "a lower bound"),
            multipliers=multipliers[places[run]] if places[run] >= 0 else None,
            kept=kept,
        )
        for run in range(runs)
    ]
    for run, (claim, cap) in enumerate(zip(claims, lists["cluster_caps"], strict=True)):
        wrong = contradiction(claim.family, claim.parameter, claim.rho)
        need(not wrong, f"run {run} is {wrong}")
        need(
            (kept is not None) is (claim.family in TASKS),
            f"run {run} is a {claim.family}, and its joint is of another kind",
        )
        need(claim.status in STATUSES, f"run {run} ended as {claim.status!r}, which no run does")
        clusters = 0 if claim.encoder is None else len(claim.encoder)
        need(cap is None or clusters <= cap, f"run {run} has {clusters} clusters, and a cap of {cap}")
    return P, claims


def table_of(archive: NumberArchive, meta: dict[str, Any]) -> Array:
    """p(x, y) of the shape that the description says."""
    shape = meta.get("shape")
    need(
        isinstance(shape, list)
        and len(shape) == 2
        and all(type(size) is int and size >= 1 for size in shape)
        and math.prod(shape) <= LARGEST_TABLE,
        f"its p(x, y) has shape {str(shape)[:60]}, expected two sizes with at most {LARGEST_TABLE:,} cells",
    )
    x, y = meta["shape"]
    return _table(archive, x, y)


def description(archive: NumberArchive) -> dict[str, Any]:
    """The JSON text of a file, of the format that is read."""
    text = archive.members.get("meta")
    need(text is not None and text.bytes <= 4 * LONGEST_TEXT, "it has no description, or one that is too long")
    try:
        meta = json.loads(str(archive.read("meta", "U", ())), object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        raise UnreadableAnswerError(f"its description is no JSON: {error}") from error
    found = meta.get("format") if isinstance(meta, dict) else None
    need(type(found) is int and found == FORMAT, f"its format is {str(found)[:60]}, expected {FORMAT}")
    return dict(meta)


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A JSON object, each of whose names is there once: of two, readers would take one or the other."""
    found = dict(pairs)
    need(len(found) == len(pairs), "its description says something twice")
    return found


def _list(meta: dict[str, Any], name: str, runs: int, kinds: tuple[type, ...]) -> list[Any]:
    found = meta.get(name)
    need(
        isinstance(found, list) and len(found) == runs and all(type(one) in kinds for one in found),
        f"its {name} are not one for each of its {runs} runs, or of another type than expected",
    )
    return list(found or [])


def _number(value: Any, what: str) -> float | None:
    """A finite number of the description, not beyond `LARGEST`."""
    if value is None:
        return None
    need(-LARGEST <= value <= LARGEST, f"it has {what} that is not finite, or beyond {LARGEST:g}")
    return float(value)


def length(archive: NumberArchive, name: str) -> int:
    """The first size of an array."""
    member = archive.members.get(name)
    need(member is not None and len(member.shape) > 0, f"it has no {name}")
    return member.shape[0] if member is not None else 0


def finite(archive: NumberArchive, name: str, shape: tuple[int, ...]) -> Array:
    """An array of finite numbers, none beyond `LARGEST`."""
    array: Array = archive.read(name, "f", shape)
    need(
        bool(at_most(np.abs(array), LARGEST).all()),
        f"its {name} hold a number that is not finite, or beyond {LARGEST:g}",
    )
    return array


def _table(archive: NumberArchive, x: int, y: int) -> Array:
    """p(x, y) from the cells that hold mass: each once, none below 0, and all of them 1 together, to 16 units of rounding.

    A table that infoplane has normalised is right to 8.
    """
    cells = (length(archive, "p_value"),)
    row, column = (archive.read(name, "i", cells) for name in ("p_row", "p_column"))
    value = finite(archive, "p_value", cells)
    inside = (row >= 0) & (row < x) & (column >= 0) & (column < y)
    need(bool(inside.all()), "it has cells of p(x, y) outside of its shape")
    need(len(np.unique(row * y + column)) == len(row), "it has a cell of p(x, y) twice")
    need(bool((value >= 0.0).all()), "it has a cell of p(x, y) below 0")
    mass = math.fsum(value.tolist())
    need(at_most(abs(mass - 1.0), 16.0 * UNIT), f"its p(x, y) sums to {mass:.17g}, not to 1")
    P = np.zeros((x, y))
    P[row, column] = value
    return P


def _roles(meta: dict[str, Any], P: Array) -> Which | None:
    """Which columns of p(x, y) are of the target to keep, if there are one to keep and one to hide, both with the same p(x)."""
    if meta.get("y_names") != ROLES:
        return None
    try:
        names = [label["tuple"][0] for label in meta["y_labels"]["tuple"]]
    except (LookupError, TypeError) as error:
        raise UnreadableAnswerError("its columns do not say whether they are kept or hidden") from error
    kinds = list(dict.fromkeys(map(str, names)))
    need(
        len(names) == P.shape[1] and len(kinds) == 2 and kinds[0].startswith("keep ") and kinds[1].startswith("hide "),
        "its columns are not of one target to keep and one to hide",
    )
    kept = np.array([str(name) == kinds[0] for name in names])
    check_same_mass(P, kept)
    return kept


def check_same_mass(P: Array, kept: Which) -> None:
    """Refuse a table of two targets side by side unless both have the same p(x)."""
    u, s = P[:, kept].sum(axis=1), P[:, ~kept].sum(axis=1)
    need(
        bool(at_most(np.abs(u - s), SAME_MASS * UNIT * (u + s)).all()) and bool(((u > 0.0) == (s > 0.0)).all()),
        "what is kept and what is hidden do not have the same p(x)",
    )


def check_distributions(W: Array, whose: str) -> None:
    """Refuse an encoder with an entry below 0, or a column that is not 1 together, to 4 |Z| + 16 units of rounding.

    That is what dividing |Z| numbers by their sum leaves. The loss of a column that is farther off may be wrong by the distance times the
    largest coefficient.
    """
    sums = np.array([math.fsum(column) for column in W.T.tolist()])
    fair = (W >= 0.0).all() and at_most(np.abs(sums - 1.0), (4.0 * len(W) + 16.0) * UNIT).all()
    need(bool(fair), f"{whose} has columns that are no distributions")


def _encoders(archive: NumberArchive, runs: int, x: int) -> list[Array | None]:
    """p(z|x) of each run that has one."""
    clusters = archive.read("counts", "i", (runs, 4))[:, 3].tolist()
    kept = archive.read("kept", "b", (runs,)).tolist()
    need(min(clusters) >= 1, "a run has no clusters")
    ends = [0]
    for count, has in zip(clusters, kept, strict=True):
        ends.append(ends[-1] + (count if has else 0))
    stacked = finite(archive, "encoders", (ends[-1], x))
    found: list[Array | None] = []
    for run, (first, last) in enumerate(pairwise(ends)):
        W = stacked[first:last] if kept[run] else None
        if W is not None:
            check_distributions(W, f"the encoder of run {run}")
        found.append(W)
    return found
