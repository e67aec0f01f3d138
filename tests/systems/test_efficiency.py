"""Distances to the frontier against dense grids, certificates and the frontier itself; what few trials leave open."""

import math
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.errors import FarSideWarning, InvalidEncoderError, InvalidOptionError, UnsupportedProblemError
from infoplane.information import NATS_PER_BIT, bits
from infoplane.systems.curve import KnownCurve
from infoplane.systems.efficiency import NUMBERS, corrected_ixz, inverted_ixz, known, place
from infoplane.systems.given import read_systems
from infoplane.systems.measures import gnid
from verify import mutual_informations

SMALL = ip.datasets.paper_uniform()
HEART = ip.datasets.heart()


def random_encoders(joint, count, seed=0):
    rng, letters = np.random.default_rng(seed), joint.shape[0]
    return [
        rng.dirichlet(np.full(rng.integers(2, letters + 1), 10.0 ** rng.uniform(-2, 0)), size=letters).T
        for _ in range(count)
    ]


def on_a_grid(joint, points, gammas):
    """Both sides of epsilon by the library's own sweep: the chords between its optima, and min over the grid of L(W) - L*."""
    best = ip.sweep(joint, ip.bottleneck, gammas).best()
    loss, gamma = (best[name].to_numpy() for name in ("loss_nats", "parameter"))
    u, v = (best[name].to_numpy() * NATS_PER_BIT for name in ("ixz_bits", "iyz_bits"))
    low = [np.interp(x, u[::-1], v[::-1]) - y for x, y in points]
    high = [(gamma * x - y - loss).min() for x, y in points]
    return np.array(low), np.array(high)


@pytest.mark.parametrize("joint", [SMALL, HEART], ids=["3x3", "heart"])
def test_against_a_dense_grid(joint):
    frame = ip.efficiency(joint, random_encoders(joint, 12))
    points = frame[["ixz_bits", "iyz_bits"]].to_numpy() * NATS_PER_BIT
    low, high = on_a_grid(joint, points, np.geomspace(0.004, 1.0, 300))
    epsilon = frame["epsilon_bits"].to_numpy() * NATS_PER_BIT
    assert (high - low).max() < 1e-4
    assert (low - 2e-7 <= epsilon).all()
    assert (epsilon <= high + 2e-7).all()
    assert frame["solves"].max() <= 30
    assert (frame["epsilon_proven_low_bits"] <= frame["epsilon_bits"] + 1e-12).all()
    np.testing.assert_allclose(frame["beta"], 1.0 / frame["gamma"])


def test_certified_intervals_hold_and_are_narrow():
    frame = ip.efficiency(HEART, random_encoders(HEART, 3, seed=1), certify=1e-6)
    low, high = (frame[f"epsilon_proven_{end}_bits"] for end in ("low", "high"))
    assert (low <= frame["epsilon_bits"] + 1e-12).all()
    assert (frame["epsilon_bits"] <= high).all()
    assert (high - low).max() * NATS_PER_BIT < 3e-6
    assert ip.efficiency(SMALL, [[0, 1, 1]])["epsilon_proven_high_bits"].isna().all()


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_what_solve_finds_lies_on_the_frontier_at_its_own_gamma(gamma):
    s = ip.solve(SMALL, ip.bottleneck(gamma), certify=True)
    curve = KnownCurve(SMALL, ip.bottleneck)
    (one,) = place(curve, read_systems(SMALL, s)).placed
    assert abs(one.epsilon) <= s.gap + 2e-7
    low, high = curve.slopes_around(one.ixz)
    assert low - 1e-3 <= gamma <= high + 1e-3
    assert one.gnid < 1e-2


def test_the_ends_of_the_plane():
    frame = ip.efficiency(SMALL, {"nothing": np.ones((1, 3)), "everything": np.eye(3)})
    np.testing.assert_allclose(frame["epsilon_bits"], 0.0, atol=1e-12)
    assert frame["gamma"].tolist()[1] == 0.0
    assert frame["beta"].tolist()[1] == math.inf
    assert frame["solves"].tolist() == [0, 0]


