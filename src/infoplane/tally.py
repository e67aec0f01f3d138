"""What is known of a sweep's runs so far: how many there are, how many converged, and which is the best at each place."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import NamedTuple

TIE = 1e-9
"""Losses this close, in nats, are equal; then a run that converged is better than one that did not."""


class Standing(NamedTuple):
    """A run in the order of merit: by loss, then by solver and start, so that no two are equal."""

    loss: float
    solver: int
    start: int
    ixz: float
    iyz: float
    converged: bool


class Tally:
    """Counts and best runs, whatever the order in which runs are added."""

    def __init__(self) -> None:
        self.runs = 0
        self.converged = 0
        self.at_place: Counter[int] = Counter()
        # Of each place and solver the lowest loss, and the lowest that converged: the best in the end is one of the two.
        self._lowest: defaultdict[int, dict[int, Standing]] = defaultdict(dict)
        self._converged: defaultdict[int, dict[int, Standing]] = defaultdict(dict)

    def add(self, place: int, run: Standing) -> None:
        """One more run."""
        self.runs += 1
        self.converged += run.converged
        self.at_place[place] += 1
        for table in (self._lowest, self._converged) if run.converged else (self._lowest,):
            table[place][run.solver] = min(run, table[place].get(run.solver, run))

    def kept(self, place: int) -> set[tuple[int, int]]:
        """(solver, start) of the runs at a place that are, or may yet be, the best of their solver."""
        return {(run.solver, run.start) for table in (self._lowest, self._converged) for run in table[place].values()}

    def best(self, place: int) -> Standing:
        """The lowest loss at a place; among losses equal to `TIE`, the lowest that converged."""
        lowest = min(self._lowest[place].values())
        return min((run for run in self._converged[place].values() if run.loss <= lowest.loss + TIE), default=lowest)
