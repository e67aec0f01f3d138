"""The one budget: its parts end together, limits are counted, and work that cannot be interrupted is not waited for."""

import threading

import pytest

from infoplane.runtime.budget import Budget, Stopped


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
