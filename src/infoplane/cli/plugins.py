"""``--plugin``: solvers of the user's own. ``module``, ``file.py``: whatever registers its solvers by itself (`infoplane.register`);
``module:Name``, ``file.py:Name``: a subclass of `infoplane.Solver` that is registered here. What is named is run, and nothing else is: no
store and no data file says what to import.
"""

from __future__ import annotations

import os
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any

import click

from ..solvers.registry import SOLVERS, register


def load_plugins(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    """Import what each value names, and register its solvers; a usage error if there are none."""
    for value in values:
        where, name = _parted(value)
        if not where or name == "":
            raise click.BadParameter(
                f"expected MODULE, FILE.py, MODULE:NAME or FILE.py:NAME, found {value!r}.", param=parameter
            )
        try:
            module = _imported(where)
            if name is not None:
                register(getattr(module, name))
        except Exception as error:  # it is the user's code: whatever it raises
            said = f"{type(error).__name__}: {error}".rstrip(": ").rstrip(".")
            raise click.BadParameter(f"{value!r} cannot be loaded: {said}.", param=parameter) from error
        if name is None and not any(_comes_from(module, type(solver)) for solver in SOLVERS.values()):
            raise click.BadParameter(
                f"{value!r} has registered no solver of its own: let it call infoplane.register, or name the class, {where}:NAME.",
                param=parameter,
            )


def _parted(value: str) -> tuple[str, str | None]:
    """The module or file, and the name of a class, None if none is given; a colon may be part of a path."""
    if value.endswith(".py"):
        return value, None
    where, colon, name = value.rpartition(":")
    return (where, name) if colon else (value, None)


def _imported(where: str) -> ModuleType:
    """The module; a file by the name that it has without its ending, so that processes started from here can import it too."""
    if not where.endswith(".py"):
        _find_in(os.getcwd())  # as python -m does: a module beside the data is found
        return import_module(where)
    path = Path(where).resolve(strict=True)
    _find_in(str(path.parent))
    module = import_module(path.stem)
    if Path(module.__file__ or "").resolve() != path:
        raise ImportError(f"{path.stem} is the name of another module, {module.__file__}; rename the file")
    return module


def _find_in(folder: str) -> None:
    if folder not in sys.path:
        sys.path.insert(0, folder)


def _comes_from(module: ModuleType, cls: type[Any]) -> bool:
    """Whether a solver's class is one of the module's, defined in it or brought by it, and none of infoplane's."""
    ours = __package__.partition(".")[0]
    inside = f"{cls.__module__}.".startswith(f"{module.__name__}.")
    return inside or (getattr(module, cls.__name__, None) is cls and cls.__module__.partition(".")[0] != ours)
