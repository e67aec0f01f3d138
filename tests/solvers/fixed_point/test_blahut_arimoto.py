"""Blahut-Arimoto against its slow twin, iterate by iterate; on sparse rows; and what it says of itself."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import infoplane as ip
import verify
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.shared.starts import make_starts, seed_sequence
from strategies import joints

DROPPED = 1e-9  # a cluster that is dropped takes up to 1e-12 log(1e12) of every entropy with it


def begin(joint, problem, runs=3, tol=1e-9, limit=500, record=False, sparse=False, clusters=None):
    support = Support(joint)
    support.sparse = sparse
    starts = make_starts(joint, clusters, runs, seed_sequence(0), "random")
    return Stepped(ip.BlahutArimoto(), support, problem, starts, tol=tol, limit=limit, record=record), starts


def twin(P, W, gamma):
    """p(z|x) prop. to p(z) exp(-KL[p(y|x) || p(y|z)] / gamma), one term at a time."""
    p_x = P.sum(1)
    p_z, p_zy = W @ p_x, W @ P
    new = np.empty_like(W)
    for x in range(W.shape[1]):
        for z in range(W.shape[0]):
            far = sum(
                P[x, y] / p_x[x] * np.log(P[x, y] / p_x[x] * p_z[z] / p_zy[z, y])
                for y in range(P.shape[1])
                if P[x, y] > 0
            )
            new[z, x] = p_z[z] * np.exp(-far / gamma)
    return new / new.sum(0)


@pytest.mark.parametrize("name", ["paper_nonuniform", "heart"])
@pytest.mark.parametrize("gamma", [0.1, 0.4])
def test_every_iterate_is_its_slow_twins(name, gamma):
    joint = ip.datasets.load(name)
    P = np.asarray(joint.p_xy)
    batch, starts = begin(joint, ip.bottleneck(gamma), runs=2, record=True)
    expected = starts.copy()
    for _ in range(12):
        batch.advance(1)
        expected = np.stack([twin(P, W, gamma) for W in expected])
        for run, W in zip(batch.runs(), expected, strict=True):
            np.testing.assert_allclose(run.encoder, W, atol=1e-12)
            assert run.residuals.stationarity == pytest.approx(np.abs(W - twin(P, W, gamma)).max(), abs=1e-12)
    losses = batch.runs()[0].trace.loss
    W = starts[0]
    for loss in losses:
        assert loss == pytest.approx(verify.lagrangian(P, W, ip.bottleneck(gamma).rho), abs=1e-12)
        W = twin(P, W, gamma)


@settings(max_examples=40, deadline=None)
@given(joint=joints(), gamma=st.floats(0.05, 1.0), block=st.sampled_from([1, 3, 7]), sparse=st.booleans())
def test_blocks_looks_traces_and_sparse_rows_change_nothing(joint, gamma, block, sparse):
    """The same iterations to the same encoder, however the run is driven; and its residual is measured at that encoder."""
    problem, ended = ip.bottleneck(gamma), []
    for size, record in ((block, False), (1000, True)):
        batch, _ = begin(joint, problem, limit=200, record=record, sparse=sparse and not record)
        while batch.advance(size):
            batch.runs()
        ended.append(batch.runs())
    for one, two in zip(*ended, strict=True):
        assert one.iterations == two.iterations == len(two.trace)
        assert one.died == two.died
        if sparse:  # sums are taken in another order
            np.testing.assert_allclose(one.encoder, two.encoder, atol=1e-9)
        else:
            np.testing.assert_array_equal(one.encoder, two.encoder)
            assert one.residuals == two.residuals
        full = Support(joint).lift(two.encoder)
        assert problem.stationarity(joint, full) == pytest.approx(two.residuals.stationarity, abs=1e-11)
        assert np.diff(two.trace.loss).max(initial=0.0) <= DROPPED  # the map cannot raise L


@pytest.mark.parametrize(
    "problem",
    [ip.generalised_bottleneck(0.2, 0.5), ip.MarkovLagrangian(-0.4, -0.4, -0.2), ip.MarkovLagrangian(0.5, -0.7, 0.3)],
)
def test_other_lagrangians_with_a_convex_conditional_entropy(problem):
    joint = ip.datasets.heart()
    found = ip.solve(joint, problem, "blahut-arimoto", starts=3, rng=0)
    assert found.converged
    assert problem.stationarity(joint, found.encoder) <= 1e-8
    assert np.diff(found.trace.loss).max() <= DROPPED


def test_clusters_without_mass_are_dropped():
    """At a smaller a the large clusters take all: rho_z + rho_zy > -rho_zx, so mass grows with itself."""
    joint, problem = ip.datasets.heart(), ip.generalised_bottleneck(0.25, 0.3)
    found = ip.solve(joint, problem, "blahut-arimoto", starts=4, rng=0, init="random")
    assert found.converged
    assert found.died > 0
    assert found.clusters + found.died == 16
    assert found.p_z.min() >= 1e-12


def test_a_large_sparse_joint_stays_sparse():
    """2,000 x 600 with one cell in a hundred: the dense table is never made, and the answer is the dense one's."""
    rng = np.random.default_rng(0)
    P = csr_array(np.where(rng.random((2000, 600)) < 0.01, rng.random((2000, 600)), 0.0))
    joint, problem = ip.Joint.from_counts(P), ip.bottleneck(0.3)
    support = Support(joint)
    assert support.sparse
    starts = make_starts(joint, 6, 2, seed_sequence(0), "random")
    batch = Stepped(ip.BlahutArimoto(), support, problem, starts, tol=1e-8, limit=40)
    batch.advance(40)
    found = batch.runs()
    assert "P" not in vars(support)
    dense = Support(joint)
    dense.sparse = False
    batch = Stepped(ip.BlahutArimoto(), dense, problem, starts, tol=1e-8, limit=40)
    batch.advance(40)
    for one, two in zip(found, batch.runs(), strict=True):
        np.testing.assert_allclose(one.encoder, two.encoder, atol=1e-10)
