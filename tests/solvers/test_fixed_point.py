"""Blahut-Arimoto against its slow twin, iterate by iterate, and on sparse rows; whole runs of the accelerated solver against it."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import infoplane as ip
import verify
from batches import Stepped, run, starts_of
from infoplane.joint.joint import Support
from infoplane.solvers.base import make_starts, seed_sequence
from strategies import joints

HEART = ip.datasets.heart()


def wide():
    """1,300 letters x in three blocks, 70 letters y, zeros."""
    rng = np.random.default_rng(1)
    P = rng.dirichlet(np.full(70, 0.2), size=1300) * rng.random((1300, 1))
    P[P < 1e-3] = 0.0
    return ip.Joint.from_counts(csr_array(P))


@settings(max_examples=40, deadline=None)
@given(
    joint=joints(),
    problem=st.one_of(st.floats(0.03, 0.97).map(ip.bottleneck), st.floats(0.5, 20.0).map(ip.funnel)),
    block=st.sampled_from([1, 2, 7]),
    limit=st.sampled_from([5, 40, 300]),
)
def test_blocks_looks_and_traces_change_nothing(joint, problem, block, limit):
    """The same iterations to the same bits, however the run is driven; and its residual is that of the encoder returned."""
    starts = starts_of(joint, 2)
    pieces = run(ip.Accelerated(), joint, problem, starts, block=block, limit=limit, look=True)
    whole = run(ip.Accelerated(), joint, problem, starts, record=True, limit=limit)
    for one, two in zip(pieces, whole, strict=True):
        assert one.iterations == two.iterations == len(two.trace)
        assert one.residuals == two.residuals
        np.testing.assert_array_equal(one.encoder, two.encoder)
        full = Support(joint).lift(two.encoder)
        assert problem.stationarity(joint, full) == pytest.approx(two.residuals.stationarity, rel=1e-3, abs=1e-9)


@pytest.mark.parametrize("gamma", [0.1, 0.2, 0.3])
def test_no_two_clusters_of_an_answer_are_equal(gamma):
    """Even where a run is stationary before it has looked for clusters to merge."""
    for one in run(
        ip.Accelerated(), HEART, ip.bottleneck(gamma), starts_of(HEART, 16), limit=20_000, tol=1e-8, look=True
    ):
        q = one.encoder @ HEART.p_xy
        decoders = q / q.sum(axis=1, keepdims=True)
        apart = np.abs(decoders[:, None] - decoders).max(axis=2) + np.eye(len(q))
        assert apart.min() > 1e-4


@pytest.mark.parametrize(
    ("problem", "clusters"),
    [(ip.bottleneck(0.1), 6), (ip.bottleneck(0.4), 18), (ip.funnel(3.0), 6), (ip.funnel(3.0), 18)],
    ids=["ib, loops", "ib, BLAS", "pf, loops", "pf, BLAS"],
)
def test_several_blocks_and_sparse_rows_reach_the_same_point(problem, clusters):
    joint = wide()
    starts = starts_of(joint, 2, clusters=clusters)
    dense = run(ip.Accelerated(), joint, problem, starts, block=7, limit=4000, tol=1e-8, look=True)
    again = run(ip.Accelerated(), joint, problem, starts, record=True, limit=4000, tol=1e-8)
    sparse = run(ip.Accelerated(), joint, problem, starts, limit=4000, tol=1e-8, sparse=True)
    for one, two, three in zip(dense, again, sparse, strict=True):
        np.testing.assert_array_equal(one.encoder, two.encoder)
        assert one.status is three.status is ip.Status.STATIONARY
        full, other = (Support(joint).lift(found.encoder) for found in (one, three))
        assert problem.stationarity(joint, other) <= 1.01e-8
        assert problem.value(joint, other) == pytest.approx(problem.value(joint, full), abs=1e-6)


def test_memory_beside_the_starts_is_below_two_and_a_half_encoders():
    """One table for the encoder, one for p(y|x), and in the end the encoder that is handed over."""
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(20, 0.3), size=4000))
    starts, support = starts_of(joint, 1, clusters=40), Support(joint)
    _ = support.P
    run(ip.Accelerated(), HEART, ip.bottleneck(0.3), starts_of(HEART, 1))  # compiled before it is measured
    tracemalloc.start()
    batch = Stepped(ip.Accelerated(), support, ip.bottleneck(0.05), starts, tol=1e-8, limit=30)
    while batch.advance(10):
        pass
    (found,) = batch.runs()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.encoder.shape[0] >= 35
    assert peak <= 2.75 * starts.nbytes + 16 * support.P.nbytes // 20


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
        for one, W in zip(batch.runs(), expected, strict=True):
            np.testing.assert_allclose(one.encoder, W, atol=1e-12)
            assert one.residuals.stationarity == pytest.approx(np.abs(W - twin(P, W, gamma)).max(), abs=1e-12)
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


@pytest.mark.parametrize("name", ["paper_uniform", "paper_nonuniform", "heart"])
def test_a_fraction_of_the_iterations_of_blahut_arimoto_to_no_worse_an_end(name):
    """Same starts, stationarity 1e-10; without the split test, which would only make the ends better."""
    joint = ip.datasets.load(name)
    plain_total = fast_total = worse = runs = 0
    for gamma in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6):
        problem, starts = ip.bottleneck(gamma), starts_of(joint, 8, seed=int(100 * gamma))
        plain = run(ip.BlahutArimoto(), joint, problem, starts, tol=1e-10, limit=20_000)
        fast = run(ip.Accelerated(split=False), joint, problem, starts, tol=1e-10, limit=20_000)
        for one, two in zip(plain, fast, strict=True):
            assert two.status is ip.Status.STATIONARY
            assert problem.stationarity(joint, two.encoder) <= 1.1e-10
            worse += problem.value(joint, two.encoder) > problem.value(joint, one.encoder) + 1e-9
            runs += 1
        plain_total += sum(one.iterations for one in plain)
        fast_total += sum(two.iterations for two in fast)
    assert 3 * fast_total < plain_total
    assert worse <= 0.05 * runs


def test_a_cluster_without_mass_attracts_no_letter():
    """At the smallest gammas all mass of a cluster may be gone within one iteration: then a single cluster was left, 0.2 nats higher."""
    for gamma in (1e-10, 1e-300):
        problem = ip.bottleneck(gamma)
        found = ip.solve(HEART, problem, "accelerated", init="identity")
        assert found.loss <= problem.value(HEART, np.eye(16)) + 1e-4


@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_up_to_beta_one_the_funnel_releases_everything(beta):
    found = ip.solve(HEART, ip.funnel(beta), "accelerated", starts=2, rng=0, init="random")
    assert found.converged
    assert found.loss == pytest.approx(beta * HEART.mutual_information - HEART.entropy_x, abs=1e-12)
    fewer = ip.solve(HEART, ip.funnel(beta), "accelerated", starts=2, rng=0, init="random", clusters=4)
    assert fewer.converged
    assert fewer.loss > found.loss


def test_options_are_checked():
    with pytest.raises(ip.InvalidOptionError, match="split"):
        ip.Accelerated(split=1)


def test_what_it_refuses():
    nothing = ip.MarkovLagrangian(0.2, 0.3, 0.5)
    with pytest.raises(ip.UnsupportedProblemError, match="constant Z"):
        ip.solve(HEART, nothing, "accelerated")
