"""Where chunks run, threads of this process, any `concurrent.futures.Executor`, or a Dask cluster; and where their runs are written down.

A chunk takes about a second, so that handing it over costs little; towards the end chunks become smaller, so that all workers end
together. Its size follows the time that units took so far, and changes no result: see `plan`. The `Ledger` keeps runs in memory, or in a
store on disk.
"""

from __future__ import annotations

import math
import signal
import time
import uuid
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from typing import Any

from ..checks import extra
from ..errors import InfoplaneError, InvalidOptionError, NoWorkerWarning
from ..frontier.frontier import Frontier
from ..runtime.budget import LOOK, Budget, all_cores, cores
from ..solution import Solution, finished
from ..storage.files import to_json
from ..storage.store import Key, Manifest, RunRecord, Store, assembled, contending
from ..version import __version__
from .plan import BUDGETS, Chunk, ChunkResult, ParameterGrid, Plan, Unit, identity, run_chunk

CHUNK_SECONDS = 1.0
"""Of work in one chunk, about: what a killed sweep may lose per worker, and far more than it costs to send and to write down."""

WAITING_SECONDS = 1.0
"""Until Ctrl-C is heard, at the latest, and between two looks at whether anybody works."""

AHEAD = 2
"""Chunks per worker: one that it runs, one that waits, so that it is never idle while the results of another are written down."""

SMALLEST = 0.1
"""Share of a chunk's seconds below which none is cut, even at the end: smaller ones cost more to send than they spread the work."""

WORKERLESS_SECONDS = 60.0
"""Without any worker, until a sweep ends: about what a batch system with a free node takes to start one."""


class EngineError(InfoplaneError, RuntimeError):
    """Workers were lost for good (``resumable``, if there is a store), or a cluster cannot be reached."""

    def __init__(self, message: str, *, resumable: bool = False) -> None:
        super().__init__(message)
        self.resumable = resumable


@dataclass(frozen=True)
class Engine:
    """An executor, and how many chunks it runs at a time."""

    pool: Executor
    workers: Callable[[], int]


@dataclass
class Pace:
    """How many units make up a chunk of the seconds asked for, from the time that units took lately."""

    seconds: float
    unit_seconds: dict[int, float] = field(default_factory=dict)

    def size(self, solver: int, left: int, workers: int) -> int:
        """Units for the next chunk of a solver, ``left`` being still to do; one as long as nothing is known."""
        if solver not in self.unit_seconds:
            return 1
        full = self.seconds / max(self.unit_seconds[solver], 1e-9)
        return max(1, int(min(full, max(left / (AHEAD * workers), SMALLEST * full))))

    def learn(self, chunk: Chunk, seconds: float) -> None:
        """Take note of how long a chunk took."""
        solver, latest = chunk.units[0].solver, seconds / len(chunk.units)
        self.unit_seconds[solver] = (self.unit_seconds.get(solver, latest) + latest) / 2


class Attendance:
    """Whether anybody works: a scheduler without a worker takes chunks all the same, and waits for ever."""

    def __init__(self) -> None:
        self.alone_since = math.inf

    def checked(self, workers: int) -> int:
        """The number given; if it is 0 a warning, and an `EngineError` once it has been 0 for `WORKERLESS_SECONDS`."""
        now = time.monotonic()
        if workers:
            self.alone_since = math.inf
        elif self.alone_since == math.inf:
            self.alone_since = now
            warnings.warn(
                f"the cluster has no worker: waiting {WORKERLESS_SECONDS:g} s for one.", NoWorkerWarning, stacklevel=2
            )
        elif now - self.alone_since >= WORKERLESS_SECONDS:
            raise EngineError(
                f"the cluster had no worker for {WORKERLESS_SECONDS:g} s. Start one, such as `dask worker ADDRESS --nthreads 1`, and "
                "repeat the call; with a store it goes on from what was finished.",
                resumable=True,
            )
        return workers


def completed(
    engine: Engine,
    ledger: Ledger,
    units: Sequence[Unit],
    *,
    seconds: float = CHUNK_SECONDS,
) -> Generator[tuple[int, ChunkResult]]:
    """Run the units; yield the result of each chunk as it ends, with the number that the ledger gave it when it began.

    Closing the iterator, as an exception or Ctrl-C in its caller does, ends the work: chunks that wait are cancelled, those under way
    in threads of this process are stopped.
    """
    queue, running, pace = deque(units), dict[Future[ChunkResult], tuple[int, Chunk]](), Pace(seconds)
    attendance = Attendance()
    budget_name = uuid.uuid4().hex
    BUDGETS[budget_name] = Budget()
    try:
        while queue or running:
            workers = max(attendance.checked(engine.workers()), 1)
            while queue and len(running) < AHEAD * workers:
                chunk = _cut(queue, pace.size(queue[0].solver, len(queue), workers), ledger)
                number = ledger.begin(chunk.units)
                with _losses(RuntimeError):
                    running[engine.pool.submit(run_chunk, ledger.plan, chunk, budget_name)] = number, chunk
            ended, _ = wait(running, WAITING_SECONDS, return_when=FIRST_COMPLETED)
            for future in ended:
                number, chunk = running.pop(future)
                with _losses(BrokenExecutor, CancelledError):
                    result = future.result()
                check_identity(result.made_by, "a worker")
                pace.learn(chunk, result.seconds)
                yield number, result
    finally:
        BUDGETS[budget_name].stop()
        for future in running:
            future.cancel()
        if isinstance(engine.pool, ThreadPoolExecutor):  # threads of this process, which see that they are to stop
            wait(running)
        del BUDGETS[budget_name]


