"""The one budget: its parts end together, limits are counted, work that cannot be interrupted is not waited for, and Ctrl-C is heard.

One BLAS thread for as long as anyone asks for it.
"""

import functools
import math
import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from infoplane.errors import InvalidOptionError
from infoplane.runtime import budget as budgets
from infoplane.runtime.budget import Budget, Stopped, quota


def test_what_stops_a_budget_stops_its_parts_and_nothing_else():
    whole, other = Budget(), Budget()
    part = whole.part(cells=3)
    assert not part.stopped
    whole.stop()
    assert part.stopped
    assert part.spent
    assert not other.stopped
    other.look()
    with pytest.raises(Stopped):
        part.look()


def test_every_limit_ends_it_and_a_part_has_spent_nothing():
    for limit, spend in (("cells", "cells_spent"), ("iterations", "rounds_spent")):
        budget = Budget(**{limit: 2})
        assert not budget.spent
        setattr(budget, spend, 2)
        assert budget.spent
        assert not budget.part().spent
    assert Budget(seconds=0.0).spent
    assert Budget(seconds=5.0).seconds_left <= 5.0


def test_the_time_of_a_part_ends_with_that_of_the_whole_unless_it_has_its_own():
    whole = Budget(seconds=5.0, began=budgets.clock() - 4.0)
    assert whole.part(iterations=3).seconds_left <= 1.0
    assert whole.part(iterations=3).part(cells=3).seconds_left <= 1.0
    assert whole.part(seconds=10.0).seconds_left > 9.0
    assert Budget().part().seconds_left == math.inf


def test_what_is_awaited_gives_its_result_or_its_error():
    assert Budget().awaited(lambda: 3) == 3

    def late():
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        Budget().awaited(late)


def test_a_stop_ends_the_waiting_and_not_the_work():
    budget, going, released, ended = Budget(), threading.Event(), threading.Event(), threading.Event()

    def work():
        going.set()
        budget.stop()
        released.wait(300)
        ended.set()

    with pytest.raises(Stopped):
        budget.awaited(work)
    assert going.is_set()
    assert not ended.is_set()
    released.set()
    assert ended.wait(300)


def threads_of(pool):
    """How many threads a pool starts for work that waits."""
    before, released = {*threading.enumerate()}, threading.Event()
    for _ in range(20):
        pool.submit(released.wait, 300)
    started = {*threading.enumerate()} - before
    released.set()
    return len(started)


def test_cores_are_those_that_the_process_may_use(with_cores):
    for count in (1, 3):
        with_cores(count)
        assert budgets.cores() == count
        with budgets.all_cores() as pool:
            assert threads_of(pool) == count


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say which cores a process may use")
def test_a_process_that_was_given_one_core_uses_one():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert budgets.cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert budgets.cores() == len(before)


def test_as_many_threads_as_were_asked_for_here_or_by_the_environment(with_cores, monkeypatch):
    with_cores(2)
    monkeypatch.setenv(budgets.VARIABLE, "5")
    assert budgets.cores() == 5
    with budgets.limited_to(3):
        assert budgets.cores() == 3
        with budgets.limited_to(1), budgets.all_cores() as pool:
            assert threads_of(pool) == 1
        assert budgets.cores() == 3
    assert budgets.cores() == 5
    for wrong in ("0", "many", "-1", "1.5"):
        monkeypatch.setenv(budgets.VARIABLE, wrong)
        with pytest.raises(
            InvalidOptionError, match=f"INFOPLANE_THREADS must be a whole number, at least 1; found '{wrong}'"
        ):
            budgets.cores()


