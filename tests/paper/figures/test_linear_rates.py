"""The theorems on rates, on made-up paths whose rates are known."""

import numpy as np
import pytest

from infoplane_paper.figures import linear_rates
from tiny import claim, made_runs


def test_rates_of_iterates():
    k = np.arange(3000)
    columns = {}
    for solver, steps in (("ib-1", 0.98**k), ("ib-2", 1.0 / (k + 1.0) ** 4), ("pf-2", np.ones(20))):
        for alpha in (*linear_rates.UNDER, *linear_rates.OVER):
            columns[linear_rates.name(solver, alpha)] = made(steps)
    for solver in ("ib-1v", "pf-2v"):
        for alpha in (*linear_rates.UNDER, *linear_rates.OVER):
            columns[linear_rates.name(solver, alpha)] = made(0.5 ** k[:60])
    runs = made_runs("linear-rates", columns)
    q = {one: linear_rates.q_linear(runs, one, linear_rates.OVER).holds for one in linear_rates.SOLVERS}
    r = {one: linear_rates.r_linear(runs, one, linear_rates.UNDER).holds for one in linear_rates.SOLVERS}
    assert (q["ib-1"], r["ib-1"]) == (True, True)
    assert r["ib-2"] is False
    assert (q["pf-2"], r["pf-2"]) == (None, None)
    assert (q["ib-1v"], q["pf-2v"]) == (True, True)
    # One answer for all formulations: pf-2 has not settled, and ib-2 is not linear.
    assert claim("linear-rates", "r-linear").ask(runs, "exact").holds is False
    for alpha in (*linear_rates.UNDER, *linear_rates.OVER):
        columns[linear_rates.name("ib-2", alpha)] = made(0.98**k)
    assert claim("linear-rates", "r-linear").ask(made_runs("linear-rates", columns), "exact").holds is None
    for alpha in (*linear_rates.UNDER, *linear_rates.OVER):
        columns[linear_rates.name("pf-2", alpha)] = made(0.98**k)
    assert claim("linear-rates", "r-linear").ask(made_runs("linear-rates", columns), "exact").holds is True
    columns[linear_rates.name("ib-2", linear_rates.OVER[-1])] = made(np.ones(20))  # not settled at one alpha: open
    assert linear_rates.q_linear(made_runs("linear-rates", columns), "ib-2", linear_rates.OVER).holds is None


def made(steps):
    """A run whose L_c - L_c* is the square of its steps: exponent 1/2."""
    return {"step": steps, "gradient": 3.0 * steps, "augmented": -1.0 + steps**2, "converged": np.ones(1)}


def test_exponent_one_half():
    k = np.arange(300)
    columns = {
        linear_rates.name(solver, alpha): made(0.9**k)
        for solver in linear_rates.SOLVERS
        for alpha in (*linear_rates.UNDER, *linear_rates.OVER)
    }
    columns[linear_rates.name("ib-2", 1.0)] = {
        "step": 0.9**k,
        "gradient": 0.9**k,
        "augmented": -1.0 + 0.9 ** (k / 0.8),  # exponent 0.8
        "converged": np.ones(1),
    }
    runs = made_runs("linear-rates", columns)
    assert {one: linear_rates.half(runs, one).holds for one in ("ib-1", "ib-2")} == {"ib-1": True, "ib-2": False}
    assert claim("linear-rates", "exponent-one-half").ask(runs, "exact").holds is False


def test_no_line_across_an_alpha_without_a_settled_run():
    pytest.importorskip("matplotlib")
    k = np.arange(300)
    alphas = (*linear_rates.UNDER, *linear_rates.OVER)
    columns = {linear_rates.name(solver, alpha): made(0.9**k) for solver in linear_rates.SOLVERS for alpha in alphas}
    columns[linear_rates.name("ib-1", 1.0)] = made(np.ones(20))
    columns |= {linear_rates.name("ib-2", alpha): made(np.ones(20)) for alpha in alphas}
    (ax,) = linear_rates.draw(made_runs("linear-rates", columns)).axes
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    assert np.isnan(lines["ib-1"]).tolist() == [alpha == 1.0 for alpha in alphas]
    assert "ib-2: not settled" in lines