def test_the_optimum_and_the_distance_to_it():
    (row,) = ip.efficiency(SMALL, {"ab|c": ["u", "u", "v"]}).to_dict("records")
    assert row["optimum"].parameter == row["gamma"]
    assert row["optimum_ixz_bits"] == bits(row["optimum"].ixz)
    W = np.array([[1, 1, 0], [0, 0, 1.0]])
    assert row["gnid"] == pytest.approx(gnid(SMALL, W, row["optimum"].encoder), abs=1e-15)


def test_the_funnel_is_excess_leakage_at_equal_utility():
    joint = ip.datasets.paper_nonuniform()
    W = np.array([[0.9, 0.2, 0.1], [0.1, 0.8, 0.9]])
    (row,) = ip.efficiency(joint, [W], ip.funnel, certify=True).to_dict("records")
    assert "gamma" not in row
    least = ip.sweep(joint, ip.funnel, np.geomspace(1.05, 20.0, 8), starts=2, rng=0).at(ixz_bits=row["ixz_bits"])
    assert row["epsilon_bits"] == pytest.approx(row["iyz_bits"] - bits(least.iyz), abs=1e-5)
    assert row["epsilon_proven_low_bits"] - 1e-9 <= row["epsilon_bits"] <= row["epsilon_proven_high_bits"] + 1e-9


def test_many_encoders_share_what_was_solved():
    encoders = random_encoders(HEART, 12)
    together = ip.efficiency(HEART, encoders)
    alone = [ip.efficiency(HEART, [W]) for W in encoders[:3]]
    assert together["solves"].sum() < 4 * sum(frame["solves"].iloc[0] for frame in alone)
    for number, frame in enumerate(alone):
        assert frame["epsilon_bits"].iloc[0] == pytest.approx(together["epsilon_bits"].iloc[number], abs=1e-6)


def test_place_against_a_frontier_that_exists():
    f = ip.sweep(SMALL, ip.bottleneck, np.geomspace(0.02, 0.7, 24))
    encoders = {"hard": ["u", "v", "u"], "soft": random_encoders(SMALL, 1)[0]}
    as_is, refined = f.place(encoders, max_solves=0), f.place(encoders)
    assert as_is["solves"].tolist() == [0, 0]
    assert (as_is["epsilon_bits"] >= refined["epsilon_bits"] - 1e-12).all()
    assert (as_is["epsilon_proven_low_bits"] <= refined["epsilon_proven_low_bits"] + 1e-12).all()
    np.testing.assert_allclose(refined["epsilon_bits"], ip.efficiency(SMALL, encoders)["epsilon_bits"], atol=1e-6)


def test_a_missed_optimum_is_found_from_the_encoder_that_shows_it():
    """A frontier that stopped early lies below the encoder: that is said, and with a solve it is mended."""
    poor = ip.Frontier(
        SMALL, [ip.solve(SMALL, ip.bottleneck(0.3), "blahut-arimoto", starts=1, max_iter=1, init="random", rng=0)]
    )
    best = ip.solve(SMALL, ip.bottleneck(0.3), starts=4, rng=0)
    with pytest.warns(FarSideWarning, match=r"nats beyond every optimum that was found"):
        frame = place(known(poor), read_systems(SMALL, best), max_solves=0)
    assert frame.placed[0].epsilon < -1e-3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (mended,) = place(known(poor), read_systems(SMALL, best)).placed
    assert abs(mended.epsilon) < 1e-6