def test_one_blas_thread_is_counted():
    from threadpoolctl import threadpool_info

    def most():
        return max((one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"), default=1)

    before = most()
    with budgets.one_blas_thread(), ThreadPoolExecutor(2) as pool:
        with budgets.one_blas_thread():
            assert most() == 1
        list(pool.map(abs, range(4)))
        assert most() == 1
    assert most() == before


def test_blas_is_restored_whatever_the_order_and_the_thread_of_leaving():
    from threadpoolctl import threadpool_info

    def in_a_thread(work):
        with ThreadPoolExecutor(1) as pool:
            pool.submit(work).result()

    def counts():
        return [one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"]

    with budgets.one_blas_thread():
        pass  # every BLAS is loaded now
    before = counts()
    first, second = budgets.one_blas_thread(), budgets.one_blas_thread()
    in_a_thread(first.__enter__)
    second.__enter__()
    in_a_thread(lambda: first.__exit__(None, None, None))
    assert set(counts()) == {1}
    in_a_thread(lambda: second.__exit__(None, None, None))
    assert counts() == before


def test_results_come_in_order_and_errors_reach_the_caller():
    assert budgets.attended([lambda: 3, lambda: 2, lambda: 1], Budget()) == [3, 2, 1]

    def broken():
        raise TimeoutError("mine")

    with pytest.raises(TimeoutError, match="mine"):
        budgets.attended([broken], Budget())


def pressed_and_waiting(budget, begun):
    """Work that presses Ctrl-C, by a signal to its own thread, which does not wake the main one; and ends once that was heard."""
    begun.append(threading.get_ident())
    signal.pthread_kill(threading.get_ident(), signal.SIGINT)
    ends = time.monotonic() + 60
    while not budget.stopped and time.monotonic() < ends:
        time.sleep(0.001)
    return len(begun)


def test_control_c_stops_the_budget():
    budget = Budget()
    assert budgets.attended([functools.partial(pressed_and_waiting, budget, [])], budget) == [1]
    assert budget.stopped
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_control_c_stops_all_that_is_attended_to():
    outer, inner = Budget(), Budget()
    with budgets.stopped_by_control_c(outer):
        budgets.attended([functools.partial(pressed_and_waiting, inner, [])], inner)
    assert outer.stopped
    assert inner.stopped


def test_a_handler_of_the_callers_own_is_called_once_the_work_has_ended():
    budget, heard = Budget(), []
    before = signal.signal(signal.SIGINT, lambda *_: heard.append(budget.stopped))
    try:
        assert budgets.attended([functools.partial(pressed_and_waiting, budget, [])], budget) == [1]
    finally:
        signal.signal(signal.SIGINT, before)
    assert heard == [True]


def test_reports_reach_the_callback_in_the_callers_thread_and_it_may_stop_the_work():
    seen = []

    def callback(total):
        seen.append((threading.get_ident(), total))
        return total >= 3

    budget = Budget(watch=budgets.Watch(callback, sum))

    def work():
        for number in range(1, 100):
            budget.watch.tell(number, budget)
            if budget.stopped:
                return number
        return None

    assert budgets.attended([work], budget) == [3]
    assert seen == [(threading.get_ident(), number) for number in (1, 2, 3)]


def test_a_report_is_heard_though_another_thread_ended_since_they_were_counted():
    """Two work, one reports, the other ends without a word: the next look, with nothing new, lets the first go on."""
    heard, said = threading.Event(), []
    watch, budget = budgets.Watch(said.append, sum), Budget()
    watch.reports.put((1, 7, heard))
    watch.attend(budget, 2)
    watch.wake(None)
    watch.attend(budget, 2)  # counted before the other had ended
    assert (said, heard.is_set()) == ([], False)
    watch.attend(budget, 1)
    assert (said, heard.is_set()) == ([7], True)


def test_an_error_in_the_callback_ends_the_work_and_is_raised():
    def callback(_report):
        raise ZeroDivisionError("mine")

    budget = Budget(watch=budgets.Watch(callback, sum))

    def work():
        while not budget.stopped:
            budget.watch.tell(1, budget)

    with pytest.raises(ZeroDivisionError, match="mine"):
        budgets.attended([work], budget)


def written(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n", encoding="utf-8")
    return root


V1 = "sys/fs/cgroup/cpu,cpuacct"


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, math.inf),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "max 100000"}, math.inf),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "200000 100000"}, 2),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "150000 100000"}, 2),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "5000 100000"}, 1),
        ({"proc/self/cgroup": "0::/", "sys/fs/cgroup/cpu.max": "damaged"}, math.inf),
        # the narrowest of the groups around it
        (
            {
                "proc/self/cgroup": "0::/pods/one",
                "sys/fs/cgroup/pods/one/cpu.max": "max 100000",
                "sys/fs/cgroup/pods/cpu.max": "300000 100000",
                "sys/fs/cgroup/cpu.max": "800000 100000",
            },
            3,
        ),
        # another group's limit is not ours
        ({"proc/self/cgroup": "0::/a", "sys/fs/cgroup/b/cpu.max": "100000 100000"}, math.inf),
        # a container that is told its path on the host, and sees its own group as the root
        ({"proc/self/cgroup": "0::/docker/12ab", "sys/fs/cgroup/cpu.max": "400000 100000"}, 4),
        # version 1
        (
            {
                "proc/self/cgroup": "5:memory:/m\n3:cpu,cpuacct:/docker/12ab",
                f"{V1}/docker/12ab/cpu.cfs_quota_us": "250000",
                f"{V1}/docker/12ab/cpu.cfs_period_us": "100000",
            },
            3,
        ),
        (
            {
                "proc/self/cgroup": "3:cpuacct,cpu:/elsewhere",
                f"{V1}/cpu.cfs_quota_us": "100000",
                f"{V1}/cpu.cfs_period_us": "50000",
            },
            2,
        ),
        (
            {
                "proc/self/cgroup": "1:cpu:/",
                "sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1",
                "sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
            },
            math.inf,
        ),
    ],
)
def test_the_quota_of_files(tmp_path, files, cores):
    assert quota(written(tmp_path, files)) == cores


def test_cores_are_no_more_than_the_quota(with_cores, monkeypatch):
    with_cores(8)
    assert budgets.cores() == 8
    monkeypatch.setattr(budgets, "quota", lambda: 3.0)
    assert budgets.cores() == 3
    with_cores(2)
    monkeypatch.setattr(budgets, "quota", lambda: 3.0)
    assert budgets.cores() == 2
