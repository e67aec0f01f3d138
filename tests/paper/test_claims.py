"""The claims of the figures, put to made-up runs whose answers are known."""

from dataclasses import replace

import numpy as np
import pytest

from infoplane.paper import FIGURES
from infoplane.paper.figures import (
    bottleneck_planes,
    bottleneck_rate,
    bottleneck_share,
    funnel_heart,
    funnel_planes,
    funnel_rate,
    funnel_share,
    iterations,
    linear_rates,
    penalty_threshold,
)
from infoplane.paper.pieces import Sweep
from infoplane.paper.points import Points
from infoplane.paper.runs import QUARTER, Runs
from infoplane.paper.settings import FULL
from tiny import TINY as SMALLEST

TINY = replace(SMALLEST, penalties=3)


def points(ixz=(0.5,), iyz=(0.1,), **columns):
    n = len(ixz)
    filled = {
        "parameter": np.full(n, 0.2),
        "start": np.arange(n),
        "ixz": ixz,
        "iyz": iyz,
        "loss": np.zeros(n),
        "converged": np.ones(n),
        "stationary": np.zeros(n),
        "iterations": np.ones(n),
        "seconds": np.zeros(n),
        "lower_bound": np.zeros(n),
        **columns,
    }
    return Points(**{name: np.broadcast_to(np.asarray(one, dtype=float), n) for name, one in filled.items()}).columns()


def made(figure, columns, scale=TINY):
    """The figure's own pieces with given columns; the others hold one run each."""
    pieces = {piece.name: piece for piece in figure.pieces(scale)}
    assert set(columns) <= set(pieces)
    return Runs(pieces, {name: columns.get(name, points()) for name in pieces}, scale)


def claim(figure, key):
    return next(one for one in FIGURES[figure].claims if one.key == key)


# -- planes ------------------------------------------------------------------------------------------------------------

CERTIFIED = points([0.4, 1.0], [0.0, 0.0], parameter=[0.5, 0.2], lower_bound=[-0.1, -0.3])
"""I(Y;Z) <= min(0.5 u + 0.1, 0.2 u + 0.3)."""


@pytest.mark.parametrize(
    ("ib_1v", "ib_1", "expected"),
    [([0.40], [0.45], True), ([0.45], [0.45], False), ([0.40], [0.40], False)],
)
def test_stuck_where_others_are_not(ib_1v, ib_1, expected):
    at = {"ixz": [0.75], "parameter": [0.2]}
    runs = made(
        bottleneck_planes.FIGURE,
        {
            "uniform: certified": CERTIFIED,
            "uniform: ib-1v, exact": points(iyz=ib_1v, **at),
            "uniform: ib-1, exact": points(iyz=ib_1, **at),
            "uniform: ib-2, exact": points(iyz=ib_1, **at),
        },
    )
    found = claim("bottleneck-planes", "ib-1v-stuck-uniform").ask(runs, "exact")
    assert found.holds is expected
    assert any("certify=True" in proof.call for proof in found.evidence)
    assert claim("bottleneck-planes", "ib-1v-stuck-uniform").ask(runs, "gradient").holds is None


@pytest.mark.parametrize(("losses", "expected"), [((-0.4, -0.5), True), ((-0.5, -0.5), False), ((-0.4, -0.4), False)])
def test_trapped(losses, expected):
    runs = made(
        bottleneck_planes.FIGURE,
        {
            "non-uniform: certified": points(lower_bound=[-0.5]),
            "non-uniform: blahut-arimoto": points(loss=[losses[0]]),
            "non-uniform: ib-1, gradient": points(loss=[losses[1]]),
        },
    )
    assert claim("bottleneck-planes", "ba-trapped").ask(runs, "gradient").holds is expected


