"""Convergence: questions and figures, on made-up runs whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoplane_paper.figures import shares
from infoplane_paper.figures.shares import (
    fewest_iterations,
    interval,
    share,
    share_table,
    smaller_penalty,
    wider_range,
)
from infoplane_paper.settings import FULL
from tiny import THREE, claim, made_points, made_runs, made_shares


def made(converged, iterations=0.0, parameter=0.0):
    n = len(converged)
    return made_points(np.zeros(n), np.zeros(n), converged=converged, iterations=iterations, parameter=parameter)


def test_share_and_its_interval():
    points = made([1, 1, 1, 0])
    assert share(points) == 0.75
    low, high = interval(points)
    # Wilson's interval of 3 in 4, as tabulated.
    assert (low, high) == pytest.approx((0.3006, 0.9544), abs=1e-4)
    assert interval(made([1] * 10))[1] == pytest.approx(1.0)


@given(n=st.integers(1, 200), p=st.floats(0, 1))
def test_interval_holds_the_share(n, p):
    points = made(np.arange(n) < round(p * n))
    low, high = interval(points)
    assert 0.0 <= low <= share(points) + 1e-12
    assert share(points) - 1e-12 <= high <= 1.0


def test_smaller_penalty_all_ways():
    early, late, never = {1.0: 0.2, 2.0: 0.95, 4.0: 1.0}, {1.0: 0.2, 2.0: 0.5, 4.0: 1.0}, {1.0: 0.2, 2.0: 0.5, 4.0: 0.5}
    found = smaller_penalty(early, late, 0.9, ("early", "late"), 100)
    assert found.holds is True
    assert found.said.startswith("90% converge first at early: c = 2 and late: c = 4;")
    assert smaller_penalty(late, early, 0.9, ("late", "early"), 100).holds is False
    assert smaller_penalty(early, never, 0.9, ("early", "never"), 100).holds is True
    assert smaller_penalty(never, early, 0.9, ("never", "early"), 100).holds is False
    found = smaller_penalty(never, never, 0.9, ("a", "b"), 100)
    assert found.holds is None
    assert "never (largest share 50%)" in found.said


def test_crossings_that_differ_by_chance_do_not_decide():
    """88% against 92% of 24 trials, and the same of 10,000."""
    ours, theirs = {1.0: 0.5, 2.0: 0.92, 4.0: 0.92}, {1.0: 0.5, 2.0: 0.88, 4.0: 0.88}
    assert smaller_penalty(ours, theirs, 0.9, ("a", "b"), 24).holds is None
    assert smaller_penalty(ours, theirs, 0.9, ("a", "b"), 10_000).holds is True
    # A larger area that belongs to the later crossing says neither.
    broad = {1.0: 0.89, 2.0: 0.89, 4.0: 0.95}
    assert smaller_penalty({1.0: 0.1, 2.0: 0.91, 4.0: 0.91}, broad, 0.9, ("a", "b"), 100).holds is None


def test_a_crossing_below_the_grid_is_not_known():
    ours, theirs = {1.0: 1.0, 2.0: 1.0, 4.0: 0.0}, {1.0: 1.0, 2.0: 0.0, 4.0: 0.0}
    found = smaller_penalty(ours, theirs, 0.9, ("a", "b"), 100)
    assert found.holds is None
    assert found.said.endswith("c = 1, the smallest that was tried")


def test_a_tie_on_the_grid_is_decided_by_areas_or_not_at_all():
    early, same = {1.0: 0.0, 2.0: 0.8, 4.0: 1.0, 8.0: 0.0}, {1.0: 0.0, 2.0: 0.2, 4.0: 1.0, 8.0: 0.0}
    assert smaller_penalty(early, early, 0.9, ("a", "b"), 100).holds is None
    found = smaller_penalty(early, same, 0.9, ("early", "late"), 100)
    assert found.holds is True
    # Trapezoids of (0.8, 1.0, 0.0) and (0.2, 1.0, 0.0) over the octaves beside c = 4: 1.4 and 1.1.
    assert "+0.30 octaves" in found.said
    assert smaller_penalty(same, early, 0.9, ("late", "early"), 100).holds is False
    assert smaller_penalty(early, same, 0.9, ("early", "late"), 2).holds is None  # too few trials to tell


def at(*shares, trials=100):
    """A name, and trials of which these shares converge, at one penalty each."""
    return "it", {
        2.0**k: made([1] * round(one * trials) + [0] * round((1 - one) * trials)) for k, one in enumerate(shares)
    }


def test_wider_range_both_ways():
    assert wider_range(at(1, 1, 1), at(0, 1, 0), 0.9).holds is True
    assert wider_range(at(1, 1, 1, trials=4), at(0, 1, 0, trials=4), 0.9).holds is None  # four trials tell little
    assert wider_range(at(1, 1, 1, 1), at(0, 1, 0, 0), 0.9).holds is True
    assert wider_range(at(0, 1, 0, 0), at(1, 1, 1, 1), 0.9).holds is False
    assert wider_range(at(1, 1, 1), at(0, 1, 1), 0.9).holds is None  # one step of the grid decides nothing
    assert wider_range(at(1, 1), at(1, 1), 0.9).holds is None
    assert wider_range(at(0), at(0.1), 0.9).holds is None


def test_a_share_near_enough_decides_no_range():
    """9 against 10 or 11 of 11 hangs on one penalty at which 89, or 91, of 100 converge."""
    ours, sure = [1] * 9 + [0] * 2, [1] * 10
    found = [wider_range(at(*ours), at(*sure, near), 0.9) for near in (0.89, 0.91)]
    assert [one.holds for one in found] == [None, None]
    assert ["it 9, it 10;" in found[0].said, "it 9, it 11;" in found[1].said] == [True, True]
    assert wider_range(at(*[0] * 11, trials=20), at(*[1] * 9, 0, 0, trials=20), 0.9).holds is False


def test_fewest_iterations_both_ways():
    fast = made([1, 1, 0], [5, 7, 1000], [0.1, 0.2, 0.2])
    slow = made([1, 1], [50, 70], [0.1, 0.2])
    found = fewest_iterations({"fast": fast, "slow": slow}, "fast")
    assert (found.holds, "at 2 of 2 parameters" in found.said) == (True, True)
    assert fewest_iterations({"fast": fast, "slow": slow}, "slow").holds is False
    mixed = made([1, 1], [50, 6], [0.1, 0.2])
    found = fewest_iterations({"fast": fast, "mixed": mixed}, "fast")
    assert (found.holds, "at 1 of 2 parameters" in found.said) == (False, True)
    assert fewest_iterations({"fast": fast, "none": made([0], [9], [0.1])}, "fast").holds is None


def test_penalties_of_the_bottleneck():
    early, late = (lambda c: c >= 4), (lambda c: c >= 500)
    columns = {}
    for solver, alpha, at in (("ib-1", 2.0, early), ("ib-1", 1.0, late), ("ib-2", 2.0, late), ("ib-2", 1.0, late)):
        columns |= made_shares(shares.bottleneck(solver, alpha, "majorise"), at)
    columns |= made_shares(shares.bottleneck("admm-ib", 1.0, "majorise"), late)
    runs = made_runs("bottleneck-share", columns)
    answers = {one.key: one.ask(runs, "majorise").holds for one in shares.BOTTLENECK.claims}
    assert answers == {
        "alpha-ib-1": True,
        "alpha-ib-2": None,
        "ib-1-smaller-c-alpha-1": None,
        "ib-1-smaller-c-alpha-2": True,
        "wider-than-admm-ib-1": None,
        "wider-than-admm-ib-2": None,
    }
    assert (
        claim("bottleneck-share", "wider-than-admm-ib-1")
        .ask(runs, "majorise")
        .said.startswith("runs were cut off at 10 it")
    )
    runs = made_runs("bottleneck-share", columns, replace(THREE, limit=12_000, gradient_limit=12_000))
    assert claim("bottleneck-share", "wider-than-admm-ib-1").ask(runs, "majorise").holds is None  # 2 against 1 of 3
    assert claim("bottleneck-share", "wider-than-admm-ib-2").ask(runs, "majorise").holds is None
    # The paper's way compares with ib-1 at alpha 1, and here one run has converged everywhere.
    assert claim("bottleneck-share", "alpha-ib-1").ask(runs, "gradient").holds is None
    assert (
        "ADMM-IB (ib-1, alpha 1, gradient)"
        in claim("bottleneck-share", "wider-than-admm-ib-2").ask(runs, "gradient").said
    )
    rows = share_table(runs, [shares.bottleneck("ib-1", 2.0, "majorise")])
    assert [row["converged"] for row in rows] == [0.0, 1.0, 1.0]
    assert all(row["interval_low"] <= row["converged"] <= row["interval_high"] for row in rows)


@pytest.mark.parametrize(("two", "golden", "expected"), [(1000, 8000, True), (8000, 1000, False), (9000, 9000, None)])
def test_penalties_of_the_funnel(two, golden, expected):
    columns = made_shares(shares.funnel(2.0, "gradient"), lambda c: c >= two)
    columns |= made_shares(shares.funnel(1.618, "gradient"), lambda c: c >= golden)
    runs = made_runs("funnel-share", columns)
    assert claim("funnel-share", "alpha-pf-2").ask(runs, "gradient").holds is expected


def test_the_finer_grid_has_eight_values_an_octave_in_the_full_run():
    names = {piece.name for piece in shares.FUNNEL.pieces(FULL)}
    fine = [c for c in shares.fine(2.0).penalties if shares.fine(2.0).name(c) in names]
    assert len(fine) == 33
    assert np.allclose(np.diff(np.log2(fine)), 1 / 8)


@pytest.mark.parametrize(("two", "golden", "expected"), [(500, 500, None), (2000, 8000, True), (8000, 2000, False)])
def test_where_the_papers_grid_does_not_decide_the_finer_one_does(two, golden, expected):
    columns = {}
    for alpha, least in ((2.0, two), (1.618, golden)):
        columns |= made_shares(shares.funnel(alpha, "gradient"), lambda _c: True)
        columns |= made_shares(shares.fine(alpha), lambda c, least=least: c >= least)
    found = claim("funnel-share", "alpha-pf-2").ask(made_runs("funnel-share", columns), "gradient")
    assert found.holds is expected
    assert "c = 1000, the smallest that was tried; on the finer grid" in found.said


def made_cells(shift):
    columns = {}
    for cell, published in shares.PUBLISHED.items():
        ended = np.arange(100) < 100 * np.clip(published + shift, 0.0, 1.0)
        columns[shares.cell(*cell)] = made_points([0.5] * 100, [0.1] * 100, converged=ended, loss=-0.325)
    return made_runs("published-shares", columns)


def test_shares_agree_within_sampling_error_or_not():
    found = claim("published-shares", "published-shares").ask(made_cells(0.05), "gradient")
    assert found.holds is True
    assert "100% end between -0.327 and -0.324 bits" in found.said
    found = claim("published-shares", "published-shares").ask(made_cells(-0.5), "gradient")
    assert found.holds is False
    assert "|Z| 3, c 16: 35% here, 85% there" in found.said
