"""Pieces that are single runs, iteration by iteration: the loss (the paper's figures of loss decrease), the iterates (its theorems)."""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

import infoplane as ip

from .methods import FAMILIES, Method, arguments, load, load_call, no_penalty_warnings, solver_call
from .piece import Array, Arrays
from .settings import NATS_PER_BIT, SEED
from .sweeps import random_starts


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
        chosen = min(
            range(len(ends)),
            key=lambda i: (not converged[i], ends[i].iterations if converged[i] else ends[i].loss),
        )
        traces = [end.trace for end in ends if end.trace is not None]
        if len(traces) < len(ends):
            raise KeyboardInterrupt
        # Where a method has no augmented Lagrangian its column is NaN.
        lowest = [float(np.nanmin([trace.loss, trace.augmented])) for trace in traces]
        return {
            "loss": traces[chosen].loss / NATS_PER_BIT,
            "chosen": np.array([chosen]),
            "iterations": np.array([end.iterations for end in ends]),
            "converged": np.array(converged, dtype=float),
            "end": np.array([end.loss for end in ends]) / NATS_PER_BIT,
            "lowest": np.array(lowest) / NATS_PER_BIT,
        }

    def _arguments(self) -> dict[str, object]:
        return {"clusters": self.clusters, "starts": 1, "rng": self.seed, "init": "random"}

    def _solve(self, method: Method) -> ip.Solution:
        problem, options = FAMILIES[self.family](self.parameter), method.options(acceleration=False)
        named: dict[str, object] = {**self._arguments(), **method.limits()}
        with no_penalty_warnings():
            end = ip.solve(load(self.joint), problem, options, **named)  # type: ignore[arg-type]
        if end.status is ip.Status.INTERRUPTED:
            raise KeyboardInterrupt
        return end

    def call(self, arrays: Arrays) -> str:
        """The Python that repeats the run of the fastest method, and its iterations."""
        method = self.methods[int(arrays["chosen"][0])]
        options = solver_call(method.options(acceleration=False))
        more = arguments(**self._arguments(), **method.limits())
        return (
            f"s = ip.solve({load_call(self.joint)}, ip.{self.family}({self.parameter:g}), {options}, {more})\n"
            f"s.iterations  # {len(arrays['loss'])}"
        )

    def estimate(self) -> float:
        """From the first method, as if all methods took as long."""
        began = time.perf_counter()
        self._solve(self.methods[0])
        return (time.perf_counter() - began) * len(self.methods)


ENCODER_IS_P = ("ib-2", "ib-1v", "pf-2v")
"""Formulations in which p is the encoder and q its marginals; in the others it is the other way round."""


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
        """``step``, ||w^{k+1} - w^k||, and ``gradient``, for every k; ``augmented``, L_c in nats."""
        joint, solver = load(self.joint), self.method.solver
        options = self.method.options()
        if not isinstance(options, ip.DouglasRachford):
            raise TypeError(f"only splittings have iterates; found {options!r}")
        (start,) = random_starts(1, self.clusters, joint.shape[0], self.seed)
        path = ip.iterates(joint, FAMILIES[self.family](self.parameter), options, start, **self.method.limits())
        p_z, p_zy = joint.p_x[:, None], joint.p_x_given_y
        M = {"ib-2": np.hstack([p_z, p_zy]), "pf-2": p_zy}.get(solver, p_z)
        steps, gradients, augmented = [], [], []
        old = next(path)
        before = self._point(old, M)
        for now in path:
            point = self._point(now, M)
            steps.append(float(np.linalg.norm(point - before)))
            gradients.append(float(np.sqrt(sum(float((row * row).sum()) for row in self._gradient(now, old, M)))))
            augmented.append(now.augmented)
            old, before = now, point
        return {"step": np.array(steps), "gradient": np.array(gradients), "augmented": np.array(augmented)}

    def _point(self, now: ip.Standing, M: Array) -> Array:
        q = now.W if self.method.solver == "pf-2" else now.W @ M
        return np.concatenate([now.v.ravel(), q.ravel(), now.nu.ravel()])

    def _gradient(self, now: ip.Standing, old: ip.Standing, M: Array) -> list[Array]:
        """The rows of grad L_c after an iteration."""
        encoder_is_p, c = self.method.solver in ENCODER_IS_P, self.method.penalty
        r = now.W @ M - now.v if encoder_is_p else now.v - now.W @ M
        if self.method.solver == "ib-1":  # Solver I
            return [r, c * r]
        moved = now.v - old.v if encoder_is_p else now.W @ M - old.W @ M
        follows = now.nu - old.nu - c * moved
        return [r, c * r, follows @ M.T] if encoder_is_p else [r, c * r @ M.T, follows]

    def estimate(self) -> float:
        """One second, an upper estimate."""
        return 1.0
