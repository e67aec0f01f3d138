"""Frames read through narwhals: the columns that are asked for, each as it is or in bins, checked, and their rows counted where they are.

Frames in memory (pandas, polars, pyarrow) are checked row by row, and an error names the row. What is lazy (a LazyFrame of polars, a
relation of duckdb, frames of dask and pyspark) groups and counts its rows on its own engine, and a dataset of pyarrow does so batch by
batch: only the groups come here, however many rows there are. A column with k bins is counted on its own first, which gives the edges;
then all columns are, together.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import date
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias
from zoneinfo import ZoneInfo

import narwhals as nw

from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import alternatives
from .binning import CALENDAR, NO_BIN, Cut, as_time, checked_rule, quantile_edges
from .tables import MISSING, MISSING_RULES, check_amounts, exact_sum, is_missing, plain_values

if TYPE_CHECKING:
    from collections.abc import Hashable

    from .tables import Cells


def absent(values: Any, dtype: nw.dtypes.DType) -> Any:
    """Where a series or an expression has no value: null, and among numbers NaN."""
    return values.is_null() | values.is_nan() if dtype.is_float() else values.is_null()


@dataclass(frozen=True)
class Column:
    """A column of the frame under a name of ours, so that none clash: its values, or how they are put into bins."""

    name: str
    key: str
    dtype: nw.dtypes.DType
    cut: Cut | None = None
    bins: int | None = None
    """Bins of equal mass that are asked for, as long as their edges are not known."""

    @classmethod
    def of(cls, frame: Frame, name: str, key: str, rule: Any) -> Column:
        """The column, and the rule for its bins made to fit what it holds."""
        dtype = frame.collect_schema()[name]
        if rule is None:
            return cls(name, key, dtype)
        if str(dtype) == "Object" and isinstance(frame, nw.DataFrame):
            values = [value for value in frame[name].to_list() if not is_missing(value)]
            if all(isinstance(value, Real) and not isinstance(value, bool) for value in values):
                dtype = nw.Float64()
            elif all(isinstance(value, date) for value in values):
                dtype = nw.Datetime()
        elif isinstance(dtype, nw.Date):
            dtype = nw.Datetime()
        elif isinstance(dtype, nw.Decimal):
            dtype = nw.Float64()
        dates = isinstance(dtype, nw.Datetime)
        if not dates and (not dtype.is_numeric() or rule in CALENDAR):
            needed = "dates" if rule in CALENDAR else "numbers or dates"
            raise InvalidJointError(
                f"bins need {needed}; found {_example(frame, name)}{dtype} in column {name!r}. Convert it."
            )
        if isinstance(rule, int):
            return cls(name, key, dtype, Cut("edges", dates=dates), rule)
        return cls(name, key, dtype, Cut(rule, dates=True) if isinstance(rule, str) else _cut_at(rule, dtype, name))

    def read(self) -> nw.Expr:
        """The values."""
        values = nw.col(self.name)
        return (values if self.cut is None else values.cast(self.dtype)).alias(self.key)

    @property
    def absent(self) -> nw.Expr:
        """Where there is none."""
        found: nw.Expr = absent(nw.col(self.key), self.dtype)
        return found

    def code(self) -> nw.Expr:
        """The values, or the codes of their bins."""
        if self.cut is None:
            return nw.col(self.key)
        return nw.when(self.absent).then(nw.lit(NO_BIN)).otherwise(self.cut.code(nw.col(self.key))).alias(self.key)

    def label(self, value: Any) -> Hashable:
        """The label of a value, or of a code."""
        if self.cut is not None:
            return self.cut.label(int(value))
        return MISSING if is_missing(value) else value


@dataclass(frozen=True)
class CountedRows:
    """The parts of a frame, of which one is in memory at a time, and what is asked of them."""

    parts: Callable[[], Iterator[Frame]]
    columns: list[Column]
    weight: str | None
    missing: str

    def cells(self) -> dict[tuple[Hashable, ...], float]:
        """A label of every column -> number of rows, or their weight."""
        columns = [self._with_edges(column) for column in self.columns]
        amounts: dict[tuple[Hashable, ...], list[float]] = {}
        without: dict[int, int] = {}
        named: set[int] = set()
        for values, amount, rows in self._groups(columns):
            labels = tuple(column.label(value) for column, value in zip(columns, values, strict=True))
            amounts.setdefault(labels, []).append(amount)
            for at in (at for at, label in enumerate(labels) if label == MISSING):
                if is_missing(values[at]) or columns[at].cut is not None:
                    without[at] = without.get(at, 0) + rows
                else:
                    named.add(at)
        for at, rows in without.items():
            self._check_missing(columns[at].name, rows, at in named)
        return {labels: exact_sum(parts) for labels, parts in amounts.items()}

    def _with_edges(self, column: Column) -> Column:
        """The column with the edges of its bins: counted on its own, if they are to have equal mass."""
        if column.bins is None or column.cut is None:
            return column
        mass: dict[Any, list[float]] = {}
        for (value,), amount, _ in self._groups([replace(column, cut=None)]):
            if not is_missing(value):
                mass.setdefault(as_time(value), []).append(amount)
        edges = quantile_edges({value: exact_sum(parts) for value, parts in mass.items()}, column.bins)
        return replace(column, cut=replace(column.cut, edges=edges))

    def _groups(self, columns: list[Column]) -> Iterator[tuple[tuple[Any, ...], float, int]]:
        """The values of columns, or codes of their bins, that occur together; what their rows weigh; how many there are."""
        weight = nw.lit(1.0) if self.weight is None else nw.col(self.weight).cast(nw.Float64)
        keys = [column.key for column in columns]
        for part in self.parts():
            rows = part.select(*(column.read() for column in self.columns), weight.alias("w"))
            if self.missing == "drop":
                for column in self.columns:
                    rows = rows.filter(~column.absent)
            yield from _counted(rows.select(*(column.code() for column in columns), "w"), keys)

    def _check_missing(self, name: str, rows: int, is_label: bool) -> None:
        if self.missing == "error":
            raise InvalidJointError(
                f"column {name!r} must have no missing values; found {rows:,}. Drop those rows (missing='drop'), or make them "
                "a label (missing='category')."
            )
        if is_label:
            raise InvalidJointError(
                f"column {name!r} has values called {MISSING!r}, and {rows:,} that are missing: with missing='category' both would be one "
                "label. Rename the values, or use missing='drop'."
            )


def _counted(rows: Frame, keys: list[str]) -> Iterator[tuple[tuple[Any, ...], float, int]]:
    """The groups of rows with equal keys: their keys, what they weigh, and how many they are."""
    groups = _counted_here(rows, keys) if isinstance(rows, nw.DataFrame) else _counted_there(rows, keys)
    for *values, amount, n in zip(*(groups[name].to_list() for name in (*keys, "w", "n")), strict=True):
        yield tuple(values), float(amount), int(n)


def _counted_here(rows: nw.DataFrame[Any], keys: list[str]) -> nw.DataFrame[Any]:
    """Groups in order of first appearance.

    Rows are grouped by weight as well: (rows of that weight) x weight, summed exactly, does not depend on the order in which a
    multi-threaded frame visits its rows.
    """
    groups = rows.with_row_index("row").group_by(*keys, "w").agg(nw.len().alias("n"), nw.col("row").min()).sort("row")
    return groups.with_columns(w=nw.col("w") * nw.col("n"))


def _counted_there(rows: nw.LazyFrame[Any], keys: list[str]) -> nw.DataFrame[Any]:
    """Groups that the engine of the frame counts. Weights are summed there: those that are whole numbers exactly."""
    w = nw.col("w")
    bad = w.is_null() | w.is_nan() | (w < 0.0) | (w == float("inf"))
    checked = rows.with_columns(nw.when(bad).then(nw.lit(1)).otherwise(nw.lit(0)).alias("bad"))
    query = checked.group_by(*keys).agg(nw.len().alias("n"), w.sum(), nw.col("bad").sum())
    # Unless it is told to stream, polars holds the columns of all rows in memory.
    groups = query.collect(engine="streaming") if query.implementation.is_polars() else query.collect()
    if len(groups) and (wrong := int(groups["bad"].sum())):
        raise InvalidJointError(
            f"weights must be finite and not negative; found {wrong:,} that are not, or are missing. Correct or drop them."
        )
    return groups


def _cut_at(edges: tuple[Any, ...], dtype: nw.dtypes.DType, name: str) -> Cut:
    """A cut at given edges, which must be of the column's kind; dates are in the time zone of the column if they have none."""
    dates = isinstance(dtype, nw.Datetime)
    if any(isinstance(edge, date) != dates for edge in edges):
        raise InvalidJointError(f"edges of {name!r} must be of the column's kind, {dtype}; found {edges[0]!r}.")
    zone = dtype.time_zone if isinstance(dtype, nw.Datetime) else None
    if zone is not None:
        edges = tuple(edge.replace(tzinfo=edge.tzinfo or ZoneInfo(zone)) for edge in edges)
    return Cut("edges", edges, dates)


