"""Helpers of kernels as kernels call them: compiled, with their own flags. If Python calls them (`runtime.compiling`) they are Python."""

import functools

import numba


@functools.cache
def compiled(part):
    """A function that Python can call and that calls a helper's machine code: for what rounding, or speed, depends on."""

    @numba.njit
    def call(*arguments):
        return part(*arguments)

    return call
