"""The descent theorem's numbers; that it holds on real runs is in test_watching.py."""

import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.descent import descent, descent_threshold
from infoplane.solvers.splitting.formulations import FORMULATIONS

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
    from infoplane.solvers.splitting.penalty import theorem_2

    for alpha in (0.5, 1.0, 1.618):
        assert descent_threshold(alpha, sigma=-3.0, L=4.0) == pytest.approx(theorem_2(alpha, sigma_G=3.0, L_q=4.0))
    assert descent_threshold(2.0, sigma=-3.0, L=4.0) == math.inf


def test_in_units_of_its_own_curvature_solver_one_needs_c_above_one_whatever_alpha():
    for alpha in (0.3, 1.0, 1.618, 2.0):
        assert descent_threshold(alpha, sigma=5.0, L=5.0) == pytest.approx(5.0)


def test_what_is_asked_wrongly():
    joint, W = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    for call, message in (
        (lambda: ip.theorem_threshold(joint, ip.funnel(2.0), W, formulation="pf-2"), "does not cover pf-2"),
        (lambda: ip.theorem_threshold("4", L_q=1.0), "no theorem '4'; the names are 1, 2, 3, descent"),
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
