"""The one budget: what a piece of work may take, what it has taken, and whether the user has asked for its end.

It is handed down from whoever is asked (`solve`, `certify`, a worker of a sweep) to whatever does the work. Ctrl-C, a callback that has
seen enough, or a sweep that ends call `stop`; what works hears of it in one of two ways:

- a loop that has something to show at every moment asks `over`, or `spent` if other limits end it too, and shows what it has;
- work that has nothing to show before its end calls `look`, which raises `Stopped`; whoever has an answer without it goes on from there.

Kernels that take long look at `flag` themselves. Limits other than these are counted in work, not in seconds, so that the same seed gives
the same bits on every machine.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..checks import PYTHON_ONLY, positive_number, whole_number
from .compiling import compiled_for

if TYPE_CHECKING:
    from .threads import Watch

Outcome = TypeVar("Outcome")

LOOK = 0.05
"""Seconds for which a thread sleeps that waits for another: then it looks at its budget, and the main thread hears of signals."""

FEWEST = 100
"""Iterations that every budget of work holds."""

ITERATIONS = 20_000
"""Iterations of a run, unless the caller says another number."""


def clock() -> float:
    """Seconds, as by `time.perf_counter`, less those of the compiler: by this clock a proof is not cut short by it."""
    return time.perf_counter() - sum(list(compiled_for.values()))


def own_clock() -> float:
    """The same for work in this thread alone, less what it had compiled itself: by this clock no run pays for those that come after it."""
    return time.perf_counter() - compiled_for.get(threading.get_ident(), 0.0)


class Stopped(Exception):
    """The user has asked for an end, or the time is up, and this work has nothing to show yet."""


@dataclass
class Budget:
    """Limits, and what was spent of them."""

    iterations: int = ITERATIONS
    """Of every run; linear programmes, where those are what is repeated."""
    work: float = math.inf
    """Operations of a run, where its iterations would take more."""
    cells: float = math.inf
    """Of branch and bound."""
    seconds: float = math.inf
    """Time of compilation does not count."""
    flag: Any = field(default_factory=lambda: np.zeros(1, dtype=np.int64), repr=False)
    """Not 0 once the user has asked for an end: one array for all parts of a budget."""
    watch: Watch[Any] | None = field(default=None, repr=False)
    """Who is told how far the work has come."""
    began: float = field(default_factory=clock)
    cells_spent: int = 0
    rounds_spent: int = 0

    def part(self, **limits: Any) -> Budget:
        """A budget for a part of the work, with some limits of its own; nothing of it is spent yet, and what stops one stops both."""
        return replace(self, began=clock(), cells_spent=0, rounds_spent=0, **limits)

    def stop(self) -> None:
        """Ask for the end of everything that has this budget or a part of it."""
        self.flag[0] = 1

    @property
    def stopped(self) -> bool:
        """Whether the user has asked for an end."""
        return bool(self.flag[0])

    @property
    def over(self) -> bool:
        """Whether the user has asked for an end, or the time is up."""
        return self.stopped or (self.seconds < math.inf and self.seconds_spent >= self.seconds)

    def look(self) -> None:
        """Raise `Stopped` if the user has asked for an end, or the time is up."""
        if self.over:
            raise Stopped

    def tell(self) -> None:
        """Whoever watches is told that the work goes on, by work that has no report of its own."""
        if self.watch is not None:
            self.watch.tell(None, self)

    @property
    def seconds_spent(self) -> float:
        """Time since the beginning, that of compilation not counted."""
        return clock() - self.began

    @property
    def seconds_left(self) -> float:
        """Until the limit."""
        return self.seconds - self.seconds_spent

    @property
    def spent(self) -> bool:
        """Whether a limit has been reached, or the user has asked for an end."""
        return self.cells_spent >= self.cells or self.rounds_spent >= self.iterations or self.over

    def affordable(self, each: float) -> int:
        """Iterations of so many operations each: as many as are allowed, and as the work holds, but `FEWEST` of them at least."""
        return int(min(self.iterations, max(FEWEST, self.work / max(each, 1.0))))

    def awaited(self, work: Callable[[], Outcome]) -> Outcome:
        """The result of work that cannot be interrupted, done in a thread of its own; `Stopped` as soon as there is to be an end.

        The work itself then goes on to its end, and its result is thrown away; a process that ends does not wait for it.
        """
        ended = Future[Outcome]()

        def run() -> None:
            try:
                ended.set_result(work())
            except BaseException as error:
                ended.set_exception(error)

        self.look()
        threading.Thread(target=run, daemon=True).start()
        while not wait([ended], LOOK).done:
            self.look()
        return ended.result()


@dataclass(frozen=True)
class Limits:
    """When a proof is good enough, and when to stop without one: whatever ends the search, the bound proven so far is valid.

    Parameters
    ----------
    tol
        Gap between loss and lower bound, in nats, that counts as certified. (On the command line ``--certify`` gives it.)
    max_cells
        Most cells that branch and bound may open, for each parameter.
    max_seconds
        Most seconds that a proof may take, for each parameter.
    """

    tol: float = field(default=1e-6, metadata=PYTHON_ONLY)
    max_cells: int = 20_000_000
    max_seconds: float = 60.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", positive_number("the certificate's tol", self.tol))
        object.__setattr__(self, "max_cells", whole_number("max_cells", self.max_cells))
        object.__setattr__(self, "max_seconds", positive_number("max_seconds", self.max_seconds, finite=False))

    def budget(self, whole: Budget | None = None) -> Budget:
        """These limits as a budget, or as a part of one."""
        return (whole or Budget()).part(cells=self.max_cells, seconds=self.max_seconds)
