"""`sweep`: a whole frontier in one call, on all cores or on a cluster, that can be killed; `resume` goes on with the sweep of a store."""

from __future__ import annotations

import math
import os
import time
import warnings
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack, closing, nullcontext
from dataclasses import replace
from typing import Any

import numpy as np

from ..checks import check_callable, numbers, positive_number, whole_number
from ..errors import InvalidOptionError, PenaltyWarning
from ..frontier.frontier import Frontier
from ..information import Array
from ..joint.joint import Joint
from ..joint.task_joint import TaskJoint
from ..problem import (
    MarkovLagrangian,
    ProblemFamily,
    as_joint,
    bottleneck,
    check_family,
    check_problem,
    has_roles,
    is_task,
    record_for_grid,
    record_of,
    siblings,
)
from ..runtime.budget import one_blas_thread
from ..sampling.denoising import sampled
from ..solve import runner_and_prover
from ..solvers.base import KINDS, Solver, default_init, make_starts, most_clusters, seed_sequence
from ..solvers.job import ProofOptions, RunOptions, Seed, takes
from ..solvers.registry import SOLVERS
from ..storage.files import path_of, problem_of
from ..storage.store import Store, read_manifest
from ..task_problem import TASK_GRID, family_on
from .engine import CHUNK_SECONDS, Engine, Ledger, completed, manifest_of, opened
from .grid import default_grid
from .plan import ChunkResult, ParameterGrid, Plan
from .progress import BETWEEN, Bar, ProgressCallback, SweepProgress, bar, working


@takes(RunOptions, ProofOptions)
def sweep(
    joint: Joint | TaskJoint,
    family: ProblemFamily,
    parameters: Sequence[float] | Array | None = None,
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
    progress: bool | ProgressCallback = False,
    chunk_seconds: float = CHUNK_SECONDS,
    notation: str = "gamma",
    sample: str = "table",
) -> Frontier:
    """Solve ``family(parameter)`` for every parameter, from every start, and keep every run.

    Start i of a parameter depends on the seed, the parameter's index in the grid and i only: results are the same to the bit whatever the
    engine, the number of its workers and of resumes.

    Parameters
    ----------
    joint, family, parameters
        p(x, y); a family such as `bottleneck` or `funnel`, or any function from a parameter to a problem; the grid. A family needs none: 16
        parameters (20 for the funnel), or ``points``, are spaced along the curve, from where the trade-off begins to where 99% of I(X;Y)
        is kept or hidden.
    solver
        A solver object, a registered name, or None for the default.
    {RunOptions}
    {ProofOptions}
    executor, engine
        Where runs go: threads on all cores (kernels release the GIL); any `concurrent.futures.Executor`; or ``"dask"`` (the client in
        use, else a cluster of this machine's cores) and ``"dask:ADDRESS"``, with the extra [dask].
    store
        A file, such as ``"runs.db"``, that every finished chunk of runs is written to. The same call with the same store
        continues where an earlier one ended, whatever ended it; with ``rng=None`` it takes the store's seed. The store keeps the
        encoders and traces of the best runs of each parameter and solver, encoders that are better at another parameter, and the numbers
        of all.
    points
        So many parameters, spaced evenly along the curve: they are inserted into the grid where the curve is long. There are fewer
        in the end where it jumps. With ``certify``, they are inserted where the curve is least well enclosed instead
        (`Frontier.enclosure`), and there are fewer once it is known as well as the proofs were asked for.
    progress
        True shows a bar on stderr; a callable gets a `SweepProgress` after every parameter, and every 100 runs in between.
    chunk_seconds
        About how long a worker is left alone with a chunk of runs, and how much of its work a kill can undo.
    notation
        ``"beta"``: the parameters of a bottleneck are betas, each of which means gamma = 1/beta. The frontier is the same.
    sample
        ``"table"`` takes the joint as it is; ``"denoised"`` takes what its records support, `Joint.denoised`.

    Returns
    -------
    Frontier
        Every run, the best of each parameter and solver with its trace; after Ctrl-C those of the parameters that were finished, and
        ``complete`` is False.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 1, 4))
    Frontier(4 parameters, 4 runs, 4 converged)
    >>> ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 1, 4), "ib-1", starts=2, rng=0)
    Frontier(4 parameters, 8 runs, 8 converged)
    """
    check_family(family)
    record = record_of(family)
    # A function of one's own says by its problems what it is a family of: it is asked below, in the notation that is meant.
    of_tasks = is_task(record) if record is not None or parameters is None else has_roles(joint)
    joint = as_joint(joint, tasks=of_tasks)
    joint = joint if sample == "table" else sampled(joint, sample)
    chunk_seconds = positive_number("chunk_seconds", chunk_seconds)
    if not isinstance(progress, bool):
        check_callable("progress", progress)
    grid = _grid(joint, family, parameters, points, notation, progress is True)
    problems = list(grid.problems.values())
    as_joint(joint, tasks=is_task(problems[0]))
    letters = int(joint.support()[0].sum())
    options = RunOptions(clusters, starts, None, max_iter, tol, default_init(problems[0]) if init is None else init)
    most = most_clusters(letters, options.clusters, init)
    asked = ProofOptions(certify, max_cells, max_seconds)
    chosen, proof = runner_and_prover(solver, problems, asked, along_a_path=True, capped=most < letters)
    solvers = (chosen,) if proof is None or chosen is proof else (chosen, proof)
    # One start is enough to refuse options that are none.
    W = make_starts(joint, options.clusters, options.starts, seed_sequence(0), options.init, first_only=True)
    plan = Plan(
        joint=joint,
        solvers=solvers,
        options=options,
        seed=_seed(store, rng),
        cap=most,
        gap=None if proof is None else proof.tol,
        proof=asked,
    )
    for one in plan.solvers:
        if sentence := one.caution(plan.support, problems[0], W[0]):
            warnings.warn(sentence, PenaltyWarning, stacklevel=2)
    with ExitStack() as stack:
        workers = stack.enter_context(opened(executor, engine))
        kept = None if store is None else Store(store, manifest_of(plan, grid), plan.support)
        ledger = Ledger(plan, grid, None if kept is None else stack.enter_context(kept))
        stack.enter_context(one_blas_thread())
        callback = stack.enter_context(bar(grid.total)) if progress is True else progress or None
        complete = True
        try:
            _run(ledger, workers, callback, chunk_seconds)
        except KeyboardInterrupt:
            complete = False
        return ledger.frontier(complete)


