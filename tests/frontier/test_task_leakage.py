"""Caps on what is told of a secret: bounds hold, caps are kept, perfect privacy is that of its vertices."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import infoplane as ip
from infoplane.certificate.tasks import private
from made_up import made_tasks, told

CAPS = [0.0, 0.003, 0.02, 0.2]


@pytest.mark.parametrize("seed", range(5))
def test_caps_are_kept_and_no_encoder_is_above_the_bound(seed):
    letters, hidden, caps = (7, 2, CAPS) if seed < 3 else (5, 3, CAPS[::2])
    tasks = made_tasks(seed, letters=letters, kept=2 + seed % 3, hidden=hidden)
    curve = ip.task_curve(tasks, caps)
    for cap, found in zip(caps, curve, strict=True):
        ixz, iuz, isz = told(tasks, found.encoder)
        assert isz <= cap + 1e-15
        assert (found.iuz, found.ixz) == pytest.approx((iuz, ixz), abs=1e-12)
        assert found.certified
        assert 0.0 <= found.gap + 1e-12 <= 1e-6 + 1e-12
    rng = np.random.default_rng(seed)
    for _ in range(150):  # any encoder, mixed with a constant one until its leakage is within the cap
        W = rng.dirichlet(np.full(6, rng.choice([0.05, 0.3, 1.0])), letters).T
        _, iuz, isz = told(tasks, W)
        for cap, found in zip(caps[1:], curve[1:], strict=True):
            assert iuz * min(1.0, cap / max(isz, 1e-300)) <= found.upper_bound + 1e-12
    assert [one.iuz for one in curve] == sorted(one.iuz for one in curve)
    few = ip.task_at_leakage(tasks, 0.02, clusters=3)
    assert few.clusters <= 3
    assert few.isz <= 0.02
    assert few.upper_bound == pytest.approx(curve[caps.index(0.02)].upper_bound, abs=2e-6)


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


def test_nothing_of_a_larger_secret_by_vertices_and_by_programmes(monkeypatch):
    tasks = made_tasks(1, letters=7, kept=2, hidden=3)
    T_u, T_s = ((joint.p_xy / tasks.p_x[:, None]).T for joint in (tasks.keep, tasks.hide))
    columns = []
    for letters in itertools.combinations(range(7), 3):
        q = np.linalg.solve(T_s[:, letters], tasks.hide.p_y)
        if (q >= 0.0).all():
            columns.append(np.zeros(7))
            columns[-1][list(letters)] = q
    Q = np.array(columns).T
    u = T_u @ Q
    best = linprog(-(u * np.log(u)).sum(axis=0), A_eq=Q, b_eq=tasks.p_x)
    h_u = -(tasks.keep.p_y * np.log(tasks.keep.p_y)).sum()
    for bases in (50_000, 0):  # all vertices, and those that programmes lead to
        monkeypatch.setattr(private, "EFFORT", private.EFFORT._replace(most_bases=bases))
        found = ip.task_at_leakage(tasks, 0.0)
        assert found.certified
        assert found.iuz == pytest.approx(h_u - best.fun, abs=1e-6)
        assert found.isz < 1e-25


def test_no_cap_is_worse_than_a_sweep_with_time_sharing():
    tasks = made_tasks(2, letters=7, kept=2, hidden=4)
    runs = [ip.solve(tasks, ip.task_funnel(beta, gamma=0.0), "task-map", starts=3, rng=0) for beta in (0.1, 0.6, 2.0)]
    points = sorted([(0.0, 0.0), *((run.isz, run.iuz) for run in runs)])
    for cap in (0.004, 0.05):
        shared = max(
            a[1] + (b[1] - a[1]) * (cap - a[0]) / (b[0] - a[0])
            for a, b in itertools.combinations(points, 2)
            if a[0] <= cap < b[0]
        )
        found = ip.task_at_leakage(tasks, cap)
        assert found.certified
        assert found.iuz >= shared - 1e-6


def test_bad_caps_are_refused():
    with pytest.raises(ip.InvalidOptionError, match="max_isz must be"):
        ip.task_at_leakage(made_tasks(0), -1.0)
    assert ip.task_curve(made_tasks(0), []) == []


def test_one_letter_tells_nothing():
    keep, hide = ip.Joint.from_matrix([[0.5, 0.5]], y_names="u"), ip.Joint.from_matrix([[0.3, 0.7]], y_names="s")
    tasks = ip.TaskJoint(keep, hide)
    assert [one.iuz for one in ip.task_curve(tasks, [0.0, 0.1])] == [0.0, 0.0]
    assert ip.solve(tasks, ip.task_funnel(1.0, gamma=0.0), certify=True).status is ip.Status.CERTIFIED


def test_a_cap_on_records_says_what_the_population_may_be_told():
    """The joint in which both stand side by side has no records: the secret's own are asked, whatever the order of its letters."""
    rng = np.random.default_rng(0)
    job = rng.choice(list("abcde"), 400)
    rows = pd.DataFrame(
        {"job": job, "rich": rng.integers(2, size=400), "sex": np.where(rng.random(400) < 0.5, "f", "m")}
    )
    joint = ip.TaskJoint.from_frame(rows, "job", "rich", "sex")
    turned = ip.Joint.from_frame(rows.iloc[::-1], "job", "sex")
    found = ip.task_at_leakage(joint, 1e-4)
    bound = found.leakage_bound
    assert bound.seen
    assert bound.records == 400
    assert bound.bound > found.isz + bound.expected / 2 > 1e-3
    assert bound.iyz == pytest.approx(found.isz, abs=1e-12)
    assert f"I(S;Z) in the population is at most {bound.bound / np.log(2.0):.4g} bits" in str(found)
    again = ip.task_at_leakage(ip.TaskJoint(joint.keep, turned), 1e-4).leakage_bound
    assert (again.bound, again.seen) == (pytest.approx(bound.bound, rel=1e-6), True)
    bare = ip.TaskJoint(ip.Joint(joint.keep.p_xy, y_names="rich"), ip.Joint(joint.hide.p_xy, y_names="sex"))
    assert ip.task_at_leakage(bare, 1e-4).leakage_bound is None
