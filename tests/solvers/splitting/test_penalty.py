import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.penalty import automatic_factor


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_thresholds_of_the_formulations():
    joint, uniform = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    ib, pf = ip.bottleneck(0.2), ip.funnel(2.5)
    one = ip.penalty_threshold(joint, ib, uniform, formulation="ib-1", printed=True)
    T = (joint.p_xy / joint.p_x[:, None]).T
    zeta = sum((T[y].max() - T[y].min()) ** 2 / joint.p_y[y] for y in range(3))
    assert one.constants["omega_G"] == pytest.approx(2 * 9 * zeta * 3 - 0.2)
    assert one.constants["L_p"] == pytest.approx(3.0)
    assert one.c == pytest.approx(max(2 * 9 * zeta * 3 - 0.2, 3.8))
    two = ip.penalty_threshold(joint, ib, uniform, formulation="ib-2")
    assert two.constants == {"sigma_G": pytest.approx(54.0), "L_q": pytest.approx(3.0)}
    three = ip.penalty_threshold(joint, pf, uniform, formulation="pf-2", printed=True)
    assert three.theorem == "Theorem 6 as printed"
    assert three.constants["sigma_G"] == pytest.approx(2 * 3 * (1.5 + 3) * 3)
    assert three.constants["M_q"] == pytest.approx(2 * math.log(3))
    K = (
        joint.p_xy / joint.p_y
    )  # mu_BB is what the paper's text says, the smallest eigenvalue of BB' with B = K', once for every z
    assert three.constants["mu_BB"] == pytest.approx(np.linalg.eigvalsh(K.T @ K).min())
    assert ip.penalty_threshold(joint, pf, uniform, formulation="pf-2v").c == pytest.approx(2.5 * 3 * 2)


def test_theorems_4_and_6_are_refused_and_given_as_printed_with_a_warning():
    joint, W = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    for problem, name, reason in (
        (ip.bottleneck(0.2), "ib-1", "Theorem 4 does not hold for ib-1. It applies Theorem 1"),
        (ip.funnel(2.0), "pf-2", "Theorem 6 does not hold for pf-2"),
    ):
        with pytest.raises(ip.InvalidOptionError, match=reason):
            ip.penalty_threshold(joint, problem, W, formulation=name)
        with pytest.warns(ip.PenaltyWarning, match="as printed is not true"):
            assert ip.penalty_threshold(joint, problem, W, formulation=name, printed=True).theorem.endswith(
                "as printed"
            )


def test_what_is_proven_is_never_larger_than_theorem_5():
    rng = np.random.default_rng(3)
    for joint in (ip.datasets.paper_uniform(), ip.datasets.heart()):
        W = rng.dirichlet(np.full(3, 5.0), size=joint.shape[0]).T
        for problem, name in (
            (ip.bottleneck(0.3), "ib-2"),
            (ip.bottleneck(0.3), "ib-1v"),
            (ip.funnel(2.0), "pf-2v"),
        ):
            paper = ip.penalty_threshold(joint, problem, W, formulation=name, relaxation=1.5).c
            assert ip.theorem_threshold(joint, problem, W, formulation=name, relaxation=1.5).c <= paper * (1 + 1e-12)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_three_forms_of_omega_G_and_what_the_paper_lacks():
    joint, W = ip.datasets.paper_uniform(), np.full((2, 3), 1 / 2)
    W[:, 0] = 0.3, 0.7
    zeta = (np.ptp(joint.p_xy / joint.p_x[:, None], axis=0) ** 2 / joint.p_y).sum()
    found = {
        form: ip.penalty_threshold(
            joint, ip.bottleneck(0.2), W, formulation="ib-1", omega_G=form, printed=True
        ).constants["omega_G"]
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
        ip.penalty_threshold(ip.datasets.paper_uniform(), ip.bottleneck(0.2), np.eye(3), formulation="ib-2")


def test_a_penalty_below_the_theorem_warns_and_auto_does_not(recwarn):
    joint = ip.datasets.paper_uniform()
    for problem, name in ((ip.bottleneck(0.2), "ib-1"), (ip.funnel(4.0), "pf-1")):
        with pytest.warns(
            ip.PenaltyWarning, match=rf"c = 0.5 lies below .* provably falls in every iteration, for {name}"
        ) as said:
            ip.solve(joint, problem, ip.DouglasRachford(name, penalty=0.5), starts=1, max_iter=5)
        assert "Theorem" not in str(said[0].message)
    with pytest.warns(ip.PenaltyWarning, match="c = 1 lies below .* for pf-2"):  # in the order that is proven
        ip.solve(joint, ip.funnel(4.0), ip.DouglasRachford("pf-2", penalty=1.0, order="I"), starts=1, max_iter=5)
    with pytest.warns(ip.PenaltyWarning, match="no theorem covers ib-2"):
        ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-2", relaxation=2.0), starts=1, max_iter=5)
    recwarn.clear()
    ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1", relaxation=2.0), starts=1, max_iter=5)
    ip.solve(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1v", penalty=1e6), starts=1, max_iter=5)
    ip.solve(
        joint, ip.funnel(2.0), ip.DouglasRachford("pf-2", penalty=0.1), starts=1, max_iter=5
    )  # nothing is proven to quote
    assert not recwarn.list


def test_automatic_factor_clears_the_theorem_even_at_the_edge_of_its_band():
    from infoplane.kernels.splitting.penalty import LOW

    for alpha in (0.5, 1.0, 1.618, 1.8):
        assert LOW * automatic_factor(FORMULATIONS["ib-1"], alpha) > max(1.0, 2.0 / alpha)
        assert LOW * automatic_factor(FORMULATIONS["ib-1v"], alpha) > 2.0 / (2.0 - alpha)
    assert automatic_factor(FORMULATIONS["ib-2"], 2.0) == automatic_factor(FORMULATIONS["ib-2"], 1.99)
