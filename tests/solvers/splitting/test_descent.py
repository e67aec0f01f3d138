"""The descent theorem's numbers; that it holds on real runs is in test_watching.py."""

import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.descent import descent
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.thresholds import descent_threshold, over_relaxed, theorem_2

COVERED = [name for name, formulation in FORMULATIONS.items() if formulation.descends]


def test_all_but_pf_2_are_covered():
    assert set(FORMULATIONS) - set(COVERED) == {"pf-2"}


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.618, 2.0])
@pytest.mark.parametrize(("sigma", "L"), [(0.7, 3.0), (2.0, 2.0), (0.01, 5.0)])
def test_the_threshold_is_where_kappa_vanishes(alpha, sigma, L):
    c = descent_threshold(alpha, sigma=sigma, L=L)
    assert descent(alpha, c, sigma, L) == pytest.approx(0.0, abs=1e-9)
    assert descent(alpha, 1.01 * c, sigma, L) > 0


def test_for_weakly_convex_blocks_it_is_the_papers_theorem_2():
    for alpha in (0.5, 1.0, 1.618):
        assert descent_threshold(alpha, sigma=-3.0, L=4.0) == pytest.approx(theorem_2(alpha, sigma_G=3.0, L_q=4.0))
    assert descent_threshold(2.0, sigma=-3.0, L=4.0) == math.inf


def test_in_units_of_its_own_curvature_solver_one_needs_c_above_one_whatever_alpha():
    for alpha in (0.3, 1.0, 1.618, 2.0):
        assert descent_threshold(alpha, sigma=5.0, L=5.0) == pytest.approx(5.0)


@pytest.mark.parametrize(("sigma", "L"), [(0.3, 1.0), (1.9, 2.0), (3.0, 3.0)])
@pytest.mark.parametrize("share", [0.0, 0.3, 0.9])
def test_over_relaxation_is_theorem_4_1_of_themelis_and_patrinos(sigma, L, share):
    """In their letters: lambda = alpha, gamma = 1/c, p = sigma/L and delta of their (4.4)."""
    p = sigma / L
    lam = 2.0 + share * (4.0 / (1.0 + math.sqrt(1.0 - p)) - 2.0)
    delta = math.sqrt((p * lam) ** 2 - 8.0 * p * (lam - 2.0))
    low, high = over_relaxed(lam, sigma=sigma, L=L)
    assert 1.0 / low == pytest.approx((p * lam + delta) / (4.0 * sigma))
    assert 1.0 / high == pytest.approx((p * lam - delta) / (4.0 * sigma), abs=1e-12)


@pytest.mark.parametrize("sigma", [-0.8, 0.0, 0.5])
def test_below_alpha_two_it_is_their_other_range(sigma):
    low, high = over_relaxed(1.5, sigma=sigma, L=1.0)
    assert 1.0 / low == pytest.approx(min(1.0, 0.5 / (2.0 * -sigma)) if sigma < 0.0 else 1.0)
    assert high == math.inf


class Bowl:
    """L p^2 / 2, whose curvature is L everywhere: sigma = L."""

    def __init__(self, L):
        self.L = L

    def value(self, u):
        return 0.5 * self.L * float((u * u).sum())

    def argmin(self, target, c, _start):
        return c * target / (self.L + c)


class Nearest:
    """0 on some points and infinite elsewhere."""

    def __init__(self, *places):
        self.places = np.array(places)

    def value(self, _u):
        return 0.0

    def argmin(self, target, _c, _start):
        return self.places[np.abs(target[:, None] - self.places).argmin(axis=1)]


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.618])
def test_no_smaller_penalty_would_do(alpha):
    """Their Theorem 4.7: with F = L p^2 / 2 and q in {-1, 1} runs converge just above c = L and never just below."""
    L = 3.0
    low, _ = over_relaxed(alpha, sigma=L, L=L)
    begin = {"p0": np.array([2.0]), "q0": np.array([1.0]), "relaxation": alpha, "max_iter": 5000}
    inside, outside = (
        ip.douglas_rachford(Bowl(L), Nearest(-1.0, 1.0), order="I", penalty=factor * low, **begin)
        for factor in (1.02, 0.98)
    )
    assert inside.converged
    assert not outside.converged
    assert outside.residuals.primal > 1.0


def test_no_larger_penalty_would_do_above_two():
    """Their Theorem 4.8: with q in one point runs leave the solution just above the upper end; refused unless sigma is misstated."""
    alpha, L = 3.0, 1.0
    _, high = over_relaxed(alpha, sigma=L, L=L)
    begin = {"p0": np.zeros(1), "q0": np.zeros(1), "order": "I", "relaxation": alpha, "max_iter": 2000}
    blocks = Bowl(L), Nearest(1.0)
    assert ip.douglas_rachford(*blocks, penalty=0.98 * high, curvature=(L, L), **begin).converged
    with pytest.raises(ip.InvalidOptionError, match="must lie between 1 and 2"):
        ip.douglas_rachford(*blocks, penalty=1.02 * high, curvature=(L, L), **begin)
    misstated = ip.douglas_rachford(*blocks, penalty=1.02 * high, curvature=(1.1 * L, 1.1 * L), **begin)
    assert not misstated.converged
    assert misstated.residuals.primal > 1.0


def test_what_is_asked_wrongly():
    joint, W = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    for call, message in (
        (lambda: ip.theorem_threshold(joint, ip.funnel(2.0), W, formulation="pf-2"), "does not cover pf-2"),
        (
            lambda: ip.theorem_threshold("4", L_q=1.0),
            "no theorem '4'; the names are 2, 3, descent, over-relaxed, jia, printed-1",
        ),
        (lambda: ip.theorem_threshold("2", L_q=1.0), "Theorem 2 takes other constants.*sigma_G"),
        (lambda: ip.theorem_threshold("descent", relaxation=2.5, sigma=1.0, L=1.0), "covers 0 < alpha <= 2"),
        (lambda: ip.theorem_threshold(joint, ip.funnel(2.0), W, L_q=1.0), "L_q: constants go with a theorem's name"),
        (lambda: ip.theorem_threshold(joint), "problem and an encoder"),
        (
            lambda: ip.theorem_threshold(joint, ip.funnel(2.0), np.array([[1.0] * 3, [0.0] * 3]), formulation="pf-1"),
            "cluster of the encoder is empty",
        ),
    ):
        with pytest.raises(ip.InvalidOptionError, match=message):
            call()
