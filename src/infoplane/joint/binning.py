"""Numbers and dates in bins, for columns with more values than a table has use for.

A value v with mass w_v lies in bin floor(k (W_v + w_v / 2)), W_v being the share of all smaller values: k bins, cut at the quantiles,
equal values never apart. Between two bins lies one edge e, largest value below < e <= smallest value above, the shortest that there is:
the bins are (-inf, e_1), [e_1, e_2), ..., [e_m, inf), so that every new value has a bin too. Dates are cut in the same way, or by the
calendar. A label says its interval, ``35 to under 50``, and `Bin.low` and `Bin.high` are its edges.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import pairwise
from numbers import Real
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from ..checks import whole_number
from ..errors import InvalidOptionError
from .tables import MISSING

if TYPE_CHECKING:
    import narwhals as nw

    Edge: TypeAlias = float | datetime
    BinRule: TypeAlias = int | str | Sequence[float | date]

CALENDAR = ("year", "month", "weekday")
"""Rules for dates, besides quantiles and edges: calendar years, months of a year (``2024-03``), and days of the week."""

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
"""Labels of the rule ``weekday``, in the order of ISO 8601."""

NO_BIN = -1
"""The code of a missing value, which no interval takes in: it is a bin of its own if missing values are a category."""


class Bin(str):
    """A label such as ``35 to under 50``: the interval [low, high), None where it is open; sorted by its edges, not by its letters.

    ``rule`` is one of `CALENDAR`, or ``edges``; years, months and weekdays are counted, ``low`` being the first.
    """

    __slots__ = ("high", "low", "rule")
    low: Any
    high: Any
    rule: str

    def __new__(cls, text: str, low: Any, high: Any, rule: str = "edges") -> Bin:
        """The label, and what it stands for."""
        made = super().__new__(cls, text)
        made.low, made.high, made.rule = low, high, rule
        return made

    def __lt__(self, other: str) -> bool:
        if not isinstance(other, Bin):
            return str.__lt__(self, other)
        return other.low is not None and (self.low is None or self.low < other.low)

    def __reduce__(self) -> tuple[Any, ...]:
        return Bin, (str(self), self.low, self.high, self.rule)


@dataclass(frozen=True)
class Cut:
    """A column in bins: every value has a whole number as its code, every code a label."""

    rule: str
    edges: tuple[Edge, ...] = ()
    dates: bool = False

    def code(self, column: nw.Expr) -> nw.Expr:
        """How many edges lie at or below a value; or its year, month or weekday: what the frame's own engine computes for each row."""
        import narwhals as nw

        if self.rule == "year":
            return column.dt.year()
        if self.rule == "month":
            return column.dt.year() * 12 + column.dt.month() - 1
        if self.rule == "weekday":
            return column.dt.weekday() - 1
        code = nw.lit(0)
        for edge in self.edges:
            code = code + (column >= edge).cast(nw.Int64)
        return code

    def label(self, code: int) -> Hashable:
        """The bin of a code, or `MISSING`."""
        if code == NO_BIN:
            return MISSING
        if self.rule != "edges":
            texts = {"year": str(code), "month": f"{code // 12:04}-{code % 12 + 1:02}", "weekday": WEEKDAYS[code % 7]}
            return Bin(texts[self.rule], code, code + 1, self.rule)
        low = self.edges[code - 1] if code else None
        high = self.edges[code] if code < len(self.edges) else None
        return Bin(self._text(low, high), low, high)

    def _text(self, low: Edge | None, high: Edge | None) -> str:
        under, over = ("before", "and later") if self.dates else ("under", "and over")
        if low is None:
            return f"all {'dates' if self.dates else 'numbers'}" if high is None else f"{under} {_text(high)}"
        return f"{_text(low)} {over}" if high is None else f"{_text(low)} to {under} {_text(high)}"


