"""Rows as letters: which of the values, intervals of numbers, or combinations of several columns that were met a row holds.

Letters are numbered 0, ..., size - 1, and what was never met is -1. A missing value is a letter of its own where one was met. Every
distinct value of a column is looked up once, so that a million rows take no loop. Errors count rows and name their column, never a value:
it may be one person's.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
import pandas as pd

from ..errors import InvalidJointError
from ..formatting import counted, offered
from ..information import IntArray
from ..joint.binning import Cut
from ..joint.frames import Column
from ..joint.tables import MISSING, by_column, is_missing

if TYPE_CHECKING:
    from ..joint.joint import Joint

UNSEEN = -1
"""The letter of what was never met."""


@dataclass(frozen=True, eq=False)
class CategoryLetters:
    """The distinct values of a column, sorted if they can be compared, else as they first appear; missing ones are the last letter."""

    values: pd.Index[Any]
    has_missing: bool

    @classmethod
    def of(cls, column: pd.Series[Any]) -> tuple[CategoryLetters, IntArray]:
        """The letters of a column, and its codes."""
        try:
            codes, values = pd.factorize(column, sort=True)
        except TypeError:  # values of kinds that cannot be compared
            codes, values = factorized(column)
        values = pd.Index(values.categories[values.codes] if isinstance(values, pd.CategoricalIndex) else values)
        missing = codes < 0
        return cls(values, bool(missing.any())), np.where(missing, len(values), codes).astype(np.int64)

    @classmethod
    def of_labels(cls, labels: Sequence[Any]) -> tuple[CategoryLetters, IntArray]:
        """The same of the values that labels of a joint have in a column."""
        return cls.of(pd.Series([None if one == MISSING else one for one in labels], dtype=object))

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.values) + self.has_missing

    @property
    def labels(self) -> list[Hashable]:
        """The value of each letter; that of missing ones is another if a value is called so."""
        values = self.values.tolist()
        return [*values, *([f"{MISSING} (empty)" if MISSING in values else MISSING] if self.has_missing else [])]

    def codes(self, column: Any) -> IntArray:
        """The letters of other values; what is called missing is so, unless it was met as a value."""
        return looked_up(column, self._numbers, len(self.values) if self.has_missing else UNSEEN)

    @cached_property
    def _numbers(self) -> dict[Hashable, int]:
        return {label: letter for letter, label in enumerate(self.labels)}


@dataclass(frozen=True, eq=False)
class IntervalLetters:
    """Intervals of numbers: letter i holds edges[i-1] <= value < edges[i]; missing ones are the last letter."""

    edges: tuple[float, ...]
    has_missing: bool

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.edges) + 1 + self.has_missing

    @property
    def labels(self) -> list[Hashable]:
        """``under 35``, ``35 to under 50``, ``50 and over``."""
        cut = Cut("edges", self.edges)
        return [*(cut.label(i) for i in range(len(self.edges) + 1)), *([MISSING] if self.has_missing else [])]

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The letters of other numbers; an error if some values are none."""
        column = column.astype(str) if column.dtype.kind in "mM" else column  # dates are no numbers of nanoseconds
        values = pd.to_numeric(column, errors="coerce").to_numpy(dtype=float, na_value=np.nan)
        if len(wrong := np.flatnonzero(np.isnan(values) & ~column.isna())):
            # The value is somebody's: it is not shown.
            raise InvalidJointError(
                f"column {str(column.name)!r} must hold numbers; found {counted(len(wrong), 'value')} of {len(column):,} that are none, "
                f"the first in row {wrong[0]}."
            )
        codes = np.searchsorted(np.array(self.edges, dtype=float), values, side="right").astype(np.int64)
        codes[np.isnan(values)] = len(self.edges) + 1 if self.has_missing else UNSEEN
        return codes


@dataclass(frozen=True, eq=False)
class RowLetters:
    """The letters of one column; or of several together, those combinations that were met."""

    parts: tuple[CategoryLetters | IntervalLetters, ...]
    met: IntArray | None = None
    """The letters of the columns in each combination, (columns, size), in lexicographic order; None of one column."""

    @classmethod
    def of(
        cls, parts: Sequence[CategoryLetters | IntervalLetters], codes: Sequence[IntArray]
    ) -> tuple[RowLetters, IntArray]:
        """The letters of columns with these codes, and their codes together."""
        if len(parts) == 1:
            return cls(tuple(parts)), codes[0]
        table = pd.DataFrame(dict(enumerate(codes)))
        numbers: IntArray = np.asarray(table.groupby([*table], sort=True).ngroup(), dtype=np.int64)
        _, first = np.unique(numbers, return_index=True)
        return cls(tuple(parts), table.to_numpy()[first].T), numbers

    @property
    def size(self) -> int:
        """How many letters."""
        return self.parts[0].size if self.met is None else self.met.shape[1]

    @property
    def labels(self) -> list[Hashable]:
        """The value of each letter, a tuple if there are several columns."""
        columns = [part.labels for part in self.parts]
        if self.met is None:
            return columns[0]
        return [*zip(*([labels[i] for i in some] for labels, some in zip(columns, self.met, strict=True)), strict=True)]

    def of_columns(self, columns: Sequence[Any]) -> list[IntArray]:
        """Column by column, the letters of other rows."""
        return [part.codes(column) for part, column in zip(self.parts, columns, strict=True)]

    def codes(self, columns: Sequence[Any]) -> IntArray:
        """The letters of other rows."""
        return self.together(self.of_columns(columns))

    def together(self, codes: Sequence[IntArray]) -> IntArray:
        """The letters of rows whose columns have these letters."""
        if self.met is None:
            return codes[0]
        found = pd.MultiIndex.from_arrays([*self.met]).get_indexer(pd.MultiIndex.from_arrays(codes))
        return found.astype(np.int64)


