"""Branch and bound: every distribution q is in some cell, and every cell is closed by a bound, cut in two, or still open at the end."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

import numpy as np

from .numbers import Array, Which, above

TIGHTEST = 12
"""Closed cells that are kept, those whose bounds are nearest to the target, to be bounded once more in many digits."""

ROOM = 100_000_000
"""Numbers that waiting cells may take."""


class Cells(NamedTuple):
    """Boxes low <= u <= high, a row each, and where the search for their bounds begins."""

    low: Array
    high: Array
    hint: Array

    def of(self, which: Which) -> Cells:
        """Some of them."""
        return Cells(*(one[which] for one in self))


class Multipliers(NamedTuple):
    """What the bound of a cell was computed from, as `exact` writes it."""

    slope: Array
    """Of the lines below h; mu and t have an entry for each side of a cell, too, a and y for each value of what is hidden."""
    mu: Array
    t: Array
    a: Array
    y: Array
    nu: float | None = None
    """None for the best one, if nothing but the cell limits q."""


class Closed(NamedTuple):
    """A cell that was closed, with its bound."""

    low: Array
    high: Array
    bound: float
    by: Multipliers


@dataclass
class Examined:
    """What became of some cells."""

    open: list[tuple[Cells, Array]] = field(default_factory=list)
    """Cells to examine later, with the bounds of those that they were cut from."""
    closed: list[Closed] = field(default_factory=list)
    posteriors: list[Array] = field(default_factory=list)
    """Distributions of x that the bounds suggest as the lowest."""

    def cut(self, cells: Cells, bounds: Array) -> None:
        """Cells that are not closed."""
        self.open.append((cells, bounds))

    def close(self, closed: Iterable[Closed]) -> None:
        """Cells whose bounds reach the target."""
        self.closed += closed

    def met(self, Q: Array) -> None:
        """Distributions worth a look."""
        self.posteriors.append(Q)


class Relaxation(Protocol):
    """How the cells of one problem are bounded."""

    batch: int
    """Cells to examine at a time."""

    def root(self) -> Cells:
        """Cells that hold every q."""

    def values(self, Q: Array) -> tuple[Array, float]:
        """The function at the rows of Q, and what rounding may have done to it."""

    def descended(self, Q: Array) -> Array:
        """Distributions where it is lower."""

    def examine(self, cells: Cells, target: float) -> Examined:
        """Close cells, or cut them."""


@dataclass
class Searched:
    """How a search ended: the function is nowhere below ``proven``."""

    proven: float
    cells: int
    left: int
    """Cells still open."""
    seconds: float
    lowest: float
    """The least value met, and where:"""
    posterior: Array
    rounding: float
    """of that value."""
    closed: list[Closed]


def search(
    relaxation: Relaxation, target: float, seeds: Array, *, max_cells: int, max_seconds: float, firm: bool
) -> Searched:
    """Prove that a function of q is nowhere below the target; or meet a q where it is; or stop at a limit with what is proven.

    The cells with the lowest bounds come first. Unless ``firm``, the target is lowered to below whatever value is met.
    """
    began = time.perf_counter()
    cells, bounds = relaxation.root(), np.full(1, -np.inf)
    closed: list[Closed] = []
    seen, examined = _Lowest(relaxation), 0
    seen.look(seeds)
    while True:
        if above(target - seen.rounding, seen.value):
            if firm:
                break
            target = seen.value - max(1e-9, 0.01 * abs(seen.value))
        if not len(bounds) or examined >= max_cells or time.perf_counter() - began >= max_seconds:
            break
        order = np.argsort(bounds, kind="stable")
        first, rest = order[: relaxation.batch], order[relaxation.batch :]
        found = relaxation.examine(cells.of(first), target)
        examined += len(first)
        parts = [(cells.of(rest), bounds[rest]), *found.open]
        cells = Cells(*(np.concatenate(one) for one in zip(*(part for part, _ in parts), strict=True)))
        bounds = np.concatenate([bound for _, bound in parts])
        closed = sorted([*closed, *found.closed], key=lambda one: one.bound)[:TIGHTEST]
        seen.look(np.concatenate([np.empty((0, seeds.shape[1])), *found.posteriors]))
        if cells.low.size + cells.high.size + cells.hint.size > ROOM or np.isnan(bounds).any():
            break
    return Searched(
        proven=_proven(target, bounds),
        cells=examined,
        left=len(bounds),
        seconds=time.perf_counter() - began,
        lowest=seen.value,
        posterior=seen.posterior,
        rounding=seen.rounding,
        closed=closed,
    )


def _proven(target: float, bounds: Array) -> float:
    """The target if no cell is open, else the least of the open cells' bounds, if all are numbers."""
    if not np.isfinite(target) or not np.isfinite(bounds).all():
        return -np.inf
    return min(target, *bounds.tolist()) if len(bounds) else target


class _Lowest:
    """The lowest value met so far."""

    def __init__(self, relaxation: Relaxation) -> None:
        self.relaxation = relaxation
        self.value, self.rounding = np.inf, 0.0
        self.posterior: Array = np.empty(0)

    def look(self, Q: Array) -> None:
        """At the rows of Q; from the lowest of them, further down."""
        if not len(Q):
            return
        values, self.rounding = self.relaxation.values(Q)
        if self._take(values, Q):
            lower = self.relaxation.descended(self.posterior[None])
            self._take(self.relaxation.values(lower)[0], lower)

    def _take(self, values: Array, Q: Array) -> bool:
        """Whether one of them is lower; what is not a number is not."""
        lowest = int(np.where(np.isfinite(values), values, np.inf).argmin())
        lower = bool(values[lowest] < self.value)
        if lower:
            self.value, self.posterior = float(values[lowest]), Q[lowest]
        return lower