def test_systems_beside_the_frontier():
    placed = place(KnownCurve(SMALL, ip.bottleneck), read_systems(SMALL, {"mine": [0, 1, 1], "yours": [0, 1, 0]}))
    f = placed.with_systems()
    assert [run.solver for run in f.runs[-2:]] == ["given: mine", "given: yours"]
    assert len(placed.placed) == 2
    assert f.provenance["systems"][0]["system"] == "mine"
    assert f.provenance["systems"][0]["epsilon_bits"] == bits(placed.placed[0].epsilon)
    assert len(placed.frontier) == len(placed.curve.runs)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: ip.efficiency(SMALL, [[0, 1]]), InvalidEncoderError, "system '0'"),
        (lambda: ip.efficiency(SMALL, [[0, 1, 1]], ip.deterministic_bottleneck), UnsupportedProblemError, "gamma H\\(Z\\)"),
        (lambda: ip.efficiency(SMALL, [[0, 1, 1]], "bottleneck"), InvalidOptionError, "Write infoplane.bottleneck"),
        (lambda: ip.efficiency(SMALL.p_xy, [[0, 1, 1]]), InvalidOptionError, "infoplane.Joint"),
        (lambda: ip.efficiency(SMALL, [[0, 1, 1]], tol=0.0), InvalidOptionError, "tol"),
        (lambda: ip.efficiency(SMALL, [[0, 1, 1]], max_solves=-1), InvalidOptionError, "max_solves"),
        (lambda: ip.sweep(SMALL, lambda g: ip.generalised_bottleneck(g, 0.5), [0.5]).place([[0, 1, 1]]), UnsupportedProblemError, "plane"),
    ],
)  # fmt: skip
def test_what_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_naming_counts():
    counts = pd.DataFrame({"u": [3, 0, 1], "v": [1, 4, 1]})
    frame = ip.efficiency(SMALL, {"en": counts}, counts=True)
    soft = ip.efficiency(SMALL, [np.array([[0.75, 0.0, 0.5], [0.25, 1.0, 0.5]])])
    assert frame["epsilon_bits"].tolist() == soft["epsilon_bits"].tolist()


def test_letters_without_mass_and_sparse_tables():
    P = np.array([[0.3, 0.1, 0.0], [0.0, 0.0, 0.0], [0.1, 0.1, 0.4]])
    encoders = {"hard": ["u", "u", "v"], "soft": np.array([[0.8, 0.5, 0.1], [0.2, 0.5, 0.9]])}
    dense, thin = (ip.efficiency(ip.Joint.from_matrix(made(P)), encoders) for made in (np.array, sparse.csr_array))
    np.testing.assert_allclose(dense["epsilon_bits"], thin["epsilon_bits"], atol=1e-7)
    without = ip.efficiency(ip.Joint.from_matrix(P[[0, 2]]), {"soft": encoders["soft"][:, [0, 2]]})
    assert dense["epsilon_bits"].iloc[1] == pytest.approx(without["epsilon_bits"].iloc[0], abs=1e-7)


def made():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.random(7) for name in NUMBERS})
    frame["group"], frame["who"] = list("aaaabbb"), list("1234123")
    frame.loc[0, "beta"] = np.inf
    return frame


def test_means_standard_errors_and_the_paired_difference():
    frame = made()
    found = ip.efficiency_summary(frame, "group", "who")
    a, b = (frame[frame.group == name].epsilon_bits.to_numpy() for name in "ab")
    assert found.loc["a", "epsilon_bits"] == pytest.approx(a.mean())
    assert found.loc["a", "epsilon_bits_se"] == pytest.approx(a.std(ddof=1) / 2.0)
    assert found.loc["difference", "epsilon_bits"] == pytest.approx((a[:3] - b).mean())
    assert found.loc["difference", "epsilon_bits_se"] == pytest.approx((a[:3] - b).std(ddof=1) / np.sqrt(3.0))
    assert found.loc["a", "beta"] == pytest.approx(frame.beta[1:4].mean())
    assert found.systems.tolist() == [4, 3, 3]


