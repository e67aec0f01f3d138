"""A piece: the unit of running and saving. A frozen description that runs by itself and yields named arrays of numbers.

A figure is made of pieces, and figures may share them. A reproduction that is interrupted repeats at most one piece. The whole
description is the key under which the numbers are stored.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

Arrays = dict[str, np.ndarray[Any, Any]]
"""What a piece yields and a file holds: arrays by name."""


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
