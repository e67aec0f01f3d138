"""`solve`: the best of several starts, with the status of every one."""

from __future__ import annotations

import time
import warnings
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from .checks import check_callable, whole_number
from .errors import PenaltyWarning
from .information import Array
from .joint.joint import check_joint
from .joint.support import Support
from .options import RunOptions
from .problem import check_problem
from .runtime.budget import Budget
from .runtime.threads import Watch, attended, cores, one_blas_thread, usual_floats
from .solution import TIE, Run, Solution, StartSummary, best_of, finished
from .solvers.base import Solver, is_path
from .solvers.driver import Callback, together
from .solvers.fallback import PATIENCE
from .solvers.job import Job
from .solvers.registry import resolve_with_proof
from .solvers.soundness import sound
from .solvers.starts import Seed, default_clusters, default_init, make_starts, most_clusters, seed_sequence

if TYPE_CHECKING:
    from .joint.joint import Joint
    from .problem import MarkovLagrangian


BATCH_ENTRIES, MOST_ENTRIES = 4_000, 1_000_000
"""Encoder entries of one batch, about, as long as all starts together have no more than the second."""


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
    options = RunOptions(tol=tol, max_iter=max_iter, clusters=most)
    kind = default_init(problem) if init is None else init
    starts = whole_number("starts", starts)
    with one_blas_thread(), usual_floats():
        rows = default_clusters(letters, len(support.p_y)) if clusters is None else most
        useful = chosen.useful_starts(support, problem, rows, starts)
        # A solver without random starts gives the same bits every time, asked for or not.
        seed = seed_sequence(0 if rng is None and chosen.deterministic else rng)
        W = make_starts(joint, clusters, useful, seed, kind, first_only=chosen.deterministic)
        for one in dict.fromkeys(
            (chosen, proof)
        ):  # what cannot be done is refused, and what may fail said, before any work
            if one is not None and (sentence := one.caution(support, problem, W[0])):
                warnings.warn(sentence, PenaltyWarning, stacklevel=2)
        watch = None if callback is None else Watch(callback, together)
        budget = Budget(iterations=options.max_iter, watch=watch)
        job = Job(support, problem, W, options.tol, options.clusters, record=True, budget=budget)
        # Without a solver the default's answer is part of the proof, and has its share of the time.
        default_first = solver is None and proof is not None and chosen is not proof
        hurried = default_first and max_seconds is not None
        asked = job.within(seconds=max(max_seconds or 0.0, PATIENCE)) if hurried else job
        found = _best(chosen, asked, began, cluster_cap(chosen, most, W))
        if not found.solver:  # a solver of the user's need not say its name in every run
            found = replace(found, solver=chosen.name)
        if proof is None or chosen is proof or budget.stopped:
            return found
        warm = job.but(starts=np.ascontiguousarray(found.encoder[None][:, :, support.x]), after_default=default_first)
        proven = _best(proof, warm, began, found.cluster_cap)
    if proven.lower_bound is None:
        return found
    better = replace(proven, starts=found.starts, start=found.start) if proven.loss < found.loss - TIE else found
    return better.bounded(proven.lower_bound, proof.tol, proven.multipliers)


def cluster_cap(solver: Solver, most: int | None, starts: Array) -> int | None:
    """The cap on |Z| that a solver's answers are under; None if they may have a cluster for every letter."""
    clusters, letters = starts.shape[1:]
    cap = most if solver.grows else clusters
    return cap if cap is not None and cap < letters else None


def _best(solver: Solver, job: Job, began: float, cap: int | None) -> Solution:
    """The best run of a solver from the job's starts, in as many threads as there are cores."""
    found = attended([partial(solver.run, part) for part in parts_of(solver, job)], job.budget)
    runs = sound(job, (run for some in found for run in some))
    if not runs:
        raise KeyboardInterrupt  # nothing had begun
    return best_solution(job, runs, time.perf_counter() - began, cap)


def parts_of(solver: Solver, job: Job) -> list[Job]:
    """The job, its starts shared out: each core gets some, in parts, so that those that wait when Ctrl-C is pressed do not begin.

    A path solver needs all its starts together; and large encoders stay together, since every part has tables of its own.
    """
    W = job.starts
    count = max(cores(), W.size // BATCH_ENTRIES if W.size <= MOST_ENTRIES else 0)
    return [job.but(starts=part) for part in np.array_split(W, 1 if is_path(solver) else min(len(W), count))]


def best_solution(job: Job, runs: list[Run], seconds: float, cap: int | None = None) -> Solution:
    """The best run, by the rule of `best_of`."""
    losses = job.losses([run.encoder for run in runs])
    best = best_of(losses, [run.status.converged for run in runs])
    summaries = tuple(StartSummary(loss, run.status, run.iterations) for loss, run in zip(losses, runs, strict=True))
    return finished(
        job.support, job.problem, runs[best], seconds=seconds, start=best, starts=summaries, cluster_cap=cap
    )
