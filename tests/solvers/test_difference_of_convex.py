import numpy as np
import pytest

import infoplane as ip
import twins
from batches import Stepped
from infoplane.solvers.base import make_starts, random_encoder, seed_sequence
from infoplane.solvers.splitting.block import minimise


def batch_of(joint, problem, starts, **options):
    return Stepped(ip.DifferenceOfConvex(**options), joint, problem, starts, limit=500, record=True)


def test_one_iteration_minimises_the_convex_part_with_the_tangent_of_the_concave_one():
    """Many inner steps against a minimiser that knows nothing of mirror steps."""
    joint, beta = ip.datasets.paper_nonuniform(), 2.5
    W = random_encoder(3, 3, np.random.default_rng(2))
    p_x, K, T = joint.p_x, joint.p_xy / joint.p_y, (joint.p_xy / joint.p_x[:, None]).T
    tangent = (beta - 1.0) * np.log(W @ p_x)[:, None] + np.log(W)  # minus the slope of the concave entropies, over p(x)

    def objective(U):
        value = -beta * twins.entropy_terms(joint.p_xy, U)[2] - float((tangent * p_x * U).sum())
        return value, p_x * (beta * (np.log(np.maximum(U @ K, 1e-300)) + 1.0) @ T - tangent)

    best = minimise(objective, W, "simplex")
    for closed_form in (True, False):
        batch = batch_of(joint, ip.funnel(beta), W[None], inner=3000, closed_form=closed_form)
        batch.advance(1)
        assert objective(batch.state.W[0])[0] == pytest.approx(objective(best)[0], abs=1e-9)


def test_where_no_bound_is_active_the_closed_form_is_the_minimiser():
    """Near the constant encoder p(z|y) of the proposal solves sum_y p(y|x) log p(z|y) = C + const(x) exactly, |X| = |Y|."""
    joint, beta = ip.datasets.paper_uniform(), 3.0
    W = np.full((2, 3), 0.5) + 0.001 * np.array([[1.0, -0.5, 0.3], [-1.0, 0.5, -0.3]])
    batch = batch_of(joint, ip.funnel(beta), W[None])
    logs = batch.logs(W[None])
    proposed = batch._closed_form(W[None], logs)[0]
    left = np.log(proposed @ batch.K) @ batch.T
    right = ((beta - 1.0) * logs[0] + logs[1])[0] / beta
    np.testing.assert_allclose(np.diff(left, axis=0), np.diff(right, axis=0), atol=1e-12)


@pytest.mark.parametrize("beta", [0.5, 1.5, 5.0])
def test_the_loss_never_rises(beta):
    joint = ip.datasets.heart()
    batch = batch_of(joint, ip.funnel(beta), make_starts(joint, None, 4, seed_sequence(0), "random"))
    batch.advance(60)
    for run in batch.runs():
        assert (np.diff(run.trace.loss) <= 1e-12).all()
        assert run.trace.loss[-1] == pytest.approx(ip.funnel(beta).value(joint, run.encoder), abs=1e-10)


def test_the_same_optimum_as_pf_1_from_the_same_starts():
    joint = ip.datasets.paper_nonuniform()
    one, two = (ip.solve(joint, ip.funnel(2.5), name, starts=8, rng=0, init="random") for name in ("dc-pf", "pf-1"))
    assert one.converged
    assert one.loss == pytest.approx(two.loss, abs=1e-8)


def test_what_it_cannot_solve():
    with pytest.raises(ip.UnsupportedProblemError, match="rho_zy < 0"):
        ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "dc-pf")
    with pytest.raises(ip.InvalidOptionError, match="inner"):
        ip.DifferenceOfConvex(inner=0)
