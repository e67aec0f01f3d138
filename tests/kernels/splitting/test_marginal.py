"""The marginal block's argmin against its slow twin, or against the conditions that define it."""

import numpy as np
import pytest

import twins
from infoplane.solvers.splitting.formulations import FORMULATIONS
from interpreted import interpreted
from moments import JOINTS, setting

argmin_marginal = interpreted("splitting.marginal").argmin_marginal


@pytest.mark.parametrize("joint", JOINTS.values(), ids=JOINTS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_marginal_step_meets_its_first_order_condition(formulation, joint):
    split, shares, W, x, s, c = setting(formulation, joint)
    v = argmin_marginal(split, x, s, c, W @ split.M)
    assert v.min() > 0
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    slope = -shares.h * (np.log(v) + 1.0) + c * (v - x) - s
    np.testing.assert_allclose(slope - slope.mean(0), 0.0, atol=1e-9)
    if (shares.h > 0).any():  # the concave prox takes the branch on which the row is convex
        assert (c - shares.h / v)[:, shares.h > 0].min() > 0


@pytest.mark.parametrize("formulation", ["ib-1", "pf-2"])
def test_entropy_prox_is_its_slow_twin(formulation):
    split, shares, W, x, s, c = setting(formulation, JOINTS["paper"], seed=3)
    v = argmin_marginal(split, x, s, c, W @ split.M)
    for j in range(v.shape[1]):
        expected = twins.entropy_prox(-shares.h[j], x[:, j], s[:, j], c[:, j])
        np.testing.assert_allclose(v[:, j], expected, atol=1e-11)


def test_bregman_term_of_admm_ib_pulls_towards_the_old_marginal():
    split, shares, W, x, s, c = setting("ib-1", JOINTS["paper"], proximal=0.7)
    old = W @ split.M
    v = argmin_marginal(split, x, s, c, old)
    expected = twins.entropy_prox(-shares.h[0] + 0.7, x[:, 0], s[:, 0] + 0.7 * (np.log(old[:, 0]) + 1.0), c[:, 0])
    np.testing.assert_allclose(v[:, 0], expected, atol=1e-11)


def test_concave_prox_without_interior_root_raises_that_rows_penalty_or_empties_it():
    split, _shares, W, x, s, c = setting("ib-1v", JOINTS["paper"], adaptive=True)
    c[:] = 0.7  # gamma / c = 0.43 is the least mass on the convex branch: three rows need more than there is
    before = c.copy()
    v = argmin_marginal(split, x, s, c, W @ split.M)
    assert (c >= before).all()
    assert (c > before).any()
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    fixed = split._replace(kappa=0.0)
    v = argmin_marginal(fixed, x, s, before, W @ split.M)
    assert 1 <= (v == 0).sum() <= 2
    np.testing.assert_allclose(v.sum(0), 1.0, atol=1e-14)
    hopeless = np.full_like(c, 0.2)
    v = argmin_marginal(fixed, x, s, hopeless, W @ split.M)
    assert sorted(v[:, 0]) == [0.0, 0.0, 1.0]
