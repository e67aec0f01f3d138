"""How long a batch works between two pauses, at which Ctrl-C is heard."""

import pytest

from infoplane.solvers import base
from infoplane.solvers.base import LONGEST_BLOCK, PAUSE, BlockPace


class Clocked:
    """A batch whose iterations take so many seconds of a clock that it moves itself."""

    def __init__(self, seconds, monkeypatch):
        self.seconds, self.now, self.asked = seconds, 0.0, []
        monkeypatch.setattr(base.time, "perf_counter", lambda: self.now)

    def advance(self, iterations):
        self.asked.append(iterations)
        self.now += self.seconds * iterations
        return True


@pytest.mark.parametrize(
    ("seconds", "asked"),
    [(1e-9, [1, 4, 16, 64, LONGEST_BLOCK, LONGEST_BLOCK]), (10.0, [1] * 6), (PAUSE / 10.0, [1, 4, 10, 10, 10, 10])],
)
def test_iterations_between_pauses_follow_the_clock(seconds, asked, monkeypatch):
    batch, pace = Clocked(seconds, monkeypatch), BlockPace()
    for _ in asked:
        assert pace.advance(batch)
    assert batch.asked == asked
