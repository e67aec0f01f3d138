"""`sweep` and `Frontier`: every run of a grid of parameters, kept with its status; best runs and the Pareto set are views."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import scipy.sparse

from .errors import InvalidOptionError, PenaltyWarning
from .information import Array, bits
from .joint import Joint
from .problem import MarkovLagrangian
from .registry import resolve
from .solution import Solution
from .solve import block_length
from .solver import Run, Solver, Support
from .starts import Seed, make_starts, seed_sequence
from .stopping import Residuals, Status, Stopping

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Family = Callable[[float], MarkovLagrangian]
FORMAT = 1


@dataclass(frozen=True)
class SweepProgress:
    """What a progress callback sees after every parameter."""

    done: int
    total: int
    parameter: float
    best_loss: float
    converged: int
    runs: int


class Progress(Protocol):
    """A plain callback, for notebooks and services."""

    def __call__(self, progress: SweepProgress, /) -> object:
        """Called in the thread of `sweep` after every parameter."""


@dataclass(frozen=True)
class FrontierRun:
    """One run of a sweep: a parameter, a start, and where it ended; nats."""

    problem: MarkovLagrangian
    parameter: float
    start: int
    solver: str
    encoder: Array
    loss: float
    ixz: float
    iyz: float
    status: Status
    iterations: int
    seconds: float
    residuals: Residuals
    died: int
    lower_bound: float | None = None


class Frontier:
    """Runs on the information plane of one joint.

    Every run is there with its status (`to_frame`); `best` has the lowest loss of each parameter, `pareto` the runs that no
    other dominates. Rows are numbered, and `encoder(row)` and `solution(row)` take the number.
    """

    def __init__(self, joint: Joint, runs: Sequence[FrontierRun], *, complete: bool = True) -> None:
        self.joint = joint
        self.runs = tuple(runs)
        self.complete = complete
        """False if the sweep was interrupted: only the parameters that were finished are here."""

    def __len__(self) -> int:
        return len(self.runs)

    def __repr__(self) -> str:
        parameters = {run.parameter for run in self.runs}
        converged = sum(run.status.converged for run in self.runs)
        return f"Frontier({len(parameters)} parameters, {len(self)} runs, {converged} converged)"

    def __add__(self, other: Frontier) -> Frontier:
        """The runs of both, to be compared on one plane; the joints must be the same."""
        if other.joint != self.joint:
            raise InvalidOptionError("the two frontiers belong to different joints.")
        return Frontier(self.joint, self.runs + other.runs, complete=self.complete and other.complete)

    @property
    def hides_y(self) -> bool:
        """Whether low I(Y;Z) is good (the funnel) rather than bad (the bottleneck)."""
        return bool(self.runs) and self.runs[0].problem.rho_zy < 0

    def to_frame(self, rows: Sequence[int] | None = None) -> Any:
        """A pandas frame with a row a run; units in the column names."""
        import pandas as pd

        chosen = range(len(self)) if rows is None else rows
        return pd.DataFrame(
            [
                {
                    "parameter": run.parameter,
                    "start": run.start,
                    "solver": run.solver,
                    "loss_nats": run.loss,
                    "ixz_bits": bits(run.ixz),
                    "iyz_bits": bits(run.iyz),
                    "clusters": len(run.encoder),
                    "status": run.status.name,
                    "iterations": run.iterations,
                    "seconds": run.seconds,
                    "gap_nats": None if run.lower_bound is None else run.loss - run.lower_bound,
                }
                for run in (self.runs[row] for row in chosen)
            ],
            index=pd.Index(chosen, name="run"),
        )

    def best_rows(self) -> list[int]:
        """For each parameter the row with the lowest loss; among losses equal to 1e-9 nats, one that converged."""
        rows: dict[float, list[int]] = {}
        for row, run in enumerate(self.runs):
            rows.setdefault(run.parameter, []).append(row)
        return [self._lowest(rows[parameter]) for parameter in sorted(rows)]

    def _lowest(self, rows: list[int]) -> int:
        lowest = min(self.runs[row].loss for row in rows)
        near = [row for row in rows if self.runs[row].loss <= lowest + 1e-9]
        return min(near, key=lambda row: (not self.runs[row].status.converged, self.runs[row].loss))

    def best(self) -> Any:
        """The best run of each parameter, as a frame."""
        return self.to_frame(self.best_rows())

    def pareto_rows(self) -> list[int]:
        """Rows that no other dominates: for the bottleneck more I(Y;Z) at no more I(X;Z), for the funnel less I(Y;Z) at no less."""
        if not self.runs:
            return []
        sign = -1.0 if self.hides_y else 1.0
        order = sorted(range(len(self)), key=lambda row: (sign * self.runs[row].ixz, -sign * self.runs[row].iyz))
        kept: list[int] = []
        best = -np.inf
        for row in order:
            if sign * self.runs[row].iyz > best + 1e-12:
                kept.append(row)
                best = sign * self.runs[row].iyz
        return sorted(kept, key=lambda row: self.runs[row].ixz)

    def pareto(self) -> Any:
        """The non-dominated runs, as a frame in the order of I(X;Z)."""
        return self.to_frame(self.pareto_rows())

    def encoder(self, row: int) -> Array:
        """p(z|x) of a run."""
        return self.runs[row].encoder.copy()

    def solution(self, row: int) -> Solution:
        """A run as a `Solution` (without a trace: sweeps keep none)."""
        run = self.runs[row]
        return Solution(
            joint=self.joint,
            problem=run.problem,
            encoder=self.encoder(row),
            status=run.status,
            solver=run.solver,
            iterations=run.iterations,
            seconds=run.seconds,
            residuals=run.residuals,
            start=run.start,
            died=run.died,
            lower_bound=run.lower_bound,
        )

    def plot(self, ax: Axes | None = None) -> Axes:
        """The information plane: every run, the best of each parameter and the Pareto set; needs the extra [plot]."""
        from .plot import plot_plane

        return plot_plane(self, ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write everything to one .npz file, without pickle; the file appears only once it is whole."""
        write_whole(Path(path), lambda file: np.savez_compressed(file, **_to_arrays(self)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Frontier:
        """Read what `save` wrote; opening a file never executes anything."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            return _from_arrays(arrays)
        except FileNotFoundError:
            raise
        except (OSError, ValueError, LookupError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise InvalidOptionError(f"{os.fspath(path)} is not a frontier that infoplane saved: {error}.") from error


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
    progress: bool | Progress = False,
) -> Frontier:
    """Solve ``family(parameter)`` for every parameter, from every start, and keep all of it.

    Parameters
    ----------
    joint, family, parameters
        p(x, y); a function from a parameter to a problem, such as `bottleneck` or `funnel`; the grid.
    solver, clusters, starts, rng, max_iter, tol, init
        As in `solve`. Start i of a parameter depends on the seed, the parameter's place in the grid and i only.
    executor
        Where parameters run; default threads on all cores (kernels release the GIL). Results do not depend on it.
    progress
        True shows a bar on stderr; a callable gets a `SweepProgress` after every parameter.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 1, 4), starts=2, rng=0)
    >>> f
    Frontier(4 parameters, 8 runs, 8 converged)
    """
    grid = np.array(parameters, dtype=float)
    if grid.ndim != 1 or grid.size == 0:
        raise InvalidOptionError(f"parameters must be a non-empty list of numbers, found shape {grid.shape}.")
    stopping = Stopping(tol=tol, max_iter=max_iter)
    problems = [family(float(parameter)) for parameter in grid]
    chosen = resolve(solver, *problems)
    support = Support(joint)
    tasks = []
    for parameter, problem, seed in zip(grid, problems, seed_sequence(rng).spawn(len(grid)), strict=True):
        W = make_starts(joint, clusters, starts, seed, init)
        tasks.append((float(parameter), problem, W[:1] if chosen.deterministic else W))
    if sentence := chosen.caution(support, tasks[0][1], tasks[0][2][0]):
        warnings.warn(sentence, PenaltyWarning, stacklevel=2)
    stop = threading.Event()
    done: dict[int, list[FrontierRun]] = {}
    complete = True
    with _executor(executor) as pool, _listener(progress, len(tasks)) as tell:
        futures: dict[Future[list[FrontierRun]], int] = {
            pool.submit(_solve_parameter, chosen, support, task, stopping, stop): index
            for index, task in enumerate(tasks)
        }
        try:
            for future in as_completed(futures):
                runs = future.result()
                done[futures[future]] = runs
                if tell is not None:
                    tell(_told(done, futures[future], len(tasks)))
        except KeyboardInterrupt:
            complete = False
            stop.set()
            for future in futures:
                future.cancel()
    return Frontier(joint, [run for index in sorted(done) for run in done[index]], complete=complete)


def _solve_parameter(
    solver: Solver,
    support: Support,
    task: tuple[float, MarkovLagrangian, Array],
    stopping: Stopping,
    stop: threading.Event,
) -> list[FrontierRun]:
    """All starts of one parameter; a share of the batch's time by iterations is each run's own."""
    parameter, problem, W = task
    began = time.perf_counter()
    batch = solver.begin(support, [problem] * len(W), W, stopping, False)
    while batch.advance(block_length(W)) and not stop.is_set():
        pass
    runs = batch.runs()
    seconds = time.perf_counter() - began
    iterations = max(sum(run.iterations for run in runs), 1)
    return [
        _frontier_run(support, problem, parameter, start, solver, run, seconds * run.iterations / iterations)
        for start, run in enumerate(runs)
    ]


def _frontier_run(
    support: Support,
    problem: MarkovLagrangian,
    parameter: float,
    start: int,
    solver: Solver,
    run: Run,
    seconds: float,
) -> FrontierRun:
    solution = Solution(
        joint=support.joint,
        problem=problem,
        encoder=support.lift(run.encoder),
        status=run.status,
        solver=run.found_by or solver.name,
        iterations=run.iterations,
        seconds=seconds,
        residuals=run.residuals,
    )
    return FrontierRun(
        problem=problem,
        parameter=parameter,
        start=start,
        solver=solution.solver,
        encoder=solution.encoder,
        loss=solution.loss,
        ixz=solution.ixz,
        iyz=solution.iyz,
        status=run.status,
        iterations=run.iterations,
        seconds=seconds,
        residuals=run.residuals,
        died=run.died,
    )


def _told(done: dict[int, list[FrontierRun]], index: int, total: int) -> SweepProgress:
    runs = [run for one in done.values() for run in one]
    return SweepProgress(
        done=len(done),
        total=total,
        parameter=done[index][0].parameter,
        best_loss=min(run.loss for run in done[index]),
        converged=sum(run.status.converged for run in runs),
        runs=len(runs),
    )


@contextmanager
def _executor(executor: Executor | None) -> Iterator[Executor]:
    """The user's executor, left open; or threads on all cores, closed at the end."""
    if executor is not None:
        yield executor
        return
    with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
        yield pool


