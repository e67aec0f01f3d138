import numba

from infoplane.kernels.common.jit import entry, part
from infoplane.kernels.common.linked import LINKED


def half(u):
    return 0.5 * u


def test_a_part_has_no_machine_code_of_its_own():
    compiled = part(half)
    compiled.compile((numba.float64,))
    (made,) = compiled.overloads.values()
    has_an_address = made.target_context.codegen()._engine.is_symbol_defined(made.fndesc.mangled_name)
    assert has_an_address is not LINKED


def test_a_part_is_called_by_kernels_by_parts_and_by_python():
    inner = part(half)
    outer = part(lambda u: inner(u) + 1.0)
    assert entry(lambda u: outer(u) + inner(u))(2.0) == 3.0
    assert outer(2.0) == 2.0
