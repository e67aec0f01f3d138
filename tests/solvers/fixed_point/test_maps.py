import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import infoplane as ip
from batches import Stepped, run, starts_of
from infoplane.joint.joint import Support
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
