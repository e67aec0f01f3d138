"""`solve`: the best of several starts, with the status of every one; and by ``certify=``, who answers and who proves.

=======================================  ==================  =================================================
solver asked for                         answers             proves
=======================================  ==================  =================================================
none                                     the `certifier`     the same
one that proves (`Envelope`, `Columns`)  that one            the same, asked once, within limits of its own
any other                                that one            the problem's `certifier`, from that one's answer
=======================================  ==================  =================================================

A proof is of all encoders: where |Z| is capped, the default solver answers in the first two rows, and the proof says how far below it the
unrestricted optimum may lie. So it is where the bound is of the problem below (`posterior_form_below`), since an encoder that meets it is
no answer to this one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, cast

import numpy as np

from .certificate.certify import no_certificate
from .checks import check_callable
from .errors import PenaltyWarning, UnsupportedProblemError
from .information import Array
from .joint.joint import Support
from .joint.task_joint import TaskJoint
from .problem import as_joint, check_problem, family_of, has_posterior_form, posterior_form_below
from .runtime.budget import Budget, Watch, attended, cores, one_blas_thread, usual_floats
from .sampling.denoising import sampled
from .solution import TIE, Run, Solution, StartSummary, best_of, finished
from .solvers.base import (
    Callback,
    PathSolver,
    Solver,
    default_clusters,
    default_init,
    make_starts,
    most_clusters,
    seed_sequence,
    together,
)
from .solvers.job import Job, ProofOptions, RunOptions, Seed, takes
from .solvers.portfolio import LEAST, PATIENCE, SHARE
from .solvers.registry import SOLVERS, resolve
from .solvers.shared.prover import Prover

if TYPE_CHECKING:
    from .joint.joint import Joint
    from .problem import MarkovLagrangian


BATCH_ENTRIES, MOST_ENTRIES = 4_000, 1_000_000
"""Encoder entries of one batch, about, as long as all starts together have no more than the second: small batches are in the cache, and
spread over cores evenly; of large ones each has more than enough to do."""


@takes(RunOptions, ProofOptions)
def solve(
    joint: Joint | TaskJoint,
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
    sample: str = "table",
) -> Solution:
    """Minimise rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y) over encoders p(z|x).

    Parameters
    ----------
    joint, problem
        p(x, y), and what to minimise; or a `TaskJoint` and a problem of tasks, such as `task_funnel`.
    solver
        A solver object, a registered name, or None for the default.
    {RunOptions}
    {ProofOptions}
    callback
        Called with a `Progress` at least every 200 iterations; a true result stops the run, as Ctrl-C does: the best so far is returned.
    sample
        ``"table"`` takes the joint as it is; ``"denoised"`` takes what its records support, `Joint.denoised`.

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
    check_problem(problem)
    joint = as_joint(joint, tasks=not problem.single_target)
    joint = joint if sample == "table" else sampled(joint, sample)
    problem = problem.on(joint)
    if callback is not None:
        check_callable("callback", callback)
    support = Support(joint)
    letters = len(support.p_x)
    options = RunOptions(clusters, starts, rng, max_iter, tol, init)
    most = most_clusters(letters, options.clusters, init)
    wanted = ProofOptions(certify, max_cells, max_seconds)
    chosen, proof = runner_and_prover(solver, [problem], wanted, capped=most < letters)
    with one_blas_thread(), usual_floats():
        W = _starts_for(chosen, support, problem, options, most)
        # What cannot be done is refused, and what may fail said, before any work.
        for one in dict.fromkeys((chosen, proof)):
            if one is not None and (sentence := one.caution(support, problem, W[0])):
                warnings.warn(sentence, PenaltyWarning, stacklevel=2)
        watch = None if callback is None else Watch(callback, together)
        budget = Budget(iterations=options.max_iter, watch=watch)
        job = Job(support, problem, W, options.tol, most, record=True, budget=budget)
        if proof is None or chosen is proof:
            return _best(chosen, job, began, cluster_cap(chosen, most, W))
        return _proven(chosen, proof, job, began, default_first=solver is None, seconds=max_seconds)


