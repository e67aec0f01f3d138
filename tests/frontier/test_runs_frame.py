"""A wide frame of runs shows what people look for, also on 80 columns."""

import pandas as pd
import pytest

import infoplane as ip

WANTED = ["parameter", "loss_nats", "ixz_bits", "iyz_bits", "clusters", "status"]


@pytest.fixture(scope="module")
def frontier():
    return ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], starts=2, rng=0)


@pytest.fixture(autouse=True)
def narrow(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")


@pytest.mark.parametrize("kind", ["best", "to_frame", "pareto"])
def test_what_people_look_for_is_shown(frontier, kind):
    frame = getattr(frontier, kind)()
    with pd.option_context("display.max_columns", 0):
        head, *_, rest = str(frame).splitlines()
    assert head.split() == WANTED
    assert len(head) <= 80
    assert rest.split(" ", 1)[0] == "and"
    assert sorted([*WANTED, *rest.removeprefix("and ").split(", ")]) == sorted(frame.columns)


def test_a_proof_is_shown_with_its_gap():
    found = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], starts=2, rng=0, certify=True)
    with pd.option_context("display.max_columns", 0):
        assert str(found.best()).splitlines()[0].split() == [*WANTED, "gap_nats"]


def test_a_frame_of_comparisons_is_shown_too(frontier):
    with pd.option_context("display.max_columns", 0):
        assert "True" in repr(frontier.best() == frontier.best())


def test_wide_terminals_and_the_user_s_own_options_are_heard(frontier, monkeypatch):
    whole = repr(pd.DataFrame(frontier.best()))
    with pd.option_context("display.max_columns", 4):
        assert str(frontier.best()) == repr(pd.DataFrame(frontier.best())) != whole
    monkeypatch.setenv("COLUMNS", "400")
    with pd.option_context("display.max_columns", 0, "display.width", 400):
        assert "found_at" in str(frontier.best()).splitlines()[0]


def test_rows_and_other_tables_of_it(frontier):
    with pd.option_context("display.max_columns", 0):
        assert str(frontier.best().tail(1)).splitlines()[0].split() == WANTED
        assert str(frontier.best()[["beta"]]) == repr(pd.DataFrame(frontier.best()[["beta"]]))
        assert str(frontier.best().T) == repr(pd.DataFrame(frontier.best()).T)


def test_an_information_of_nothing_does_not_turn_the_others_into_powers_of_ten():
    """At gamma = 0.9 Z is constant, and I(Y;Z) a rounding such as 9e-33."""
    found = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.9], starts=2, rng=0).best()
    found["iyz_bits"] = [found["iyz_bits"].iloc[0], 8.9e-33]
    with pd.option_context("display.max_columns", 0):
        assert [line.split()[4] for line in str(found).splitlines()[2:4]] == [
            f"{found['iyz_bits'].iloc[0]:.6f}",
            "0.000000",
        ]


def test_solvers_side_by_side_show_what_each_found_and_took():
    found = ip.compare(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], ["accelerated", "blahut-arimoto"], rng=0)
    with pd.option_context("display.max_columns", 0):
        head = str(found).splitlines()[0]
    assert head.split() == ["parameter", "solver", "loss_nats", "above_lowest_nats", "seconds", "winner"]
    assert len(head) <= 80
