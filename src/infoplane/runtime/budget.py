"""The one budget: what a piece of work may take, what it has taken, and whether the user has asked for its end; the threads that work.

It is handed down from whoever is asked (`solve`, `certify`, a worker of a sweep) to whatever does the work. Ctrl-C, a callback that has
seen enough, or a sweep that ends call `stop`; what works hears of it in one of two ways:

- a loop that has something to show at every moment asks `over`, or `spent` if other limits end it too, and shows what it has;
- work that has nothing to show before its end calls `look`, which raises `Stopped`; whoever has an answer without it goes on from there.

Kernels that take long look at `flag` themselves. Limits other than these are counted in work, not in seconds, so that the same seed gives
the same bits on every machine.

Threads have one BLAS thread each. Kernels release the GIL, so the cores are busy already; a BLAS that starts threads of its own for
the small products inside an iteration makes them wait for each other, and everything several times slower.

Ctrl-C is heard in one place. Python hands signals to the main thread, between two of its own instructions. So what takes long runs in
other threads, and the main thread attends to it (`attended`): Ctrl-C stops their budget, and then what they have to show is the answer. A
signal that arrives just as the main thread goes to sleep does not wake it: it never sleeps for long.
"""

from __future__ import annotations

import functools
import math
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from queue import Empty, SimpleQueue
from typing import Any, Generic, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from ..checks import PYTHON_ONLY, positive_number, whole_number
from ..errors import InvalidOptionError
from .compiling import compiled_for

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
        """A budget for a part of the work, with some limits of its own; nothing of it is spent yet, and what stops one stops both.

        Its time ends with that of the whole, unless it has seconds of its own.
        """
        limits = {"seconds": self.seconds_left} | limits
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


MOUNTS = ("", "unified", "cpu", "cpu,cpuacct", "cpuacct,cpu")
"""Where control groups are mounted, below ``sys/fs/cgroup``: version 2 at the top or as ``unified``, version 1 by distribution."""


@functools.cache
def quota(root: Path = Path("/")) -> float:
    """Cores' worth of time that this process has, ceil(quota / period) of its control group; infinity where nothing limits it.

    A container with ``--cpus 2`` may run on all cores of its machine, but on all together no more than two cores' time in every period;
    threads beyond that only wait for one another. Version 2 of control groups writes "quota period" into ``cpu.max``, version 1 two numbers
    into two files. A group has no more than the groups around it, so all are read up to the root; a container sees its own group as the
    root, whatever path its processes are told. They are read once: whoever changes a quota starts the process again.
    """
    paths = {PurePosixPath()}
    with suppress(OSError, ValueError):
        for line in (root / "proc" / "self" / "cgroup").read_text(encoding="utf-8").splitlines():
            _, controllers, path = line.split(":", 2)
            paths |= {PurePosixPath(path.lstrip("/"))} if not controllers or "cpu" in controllers.split(",") else set()
    groups = {
        root / "sys" / "fs" / "cgroup" / top / one for top in MOUNTS for path in paths for one in (path, *path.parents)
    }
    least = min((share for folder in groups for share in _shares(folder)), default=math.inf)
    return max(1.0, float(math.ceil(least))) if math.isfinite(least) else math.inf


def _shares(folder: Path) -> Iterator[float]:
    """The limits of a control group, of version 2 or 1; "max", which is no number, and -1 are none."""
    for names in (("cpu.max",), ("cpu.cfs_quota_us", "cpu.cfs_period_us")):
        with suppress(OSError, ValueError):
            quota, period = map(int, " ".join((folder / name).read_text(encoding="utf-8") for name in names).split())
            if quota > 0 and period > 0:
                yield quota / period


_lock, _limited, _inside = threading.Lock(), ExitStack(), 0

VARIABLE = "INFOPLANE_THREADS"
"""The environment variable that says how many threads there are to be, where nothing else does."""

_asked: list[int] = []
"""Numbers of threads that were asked for, the innermost last."""


def cores() -> int:
    """Cores that this process may use, or as many threads as it was told.

    A batch system, a container's quota or `taskset` may leave it fewer than the machine has.
    """
    if _asked:
        return _asked[-1]
    if said := os.environ.get(VARIABLE):
        if not (said.isascii() and said.isdecimal() and int(said) > 0):
            raise InvalidOptionError(
                f"{VARIABLE} must be a whole number, at least 1; found {said!r}. Change or unset it."
            )
        return int(said)
    there = len(os.sched_getaffinity(0)) if sys.platform == "linux" else os.cpu_count() or 1
    return int(min(there, quota()))


@contextmanager
def limited_to(threads: int) -> Iterator[None]:
    """So many threads in here, whatever there are cores."""
    _asked.append(threads)
    try:
        yield
    finally:
        _asked.pop()


def all_cores() -> ThreadPoolExecutor:
    """A pool with one thread per core."""
    return ThreadPoolExecutor(cores())


def usual_floats() -> np.errstate:
    """numpy's own handling of overflow, underflow and the like, whatever the caller has set with ``np.seterr``."""
    return np.errstate(divide="warn", over="warn", under="ignore", invalid="warn")


