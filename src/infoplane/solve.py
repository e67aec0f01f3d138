"""`solve`: the best of several starts, with the status of every one."""

from __future__ import annotations

import math
import threading
import time
import warnings
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from .checks import check_callable, whole_number
from .errors import PenaltyWarning
from .information import Array
from .joint.joint import check_joint
from .joint.support import Support
from .problem import check_problem
from .solution import TIE, Run, Solution, StartSummary, best_of, finished
from .solvers.base import Batch, BlockPace, PathBatch, Solver, is_path, losses_of
from .solvers.registry import resolve_with_proof
from .solvers.soundness import sound
from .solvers.starts import Seed, default_clusters, default_init, make_starts, most_clusters, seed_sequence
from .solvers.stopping import Stopping
from .status import Status
from .threads import StopFlag, all_cores, cores, one_blas_thread, results, stopped_by, usual_floats

if TYPE_CHECKING:
    from .joint.joint import Joint
    from .problem import MarkovLagrangian


BATCH_ENTRIES, MOST_ENTRIES = 4_000, 1_000_000
"""Encoder entries of one batch, about, as long as all starts together have no more than the second."""


@dataclass(frozen=True)
class Progress:
    """What a callback sees between blocks of iterations: nats."""

    iterations: int
    """Most iterations that any run has done."""
    runs: int
    running: int
    best_loss: float


Callback = Callable[[Progress], object]


def solve(
    joint: Joint,
    problem: MarkovLagrangian,
    solver: Solver | str | None = None,
    *,
    clusters: int | None = None,
    starts: int = 16,
    rng: Seed = None,
    max_iter: int = 20_000,
    tol: float = 1e-8,
    init: str | Array | None = None,
    certify: bool | float = False,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    callback: Callback | None = None,
) -> Solution:
    """Minimise rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) over encoders p(z|x).

    Parameters
    ----------
    joint, problem
        p(x, y), and what to minimise.
    solver
        A solver object, a registered name, or None for the default.
    clusters
        The most clusters that the answer may have. By default the default solver finds the number itself, up to |X| or to what fits
        into memory (`starts.ENCODER_BYTES`); other solvers begin with |X|, or 64 or more if X has more letters. Clusters may die on
        the way: `Solution.died`. `Solution.at_cap` says whether the number was held back.
    starts
        How many starts, at most: the default solver makes fewer where they would cost more than its budget. The best result is returned, a
        converged one before any other of equal loss (to 1e-9).
    rng
        Seed or numpy Generator. The same seed gives the same bits, whatever the number of threads.
    max_iter, tol
        Iterations per start; residuals that count as stationary.
    init
        Where runs begin: ``"mixed"`` (one near-identity start, the others random), ``"random"`` (all random, as in the paper),
        ``"identity"`` (the near-identity start alone), ``"spread"`` (random mixtures of the two), or an array of encoders,
        (|Z|, |X|) or (starts, |Z|, |X|). None is ``"spread"`` where H(Z|Y) has a negative weight, as in the funnel, else ``"mixed"``.
    certify
        True, or a gap in nats: prove the answer optimal to that gap. Without a solver the certifying one (`Envelope` or `Columns`) runs
        alone, with no random start. A solver that proves itself is asked once: True keeps its own tolerance, a number replaces it. With
        any other solver, its best run is where the proof begins, and a better encoder that the proof finds replaces it. True is 1e-6.
    max_cells, max_seconds
        With ``certify``: limits of the proof, in place of the defaults. The bound reached by then is valid all the same.
    callback
        Called with a `Progress` at least every 200 iterations; a true result stops the run, as Ctrl-C does: the best so far is returned.

    Returns
    -------
    Solution
        The final iterate of the best run, its status, residuals and trace.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(gamma=0.2), starts=4, rng=0)
    >>> s.status.name
    'STATIONARY'
    """
    began = time.perf_counter()
    check_joint(joint)
    check_problem(problem)
    if callback is not None:
        check_callable("callback", callback)
    support = Support(joint)
    letters = len(support.p_x)
    most = most_clusters(letters, clusters, init)
    chosen, proof = resolve_with_proof(
        solver, problem, certify=certify, max_cells=max_cells, max_seconds=max_seconds, capped=most < letters
    )
    stopping = Stopping(tol=tol, max_iter=max_iter, clusters=most)
    kind = default_init(problem) if init is None else init
    starts = whole_number("starts", starts)
    with one_blas_thread(), usual_floats():
        rows = default_clusters(letters, len(support.p_y)) if clusters is None else most
        useful = chosen.useful_starts(support, problem, rows, starts)
        # A solver without random starts gives the same bits every time, asked for or not.
        seed = seed_sequence(0 if rng is None and chosen.deterministic else rng)
        W = make_starts(joint, clusters, useful, seed, kind, first_only=chosen.deterministic)
        cap = cluster_cap(chosen, stopping, W)
        begun = _begin(chosen, support, problem, W, stopping)
        del W  # large, and of no further use
        found, interrupted = _best_of(begun, support, problem, callback, began, cap, stopping)
        if not found.solver:  # a solver of the user's need not say its name in every run
            found = replace(found, solver=chosen.name)
        if proof is None or chosen is proof or interrupted:
            return found
        warm = np.ascontiguousarray(found.encoder[None][:, :, support.x])
        begun = _begin(proof, support, problem, warm, stopping)
        proven, _ = _best_of(begun, support, problem, callback, began, cap, stopping)
    if proven.lower_bound is None:
        return found
    better = replace(proven, starts=found.starts, start=found.start) if proven.loss < found.loss - TIE else found
    return better.bounded(proven.lower_bound, proof.tol, proven.multipliers)


