"""Methods and pieces: one way to run a solver, and the units of running and saving.

A method is one solver, with one way to take its steps and to stop, and its numbers (c, alpha, limits):

gradient   the paper's step and rule, as its authors' scripts have them: one mean-subtracted gradient step per block, converged when half
the absolute sum of Ap - Bq is below 1e-6 in every column
majorise   the same c and alpha, argmins in closed form or, for ib-1, pf-1, pf-2 and pf-2v, by one or ten majorise-minimise steps; converged
when primal, dual and stationarity residual are <= tol
auto       the same with the automatic, row-scaled penalty
exact      as majorise, argmins taken to a tolerance: what the theorems speak of; only the linear rates are run so

A piece is a frozen description that runs by itself and yields named arrays of numbers, informations in bits. A figure is made of pieces,
and figures may share them. A reproduction that is interrupted repeats at most one piece. The whole description is the key under which the
numbers are stored. There are references (Merge-Two's points, the best release without leakage, the random starts themselves), sweeps along
a grid (all trials of one method, or optima with their proofs), and single runs, iteration by iteration (the loss for the paper's figures of
loss decrease, the iterates for its theorems).

Merge-Two with its constraint (Makhdoumi, Salamatian, Fawaz, Medard 2014, Algorithm 1): from Z = X on, merge the two clusters that lower
the leakage I(Y;Z) most among those that keep the utility I(X;Z) = H(Z) >= R, until no merge keeps it. `infoplane.merge_two` is the path for
R = 0; the paper compares with one point of the plane for each R.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

import numpy as np
from scipy.special import entr

import infoplane as ip

from .points import Array, Arrays, Points, information
from .settings import FIRST_STEP, LIMIT, NATS_PER_BIT, PAPER_TOLERANCE, SEED

SMOOTHED = "heart_smoothed"
"""The heart data with 1e-3 added to the relative frequencies instead of the counts."""

FAMILIES: dict[str, Callable[[float], ip.MarkovLagrangian]] = {"bottleneck": ip.bottleneck, "funnel": ip.funnel}

BASELINE = "blahut-arimoto"
"""The solver that the paper's are compared with on bottlenecks."""

StepKind = Literal["gradient", "majorise", "auto", "exact"]
KINDS: tuple[StepKind, ...] = ("gradient", "majorise", "auto")

WAYS: Mapping[str, str] = {
    "gradient": "the paper's gradient step and stopping rule",
    "majorise": "our steps (the paper's c)",
    "auto": "our steps (automatic c)",
}
"""The ways of running that most claims are judged for, in words: the paper's, our steps at its c, our steps with automatic c."""

PAPERS = {"gradient": WAYS["gradient"]}
"""The paper's way alone."""


def load(joint: str) -> ip.Joint:
    """The joint of that name: a built-in one, or the heart data smoothed in the other way that the paper leaves open."""
    return ip.datasets.heart(smooth_probabilities=True) if joint == SMOOTHED else ip.datasets.load(joint)


def load_call(joint: str) -> str:
    """The Python that makes it."""
    return "ip.datasets.heart(smooth_probabilities=True)" if joint == SMOOTHED else f"ip.datasets.{joint}()"


@dataclass(frozen=True)
class Method:
    """One way to run one solver."""

    solver: str
    """A formulation, "admm-ib" or `BASELINE`."""
    kind: StepKind
    penalty: float = 1.0
    """c; the automatic penalty has none."""
    relaxation: float = 1.0
    first_step: float = FIRST_STEP
    """xi at the start of back-tracking; gradient only."""
    max_iter: int = LIMIT
    tol: float = 1e-8
    inner: int | None = None
    """Majorise-minimise steps per argmin; None leaves it to the solver."""
    order: Literal["I", "II"] | None = None
    """The recursion; None is the formulation's own."""

    @property
    def label(self) -> str:
        """Solver and kind of step, as pieces and legends name it."""
        return self.solver if self.solver == BASELINE else f"{self.solver}, {self.kind}"

    def options(self, *, acceleration: bool = True) -> ip.Solver:
        """The solver object; an extrapolated tail (``acceleration``) is not the recursion whose rate the theorems speak of."""
        if self.solver == BASELINE:
            return ip.BlahutArimoto()
        formulation, proximal = ("ib-1", 1.0) if self.solver == "admm-ib" else (self.solver, 0.0)
        return ip.DouglasRachford(
            formulation,  # type: ignore[arg-type]
            step="majorise" if self.kind == "auto" else self.kind,
            penalty="auto" if self.kind == "auto" else self.penalty,
            relaxation=self.relaxation,
            acceleration=acceleration,
            proximal=proximal,
            inner=self.inner,
            first_step=self.first_step,
            order=self.order,
        )

    def converged(self, run: ip.Solution) -> bool:
        """Whether a run converged by the method's own rule: the paper's for gradient steps, stationarity for the others."""
        if self.kind != "gradient":
            return run.converged
        # A run that ends before the limit has met the paper's rule, or broke down with a residual above it.
        return run.iterations < self.max_iter and run.residuals.primal <= 2 * PAPER_TOLERANCE

    @property
    def rule(self) -> str:
        """The same as Python."""
        if self.kind != "gradient":
            return "run.converged"
        return f"run.iterations < {self.max_iter} and run.residuals.primal <= {2 * PAPER_TOLERANCE:g}"

    def within(self, limit: int) -> Method:
        """The same method with at most so many iterations."""
        return replace(self, max_iter=min(self.max_iter, limit))

    def limits(self) -> dict[str, Any]:
        """The arguments of `infoplane.solve` and `infoplane.sweep` that say when a run ends."""
        return {"max_iter": self.max_iter, "tol": self.tol}


