"""Root tracking (Agmon 2023, "The information bottleneck's ordinary differential equation", Entropy 25, 1370): the optimum's own equation.

    (I - T'(u)) du/dbeta = dT/dbeta,     u = T(u),     T(u)[z, y] = log sum_x p(x, y) W[z, x],     u = log q(z, y),  beta = 1/gamma
    W[z, x] = softmax_z sum_y p(y|x) (beta u[z, y] + (1 - beta) log q(z))

A stationary encoder is a root of u - T(u), T the map of Blahut-Arimoto, and the implicit function theorem says how it moves with beta.
From a small gamma, where nearly every letter is a cluster of its own, upwards: Euler's step, then one evaluation of T. Clusters whose mass
is gone are left out, and those whose decoders meet are joined: with two copies of a cluster I - T' is singular. Where it is nearly so
without a meeting, which shows by a step that is too long, the map is iterated instead.

From the paper's abstract and the implicit function theorem; its text was not at hand. That bifurcations end the smooth pieces and are to be
told apart is the abstract's, coordinates, thresholds and steps are ours, as is GMRES for the linear system, which needs T' times a vector
only: (T'v + t dT/dbeta) q = sum_x p(x, y) W (s - sum_z W s), with s the slope of the softmax's argument along (v, t).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ..checks import PYTHON_ONLY, number
from ..information import Array
from ..joint.joint import Support
from ..kernels.common import TINY
from ..posterior.form import gamma_of
from ..problem import MarkovLagrangian, is_bottleneck
from ..solution import Run
from .annealing import Annealing, at_gamma, upwards
from .base import PathSolver
from .fixed_point import BlahutArimoto
from .job import Job
from .shared.resizing import briefly


@dataclass(frozen=True)
class RootTracking(PathSolver):
    """The bottleneck's optimum followed upwards in gamma by its differential equation (Agmon 2023).

    Parameters
    ----------
    stride
        The longest step, in log gamma.
    depth
        How far below the first gamma the path begins.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_nonuniform(), ip.bottleneck(0.2), ip.RootTracking())
    >>> s.converged, round(s.loss, 6)
    (True, -0.19767)
    """

    name = "root-tracking"
    deterministic = True
    segment = Annealing.segment

    stride: float = field(default=0.05, metadata=PYTHON_ONLY)
    depth: float = field(default=8.0, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        object.__setattr__(self, "stride", number("stride", self.stride, "positive", above=0.0))
        object.__setattr__(self, "depth", number("depth", self.depth, "above 1", above=1.0))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """It is for the bottleneck."""
        refused = f"root-tracking follows the bottleneck in gamma; found rho = {problem.rho}."
        return None if is_bottleneck(problem) else refused

    def follow(self, job: Job, problems: Sequence[MarkovLagrangian]) -> Iterator[Run]:
        """Upwards in gamma, whatever the order asked for; at every gamma asked for the map ends at the tolerance."""
        order = upwards(problems)
        gamma = gamma_of(problems[order[0]]) / self.depth
        run = _mapped(_rough(job, gamma), job.starts[0])
        found: dict[int, Run] = {}
        for index in order:
            W, spent, asked = run.encoder, run.iterations if not found else 0, gamma_of(problems[index])
            steps = math.ceil(math.log(asked / gamma) / self.stride) if asked > gamma else 0
            for reached in np.geomspace(gamma, asked, steps + 1)[1:]:
                if job.budget.over:
                    break
                W, evaluations = _stepped(job, W, gamma, float(reached))
                gamma, spent = float(reached), spent + evaluations
            at = job.but(problem=problems[index])
            run = _mapped(at, W)
            if len(fewer := _reduced(job.support, run.encoder)) < len(run.encoder):
                spent, run = spent + run.iterations, _mapped(at, fewer)
            iterations, died = run.iterations + spent, job.died(run.encoder)
            found[index] = replace(run, iterations=iterations, died=died, found_by=self.name, trace=None)
            if job.budget.over:
                break
        yield from (run for _, run in sorted(found.items()))


class TrackingEffort(NamedTuple):
    """How a path is followed."""

    products: int = 40
    """T' times a vector, at most so often for one step; a system that is not solved then is nearly singular."""
    accuracy: float = 1e-3
    """Of the linear system, relative: Euler's own error is larger."""
    longest: float = 1.0
    """A step that changes a logarithm by more has met a bifurcation."""
    gone: float = 1e-9
    """The mass of a cluster below which it is left out."""
    met: float = 1e-4
    """The difference between two decoders below which they are one. Near a meeting the loss differs by its fourth power."""
    rough: float = 1e-5
    rough_iterations: int = 300
    """The tolerance, and the iterations, of the map where Euler's step is not taken."""


