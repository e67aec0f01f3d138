"""Kernels' helpers as kernels call them, compiled with their own flags; and whole kernels as plain Python, run by the interpreter.

If Python calls a helper (`part`) it is plain Python, but those that it has pasted in (`inlined`) would be compiled one by one, which takes
seconds, and what a test learns of its mathematics is the same. The entries that are made of helpers are tested compiled, and so is every
helper whose rounding is part of a proof. Their machine code is kept beside that of the kernels that call them.
"""

import functools
import importlib
import sys
from inspect import isfunction
from pathlib import Path

import numba

from infoplane.runtime.compiling import configuration, folder_for, kept_in


@functools.cache
def compiled(part):
    """A function that Python can call and that calls a helper's machine code: for what rounding, or speed, depends on."""

    def call(*arguments):
        return part(*arguments)

    folder = folder_for(Path(part.__code__.co_filename).parent, configuration.CACHE_DIR)
    # numba knows a function again in another process, but no other object of its own.
    if folder is None or not isfunction(part):
        return numba.njit(call)
    with kept_in(folder):
        return numba.njit(cache=True)(call)


KERNELS = "infoplane.kernels"

_modules = {}
"""The kernels, imported a second time with the compiler switched off."""


def interpreted(name):
    """The module of that name in `infoplane.kernels`, uncompiled; every other user of the package keeps the compiled one."""
    usual = {key: sys.modules.pop(key) for key in [*sys.modules] if key.startswith(KERNELS)}
    before, numba.config.DISABLE_JIT = numba.config.DISABLE_JIT, 1
    try:
        sys.modules.update(_modules)
        module = importlib.import_module(f"{KERNELS}.{name}")
        _modules.update({key: sys.modules[key] for key in sys.modules if key.startswith(KERNELS)})
    finally:
        numba.config.DISABLE_JIT = before
        for key in [key for key in sys.modules if key.startswith(KERNELS)]:
            del sys.modules[key]
        sys.modules.update(usual)
    return module