def _cut(queue: deque[Unit], size: int, ledger: Ledger) -> Chunk:
    """The next units of one solver, at most ``size``."""
    units = [queue.popleft()]
    while queue and len(units) < size and queue[0].solver == units[0].solver:
        units.append(queue.popleft())
    indices = dict.fromkeys(index for unit in units for index in unit.indices)
    solver = units[0].solver
    known = {(solver, index): loss for index in indices if (loss := ledger.lowest(solver, index)) < math.inf}
    return Chunk(tuple(units), {index: ledger.grid.problems[index] for index in indices}, known)


@contextmanager
def _losses(*kinds: type[Exception]) -> Iterator[None]:
    """Such errors, and Dask's own, as an `EngineError`: workers were lost."""
    try:
        yield
    except Exception as error:
        if not isinstance(error, kinds) and type(error).__module__.partition(".")[0] != "distributed":
            raise
        message = f"{type(error).__name__}: {error}".rstrip(": ")
        raise EngineError(
            f"the workers of this sweep were lost ({message}). With a store, repeat the call once they are back.",
            resumable=True,
        ) from error


# -- which engine ------------------------------------------------------------------------------------------------------


@contextmanager
def opened(executor: Executor | None, engine: str | None) -> Iterator[Engine]:
    """The engine that was asked for: an executor of the caller's stays open, what was started here is closed at the end."""
    if executor is not None and engine is not None:
        raise InvalidOptionError(f"executor and engine both say where to run; leave one out (found engine={engine!r}).")
    if executor is not None:
        if not isinstance(executor, Executor):
            raise InvalidOptionError(f"executor must be a concurrent.futures.Executor, found {executor!r}.")
        if type(executor).__module__.partition(".")[0] == "distributed":
            yield _of_client(executor._client, executor)  # type: ignore[attr-defined]
        else:
            size = int(getattr(executor, "_max_workers", None) or cores())
            yield Engine(executor, lambda: size)
    elif engine is None or (isinstance(engine, str) and engine == "threads"):
        with all_cores() as pool:
            yield Engine(pool, cores)
    elif engine == "dask" or (isinstance(engine, str) and engine.startswith("dask:")):
        with _client(engine.partition(":")[2]) as client:
            yield _of_client(client, client.get_executor(pure=False))
    else:
        raise InvalidOptionError(f"engine must be 'threads', 'dask' or 'dask:ADDRESS', found {engine!r}.")


def _of_client(client: Any, pool: Executor) -> Engine:
    """A Dask client's executor, once it has a worker."""

    def workers() -> int:
        with _losses(OSError, RuntimeError):  # the scheduler is gone
            return sum(client.nthreads().values())

    attendance = Attendance()
    while not attendance.checked(workers()):
        time.sleep(LOOK)
    refuse_other_versions(client)
    return Engine(pool, workers)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A Dask client: of the scheduler at an address, else the one in use, else of a cluster of this machine's cores."""
    distributed = extra("distributed", 'engine="dask" needs dask.distributed', "dask")
    if address:
        try:
            connected = distributed.Client(address, timeout=10)
        except (OSError, ValueError) as error:
            raise EngineError(f"no Dask scheduler answers at {address}: {error}.") from error
        with connected as client:
            yield client
        return
    current = None
    with suppress(ValueError):
        current = distributed.default_client()
    if current is not None:
        yield current
        return
    here = distributed.LocalCluster(n_workers=cores(), threads_per_worker=1, dashboard_address="127.0.0.1:0")
    with here as cluster, distributed.Client(cluster) as client:
        client.run(_ignore_signals)
        yield client


def refuse_other_versions(client: Any) -> None:
    """Before any work; workers that come later are found out by their first result."""
    for worker, theirs in client.run(identity, on_error="return").items():
        check_identity(theirs if isinstance(theirs, str) else "", f"the worker at {worker}")


def check_identity(theirs: str, who: str) -> None:
    """An `EngineError` that names both if a worker has another infoplane than this process: its numbers would be stored as ours."""
    if theirs != identity():
        raise EngineError(
            f"{who} has infoplane {theirs or 'of a version that cannot say which'}, and this process {identity()}: numbers need not be the "
            "same. Install the same infoplane on every worker, and start it again."
        )