def _seed(store: str | os.PathLike[str] | None, rng: Seed) -> np.random.SeedSequence:
    """The seed that was given; without one, that of a store which is there already, else a new one."""
    if store is None or rng is not None or not path_of("store", store).exists():
        return seed_sequence(rng)
    manifest, _ = read_manifest(store)
    return np.random.SeedSequence(manifest["seed"], spawn_key=manifest["spawn_key"])


def _grid(
    joint: Joint,
    family: ProblemFamily,
    parameters: Sequence[float] | Array | None,
    points: int | None,
    notation: str,
    show: bool,
) -> ParameterGrid:
    """The parameters as gammas or betas of the family, with their problems; those of the default grid, if none are given."""
    if is_task(record_of(family)):
        family = family_on(joint, family)
        parameters = TASK_GRID if parameters is None else parameters
    if parameters is None:
        points = record_for_grid(family).points if points is None else whole_number("points", points)
        assert points is not None  # every family with a parameter has a number of points
        with working("range of the grid") if show else nullcontext() as tell:
            parameters = default_grid(joint, family, points, tell)
        notation = "gamma"
    values = numbers("parameters", parameters)
    if points is not None and (points := whole_number("points", points)) < values.size:
        raise InvalidOptionError(f"points must be a whole number, at least the grid's {values.size}; found {points!r}.")
    if notation != "gamma":
        values = _in_gamma(family, values, notation)
    grid = ParameterGrid(family, values.tolist(), points)
    for problem in grid.problems.values():
        check_problem(problem)
    return grid


def _in_gamma(family: ProblemFamily, values: Array, notation: str) -> Array:
    """Parameters that are written as betas; whether a plain function takes gammas is read off the problem at the first of them."""
    found = record_of(family)
    if found is None:
        check_problem(first := family(bottleneck.notation(notation).read(float(values[0]))))
        found = first.record
    written = found.notation(notation)
    return np.array([written.read(value) for value in values.tolist()])


def _run(ledger: Ledger, workers: Engine, callback: ProgressCallback | None, chunk_seconds: float) -> None:
    """Round after round, until there is nothing left to insert; the first is the grid as given."""
    reporter = None if callback is None else ProgressReporter(callback, ledger)
    indices = ledger.grid.given
    while indices:
        units = [unit for unit in ledger.plan.units(indices) if not ledger.has(unit)]
        with closing(completed(workers, ledger, units, seconds=chunk_seconds)) as chunks:
            for number, result in chunks:
                ledger.record(number, result)
                if reporter is not None:
                    reporter.report(result)
        indices = ledger.grid.refined(ledger.best, ledger.bounds, ledger.plan.gap)