def test_explores_more():
    on = points([0.1, 0.2], [0.15, 0.2])
    columns = {"uniform: certified": CERTIFIED, "uniform: blahut-arimoto": points([0.1], [0.15])}
    runs = made(bottleneck_planes.FIGURE, {**columns, "uniform: ib-1, auto": on})
    assert claim("bottleneck-planes", "ib-1-explores-uniform").ask(runs, "auto").holds is True
    runs = made(bottleneck_planes.FIGURE, {**columns, "uniform: ib-1, auto": points([0.1], [0.0])})
    assert claim("bottleneck-planes", "ib-1-explores-uniform").ask(runs, "auto").holds is False


def test_funnel_planes_both_ways():
    good, bad = points([0.5, 1.5], [0.01, 0.3]), points([0.5, 1.5], [0.2, 0.5])
    merges = {"ixz": np.array([0.0, 0.92, 1.5]), "iyz": np.array([0.0, 0.31, 0.6])}
    columns = {
        "uniform: Merge-Two": merges,
        "uniform: certified": points([0.9], [0.1], parameter=[2.0], lower_bound=[-0.6]),
    }
    runs = made(funnel_planes.FIGURE, {**columns, "uniform: pf-2, exact": good, "uniform: pf-2v, exact": bad})
    assert claim("funnel-planes", "pf-2-leaks-less-uniform").ask(runs, "exact").holds is True
    assert claim("funnel-planes", "funnel-recovers-uniform").ask(runs, "exact").holds is True
    assert claim("funnel-planes", "pf-2-stuck-uniform").ask(runs, "exact").holds is None
    runs = made(funnel_planes.FIGURE, {**columns, "uniform: pf-2, exact": bad, "uniform: pf-2v, exact": good})
    assert claim("funnel-planes", "pf-2-leaks-less-uniform").ask(runs, "exact").holds is False
    assert claim("funnel-planes", "funnel-recovers-uniform").ask(runs, "exact").holds is False
    for leakage, expected in ((0.2, True), (0.15, False)):
        runs = made(funnel_planes.FIGURE, {**columns, "uniform: pf-2, exact": points([0.9], [leakage])})
        assert claim("funnel-planes", "pf-2-stuck-uniform").ask(runs, "exact").holds is expected


@pytest.mark.parametrize(
    ("pf_2", "pf_2v", "expected"),
    [
        (points([1.0], [0.001]), points([1.0], [0.001]), True),
        (points([1.0], [0.001]), points([1.0], [0.1]), False),
        (points([0.001], [0.0]), points([1.0], [0.0]), False),
        (points([1.0], [0.0]), points([1.0], [0.0], converged=[0]), None),
    ],
)
def test_perfect_privacy(pf_2, pf_2v, expected):
    runs = made(
        funnel_heart.FIGURE,
        {
            "heart: pf-2, gradient": pf_2,
            "heart: pf-2v, gradient": pf_2v,
            "heart: without leakage": {"utility": np.array([2.0, 2.0])},
            "heart: starts": {"ixz": np.array([0.25]), "iyz": np.array([0.008])},
        },
    )
    found = claim("funnel-heart", "perfect-privacy").ask(runs, "gradient")
    assert found.holds is expected
    assert "random starts themselves have utility 0.250 and leakage 0.0080" in found.said


# -- convergence -------------------------------------------------------------------------------------------------------


def shares(curve, scale, at):
    """Columns in which the share converged at each c is as given."""
    return {
        curve.name(c): points([0.5] * 10, [0.1] * 10, converged=np.arange(10) < 10 * at(c))
        for c in scale.some(curve.penalties)
    }