EFFORT = TrackingEffort()


def _rough(job: Job, gamma: float) -> Job:
    return briefly(at_gamma(job, gamma), EFFORT.rough, EFFORT.rough_iterations)


def _mapped(job: Job, W: Array) -> Run:
    return BlahutArimoto().run(job.but(starts=W[None]))[0]


def _stepped(job: Job, W: Array, gamma: float, reached: float) -> tuple[Array, int]:
    """The encoder at the next gamma, without what has met or died, and the evaluations of the map, or of its slope, that it took."""
    W = _reduced(job.support, W)
    root = Root(job.support, W, 1.0 / gamma)
    velocity, products = root.velocity()
    way = None if velocity is None else (1.0 / reached - 1.0 / gamma) * velocity
    if way is None or np.abs(way).max(where=root.q > EFFORT.gone, initial=0.0) > EFFORT.longest:
        run = _mapped(_rough(job, reached), W)
        return run.encoder, run.iterations + products
    u = root.u + way.clip(-EFFORT.longest, EFFORT.longest)  # what weighs nothing may run away, but not far
    return _encoder(job.support, u, 1.0 / reached), products + 1


def _encoder(support: Support, u: Array, beta: float) -> Array:
    """W of the map at log q(z, y) = u."""
    log_z = np.log(np.exp(u).sum(axis=1))
    score = (beta * u + (1.0 - beta) * log_z[:, None]) @ support.T
    weights = np.exp(score - score.max(axis=0))
    return np.asarray(weights / weights.sum(axis=0))


def _reduced(support: Support, W: Array) -> Array:
    """Without clusters that have no mass, and with those joined whose decoders have met."""
    W = W[W @ support.p_x > EFFORT.gone]
    W = W / W.sum(axis=0)
    q = W @ support.P
    decoders, kept = q / q.sum(axis=1, keepdims=True), list[int]()
    for z, decoder in enumerate(decoders):
        near = [other for other in kept if np.abs(decoders[other] - decoder).max() < EFFORT.met]
        if near:
            W[near[0]] += W[z]
        else:
            kept.append(z)
    return W[kept]


class Root:
    """A stationary encoder at beta, and how it moves."""

    def __init__(self, support: Support, W: Array, beta: float) -> None:
        self.support, self.beta = support, beta
        self.q = np.maximum(W @ support.P, TINY)
        self.u = np.log(self.q)
        self.W = _encoder(support, self.u, beta)
        self.decoder = self.q / self.q.sum(axis=1, keepdims=True)

    def slope(self, v: Array, t: float) -> Array:
        """T'(u) v + t dT/dbeta."""
        mean = (self.decoder * v).sum(axis=1, keepdims=True)
        s = (self.beta * v + (1.0 - self.beta) * mean + t * np.log(self.decoder)) @ self.support.T
        moved = self.W * (s - (self.W * s).sum(axis=0))
        return np.asarray((moved @ self.support.P) / np.maximum(self.W @ self.support.P, TINY))

    def velocity(self) -> tuple[Array | None, int]:
        """du/dbeta, or None if the system is nearly singular; and the products that it took."""
        from scipy.sparse.linalg import LinearOperator, gmres  # slow to import

        shape, products = self.u.shape, 0

        def without(v: Array) -> Array:
            nonlocal products
            products += 1
            return v - self.slope(v.reshape(shape), 0.0).ravel()

        system = LinearOperator((self.u.size, self.u.size), matvec=without, dtype=float)
        right = self.slope(np.zeros(shape), 1.0).ravel()
        found, failed = gmres(system, right, rtol=EFFORT.accuracy, restart=EFFORT.products, maxiter=1)
        return (None if failed else found.reshape(shape)), products + 1