def solver_call(options: Any) -> str:
    """The Python that makes a solver object."""
    said = {one.name: value for one in fields(options) if (value := getattr(options, one.name)) != one.default}
    return f"ip.{type(options).__name__}({arguments(said)})"


def arguments(named: Mapping[str, Any]) -> str:
    """Named arguments as Python."""
    return ", ".join(f"{name}={value!r}" for name, value in named.items())


@contextmanager
def no_penalty_warnings() -> Iterator[None]:
    """Suppress `PenaltyWarning`: every setting of the paper has c below what the theorems ask for, or alpha = 2 in Solver II."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ip.PenaltyWarning)
        yield


@dataclass(frozen=True)
class Piece:
    """A description that can be run.

    A piece that a call of the library repeats has a method ``call(arrays)``: that call as Python text. Its last line is an expression,
    and behind it, as a comment, the value that it has in these arrays.
    """

    name: str
    """Unique within its figure."""
    joint: str

    def run(self) -> Arrays:
        """The numbers. If it is interrupted: KeyboardInterrupt, and no numbers."""
        raise NotImplementedError

    def estimate(self) -> float:
        """Seconds that it should take, from a timed sample; none where it takes next to no time."""
        return 0.0


LEVELS = 100
"""Values of R, equally spaced in [0, H(X)]."""


class Private(Piece):
    """The largest utility I(X;Z) without any leakage, I(Y;Z) = 0, exactly: one linear programme."""

    def run(self) -> Arrays:
        """``utility``: what the best release has, and a bound that no release without leakage exceeds."""
        found = ip.perfect_privacy(load(self.joint))
        return {"utility": np.array([found.utility, found.upper_bound]) / NATS_PER_BIT}


@dataclass(frozen=True)
class Starts(Piece):
    """The points of the plane at which random starts lie."""

    clusters: int
    trials: int

    def run(self) -> Arrays:
        """``ixz`` and ``iyz``, one entry per start."""
        joint = load(self.joint)
        starts = random_starts(self.trials, self.clusters, joint.shape[0])
        ixz = np.array([information(W * joint.p_x) for W in starts])
        return {"ixz": ixz, "iyz": np.array([information(W @ joint.p_xy) for W in starts])}


class Merges(Piece):
    """The points of the plane at which Merge-Two ends, over all levels of utility that it may be asked to keep."""

    def run(self) -> Arrays:
        """``ixz`` and ``iyz``, one entry per distinct end, in the order of ``ixz``."""
        joint = load(self.joint)
        ends = {_end(joint.p_xy, R) for R in np.linspace(0.0, joint.entropy_x, LEVELS)}
        ixz, iyz = np.array(sorted(ends)).T
        return {"ixz": ixz, "iyz": iyz}


def _end(rows: Array, R: float) -> tuple[float, float]:
    """I(X;Z) and I(Y;Z) in bits where Merge-Two ends for one R, in nats. ``rows`` is p(z, y) at the start.

    Rounded to 1e-9 bits, so that equal partitions, merged in another order, give equal numbers.
    """
    while len(rows) > 1:
        i, j = np.triu_indices(len(rows), 1)
        merged = rows[i] + rows[j]
        # H(Z) and I(Y;Z) - H(Y) are sums over clusters, so a merge changes three terms of each.
        h, h_merged = entr(rows.sum(axis=1)), entr(merged.sum(axis=1))
        t, t_merged = h - entr(rows).sum(axis=1), h_merged - entr(merged).sum(axis=1)
        kept = h.sum() + h_merged - h[i] - h[j] >= R - 1e-12
        if not kept.any():
            break
        pair = int(np.argmin(np.where(kept, t_merged - t[i] - t[j], np.inf)))
        rows = np.vstack([np.delete(rows, [i[pair], j[pair]], axis=0), merged[pair]])
    return round(float(entr(rows.sum(axis=1)).sum()) / NATS_PER_BIT, 9), round(information(rows), 9)


SAMPLE_LIMIT = 1_000
"""Iterations of the timed sample from which a sweep's duration is estimated."""


