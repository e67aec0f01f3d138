import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import twins
import verify
from compiled import interpreted
from infoplane.joint.joint import Support
from infoplane.solvers.fixed_point import blocks_of, channel_of
from strategies import joints

reduce = interpreted("fixed_point.clusters").reduce


def test_equal_clusters_are_merged_and_shrinking_ones_pruned():
    q = np.array([[0.2, 0.1], [0.1, 0.05], [0.05, 0.5 - 1e-7], [4e-8, 6e-8]])
    before, keep = q.copy(), np.empty(4, dtype=bool)
    before[3] *= 2.0
    assert reduce(q, before, 1e-6, keep) == 2
    assert keep.tolist() == [True, False, True, False]
    np.testing.assert_allclose(q[0], [0.3, 0.15])
    growing = np.array([[0.2, 0.1], [0.2, 0.5 - 1e-7], [4e-8, 6e-8]])
    assert reduce(growing.copy(), 0.5 * growing, 1e-6, keep[:3]) == 3


split_clusters = interpreted("fixed_point.clusters").split_clusters


def test_a_power_iteration_that_rests_on_the_way_goes_on():
    """The start is all but orthogonal to the eigenvector sought, so that the quotient stands still at the next eigenvalue for a while."""
    start = np.cos(1.7 * np.arange(4))
    start = start - start.mean()
    first = np.ones(4) / 2.0
    second = start / np.linalg.norm(start)
    rest = np.linalg.qr(np.column_stack([first, second, [1.0, 2.0, -1.0, 0.5], [0.3, -1.0, 0.2, 2.0]]))[0][:, 2:]
    third = rest[:, 0] + 1e-7 * second
    basis = np.column_stack([first, second, third / np.linalg.norm(third), rest[:, 1]])
    # With uniform p(x) and a symmetric channel C is its square: eigenvalues 1, 0.2, 0.6 (the one sought) and 0.1.
    T = (basis * np.sqrt([1.0, 0.2, 0.6, 0.1])) @ basis.T
    assert (T >= 0.0).all()
    joint = ip.Joint.from_matrix(T / T.sum())
    support, problem = Support(joint), ip.bottleneck(0.5)
    channel = channel_of(support)
    W = np.ones((1, 4))
    q = np.zeros((1, len(channel.p_y)))
    q[:, :4] = W @ support.P
    out = np.empty((2, q.shape[1]))
    assert twins.second_correlations(support.P, W)[0] > 0.55
    assert split_clusters(channel, blocks_of(W, channel.p_x.shape[1]), q, np.array(problem.rho), out) == 2


@settings(max_examples=60, deadline=None)
@given(joint=joints(max_x=6, max_y=4), gamma=st.floats(0.05, 0.95), seed=st.integers(0, 20))
def test_a_cluster_is_split_if_and_only_if_its_correlation_exceeds_gamma(joint, gamma, seed):
    """And the gain is what the Lagrangian says, with the encoder of the halves written out."""
    support, problem = Support(joint), ip.bottleneck(gamma)
    channel = channel_of(support)
    W = np.random.default_rng(seed).dirichlet(np.ones(2), size=len(support.p_x)).T.copy()
    q = np.zeros((2, len(channel.p_y)))
    q[:, : channel.n_y] = W @ support.P
    out = np.empty((4, q.shape[1]))
    rows = split_clusters(channel, blocks_of(W, channel.p_x.shape[1]), q, np.array(problem.rho), out)
    correlation = twins.second_correlations(support.P, W)
    if rows > 2:
        assert correlation.max() > gamma
        np.testing.assert_allclose(out[:rows].sum(0), q.sum(0), atol=1e-15)
        assert out[:rows].min() >= 0.0
    assert rows - 2 <= (correlation > gamma).sum()
    # Within 1% of gamma the gain may be below what is worth a run, and so may that of a cluster in which Y hardly depends on X.
    mass, alone = W @ support.p_x, np.eye(W.shape[1])
    inside = [
        m * verify.mutual_informations(w[:, None] * support.P / m, alone)[1] for m, w in zip(mass, W, strict=True)
    ]
    assert rows - 2 >= ((correlation > 1.01 * gamma + 1e-3) & (np.array(inside) > 1e-4)).sum()
