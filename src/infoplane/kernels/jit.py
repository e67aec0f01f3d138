"""How kernels are compiled: one place for the flags.

`part` marks a function that other kernels call; `entry` one that Python calls, whose machine code (with all its parts) is
cached on disk. Division follows IEEE rules instead of raising, and the GIL is released, so that threads run side by side.
"""

from collections.abc import Callable
from typing import Any, TypeVar

from numba import njit

F = TypeVar("F", bound=Callable[..., Any])

FLAGS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}


def part(function: F) -> F:
    """Compile a helper when the kernel that uses it is compiled."""
    return njit(**FLAGS)(function)  # type: ignore[no-any-return]


def inlined(function: F) -> F:
    """Paste a helper into the kernel that uses it: every further layer of calls costs seconds of compile time."""
    return njit(inline="always", **FLAGS)(function)  # type: ignore[no-any-return]


def entry(function: F) -> F:
    """Compile on the first call, once per machine: the result is cached on disk, where there is a place to write to."""
    try:
        return njit(cache=True, **FLAGS)(function)  # type: ignore[no-any-return]
    except RuntimeError:  # numba found no writable folder, neither beside the source nor in the user's cache
        return njit(**FLAGS)(function)  # type: ignore[no-any-return]
