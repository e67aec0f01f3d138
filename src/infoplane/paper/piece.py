"""A piece: the unit of running and saving. A frozen description that runs by itself and yields named arrays of numbers.

A figure is made of pieces, and figures may share them. A reproduction that is interrupted repeats at most one piece. The whole
description is the key under which the numbers are stored.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any, Protocol

import numpy as np

from ..errors import PenaltyWarning

Arrays = dict[str, np.ndarray[Any, Any]]
"""What a piece yields and a file holds: arrays by name."""


class Piece(Protocol):
    """A description that can be run: a frozen dataclass.

    A piece that one call of the library repeats has a method ``call()``, which returns that call as Python text.
    """

    @property
    def name(self) -> str:
        """Unique within its figure."""

    def run(self) -> Arrays:
        """The numbers. If it is interrupted: KeyboardInterrupt, and no numbers."""

    def estimate(self) -> float:
        """Seconds that it should take, from a timed sample."""


def described(piece: Any) -> dict[str, Any]:
    """The whole description of a piece as values that JSON can hold: the name of its class, and its fields."""
    return {"piece": type(piece).__name__, **asdict(piece)}


@contextmanager
def no_penalty_warnings() -> Iterator[None]:
    """Suppress `PenaltyWarning`: every setting of the paper has c below what the theorems ask for, or alpha = 2 in Solver II."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PenaltyWarning)
        yield
