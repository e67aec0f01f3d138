"""Measures of leakage against formulas that are written out here, cell by cell; the held-out attacker and its exact intervals."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import infoplane as ip
from infoplane.table.audit import Told, clopper_pearson, quantile

BIT = math.log(2.0)


def channels(seed):
    rng = np.random.default_rng(seed)
    n_x, n_y, n_z = (int(k) for k in rng.integers(2, 6, size=3))
    P = rng.dirichlet(np.full(n_x * n_y, rng.choice([0.3, 1.0]))).reshape(n_x, n_y) + 1e-6
    W = rng.dirichlet(np.full(n_z, rng.choice([0.2, 1.0])), size=n_x).T
    return ip.Joint.from_counts(P), W


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_every_measure_equals_its_formula(seed):
    joint, W = channels(seed)
    P = np.asarray(joint.p_xy)
    n_z, n_y = len(W), P.shape[1]
    J = [[sum(W[z, x] * P[x, s] for x in range(len(P))) for s in range(n_y)] for z in range(n_z)]
    p_z, p_s = [sum(row) for row in J], [sum(J[z][s] for z in range(n_z)) for s in range(n_y)]
    Z, S = range(n_z), range(n_y)
    post = [[J[z][s] / p_z[z] for s in S] for z in Z]
    mi = sum(J[z][s] * math.log(J[z][s] / (p_z[z] * p_s[s])) for z in Z for s in S)
    after = sum(max(J[z]) for z in Z)
    lifts = [[math.log(post[z][s] / p_s[s]) for s in S] for z in Z]
    given_s = [[J[z][s] / p_s[s] for z in Z] for s in S]
    expected = {
        "mutual information": mi / BIT,
        "best guess, before": max(p_s),
        "best guess, after": after,
        "min-entropy leakage": math.log2(after / max(p_s)),
        "Bayes security": (1 - after) / (1 - max(p_s)),
        "Bayes security, worst prior": 1
        - max(sum(abs(given_s[a][z] - given_s[b][z]) for z in Z) / 2 for a in S for b in S),
        "pointwise maximal leakage, worst": max(map(max, lifts)) / BIT,
        "local information privacy": max(abs(v) for row in lifts for v in row) / BIT,
        "local differential privacy of S": max(
            math.log2(given_s[a][z] / given_s[b][z]) for a in S for b in S for z in Z
        ),
        "maximal leakage": math.log2(sum(max(given_s[s][z] for s in S) for z in Z)),
        "l-diversity": n_y,
        "t-closeness": max(sum(abs(post[z][s] - p_s[s]) for s in S) / 2 for z in Z),
    }
    found = ip.audit(joint, W, max_seconds=0).value
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-12, abs=1e-12), name
    assert found["mutual information"] <= found["maximal leakage"] + 1e-12
    assert found["maximal leakage"] <= found["pointwise maximal leakage, worst"] + 1e-12


def test_a_gain_that_asks_for_the_value_itself_is_the_best_guess():
    joint, W = channels(5)
    found = ip.audit(joint, W, gain=np.eye(joint.shape[1]), max_seconds=0).value
    assert found["g-vulnerability, before"] == pytest.approx(found["best guess, before"], abs=1e-12)
    assert found["g-vulnerability, after"] == pytest.approx(found["best guess, after"], abs=1e-12)


def test_quantiles_of_leakage_weigh_records_not_values():
    values, weights = np.array([3.0, 1.0, 2.0]), np.array([0.04, 0.5, 0.46])
    assert [quantile(values, weights, share) for share in (0.5, 0.95, 0.97, 1.0)] == [1.0, 2.0, 3.0, 3.0]


def test_a_value_that_rules_a_secret_out_is_unbounded():
    joint = ip.Joint.from_counts([[5, 0], [3, 4]])
    found = ip.audit(joint, np.eye(2), max_seconds=0)
    assert np.isinf(found.value["local information privacy"])
    assert "Unbounded" in found.sentence["local differential privacy of S"]
    assert found.value["l-diversity"] == 1


def test_a_release_within_its_cap_passes_its_audit():
    joint = ip.Joint.from_counts([[40, 3, 6], [5, 30, 9], [12, 14, 20], [2, 25, 31], [17, 9, 4]])
    release = ip.release_mechanism(joint, max_lift=0.2 * BIT, rng=0)
    found = ip.audit(joint, release)
    assert found.value["local information privacy"] <= 0.2 + 1e-9
    assert found.value["utility of the best release"] >= found.value["utility"]
    assert found.value["mutual information, population"] > found.value["mutual information"]
    assert found.value["smallest expected group"] == pytest.approx(release.smallest_group)
    assert (found.sentence.str.endswith(".")).all()


def test_by_released_value_and_by_secret():
    joint, W = channels(11)
    values, secrets = ip.audit(joint, W, by="value"), ip.audit(joint, W, by="secret")
    found = ip.audit(joint, W, max_seconds=0).value
    assert values.max_lift_bits.is_monotonic_decreasing
    assert values.max_lift_bits.iloc[0] == pytest.approx(found["pointwise maximal leakage, worst"])
    assert secrets.max_lift_bits.max() == pytest.approx(values.max_lift_bits.max())
    assert values.p_z @ values.guess_right == pytest.approx(found["best guess, after"])
    assert secrets.prior @ secrets.guessed_right == pytest.approx(found["best guess, after"])


def test_released_values_and_secrets_without_mass_are_left_out():
    joint = ip.Joint.from_counts([[4, 1, 0], [2, 3, 0]])
    W = np.array([[1.0, 0.3], [0.0, 0.7], [0.0, 0.0]])
    assert ip.audit(joint, W, by="value").index.tolist() in ([0, 1], [1, 0])
    assert len(ip.audit(joint, W, by="secret")) == 2


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"by": "row"}, "by must be"),
        ({"gain": np.eye(3)}, "gain must be a table"),
        ({"max_seconds": -1}, "max_seconds"),
    ],
)
def test_bad_calls_are_refused(more, said):
    joint = ip.Joint.from_counts([[4, 1], [2, 3]])
    with pytest.raises(ip.InvalidOptionError, match=said):
        ip.audit(joint, np.eye(2), **more)


def test_by_record_and_by_attribute_add_up_to_the_measures():
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"a": rng.integers(3, size=300), "b": rng.choice(["p", "q"], 300), "s": rng.integers(3, size=300)}
    )
    joint = ip.Joint.from_frame(frame, ["a", "b"], "s")
    W = rng.dirichlet(np.ones(4), joint.shape[0]).T
    measured = ip.audit(joint, W, max_seconds=0).value
    records, levels = ip.audit(joint, W, by="record"), ip.audit(joint, W, by="attribute")
    # Formulas: a kind of record at a time.
    J = W @ joint.p_xy
    lift = np.log2(J / J.sum(axis=1, keepdims=True) / joint.p_y)
    one = records.iloc[0]
    x, s = [str(label) for label in map(tuple, joint.x_labels)], [*joint.y_labels]
    assert records.max_lift_bits.is_monotonic_decreasing
    assert one.max_lift_bits == pytest.approx(lift.max(), abs=1e-12)
    assert records.share @ records.mean_lift_bits == pytest.approx(measured["mutual information"], abs=1e-12)
    assert records.share @ records.guessed_right == pytest.approx(measured["best guess, after"], abs=1e-12)
    assert records.records.sum() == pytest.approx(300)
    assert len(x) * len(s) >= len(records)
    for _, some in levels.groupby("column"):
        assert some.share.sum() == pytest.approx(1.0)
        assert some.share @ some.mean_lift_bits == pytest.approx(measured["mutual information"], abs=1e-12)
        assert some.share @ some.guessed_right == pytest.approx(measured["best guess, after"], abs=1e-12)
        assert some.share @ some.guessed_before == pytest.approx(measured["best guess, before"], abs=1e-12)
    # What z tells of column b, from the table itself.
    is_p = np.array([label[1] == "p" for label in joint.x_labels])
    given = W[:, is_p] @ joint.p_x[is_p] / joint.p_x[is_p].sum()
    told = (given * np.log2(given / (W @ joint.p_x))).sum()
    assert levels.set_index(["column", "value"]).told_of_it_bits["b", "p"] == pytest.approx(told, abs=1e-12)


def test_the_utility_of_a_kept_target_is_about_the_target():
    rng = np.random.default_rng(0)
    P = rng.dirichlet(np.ones(5 * 2 * 2)).reshape(5, 2, 2)
    task = ip.TaskJoint(
        ip.Joint.from_matrix(P.sum(axis=2), y_names="u"), ip.Joint.from_matrix(P.sum(axis=1), y_names="s")
    )
    kept = ip.release_mechanism(task, max_lift=0.1, rng=0)
    found = ip.audit(kept.joint, kept, max_seconds=1.0)
    assert found.value["utility"] == pytest.approx(kept.iuz / BIT, abs=1e-12)
    assert found.formula["utility"] == "I(U;Z)"
    assert found.value["utility of the best release"] >= found.value["utility"] - 1e-9
    assert "tell of u" in found.sentence["utility"]


def test_what_is_no_leakage_shows_no_rounding():
    """The best guess from before still stands: no digit of it may fall."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        p_s, p_z = rng.dirichlet(np.ones(4)), rng.dirichlet(np.ones(17))
        before, after = Told(ip.Joint.from_counts(np.diag(p_s)), np.tile(p_z[:, None], 4)).guess
        assert after >= before