def test_penalties_of_the_bottleneck():
    early, late = (lambda c: c >= 4), (lambda c: c >= 500)
    columns = {}
    for solver, alpha, at in (("ib-1", 2.0, early), ("ib-1", 1.0, late), ("ib-2", 2.0, late), ("ib-2", 1.0, late)):
        columns |= shares(bottleneck_share.curve(solver, alpha, "exact"), TINY, at)
    columns |= shares(bottleneck_share.curve("admm-ib", 1.0, "exact"), TINY, late)
    runs = made(bottleneck_share.FIGURE, columns)
    answers = {one.key: one.ask(runs, "exact").holds for one in bottleneck_share.FIGURE.claims}
    assert answers == {
        "alpha-ib-1": True,
        "alpha-ib-2": False,
        "ib-1-smaller-c-alpha-1": False,
        "ib-1-smaller-c-alpha-2": True,
        "wider-than-admm-ib-1": True,
        "wider-than-admm-ib-2": False,
    }
    # The paper's way compares with ib-1 at alpha 1, and here one run has converged everywhere.
    assert claim("bottleneck-share", "alpha-ib-1").ask(runs, "gradient").holds is False
    assert (
        "ADMM-IB (ib-1, alpha 1, gradient)"
        in claim("bottleneck-share", "wider-than-admm-ib-2").ask(runs, "gradient").said
    )
    rows = bottleneck_share.share_table(runs, [bottleneck_share.curve("ib-1", 2.0, "exact")], -1.0)
    assert [row["converged"] for row in rows] == [0.0, 1.0, 1.0]
    assert all(row["interval_low"] <= row["converged"] <= row["interval_high"] for row in rows)


@pytest.mark.parametrize(("two", "golden", "expected"), [(1000, 8000, True), (8000, 1000, False), (9000, 9000, None)])
def test_penalties_of_the_funnel(two, golden, expected):
    columns = shares(funnel_share.curve(2.0, "gradient"), TINY, lambda c: c >= two)
    columns |= shares(funnel_share.curve(1.618, "gradient"), TINY, lambda c: c >= golden)
    runs = made(funnel_share.FIGURE, columns)
    assert claim("funnel-share", "alpha-pf-2").ask(runs, "gradient").holds is expected


def test_a_lower_limit_makes_slow_runs_divergent():
    figure = bottleneck_planes.FIGURE
    pieces = {piece.name: piece for piece in figure.pieces(FULL)}
    name = "uniform: ib-1, gradient"
    limit = pieces[name].method.max_iter
    columns = {one: points([0.5, 0.6], [0.1, 0.1], iterations=[10, limit - 1]) for one in pieces}
    runs = Runs(pieces, columns, FULL)
    assert runs.points(name).converged.tolist() == [1, 1]
    assert runs.under(QUARTER).points(name).converged.tolist() == [1, 0]
    assert {"first step 1", "first step 0.001", "near-deterministic starts"} < set(runs.settings)
    other = runs.under("first step 1").piece(name)
    assert isinstance(other, Sweep)
    assert other.method.first_step == 1.0


@pytest.mark.parametrize(("counts", "expected"), [((5, 50), True), ((50, 5), False)])
def test_fewest_iterations(counts, expected):
    columns = {name: points(iterations=[counts[1]]) for name in ("uniform: ib-1, exact", "uniform: ib-2, exact")}
    runs = made(iterations.FIGURE, {**columns, "uniform: blahut-arimoto": points(iterations=[counts[0]])})
    assert claim("iterations", "ba-fewest-iterations").ask(runs, "exact").holds is expected
    runs = made(iterations.FIGURE, {**columns, iterations.LOOSE: points(iterations=[0])})
    assert claim("iterations", "ba-fewest-iterations").ask(runs, "gradient").holds is True


# -- rates -------------------------------------------------------------------------------------------------------------

K = np.arange(1, 400)


def descent(loss, end):
    return {
        "loss": loss,
        "chosen": np.array([0]),
        "iterations": np.array([len(loss)]),
        "converged": np.ones(1),
        "end": end,
    }


@pytest.mark.parametrize(("other", "expected"), [(-1 + 0.8**K, True), (-1 + 1.0 / K**2, False)])
def test_linear_tails(other, expected):
    names = [bottleneck_rate.name(solver, "exact") for solver in bottleneck_rate.SOLVERS]
    columns = {names[0]: descent(-1 + 0.9**K, np.array([-1.0])), names[1]: descent(other, np.array([-1.0]))}
    runs = made(bottleneck_rate.FIGURE, columns)
    assert claim("bottleneck-rate", "linear-bottleneck").ask(runs, "exact").holds is expected


