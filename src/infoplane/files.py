"""Values as JSON, and files that are written whole or not at all."""

from __future__ import annotations

import math
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def to_json(
    value: Any,
    *,
    nonfinite: Callable[[float], Any] = lambda _: None,
    tuples: Callable[[list[Any]], Any] = list,
    arrays: Callable[[Any], Any] | None = None,
    others: Callable[[Any], Any] = str,
) -> Any:
    """A value in terms that JSON has: null, booleans, numbers, texts, lists, and objects whose keys are texts.

    Parameters
    ----------
    value
        None, booleans, integers, texts and finite numbers stay as they are; numpy's scalars become Python's; lists and mappings are
        converted inside, keys by ``str``.
    nonfinite
        What becomes of NaN and the infinities, for which JSON has no word: null, unless this says otherwise.
    tuples
        What becomes of a tuple, given its converted members: a list, unless this says otherwise.
    arrays
        What becomes of a numpy array: the list of its values, unless this says otherwise.
    others
        What becomes of everything else, such as a date: its text, unless this says otherwise.
    """

    def convert(one: Any) -> Any:
        if isinstance(one, np.generic):
            one = one.item()
        if one is None or isinstance(one, (bool, int, str)):
            return one
        if isinstance(one, float):
            return one if math.isfinite(one) else nonfinite(one)
        if isinstance(one, Mapping):
            return {str(key): convert(inside) for key, inside in one.items()}
        if isinstance(one, tuple):
            return tuples([convert(inside) for inside in one])
        if isinstance(one, list):
            return [convert(inside) for inside in one]
        if isinstance(one, np.ndarray):
            return convert(one.tolist()) if arrays is None else arrays(one)
        return others(one)

    return convert(value)


def write_whole(path: Path, write: Callable[[Any], object]) -> None:
    """Write to a file beside ``path`` and move it there once whole, so that no reader ever sees a part of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            write(file)
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private; a result is as readable as any other file
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
