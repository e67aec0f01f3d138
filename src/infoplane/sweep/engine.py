"""Where chunks run, threads of this process, any `concurrent.futures.Executor`, or a Dask cluster; and where their runs are written down.

A chunk takes about a second, so that handing it over costs little; towards the end chunks become smaller, so that all workers end
together. Its size follows the time that units took so far, and changes no result: see `plan`. The `Ledger`
keeps runs in memory, or in a store on disk.
"""

from __future__ import annotations

import math
import signal
import time
import uuid
import warnings
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Executor,
    Future,
    ThreadPoolExecutor,
    wait,
)
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from ..checks import extra
from ..errors import InfoplaneError, InvalidOptionError, NoWorkerWarning
from ..frontier.frontier import Frontier
from ..information import Array
from ..runtime.budget import LOOK, Budget, all_cores, cores
from ..solution import Solution, Trace, finished
from ..storage.store import Key, Manifest, RunRecord, Store, contending, readable
from ..version import __version__
from .plan import BUDGETS, Chunk, ChunkResult, ParameterGrid, Plan, Problems, Unit, identity, run_chunk

CHUNK_SECONDS = 1.0
"""Of work in one chunk, about: what a killed sweep may lose per worker, and far more than it costs to send and to write down."""

WAITING_SECONDS = 1.0
"""Between two looks at chunks that take long, such as a path of many large encoders; and until Ctrl-C is heard, at the latest."""

AHEAD = 2
"""Chunks per worker: one that it runs, one that waits, so that it is never idle while the results of another are written down."""

SMALLEST = 0.1
"""Share of a chunk's seconds below which none is cut, even at the end: smaller ones cost more to send than they spread the work."""

WORKERLESS_SECONDS = 60.0
"""Without any worker, until a sweep ends: about what a batch system that has room takes to start one."""


class EngineError(InfoplaneError, RuntimeError):
    """Workers were lost for good (``resumable``, if there is a store), or a cluster cannot be reached."""

    def __init__(self, message: str, *, resumable: bool = False) -> None:
        super().__init__(message)
        self.resumable = resumable


@dataclass(frozen=True)
class Engine:
    """An executor, and how many chunks it runs at a time."""

    name: str
    pool: Executor
    workers: Callable[[], int]

    @property
    def is_here(self) -> bool:
        """Whether its workers are threads of this process, which see its stop events."""
        return isinstance(self.pool, ThreadPoolExecutor)


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
    plan: Plan,
    problems: Problems,
    units: Sequence[Unit],
    *,
    seconds: float = CHUNK_SECONDS,
    begin: Callable[[Sequence[Unit]], int] = len,
    lowest: Callable[[int, int], float] = lambda _solver, _index: math.inf,
    waiting: Callable[[], object] | None = None,
) -> Generator[tuple[int, ChunkResult]]:
    """Run the units; yield the result of each chunk as it ends, with the number that ``begin`` gave it.

    ``lowest`` says what loss a solver has reached at a parameter so far; workers record the traces of runs that reach it. ``waiting`` is
    called every second in which no chunk ends.

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
                chunk = _cut(queue, pace.size(queue[0].solver, len(queue), workers), problems, lowest)
                number = begin(chunk.units)
                running[_submitted(engine, plan, chunk, budget_name)] = number, chunk
            ended, _ = wait(running, WAITING_SECONDS, return_when=FIRST_COMPLETED)
            if not ended and waiting is not None:
                waiting()
            for future in ended:
                number, chunk = running.pop(future)
                result = _result(future)
                check_identity(getattr(result, "made_by", ""), "a worker")
                pace.learn(chunk, result.seconds)
                yield number, result
    finally:
        BUDGETS[budget_name].stop()
        for future in running:
            future.cancel()
        if engine.is_here:
            wait(running)
        del BUDGETS[budget_name]


def _cut(queue: deque[Unit], size: int, problems: Problems, lowest: Callable[[int, int], float]) -> Chunk:
    """The next units of one solver, at most ``size``."""
    units = [queue.popleft()]
    while queue and len(units) < size and queue[0].solver == units[0].solver:
        units.append(queue.popleft())
    indices = dict.fromkeys(index for unit in units for index in unit.indices)
    solver = units[0].solver
    known = {(solver, index): loss for index in indices if (loss := lowest(solver, index)) < math.inf}
    return Chunk(tuple(units), {index: problems[index] for index in indices}, known)


def _submitted(engine: Engine, plan: Plan, chunk: Chunk, budget_name: str) -> Future[ChunkResult]:
    try:
        return engine.pool.submit(run_chunk, plan, chunk, budget_name)
    except (BrokenExecutor, RuntimeError) as error:
        raise _lost(error) from error


def _result(future: Future[ChunkResult]) -> ChunkResult:
    try:
        return future.result()
    except (BrokenExecutor, CancelledError) as error:
        raise _lost(error) from error
    except Exception as error:
        if type(error).__module__.partition(".")[0] == "distributed":
            raise _lost(error) from error
        raise


def _lost(error: BaseException) -> EngineError:
    message = f"{type(error).__name__}: {error}".rstrip(": ")
    return EngineError(
        f"the workers of this sweep were lost ({message}). With a store, repeat the call once they are back.",
        resumable=True,
    )


# -- which engine ------------------------------------------------------------------------------------------------------


@contextmanager
def opened(executor: Executor | None, engine: str | None) -> Iterator[Engine]:
    """The engine that was asked for: an executor of the caller's stays open, what was started here is closed at the end."""
    if executor is not None and engine is not None:
        raise InvalidOptionError(f"executor and engine both say where to run; leave one out (found engine={engine!r}).")
    if executor is not None:
        if not isinstance(executor, Executor):
            raise InvalidOptionError(f"executor must be a concurrent.futures.Executor, found {executor!r}.")
        yield _of_executor(executor)
    elif engine is None or (isinstance(engine, str) and engine == "threads"):
        with all_cores() as pool:
            yield Engine("threads", pool, cores)
    elif engine == "dask" or (isinstance(engine, str) and engine.startswith("dask:")):
        with _client(engine.partition(":")[2]) as client:
            yield _of_client(engine, client, client.get_executor(pure=False))
    else:
        raise InvalidOptionError(f"engine must be 'threads', 'dask' or 'dask:ADDRESS', found {engine!r}.")