@pytest.mark.parametrize(("right", "tested"), [(0, 10), (3, 10), (10, 10), (250, 1000)])
def test_the_interval_is_exact(right, tested):
    low, high = clopper_pearson(right, tested, 0.9)
    assert low == 0.0 if right == 0 else stats.binom.sf(right - 1, tested, low) == pytest.approx(0.05, rel=1e-6)
    assert high == 1.0 if right == tested else stats.binom.cdf(right, tested, high) == pytest.approx(0.05, rel=1e-6)


def test_unseen_records_of_a_release_are_guessed_no_better_than_the_bound():
    pytest.importorskip("sklearn")
    joint = ip.Joint.from_counts([[40, 6], [12, 30], [25, 25], [8, 33], [30, 9], [15, 20]])
    kept = ip.release_mechanism(joint, max_leakage=0.05 * math.log(2))
    best = (kept.encoder @ joint.p_xy).max(axis=1).sum()
    rng = np.random.default_rng(0)
    above = 0
    for _ in range(3):
        cells = rng.choice(joint.p_xy.size, 2000, p=joint.p_xy.ravel())
        x, s = np.unravel_index(cells, joint.shape)
        z = pd.Series([f"z{one}" for one in kept.assign([joint.x_labels[one] for one in x], rng=rng)])
        found = ip.held_out_attack(z, s, rng=rng, confidence=0.99)
        above += found.low > best
    assert above == 0  # 0.5% each


