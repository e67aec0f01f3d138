"""Kernels as plain Python: the text that numba compiles, run by the interpreter.

A helper (`part`) is plain Python whenever Python calls it, but those that it has pasted in (`inlined`) would be compiled one by one, which
takes seconds, and what a test learns of its mathematics is the same. The entries that are made of helpers are tested compiled, and so is
every helper whose rounding is part of a proof (`compiled.py`).
"""

import importlib
import sys

from numba import config

KERNELS = "infoplane.kernels"

_modules = {}
"""The kernels, imported a second time with the compiler switched off."""


def interpreted(name):
    """The module of that name in `infoplane.kernels`, uncompiled; every other user of the package keeps the compiled one."""
    compiled = {key: sys.modules.pop(key) for key in [*sys.modules] if key.startswith(KERNELS)}
    before, config.DISABLE_JIT = config.DISABLE_JIT, 1
    try:
        sys.modules.update(_modules)
        module = importlib.import_module(f"{KERNELS}.{name}")
        _modules.update({key: sys.modules[key] for key in sys.modules if key.startswith(KERNELS)})
    finally:
        config.DISABLE_JIT = before
        for key in [key for key in sys.modules if key.startswith(KERNELS)]:
            del sys.modules[key]
        sys.modules.update(compiled)
    return module