@functools.cache
def _libraries() -> ThreadpoolController:
    """The libraries of NumPy and of compiled code that have threads. To look for them takes longer than to solve a small problem."""
    import scipy.linalg.cython_blas  # noqa: F401  the BLAS of compiled code; one that is loaded later would not be limited

    return ThreadpoolController()


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS on a single thread until the last caller has left this context: the setting belongs to the whole process."""
    global _inside
    with _lock:
        if _inside == 0:
            _limited.enter_context(_libraries().limit(limits=1, user_api="blas"))
        _inside += 1
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0:
                _limited.close()


# -- Ctrl-C --------------------------------------------------------------------------------------------------------------

_heard: list[int] = [signal.SIGINT]
"""Signals that end work as Ctrl-C does."""

_attended: list[Budget] = []
"""The budgets that Ctrl-C stops, the innermost last."""

_pressed: list[int] = []
"""The signals that came, in their order."""


def _stop_all(number: int, _frame: Any) -> None:
    _pressed.append(number)
    for budget in _attended:
        budget.stop()


@contextmanager
def heard_like_control_c(numbers: Sequence[int]) -> Iterator[None]:
    """In here these signals end work as Ctrl-C does; as with that, only where somebody handles them."""
    _heard.extend(numbers)
    try:
        yield
    finally:
        del _heard[len(_heard) - len(numbers) :]


@contextmanager
def stopped_by_control_c(budget: Budget) -> Iterator[None]:
    """In the main thread Ctrl-C stops the budget instead of raising KeyboardInterrupt.

    A handler that is the caller's own is called afterwards, with no frame. Nothing is changed where the signal is ignored.
    """
    handlers = {number: signal.getsignal(number) for number in _heard}
    before = {number: handler for number, handler in handlers.items() if callable(handler)}
    if threading.current_thread() is not threading.main_thread() or not before:
        yield
        return
    pressed = len(_pressed)
    _attended.append(budget)
    for number in before:
        signal.signal(number, _stop_all)
    try:
        yield
    finally:
        _attended.pop()
        for number, handler in before.items():
            signal.signal(number, handler)
    for number in dict.fromkeys(_pressed[pressed:]):
        if before[number] not in (signal.default_int_handler, _stop_all):
            before[number](number, None)


def attended(works: Sequence[Callable[[], Outcome]], budget: Budget) -> list[Outcome]:
    """The results of pieces of work, side by side in threads, in their order; each sees for itself whether the budget is stopped.

    What the threads report is passed on to the watch from here, that is in the caller's own thread.
    """
    watch = budget.watch
    with stopped_by_control_c(budget), all_cores() as pool:
        futures = [pool.submit(work) for work in works]
        if watch is not None:
            for future in futures:
                future.add_done_callback(watch.wake)
        going = True
        while going:
            try:
                if watch is not None:
                    watch.attend(budget, min(cores(), sum(not future.done() for future in futures)))
                going = bool(wait(futures, LOOK if watch is None else 0.0).not_done)
            except KeyboardInterrupt:  # from a callback
                budget.stop()
        return [future.result() for future in futures]


def attended_alone(work: Callable[[Budget], Outcome]) -> Outcome:
    """The result of one piece of work, in a budget of its own that Ctrl-C stops."""
    budget = Budget()
    with one_blas_thread():
        return attended([lambda: work(budget)], budget)[0]


Report = TypeVar("Report")


class Watch(Generic[Report]):
    """A callback of the user's, called in the thread that attends with what those that work report, all together; they wait for it."""

    def __init__(self, callback: Callable[[Report], object], joined: Callable[[Sequence[Report]], Report]) -> None:
        self.callback, self.joined = callback, joined
        self.reports: SimpleQueue[tuple[int, Report | None, threading.Event] | None] = SimpleQueue()
        self.latest: dict[int, Report] = {}
        self.waiting: list[tuple[int, Report | None, threading.Event]] = []

    def wake(self, _ended: object) -> None:
        """Nothing more to wait for."""
        self.reports.put(None)

    def tell(self, report: Report | None, budget: Budget) -> None:
        """From a thread that works: go on once the callback has been called. None: nothing new, but the work goes on."""
        heard = threading.Event()
        self.reports.put((threading.get_ident(), report, heard))
        while not heard.wait(LOOK):
            if budget.stopped:
                return

    def attend(self, budget: Budget, working: int) -> None:
        """From the thread that attends: call the callback once all threads that work have reported; a true result stops the budget."""
        with suppress(Empty):  # then who reported before may be all that still work, since another has just ended
            if (told := self.reports.get(timeout=LOOK)) is not None:
                self.waiting.append(told)
        if not self.waiting or len(self.waiting) < working:
            return
        self.latest.update({thread: report for thread, report, _ in self.waiting if report is not None})
        try:
            if self.callback(self.joined(list(self.latest.values()))):
                budget.stop()
        except BaseException:
            budget.stop()
            raise
        finally:
            for _, _, heard in self.waiting:
                heard.set()
            self.waiting = []