@pytest.mark.parametrize(
    ("optimum", "expected", "words"),
    [
        (-2.4600, True, "no encoder could have it"),
        (-3.0283, False, "no encoder could have it"),
        (-4.0, False, "read as nats: the"),
    ],
)
def test_minimum_against_the_certified_one(optimum, expected, words):
    names = [funnel_rate.name(alpha, "gradient") for alpha in funnel_rate.ALPHAS]
    columns = {name: descent(-1 + 0.9**K, np.array([-0.3])) for name in names}
    proven = points(parameter=[3.5], loss=[optimum], lower_bound=[optimum - 1e-7])
    runs = made(funnel_rate.FIGURE, {**columns, "certified": proven})
    found = claim("funnel-rate", "minimum-funnel").ask(runs, "gradient")
    assert found.holds is expected
    assert words in found.said
    assert found.numbers["difference_bits"] == pytest.approx(-2.46 - optimum)


def test_two_clusters_are_told_of():
    names = [bottleneck_rate.name(solver, "gradient") for solver in bottleneck_rate.SOLVERS]
    columns = {name: descent(-1 + 0.9**K, np.array([-0.3])) for name in names}
    columns |= {"certified": points(loss=[-0.3473], lower_bound=[-0.3473]), "two clusters": points(loss=[-0.324])}
    found = claim("bottleneck-rate", "minimum-bottleneck").ask(made(bottleneck_rate.FIGURE, columns), "gradient")
    assert found.holds is False
    assert "the best encoder with only two clusters has -0.3240 bits" in found.said


def test_rates_of_iterates():
    k = np.arange(3000)
    columns = {}
    for solver, steps in (("ib-1", 0.98**k), ("ib-2", 1.0 / (k + 1.0) ** 4), ("pf-2", np.ones(20))):
        for alpha in (*linear_rates.UNDER, *linear_rates.OVER):
            columns[linear_rates.name(solver, alpha)] = {"step": steps, "converged": np.ones(1)}
    for solver in ("ib-1v", "pf-2v"):
        for alpha in (*linear_rates.UNDER, *linear_rates.OVER):
            columns[linear_rates.name(solver, alpha)] = {"step": 0.5 ** k[:60], "converged": np.ones(1)}
    runs = made(linear_rates.FIGURE, columns)
    q = {way: claim("linear-rates", "q-linear").ask(runs, way).holds for way in linear_rates.SOLVERS}
    r = {way: claim("linear-rates", "r-linear").ask(runs, way).holds for way in linear_rates.SOLVERS}
    assert (q["ib-1"], r["ib-1"]) == (True, True)
    assert r["ib-2"] is False
    assert (q["pf-2"], r["pf-2"]) == (None, None)
    assert (q["ib-1v"], q["pf-2v"]) == (True, True)


@pytest.mark.parametrize(("second", "expected"), [(4.0, True), (256.0, False), (np.inf, None)])
def test_threshold_against_gamma(second, expected):
    penalties = TINY.some(penalty_threshold.PENALTIES)
    columns = {
        penalty_threshold.name("ib-2", c): points(
            [0.5] * 2, [0.1] * 2, parameter=[0.1, 0.8], converged=[c >= 4, c >= second]
        )
        for c in penalties
    }
    columns["formula"] = {"ib-1": np.array([1.0, 2.0]), "ib-2": np.array([3.0, 3.0])}
    runs = made(penalty_threshold.FIGURE, columns)
    asked = claim("penalty-threshold", "threshold-independent")
    assert asked.ask(runs, "measured").holds is expected
    assert asked.ask(runs, "formula").holds is True
    columns["formula"] = {"ib-1": np.array([1.0, 2.0]), "ib-2": np.array([3.0, 3.1])}
    assert asked.ask(made(penalty_threshold.FIGURE, columns), "formula").holds is False
