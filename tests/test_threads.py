"""One BLAS thread for as long as anyone asks for it; work that ends when it is told to."""

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from infoplane import threads


def test_cores_are_those_that_the_process_may_use(with_cores):
    for count in (1, 3):
        with_cores(count)
        assert threads.cores() == count
        with threads.all_cores() as pool:
            assert pool._max_workers == count


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not say which cores a process may use")
def test_a_process_that_was_given_one_core_uses_one():
    before = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(before)})
        assert threads.cores() == 1
    finally:
        os.sched_setaffinity(0, before)
    assert threads.cores() == len(before)


def test_one_blas_thread_is_counted():
    from threadpoolctl import threadpool_info

    def most():
        return max((one["num_threads"] for one in threadpool_info() if one["user_api"] == "blas"), default=1)

    before = most()
    with threads.one_blas_thread(), ThreadPoolExecutor(2) as pool:
        with threads.one_blas_thread():
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

    with threads.one_blas_thread():
        pass  # every BLAS is loaded now
    before = counts()
    first, second = threads.one_blas_thread(), threads.one_blas_thread()
    in_a_thread(first.__enter__)
    second.__enter__()
    in_a_thread(lambda: first.__exit__(None, None, None))
    assert set(counts()) == {1}
    in_a_thread(lambda: second.__exit__(None, None, None))
    assert counts() == before


def test_control_c_is_heard_by_a_main_thread_that_it_does_not_wake():
    """As when it is pressed just before the thread falls asleep: the signal is handled, and nothing ends the sleep."""
    awaited, released = threading.Event(), threading.Event()

    def press():
        awaited.wait(20)
        time.sleep(0.1)  # it sleeps by now
        signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        return released.wait(20)

    def wait_for(future):
        awaited.set()
        return threads.results([future])

    with ThreadPoolExecutor(1) as pool:
        pressed = pool.submit(press)
        try:
            with pytest.raises(KeyboardInterrupt):
                wait_for(pressed)
            assert not pressed.done()
        finally:
            released.set()
        assert threads.results([pool.submit(abs, -3), pool.submit(abs, 2)]) == [3, 2]


def test_a_flag_stops_the_work_of_its_thread_only():
    flag = threads.StopFlag()
    with threads.stopped_by(flag):
        inner = threads.StopFlag()
        with threads.stopped_by(inner):
            assert threads.stop_flag() is inner
        assert threads.stop_flag() is flag
        threads.stop_flag().obey()
        flag.set()
        with pytest.raises(KeyboardInterrupt):
            threads.stop_flag().obey()
        with ThreadPoolExecutor(1) as pool:
            pool.submit(lambda: threads.stop_flag().obey()).result()
    threads.stop_flag().obey()


def test_what_is_awaited_gives_its_result_or_its_error():
    assert threads.awaited(lambda: 3) == 3
    with pytest.raises(TimeoutError, match="mine"):
        threads.awaited(_late)


def _late():
    raise TimeoutError("mine")


def test_a_flag_ends_the_waiting_and_not_the_work():
    flag, going, released, ended = threads.StopFlag(), threading.Event(), threading.Event(), threading.Event()

    def work():
        going.set()
        released.wait(300)
        ended.set()

    def wait():
        with threads.stopped_by(flag):
            threads.awaited(work)

    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(wait)
        assert going.wait(300)
        flag.set()
        assert isinstance(waiting.exception(), KeyboardInterrupt)
    assert not ended.is_set()
    released.set()
    assert ended.wait(300)
