"""Systems counted in few trials: optimal subjects are not called inefficient, others are; bias; what is refused."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.systems.trials import corrected_ixz, inverted_ixz
from verify import mutual_informations

HEART = ip.datasets.heart()


def counted(rng, W, trials):
    return np.array([rng.multinomial(trials, column / column.sum()) for column in W.T]).T


def test_optimal_subjects_are_not_rejected_and_others_are():
    """32 optimal subjects, all with a positive epsilon; at most 5 of them below .05 (more: probability .02), and a bad one is rejected."""
    rng = np.random.default_rng(0)
    best = [ip.solve(HEART, ip.bottleneck(gamma), rng=0).encoder for gamma in (0.08, 0.15)]
    subjects = {f"{number}": counted(rng, best[number % 2], 20) for number in range(32)}
    worst = np.eye(3)[:, rng.permutation(np.arange(16) % 3)]
    subjects["shuffled"] = counted(rng, 0.9 * worst + 0.1 / 3.0, 20)
    frame = ip.efficiency(HEART, subjects, counts=True, axes="zx", bootstrap=59, rng=1).set_index("system")
    bad, good = frame.loc["shuffled"], frame.drop("shuffled")
    assert (good["epsilon_bits"] > 1e-5).all()
    assert (good["on_bound_p"] <= 0.05).sum() <= 5
    assert (good["epsilon_ci_low_bits"] < 1e-4).mean() > 0.8
    assert bad["on_bound_p"] == 1.0 / 60.0
    assert 0.0 < bad["epsilon_ci_low_bits"] <= bad["epsilon_ci_high_bits"]
    assert (frame["beta_ci_low"] <= frame["beta_ci_high"]).all()
    assert (frame["ixz_ci_low_bits"] <= frame["ixz_corrected_bits"]).all()
    assert (frame["trials"] == 16 * 20).all()
    again = ip.efficiency(HEART, subjects, counts=True, axes="zx", bootstrap=59, rng=1).set_index("system")
    assert again["on_bound_p"].tolist() == frame["on_bound_p"].tolist()


def test_intervals_of_few_trials_hold_beta():
    """24 subjects of 8 trials an item, where a bootstrap of beta itself held it in 17; 21 or more are to be expected of 95%."""
    rng, gamma = np.random.default_rng(11), 0.15
    W = ip.solve(HEART, ip.bottleneck(gamma), rng=0).encoder
    subjects = {str(number): counted(rng, W, 8) for number in range(24)}
    frame = ip.efficiency(HEART, subjects, counts=True, axes="zx", bootstrap=39, rng=1)
    assert ((frame["beta_ci_low"] <= 1.0 / gamma) & (1.0 / gamma <= frame["beta_ci_high"])).sum() >= 21
    assert (frame["beta_ci_high"] < 4.0 * frame["beta_ci_low"]).all()


def test_hard_systems_have_no_noise():
    """All trials agree: draws show what the system shows, and so do both ends."""
    W = np.eye(4)[:, np.arange(16) % 4]
    own = mutual_informations(HEART.p_xy, W)[0]
    assert inverted_ixz(W, np.full(16, 9.0), HEART.p_x, 19, np.random.default_rng(0)) == pytest.approx((own, own))


def test_the_bias_of_few_trials_is_taken_off():
    """Mean over 300 experiments of 12 trials an item; what is left is below a quarter of what there was."""
    rng = np.random.default_rng(2)
    W = rng.dirichlet(np.full(3, 2.0), 16).T
    truth = mutual_informations(HEART.p_xy, W)[0]
    draws = [counted(rng, W, 12) / 12.0 for _ in range(300)]
    plain = np.mean([mutual_informations(HEART.p_xy, draw)[0] for draw in draws]) - truth
    corrected = np.mean([corrected_ixz(draw, np.full(16, 12.0), HEART.p_x) for draw in draws]) - truth
    assert plain > 0.03
    assert abs(corrected) < 0.25 * plain


def test_shares_are_no_trials():
    with pytest.raises(ip.InvalidOptionError, match="whole-number counts"):
        ip.efficiency(HEART, {"a": np.eye(16)}, bootstrap=10)
    with pytest.raises(ip.InvalidOptionError, match="whole-number counts"):
        ip.efficiency(HEART, {"a": np.eye(16) * 1.5}, counts=True, axes="zx", bootstrap=10)
