"""Numbers in bins of about equal mass, for columns with more values than a table has use for.

A value v with mass w_v lies in bin floor(k (W_v + w_v / 2)), W_v being the share of all smaller values: k bins, cut at the quantiles,
equal values never apart. A bin is labelled by the smallest and the largest value that it holds, ``20 to 34``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import whole_number
from ..errors import InvalidJointError
from .tables import exact_sum

if TYPE_CHECKING:
    from .labels import Cells


MISSING = "missing"
"""The label of a value that is not there, which no bin takes in."""


class Bin(str):
    """A label such as ``20 to 34`` that is sorted by its numbers, not by its letters."""

    __slots__ = ("low",)
    low: float

    def __new__(cls, text: str, low: float) -> Bin:
        """The label, and the smallest value of the bin."""
        made = super().__new__(cls, text)
        made.low = low
        return made

    def __lt__(self, other: str) -> bool:
        return self.low < other.low if isinstance(other, Bin) else str.__lt__(self, other)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bin, (str(self), self.low)


def quantile_bins(mass: Mapping[Any, float], bins: int) -> dict[Any, Bin]:
    """The bin of every value, given how much mass each has; there are fewer bins than asked for where values are few.

    Examples
    --------
    >>> quantile_bins({20: 1, 25: 1, 31: 1, 60: 1}, 2)
    {20: '20 to 25', 25: '20 to 25', 31: '31 to 60', 60: '31 to 60'}
    """
    values = sorted(mass)
    weights = np.array([mass[value] for value in values], dtype=float)
    middles = (np.cumsum(weights) - 0.5 * weights) / max(float(weights.sum()), np.finfo(float).tiny)
    places = np.minimum((bins * middles).astype(int), bins - 1)
    groups = [[value for value, at in zip(values, places, strict=True) if at == place] for place in np.unique(places)]
    ends = _texts([end for group in groups for end in (group[0], group[-1])])
    found: dict[Any, Bin] = {}
    for group, low, high in zip(groups, ends[::2], ends[1::2], strict=True):
        label = Bin(low if low == high else f"{low} to {high}", float(group[0]))
        found |= dict.fromkeys(group, label)
    return found


def binned(cells: Cells, x: tuple[str, ...], y: tuple[str, ...], bins: Mapping[str, int]) -> Cells:
    """The same cells with the numbers of some columns replaced by their bins, and cells that become one added up; `MISSING` stays."""
    for name, count in bins.items():
        axis, at = _column(name, x, y)
        several = len((x, y)[axis]) > 1
        mass: dict[Any, list[float]] = {}
        for cell, amount in cells.items():
            value: Any = cell[axis]
            mass.setdefault(value[at] if several else value, []).append(amount)
        for value in mass.keys() - {MISSING}:
            if isinstance(value, bool) or not isinstance(value, Real):
                raise InvalidJointError(f"bins need numbers; found {value!r} in column {name!r}.")
        numbers = {value: exact_sum(parts) for value, parts in mass.items() if value != MISSING}
        labels: dict[Any, str] = {MISSING: MISSING, **quantile_bins(numbers, whole_number(f"bins of {name!r}", count))}
        merged: dict[tuple[Hashable, Hashable], list[float]] = {}
        for cell, amount in cells.items():
            value = cell[axis]
            new = (*value[:at], labels[value[at]], *value[at + 1 :]) if several else labels[value]
            merged.setdefault((new, cell[1]) if axis == 0 else (cell[0], new), []).append(amount)
        cells = {cell: exact_sum(parts) for cell, parts in merged.items()}
    return cells


def _column(name: str, x: tuple[str, ...], y: tuple[str, ...]) -> tuple[int, int]:
    """Whether a column belongs to x (0) or to y (1), and its place there."""
    for axis, names in enumerate((x, y)):
        if name in names:
            return axis, names.index(name)
    raise InvalidJointError(f"bins must be of columns of x or y, {', '.join((*x, *y))}; found {name!r}.")


def _texts(values: list[Any]) -> list[str]:
    """Numbers as text: whole ones as they are, others with the fewest digits that tell them apart."""
    if all(isinstance(value, Integral) or float(value).is_integer() for value in values):
        return [f"{int(value)}" for value in values]
    different = len(set(values))
    texts = [repr(float(value)) for value in values]
    for digits in range(3, 17):
        shorter = [f"{float(value):.{digits}g}" for value in values]
        if len(set(shorter)) == different:
            return shorter
    return texts
