"""Options that several functions take: checked once, and documented once, here."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

from .checks import number, whole_number
from .information import Array
from .results import STATIONARY_TOL
from .runtime.work import ITERATIONS

F = TypeVar("F", bound=Callable[..., Any])

Seed = int | np.random.Generator | np.random.SeedSequence | None


@dataclass(frozen=True, eq=False)
class RunOptions:
    """Where runs begin, and when they have ended.

    "Converged" means stationary: the primal residual |Ap - Bq|, the dual residual c |B(q - q_old)| (each row weighted by its mass) and the
    problem's own stationarity (for the bottleneck |W - BA(W)|), each in its largest entry, are all at most ``tol``. A small primal
    residual alone proves nothing.

    Parameters
    ----------
    clusters
        The most clusters that the answer may have. By default the default solver finds the number itself, up to |X| or to what fits
        into 256 MB; other solvers begin with |X|, or 64 or more if X has more letters. Clusters may die on
        the way: `Solution.died`. `Solution.at_cap` says whether the number was held back.
    starts
        How many starts, at most: the default solver makes fewer where they would cost more than its budget. The best result counts, a
        converged one before any other of equal loss (to 1e-9).
    rng
        Seed or numpy Generator. The same seed gives the same bits, whatever the number of threads.
    max_iter, tol
        Iterations per start; residuals that count as stationary.
    init
        Where runs begin: ``"mixed"`` (one near-identity start, the others random), ``"random"`` (all random, as in the paper),
        ``"identity"`` (the near-identity start alone), ``"spread"`` (random mixtures of the two), or an array of encoders,
        (|Z|, |X|) or (starts, |Z|, |X|). None is ``"spread"`` where H(Z|Y) has a negative weight, as in the funnel, else ``"mixed"``.
    """

    clusters: int | None = None
    starts: int = 16
    rng: Seed = None
    max_iter: int = ITERATIONS
    tol: float = STATIONARY_TOL
    init: str | Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", number("tol", self.tol, lambda tol: 0.0 < tol < 1.0, "in (0, 1)"))
        for name in ("max_iter", "starts", "clusters"):
            if (value := getattr(self, name)) is not None or name != "clusters":
                object.__setattr__(self, name, whole_number(name, value))


def parameters_of(record: type) -> str:
    """What a class says of its parameters, from the section of its numpy docstring."""
    return inspect.cleandoc(record.__doc__ or "").partition("Parameters\n----------\n")[2].split("\n\n")[0].rstrip("\n")


def takes(*records: type) -> Callable[[F], F]:
    """Write the parameters of records into a function's docstring, each in place of a line with its name in braces, ``{RunOptions}``."""

    def decorate(function: F) -> F:
        if function.__doc__ is not None:  # python -OO leaves docstrings out
            text = inspect.cleandoc(function.__doc__)
            for record in records:
                text = text.replace(f"{{{record.__name__}}}", parameters_of(record))
            function.__doc__ = text
        return function

    return decorate