def random_starts(trials: int, clusters: int, letters: int, seed: int = SEED) -> Array:
    """The paper's starts, Unif(0,1) entries with normalised columns: those of ``infoplane.solve(..., init="random", rng=seed)``."""
    children = np.random.SeedSequence(seed).spawn(trials)
    W = np.array([np.random.default_rng(child).random((clusters, letters)) for child in children])
    W /= W.sum(axis=1, keepdims=True)
    return W


def near_deterministic(trials: int, clusters: int, letters: int) -> Array:
    """Encoders that put each letter into one cluster, drawn at random; 1e-5 is added to every entry, and the columns are normalised."""
    rng = np.random.default_rng(SEED)
    W = np.full((trials, clusters, letters), 1e-5)
    for trial in range(trials):
        W[trial, rng.integers(clusters, size=letters), np.arange(letters)] += 1.0
    W /= W.sum(axis=1, keepdims=True)
    return W


@dataclass(frozen=True)
class Along(Piece):
    """Runs along a grid of the parameter of a family."""

    family: str
    parameters: tuple[float, ...]

    @property
    def _middle(self) -> tuple[float, ...]:
        return self.parameters[len(self.parameters) // 2 :][:1]

    @property
    def _call(self) -> str:
        """How the call of the sweep begins; a grid is geometric, or one parameter repeated."""
        low, high, places = self.parameters[0], self.parameters[-1], len(self.parameters)
        grid = f"np.geomspace({low:g}, {high:g}, {places})"
        if low == high:
            grid = f"[{low:g}]" + f" * {places}" * (places > 1)
        return f"f = ip.sweep({load_call(self.joint)}, ip.{self.family}, {grid}"


class Certified(Along):
    """Certified optima along a grid: the loss of the best encoder found, and a proven lower bound of all losses."""

    def run(self) -> Arrays:
        """`infoplane.sweep` with ``certify=True`` as the columns of `Points`."""
        found = ip.sweep(load(self.joint), FAMILIES[self.family], self.parameters, certify=True, rng=SEED)
        return _columns(found, [run.converged for run in found.runs])

    def estimate(self) -> float:
        """From the middle of the grid."""
        return _timed(replace(self, parameters=self._middle).run)[1] * len(self.parameters)

    def call(self, arrays: Arrays) -> str:
        """The Python that repeats it, and the lowest of the proven bounds, in bits."""
        return (
            f"{self._call}, certify=True, rng={SEED})\n"
            f"round(min(run.lower_bound for run in f.runs) / np.log(2), 4)  # {arrays['lower_bound'].min():.4f}"
        )


@dataclass(frozen=True)
class Sweep(Along):
    """All trials of one method along a grid of one joint.

    A parameter may occur in the grid more than once, each time with other starts. So one parameter with very many trials still runs on
    all cores.
    """

    method: Method
    clusters: int
    trials: int
    init: Literal["random", "near-deterministic"] = "random"

    @property
    def _named(self) -> dict[str, Any]:
        how = {"clusters": self.clusters, "starts": self.trials, "rng": SEED, "init": self.init}
        return {**how, **self.method.limits()}

    def run(self) -> Arrays:
        """`infoplane.sweep` as the columns of `Points`."""
        joint, method, named = load(self.joint), self.method, self._named
        if self.init != "random":
            named["init"] = near_deterministic(self.trials, self.clusters, joint.shape[0])
        with no_penalty_warnings():
            found = ip.sweep(joint, FAMILIES[self.family], self.parameters, method.options(), **named)
        return _columns(found, [method.converged(run) for run in found.runs])

    def estimate(self) -> float:
        """From one trial at the middle of the grid; one that takes `SAMPLE_LIMIT` iterations counts as one that takes the limit."""
        method, places = self.method.within(SAMPLE_LIMIT), len(self.parameters)
        arrays, seconds = _timed(replace(self, parameters=self._middle, trials=1, method=method).run)
        if arrays["iterations"].max() >= method.max_iter:
            seconds *= self.method.max_iter / method.max_iter
        return seconds * self.trials * places / min(places, os.cpu_count() or 1)

    def call(self, arrays: Arrays) -> str:
        """The Python that repeats it, and the number of its runs that converge by their own rule."""
        return (
            f"{self._call}, {solver_call(self.method.options())}, {arguments(self._named)})\n"
            f"sum({self.method.rule} for run in f.runs)  # {arrays['converged'].sum():.0f}"
        )


def _timed(run: Callable[[], Any]) -> tuple[Any, float]:
    """What a run gives, and how long it takes."""
    began = time.perf_counter()
    found = run()
    return found, time.perf_counter() - began


def _columns(found: ip.Frontier, converged: list[bool]) -> Arrays:
    """A frontier as the columns of `Points`."""
    if not found.complete:
        raise KeyboardInterrupt
    runs = found.runs
    bounds = [np.nan if run.lower_bound is None else run.lower_bound for run in runs]
    return Points(
        parameter=np.array([run.parameter for run in runs]),
        start=np.array([run.start for run in runs], dtype=float),
        ixz=np.array([run.ixz for run in runs]) / NATS_PER_BIT,
        iyz=np.array([run.iyz for run in runs]) / NATS_PER_BIT,
        loss=np.array([run.loss for run in runs]) / NATS_PER_BIT,
        converged=np.array(converged, dtype=float),
        stationary=np.array([run.converged for run in runs], dtype=float),
        stationarity=np.array([run.residuals.stationarity for run in runs]),
        iterations=np.array([run.iterations for run in runs], dtype=float),
        lower_bound=np.array(bounds) / NATS_PER_BIT,
    ).columns()


@dataclass(frozen=True)
class Descent(Piece):
    """The loss along the run of the fastest of several methods, all from the same random start.

    The fastest is the one with the fewest iterations among those that converge; if none converges, the one with the lowest loss.
    """

    family: str
    parameter: float
    methods: tuple[Method, ...]
    clusters: int

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

    def _named(self, method: Method) -> dict[str, Any]:
        return {"clusters": self.clusters, "starts": 1, "rng": SEED, "init": "random", **method.limits()}

    def _solve(self, method: Method) -> ip.Solution:
        problem, options = FAMILIES[self.family](self.parameter), method.options(acceleration=False)
        with no_penalty_warnings():
            end = ip.solve(load(self.joint), problem, options, **self._named(method))
        if end.status is ip.Status.INTERRUPTED:
            raise KeyboardInterrupt
        return end

    def call(self, arrays: Arrays) -> str:
        """The Python that repeats the run of the fastest method, and its iterations."""
        method = self.methods[int(arrays["chosen"][0])]
        problem, options = f"ip.{self.family}({self.parameter:g})", solver_call(method.options(acceleration=False))
        return (
            f"s = ip.solve({load_call(self.joint)}, {problem}, {options}, {arguments(self._named(method))})\n"
            f"s.iterations  # {len(arrays['loss'])}"
        )

    def estimate(self) -> float:
        """From the first method, as if all methods took as long."""
        return _timed(lambda: self._solve(self.methods[0]))[1] * len(self.methods)


ENCODER_IS_P = ("ib-2", "ib-1v", "pf-2v")
"""Formulations in which p is the encoder and q its marginals; in the others it is the other way round."""


@dataclass(frozen=True)
class Trajectory(Piece):
    """How far the collective point w = (p, Bq, nu) of a formulation moves in every iteration, and |grad L_c| there; for pf-2 w contains q.

    Exact steps and a scalar c: the recursion that the theorems speak of. The steps' own first-order conditions give the gradient. With
    r = Ap - Bq after an iteration it has the rows r (in nu) and, in Solver I with A = I, c r (in p); in Solver II c B'r (in q) and
    A'(nu - nu_old - c B(q - q_old)) (in p). The block that was minimised last has none but these.
    """

    family: str
    parameter: float
    method: Method
    clusters: int

    def run(self) -> Arrays:
        """``step``, ||w^{k+1} - w^k||, and ``gradient``, for every k; ``augmented``, L_c in nats."""
        joint, solver = load(self.joint), self.method.solver
        options: Any = self.method.options()
        (start,) = random_starts(1, self.clusters, joint.shape[0])
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
