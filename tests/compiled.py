"""Kernels' helpers as kernels call them, compiled with their own flags; and whole kernels as plain Python, run by the interpreter.

If Python calls a helper (`part`) it is plain Python, but those that it has pasted in (`inlined`) would be compiled one by one, which takes
seconds, and what a test learns of its mathematics is the same. The entries that are made of helpers are tested compiled, and so is every
helper whose rounding is part of a proof.
"""

import functools
import importlib
import sys

import numba


@functools.cache
def compiled(part):
    """A function that Python can call and that calls a helper's machine code: for what rounding, or speed, depends on."""

    @numba.njit
    def call(*arguments):
        return part(*arguments)

    return call


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
