"""Functions that only kernels call are compiled to be linked, not to be run.

numba takes every function through all of LLVM's passes to machine code, and then the kernel that calls it once more, with all that it
calls. Here the former end after the cheap passes (which shorten and inline): those that count are the passes over the whole kernel.
Kernels compile in about three quarters of the time, and are as fast (docs/benchmarks/compilation.md).

It also makes the process that compiles a kernel run the same code as those that load it from disk. With machine code of their own, calls
of the former would end in that code, of the latter in what was optimised with the kernel, and the two may add in another order where
`fastmath` lets them: the same seed would give other last bits in the first process of a machine.

All of this leans on names that numba keeps to itself, so it is for the versions in which they were checked (`CHECKED`); with another
version functions are compiled in numba's own way.
"""

from collections.abc import Callable
from typing import Any

import numba
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

CHECKED = ((0, 62), (0, 68))
"""The first and the last version of numba in which the names used here mean what they should."""


def was_checked(short: tuple[int | None, ...]) -> bool:
    """Whether these names were checked in a version of numba; a build without a tag has (None, None)."""
    return None not in short and CHECKED[0] <= short <= CHECKED[1]


LINKED = was_checked(numba.version_info.short)
"""Whether parts are linked, or compiled in numba's own way."""


class Unplaced:
    """Stands where numba would enter a function's environment (what it needs in order to print, or to raise with values) into its code.

    There is no machine code to enter it into. Kernels do neither; one that did would end in numba's "missing Environment", not in a crash.
    """

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing to be done."""


class PartLibrary(JITCodeLibrary):
    """The code of one function, after the cheap passes, without an address."""

    @property
    def codegen(self) -> Unplaced:  # noqa: D102
        return Unplaced()

    def get_pointer_to_function(self, name: str) -> int:  # noqa: ARG002
        """Zero: numba's word for a function that this library does not define."""
        self._ensure_finalized()
        return 0

    def _optimize_final_module(self) -> None:
        made_by = self._codegen
        passes, builder = made_by._module_pass_manager(
            loop_vectorize=made_by._loopvect, slp_vectorize=False, opt=made_by._opt_level, cost="cheap"
        )
        passes.run(self._final_module, builder)

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class PartCompiler(Compiler):
    """numba's compiler, which leaves what it makes in a `PartLibrary`."""

    def compile_extra(self, func: Callable[..., Any]) -> Any:  # noqa: D102
        self.state.library = PartLibrary(self.state.targetctx.codegen(), func.__qualname__)
        return super().compile_extra(func)


COMPILER: type[Compiler] = PartCompiler if LINKED else Compiler