@contextmanager
def _listener(progress: bool | Progress, total: int) -> Iterator[Progress | None]:
    """The user's callback, a bar, or nothing."""
    if progress is False:
        yield None
    elif progress is True:
        from .progress import bar

        with bar(total) as tell:
            yield tell
    else:
        yield progress


def write_whole(path: Path, write: Callable[[Any], object]) -> None:
    """Write to a file beside ``path`` and move it there once whole, so that nobody ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private; a result is as readable as any other file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise


# -- the .npz format: numbers as arrays, everything else as one JSON text ----------------------------------------------


def _to_arrays(frontier: Frontier) -> dict[str, Any]:
    joint, runs = frontier.joint, frontier.runs
    P = scipy.sparse.coo_array(joint.p_xy)
    meta = {
        "format": FORMAT,
        "complete": frontier.complete,
        "shape": joint.shape,
        "sparse": joint.is_sparse,
        "x_labels": _plain(joint.x_labels),
        "y_labels": _plain(joint.y_labels),
        "x_names": list(joint.x_names),
        "y_names": list(joint.y_names),
        "families": [run.problem.family for run in runs],
        "problem_parameters": [run.problem.parameter for run in runs],
        "solvers": [run.solver for run in runs],
        "statuses": [run.status.name for run in runs],
        "lower_bounds": [run.lower_bound for run in runs],
    }
    return {
        "meta": np.array(json.dumps(meta)),
        "p_row": P.row.astype(np.int64),
        "p_column": P.col.astype(np.int64),
        "p_value": P.data,
        "rho": np.array([run.problem.rho for run in runs]).reshape(-1, 3),
        "numbers": np.array(
            [(run.parameter, run.loss, run.ixz, run.iyz, run.seconds, *run.residuals) for run in runs]
        ).reshape(-1, 8),
        "counts": np.array([(run.start, run.iterations, run.died, len(run.encoder)) for run in runs]).reshape(-1, 4),
        "encoders": np.concatenate([run.encoder for run in runs] or [np.empty((0, joint.shape[0]))]),
    }


def _from_arrays(arrays: dict[str, Any]) -> Frontier:
    meta = json.loads(str(arrays["meta"]))
    if meta["format"] != FORMAT:
        raise ValueError(f"its format is {meta['format']}, this version reads {FORMAT}")
    P = scipy.sparse.coo_array((arrays["p_value"], (arrays["p_row"], arrays["p_column"])), shape=tuple(meta["shape"]))
    joint = Joint.from_matrix(
        P.tocsr() if meta["sparse"] else P.toarray(),
        x_labels=_labels(meta["x_labels"]),
        y_labels=_labels(meta["y_labels"]),
        x_names=meta["x_names"],
        y_names=meta["y_names"],
    )
    rows = np.cumsum([0, *(int(count[3]) for count in arrays["counts"])])
    runs = [
        FrontierRun(
            problem=MarkovLagrangian(
                float(rho[0]), float(rho[1]), float(rho[2]), meta["families"][index], meta["problem_parameters"][index]
            ),
            parameter=float(numbers[0]),
            start=int(counts[0]),
            solver=meta["solvers"][index],
            encoder=arrays["encoders"][rows[index] : rows[index + 1]],
            loss=float(numbers[1]),
            ixz=float(numbers[2]),
            iyz=float(numbers[3]),
            status=Status[meta["statuses"][index]],
            iterations=int(counts[1]),
            seconds=float(numbers[4]),
            residuals=Residuals(*(float(r) for r in numbers[5:8])),
            died=int(counts[2]),
            lower_bound=meta["lower_bounds"][index],
        )
        for index, (rho, numbers, counts) in enumerate(
            zip(arrays["rho"], arrays["numbers"], arrays["counts"], strict=True)
        )
    ]
    return Frontier(joint, runs, complete=meta["complete"])


def _plain(label: Any) -> Any:
    """A label as JSON: tuples become {"tuple": [...]}, numpy scalars their Python value, what JSON has no word for its text."""
    if isinstance(label, tuple):
        return {"tuple": [_plain(one) for one in label]}
    if isinstance(label, np.generic):
        return _plain(label.item())
    return label if label is None or isinstance(label, (str, int, float, bool)) else str(label)


def _labels(plain: Any) -> Any:
    return tuple(_labels(one) for one in plain["tuple"]) if isinstance(plain, dict) else plain
