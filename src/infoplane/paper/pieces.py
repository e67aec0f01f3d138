"""What a figure is made of: pieces, each a frozen description that runs by itself and yields columns of numbers.

A piece is the unit of saving: a run that is interrupted repeats at most one of them. Its description, whole, is its key.
"""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, Protocol

import numpy as np

from .. import datasets
from ..certificate.funnel.privacy import perfect_privacy
from ..errors import PenaltyWarning
from ..frontier.frontier import Frontier
from ..information import NATS_PER_BIT, Array, plane_points
from ..solvers.starts import make_starts, seed_sequence
from ..sweep.sweep import sweep
from .merge_two import merge_two_ends
from .methods import FAMILIES, Method
from .points import Columns, Points
from .settings import SEED

SAMPLE_LIMIT = 1_000
"""Iterations of the timed sample from which a sweep's duration is estimated."""


class Piece(Protocol):
    """A description that can be run: a frozen dataclass."""

    @property
    def name(self) -> str:
        """Unique within its figure."""

    def run(self) -> Columns:
        """The numbers; KeyboardInterrupt, and nothing half-done, if it was interrupted."""

    def estimate(self) -> float:
        """Seconds that it should take, from a timed sample."""


def described(piece: Any) -> dict[str, Any]:
    """The whole description of a piece, in words that JSON has."""
    return {"piece": type(piece).__name__, **asdict(piece)}


