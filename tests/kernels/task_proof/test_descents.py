"""Descents of posteriors at gamma = 0: never up, and to where no letter is left whose slope is lower."""

import numpy as np
import pytest

from infoplane.kernels.task_proof.descents import descend


def value(T_u, T_s, keep, hide, lam, q):
    u, s = T_u @ q, T_s @ q
    return -keep * (u * np.log(u)).sum() + hide * (s * np.log(s)).sum() - lam @ q


@pytest.mark.parametrize("seed", range(5))
def test_no_descent_goes_up_and_all_end_where_no_slope_is_lower(seed):
    rng = np.random.default_rng(seed)
    T_u, T_s = (rng.dirichlet(np.ones(size), 9).T.copy() for size in (3, 4))
    keep, hide, lam = 1.3, float(rng.choice([0.2, 2.0])), 0.3 * rng.random(9)
    Q = rng.dirichlet(np.full(9, 0.5), 40)
    ends = Q.copy()
    descend(T_u, T_s, keep, hide, lam, ends, np.full(40, -1))
    assert np.abs(ends.sum(axis=1) - 1.0).max() < 1e-14
    for before, after in zip(Q, ends, strict=True):
        assert value(T_u, T_s, keep, hide, lam, after) <= value(T_u, T_s, keep, hide, lam, before) + 1e-14
        slope = -keep * (np.log(T_u @ after) @ T_u) + hide * (np.log(T_s @ after) @ T_s) - lam
        assert slope[after > 0.0].max() - slope.min() < 2e-3
        assert (after > 0.0).sum() <= 6
    held = Q.copy()
    descend(T_u, T_s, keep, hide, lam, held, np.arange(40) % 9)
    each = np.arange(40), np.arange(40) % 9
    assert (held[each] >= Q[each] - 1e-15).all()
