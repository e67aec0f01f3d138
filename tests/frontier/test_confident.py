"""A cap that holds in the population: the split, the order, the tests, and what is said when nothing passes."""

import itertools

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.frontier.leakage import PathRelease, in_order

BIT = np.log(2.0)
HEART = ip.datasets.heart()


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    return ip.Joint.from_counts(rng.multinomial(n, HEART.p_xy.ravel()).reshape(HEART.shape))


@pytest.fixture(scope="module")
def found():
    return ip.funnel_at_leakage(drawn(20_000, 0), 0.01 * BIT, confidence=0.95, rng=1)


def test_the_release_holds_in_the_population(found):
    """The truth is known here, and the bound is above it; the release says something; its numbers are those of all the records."""
    ixz, iyz = verify.mutual_informations(HEART.p_xy, found.encoder)
    assert iyz <= found.leakage_bound.bound <= 0.01 * BIT
    assert ixz > 1.0 * BIT
    assert (found.ixz, found.iyz) == pytest.approx(verify.mutual_informations(found.joint.p_xy, found.encoder))
    assert str(found).startswith("I(Y;Z) in the population is at most")


def test_split_path_and_order_are_in_the_result(found):
    fit, test = found.fitted_on.counts, found.tested_on.counts
    np.testing.assert_array_equal(fit + test, found.joint.counts)
    assert fit.sum() == 10_000
    path = found.path
    assert path[0].clusters == 1
    assert path[0].bound.bound == 0.0
    assert all(a.predicted <= b.predicted and a.ixz < b.ixz for a, b in itertools.pairwise(path))
    passed = [step.bound is not None and step.bound.bound <= found.max_iyz for step in path]
    assert passed.index(False) == found.chosen + 1
    assert all(step.bound is None for step in path[found.chosen + 2 :])
    assert path[found.chosen].bound == ip.leakage_bound(found.encoder, found.tested_on) == found.leakage_bound
    again = ip.funnel_at_leakage(found.joint, found.max_iyz, confidence=0.95, rng=1)
    np.testing.assert_array_equal(again.encoder, found.encoder)


def test_the_sequence_stops_at_the_first_failure():
    """Of constant, harmless, leaking and harmless again the second is released, and the fourth is never looked at."""
    joint = ip.Joint.from_counts([[2000, 1000], [1000, 2000], [1500, 1500]])
    mild, leaks = np.array([[0.51, 0.5, 0.5], [0.49, 0.5, 0.5]]), np.eye(3)
    path = [PathRelease(W, 0.0, 0.0, 0.0) for W in (np.ones((1, 3)), mild, leaks, mild)]
    done, chosen = in_order(path, joint, 0.005, 0.95)
    assert chosen == 1
    assert done[2].bound.bound > 0.005
    assert done[3].bound is None


def test_too_few_records_get_the_constant_release_and_the_least_cap():
    """And with that cap, on the same split, the first release of the path passes."""
    joint = drawn(400, 3)
    found = ip.funnel_at_leakage(joint, 0.001 * BIT, confidence=0.95, rng=0)
    assert found.chosen == 0
    assert found.clusters == 1
    assert found.iyz < 1e-20
    assert found.leakage_bound.bound == 0.0
    assert "400 records cannot support 0.001 bits" in str(found)
    assert found.least_cap > 3.0 / 200 * 0.5
    more = ip.funnel_at_leakage(joint, found.least_cap * 1.000001, confidence=0.95, rng=0)
    assert more.chosen >= 1


def test_what_is_no_sample_is_refused():
    with pytest.raises(ip.InvalidOptionError, match="needs the records"):
        ip.funnel_at_leakage(ip.datasets.paper_uniform(), 0.01, confidence=0.95)
    with pytest.raises(ip.InvalidOptionError, match="confidence must be"):
        ip.funnel_at_leakage(HEART, 0.01, confidence=1.0)


def test_without_confidence_the_first_line_is_about_the_table():
    plain = ip.funnel_at_leakage(HEART, 0.01 * BIT, max_seconds=5.0)
    assert (
        str(plain)
        .splitlines()[0]
        .startswith("About this table, not the population. I(Y;Z) in the population is at most")
    )
    assert plain.leakage_bound.bound > 5.0 * plain.max_iyz
    hidden = ip.perfect_privacy(HEART)
    assert hidden.leakage_bound.bound > 0.01 * BIT > hidden.iyz
    assert "About this table" in str(hidden)
    assert ip.funnel_at_leakage(ip.datasets.paper_uniform(), 0.01).leakage_bound is None