def _of_executor(executor: Executor) -> Engine:
    """An executor of the caller's; one of Dask's is asked how many workers its client has."""
    name = type(executor).__name__
    if type(executor).__module__.partition(".")[0] == "distributed":
        return _of_client(name, executor._client, executor)  # type: ignore[attr-defined]
    size = int(getattr(executor, "_max_workers", None) or cores())
    return Engine(name, executor, lambda: size)


def _of_client(name: str, client: Any, pool: Executor) -> Engine:
    """A Dask client's executor, once it has a worker."""

    def workers() -> int:
        try:
            return sum(client.nthreads().values())
        except (OSError, RuntimeError) as error:  # the scheduler is gone
            raise _lost(error) from error

    attendance = Attendance()
    while not attendance.checked(workers()):
        time.sleep(LOOK)
    refuse_other_versions(client)
    return Engine(name, pool, workers)


@contextmanager
def _client(address: str) -> Iterator[Any]:
    """A Dask client: of the scheduler at an address, else the one in use, else of a cluster of this machine's cores."""
    distributed = extra("distributed", 'engine="dask" needs dask.distributed', "dask")
    if address:
        with _connected(distributed, address) as client:
            yield client
    elif (current := _current(distributed)) is not None:
        yield current
    else:
        with (
            distributed.LocalCluster(
                n_workers=cores(), threads_per_worker=1, dashboard_address="127.0.0.1:0"
            ) as cluster,
            distributed.Client(cluster) as client,
        ):
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


def _current(distributed: Any) -> Any:
    try:
        return distributed.default_client()
    except ValueError:
        return None


def _connected(distributed: Any, address: str) -> Any:
    try:
        return distributed.Client(address, timeout=10)
    except (OSError, ValueError) as error:
        raise EngineError(f"no Dask scheduler answers at {address}: {error}.") from error


class Tally:
    """Counts and best runs, whatever the order in which runs are added."""

    def __init__(self) -> None:
        self.runs = 0
        self.converged = 0
        self.runs_at: Counter[int] = Counter()
        """Runs of each parameter, by its index."""
        self.bounds: dict[int, float] = {}
        """The best lower bound that was proven of each parameter, by its index."""
        self._contenders: defaultdict[int, dict[int, list[RunRecord]]] = defaultdict(dict)

    def add(self, record: RunRecord) -> None:
        """One more run."""
        self.runs += 1
        self.converged += record.status.converged
        self.runs_at[record.index] += 1
        if record.lower_bound is not None:
            self.bounds[record.index] = max(record.lower_bound, self.bounds.get(record.index, record.lower_bound))
        by_solver = self._contenders[record.index]
        by_solver[record.solver] = contending([*by_solver.get(record.solver, ()), record.without_run()])

    def kept(self, index: int) -> set[Key]:
        """Keys of the runs at a parameter that are, or may yet be, the best of their solver."""
        return {one.key for one in self._at(index)}

    def lowest(self, solver: int, index: int) -> float:
        """The lowest loss of a solver at a parameter; infinite before its first run."""
        return min((one.loss for one in self._contenders[index].get(solver, ())), default=math.inf)

    def best(self, index: int) -> RunRecord:
        """The best run at a parameter, by the rule of `best_of`."""
        return contending(self._at(index))[-1]

    def plane_of(self, index: int) -> tuple[float, float]:
        """I(X;Z) and I(Y;Z) of the best run at a parameter."""
        best = self.best(index)
        return best.ixz, best.iyz

    def _at(self, index: int) -> list[RunRecord]:
        return [one for records in self._contenders[index].values() for one in records]


