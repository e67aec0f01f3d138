import errno
import gc
import os
import subprocess
import sys
import threading
import time

import numpy as np

from infoplane.runtime import compiling
from infoplane.runtime.compiling import COMPILING, entry, part, telling_of_compilation


def test_a_kernel_without_a_place_for_its_cache_still_works():
    """A function that has no file is what numba cannot cache, as when no folder is writable."""
    scope = {}
    exec("def double(u):\n    return 2.0 * u", scope)
    assert entry(scope["double"])(1.5) == 3.0


def half(u):
    return 0.5 * u


def test_a_part_is_called_by_kernels_by_parts_and_as_plain_python_by_python():
    inner = part(half)
    outer = part(lambda u: inner(u) + 1.0)
    assert entry(lambda u: outer(u) + inner(u))(2.0) == 3.0
    assert outer(2.0) == 2.0
    assert inner is half


def test_a_disk_that_is_full_costs_nothing_but_the_time_to_compile(tmp_path, monkeypatch):
    """What was compiled runs, although it could not be saved."""

    def full(*_arguments):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(compiling.configuration, "CACHE_DIR", str(tmp_path))
    doubled = entry(lambda u: u + u)
    monkeypatch.setattr("os.replace", full)  # the last thing that numba does to a file it writes
    assert doubled(2.0) == 4.0
    assert not list(tmp_path.rglob("*.nb?"))


def test_importing_compiles_nothing_and_loads_no_plotting():
    code = (
        "import sys, infoplane\n"
        "from infoplane.kernels.splitting.advance import advance\n"
        "assert not advance.compiled.signatures\n"
        "heavy = {'matplotlib', 'pandas', 'sklearn', 'dask', 'polars', 'pyarrow'} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_compilation_is_told_once_and_only_when_it_happens(monkeypatch, caplog):
    monkeypatch.setattr(compiling, "_told", threading.Event())
    misses, told = [], compiling._told
    with telling_of_compilation(lambda: bool(misses)):
        assert not told.wait(0.3)
    with telling_of_compilation(lambda: bool(misses)):
        misses.append(1)
        assert told.wait(60)
    with telling_of_compilation(lambda: bool(misses)):
        time.sleep(0.3)
    assert [record.getMessage() for record in caplog.records] == [COMPILING]


def test_a_call_that_compiles_says_so_and_the_next_process_does_not(tmp_path):
    """A kernel of a user's own, on a machine that has seen none; it takes the compiler a second."""
    (tmp_path / "kernel.py").write_text(
        "import numpy as np\n"
        "from infoplane.runtime.compiling import entry\n\n"
        "@entry\ndef twice(p):\n    return np.append(p, p)\n\n"
        "twice(np.array([0.5, 0.25]))\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    command = [sys.executable, str(tmp_path / "kernel.py")]
    said = [
        subprocess.run(command, check=True, capture_output=True, text=True, env=environment).stderr for _ in range(2)
    ]
    assert said == [f"{COMPILING}\n", ""]


def test_kernels_run_without_the_compiler_too():
    """And the numbers are the same, up to the order in which the compiler adds."""
    code = (
        "import infoplane as ip\n"
        "joint, bottleneck, funnel = ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.funnel(2.0)\n"
        "cases = (bottleneck, ip.BlahutArimoto()), (bottleneck, ip.Accelerated()), (funnel, ip.Accelerated())\n"
        "losses = [ip.solve(joint, *case, starts=1, rng=0).loss for case in cases]\n"
    )
    compiled, environment = {}, {**os.environ, "NUMBA_DISABLE_JIT": "1"}
    exec(code, compiled)
    done = subprocess.run(
        [sys.executable, "-c", f"{code}print(*losses)"], check=True, capture_output=True, text=True, env=environment
    )
    np.testing.assert_allclose([float(loss) for loss in done.stdout.split()], compiled["losses"], atol=1e-12)


def test_the_collector_rests_and_is_as_it_was_once_all_have_left():
    was = gc.isenabled()
    try:
        for enabled in (True, False):
            (gc.enable if enabled else gc.disable)()
            first, second = compiling.collector_at_rest(), compiling.collector_at_rest()
            first.__enter__()
            second.__enter__()
            assert not gc.isenabled()
            first.__exit__(None, None, None)
            second.__exit__(None, None, None)
            assert gc.isenabled() is enabled
    finally:
        (gc.enable if was else gc.disable)()


def test_the_clock_does_not_count_the_compiler():
    @compiling.entry
    def twice(x):
        return x + x

    began, clock = time.perf_counter(), compiling.clock()
    twice(2.0)
    took, counted = time.perf_counter() - began, compiling.clock() - clock
    assert counted < 0.5 * took  # what is left is the call itself
    assert compiling.clock() - clock < time.perf_counter() - began