def runner_and_prover(
    solver: Solver | str | None,
    problems: Sequence[MarkovLagrangian],
    asked: ProofOptions,
    *,
    along_a_path: bool = False,
    capped: bool = False,
) -> tuple[Solver, Prover | None]:
    """The solver that answers and the one that proves, by the table above: the same object if one does both; None if nothing is proven."""
    if asked.certify is False:
        return resolve(solver, *problems, along_a_path=along_a_path, capped=capped), None
    named = None if solver is None else resolve(solver, *problems)
    prover = named if isinstance(named, Prover) else certifier(problems[0])
    keeps_its_gap = prover is named and asked.certify is True
    proof = replace(prover, **asked.limits) if keeps_its_gap else replace(prover, **asked.limits, tol=asked.gap)
    resolve(proof, *problems)
    if named is not None and named is not prover:
        return named, proof
    if capped or not all(has_posterior_form(problem) or not problem.single_target for problem in problems):
        return resolve(None, *problems, along_a_path=along_a_path, capped=True), proof
    return proof, proof


def certifier(problem: MarkovLagrangian) -> Prover:
    """The solver that proves what it finds: `Envelope` for the bottleneck, `Columns` for the funnel."""
    name = family_of(posterior_form_below(problem)).certifier
    if name is None:
        raise UnsupportedProblemError(no_certificate(problem))
    return cast(Prover, SOLVERS[name])


def _starts_for(solver: Solver, support: Support, problem: MarkovLagrangian, options: RunOptions, most: int) -> Array:
    """The encoders that a solver begins from."""
    kind = default_init(problem) if options.init is None else options.init
    rows = default_clusters(len(support.p_x), len(support.p_y)) if options.clusters is None else most
    useful = solver.useful_starts(support, problem, rows, options.starts)
    # A solver without random starts gives the same bits every time, asked for or not.
    seed = seed_sequence(0 if options.rng is None and solver.deterministic else options.rng)
    return make_starts(support.joint, options.clusters, useful, seed, kind, first_only=solver.deterministic)


def _proven(
    solver: Solver, proof: Prover, job: Job, began: float, *, default_first: bool, seconds: float | None
) -> Solution:
    """What a solver finds, then how far it can be from the optimum; the proof may find something better, too.

    Without a solver of the user's the default's answer is part of the proof, and has its share of the time.
    """
    shared = seconds if default_first else None
    first = job if shared is None else job.within(seconds=max(SHARE * shared, PATIENCE))
    found = _best(solver, first, began, cluster_cap(solver, job.clusters, job.starts))
    if job.budget.stopped:
        return found
    if shared is not None:
        proof = replace(proof, max_seconds=max(shared - first.budget.seconds_spent, LEAST * shared))
    start = np.ascontiguousarray(found.encoder[None][:, :, job.support.x])
    proven = _best(proof, job.but(starts=start, after_default=default_first), began, found.cluster_cap)
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

    def runs_of(part: Job) -> list[Run]:
        return [] if job.budget.stopped else solver.run(part)  # if its turn comes too late

    parts = attended([partial(runs_of, part) for part in parts_of(solver, job)], job.budget)
    runs = job.sound([run for some in parts for run in some])
    if not runs:
        raise KeyboardInterrupt  # nothing had begun
    losses = job.losses([run.encoder for run in runs])
    best = best_of(losses, [run.status.converged for run in runs])
    # A solver of the user's need not say its name in every run.
    run = runs[best] if runs[best].found_by else replace(runs[best], found_by=solver.name)
    starts = tuple(StartSummary(loss, one.status, one.iterations) for loss, one in zip(losses, runs, strict=True))
    seconds = time.perf_counter() - began
    return finished(job.support, job.problem, run, seconds=seconds, start=best, starts=starts, cluster_cap=cap)


def parts_of(solver: Solver, job: Job) -> list[Job]:
    """The job, its starts shared out: each core gets some, in parts, so that those that wait when Ctrl-C is pressed do not begin.

    A path solver needs all its starts together; and large encoders stay together, since every part has tables of its own.
    """
    W = job.starts
    if isinstance(solver, PathSolver) or len(W) == 1:
        return [job]
    count = max(cores(), W.size // BATCH_ENTRIES if W.size <= MOST_ENTRIES else 0)
    return [job.but(starts=part) for part in np.array_split(W, min(len(W), count))]
