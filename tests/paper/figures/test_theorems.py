"""The theorems on rates and thresholds, on made-up paths and runs whose answers are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from infoplane_paper.figures import theorems
from infoplane_paper.figures.theorems import straightness, worst_ratio
from tiny import THREE, claim, made_points, made_runs


@given(factor=st.floats(0.2, 0.97), scale=st.floats(1e-6, 1e6))
def test_a_geometric_path_is_linear(factor, scale):
    steps = scale * factor ** np.arange(2000)
    assert worst_ratio(steps) == pytest.approx(factor, abs=2e-3)
    assert straightness(steps) >= 0.999


def test_an_oscillating_path_is_linear_in_what_remains():
    # Complex eigenvalues: single steps grow at times, what remains shrinks throughout.
    k = np.arange(600)
    steps = 0.9**k * (1.2 + np.cos(1.3 * k))
    assert (steps[1:] > steps[:-1]).any()
    assert worst_ratio(steps) < 1.0
    assert straightness(steps) >= 0.99


def test_a_slow_path_is_not():
    steps = 1.0 / np.arange(1, 20_000) ** 2.0
    assert worst_ratio(steps) > 1 - 1e-3
    assert straightness(steps) < 0.99


def test_rates_of_iterates():
    k = np.arange(3000)
    columns = {}
    for solver, steps in (("ib-1", 0.98**k), ("ib-2", 1.0 / (k + 1.0) ** 4), ("pf-2", np.ones(20))):
        for alpha in (*theorems.UNDER, *theorems.OVER):
            columns[theorems.path(solver, alpha)] = made(steps)
    for solver in ("ib-1v", "pf-2v"):
        for alpha in (*theorems.UNDER, *theorems.OVER):
            columns[theorems.path(solver, alpha)] = made(0.5 ** k[:60])
    runs = made_runs("linear-rates", columns)
    q = {one: theorems.q_linear(runs, one, theorems.OVER).holds for one in theorems.SOLVERS}
    r = {one: theorems.r_linear(runs, one, theorems.UNDER).holds for one in theorems.SOLVERS}
    assert (q["ib-1"], r["ib-1"]) == (True, True)
    assert r["ib-2"] is False
    assert (q["pf-2"], r["pf-2"]) == (None, None)
    assert (q["ib-1v"], q["pf-2v"]) == (True, True)
    # One answer for all formulations: pf-2 has not settled, and ib-2 is not linear.
    assert claim("linear-rates", "r-linear").ask(runs, "exact").holds is False
    for alpha in (*theorems.UNDER, *theorems.OVER):
        columns[theorems.path("ib-2", alpha)] = made(0.98**k)
    assert claim("linear-rates", "r-linear").ask(made_runs("linear-rates", columns), "exact").holds is None
    for alpha in (*theorems.UNDER, *theorems.OVER):
        columns[theorems.path("pf-2", alpha)] = made(0.98**k)
    assert claim("linear-rates", "r-linear").ask(made_runs("linear-rates", columns), "exact").holds is True
    columns[theorems.path("ib-2", theorems.OVER[-1])] = made(np.ones(20))  # not settled at one alpha: open
    assert theorems.q_linear(made_runs("linear-rates", columns), "ib-2", theorems.OVER).holds is None


def made(steps):
    """A run whose L_c - L_c* is the square of its steps: exponent 1/2."""
    return {"step": steps, "gradient": 3.0 * steps, "augmented": -1.0 + steps**2, "converged": np.ones(1)}


def test_exponent_one_half():
    k = np.arange(300)
    columns = {
        theorems.path(solver, alpha): made(0.9**k)
        for solver in theorems.SOLVERS
        for alpha in (*theorems.UNDER, *theorems.OVER)
    }
    columns[theorems.path("ib-2", 1.0)] = {
        "step": 0.9**k,
        "gradient": 0.9**k,
        "augmented": -1.0 + 0.9 ** (k / 0.8),  # exponent 0.8
        "converged": np.ones(1),
    }
    runs = made_runs("linear-rates", columns)
    assert {one: theorems.half(runs, one).holds for one in ("ib-1", "ib-2")} == {"ib-1": True, "ib-2": False}
    assert claim("linear-rates", "exponent-one-half").ask(runs, "exact").holds is False


def test_no_line_across_an_alpha_without_a_settled_run():
    pytest.importorskip("matplotlib")
    k = np.arange(300)
    alphas = (*theorems.UNDER, *theorems.OVER)
    columns = {theorems.path(solver, alpha): made(0.9**k) for solver in theorems.SOLVERS for alpha in alphas}
    columns[theorems.path("ib-1", 1.0)] = made(np.ones(20))
    columns |= {theorems.path("ib-2", alpha): made(np.ones(20)) for alpha in alphas}
    (ax,) = theorems.draw_rates(made_runs("linear-rates", columns)).axes
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert np.isnan(lines["ib-1"]).tolist() == [alpha == 1.0 for alpha in alphas]
    assert "ib-2: not settled" in lines


@pytest.mark.parametrize(("second", "expected"), [(4.0, True), (256.0, False), (np.inf, None)])
def test_threshold_against_gamma(second, expected):
    penalties = THREE.some(theorems.PENALTIES)
    columns = {
        theorems.sweep("ib-2", c): made_points(
            [0.5] * 2, [0.1] * 2, parameter=[0.1, 0.8], converged=[c >= 4, c >= second]
        )
        for c in penalties
    }
    columns["formula"] = {"ib-1": np.array([1.0, 2.0]), "ib-2": np.array([3.0, 3.0])}
    runs = made_runs("penalty-threshold", columns)
    asked = claim("penalty-threshold", "threshold-independent")
    assert asked.ask(runs, "measured").holds is expected
    assert asked.ask(runs, "formula").holds is True
    assert (" never do" in asked.ask(runs, "measured").said) is (second == np.inf)
    columns["formula"] = {"ib-1": np.array([1.0, 2.0]), "ib-2": np.array([3.0, 3.1])}
    assert asked.ask(made_runs("penalty-threshold", columns), "formula").holds is False
