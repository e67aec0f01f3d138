"""Rows of counts that occur more than once, once: of 44,000 rare categories, a few thousand differ.

Whatever is computed of a category from its counts n_xy alone is the same for every category with the same counts.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..information import Array, IntArray


class DistinctRows(NamedTuple):
    """The different rows of a table of counts, in the order of their first appearance, and which of them each row is."""

    rows: Array  # (distinct, |Y|)
    times: Array  # (distinct,)   how many rows are this one
    place: IntArray  # (|X|,)     rows[place] is the table again

    @classmethod
    def of(cls, counts: Any) -> DistinctRows:
        """Of a dense table of whole numbers.

        Examples
        --------
        >>> found = DistinctRows.of(np.array([[1, 0], [2, 1], [1, 0]]))
        >>> found.rows.tolist(), found.times.tolist(), found.place.tolist()
        ([[1.0, 0.0], [2.0, 1.0]], [2.0, 1.0], [0, 1, 0])
        """
        table = np.ascontiguousarray(counts, dtype=float)
        numbers: dict[bytes, int] = {}
        place = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in table], dtype=np.int64)
        first = np.unique(place, return_index=True)[1]
        return cls(table[first], np.bincount(place).astype(float), place)
