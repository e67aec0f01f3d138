"""Frames of pandas, polars or pyarrow, read through narwhals: the columns that are asked for, checked and counted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import narwhals as nw

from ..errors import InvalidJointError
from ..formatting import alternatives
from .labels import listed
from .tables import check_amounts, exact_sum

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .labels import Cells


def frame_cells(df: Any, x: tuple[str, ...], y: tuple[str, ...], weight: Any) -> Cells:
    """(x, y) -> number of rows, or their weight, in order of first appearance."""
    frame = _frame(df)
    if not (weight is None or isinstance(weight, str)):
        raise InvalidJointError(f"weight must name one column, by text; found {weight!r}.")
    weights = () if weight is None else (weight,)
    _check_columns(frame, {"x": x, "y": y, "weight": weights})
    for name in (*x, *y):
        with _types_refused(frame, name):
            _check_values(frame[name])
    for name in weights:
        with _types_refused(frame, name):
            _check_weights(frame[name])
    # Columns are renamed, so that no name clashes. Rows are grouped by weight as well: (rows of that weight) x weight, summed
    # exactly, does not depend on the order in which a multi-threaded frame visits its rows.
    keys = [f"c{i}" for i in range(len(x) + len(y))]
    columns = [nw.col(name).alias(key) for name, key in zip((*x, *y), keys, strict=True)]
    amount = nw.lit(1.0) if weight is None else nw.col(weight).cast(nw.Float64)
    rows = frame.select(*columns, amount.alias("w")).with_row_index("row")
    with _types_refused(frame, *x, *y):
        groups = rows.group_by(*keys, "w").agg(nw.len().alias("n"), nw.col("row").min()).sort("row")
        values = [groups[key].to_list() for key in (*keys, "w", "n")]
        xs, ys = _together(values[: len(x)]), _together(values[len(x) : -2])
        cells: dict[tuple[Hashable, Hashable], list[float]] = {}
        for x_label, y_label, w, n in zip(xs, ys, *values[-2:], strict=True):
            cells.setdefault((x_label, y_label), []).append(w * n)
    return {cell: exact_sum(amounts) for cell, amounts in cells.items()}


@contextmanager
def _types_refused(frame: nw.DataFrame[Any], *names: str) -> Iterator[None]:
    """Whatever a frame's library raises for columns that it cannot compare, group or list, such as Arrow's periods, intervals and maps."""
    try:
        yield
    except (InvalidJointError, MemoryError):
        raise
    except Exception as error:
        native = {name: frame[name].to_native() for name in names}
        kinds = ", ".join(
            f"{name!r} of type {getattr(one, 'type', getattr(one, 'dtype', '?'))}" for name, one in native.items()
        )
        found = " ".join(str(error).split())[:200]
        raise InvalidJointError(
            f"the values of a column must be such that rows can be grouped by them; found {kinds} ({found}). Convert it to text or numbers."
        ) from error


def _frame(df: Any) -> nw.DataFrame[Any]:
    try:
        frame = nw.from_native(df, eager_only=True, pass_through=True)
    except nw.exceptions.NarwhalsError as error:
        found = " ".join(str(error).split())
        raise InvalidJointError(f"columns of a frame must have distinct names. {found}. Rename them first.") from None
    if not isinstance(frame, nw.DataFrame):
        advice = "Call .collect() first." if hasattr(df, "collect") else "For a matrix use Joint.from_counts."
        raise InvalidJointError(f"expected a pandas, polars or pyarrow frame; found {type(df).__name__}. {advice}")
    if len(frame) == 0:
        raise InvalidJointError("a frame must have at least one row; found none. Check how it was read or filtered.")
    return frame


def _check_columns(frame: nw.DataFrame[Any], uses: dict[str, tuple[str, ...]]) -> None:
    """Every column that is named exists, and is named once."""
    named: dict[str, str] = {}
    for role, name in ((role, name) for role, names in uses.items() for name in names):
        if name not in frame.columns:
            known = alternatives(name, frame.columns)
            raise InvalidJointError(f"{role} must name columns of the frame; found {name!r}, expected {known}.")
        if name in named:
            raise InvalidJointError(f"a column can be used once; found {name!r} in {named[name]} and again in {role}.")
        named[name] = role


def _check_values(column: nw.Series[Any]) -> None:
    missing = column.is_null() | column.is_nan() if column.dtype.is_float() else column.is_null()
    if missing.any():
        raise InvalidJointError(
            f"column {column.name!r} must have no missing values; found {missing.sum()}, the first in row "
            f"{missing.to_list().index(True)} (counting from 0). Drop those rows, or fill them with a label."
        )
    if str(column.dtype) == "Object" or column.dtype.is_nested():
        listed(column, f"column {column.name!r}")


def _check_weights(column: nw.Series[Any]) -> None:
    if not column.dtype.is_numeric():
        raise InvalidJointError(f"weights must be numeric; found {column.dtype} in column {column.name!r}. Convert it.")
    values = column.cast(nw.Float64).to_numpy()
    check_amounts(values, f"weights in column {column.name!r}", lambda row: f"row {row} (counting from 0)")


def _together(columns: list[list[Any]]) -> list[Any]:
    """The values of one column, tuples of values of several."""
    return columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
