"""One evaluation of the map, on loops, on BLAS and on sparse rows, against NumPy on the formulas of the docstring.

Small joints by the interpreter; large ones compiled, as one iteration of Blahut-Arimoto. A look at runs on their way: the residual is that
of the encoder shown, and nothing that the run needs to go on is changed.
"""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

import infoplane as ip
import verify
from batches import Stepped, starts_of
from compiled import interpreted
from infoplane.joint.joint import Support
from infoplane.kernels.common import STATIONARITY, STATIONARY
from infoplane.kernels.fixed_point.selfmap import BLAS_CLUSTERS, COMPARE, KEEP
from infoplane.solvers.fixed_point import blocks_of, channel_of, logs_of, needs_encoder
from strategies import chains, positive_encoders

selfmap = interpreted("fixed_point.selfmap")

PROBLEMS = {
    "bottleneck": ip.bottleneck(0.3),
    "generalised": ip.generalised_bottleneck(0.3, 0.6),
    "deterministic": ip.deterministic_bottleneck(0.3),
    "funnel": ip.funnel(2.5),
    "convex": ip.MarkovLagrangian(-0.4, -0.4, -0.2),
}


def mapped(P, W, problem):
    """W exp(-g/k), normalised: from the Lagrangian's gradient, for positive W and P without empty rows."""
    p_x, p_y = P.sum(1), P.sum(0)
    seen = p_y > 0
    log_zy = np.log((W @ P)[:, seen] / p_y[seen])
    g = -problem.rho_z * np.log(W @ p_x)[:, None] - problem.rho_zx * np.log(W)
    g = g - problem.rho_zy * log_zy @ (P[:, seen] / p_x[:, None]).T
    score = np.log(W) - g / problem.width
    e = np.exp(score - score.max(0))
    return e / e.sum(0)


def sparse_channel(support):
    rows, letters, masses = support.csr
    shares = masses / np.repeat(support.p_x, np.diff(rows))
    channel = channel_of(support)
    return channel._replace(T=channel.T[:0], rows=rows, letters=letters, shares=shares, blas=False)


def evaluated(support, W, problem, sparse=False, mode=KEEP | COMPARE):
    """q', W', the value, H(Z|X) and max |W' - W|, and log W' if the map gives it."""
    channel = sparse_channel(support) if sparse else channel_of(support)
    n, rho = W.shape[0], np.array(problem.rho)
    q = np.zeros((n, len(channel.p_y)))
    q[:, : channel.n_y] = W @ support.P
    A, q_new = np.empty_like(q), np.empty_like(q)
    selfmap.weights_of(q, rho, problem.width, A, np.empty(len(A)))
    blocks = blocks_of(W, channel.p_x.shape[1])
    L = logs_of(blocks)
    L_new = L.copy()
    on_W = 1.0 + problem.rho_zx / problem.width
    value, inner, far = selfmap.evaluate(channel, A, on_W, L, L_new, blocks, mode, q_new, selfmap.work_for(channel, n))
    returned = value, selfmap.conditional_entropy(A, q_new, on_W, value, inner), far
    W_new = np.concatenate(list(blocks), axis=1)[:, : W.shape[1]]
    return q_new[:, : channel.n_y], W_new, returned, np.concatenate(list(L_new), axis=1)[:, : W.shape[1]]


@cache
def large(zeros):
    """1,300 letters x, so three blocks, and 70 letters y, enough for BLAS."""
    rng = np.random.default_rng(1)
    P = rng.random((1300, 70))
    if zeros:
        P[rng.random(P.shape) < 0.7] = 0.0
        P[:, 0] += 1e-3
    return ip.Joint.from_counts(csr_array(P))


@settings(max_examples=60, deadline=None)
@given(chain=chains(encoder=positive_encoders), name=st.sampled_from(sorted(PROBLEMS)), sparse=st.booleans())
def test_the_map_is_its_formula_on_any_joint(chain, name, sparse):
    joint, W = chain
    support, problem = Support(joint), PROBLEMS[name]
    W = np.ascontiguousarray(W[:, support.x])
    q_new, W_new, (_, h_zx, far), L_new = evaluated(support, W, problem, sparse)
    expected = mapped(support.P, W, problem)
    np.testing.assert_allclose(W_new, expected, atol=1e-12)
    np.testing.assert_allclose(q_new, expected @ support.P, atol=1e-12)
    assert far == pytest.approx(np.abs(expected - W).max(), abs=1e-12)
    assert h_zx == pytest.approx(verify.entropies(support.P, expected)[1], abs=1e-10)
    if needs_encoder(problem):
        np.testing.assert_allclose(np.exp(L_new), expected, atol=1e-12)


