"""A short run of attacks with a fixed seed; ``python tests/fuzz`` makes long runs of them (docs/reference/reliability.md)."""

import pytest

from fuzz.campaign import Campaign, made_again

SEED = 20


def test_what_once_broke_a_promise_keeps_it():
    made_again()


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("calls", 120),
        ("arguments", 400),
        ("caps", 40),
        ("faint-bottlenecks", 60),
        ("files", 100),
        ("forgeries", 60),
        ("funnels", 60),
        ("kills", 1),
        ("releases", 25),
        ("tasks", 25),
    ],
)
def test_no_attack_breaks_a_promise(kind, count):
    found = Campaign().run(kind, SEED, range(count))
    assert found.findings == []
    assert found.made == count
    assert len(found.ended) > (kind != "kills")