def cluster_cap(solver: Solver, stopping: Stopping, starts: Array) -> int | None:
    """The cap on |Z| that a solver's answers are under; None if they may have a cluster for every letter."""
    letters = starts.shape[2]
    most = stopping.most_clusters(letters) if solver.grows else starts.shape[1]
    return most if most < letters else None


def _begin(solver: Solver, support: Support, problem: MarkovLagrangian, W: Array, stopping: Stopping) -> list[Batch]:
    """Batches for the starts W."""
    if sentence := solver.caution(support, problem, W[0]):
        warnings.warn(sentence, PenaltyWarning, stacklevel=3)
    # A path solver needs all its starts in one batch; otherwise each core gets a share of them, in parts: those that wait for a core
    # when Ctrl-C is pressed do not begin. Large encoders stay together, since every batch has tables of its own.
    count = max(cores(), W.size // BATCH_ENTRIES if W.size <= MOST_ENTRIES else 0)
    parts = np.array_split(W, 1 if is_path(solver) else min(len(W), count))
    return [solver.begin(support, [problem] * len(part), part, stopping, True) for part in parts]


def _best_of(
    batches: list[Batch],
    support: Support,
    problem: MarkovLagrangian,
    callback: Callback | None,
    began: float,
    cap: int | None,
    stopping: Stopping,
) -> tuple[Solution, bool]:
    """The best run, and whether the user or the callback stopped the runs early."""
    with all_cores() as pool:
        interrupted = not _drive(batches, pool, callback, support, problem)
    for batch in batches:
        if interrupted and isinstance(batch, PathBatch):
            batch.stop()
    runs = sound(support, problem, stopping, (run for batch in batches for run in batch.runs()))
    if not runs:
        raise KeyboardInterrupt  # a path solver has nothing to show before its first problem has ended
    return best_solution(support, problem, runs, time.perf_counter() - began, cap), interrupted


def _drive(
    batches: list[Batch],
    pool: ThreadPoolExecutor,
    callback: Callback | None,
    support: Support,
    problem: MarkovLagrangian,
) -> bool:
    """Advance until every run has ended; False if the callback or the user stops them earlier."""
    going, flag = [(BlockPace(), batch) for batch in batches], StopFlag()

    working, changed = 0, threading.Condition()

    def advance(pace: BlockPace, batch: Batch) -> bool:
        nonlocal working
        with changed:
            if flag.is_set():
                return False
            working += 1
        try:
            with stopped_by(flag):
                return pace.advance(batch)
        finally:
            with changed:
                working -= 1
                changed.notify_all()

    try:
        while going:
            on = results([pool.submit(advance, *one) for one in going])
            going = [one for one, more in zip(going, on, strict=True) if more]
            if callback is not None and callback(_progress(batches, support, problem)):
                return not going
    except KeyboardInterrupt:
        with changed:
            flag.set()
            # A pool that was interrupted while it started a thread does not wait for that thread.
            changed.wait_for(lambda: working == 0)
        return False
    return True


def _progress(batches: list[Batch], support: Support, problem: MarkovLagrangian) -> Progress:
    runs = [run for batch in batches for run in batch.runs(traces=False)]
    return Progress(
        iterations=max((run.iterations for run in runs), default=0),
        runs=len(runs),
        running=sum(run.status is Status.INTERRUPTED for run in runs),
        best_loss=min(losses_of(support, problem, [run.encoder for run in runs]), default=math.inf),
    )


def best_solution(
    support: Support, problem: MarkovLagrangian, runs: list[Run], seconds: float, cap: int | None = None
) -> Solution:
    """The best run, by the rule of `best_of`."""
    losses = losses_of(support, problem, [run.encoder for run in runs])
    best = best_of(losses, [run.status.converged for run in runs])
    summaries = tuple(StartSummary(loss, run.status, run.iterations) for loss, run in zip(losses, runs, strict=True))
    return finished(support, problem, runs[best], seconds=seconds, start=best, starts=summaries, cluster_cap=cap)