def factorized(values: Any, **how: bool) -> tuple[Any, Any]:
    """What `pandas.factorize` says of values, all of them hashable."""
    try:
        return pd.factorize(values, **how)
    except TypeError as error:
        raise InvalidJointError(f"labels must be hashable; found an {error}. Turn lists into tuples.") from None


def looked_up(values: Any, numbers: Mapping[Hashable, int], missing: int) -> IntArray:
    """The number of each value, ``missing`` of those that are not there, -1 of all others."""
    codes, distinct = factorized(values, use_na_sentinel=False)
    found = [missing if is_missing(value) else numbers.get(value, UNSEEN) for value in distinct.tolist()]
    return np.asarray(np.array(found, dtype=np.int64)[codes])


def group_names(groups: int) -> tuple[str, ...]:
    """What groups are called in tables and files: ``z0``, ``z1``, ..."""
    return tuple(f"z{z}" for z in range(groups))


def unmet_in(names: Sequence[str], codes: Sequence[IntArray]) -> str:
    """Which columns hold values that were never met, in words; all of them, if it is a combination that was not."""
    own = [name for name, one in zip(names, codes, strict=True) if (one < 0).any()]
    said = f"column{'s' if len(own or names) > 1 else ''} {', '.join(map(repr, own or names))}"
    return said if own or len(names) == 1 else f"{said}, whose values were met, but not together"


def letters_of_rows(joint: Joint, frame: Any, *, refuse_unseen: bool = False) -> IntArray:
    """The letter of every row of a frame in memory that has the joint's columns of x; -1 for what was never met, or an error."""
    rows, known = in_memory(frame), by_column(joint.x_labels, joint.x_names)
    letters, own = RowLetters.of(*zip(*map(CategoryLetters.of_labels, known.values()), strict=True))
    codes = letters.of_columns([column_of(rows, name, joint.bins.get(name)) for name in known])
    found = letters.together(codes)
    if refuse_unseen:
        _refuse_unseen(found, unmet_in(joint.x_names, codes))
    return np.append(np.argsort(own), UNSEEN)[found]


def letters_of_labels(joint: Joint, labels: Any, *, refuse_unseen: bool = False) -> IntArray:
    """The letter of each label, as ``joint.x_labels`` has them; -1 for what was never met, or an error."""
    if hasattr(labels, "columns"):
        raise InvalidJointError(
            "labels must be one sequence; found a frame. transform(frame) takes rows with columns of x."
        )
    if isinstance(labels, str | bytes | Mapping) or not hasattr(labels, "__len__"):
        raise InvalidJointError(
            f"labels must be a sequence with a label of x for each record; found {type(labels).__name__}."
        )
    if not hasattr(labels, "dtype"):
        boxed = np.empty(len(labels), dtype=object)
        boxed[:] = [*labels]
        labels = boxed
    numbers = {label: x for x, label in enumerate(joint.x_labels)}
    letters = looked_up(labels, numbers, numbers.get(MISSING, UNSEEN))
    if refuse_unseen:
        _refuse_unseen(letters, f"x ({', '.join(map(repr, joint.x_names))})")
    return letters


def _refuse_unseen(letters: IntArray, where: str) -> None:
    if unseen := int((letters < 0).sum()):
        raise InvalidJointError(
            f"every record must have a value of x that the joint has met; found {unseen:,} of {len(letters):,} without, in {where}. "
            "unseen='marginal' draws z for them from p(z), unseen='suppress' leaves them out."
        )


def in_memory(frame: Any) -> nw.DataFrame[Any]:
    """The frame as narwhals has it, if its rows are in memory and its columns have names of their own."""
    try:
        rows = nw.from_native(frame, pass_through=True)
    except nw.exceptions.DuplicateError as error:
        found = " ".join(str(error).split())
        raise InvalidJointError(f"columns of rows must have distinct names. {found}. Rename them first.") from None
    if not isinstance(rows, nw.DataFrame):
        raise InvalidJointError(
            f"rows must be a frame in memory, of pandas, polars or pyarrow; found {type(frame).__name__}. Collect it first."
        )
    return rows


def column_of(rows: nw.DataFrame[Any], name: str, rule: Any = None) -> Any:
    """The values of a column, or the labels of their bins, as pandas has them."""
    if name not in rows.columns:
        raise InvalidJointError(f"rows must have the column {name!r}; found {offered(name, rows.columns)}.")
    if rule is None:
        # Dates and decimal numbers of polars and pyarrow are Python's, as they are among the labels.
        own = rows.implementation.is_pandas()
        return rows[name].to_native() if own else pd.Series(rows[name].to_list(), dtype=object)
    column = Column.of(rows, name, "value", rule)
    codes = rows.select(column.read()).select(column.code())["value"].to_numpy()
    met, numbers = np.unique(codes, return_inverse=True)
    labels = np.empty(len(met), dtype=object)
    labels[:] = [column.label(code) for code in met]
    return labels[numbers]
