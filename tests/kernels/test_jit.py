import subprocess
import sys

from infoplane.kernels.jit import entry


def test_a_kernel_without_a_place_for_its_cache_still_works():
    """A function that has no file is what numba cannot cache, as when no folder is writable."""
    scope = {}
    exec("def double(u):\n    return 2.0 * u", scope)
    assert entry(scope["double"])(1.5) == 3.0


def test_importing_compiles_nothing_and_loads_no_plotting():
    code = (
        "import sys, infoplane\n"
        "from infoplane.kernels.advance import advance_exact, advance_gradient\n"
        "assert not advance_exact.signatures and not advance_gradient.signatures\n"
        "heavy = {'matplotlib', 'pandas', 'sklearn', 'dask', 'polars', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
