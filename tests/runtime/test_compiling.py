"""Machine code on disk: whose it is, where it lies, when it is stale, and what becomes of what nobody uses."""

import errno
import gc
import importlib
import os
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import infoplane
from infoplane.runtime import compiling
from infoplane.runtime.budget import clock
from infoplane.runtime.compiling import (
    COMPILING,
    KEPT,
    configuration,
    entry,
    folder_for,
    kept_in,
    one_process,
    part,
    remove_unused,
)


def test_a_kernel_without_a_folder_for_its_cache_still_works():
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


def test_importing_compiles_nothing_and_loads_nothing_heavy():
    code = (
        "import sys, infoplane\n"
        "from infoplane.kernels.splitting.advance import advance\n"
        "assert not advance.compiled.signatures\n"
        "heavy = {'matplotlib', 'pandas', 'sklearn', 'dask', 'polars', 'pyarrow', *(f'scipy.{name}' for name in\n"
        "         ('special', 'linalg', 'optimize', 'stats', 'cluster'))} & set(sys.modules)\n"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_call_that_compiles_says_so_and_the_next_process_does_not(tmp_path):
    """Once, of two kernels of a user's own, on a machine that has seen none."""
    (tmp_path / "kernel.py").write_text(
        "import numpy as np\n"
        "from infoplane.runtime.compiling import entry\n\n"
        "@entry\ndef twice(p):\n    return np.append(p, p)\n\n"
        "@entry\ndef thrice(p):\n    return 3.0 * p\n\n"
        "twice(np.array([0.5, 0.25]))\nthrice(0.5)\n"
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

    began, start = time.perf_counter(), clock()
    twice(2.0)
    took, counted = time.perf_counter() - began, clock() - start
    assert counted < 0.5 * took  # what is left is the call itself
    assert clock() - start < time.perf_counter() - began


PROBE = """
from infoplane.runtime.compiling import entry
from infoplane.kernels.common import safe_log

@entry
def probe(p):
    return safe_log(p)
"""


def copy_of_kernels(folder: Path) -> Path:
    """The kernels by themselves, and what they import: the rest of the package would only take time."""
    source, package = Path(infoplane.__file__).parent, folder / "infoplane"
    for inner in ("kernels", "runtime"):
        shutil.copytree(source / inner, package / inner, ignore=shutil.ignore_patterns("__pycache__"))
    (package / "__init__.py").touch()
    shutil.copy(source / "information.py", package)
    (package / "kernels/fixed_point/probe.py").write_text(PROBE)
    return package


def asked(folder: Path, cache: Path | None = None) -> str:
    """What the probe of the copy answers when all of it is imported anew, and whether it had to be compiled.

    In this process, which has loaded numba; that the next process finds what one has compiled is what a test above shows.
    """

    def forgotten():
        return {name: sys.modules.pop(name) for name in [*sys.modules] if name.partition(".")[0] == "infoplane"}

    usual = forgotten()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(folder)
            patch.setattr(sys, "dont_write_bytecode", True)
            patch.setattr(configuration, "CACHE_DIR", str(cache or folder / "cache"))
            probe = importlib.import_module("infoplane.kernels.fixed_point.probe").probe
            return f"{probe(1.0)} {'compiled' if probe.compiled.stats.cache_misses else 'loaded'}"
    finally:
        forgotten()
        sys.modules.update(usual)


def kept(folder: Path) -> list[str]:
    """Names of the files with machine code and of their index."""
    return sorted(file.name for file in folder.rglob("*.nb?"))


def test_machine_code_is_kept_until_a_source_that_it_comes_from_is_edited(tmp_path):
    package = copy_of_kernels(tmp_path)
    assert asked(tmp_path) == "0.0 compiled"

    # An edit in another folder, and the same contents written anew.
    stranger = package / "kernels/splitting/advance.py"
    stranger.write_text(stranger.read_text() + "\n# edited\n")
    assert asked(tmp_path) == "0.0 loaded"

    # A helper in another file.
    helper = package / "kernels/common.py"
    text = helper.read_text()
    assert "return math.log(p) if" in text
    helper.write_text(text.replace("return math.log(p) if", "return 7.0 + math.log(p) if"))
    assert [asked(tmp_path) for _ in range(2)] == ["7.0 compiled", "7.0 loaded"]

    # And undone: the earlier machine code is still there.
    helper.write_text(text)
    assert asked(tmp_path) == "0.0 loaded"
    assert len(kept(tmp_path / "cache")) == 4


def test_a_class_that_was_renamed_does_not_keep_the_cache_from_loading(tmp_path):
    """Signatures name the classes of arguments: machine code for one that is gone is stale, not an error."""
    package = copy_of_kernels(tmp_path)
    probe = package / "kernels/fixed_point/probe.py"
    for name in ("Before", "After"):
        probe.write_text(
            "from typing import NamedTuple\n"
            "from infoplane.runtime.compiling import entry\n\n"
            f"class {name}(NamedTuple):\n    p: float\n\n"
            "@entry\ndef of_tuple(one):\n    return one.p\n\n"
            f"def probe(p):\n    return of_tuple({name}(p))\n\n"
            "probe.compiled = of_tuple.compiled\n"
        )
        assert asked(tmp_path) == "1.0 compiled"
    assert asked(tmp_path) == "1.0 loaded"


def test_it_lies_where_the_user_says_else_beside_the_sources_else_in_the_users_cache(tmp_path, monkeypatch):
    """A folder that cannot be written to is, for this test, a file where there should be a folder: not even root can."""
    package = copy_of_kernels(tmp_path)
    said, beside, home = tmp_path / "said", package / "kernels/fixed_point/__pycache__", tmp_path / "home"
    for name in ("XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for folder in (said, beside, home):
        assert [asked(tmp_path, said) for _ in range(2)] == ["0.0 compiled", "0.0 loaded"]
        assert len(kept(folder)) == 2
        shutil.rmtree(folder)
        folder.touch()
    assert asked(tmp_path, said) == "0.0 compiled"  # there is none left
    assert kept(tmp_path) == []


def test_a_folder_is_chosen_for_one_function_and_not_for_others(tmp_path):
    before = configuration.CACHE_DIR
    with kept_in(tmp_path):
        assert str(tmp_path) == configuration.CACHE_DIR
    assert before == configuration.CACHE_DIR


def test_the_states_that_were_used_last_stay(tmp_path):
    sources = tmp_path / "sources"
    sources.mkdir()
    folders = []
    for state in range(KEPT + 3):
        (sources / "one.py").write_text(f"# {state}")
        compiling.digest_of_sources.cache_clear()
        folder_for.cache_clear()
        folders.append(folder_for(sources, str(tmp_path)))
        (folders[-1] / "code.nbc").touch()
        os.utime(folders[-1], (state, state))
    stranger = tmp_path / "infoplane-sources-of_another-0123456789abcdef"
    stranger.mkdir()
    os.utime(folders[0])
    remove_unused(folders[-1])
    assert len(set(folders)) == KEPT + 3
    assert {one.name for one in tmp_path.glob("infoplane-*")} == {
        one.name for one in (folders[0], *folders[-KEPT + 1 :], stranger)
    }


def test_one_process_at_a_time_until_one_is_through(tmp_path):
    """Locks are of open files, so that two threads stand for two processes."""
    events, inside, may_end = [], threading.Event(), threading.Event()

    def first():
        with one_process(tmp_path / "kernel.lock"):
            inside.set()
            assert may_end.wait(60)
            events.append("made")

    def second():
        with one_process(tmp_path / "kernel.lock"):
            events.append("found")

    threads = [threading.Thread(target=one) for one in (first, second)]
    threads[0].start()
    assert inside.wait(60)
    with one_process(tmp_path / "another.lock"):  # does not wait
        pass
    threads[1].start()
    may_end.set()
    for thread in threads:
        thread.join()
    assert events == ["made", "found"]

    # Nobody waits for what is there.
    with one_process(tmp_path / "kernel.lock"), one_process(tmp_path / "kernel.lock"):
        pass


def test_one_that_failed_leaves_the_work_to_the_next(tmp_path):
    with pytest.raises(ZeroDivisionError), one_process(tmp_path / "kernel.lock"):
        raise ZeroDivisionError
    assert (tmp_path / "kernel.lock").stat().st_size == 0
    with one_process(tmp_path / "kernel.lock"):
        pass
    assert (tmp_path / "kernel.lock").stat().st_size > 0


def test_a_folder_where_nothing_can_be_locked_is_no_reason_to_fail(tmp_path):
    with one_process(tmp_path / "nowhere" / "kernel.lock"):
        pass


@pytest.mark.parametrize(
    ("platform", "found"),
    [("win32", "local"), ("darwin", "home/Library/Caches"), ("linux", "xdg")],
)
def test_the_users_cache_is_where_the_system_has_it(platform, found, tmp_path, monkeypatch):
    monkeypatch.setattr("sys.platform", platform)
    for name, folder in (("LOCALAPPDATA", "local"), ("XDG_CACHE_HOME", "xdg"), ("HOME", "home")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    assert compiling.user_cache() == tmp_path / found
