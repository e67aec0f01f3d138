"""Smallest penalties: proven ones make their quadratic vanish, printed ones are warned of; and the automatic one."""

import math

import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.thresholds import (
    descent,
    descent_threshold,
    over_relaxed,
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

    def __init__(self, *points):
        self.points = np.array(points)

    def value(self, _u):
        return 0.0

    def argmin(self, target, _c, _start):
        return self.points[np.abs(target[:, None] - self.points).argmin(axis=1)]


@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.618])
def test_no_smaller_penalty_would_do(alpha):
    """Their Theorem 4.7: with F = L p^2 / 2 and q in {-1, 1} runs converge just above c = L and never just below."""
    L = 3.0
    low, _ = over_relaxed(alpha, sigma=L, L=L)
    begin = {"p0": np.array([2.0]), "q0": np.array([1.0]), "relaxation": alpha, "max_iter": 1000}
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
        (lambda: ip.theorem_threshold(3, ip.funnel(2.0), W), "a joint must be an infoplane.Joint"),
        (
            lambda: ip.theorem_threshold("2", sigma_G=math.nan, L_q=1.0),
            "sigma_G must be 0 or a positive number; found nan",
        ),
        (lambda: ip.theorem_threshold("2", sigma_G=1.0, L_q=1.0, mu_B=0.0), "mu_B must be a positive number; found 0"),
        (lambda: ip.theorem_threshold("descent", sigma=0.5, L=-1.0), "L must be 0 or a positive number; found -1"),
        (lambda: next(ip.iterates(joint, ip.bottleneck(0.2), ip.Accelerated(), W)), "those of a splitting"),
        (
            lambda: ip.theorem_threshold(joint, ip.funnel(2.0), np.array([[1.0] * 3, [0.0] * 3]), formulation="pf-1"),
            "cluster of the encoder is empty",
        ),
    ):
        with pytest.raises(ip.InvalidOptionError, match=message):
            call()


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
    from infoplane.kernels.splitting.advance import LOW

    for alpha in (0.5, 1.0, 1.618, 1.8):
        assert LOW * FORMULATIONS["ib-1"].automatic_factor(alpha) > max(1.0, 2.0 / alpha)
        assert LOW * FORMULATIONS["ib-1v"].automatic_factor(alpha) > 2.0 / (2.0 - alpha)
    assert FORMULATIONS["ib-2"].automatic_factor(2.0) == FORMULATIONS["ib-2"].automatic_factor(1.99)
