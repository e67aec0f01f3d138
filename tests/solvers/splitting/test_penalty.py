import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.penalty import automatic_factor, theorem_1, theorem_2, theorem_3


def test_theorem_1():
    assert theorem_1(2.0, L_p=10.0, sigma_F=2.0, omega_G=1.0) == 6.0
    assert theorem_1(1.0, L_p=10.0, sigma_F=2.0, omega_G=100.0) == 100.0
    assert theorem_1(1.0, L_p=10.0, sigma_F=2.0, omega_G=0.0, mu_A=2.0) == 3.0


def test_theorem_2_makes_its_quadratic_vanish():
    """c is the positive root of mu^2 [c (1/alpha - 1/2) - L^2 mu^2/(alpha c)] = sigma/2, with the lemma's factors."""
    for alpha, sigma, L in ((1.0, 3.0, 2.0), (1.618, 0.5, 4.0), (0.4, 1.0, 1.0)):
        c = theorem_2(alpha, sigma_G=sigma, L_q=L)
        assert c * (1 / alpha - 0.5) - L**2 / (alpha * c) - sigma / 2 == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("alpha", [0.3, 1.0, 1.618, 1.9])
def test_in_units_of_its_own_curvature_theorem_2_asks_for_two_over_two_minus_alpha(alpha):
    assert theorem_2(alpha, sigma_G=5.0, L_q=5.0) == pytest.approx(5.0 * 2.0 / (2.0 - alpha), rel=1e-13)


def test_theorem_3_keeps_the_factor_that_the_lemma_derives():
    by_hand = 3.0 * (3.0 * 1.5 * 2.0 + math.sqrt((3.0 * 1.5 * 2.0) ** 2 + 8 * 0.5 * 16.0 * 4.0 * 9.0)) / (4.0 - 3.0)
    assert theorem_3(1.5, sigma_G=2.0, L_q=4.0, M_q=3.0, lambda_B=2.0, mu_BB=9.0) == pytest.approx(by_hand)


@pytest.mark.parametrize(("theorem", "alpha"), [(theorem_1, 2.1), (theorem_1, 0.0), (theorem_2, 2.0), (theorem_3, 2.0)])
def test_outside_the_theorems(theorem, alpha):
    given = {theorem_1: {"L_p": 1.0, "sigma_F": 1.0, "omega_G": 1.0}, theorem_2: {"sigma_G": 1.0, "L_q": 1.0}}.get(
        theorem, {"sigma_G": 1.0, "L_q": 1.0, "M_q": 1.0, "lambda_B": 1.0, "mu_BB": 1.0}
    )
    with pytest.raises(ip.InvalidOptionError, match="covers 0 < alpha"):
        theorem(alpha, **given)


def test_thresholds_of_the_formulations():
    joint, uniform = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    ib, pf = ip.bottleneck(0.2), ip.funnel(2.5)
    one = ip.penalty_threshold(joint, ib, uniform, formulation="ib-1")
    T = (joint.p_xy / joint.p_x[:, None]).T
    zeta = sum((T[y].max() - T[y].min()) ** 2 / joint.p_y[y] for y in range(3))
    assert one.constants["omega_G"] == pytest.approx(2 * 9 * zeta * 3 - 0.2)
    assert one.constants["L_p"] == pytest.approx(3.0)
    assert one.c == pytest.approx(max(2 * 9 * zeta * 3 - 0.2, 3.8))
    two = ip.penalty_threshold(joint, ib, uniform, formulation="ib-2")
    assert two.constants == {"sigma_G": pytest.approx(54.0), "L_q": pytest.approx(3.0)}
    three = ip.penalty_threshold(joint, pf, uniform, formulation="pf-2")
    assert three.theorem == "Theorem 6"
    assert three.constants["sigma_G"] == pytest.approx(2 * 3 * (1.5 + 3) * 3)
    assert three.constants["M_q"] == pytest.approx(2 * math.log(3))
    assert ip.penalty_threshold(joint, pf, uniform, formulation="pf-2v").c == pytest.approx(2.5 * 3 * 2)


def test_the_three_forms_of_omega_G_and_what_the_paper_lacks():
    joint, W = ip.datasets.paper_uniform(), np.full((2, 3), 1 / 2)
    W[:, 0] = 0.3, 0.7
    zeta = (np.ptp(joint.p_xy / joint.p_x[:, None], axis=0) ** 2 / joint.p_y).sum()
    found = {
        form: ip.penalty_threshold(joint, ip.bottleneck(0.2), W, formulation="ib-1", omega_G=form).constants["omega_G"]
        for form in ("lemma", "theorem", "inequality")
    }
    assert found["lemma"] == pytest.approx(12 * zeta / 0.3 - 0.2)
    assert found["theorem"] == pytest.approx(12 * zeta / (W @ joint.p_x).min() - 0.2)
    assert found["inequality"] == pytest.approx(12 / 0.3)
    with pytest.raises(ip.InvalidOptionError, match="omega_G must be"):
        ip.penalty_threshold(joint, ip.bottleneck(0.2), W, omega_G="printed")
    with pytest.raises(ip.InvalidOptionError, match="no theorem for pf-1; theorem_threshold gives"):
        ip.penalty_threshold(joint, ip.funnel(2.0), W, formulation="pf-1")


def test_ib_2_threshold_does_not_depend_on_gamma():
    joint, W = ip.datasets.heart(), np.full((4, 16), 0.25)
    found = {ip.penalty_threshold(joint, ip.bottleneck(g), W, formulation="ib-2").c for g in (0.05, 0.2, 0.9)}
    assert len(found) == 1


def test_empty_encoder_entries_have_no_threshold():
    with pytest.raises(ip.InvalidOptionError, match="empty entry"):
        ip.penalty_threshold(ip.datasets.paper_uniform(), ip.bottleneck(0.2), np.eye(3))


def test_a_penalty_below_the_theorem_warns_and_auto_does_not(recwarn):
    joint = ip.datasets.paper_uniform()
    with pytest.warns(
        ip.PenaltyWarning, match=r"c = 16 lies below [\d.]+, the paper's threshold \(Theorem 4\), for ib-1"
    ):
        ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1", penalty=16.0), starts=1, max_iter=5)
    with pytest.warns(ip.PenaltyWarning, match=r"c = 2 lies below .* from which L_c provably falls, for pf-1"):
        ip.solve(joint, ip.funnel(4.0), ip.DouglasRachford("pf-1", penalty=2.0), starts=1, max_iter=5)
    with pytest.warns(ip.PenaltyWarning, match="no theorem covers ib-2"):
        ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-2", relaxation=2.0), starts=1, max_iter=5)
    recwarn.clear()
    ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1", relaxation=2.0), starts=1, max_iter=5)
    ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1v", penalty=1e6), starts=1, max_iter=5)
    assert not recwarn.list


def test_automatic_factor_clears_the_theorem_even_at_the_edge_of_its_band():
    from infoplane.kernels.splitting.penalty import LOW

    for alpha in (0.5, 1.0, 1.618, 1.8):
        assert LOW * automatic_factor(FORMULATIONS["ib-1"], alpha) > 2.0 / alpha
        assert LOW * automatic_factor(FORMULATIONS["ib-1v"], alpha) > 2.0 / (2.0 - alpha)
    assert automatic_factor(FORMULATIONS["ib-2"], 2.0) == automatic_factor(FORMULATIONS["ib-2"], 1.99)
