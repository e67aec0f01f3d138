"""Channel capacity against closed forms, and its gap against what other priors reach."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.errors import InvalidEncoderError, InvalidOptionError
from infoplane.systems.measures import capacity, capacity_prior, gnid


def information(W, p):
    """I(X;Z), by the independent checker: Y is X."""
    return verify.mutual_informations(np.diag(p), W)[0]


def test_closed_forms():
    error, erased = 0.11, 0.3
    h = -error * math.log(error) - (1 - error) * math.log(1 - error)
    symmetric = capacity([[1 - error, error], [error, 1 - error]])
    assert symmetric.nats == pytest.approx(math.log(2) - h, abs=1e-9)
    erasure = capacity([[1 - erased, 0.0], [erased, erased], [0.0, 1 - erased]])
    assert erasure.nats == pytest.approx((1 - erased) * math.log(2), abs=1e-9)
    # The Z channel with error 1/2: log2(5/4) bits, at p(x) = (3/5, 2/5).
    z = capacity([[1.0, 0.5], [0.0, 0.5]])
    assert z.bits == pytest.approx(math.log2(1.25), abs=1e-9)
    np.testing.assert_allclose(z.prior, [0.6, 0.4], atol=1e-4)


def test_a_useless_letter_gets_no_mass():
    W = np.array([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]])
    found = capacity(W, tol=1e-10)
    assert found.converged
    assert found.prior[2] < 1e-4
    assert found.nats == pytest.approx(capacity(W[:, :2]).nats, abs=1e-8)


def test_hard_labels_are_as_many_words_as_there_are():
    found = capacity(["a", "b", "b", "c", "c", "c"])
    assert found.nats == pytest.approx(math.log(3), abs=1e-12)
    assert found.prior.sum() == pytest.approx(1.0, abs=1e-14)


@given(st.integers(0, 2**32 - 1), st.integers(1, 6), st.integers(1, 6))
@settings(deadline=None, max_examples=60)
def test_the_gap_holds_and_no_prior_beats_it(seed, n_z, n_x):
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.full(n_z, 0.3), size=n_x).T
    W /= W.sum(axis=0)
    found = capacity(W, tol=1e-7)
    assert found.converged
    assert found.gap <= 1.1e-7
    assert information(W, found.prior / found.prior.sum()) == pytest.approx(found.nats, abs=1e-9)
    for p in rng.dirichlet(np.ones(n_x), size=20):
        assert information(W, p) <= found.nats + found.gap + 1e-12


def test_stopped_early_it_says_so():
    found = capacity(np.array([[0.9, 0.2, 0.3], [0.1, 0.8, 0.7]]), tol=1e-12, max_iter=1)
    assert not found.converged
    assert found.gap > 1e-3


def test_the_average_prior_of_several_systems():
    one, two = ["a", "a", "b"], np.array([[1.0, 0.5, 0.0], [0.0, 0.5, 1.0]])
    mean = capacity_prior({"one": one, "two": two})
    np.testing.assert_allclose(mean, (capacity(one).prior + capacity(two).prior) / 2, atol=1e-15)
    counted = np.array([[2, 2, 0], [0, 0, 5]])
    np.testing.assert_allclose(capacity_prior([counted], counts=True, axes="zx"), capacity(one).prior, atol=1e-15)


@pytest.mark.parametrize(
    ("systems", "message"),
    [([], "at least one system"), ([["a", "b"], ["a", "b", "c"]], "the first has 2, number 1 has 3")],
)
def test_an_average_needs_systems_of_the_same_items(systems, message):
    with pytest.raises(InvalidEncoderError, match=message):
        capacity_prior(systems)


@pytest.mark.parametrize("options", [{"tol": 0.0}, {"max_iter": 0}, {"tol": "x"}])
def test_options_are_checked(options):
    with pytest.raises(InvalidOptionError):
        capacity([["1"]], **options)


def test_priors_have_labels_and_are_matched_by_them():
    """Items sorted as text (B0, B1, B10, B2) gave a bare array, which colours took in another order."""
    chips = ip.datasets.colours().x_labels
    words = [f"w{number % 7 * number % 5}" for number in range(len(chips))]
    rows = pd.DataFrame({"chip": chips, "word": words})
    systems = ip.systems_from_frame(rows, "chip", "word")
    prior = ip.capacity_prior(systems)
    assert list(prior.index) == sorted(chips) != list(chips)
    in_order = prior.loc[list(chips)].to_numpy()
    assert not np.allclose(in_order, prior.to_numpy())
    for joint in (
        ip.datasets.colours(prior),
        ip.datasets.colours().with_prior(prior),
        ip.datasets.colours(dict(prior)),
    ):
        np.testing.assert_allclose(joint.p_x, in_order, rtol=1e-12)
    T = pd.DataFrame(ip.datasets.colours().p_y_given_x.T, index=chips)
    np.testing.assert_allclose(ip.Joint.from_conditional(prior, T).p_x, in_order, rtol=1e-12)
    np.testing.assert_allclose(ip.Joint.from_conditional(prior, T.to_numpy(), x_labels=chips).p_x, in_order, rtol=1e-12)


def test_systems_in_different_orders_have_one_average():
    one = pd.DataFrame([[1.0, 0.0], [0.5, 0.5], [0.0, 1.0]], index=["a", "b", "c"])
    np.testing.assert_allclose(
        capacity_prior([one, one.loc[["c", "a", "b"]]]).loc[["a", "b", "c"]], capacity(one).prior, atol=1e-9
    )
    with pytest.raises(ip.InvalidEncoderError, match=r"number 1: .*nothing is said of x = 'c'"):
        capacity_prior([one, one.rename(index={"c": "d"})])
    with pytest.raises(ip.InvalidEncoderError, match="either all systems have labels"):
        capacity_prior([one, ["u", "u", "v"]])


JOINT = ip.datasets.heart()


def shared(p_x, W, V):
    p = [[math.fsum(p_x * W[w] * V[v]) for v in range(len(V))] for w in range(len(W))]
    rows, columns = [math.fsum(r) for r in p], [math.fsum(c) for c in zip(*p, strict=True)]
    return math.fsum(
        p[w][v] * math.log(p[w][v] / rows[w] / columns[v])
        for w in range(len(W))
        for v in range(len(V))
        if p[w][v] > 0.0
    )


def test_the_definition():
    rng = np.random.default_rng(0)
    for _ in range(10):
        W, V = (rng.dirichlet(np.ones(k), size=16).T for k in rng.integers(2, 6, 2))
        p = JOINT.p_x
        expected = 1.0 - shared(p, W, V) / max(shared(p, W, W), shared(p, V, V))
        assert gnid(JOINT, W, V) == pytest.approx(expected, abs=1e-12)
        assert gnid(JOINT, W, V) == pytest.approx(gnid(JOINT, V, W), abs=1e-12)


def test_names_of_z_do_not_matter_and_hard_maps_are_partitions():
    labels = np.arange(16) // 4
    W = np.eye(4)[:, labels]
    assert gnid(JOINT, W, W[[3, 1, 0, 2]]) == pytest.approx(0.0, abs=1e-12)
    coarse = np.eye(2)[:, labels // 2]
    h = [-math.fsum(q * math.log(q) for q in V @ JOINT.p_x) for V in (W, coarse)]
    assert gnid(JOINT, W, coarse) == pytest.approx(1.0 - h[1] / h[0], abs=1e-12)


def test_two_that_say_nothing_are_alike():
    assert gnid(JOINT, np.ones((1, 16)), np.full((2, 16), 0.5)) == 0.0
    assert gnid(JOINT, np.ones((1, 16)), np.eye(16)) == pytest.approx(1.0, abs=1e-12)


def test_encoders_are_checked():
    with pytest.raises(InvalidEncoderError):
        gnid(JOINT, np.ones((2, 16)), np.ones((1, 16)))


def test_it_takes_what_efficiency_takes():
    labels = ["uvw"[at % 3] for at in range(16)]
    W = np.array([[float(word == z) for word in labels] for z in "uvw"])
    V = np.random.default_rng(3).dirichlet(np.ones(4), size=16).T
    expected = gnid(JOINT, W, V)
    assert 0.0 < expected < 1.0
    by_label = pd.Series(labels, index=list(JOINT.x_labels)).sample(frac=1.0, random_state=0)
    frame = pd.DataFrame(V.T, index=list(JOINT.x_labels)).iloc[::-1]
    for one in (labels, by_label, by_label.to_dict(), W):
        for other in (V, frame):
            assert gnid(JOINT, one, other) == pytest.approx(expected, abs=1e-12)
    assert gnid(JOINT, 7.0 * W, 7.0 * W[::-1], counts=True) == pytest.approx(0.0, abs=1e-12)
    assert gnid(JOINT, W.T, V.T, axes="xz") == pytest.approx(expected, abs=1e-12)
    solved = ip.solve(JOINT, ip.bottleneck(0.2), rng=0)
    assert gnid(JOINT, solved, solved.encoder_frame()) == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(InvalidEncoderError, match="system 'V'"):
        gnid(JOINT, W, labels[:3])


def test_an_array_that_may_be_turned_either_way_must_be_said():
    joint = ip.datasets.paper_uniform()
    turned = np.eye(3)[[1, 2, 0]]
    with pytest.raises(InvalidEncoderError, match='axes="zx"'):
        gnid(joint, turned, turned)
    assert gnid(joint, turned, turned, axes="zx") == pytest.approx(0.0, abs=1e-12)
    # Within efficiency all is known to be (|Z|, |X|).
    assert ip.efficiency(joint, [["b", "c", "a"]])["gnid"][0] < 1.0
