"""Thresholds from constants: proven ones make their quadratic vanish, printed ones are what the paper prints and are warned of."""

import math

import pytest

import infoplane as ip
from infoplane.solvers.splitting.thresholds import (
    descent_threshold,
    printed_1,
    printed_2,
    printed_3,
    theorem_2,
    theorem_3,
)


def test_theorem_2_makes_its_quadratic_vanish_for_any_b():
    """c is the positive root of mu^2 c (1/alpha - 1/2) - L^2/(alpha c mu^2) = sigma/2, since |B^-1| = 1/mu."""
    for alpha, sigma, L, mu in ((1.0, 3.0, 2.0, 1.0), (1.618, 0.5, 4.0, 0.3), (0.4, 1.0, 1.0, 5.0)):
        c = theorem_2(alpha, sigma_G=sigma, L_q=L, mu_B=mu)
        assert mu**2 * c * (1 / alpha - 0.5) - L**2 / (alpha * c * mu**2) == pytest.approx(sigma / 2)
        # u = Bq turns it into the descent theorem, with curvatures over mu^2
        assert c == pytest.approx(descent_threshold(alpha, sigma=-sigma / mu**2, L=L / mu**2))


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.618, 1.9])
def test_in_units_of_its_own_curvature_theorem_2_asks_for_two_over_two_minus_alpha(alpha):
    assert theorem_2(alpha, sigma_G=5.0, L_q=5.0) == pytest.approx(5.0 * 2.0 / (2.0 - alpha), rel=1e-13)


def test_theorem_3_makes_its_quadratic_vanish():
    """c (1/alpha - 1/2)/M^2 - L^2/(alpha c mu) = sigma/2: |nu - nu'| <= |(BB')^-1 B| L |q - q'|, whose first factor is mu^(-1/2)."""
    alpha, sigma, L, M, mu = 1.5, 2.0, 4.0, 3.0, 9.0
    c = theorem_3(alpha, sigma_G=sigma, L_q=L, M_q=M, mu_BB=mu)
    assert c * (1 / alpha - 0.5) / M**2 - L**2 / (alpha * c * mu) == pytest.approx(sigma / 2)


def test_what_the_paper_prints():
    assert printed_1(2.0, L_p=10.0, sigma_F=2.0, omega_G=1.0) == 6.0
    assert printed_1(1.0, L_p=10.0, sigma_F=2.0, omega_G=100.0) == 100.0
    assert printed_1(1.0, L_p=10.0, sigma_F=2.0, omega_G=0.0, mu_A=2.0) == 3.0
    assert printed_2(1.0, sigma_G=1.0, L_q=1.0, mu_B=0.1) == pytest.approx((1 + math.sqrt(1 + 8e-4)) / 0.02)
    by_hand = 3.0 * (3.0 * 1.5 * 2.0 + math.sqrt((3.0 * 1.5 * 2.0) ** 2 + 8 * 0.5 * 16.0 * 4.0 * 9.0)) / (4.0 - 3.0)
    assert printed_3(1.5, sigma_G=2.0, L_q=4.0, M_q=3.0, lambda_B=2.0, mu_BB=9.0) == pytest.approx(by_hand)


def test_names_that_are_refuted_raise_and_names_that_are_printed_warn():
    constants = {"L_p": 1.0, "sigma_F": 0.01, "omega_G": 0.6, "relaxation": 2.0}
    with pytest.raises(ip.InvalidOptionError, match=r"Theorem 1 of the paper is false.*c > L_p/mu_A"):
        ip.theorem_threshold("1", **constants)
    with pytest.warns(ip.PenaltyWarning, match="Theorem 1 as printed is not true"):
        assert ip.theorem_threshold("printed-1", **constants).c == 0.6
    with pytest.warns(ip.PenaltyWarning, match="Theorem 2 as printed is not true"):
        ip.theorem_threshold("printed-2", sigma_G=1.0, L_q=1.0, mu_B=0.1)
    with pytest.warns(ip.PenaltyWarning, match="Theorem 3 as printed is not true"):
        ip.theorem_threshold("printed-3", sigma_G=1.0, L_q=1.0, M_q=1.0, lambda_B=1.0, mu_BB=1.0)
    with pytest.raises(ip.InvalidOptionError, match=r"Theorem 3 takes other constants.*lambda_B"):
        ip.theorem_threshold("3", sigma_G=1.0, L_q=1.0, M_q=1.0, lambda_B=1.0, mu_BB=1.0)


def test_jia_et_al_is_theorem_2_at_relaxation_one():
    constants = {"sigma_G": 3.0, "L_q": 4.0, "mu_B": 0.5}
    found = ip.theorem_threshold("jia", **constants)
    assert found.c == pytest.approx(ip.theorem_threshold("2", **constants).c)
    assert found.c == pytest.approx((3 + math.sqrt(9 + 128)) / (2 * 0.25))
    with pytest.raises(ip.InvalidOptionError, match="alpha = 1"):
        ip.theorem_threshold("jia", relaxation=1.5, **constants)


@pytest.mark.parametrize(
    ("name", "alpha", "constants"),
    [
        ("printed-1", 2.1, {"L_p": 1.0, "sigma_F": 1.0, "omega_G": 1.0}),
        ("2", 2.0, {"sigma_G": 1.0, "L_q": 1.0}),
        ("3", 2.0, {"sigma_G": 1.0, "L_q": 1.0, "M_q": 1.0, "mu_BB": 1.0}),
    ],
)
def test_outside_the_theorems(name, alpha, constants):
    with pytest.raises(ip.InvalidOptionError, match="covers 0 < alpha"):
        ip.theorem_threshold(name, relaxation=alpha, **constants)