@contextmanager
def the_papers_penalties() -> Iterator[None]:
    """No warning for c below what the theorems ask for, or alpha = 2 in Solver II: every setting of the paper has one or the other."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PenaltyWarning)
        yield


def near_deterministic(trials: int, clusters: int, letters: int, seed: int = SEED) -> Array:
    """Encoders with every letter in one cluster drawn at random, then 1e-3 everywhere, columns normalised."""
    rng = np.random.default_rng(seed)
    W = np.full((trials, clusters, letters), 1e-3)
    for trial in range(trials):
        W[trial, rng.integers(clusters, size=letters), np.arange(letters)] += 1.0
    W /= W.sum(axis=1, keepdims=True)
    return W


@dataclass(frozen=True)
class Sweep:
    """All trials of one method along a grid of one joint.

    A parameter may stand in the grid more than once; each place has starts of its own. So one parameter with very many trials
    still runs on all cores.
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

    def run(self) -> Columns:
        """`infoplane.sweep`, as the columns of `Points`."""
        joint = datasets.load(self.joint)
        method = self.method
        init: str | Array = self.init
        if self.init != "random":
            init = near_deterministic(self.trials, self.clusters, joint.shape[0], self.seed)
        with the_papers_penalties():
            found = sweep(
                joint,
                method.family(self.family),
                self.parameters,
                method.options(),
                clusters=self.clusters,
                starts=self.trials,
                rng=self.seed,
                max_iter=method.max_iter,
                tol=method.tol,
                init=init,
            )
        return _columns(found, self.family, [method.converged(run) for run in found.runs])

    def estimate(self) -> float:
        """From one trial at the middle of the grid; one that does not end within `SAMPLE_LIMIT` iterations counts in full."""
        some = self.parameters[len(self.parameters) // 2 :][:1]
        sample = replace(self, parameters=some, trials=1, method=self.method.within(SAMPLE_LIMIT))
        began = time.perf_counter()
        iterations = sample.run()["iterations"].max()
        seconds = time.perf_counter() - began
        if iterations >= sample.method.max_iter:
            seconds *= self.method.max_iter / sample.method.max_iter
        places = len(self.parameters)
        return seconds * self.trials * places / min(places, os.cpu_count() or 1)

    def call(self) -> str:
        """The Python that repeats it."""
        init = '"random"' if self.init == "random" else f"near_deterministic({self.trials}, {self.clusters}, |X|)"
        more = f"clusters={self.clusters}, starts={self.trials}, rng={self.seed}, init={init}"
        problems = f"{self.method.family_call(self.family)}, {_grid(self.parameters)}"
        return f"ip.sweep{self.method.call(self.joint, problems, more)}"


@dataclass(frozen=True)
class Certified:
    """Optima with their proofs along a grid: the loss of the best encoder known, and a lower bound that none can undercut."""

    name: str
    joint: str
    family: str
    parameters: tuple[float, ...]

    def run(self) -> Columns:
        """`infoplane.sweep` with ``certify=True``, as the columns of `Points`."""
        found = sweep(datasets.load(self.joint), FAMILIES[self.family], self.parameters, certify=True, rng=SEED)
        return _columns(found, self.family, [run.status.converged for run in found.runs])

    def estimate(self) -> float:
        """From the middle of the grid."""
        began = time.perf_counter()
        replace(self, parameters=self.parameters[len(self.parameters) // 2 :][:1]).run()
        return (time.perf_counter() - began) * len(self.parameters)

    def call(self) -> str:
        """The Python that repeats it."""
        return f"ip.sweep(ip.datasets.{self.joint}(), ip.{self.family}, {_grid(self.parameters)}, certify=True, rng={SEED})"


@dataclass(frozen=True)
class Private:
    """The largest utility without any leakage, exactly: one linear programme."""

    name: str
    joint: str

    def run(self) -> Columns:
        """``utility`` in bits, and a bound that no release without leakage exceeds."""
        found = perfect_privacy(datasets.load(self.joint))
        return {"utility": np.array([found.utility, found.upper_bound]) / NATS_PER_BIT}

    def estimate(self) -> float:
        """Next to nothing."""
        return 0.0


@dataclass(frozen=True)
class Starts:
    """Where random starts lie."""

    name: str
    joint: str
    clusters: int
    trials: int
    seed: int = SEED

    def run(self) -> Columns:
        """I(X;Z) and I(Y;Z) in bits."""
        joint = datasets.load(self.joint)
        starts = make_starts(joint, self.clusters, self.trials, seed_sequence(self.seed), "random")
        ixz, iyz = np.array(plane_points(joint, list(starts)), dtype=float).T / NATS_PER_BIT
        return {"ixz": ixz, "iyz": iyz}

    def estimate(self) -> float:
        """Next to nothing."""
        return 0.0


@dataclass(frozen=True)
class Merges:
    """Where Merge-Two ends, over all levels of utility."""

    name: str
    joint: str

    def run(self) -> Columns:
        """I(X;Z) and I(Y;Z) in bits."""
        ixz, iyz = merge_two_ends(datasets.load(self.joint))
        return {"ixz": ixz, "iyz": iyz}

    def estimate(self) -> float:
        """Next to nothing."""
        return 0.0


def _grid(parameters: tuple[float, ...]) -> str:
    """The Python that makes a grid: geometric, or one parameter again and again."""
    low, high, places = parameters[0], parameters[-1], len(parameters)
    if low == high:
        return f"[{low:g}]" + f" * {places}" * (places > 1)
    return f"np.geomspace({low:g}, {high:g}, {places})"


def _columns(found: Frontier, family: str, converged: list[bool]) -> Columns:
    """A frontier as the columns of `Points`: losses of the family itself, also where multiples of it were solved."""
    if not found.complete:
        raise KeyboardInterrupt
    runs = found.runs
    ixz = np.array([run.ixz for run in runs]) / NATS_PER_BIT
    iyz = np.array([run.iyz for run in runs]) / NATS_PER_BIT
    parameter = np.array([run.parameter for run in runs])
    bounds = [np.nan if run.lower_bound is None else run.lower_bound for run in runs]
    return Points(
        parameter=parameter,
        start=np.array([run.start for run in runs], dtype=float),
        ixz=ixz,
        iyz=iyz,
        loss=parameter * iyz - ixz if family == "funnel" else parameter * ixz - iyz,
        converged=np.array(converged, dtype=float),
        stationary=np.array([run.status.converged for run in runs], dtype=float),
        iterations=np.array([run.iterations for run in runs], dtype=float),
        seconds=np.array([run.seconds for run in runs]),
        lower_bound=np.array(bounds) / NATS_PER_BIT,
    ).columns()
