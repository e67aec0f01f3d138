"""Checks of the numbers that a caller gives, and of the extras that are installed.

NumPy's numbers count like Python's, ``True`` and ``False`` are not numbers, and an error says what was expected and what was found.
"""

from __future__ import annotations

import math
import reprlib
from collections.abc import Sequence
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np

from .errors import InvalidOptionError, MissingExtraError
from .information import Array

PYTHON_ONLY = {"flag": False}
"""Metadata of a solver's field that the command line has no flag for: its other options are enough there."""


SUM_TOLERANCE = 1e-9
"""How far from 1 probabilities may sum: that of ten million of them, each rounded to sixteen digits."""

MOST = 2**63 - 1
"""The largest whole number that compiled code knows."""


def extra(module: str, needs: str, name: str) -> Any:
    """A module of an extra, or the error that says who ``needs`` what, and how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise MissingExtraError(f'{needs}: pip install "infoplane[{name}]".') from error


def whole_number(name: str, value: int, least: int = 1) -> int:
    """Return a whole number that is at least ``least`` (0 or 1), and at most `MOST`, as a Python int, or raise `InvalidOptionError`."""
    if isinstance(value, bool) or not isinstance(value, Integral) or not least <= value <= MOST:
        kind = "a positive whole number" if least else "0 or a positive whole number"
        beyond = ", at most 2**63 - 1" if isinstance(value, Integral) and value > MOST else ""
        raise InvalidOptionError(f"{name} must be {kind}{beyond}, found {reprlib.repr(value)}.")
    return int(value)


def numbers(name: str, given: Any) -> Array:
    """Return a list of one or more numbers as an array of floats, or raise `InvalidOptionError`; a text is no list."""
    try:
        raw = np.asarray(given)
        if raw.dtype.kind == "O" and all(isinstance(one, Real) and not isinstance(one, bool) for one in raw.flat):
            raw = raw.astype(float)
    except (TypeError, ValueError, OverflowError):  # rows of different lengths, or a whole number beyond 1.8e308
        raw = np.empty(0, dtype=object)
    if raw.dtype.kind not in "iuf" or raw.ndim != 1 or raw.size == 0:
        raise InvalidOptionError(f"{name} must be a non-empty list of numbers, found {reprlib.repr(given)}.")
    return raw.astype(float)


def real_array(name: str, given: Any) -> Array:
    """Return an array of real numbers, of any shape, as floats of its own, or raise `InvalidOptionError`."""
    try:
        raw = np.asarray(given)
        # As objects complex numbers would lose their imaginary part.
        hidden = raw.dtype.kind == "O" and any(isinstance(one, (complex, np.complexfloating)) for one in raw.flat)
        if raw.dtype.kind in "biufO" and not hidden:
            return np.array(raw, dtype=float)
    except (TypeError, ValueError, OverflowError):  # rows of different lengths, or what is no number
        pass
    raise InvalidOptionError(f"{name} must be an array of real numbers; found {reprlib.repr(given)}.")


def listed(name: str, given: Any, what: str) -> list[Any]:
    """Return what can be gone through as a list, or raise `InvalidOptionError`; a text is no list. ``what`` completes "a list of ..."."""
    try:
        if not isinstance(given, (str, bytes)):
            return list(given)
    except TypeError:
        pass
    raise InvalidOptionError(f"{name} must be a list of {what}, found {reprlib.repr(given)}.")


def check_one_of(name: str, value: object, words: Sequence[str | None]) -> None:
    """Raise `InvalidOptionError` unless a value is one of some words, or None if that is among them."""
    if not (value is None or isinstance(value, str)) or value not in words:
        raise InvalidOptionError(f"{name} must be {' or '.join(map(repr, words))}, found {reprlib.repr(value)}.")


def check_flag(name: str, value: object) -> None:
    """Raise `InvalidOptionError` unless a value is True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise InvalidOptionError(f"{name} must be True or False, found {reprlib.repr(value)}.")


def check_callable(name: str, value: object) -> None:
    """Raise `InvalidOptionError` unless a value can be called."""
    if not callable(value):
        raise InvalidOptionError(f"{name} must be a function, found {reprlib.repr(value)}.")


def number(
    name: str,
    value: float,
    expected: str,
    *,
    above: float | None = None,
    least: float = -math.inf,
    most: float = math.inf,
    below: float | None = None,
    finite: bool = True,
) -> float:
    """Return a number as a Python float, or raise `InvalidOptionError` unless above < value < below and least <= value <= most.

    Infinity is refused unless ``finite`` is False, NaN always. ``expected`` completes the sentence "NAME must be ...".
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidOptionError(
            f"{name} must be {expected if 'number' in expected else 'a number'}; found {reprlib.repr(value)}."
        )
    try:
        as_float = float(value)
    except OverflowError:  # a whole number beyond 1.8e308
        as_float = math.inf
    outside = not least <= as_float <= most or (above is not None and as_float <= above)
    if outside or (below is not None and as_float >= below) or (finite and math.isinf(as_float)):
        raise InvalidOptionError(f"{name} must be {expected}; found {reprlib.repr(value)}.")
    return as_float


def positive_number(name: str, value: float, *, finite: bool = True) -> float:
    """Return a number above 0 as a Python float, or raise `InvalidOptionError`."""
    return number(name, value, "a positive number", above=0.0, finite=finite)


def cap_in_nats(name: str, value: float) -> float:
    """Return a number of nats, 0 or more, as a Python float, or raise `InvalidOptionError`."""
    return number(name, value, "a number of nats, 0 or more", least=0.0)
