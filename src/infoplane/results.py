"""What every result has in common: it cannot be changed, and it is equal to itself only.

A result records one run, with the time that it took. Two of them are never "the same", however alike their numbers are: ``==`` asks whether
both are one object, ``hash`` agrees with it, and whoever means equal numbers compares those (``np.array_equal(a.encoder, b.encoder)``).
A `Joint` is no record but a value: two are equal if their probabilities, labels and names are.
"""

from __future__ import annotations

from typing import Any

import numpy as np


class Result:
    """A record whose arrays are read-only, and are nobody else's; its subclasses are frozen dataclasses with ``eq=False``."""

    def __post_init__(self) -> None:
        self.__setstate__(vars(self).copy())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What was pickled comes back writable.
        kept = {name: read_only(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}
        self.__dict__.update(kept)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array if nobody can write to it, else a copy to which nobody can."""
    owner = array if array.base is None else array.base
    if not array.flags.writeable and not (isinstance(owner, np.ndarray) and owner.flags.writeable):
        return array
    kept = array.copy(order="K")
    kept.flags.writeable = False
    return kept