def test_what_is_missing_is_said():
    with pytest.raises(ip.InvalidOptionError, match="needs the column 'nobody'"):
        ip.efficiency_summary(made(), "nobody")
    with pytest.raises(ip.InvalidOptionError, match="two groups"):
        ip.efficiency_summary(made(), "who", "group")


def counted(rng, W, trials):
    return np.array([rng.multinomial(trials, column / column.sum()) for column in W.T]).T


def test_optimal_subjects_are_not_rejected_and_others_are():
    """20 optimal subjects, all with a positive epsilon; at most 3 of them below .05 (more: probability .02), and a bad one is rejected."""
    rng = np.random.default_rng(0)
    best = [ip.solve(HEART, ip.bottleneck(gamma), rng=0).encoder for gamma in (0.08, 0.15)]
    subjects = {f"{number}": counted(rng, best[number % 2], 20) for number in range(20)}
    worst = np.eye(3)[:, rng.permutation(np.arange(16) % 3)]
    subjects["shuffled"] = counted(rng, 0.9 * worst + 0.1 / 3.0, 20)
    frame = ip.efficiency(HEART, subjects, counts=True, axes="zx", bootstrap=19, rng=1).set_index("system")
    bad, good = frame.loc["shuffled"], frame.drop("shuffled")
    assert (good["epsilon_bits"] > 1e-5).all()
    assert (good["on_bound_p"] <= 0.05).sum() <= 3
    assert (good["epsilon_ci_low_bits"] < 1e-4).mean() > 0.8
    assert bad["on_bound_p"] == 1.0 / 20.0
    assert 0.0 < bad["epsilon_ci_low_bits"] <= bad["epsilon_ci_high_bits"]
    assert (frame["beta_ci_low"] <= frame["beta_ci_high"]).all()
    assert (frame["ixz_ci_low_bits"] <= frame["ixz_corrected_bits"]).all()
    assert (frame["trials"] == 16 * 20).all()
    few = {name: subjects[name] for name in ("0", "shuffled")}
    one, two = (ip.efficiency(HEART, few, counts=True, axes="zx", bootstrap=4, rng=1) for _ in range(2))
    assert one["on_bound_p"].tolist() == two["on_bound_p"].tolist()
    assert one["epsilon_ci_low_bits"].tolist() == two["epsilon_ci_low_bits"].tolist()


def test_intervals_of_few_trials_hold_beta():
    """24 subjects of 8 trials an item, where a bootstrap of beta itself held it in 17; 21 or more are to be expected of 95%."""
    rng, gamma = np.random.default_rng(11), 0.15
    W = ip.solve(HEART, ip.bottleneck(gamma), rng=0).encoder
    subjects = {str(number): counted(rng, W, 8) for number in range(24)}
    frame = ip.efficiency(HEART, subjects, counts=True, axes="zx", bootstrap=9, rng=1)
    assert ((frame["beta_ci_low"] <= 1.0 / gamma) & (1.0 / gamma <= frame["beta_ci_high"])).sum() >= 21
    assert (frame["beta_ci_high"] < 4.0 * frame["beta_ci_low"]).all()


def test_hard_systems_have_no_noise():
    """All trials agree: draws show what the system shows, and so do both ends."""
    W = np.eye(4)[:, np.arange(16) % 4]
    own = mutual_informations(HEART.p_xy, W)[0]
    assert inverted_ixz(W, np.full(16, 9.0), HEART.p_x, 19, np.random.default_rng(0)) == pytest.approx((own, own))


def test_of_many_trials_the_interval_of_ixz_is_narrow_about_the_truth():
    rng = np.random.default_rng(8)
    true = rng.dirichlet(np.full(3, 0.5), 16).T
    shown = np.column_stack([rng.multinomial(1000, p) / 1000.0 for p in true.T])
    low, high = inverted_ixz(shown, np.full(16, 1000.0), HEART.p_x, 39, rng)
    truth = ip.Joint.from_conditional(HEART.p_x, true.T).mutual_information
    assert low < truth < high
    assert high < 1.15 * low


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
