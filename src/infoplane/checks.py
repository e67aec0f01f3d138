"""Numbers that a caller gives: NumPy's count like Python's, bool does not, and a wrong one is told what was expected."""

from __future__ import annotations

import math
from collections.abc import Callable
from numbers import Integral, Real

from .errors import InvalidOptionError


def whole_number(name: str, value: int, least: int = 1) -> int:
    """A whole number, at least 0 or 1, as Python's own."""
    if isinstance(value, bool) or not isinstance(value, Integral) or value < least:
        kind = "a positive whole number" if least else "0 or a positive whole number"
        raise InvalidOptionError(f"{name} must be {kind}, found {value!r}.")
    return int(value)


def number(name: str, value: float, ok: Callable[[float], bool], expected: str) -> float:
    """A finite number that is ok, as Python's own."""
    if not isinstance(value, Real):
        raise InvalidOptionError(f"{name} must be a number; found {value!r}.")
    if not (math.isfinite(value) and ok(value)):
        raise InvalidOptionError(f"{name} must be {expected}; found {value!r}.")
    return float(value)
