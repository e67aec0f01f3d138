"""Caps on what is told of a binary secret: bounds hold, caps are kept, perfect privacy is that of its vertices."""

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

import infoplane as ip
from made_tasks import made_tasks, told

CAPS = [0.0, 0.003, 0.02, 0.2]


@pytest.mark.parametrize("seed", range(5))
def test_caps_are_kept_and_no_encoder_is_above_the_bound(seed):
    tasks = made_tasks(seed, letters=7, kept=2 + seed % 3)
    curve = ip.task_curve(tasks, CAPS)
    for cap, found in zip(CAPS, curve, strict=True):
        ixz, iuz, isz = told(tasks, found.encoder)
        assert isz <= cap + 1e-15
        assert (found.iuz, found.ixz) == pytest.approx((iuz, ixz), abs=1e-12)
        assert found.certified
        assert 0.0 <= found.gap + 1e-12 <= 1e-6 + 1e-12
    rng = np.random.default_rng(seed)
    for _ in range(300):  # any encoder, mixed with a constant one until its leakage is within the cap
        W = rng.dirichlet(np.full(6, rng.choice([0.05, 0.3, 1.0])), 7).T
        _, iuz, isz = told(tasks, W)
        for cap, found in zip(CAPS[1:], curve[1:], strict=True):
            assert iuz * min(1.0, cap / max(isz, 1e-300)) <= found.upper_bound + 1e-12
    assert [one.iuz for one in curve] == sorted(one.iuz for one in curve)
    few = ip.task_at_leakage(tasks, 0.02, clusters=3)
    assert few.clusters <= 3
    assert few.isz <= 0.02
    assert few.upper_bound == pytest.approx(curve[2].upper_bound, abs=2e-6)


@pytest.mark.parametrize("seed", range(3))
def test_perfect_privacy_is_the_programme_over_all_vertices(seed):
    tasks = made_tasks(seed, letters=7, kept=3)
    T_u, s = (tasks.keep.p_xy / tasks.p_x[:, None]).T, tasks.hide.p_xy[:, 1] / tasks.p_x
    s0 = s @ tasks.p_x
    columns = []
    for x, y in itertools.combinations(range(7), 2):
        if (s[x] - s0) * (s[y] - s0) < 0:
            q = np.zeros(7)
            q[x], q[y] = (s[y] - s0) / (s[y] - s[x]), (s0 - s[x]) / (s[y] - s[x])
            columns.append(q)
    Q = np.array(columns).T
    u = T_u @ Q
    best = linprog(-(u * np.log(u)).sum(axis=0), A_eq=Q, b_eq=tasks.p_x)
    h_u = -(tasks.keep.p_y * np.log(tasks.keep.p_y)).sum()
    found = ip.task_at_leakage(tasks, 0.0)
    assert found.iuz == pytest.approx(h_u - best.fun, abs=1e-7)
    assert found.isz < 1e-25


def test_larger_secrets_are_refused_and_so_are_bad_caps():
    with pytest.raises(ip.UnsupportedProblemError, match="3 letters of the secret"):
        ip.task_at_leakage(made_tasks(0, hidden=3), 0.01)
    with pytest.raises(ip.InvalidOptionError, match="max_isz must be"):
        ip.task_at_leakage(made_tasks(0), -1.0)
    assert ip.task_curve(made_tasks(0), []) == []


def test_one_letter_tells_nothing():
    keep, hide = ip.Joint.from_matrix([[0.5, 0.5]], y_names="u"), ip.Joint.from_matrix([[0.3, 0.7]], y_names="s")
    tasks = ip.TaskJoint(keep, hide)
    assert [one.iuz for one in ip.task_curve(tasks, [0.0, 0.1])] == [0.0, 0.0]
    assert ip.solve(tasks, ip.task_funnel(1.0, gamma=0.0), certify=True).status is ip.Status.CERTIFIED