def _ignore_signals() -> None:
    """What a terminal sends to all processes at once is for the one that made these workers, which then ends them."""
    for sent in (signal.SIGINT, getattr(signal, "SIGHUP", signal.SIGINT)):
        signal.signal(sent, signal.SIG_IGN)


# -- what is known of a sweep -------------------------------------------------------------------------------------------


def manifest_of(plan: Plan, grid: ParameterGrid) -> Manifest:
    """What is run, as JSON values: what two calls must share to be calls of the same sweep; and options as they were given."""
    return {
        "version": __version__,
        **grid.described(),
        **plan.described(),
        "runs_per_parameter": plan.runs_per_parameter,
        "asked": {"clusters": plan.options.clusters, **to_json(vars(plan.proof), nonfinite=float)},
    }


class Ledger:
    """What is known of a sweep: counts and best runs, whatever the order in which runs end; and every run, the best with their traces.

    In an open `Store`, what is recorded survives whatever ends the process.
    """

    def __init__(self, plan: Plan, grid: ParameterGrid, store: Store | None = None) -> None:
        self.plan, self.grid, self.store = plan, grid, store
        self.done: set[Key] = set()
        """The runs that were recorded, by this call or by an earlier one."""
        self.converged = 0
        self.runs_at: Counter[int] = Counter()
        """Runs of each parameter, by its index."""
        self.bounds: dict[int, float] = {}
        """The best lower bound that was proven of each parameter, by its index."""
        self._contenders: defaultdict[int, dict[int, list[RunRecord]]] = defaultdict(dict)
        """By index and solver; in a store, those that are better at another parameter too, as others have the encoders of all runs."""
        self._solutions: defaultdict[int, dict[Key, Solution]] = defaultdict(dict)
        """By index; in a store they are on the disk instead."""
        if store is not None:
            self.count(store.records)

    def count(self, records: Sequence[RunRecord]) -> None:
        """Take note of runs that are, or are about to be, written down."""
        new: defaultdict[tuple[int, int], list[RunRecord]] = defaultdict(list)
        for one in records:
            self.done.add(one.key)
            self.converged += one.run.status.converged
            self.runs_at[one.index] += 1
            if (bound := one.run.lower_bound) is not None:
                self.bounds[one.index] = max(bound, self.bounds.get(one.index, bound))
            new[one.index, one.solver].append(one.to_compare())
        for (index, solver), runs in new.items():
            known = [*self._contenders[index].get(solver, ()), *runs]
            best = contending(known)
            better = [] if self.store is None else self.grid.better_elsewhere(index, best, known)
            self._contenders[index][solver] = [*better, *best]

    def has(self, unit: Unit) -> bool:
        """Whether the runs of a unit are there."""
        return (unit.indices[0], unit.solver, unit.start) in self.done

    def contenders(self, index: int) -> list[RunRecord]:
        """The runs at a parameter that are, or may yet be, the best of their solver."""
        return [one for records in self._contenders[index].values() for one in records]

    def best(self, index: int) -> RunRecord:
        """The best run at a parameter, by the rule of `best_of`."""
        return contending(self.contenders(index))[-1]

    def lowest(self, solver: int, index: int) -> float:
        """The lowest loss of a solver at a parameter; infinite before its first run."""
        return min((one.loss for one in self._contenders[index].get(solver, ())), default=math.inf)

    def begin(self, units: Sequence[Unit]) -> int:
        """A chunk goes to a worker; the number that it gets."""
        return len(units) if self.store is None else self.store.begin(units, self.grid.values, self.grid.problems)

    def record(self, number: int, result: ChunkResult) -> None:
        """The chunk's runs; when this returns, they are safe."""
        self.count(result.records)
        indices = {one.index for one in result.records}
        of_solvers = [runs for index in indices for runs in self._contenders[index].values()]
        traced = {one.key for runs in of_solvers for one in contending(runs)}
        if self.store is not None:
            encoders = {one.key for runs in of_solvers for one in runs}
            self.store.record(number, result.records, {"encoders": encoders, "traces": traced})
            return
        for one in result.records:
            self._solutions[one.index][one.key] = finished(
                self.plan.support,
                self.grid.problems[one.index],
                one.run,
                seconds=one.run.seconds or 0.0,
                parameter=self.grid.values[one.index],
                start=one.start,
                cluster_cap=self.plan.cluster_caps[one.solver],
            )
        for index in indices:
            for key, run in self._solutions[index].items():
                if run.trace is not None and key not in traced:
                    self._solutions[index][key] = replace(run, trace=None)

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are finished; where bounds were asked for, each run has its parameter's."""
        if self.store is not None:  # by the disk: Ctrl-C may have undone a chunk that was counted
            return self.store.frontier(complete)
        # By the runs that are there: Ctrl-C may have come after a run was counted, and before it was kept.
        found = {index: [runs[key] for key in sorted(runs)] for index, runs in self._solutions.items()}
        values = dict(enumerate(self.grid.values))
        return assembled(self.plan.joint, manifest_of(self.plan, self.grid), values, found, complete)
