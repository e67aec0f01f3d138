"""A short run of attacks with a fixed seed; ``python tests/fuzz`` makes long runs of them (docs/reference/reliability.md)."""

import pytest

from fuzz.campaign import ATTACKS, Campaign, made_again

SEED = 20


def test_what_once_broke_a_promise_keeps_it():
    made_again()


SHORT = {
    "calls": range(60),
    "arguments": range(100, 250),
    "caps": range(17, 33),
    "faint-bottlenecks": range(15, 22),
    "files": range(60),
    "forgeries": range(30),
    "funnels": range(4, 18),
    "kills": range(1),
    "private": range(12),
    "releases": range(14, 20),
    "tasks": range(10, 15),
}
"""Numbers of attacks that end in several ways, and of which none takes much longer than a second."""


def test_every_kind_is_tried():
    assert set(SHORT) == set(ATTACKS)


@pytest.mark.parametrize("kind", SHORT)
def test_no_attack_breaks_a_promise(kind):
    found = Campaign().run(kind, SEED, SHORT[kind])
    assert found.findings == []
    assert found.made == len(SHORT[kind])
    assert len(found.ended) > (kind != "kills")
