"""`sweep`: a whole frontier in one call, on all cores or on a cluster, that can be killed and resumed."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, contextmanager

import numpy as np

from ..checks import positive_number, whole_number
from ..errors import InvalidOptionError, PenaltyWarning
from ..frontier.frontier import Frontier
from ..information import Array
from ..joint.joint import Joint
from ..problem import MarkovLagrangian
from ..solvers.base import Solver
from ..solvers.registry import resolve_with_proof
from ..solvers.starts import Seed, default_init, make_starts, seed_sequence
from ..solvers.stopping import Stopping
from ..threads import one_blas_thread
from .engine import CHUNK_SECONDS, Engine, completed, opened
from .ledger import Book, Memory, Tally, places_done
from .plan import Grid, Plan
from .plan import Seed as Root
from .progress import BETWEEN, Bar, Progress, SweepProgress, bar
from .store.reader import seed_of
from .store.writer import Store

__all__ = ["SweepProgress", "sweep"]

Family = Callable[[float], MarkovLagrangian]


def sweep(
    joint: Joint,
    family: Family,
    parameters: Sequence[float] | Array,
    solver: Solver | str | None = None,
    *,
    clusters: int | None = None,
    starts: int = 16,
    rng: Seed = None,
    max_iter: int = 20_000,
    tol: float = 1e-8,
    init: str | Array | None = None,
    executor: Executor | None = None,
    engine: str | None = None,
    store: str | os.PathLike[str] | None = None,
    certify: bool | float = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    points: int | None = None,
    progress: bool | Progress = False,
    chunk_seconds: float = CHUNK_SECONDS,
) -> Frontier:
    """Solve ``family(parameter)`` for every parameter, from every start, and keep all of it.

    Parameters
    ----------
    joint, family, parameters
        p(x, y); a function from a parameter to a problem, such as `bottleneck` or `funnel`; the grid.
    solver, clusters, starts, rng, max_iter, tol, init
        As in `solve`. Start i of a parameter depends on the seed, the parameter's place in the grid and i only: results are
        the same to the bit whatever the engine, the number of its workers and of resumes.
    executor, engine
        Where runs go: threads on all cores (kernels release the GIL); any `concurrent.futures.Executor`; or ``"dask"`` (the client in
        use, else a cluster of this machine's cores) and ``"dask:ADDRESS"``, with the extra [dask].
    store
        A file, such as ``"runs.db"``, that every finished chunk of runs is written to. The same call with the same store
        continues where an earlier one ended, whatever ended it; with ``rng=None`` it takes the store's seed. The store keeps the
        encoders of the best run of each parameter and solver, and the numbers of all.
    certify
        True, or a gap in nats: prove lower bounds along the grid, as in `solve`. Without a solver the certifying one runs alone.
    max_cells, max_seconds
        With ``certify``: when to stop proving, for each parameter, if not by default.
    points
        So many parameters, spaced evenly along the curve: they are inserted into the grid where the curve is long. There are fewer
        in the end where it jumps.
    progress
        True shows a bar on stderr; a callable gets a `SweepProgress` after every parameter, and every 100 runs in between.
    chunk_seconds
        About how long a worker is left alone with a chunk of runs, and how much of its work a kill can undo.

    Returns
    -------
    Frontier
        Every run; after Ctrl-C those of the parameters that were finished, and ``complete`` is False.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 1, 4))
    Frontier(4 parameters, 4 runs, 4 converged)
    >>> ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 1, 4), "ib-1", starts=2, rng=0)
    Frontier(4 parameters, 8 runs, 8 converged)
    """
    values = np.array(parameters, dtype=float)
    if values.ndim != 1 or values.size == 0:
        raise InvalidOptionError(f"parameters must be a non-empty list of numbers, found shape {values.shape}.")
    if points is not None and (points := whole_number("points", points)) < values.size:
        raise InvalidOptionError(f"points must be a whole number, at least the grid's {values.size}; found {points!r}.")
    chunk_seconds = positive_number("chunk_seconds", chunk_seconds)
    grid = Grid(family, values.tolist(), points)
    problems = list(grid.problems.values())
    chosen, proof = resolve_with_proof(
        solver, *problems, certify=certify, max_cells=max_cells, max_seconds=max_seconds, along_a_path=True
    )
    solvers = (chosen,) if proof is None or chosen is proof else (chosen, proof)
    init = default_init(problems[0]) if init is None else init
    # One start is enough to refuse options that are none.
    W = make_starts(joint, clusters, starts, seed_sequence(0), init, first_only=True)
    plan = Plan(
        joint=joint,
        solvers=solvers,
        stopping=Stopping(tol=tol, max_iter=max_iter),
        seed=(seed_of(store) if store is not None and rng is None else None) or Root.of(seed_sequence(rng)),
        starts=int(starts),
        clusters=None if clusters is None else int(clusters),
        init=init,
        gap=None if proof is None else proof.tol,
    )
    if sentence := plan.solvers[0].caution(plan.support, problems[0], W[0]):
        warnings.warn(sentence, PenaltyWarning, stacklevel=2)
    with ExitStack() as stack:
        workers = stack.enter_context(opened(executor, engine))
        book: Book = Memory(plan, grid)
        if store is not None:
            book = stack.enter_context(Store(store, plan, grid, workers.name))
        stack.enter_context(one_blas_thread())
        tell = stack.enter_context(_listener(progress, grid.total))
        complete = True
        try:
            _run(plan, grid, book, workers, tell, chunk_seconds)
        except KeyboardInterrupt:
            complete = False
        return book.frontier(complete)


def _run(plan: Plan, grid: Grid, book: Book, workers: Engine, tell: Progress | None, chunk_seconds: float) -> None:
    """Round after round, until there is nothing left to insert; the first is the grid as given."""
    told = Account(plan, grid, book.tally)
    places = grid.given
    while places:
        units = [unit for unit in plan.units(places) if not book.has(unit)]
        chunks = completed(workers, plan, grid.problems, units, seconds=chunk_seconds, begin=book.begin)
        with closing(chunks):
            for number, chunk in chunks:
                book.record(number, chunk)
                if tell is not None:
                    _tell(tell, told, [one.place for one in chunk.results])
        places = grid.refined(book.tally.plane_of)


class Account:
    """What a callback is told from: the tally, since when, and what was there before."""

    def __init__(self, plan: Plan, grid: Grid, tally: Tally) -> None:
        self.plan, self.grid, self.tally = plan, grid, tally
        self.began, self.before = time.perf_counter(), tally.runs
        self.done = len(places_done(plan, grid, tally))
        self.heard = tally.runs


def _tell(tell: Progress, account: Account, places: list[int]) -> None:
    """After a chunk with runs at these places: once for each that is now done; if there is none, a bar, or those who wait long."""
    tally, full = account.tally, account.plan.runs_a_place
    ended = [place for place in dict.fromkeys(places) if tally.at_place[place] == full]
    for place in ended:
        account.done += 1
        tell(_told(account, place))
    if places and not ended and (isinstance(tell, Bar) or tally.runs - account.heard >= BETWEEN):
        tell(_told(account, places[-1]))


def _told(account: Account, place: int) -> SweepProgress:
    grid, tally = account.grid, account.tally
    account.heard = tally.runs
    seconds = time.perf_counter() - account.began
    return SweepProgress(
        done=account.done,
        total=grid.total,
        parameter=grid.values[place],
        best_loss=tally.best(place).loss,
        converged=tally.converged,
        runs=tally.runs,
        total_runs=grid.total * account.plan.runs_a_place,
        seconds=seconds,
        rate=(tally.runs - account.before) / max(seconds, 1e-9),
    )


@contextmanager
def _listener(progress: bool | Progress, total: int) -> Iterator[Progress | None]:
    """The user's callback, a bar, or nothing."""
    if progress is False:
        yield None
    elif progress is True:
        with bar(total) as tell:
            yield tell
    else:
        yield progress
