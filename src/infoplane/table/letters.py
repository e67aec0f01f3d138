"""From the values of columns to letters, and back again for other rows: categories, intervals of numbers, and products of both.

Each kind knows the letters 0, ..., size - 1 that it met, and gives -1 to values that it did not. A missing value is a letter of its own
where one was met.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from ..encoder.applying import UNSEEN
from ..information import IntArray
from ..joint.binning import Cut
from ..joint.tables import MISSING


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
            codes, values = pd.factorize(column)
        values = pd.Index(values.categories[values.codes] if isinstance(values, pd.CategoricalIndex) else values)
        missing = codes < 0
        found = np.where(missing, len(values), codes).astype(np.int64)
        return cls(values, bool(missing.any())), found

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.values) + self.has_missing

    @property
    def labels(self) -> list[Hashable]:
        """The value of each letter."""
        return [*self.values.tolist(), *([MISSING] if self.has_missing else [])]

    def codes(self, column: pd.Series[Any]) -> IntArray:
        """The letters of other values; of a categorical column each category is looked up once."""
        if isinstance(column.dtype, pd.CategoricalDtype):
            places = np.append(self._places(column.cat.categories), self._missing)
            return places[column.cat.codes.to_numpy()]
        return self._places(pd.Index(column))

    @property
    def _missing(self) -> int:
        return len(self.values) if self.has_missing else UNSEEN

    def _places(self, values: pd.Index[Any]) -> IntArray:
        places = self.values.get_indexer(values).astype(np.int64, copy=False)
        if self.has_missing and (unknown := np.flatnonzero(places < 0)).size:
            places[unknown[np.asarray(pd.isna(values[unknown]))]] = self._missing
        return places


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
        """The letters of other numbers."""
        values = column.to_numpy(dtype=float, na_value=np.nan)
        codes = np.searchsorted(np.array(self.edges, dtype=float), values, side="right").astype(np.int64)
        codes[np.isnan(values)] = len(self.edges) + 1 if self.has_missing else UNSEEN
        return codes


@dataclass(frozen=True, eq=False)
class ProductLetters:
    """Letters of several columns together: those combinations that were met."""

    parts: tuple[CategoryLetters | IntervalLetters, ...]
    keys: pd.Index[Any]

    @classmethod
    def of(
        cls, parts: Sequence[CategoryLetters | IntervalLetters], codes: Sequence[IntArray]
    ) -> tuple[ProductLetters, IntArray]:
        """The letters of columns with these codes, and their codes together."""
        found, keys = pd.factorize(_together(parts, codes), sort=True)
        return cls(tuple(parts), pd.Index(keys)), found.astype(np.int64)

    @property
    def size(self) -> int:
        """How many letters."""
        return len(self.keys)

    @property
    def labels(self) -> list[Hashable]:
        """A tuple of values for each letter."""
        sizes = tuple(part.size for part in self.parts)
        several = np.unravel_index(self.keys.to_numpy(), sizes)
        columns = [[part.labels[code] for code in codes] for part, codes in zip(self.parts, several, strict=True)]
        return [*zip(*columns, strict=True)]

    def codes(self, columns: Sequence[pd.Series[Any]]) -> IntArray:
        """The letters of other rows."""
        codes = [part.codes(column) for part, column in zip(self.parts, columns, strict=True)]
        unknown = np.any([one < 0 for one in codes], axis=0)
        places = self.keys.get_indexer(pd.Index(_together(self.parts, [np.maximum(one, 0) for one in codes])))
        return np.where(unknown, UNSEEN, places).astype(np.int64)


Letters = CategoryLetters | IntervalLetters | ProductLetters


def looked_up(letters: Letters, rows: IntArray, unknown: int, columns: Sequence[pd.Series[Any]]) -> IntArray:
    """The row of a table for each row of some columns: ``rows`` of its letter, or ``unknown`` for what was never met."""
    codes = letters.codes(columns) if isinstance(letters, ProductLetters) else letters.codes(columns[0])
    return np.append(rows, unknown)[codes]  # -1 is the last


def _together(parts: Sequence[CategoryLetters | IntervalLetters], codes: Sequence[IntArray]) -> IntArray:
    sizes = tuple(part.size for part in parts)
    return np.ravel_multi_index(tuple(codes), sizes).astype(np.int64)
