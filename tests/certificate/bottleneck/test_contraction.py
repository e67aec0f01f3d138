"""Bounds that hold whatever |Y| is: each against every encoder that can be thought of, and against certified optima."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.certificate.bottleneck.contraction import contraction_bound
from infoplane.certificate.bottleneck.gap import certify_bottleneck
from infoplane.certificate.certificate import Limits
from infoplane.frontier.transitions import critical_gamma
from infoplane.joint.joint import Support
from infoplane.posterior import form
from infoplane.posterior.form import dobrushin
from infoplane.solvers.envelope import Envelope
from strategies import chains

GAMMA = st.floats(0.02, 1.0)


def dense(joint):
    return np.asarray(joint.p_xy)


@settings(max_examples=60, deadline=None)
@given(chains())
def test_contraction_of_every_encoder(chain):
    """I(Y;Z) <= eta I(X;Z), with eta by brute force over pairs of letters."""
    joint, W = chain
    T = Support(joint).T
    eta = max(0.5 * np.abs(a - b).sum() for a in T.T for b in T.T)
    assert dobrushin(T) == pytest.approx(eta, abs=1e-12)
    ixz, iyz = verify.mutual_informations(dense(joint), W)
    assert iyz <= eta * ixz + 1e-12


def test_the_three_ways_to_dobrushins_coefficient(monkeypatch):
    T = np.random.default_rng(0).dirichlet(np.full(4, 0.5), size=30).T
    by_subsets = dobrushin(T)
    monkeypatch.setattr(form, "MOST_SUBSETS", 0)
    by_pairs = dobrushin(T)
    monkeypatch.setattr(form, "MOST_PAIRS", 0)
    doeblin = dobrushin(T)
    assert by_subsets == pytest.approx(by_pairs, abs=1e-12)
    assert by_pairs < doeblin <= 1.0


@settings(max_examples=60, deadline=None)
@given(chains(), GAMMA)
def test_the_contraction_bound_is_below_every_encoder(chain, gamma):
    joint, W = chain
    problem, P = ip.bottleneck(gamma), dense(joint)
    bound = contraction_bound(Support(joint), problem)
    for encoder in (W, np.eye(joint.shape[0]), np.ones((1, joint.shape[0]))):
        assert bound <= verify.lagrangian(P, encoder, problem.rho) + 1e-12


def test_maximal_correlation_would_be_wrong():
    """On heart an encoder keeps more of I(X;Z) than the squared maximal correlation: that constant is no bound, eta is."""
    joint = ip.datasets.heart()
    found = ip.solve(joint, ip.bottleneck(0.29), Envelope())
    ixz, iyz = verify.mutual_informations(dense(joint), found.encoder)
    assert critical_gamma(joint) * 1.2 < iyz / ixz <= dobrushin(Support(joint).T)


def test_where_contraction_settles_it_no_cell_is_opened():
    joint = ip.Joint.from_matrix(np.outer([0.6, 0.4], [0.5, 0.3, 0.2]))
    found = certify_bottleneck(joint, ip.bottleneck(0.5), np.ones((1, 2)), Limits())
    assert (found.cells, found.lower_bound, found.certified) == (0, 0.0, True)
    worse = certify_bottleneck(joint, ip.bottleneck(0.5), np.eye(2), Limits())
    assert not worse.certified
    assert worse.gap == pytest.approx(worse.loss, abs=1e-12)
