"""Pieces that are sweeps along a grid: all trials of one method, or optima with their proofs. Both yield the columns of `Points`."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

import infoplane as ip

from .methods import FAMILIES, Method, arguments, load, load_call, no_penalty_warnings, solver_call
from .piece import Array, Arrays
from .points import Points
from .settings import NATS_PER_BIT, SEED

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