def finished_indices(plan: Plan, grid: ParameterGrid, runs_at: Mapping[int, int]) -> list[int]:
    """The parameters that have all their runs, by the number of runs that each has; in the order of rows."""
    return [index for index in grid.order if runs_at.get(index, 0) == plan.runs_per_parameter]


def manifest_of(plan: Plan, grid: ParameterGrid) -> Manifest:
    """What is run, as JSON values: what two calls must share to be calls of the same sweep; and how clusters were asked for."""
    return {
        "version": __version__,
        **grid.described(),
        **plan.described(),
        "runs_a_place": plan.runs_per_parameter,
        "asked": {"clusters": plan.options.clusters},
    }


def best_bounded(runs: Sequence[Solution], gap: float) -> list[Solution]:
    """The runs, each with the highest lower bound that was proven for its parameter, if one was; CERTIFIED if within ``gap`` of it."""
    bounds: dict[float, tuple[float, Array | None]] = {}
    for run in runs:
        if run.lower_bound is not None and run.lower_bound > bounds.get(run.parameter, (-math.inf, None))[0]:
            bounds[run.parameter] = run.lower_bound, run.multipliers
    found = ((run, *bounds.get(run.parameter, (None, None))) for run in runs)
    return [run if bound is None else run.bounded(bound, gap, multipliers) for run, bound, multipliers in found]


class Ledger:
    """Where the runs of a sweep are written down: every run with its encoder, and the traces of the best, as long as the process lives."""

    def __init__(self, plan: Plan, grid: ParameterGrid) -> None:
        self.plan, self.grid = plan, grid
        self.tally = Tally()
        """Of every run recorded, by this call or by an earlier one."""
        self.done: set[Key] = set()
        self.runs: dict[Key, Solution] = {}
        self.traces: defaultdict[int, dict[Key, Trace]] = defaultdict(dict)
        """By the parameter's index, then by run."""

    def has(self, unit: Unit) -> bool:
        """Whether the runs of a unit are there."""
        return (unit.indices[0], unit.solver, unit.start) in self.done

    def count(self, records: Sequence[RunRecord]) -> None:
        """Take note of runs that are, or are about to be, written down."""
        for one in records:
            self.tally.add(one)
            self.done.add(one.key)

    def begin(self, units: Sequence[Unit]) -> int:
        """A chunk goes to a worker; the number that it gets."""
        return len(units)

    def record(self, _number: int, result: ChunkResult) -> None:
        """The chunk's runs; when this returns, they are safe."""
        self.count(result.records)
        for one in result.records:
            if one.trace is not None:
                self.traces[one.index][one.key] = one.trace
            self.runs[one.key] = finished(
                self.plan.support,
                self.grid.problems[one.index],
                replace(one.ended, trace=None),
                seconds=one.seconds,
                parameter=self.grid.values[one.index],
                start=one.start,
                cluster_cap=self.plan.cluster_caps[one.solver],
            )
        for index in {one.index for one in result.records}:
            kept = self.tally.kept(index)
            self.traces[index] = {key: trace for key, trace in self.traces[index].items() if key in kept}

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are finished; where bounds were asked for, each run has its parameter's."""
        # By the runs that are there: Ctrl-C may have come between a run's place in the tally and its place among them.
        indices = finished_indices(self.plan, self.grid, Counter(index for index, *_ in self.runs))
        found: dict[int, list[Solution]] = {index: [] for index in indices}
        for key in sorted(self.runs):
            if key[0] in found:
                trace = self.traces[key[0]].get(key)
                found[key[0]].append(self.runs[key] if trace is None else replace(self.runs[key], trace=trace))
        runs = [run for index in found for run in found[index]]
        runs = runs if self.plan.gap is None else best_bounded(runs, self.plan.gap)
        provenance = readable(manifest_of(self.plan, self.grid), self.grid.values)
        return Frontier(self.plan.joint, runs, complete=complete, provenance=provenance)


class StoreLedger(Ledger):
    """The same in an open `Store`: what is recorded survives whatever ends the process."""

    def __init__(self, store: Store, plan: Plan, grid: ParameterGrid) -> None:
        super().__init__(plan, grid)
        self.store = store
        self.count(store.records)

    def begin(self, units: Sequence[Unit]) -> int:
        """As there; noted, so that `store_status` can say what is under way."""
        return self.store.begin(units, self.grid.values, self.grid.problems)

    def record(self, number: int, result: ChunkResult) -> None:
        """The chunk's runs; once this returns, they are on the disk."""
        self.count(result.records)
        indices = {one.index for one in result.records}
        kept = set().union(*(self.tally.kept(index) for index in indices))
        self.store.record(number, result.seconds, result.records, kept)

    def frontier(self, complete: bool) -> Frontier:
        """All runs of the parameters that are finished, by the disk: Ctrl-C may have undone a chunk that the tally knows."""
        return self.store.frontier(complete)
