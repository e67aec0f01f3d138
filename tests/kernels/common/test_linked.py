import numba
import pytest

from infoplane.kernels.common.jit import entry, part
from infoplane.kernels.common.linked import LINKED, was_checked


@pytest.mark.parametrize(
    ("short", "checked"), [((0, 61), False), ((0, 62), True), ((0, 68), True), ((0, 69), False), ((None, None), False)]
)
def test_only_versions_of_numba_that_were_checked(short, checked):
    assert was_checked(short) is checked


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
