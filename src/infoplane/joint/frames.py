"""Frames read through narwhals: the columns that are asked for, checked and counted.

Frames in memory (pandas, polars, pyarrow) are checked row by row, and an error names the row. What is lazy (a LazyFrame of polars, a
relation of duckdb, frames of dask and pyspark) groups and counts its rows on its own engine, and a dataset of pyarrow does so batch by
batch: only the groups come here, however many rows there are.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TypeAlias

import narwhals as nw

from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import alternatives
from .binning import checked_rule
from .columns import Column, CountedRows, absent
from .labels import MISSING_RULES, listed
from .tables import check_amounts

if TYPE_CHECKING:
    from .labels import Cells

Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]


def frame_cells(
    df: Any, x: tuple[str, ...], y: tuple[str, ...], weight: Any, bins: Mapping[str, Any], missing: str = "error"
) -> Cells:
    """(x, y) -> number of rows, or their weight; of a frame in memory in order of first appearance."""
    frame = _frame(df)
    if not (weight is None or isinstance(weight, str)):
        raise InvalidJointError(f"weight must name one column, by text; found {weight!r}.")
    if missing not in MISSING_RULES:
        raise InvalidOptionError(f"missing must be {alternatives(str(missing), MISSING_RULES)}; found {missing!r}.")
    for name in bins:
        if name not in (*x, *y):
            raise InvalidJointError(f"bins must be of columns of x or y, {', '.join((*x, *y))}; found {name!r}.")
    schema = frame.collect_schema()
    _check_columns(schema.names(), {"x": x, "y": y, "weight": () if weight is None else (weight,)})
    if weight is not None and not schema[weight].is_numeric():
        raise InvalidJointError(f"weights must be numeric; found {schema[weight]} in column {weight!r}. Convert it.")
    rules = {name: checked_rule(name, rule) for name, rule in bins.items()}
    if isinstance(frame, nw.DataFrame) and not is_dataset(df):
        check_rows(frame, (*x, *y), weight, missing)
    columns = []
    for at, name in enumerate((*x, *y)):
        with _types_refused(frame, name):
            columns.append(Column.of(frame, name, f"c{at}", rules.get(name)))
    with _types_refused(frame, *x, *y):
        cells = CountedRows(_parts(df, frame, (*x, *y), weight, missing), columns, weight, missing).cells()
    if not cells:
        raise InvalidJointError(EMPTY)
    return {(_together(key[: len(x)]), _together(key[len(x) :])): amount for key, amount in cells.items()}


EMPTY = "a frame must have at least one row; found none. Check how it was read or filtered."
"""What is said of a frame without rows, or without any that count."""


def is_dataset(df: Any) -> bool:
    """Whether it is a dataset of pyarrow, which narwhals does not take."""
    module = sys.modules.get("pyarrow.dataset")
    return module is not None and isinstance(df, module.Dataset)


def _frame(df: Any) -> Frame:
    """The frame as narwhals has it; of a dataset one without rows."""
    try:
        frame = nw.from_native(df.schema.empty_table() if is_dataset(df) else df, pass_through=True)
    except nw.exceptions.NarwhalsError as error:
        found = " ".join(str(error).split())
        raise InvalidJointError(f"columns of a frame must have distinct names. {found}. Rename them first.") from None
    if not isinstance(frame, nw.DataFrame | nw.LazyFrame):
        raise InvalidJointError(
            "expected a frame of pandas, polars, pyarrow, duckdb, dask or pyspark; "
            f"found {type(df).__name__}. For a matrix use Joint.from_counts."
        )
    if isinstance(frame, nw.DataFrame) and len(frame) == 0 and not is_dataset(df):
        raise InvalidJointError(EMPTY)
    return frame


def _parts(
    df: Any, frame: Frame, names: tuple[str, ...], weight: str | None, missing: str
) -> Callable[[], Iterator[Frame]]:
    """The frame; or the batches of a dataset, one at a time, each checked."""

    def batches() -> Iterator[Frame]:
        first = 0
        for batch in df.to_batches(columns=[*names, *(() if weight is None else (weight,))]):
            if batch.num_rows:
                part = nw.from_native(sys.modules["pyarrow"].Table.from_batches([batch]), eager_only=True)
                check_rows(part, names, weight, missing, first)
                first += batch.num_rows
                yield part

    return batches if is_dataset(df) else lambda: iter((frame,))


@contextmanager
def _types_refused(frame: Frame, *names: str) -> Iterator[None]:
    """Whatever a frame's library raises for columns that it cannot compare, group or list, such as Arrow's periods, intervals and maps."""
    try:
        yield
    except (InvalidJointError, InvalidOptionError, MemoryError):
        raise
    except Exception as error:
        found = " ".join(str(error).split())[:200]
        if isinstance(frame, nw.LazyFrame):
            raise InvalidJointError(
                f"the engine of the frame must be able to count its rows; {frame.implementation.name.lower()} said: {found}."
            ) from error
        native = {name: frame[name].to_native() for name in names}
        kinds = ", ".join(
            f"{name!r} of type {getattr(one, 'type', getattr(one, 'dtype', '?'))}" for name, one in native.items()
        )
        raise InvalidJointError(
            f"the values of a column must be such that rows can be grouped by them; found {kinds} ({found}). Convert it to text or numbers."
        ) from error


def _check_columns(known: list[str], uses: dict[str, tuple[str, ...]]) -> None:
    """Every column that is named exists, and is named once."""
    named: dict[str, str] = {}
    for role, name in ((role, name) for role, names in uses.items() for name in names):
        if name not in known:
            raise InvalidJointError(
                f"{role} must name columns of the frame; found {name!r}, expected {alternatives(name, known)}."
            )
        if name in named:
            raise InvalidJointError(f"a column can be used once; found {name!r} in {named[name]} and again in {role}.")
        named[name] = role


def check_rows(
    frame: nw.DataFrame[Any], names: tuple[str, ...], weight: str | None, missing: str, first: int = 0
) -> None:
    """Refuse the first value or weight that is none, by column and row; the frame begins with row `first`."""
    for name in names:
        with _types_refused(frame, name):
            _check_values(frame[name], missing, first)
    if weight is not None:
        with _types_refused(frame, weight):
            values = frame[weight].cast(nw.Float64).to_numpy()
            place = f"weights in column {weight!r}"
            check_amounts(values, place, lambda row: f"row {first + row} (counting from 0)")


def _check_values(column: nw.Series[Any], missing: str, first: int) -> None:
    is_absent = absent(column, column.dtype)
    if missing == "error" and is_absent.any():
        raise InvalidJointError(
            f"column {column.name!r} must have no missing values; found {is_absent.sum()}, the first in row "
            f"{first + is_absent.to_list().index(True)} (counting from 0). Drop those rows (missing='drop'), make them a label "
            "(missing='category'), or fill them."
        )
    if str(column.dtype) == "Object" or column.dtype.is_nested():
        listed(column.filter(~is_absent), f"column {column.name!r}")


def _together(values: tuple[Any, ...]) -> Any:
    """The value of one column, a tuple of values of several."""
    return values[0] if len(values) == 1 else values
