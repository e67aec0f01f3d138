"""Pieces: the units of running and saving. A piece is a frozen description that runs by itself and yields named arrays of numbers.

A figure is made of pieces, and figures may share them. A reproduction that is interrupted repeats at most one piece. The whole
description is the key under which the numbers are stored. There are references (Merge-Two's points, the best release without leakage, the
random starts themselves), sweeps along a grid (all trials of one method, or optima with their proofs), and single runs, iteration by
iteration (the loss for the paper's figures of loss decrease, the iterates for its theorems). All informations are in bits.

Merge-Two with its constraint (Makhdoumi, Salamatian, Fawaz, Medard 2014, Algorithm 1): from Z = X on, merge the two clusters that lower
the leakage I(Y;Z) most among those that keep the utility I(X;Z) = H(Z) >= R, until no merge keeps it. `infoplane.merge_two` is the path for
R = 0; the paper compares with one point of the plane for each R.
"""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import Literal, Protocol

import numpy as np
from scipy.special import entr

import infoplane as ip

from .methods import FAMILIES, Method, arguments, load, load_call, no_penalty_warnings, solver_call
from .points import Array, Arrays, Points, information
from .settings import NATS_PER_BIT, SEED


class Piece(Protocol):
    """A description that can be run: a frozen dataclass.

    A piece that a call of the library repeats has a method ``call(arrays)``: that call as Python text. Its last line is an expression,
    and behind it, as a comment, the value that it has in these arrays.
    """

    @property
    def name(self) -> str:
        """Unique within its figure."""

    def run(self) -> Arrays:
        """The numbers. If it is interrupted: KeyboardInterrupt, and no numbers."""

    def estimate(self) -> float:
        """Seconds that it should take, from a timed sample."""


class Instant:
    """A piece that takes next to no time."""

    def estimate(self) -> float:
        """No seconds."""
        return 0.0


LEVELS = 100
"""Values of R, equally spaced in [0, H(X)]."""


@dataclass(frozen=True)
class Private(Instant):
    """The largest utility I(X;Z) without any leakage, I(Y;Z) = 0, exactly: one linear programme."""

    name: str
    joint: str

    def run(self) -> Arrays:
        """``utility``: what the best release has, and a bound that no release without leakage exceeds."""
        found = ip.perfect_privacy(load(self.joint))
        return {"utility": np.array([found.utility, found.upper_bound]) / NATS_PER_BIT}


@dataclass(frozen=True)
class Starts(Instant):
    """The points of the plane at which random starts lie."""

    name: str
    joint: str
    clusters: int
    trials: int
    seed: int = SEED

    def run(self) -> Arrays:
        """``ixz`` and ``iyz``, one entry per start."""
        joint = load(self.joint)
        starts = random_starts(self.trials, self.clusters, joint.shape[0], self.seed)
        ixz = np.array([information(W * joint.p_x) for W in starts])
        return {"ixz": ixz, "iyz": np.array([information(W @ joint.p_xy) for W in starts])}


@dataclass(frozen=True)
class Merges(Instant):
    """The points of the plane at which Merge-Two ends, over all levels of utility that it may be asked to keep."""

    name: str
    joint: str

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


def near_deterministic(trials: int, clusters: int, letters: int, seed: int = SEED) -> Array:
    """Encoders that put each letter into one cluster, drawn at random; 1e-5 is added to every entry, and the columns are normalised."""
    rng = np.random.default_rng(seed)
    W = np.full((trials, clusters, letters), 1e-5)
    for trial in range(trials):
        W[trial, rng.integers(clusters, size=letters), np.arange(letters)] += 1.0
    W /= W.sum(axis=1, keepdims=True)
    return W


@dataclass(frozen=True)
class Sweep:
    """All trials of one method along a grid of one joint.

    A parameter may occur in the grid more than once, each time with other starts. So one parameter with very many trials still runs on
    all cores.
    """

    name: str
    joint: str
    family: str
    parameters: tuple[float, ...]
    method: Method
    clusters: int
    trials: int
    init: Literal["random", "near-deterministic"] = "random"
    seed: int = SEED

    def run(self) -> Arrays:
        """`infoplane.sweep` as the columns of `Points`."""
        joint, method = load(self.joint), self.method
        init: str | Array = self.init
        if self.init != "random":
            init = near_deterministic(self.trials, self.clusters, joint.shape[0], self.seed)
        with no_penalty_warnings():
            found = ip.sweep(
                joint,
                FAMILIES[self.family],
                self.parameters,
                method.options(),
                clusters=self.clusters,
                starts=self.trials,
                rng=self.seed,
                init=init,
                **method.limits(),
            )
        return _columns(found, [method.converged(run) for run in found.runs])

    def estimate(self) -> float:
        """From one trial at the middle of the grid; one that takes `SAMPLE_LIMIT` iterations counts as one that takes the limit."""
        some = self.parameters[len(self.parameters) // 2 :][:1]
        sample = replace(self, parameters=some, trials=1, method=self.method.within(SAMPLE_LIMIT))
        began = time.perf_counter()
        iterations = sample.run()["iterations"].max()
        seconds = time.perf_counter() - began
        if iterations >= sample.method.max_iter:
            seconds *= self.method.max_iter / sample.method.max_iter
        places = len(self.parameters)
        return seconds * self.trials * places / min(places, os.cpu_count() or 1)

    def call(self, arrays: Arrays) -> str:
        """The Python that repeats it, and the number of its runs that converge by their own rule."""
        named = {"clusters": self.clusters, "starts": self.trials, "rng": self.seed, "init": self.init}
        more = arguments(**named, **self.method.limits())
        return (
            f"f = ip.sweep({load_call(self.joint)}, ip.{self.family}, {_grid(self.parameters)}, "
            f"{solver_call(self.method.options())}, {more})\n"
            f"sum({self.method.rule} for run in f.runs)  # {arrays['converged'].sum():.0f}"
        )


@dataclass(frozen=True)
class Certified:
    """Certified optima along a grid: the loss of the best encoder found, and a proven lower bound of all losses."""

    name: str
    joint: str
    family: str
    parameters: tuple[float, ...]

    def run(self) -> Arrays:
        """`infoplane.sweep` with ``certify=True`` as the columns of `Points`."""
        found = ip.sweep(load(self.joint), FAMILIES[self.family], self.parameters, certify=True, rng=SEED)
        return _columns(found, [run.converged for run in found.runs])

    def estimate(self) -> float:
        """From the middle of the grid."""
        began = time.perf_counter()
        replace(self, parameters=self.parameters[len(self.parameters) // 2 :][:1]).run()
        return (time.perf_counter() - began) * len(self.parameters)

    def call(self, arrays: Arrays) -> str:
        """The Python that repeats it, and the lowest of the proven bounds, in bits."""
        grid = _grid(self.parameters)
        return (
            f"f = ip.sweep({load_call(self.joint)}, ip.{self.family}, {grid}, certify=True, rng={SEED})\n"
            f"round(min(run.lower_bound for run in f.runs) / np.log(2), 4)  # {arrays['lower_bound'].min():.4f}"
        )


def _grid(parameters: tuple[float, ...]) -> str:
    """The Python that makes a grid: geometric, or one parameter repeated."""
    low, high, places = parameters[0], parameters[-1], len(parameters)
    if low == high:
        return f"[{low:g}]" + f" * {places}" * (places > 1)
    return f"np.geomspace({low:g}, {high:g}, {places})"


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