@pytest.mark.parametrize("clusters", [7, 17, 90], ids=["no BLAS", "fewer than |Y|", "more than |Y|"])
@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("name", ["bottleneck", "funnel"])
def test_loops_blas_and_sparse_rows_agree_over_several_blocks(name, zeros, clusters):
    support, problem = Support(large(zeros)), PROBLEMS[name]
    W = np.random.default_rng(2).dirichlet(np.ones(clusters), size=1300).T.copy()
    assert channel_of(support).p_x.shape[0] == 3
    assert channel_of(support).blas
    assert 7 < BLAS_CLUSTERS <= 17
    expected = mapped(support.P, W, problem)
    channel = channel_of(support)
    for one in (channel._replace(blas=False), channel, sparse_channel(support)):
        batch = Stepped(ip.BlahutArimoto(), support, problem, W[None], limit=1, record=True)
        batch.channel = one
        batch.advance(1)
        W_new = np.concatenate(list(batch.state.W[0]), axis=1)[:, :1300]
        np.testing.assert_allclose(W_new, expected, atol=1e-13)
        np.testing.assert_allclose(batch.state.q[0, :, : one.n_y], expected @ support.P, atol=1e-14)
        (far,) = batch.recorded[0][0][:, STATIONARITY]
        assert far == pytest.approx(np.abs(expected - W).max(), abs=1e-13)
        assert batch.state.h_zx[0] == pytest.approx(
            -(support.p_x * (expected * np.log(expected)).sum(0)).sum(), abs=1e-12
        )


def test_the_encoder_is_written_and_compared_only_when_asked():
    support, problem = Support(ip.datasets.heart()), PROBLEMS["bottleneck"]
    W = np.random.default_rng(0).dirichlet(np.ones(5), size=16).T.copy()
    expected = mapped(support.P, W, problem)
    for mode in (0, KEEP, COMPARE, KEEP | COMPARE):
        _, W_new, (_, _, far), _ = evaluated(support, W, problem, mode=mode)
        np.testing.assert_allclose(W_new, expected if mode & KEEP else W, atol=1e-13)
        assert far == pytest.approx(np.abs(expected - W).max() if mode & COMPARE else 0.0, abs=1e-13)


def test_the_value_bounds_the_lagrangian_from_both_sides():
    """J(T(u)) <= L(W(u)) + rho_zy H(Y) <= J(u), J = -k value: what the accelerated solver rests on."""
    joint = ip.datasets.heart()
    support = Support(joint)
    for problem in (PROBLEMS["bottleneck"], PROBLEMS["generalised"]):
        W = np.random.default_rng(3).dirichlet(np.ones(6), size=16).T.copy()
        constant = problem.rho_zy * joint.entropy_y
        for _ in range(5):
            _, W_new, (value, _, _), _ = evaluated(support, W, problem)
            _, _, (value_new, _, _), _ = evaluated(support, W_new, problem)
            between = verify.lagrangian(support.P, W_new, problem.rho) + constant
            assert -problem.width * value_new <= between + 1e-13
            assert between <= -problem.width * value + 1e-13
            W = W_new


def test_a_zero_cell_of_p_counts_nothing_even_where_a_cluster_lacks_that_y():
    P = np.array([[0.4, 0.0], [0.0, 0.3], [0.2, 0.1]])
    W = np.array([[1.0, 0.0, 1.0], [0.0, 1.0, 0.0]])  # cluster 1 has no mass at y = 0
    support, problem = Support(ip.Joint.from_matrix(P)), ip.bottleneck(0.5)
    for sparse in (False, True):
        q_new, W_new, _, _ = evaluated(support, W, problem, sparse)
        np.testing.assert_allclose(W_new.sum(0), 1.0, atol=1e-15)
        np.testing.assert_allclose(q_new, W_new @ P, atol=1e-15)
        assert W_new[1, 1] > W_new[0, 1] > 0.0  # y = 0 is no concern of x = 1, whose only letter is y = 1
        assert W_new[1, 0] == W_new[1, 2] == 0.0
        assert problem.stationarity(support.joint, W) == pytest.approx(np.abs(W_new - W).max(), abs=1e-12)


HEART = ip.datasets.heart()
CASES = [
    (ip.BlahutArimoto(), ip.bottleneck(0.1)),
    (ip.BlahutArimoto(), ip.generalised_bottleneck(0.1, 0.5)),
    (ip.Accelerated(), ip.bottleneck(0.1)),
    (ip.Accelerated(), ip.funnel(2.5)),
]
MEASURED = ("W", "alive", "residuals")


def contents(state):
    return {name: np.array(table) for name, table in state._asdict().items() if name not in MEASURED}


@pytest.mark.parametrize("steps", [1, 2, 3, 11])
@pytest.mark.parametrize(("solver", "problem"), CASES)
def test_a_look_shows_an_encoder_with_its_residual_and_changes_nothing_else(solver, problem, steps):
    batch = Stepped(solver, HEART, problem, starts_of(HEART, 3), tol=1e-12)
    batch.iteration.advance(np.array([0, steps, 2 * steps]), np.zeros((3, 2 * steps, 0)))
    before = contents(batch.state)
    for W, residuals in zip(batch.encoders(), batch.state.residuals, strict=True):
        np.testing.assert_allclose(W.sum(axis=0), 1.0)
        assert residuals[2] == pytest.approx(problem.stationarity(HEART, W), abs=1e-13)
    for name, table in contents(batch.state).items():
        np.testing.assert_array_equal(table, before[name])


@pytest.mark.parametrize(("solver", "problem"), CASES)
def test_runs_that_have_ended_are_not_looked_at(solver, problem):
    batch = Stepped(solver, HEART, problem, starts_of(HEART, 2), tol=1e-6)
    batch.iteration.advance(np.array([5000, 1]), np.zeros((2, 5000, 0)))
    W, residual = batch.state.W[0].copy(), batch.state.residuals[0, 2]
    assert batch.state.outcome[0] == STATIONARY
    batch.encoders()
    np.testing.assert_array_equal(batch.state.W[0], W)
    assert batch.state.residuals[0, 2] == residual <= 1e-6
