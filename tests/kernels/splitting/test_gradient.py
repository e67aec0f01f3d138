"""The paper's gradient steps against finite differences."""

import numpy as np
import pytest

import twins
from infoplane.kernels.splitting.gradient import gradient_encoder, gradient_marginal
from infoplane.solvers.splitting.formulations import FORMULATIONS
from moments import JOINTS, setting


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gradient_steps_follow_the_mean_subtracted_gradient(formulation):
    """Direction against finite differences of the block; the step lowers the block and keeps every simplex."""
    split, shares, W, x, s, c = setting(formulation, JOINTS["paper"], seed=2)

    def on_encoder(V):
        return twins.encoder_value(split.P, V, W, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)

    def on_marginal(v):
        return twins.marginal_value(v, shares.h) + twins.penalty(v, x, s, c)

    for step, block, u in ((gradient_encoder, on_encoder, W), (gradient_marginal, on_marginal, W @ split.M)):
        new = step(split, x, s, c, u)
        g = np.empty_like(u)
        for index in np.ndindex(u.shape):
            bump = np.zeros_like(u)
            bump[index] = 1e-6
            g[index] = (block(u + bump) - block(u - bump)) / 2e-6
        g -= g.mean(0)
        moved = u - new
        assert np.abs(moved).max() > 0
        xi = float((moved * g).sum() / (g * g).sum())
        assert np.log2(xi) == pytest.approx(round(np.log2(xi)), abs=1e-4)  # a power of two, as back-tracking gives
        np.testing.assert_allclose(moved, xi * g, atol=1e-7 * xi * np.abs(g).max() + 1e-9)
        assert block(new) < block(u)
        assert new.min() > 0
        np.testing.assert_allclose(new.sum(0), 1.0, atol=1e-12)
