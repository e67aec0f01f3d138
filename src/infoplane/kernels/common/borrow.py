"""Arrays that a kernel uses but does not own.

Numba counts references to every array that a function is given, with one atomic instruction at its beginning and one at its end. On a
3 x 3 joint that was a third of an iteration of Blahut-Arimoto, and threads that share p(x, y) wait for each other's counts. A borrowed
array is the same memory without a count, and is valid for as long as its owner lives. An entry's arguments are kept alive by its caller;
arrays that a kernel makes itself are kept alive by a call of `release` after their last use.
"""

from typing import Any

from numba.core import types
from numba.extending import intrinsic

from .jit import INTERPRETED


def _borrow(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo = array.meminfo.type(None)
        return array._getvalue()
    if isinstance(kind, (types.UniTuple, types.NamedUniTuple, types.Tuple, types.NamedTuple)):
        members: Any = kind.types
        parts = (builder.extract_value(value, place) for place in range(len(members)))
        borrowings = [_borrow(context, builder, one, part) for one, part in zip(members, parts, strict=True)]
        return context.make_tuple(builder, kind, borrowings)
    return value


def _typed(_typing: Any, owner: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _borrow(context, builder, signature.return_type, arguments[0])

    return owner(owner), generate


def _same(owner: Any) -> Any:
    """Without the compiler nothing has to be borrowed."""
    return owner


borrowed: Any = _same if INTERPRETED else intrinsic(_typed)
"""An array, or a tuple with arrays in it, without their reference counts."""


def _kept(_typing: Any, owner: Any) -> Any:
    def generate(context: Any, _builder: Any, _signature: Any, _arguments: Any) -> Any:
        return context.get_dummy_value()

    return types.void(owner), generate


release: Any = _same if INTERPRETED else intrinsic(_kept)
"""Does nothing with its argument; but numba frees an array after its last use, and this is a use."""