def quantile_edges(mass: Mapping[Any, float], bins: int) -> tuple[Any, ...]:
    """The edges between bins of about equal mass, given how much of it each value has; fewer than asked for where values are few.

    Examples
    --------
    >>> quantile_edges({20: 1, 25: 1, 31: 1, 60: 1}, 2)
    (31,)
    """
    values = sorted(mass)
    weights = np.array([mass[value] for value in values], dtype=float)
    middles = (np.cumsum(weights) - 0.5 * weights) / max(float(weights.sum()), np.finfo(float).tiny)
    numbers = np.minimum((bins * middles).astype(int), bins - 1)
    neighbours = zip(pairwise(values), pairwise(numbers.tolist()), strict=True)
    return tuple(shortest_edge(low, high) for (low, high), (below, above) in neighbours if below != above)


def checked_rule(name: str, rule: Any) -> int | str | tuple[Any, ...]:
    """A number of bins, a rule of the calendar, or increasing edges."""
    if isinstance(rule, str):
        if rule not in CALENDAR:
            raise InvalidOptionError(
                f"bins of {name!r} must be a number of bins, edges, or one of {', '.join(CALENDAR)}; found {rule!r}."
            )
        return rule
    if isinstance(rule, Real) or not isinstance(rule, Iterable):
        return whole_number(f"bins of {name!r}", rule)  # type: ignore[arg-type]
    edges = tuple(one.item() if isinstance(one, np.generic) else one for one in rule)
    dates = [isinstance(one, date) for one in edges]
    numbers = [isinstance(one, Real) and not isinstance(one, bool) and not math.isnan(one) for one in edges]
    if not (all(dates) or all(numbers)):
        raise InvalidOptionError(f"edges of {name!r} must be numbers, or dates; found {edges!r}.")
    edges = tuple(as_time(one) for one in edges) if any(dates) else edges
    if not all(low < high for low, high in pairwise(edges)):
        raise InvalidOptionError(f"edges of {name!r} must increase; found {', '.join(map(_text, edges))}.")
    return edges


def bins_of(names: tuple[str, ...], labels: Iterable[Hashable]) -> dict[str, str | tuple[Any, ...]]:
    """The rules that labels were binned by, column by column, as `checked_rule` takes them."""
    found: dict[str, list[Bin]] = {}
    for label in labels:
        for name, value in zip(names, label if isinstance(label, tuple) and len(names) > 1 else (label,), strict=True):
            if isinstance(value, Bin):
                found.setdefault(name, []).append(value)
    return {
        name: some[0].rule
        if some[0].rule != "edges"
        else tuple(sorted({edge for one in some for edge in (one.low, one.high) if edge is not None}))
        for name, some in found.items()
    }


def as_time(one: Any) -> Any:
    """A date as the beginning of its day; whatever else as it is."""
    return datetime.combine(one, time()) if isinstance(one, date) and not isinstance(one, datetime) else one


def shortest_edge(low: Any, high: Any) -> Any:
    """The shortest e with low < e <= high: the beginning of a day, a whole number, or one of few digits."""
    if isinstance(high, date):
        low, high = as_time(low), as_time(high)
        for shorter in ({"hour": 0, "minute": 0, "second": 0, "microsecond": 0}, {"second": 0, "microsecond": 0}):
            edge = high.replace(**shorter, **({"nanosecond": 0} if hasattr(high, "nanosecond") else {}))
            if low < edge:
                return edge
        return high
    if math.isinf(high) or float(high).is_integer():
        return high if math.isinf(high) else int(high)
    shortened = (float(f"{float(high):.{digits}g}") for digits in range(1, 18))
    return next(edge for edge in shortened if low < edge <= high)


def _text(edge: Any) -> str:
    """An edge, exactly, in as few characters as that takes."""
    if isinstance(edge, datetime):
        # 2024-03-01 stands for its first instant, in the time zone of the column.
        return edge.date().isoformat() if edge.time() == time() else edge.replace(tzinfo=None).isoformat(" ")
    whole = not math.isinf(edge) and float(edge).is_integer() and abs(edge) < 2**53
    return str(int(edge)) if whole else repr(float(edge))
