"""The paper's gradient steps against finite differences."""

import numpy as np
import pytest

import twins
from compiled import interpreted
from infoplane.solvers.splitting.formulations import FORMULATIONS
from recursions import JOINTS, setting

gradient_step = interpreted("splitting.gradient").gradient_step


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_gradient_steps_follow_the_mean_subtracted_gradient(formulation):
    """Direction against finite differences of the block; the step lowers the block and keeps every simplex."""
    split, shares, W, x, s, c = setting(formulation, JOINTS["paper"], seed=2)

    def on_encoder(V):
        return twins.encoder_value(split.P, V, W, shares.a, shares.d) + twins.penalty(V @ split.M, x, s, c)

    def on_marginal(v):
        return twins.marginal_value(v, shares.h) + twins.penalty(v, x, s, c)

    for of_encoder, block, u in ((True, on_encoder, W), (False, on_marginal, W @ split.M)):
        new = gradient_step(split, of_encoder, x, s, c, u)
        g = np.empty_like(u)
        for index in np.ndindex(u.shape):
            bump = np.zeros_like(u)
            bump[index] = 1e-6
            g[index] = (block(u + bump) - block(u - bump)) / 2e-6
        g -= g.mean(0)
        moved = u - new
        assert np.abs(moved).max() > 0
        xi = float((moved * g).sum() / (g * g).sum())
        quarters = np.log(xi / split.first_step) / np.log(0.25)
        assert quarters == pytest.approx(
            round(quarters), abs=1e-3
        )  # back-tracking by a quarter, from the first step on
        np.testing.assert_allclose(moved, xi * g, atol=1e-7 * xi * np.abs(g).max() + 1e-8)  # and 1e-9 is added
        assert block(new) < block(u)
        assert new.min() > 0
        np.testing.assert_allclose(new.sum(0), 1.0, atol=1e-12)


def test_entries_that_leave_no_step_are_held():
    split, _, W, x, s, c = setting("ib-1", JOINTS["paper"], seed=2)
    v = (W @ split.M).copy()
    v[:, 0] = 1e-12, 0.4, 0.6 - 1e-12
    s = s.copy()
    s[:, 0] = -50.0, 0.0, 0.0  # pushes the first entry below zero
    new = gradient_step(split, False, x, s, c, v)
    assert 0.0 < new[0, 0] < 2e-9
    assert abs(new[1, 0] - v[1, 0]) > 1e-6


def test_a_step_is_taken_even_if_no_length_decreases_enough():
    """Rounding hides the decrease of a block that is all but flat: the longest valid step is taken, as the published scripts do."""
    split, _, W, x, s, c = setting("ib-1", JOINTS["paper"], seed=2)
    v = W @ split.M
    far = 1e14 * np.ones_like(x)  # a constant so large that the block's value no longer changes
    new = gradient_step(split, False, v, s + far, 0.0 * c, v)
    assert np.abs(new - v).max() > 0