def _example(frame: Frame, name: str) -> str:
    """The first value of a column, if it is in memory."""
    values = frame[name].drop_nulls().head(1).to_list() if isinstance(frame, nw.DataFrame) else []
    return f"{values[0]!r} of type " if values else ""


Frame: TypeAlias = nw.DataFrame[Any] | nw.LazyFrame[Any]


def frame_cells(
    df: Any, x: tuple[str, ...], y: tuple[str, ...], weight: Any, bins: Mapping[str, Any], missing: str
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
            where = f"weights in column {weight!r}"
            check_amounts(values, where, lambda row: f"row {first + row} (counting from 0)")


def _check_values(column: nw.Series[Any], missing: str, first: int) -> None:
    is_absent = absent(column, column.dtype)
    if missing == "error" and is_absent.any():
        raise InvalidJointError(
            f"column {column.name!r} must have no missing values; found {is_absent.sum()}, the first in row "
            f"{first + is_absent.to_list().index(True)} (counting from 0). Drop those rows (missing='drop'), make them a label "
            "(missing='category'), or fill them."
        )
    if str(column.dtype) == "Object" or column.dtype.is_nested():
        plain_values(column.filter(~is_absent), f"column {column.name!r}")


def _together(values: tuple[Any, ...]) -> Any:
    return values[0] if len(values) == 1 else values
