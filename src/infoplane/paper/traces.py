"""Pieces that are single runs, iteration by iteration: the loss (the paper's figures of loss decrease), the iterates (its theorems)."""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np

from ..information import NATS_PER_BIT, Array
from ..joint.support import Support
from ..runtime.budget import Budget
from ..solution import Solution
from ..solve import solve
from ..solvers.driver import advanced, runs_of
from ..solvers.job import Job
from ..solvers.splitting.formulations import choose
from ..solvers.splitting.solver import DouglasRachford
from ..solvers.starts import make_starts, seed_sequence
from ..status import Status
from .joints import load
from .methods import FAMILIES, Method
from .piece import Arrays, no_penalty_warnings
from .settings import SEED


@dataclass(frozen=True)
class Descent:
    """The loss along the run of the fastest of several methods, all from the same random start.

    The fastest is the one with the fewest iterations among those that converge; if none converges, the one with the lowest loss.
    """

    name: str
    joint: str
    family: str
    parameter: float
    methods: tuple[Method, ...]
    clusters: int
    seed: int = SEED

    def run(self) -> Arrays:
        """``loss`` after every iteration of the ``chosen`` method; of each ``iterations``, ``converged``, loss at the ``end``, ``lowest``.

        Losses are in bits; ``lowest`` is the lowest loss or augmented Lagrangian of a run; ``chosen`` is an index into the methods.
        """
        ends = [self._solve(method) for method in self.methods]
        converged = [method.converged(end) for method, end in zip(self.methods, ends, strict=True)]
        order = sorted(
            range(len(ends)),
            key=lambda i: (not converged[i], ends[i].iterations if converged[i] else ends[i].loss),
        )
        chosen = order[0]
        return {
            "loss": _trace(ends[chosen]) / NATS_PER_BIT,
            "chosen": np.array([chosen]),
            "iterations": np.array([end.iterations for end in ends]),
            "converged": np.array(converged, dtype=float),
            "end": np.array([end.loss for end in ends]) / NATS_PER_BIT,
            "lowest": np.array([_lowest(end) for end in ends]) / NATS_PER_BIT,
        }

    def _solve(self, method: Method) -> Solution:
        options = method.options()
        if isinstance(options, DouglasRachford):
            # An extrapolated tail is not the recursion whose rate is asked for.
            options = replace(options, acceleration=False)
        with no_penalty_warnings():
            end = solve(
                load(self.joint),
                FAMILIES[self.family](self.parameter),
                options,
                clusters=self.clusters,
                starts=1,
                rng=self.seed,
                max_iter=method.max_iter,
                tol=method.tol,
                init="random",
            )
        if end.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        return end

    def call(self) -> str:
        """The Python that repeats the run of the first method; the other methods differ in c and alpha."""
        method = self.methods[0]
        problem = f"ip.{self.family}({self.parameter:g})"
        more = f'clusters={self.clusters}, starts=1, rng={self.seed}, init="random"'
        return f"ip.solve{method.call(self.joint, problem, more)}"

    def estimate(self) -> float:
        """From the first method, as if all methods took as long."""
        began = time.perf_counter()
        self._solve(self.methods[0])
        return (time.perf_counter() - began) * len(self.methods)


def _lowest(end: Solution) -> float:
    """The lowest value that a run met: of the loss, or of the augmented Lagrangian where the method has one."""
    trace = end.trace
    return end.loss if trace is None else float(np.nanmin([trace.loss, trace.augmented]))


def _trace(end: Solution) -> Array:
    if end.trace is None:
        raise KeyboardInterrupt
    return end.trace.loss


@dataclass(frozen=True)
class Trajectory:
    """How far the collective point w = (p, Bq, nu) of a formulation moves in every iteration, and |grad L_c| there; for pf-2 w contains q.

    Exact steps and a scalar c: the recursion that the theorems speak of. The steps' own first-order conditions give the gradient. With
    r = Ap - Bq after an iteration it has the rows r (in nu) and, in Solver I with A = I, c r (in p); in Solver II c B'r (in q) and
    A'(nu - nu_old - c B(q - q_old)) (in p). The block that was minimised last has none but these.
    """

    name: str
    joint: str
    family: str
    parameter: float
    method: Method
    clusters: int
    seed: int = SEED

    def run(self) -> Arrays:
        """``step``, ||w^{k+1} - w^k||, and ``gradient``, for every k; ``augmented``, L_c in nats; ``converged``, 1 if tol was reached."""
        joint = load(self.joint)
        support = Support(joint)
        problem = FAMILIES[self.family](self.parameter)
        options = self.method.options()
        if not isinstance(options, DouglasRachford):
            raise TypeError(f"only splittings have iterates; found {options!r}")
        start = make_starts(joint, self.clusters, 1, seed_sequence(self.seed), "random")
        budget = Budget(iterations=self.method.max_iter)
        iteration = options.begin(Job(support, problem, start, self.method.tol, record=True, budget=budget))
        state, M, c = iteration.state, iteration.tables.M, self.method.penalty
        split = choose(problem, options.formulation)

        def point() -> Array:
            W, v, nu = state.W[0], state.v[0], state.nu[0]
            q = W if options.formulation == "pf-2" else W @ M
            return np.concatenate([v.ravel(), q.ravel(), nu.ravel()])

        def gradient(v_old: Array, Wv_old: Array, nu_old: Array) -> float:
            v, Wv, nu = state.v[0], state.W[0] @ M, state.nu[0]
            r = Wv - v if split.encoder_first else v - Wv
            rows = [r, c * r]
            if split.order == 2:
                moved = v - v_old if split.encoder_first else Wv - Wv_old
                follows = nu - nu_old - c * moved
                rows = [r, c * r, follows @ M.T] if split.encoder_first else [r, c * r @ M.T, follows]
            return float(np.sqrt(sum(float((row * row).sum()) for row in rows)))

        steps, gradients = [], []
        before = point()
        going = True
        while going:
            old = state.v[0].copy(), state.W[0] @ M, state.nu[0].copy()
            going = advanced(iteration, 1)
            now = point()
            steps.append(float(np.linalg.norm(now - before)))
            gradients.append(gradient(*old))
            before = now
        (run,) = runs_of(iteration)
        return {
            "step": np.array(steps),
            "gradient": np.array(gradients),
            "augmented": run.trace.augmented if run.trace is not None else np.empty(0),
            "converged": np.array([float(run.status.converged)]),
        }

    def estimate(self) -> float:
        """One second, an upper estimate."""
        return 1.0