def test_many_values_numbers_and_what_is_refused():
    pytest.importorskip("sklearn")
    rng = np.random.default_rng(0)
    number = rng.normal(size=600)
    frame = pd.DataFrame({"name": [f"n{i}" for i in range(600)], "number": number})
    found = ip.held_out_attack(frame, number > 0, rng=0)
    assert found.share > 0.95
    assert found.low < found.share < found.high or found.share == 1.0
    assert "without the release" in str(found)
    with pytest.raises(ip.InvalidOptionError, match="20 records at least"):
        ip.held_out_attack(frame[:5], [0] * 5)


def test_a_result_is_taken_by_the_labels_of_its_x():
    """The same table with its rows in another order has the same audit, and is the same release."""
    counts, labels = np.array([[40, 3], [5, 30], [12, 14], [2, 25]]), list("abcd")
    joint, turned = (
        ip.Joint.from_counts(counts, x_labels=labels),
        ip.Joint.from_counts(counts[::-1], x_labels=labels[::-1]),
    )
    kept = ip.release_mechanism(joint, max_leakage=0.02, rng=0)
    one, other = (ip.audit(made, kept, max_seconds=0.0).value for made in (joint, turned))
    np.testing.assert_allclose(one, other, atol=1e-12)
    planes = [ip.compare_releases(made, {"kept": kept}).to_frame() for made in (joint, turned)]
    np.testing.assert_allclose(*(plane.iloc[:, 1:5].to_numpy(dtype=float) for plane in planes), atol=1e-12)
    with pytest.raises(ip.InvalidEncoderError, match="no column for x = 'e'"):
        ip.audit(ip.Joint.from_counts(counts, x_labels=list("abce")), kept)