class ProgressReporter:
    """Calls the callback: after every parameter that is finished, and every `BETWEEN` runs in between; a bar after every chunk."""

    def __init__(self, callback: ProgressCallback, ledger: Ledger) -> None:
        self.callback, self.ledger, self.began = callback, ledger, time.perf_counter()
        self.runs_before = self.runs_reported = len(ledger.done)
        self.each, self.eager = ledger.plan.runs_per_parameter, isinstance(callback, Bar)
        self.done = sum(count == self.each for count in ledger.runs_at.values())

    def report(self, result: ChunkResult) -> None:
        """After a chunk was recorded."""
        indices = list(dict.fromkeys(one.index for one in result.records))
        ended = [index for index in indices if self.ledger.runs_at[index] == self.each]
        for index in ended:
            self.done += 1
            self._call(index)
        if indices and not ended and (self.eager or len(self.ledger.done) - self.runs_reported >= BETWEEN):
            self._call(indices[-1])

    def _call(self, index: int) -> None:
        ledger, seconds = self.ledger, time.perf_counter() - self.began
        runs, total = len(ledger.done), ledger.grid.total
        self.runs_reported = runs
        self.callback(
            SweepProgress(
                done=self.done,
                total=total,
                parameter=ledger.grid.values[index],
                best_loss=ledger.best(index).loss,
                converged=ledger.converged,
                runs=runs,
                total_runs=total * self.each,
                seconds=seconds,
                rate=(runs - self.runs_before) / max(seconds, 1e-9),
            )
        )


def resume(
    store: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    engine: str | None = None,
    progress: bool | ProgressCallback = False,
) -> Frontier:
    """Go on with the sweep that a store was begun with, whatever ended it; a complete one is read.

    Joint, problems, grid, solver, options and seed are those of the call that made the store. It must have been made with a registered
    solver and with starts that `init` names; else repeat that call.

    Parameters
    ----------
    store
        The file.
    executor, engine, progress
        As in `sweep`; they may differ from those of the first call.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], store=f"{folder}/runs.db", rng=0)
    ...     ip.resume(f"{folder}/runs.db")
    Frontier(2 parameters, 2 runs, 2 converged)
    """
    manifest, joint = read_manifest(store)
    if manifest["init"] not in KINDS:
        raise InvalidOptionError(
            f"{os.fspath(store)} was begun from encoders of its own, of which it keeps no copy: repeat the call that made it."
        )
    return sweep(
        joint,
        family_of_manifest(manifest),
        np.array(manifest["grid"]),
        _solver(manifest),
        starts=manifest["starts"],
        max_iter=manifest["max_iter"],
        tol=manifest["tol"],
        init=manifest["init"],
        points=manifest["points"],
        store=store,
        executor=executor,
        engine=engine,
        progress=progress,
        **manifest["asked"],
    )


def family_of_manifest(manifest: Mapping[str, Any]) -> ProblemFamily:
    """From a parameter to a problem: those of the grid as recorded, those that refinement inserts as members of the same family."""
    problems = {
        value: problem_of(rho, manifest["family"], parameter)
        for value, (parameter, *rho) in zip(manifest["grid"], manifest["problems"], strict=True)
    }
    # What else a sweep has varied, such as 1/gamma, leads to no other member.
    by_parameter = all(one.parameter == value and one.record.has(one) for value, one in problems.items())
    make = siblings(next(iter(problems.values()))).make if by_parameter else None

    def family(parameter: float) -> MarkovLagrangian:
        if parameter not in problems and make is None:
            raise InvalidOptionError("the family of this store has no name: repeat the call that made it.")
        return problems[parameter] if make is None or parameter in problems else make(parameter)

    return family


def _solver(manifest: Mapping[str, Any]) -> Solver:
    name, options = manifest["solver"], manifest["options"]
    if name not in SOLVERS:
        raise InvalidOptionError(
            f"there is no solver {name!r}: register it first (--plugin), or repeat the call that made the store."
        )
    # Infinity was written as text.
    options = {key: math.inf if value == "inf" else value for key, value in options.items()}
    return replace(SOLVERS[name], **options) if options else SOLVERS[name]  # type: ignore[type-var]
