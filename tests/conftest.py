import gc
import math
import os
import signal
import sys

import pytest

gc.disable()

# Threads of OpenMP, which scikit-learn has as many of as there were cores when it was loaded, spin while they wait: on one core for ever.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

FIRST = (
    "kernels/splitting",
    "kernels/fixed_point",
    "kernels/funnel_proof",
    "kernels/bottleneck_proof",
    "kernels",
    "certificate/funnel",
    "certificate/tasks",
    "frontier/test_release.py",
    "sweep/test_faults.py",
)
"""Tests that run first, the others as they are found: those of kernels, proofs and releases compile what the others then load from the
disk, and the last one mostly waits for processes of its own, so that it should not be what the run ends with."""

SEARCHES = ("kernels/funnel_proof", "certificate/funnel", "certificate/tasks", "frontier/test_release.py")
"""Tests that one process runs, since their kernels have most of their helpers in common."""

SEVERAL_CORES = tuple(
    f"tests/{place}"
    for place in ("sweep/", "view/report/", "solvers/test_contract.py", "test_solve.py", "runtime/test_budget.py")
)
"""Tests that have all cores: of threads, of every solver in threads, of sweeps, and of a browser, which has processes of its own."""


def _rank(file):
    return next((rank for rank, place in enumerate(FIRST) if file.startswith(f"tests/{place}")), len(FIRST))


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: _rank(item.nodeid))


def pytest_collection_finish():
    """What was imported stays: Python's collector, at rest until then, need not look through it again and again."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadfile` a file is run by one process, and so is a folder whose tests share what takes long: what kernels compile, the
    whole reproduction of the paper, or the page of a report.
    """
    from xdist.scheduler import LoadScopeScheduling

    class ByFile(LoadScopeScheduling):
        def _split_scope(self, nodeid):
            file = nodeid.partition("::")[0]
            folder = file.split("/")[1]
            if folder in ("paper", "report"):
                return folder
            if any(file.startswith(f"tests/{place}") for place in SEARCHES):
                return SEARCHES[0]
            return FIRST[_rank(file)] if file.startswith("tests/kernels/") else file

    if config.getvalue("dist") != "loadfile":
        return None
    config.option.loadscopereorder = False  # xdist would begin with the files that have the most tests
    return ByFile(config, log)


@pytest.fixture(autouse=True, scope="module")
def _one_core_per_process(request):
    """Processes that run tests side by side (pytest-xdist) stay out of each other's way, but for tests whose subject is several cores."""
    worker = os.environ.get("PYTEST_XDIST_WORKER")
    if worker is None or sys.platform != "linux" or request.node.nodeid.startswith(SEVERAL_CORES):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(before)[int(worker.removeprefix("gw")) % len(before)]})
    yield
    os.sched_setaffinity(0, before)


@pytest.fixture
def with_cores(monkeypatch):
    """Sets the number of cores that the library sees."""

    def see(count):
        monkeypatch.setattr("os.sched_getaffinity", lambda _process: set(range(count)), raising=False)
        monkeypatch.setattr("os.cpu_count", lambda: count)
        monkeypatch.setattr("infoplane.runtime.budget.quota", lambda: math.inf)
        monkeypatch.delenv("INFOPLANE_THREADS", raising=False)

    return see


@pytest.fixture(autouse=True, scope="session")
def _signals_are_heard():
    """A shell's & makes its children ignore SIGINT, and nohup SIGHUP; tests that send them must not depend on how pytest was started."""
    usual = {signal.SIGINT: signal.default_int_handler}
    if hasattr(signal, "SIGHUP"):
        usual[signal.SIGHUP] = signal.SIG_DFL
    before = {sent: signal.signal(sent, handler) for sent, handler in usual.items()}
    yield
    for sent, handler in before.items():
        signal.signal(sent, handler)
