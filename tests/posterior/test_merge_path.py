"""Greedy merging: each merge against all pairs from scratch, each number against p(x, y), the path's manners."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.cluster import hierarchy

import verify
from infoplane.errors import InvalidOptionError
from infoplane.joint.joint import Joint
from infoplane.kernels import partitions as kernel
from infoplane.posterior.merge_path import agglomerative_bottleneck, merge_path, merge_two
from infoplane.problem import MarkovLagrangian, bottleneck, deterministic_bottleneck, funnel, generalised_bottleneck
from infoplane.runtime.budget import Budget, Stopped
from strategies import joints

WEIGHTS = [(1.0, 0.0), (1.0, -0.2), (-1.0, 0.0), (-1.0, 0.25), (-0.02, 1.0), (0.0, 1.0), (0.0, -1.0)]


def _tables():
    """Counts that are generic, sparse, tied, duplicated, nearly independent, or very unlike in mass."""
    rng = np.random.default_rng(7)
    generic = rng.gamma(0.5, size=(30, 5))
    few_profiles = rng.integers(1, 5, size=(6, 4))[rng.integers(0, 6, size=24)]
    return {
        "generic": generic,
        "sparse counts": rng.poisson(0.4, size=(35, 6)),
        "ties": rng.integers(0, 2, size=(24, 3)),
        "duplicates": few_profiles * 2.0 ** rng.integers(0, 4, size=(24, 1)),
        "all alike": np.ones((12, 3)),
        "nearly independent": 1.0 + 1e-4 * rng.random((25, 4)),
        "heavy first": generic / np.arange(1, 31)[:, None] ** 2,
        "heavy last": generic / np.arange(30, 0, -1)[:, None] ** 2,
        "on a line": np.stack([np.linspace(0.01, 0.99, 40), np.linspace(0.99, 0.01, 40)], axis=1),
        "one y": rng.random((10, 1)),
    }


TABLES = _tables()


def twin_merges(P, a, b):
    """The obvious greedy: the first cheapest of all pairs, each priced anew before every merge."""
    c = kernel.singletons(P, remember=False)
    alive, merges = list(range(len(P))), []
    while len(alive) > 1:
        _, i, j = min((kernel.cost(c, a, b, i, j), i, j) for i, j in itertools.combinations(alive, 2))
        merges.append((i, j))
        alive.remove(j)
        c.p_zy[i] += c.p_zy[j]
        c.p_z[i] += c.p_z[j]
        c.phi_zy[i] = [t * math.log(t) if t > 0 else 0.0 for t in c.p_zy[i]]
        c.phi_z[i] = c.p_z[i] * math.log(c.p_z[i])
    return merges


def plane(cluster_rows):
    """(I(Y;Z), H(Z)) up to terms that no merge changes, from the clusters' p(z, y), by definition."""
    phi = [[p * math.log(p) for p in row if p > 0] for row in cluster_rows]
    phi_z = [s * math.log(s) for s in (math.fsum(row) for row in cluster_rows)]
    return math.fsum([p for row in phi for p in row] + [-p for p in phi_z]), -math.fsum(phi_z)


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("table", TABLES)
def test_every_merge_is_that_of_the_slow_twin(table, weights):
    joint = Joint.from_counts(TABLES[table])
    letters = np.flatnonzero(joint.p_x > 0)
    expected = letters[twin_merges(joint.p_xy[letters], *weights)]
    for memory_limit in (2**29, 0):
        path = merge_path(joint, iyz_weight=weights[0], ixz_weight=weights[1], memory_limit=memory_limit)
        np.testing.assert_array_equal(path.merges, expected)


@pytest.mark.parametrize("weights", WEIGHTS, ids=str)
@pytest.mark.parametrize("table", TABLES)
def test_no_pair_is_cheaper_by_the_definition_of_information(table, weights):
    """All pairs at every third step, which takes long; the pair that was merged at every step."""
    joint = Joint.from_counts(TABLES[table])
    path = merge_path(joint, iyz_weight=weights[0], ixz_weight=weights[1])
    rows = {x: joint.p_xy[x] for x in np.flatnonzero(joint.p_x > 0)}
    for step, (i, j) in enumerate(path.merges):
        falls = {}
        for pair in itertools.combinations(sorted(rows), 2) if step % 3 == 0 else [(i, j)]:
            apart, together = plane([rows[x] for x in pair]), plane([rows[pair[0]] + rows[pair[1]]])
            falls[pair] = apart[0] - together[0], apart[1] - together[1]
        costs = {pair: weights[0] * y + weights[1] * x for pair, (y, x) in falls.items()}
        assert costs[i, j] <= min(costs.values()) + 1e-15
        assert path.iyz[step] - path.iyz[step + 1] == pytest.approx(falls[i, j][0], abs=1e-14)
        assert path.ixz[step] - path.ixz[step + 1] == pytest.approx(falls[i, j][1], abs=1e-14)
        rows[i] = rows[i] + rows.pop(j)


@settings(max_examples=36, deadline=None)
@given(joint=joints(), weights=st.sampled_from(WEIGHTS))
def test_the_path_is_what_the_joint_says(joint, weights):
    path = merge_path(joint, iyz_weight=weights[0], ixz_weight=weights[1])
    seen = joint.p_x > 0
    n = int(seen.sum())
    assert path.merges.shape == (n - 1, 2)
    assert path.clusters.tolist() == list(range(n, 0, -1))
    assert path.ixz[-1] == path.iyz[-1] == 0.0
    assert (np.diff(path.ixz) <= 0).all()
    assert (np.diff(path.iyz) <= 0).all()
    for k, ixz, iyz in zip(path.clusters, path.ixz, path.iyz, strict=True):
        W = path.encoder_at(int(k))
        assert W.shape == (k, joint.shape[0])
        verify.check_encoder(joint.p_xy, W)
        assert np.isin(W[:, seen], (0.0, 1.0)).all()
        np.testing.assert_allclose(W[:, ~seen], np.tile((W @ joint.p_x)[:, None], (~seen).sum()), atol=1e-15)
        expected = verify.mutual_informations(joint.p_xy, W)
        assert (ixz, iyz) == pytest.approx(expected, abs=1e-12)
        assert iyz <= ixz + 1e-15


@settings(max_examples=24, deadline=None)
@given(joint=joints(), gamma=st.floats(0.01, 1.0), beta=st.floats(0.01, 50.0), a=st.floats(0.0, 1.0))
def test_best_is_the_lowest_lagrangian_of_the_path(joint, gamma, beta, a):
    path = agglomerative_bottleneck(joint)
    for problem in (
        bottleneck(gamma),
        deterministic_bottleneck(gamma),
        generalised_bottleneck(gamma, a),
        funnel(beta),
        MarkovLagrangian(0.3, -2.0, -0.7),
    ):
        values = {k: verify.lagrangian(joint.p_xy, path.encoder_at(int(k)), problem.rho) for k in path.clusters}
        np.testing.assert_allclose(path.losses(problem), list(values.values()), atol=1e-11)
        assert values[path.best(problem)] <= min(values.values()) + 1e-11


def test_partitions_are_nested_and_numbered_by_smallest_letter():
    joint = Joint.from_counts(np.random.default_rng(3).poisson(1.0, size=(60, 3)))
    path = agglomerative_bottleneck(joint)
    assert len(path.clusters) < 60
    finer = path.labels_at(len(path.clusters))
    np.testing.assert_array_equal(finer[joint.p_x > 0], np.arange(len(path.clusters)))
    for k in path.clusters[1:]:
        labels = path.labels_at(int(k))
        np.testing.assert_array_equal(labels < 0, joint.p_x == 0)
        assert list(dict.fromkeys(labels[labels >= 0])) == list(range(k))
        assert len(set(zip(finer, labels, strict=True)) - {(-1, -1)}) == k + 1
        finer = labels


def test_equal_costs_go_to_the_first_pair():
    path = merge_path(Joint.from_counts(np.ones((6, 2))), iyz_weight=1.0)
    assert path.merges.tolist() == [[0, j] for j in range(1, 6)]
    assert path.iyz.tolist() == [0.0] * 6


@pytest.mark.parametrize(
    ("counts", "merges"),
    [
        # The merged (2, 0) is as good a partner for (c, c) as its mirror (0, 2): whichever comes first is taken.
        ([[0.01, 0.01], [1, 0], [1, 0], [0, 2]], [[1, 2], [0, 1], [0, 3]]),
        ([[0.01, 0.01], [0, 2], [1, 0], [1, 0]], [[2, 3], [0, 1], [0, 2]]),
    ],
)
def test_a_merged_cluster_that_ties_takes_its_turn(counts, merges):
    assert agglomerative_bottleneck(Joint.from_counts(counts), gamma=0.9).merges.tolist() == merges


def test_letters_that_say_the_same_of_y_are_merged_without_loss():
    rng = np.random.default_rng(5)
    group = rng.integers(0, 4, size=50)
    group[:4] = range(4)
    profiles = np.eye(4) + 0.2
    path = agglomerative_bottleneck(Joint.from_counts(rng.random((50, 1)) * profiles[group]))
    np.testing.assert_array_equal(path.labels_at(4), group)
    assert path.iyz[0] - path.iyz[-4] < 1e-15
    assert path.iyz[-4] - path.iyz[-3] > 1e-3


def test_merge_two_hides_y_by_pairing_opposites():
    p = np.array([0.9, 0.7, 0.6])
    path = merge_two(Joint.from_counts(np.concatenate([np.stack([p, 1 - p], axis=1), np.stack([1 - p, p], axis=1)])))
    assert path.labels_at(3).tolist() == [0, 1, 2, 0, 1, 2]
    assert path.iyz[-3] < 1e-15
    assert path.ixz[-3] == pytest.approx(math.log(3))


def test_named_paths_are_merge_paths():
    joint = Joint.from_counts(np.random.default_rng(2).gamma(0.4, size=(25, 4)))
    for path, a, b in (
        (agglomerative_bottleneck(joint), 1.0, 0.0),
        (agglomerative_bottleneck(joint, gamma=0.3), 10.0, -3.0),
        (merge_two(joint), -1.0, 0.0),
        (merge_two(joint, criterion="lagrangian", beta=4.0), -8.0, 2.0),
    ):
        np.testing.assert_array_equal(path.merges, merge_path(joint, iyz_weight=a, ixz_weight=b).merges)


@pytest.mark.parametrize("problem", [bottleneck(0.3), funnel(2.5)])
def test_greedy_descent_of_a_lagrangian_as_documented(problem):
    joint = Joint.from_counts(np.random.default_rng(4).gamma(0.4, size=(12, 3)))
    path = merge_path(joint, iyz_weight=problem.rho_zy, ixz_weight=-(problem.rho_z + problem.rho_zy))
    first = []
    for i, j in itertools.combinations(range(12), 2):
        W = np.delete(np.eye(12), j, axis=0)
        W[i, j] = 1.0
        first.append((problem.value(joint, W), i, j))
    assert tuple(path.merges[0]) == min(first)[1:]


def test_sparse_and_dense_joints_give_the_same_path():
    counts = np.random.default_rng(1).poisson(0.3, size=(70, 9))
    dense, thin = (merge_two(Joint.from_counts(N)) for N in (counts, sparse.csr_array(counts)))
    np.testing.assert_array_equal(dense.merges, thin.merges)
    np.testing.assert_array_equal(dense.iyz, thin.iyz)


def test_masses_at_the_edge_of_floating_point_are_merged_all_the_same():
    P = np.array([[0.5, 0.25], [5e-324, 0.0], [1e-300, 1e-320], [0.0, 1e-17], [0.125, 0.125]])
    for a, b in WEIGHTS:
        path = merge_path(Joint.from_matrix(P), iyz_weight=a, ixz_weight=b)
        assert np.isfinite(path.iyz).all()
        assert path.ixz[0] == pytest.approx(-math.fsum(p * math.log(p) for p in P.sum(axis=1)), abs=1e-14)


def test_one_letter_is_a_path_of_one_cluster():
    path = merge_two(Joint.from_counts([[0.0, 0.0], [1.0, 2.0]]))
    assert path.merges.shape == (0, 2)
    assert path.labels_at(1).tolist() == [-1, 0]
    assert path.encoder_at(1).tolist() == [[1.0, 1.0]]
    assert path.best(funnel(2.0)) == 1


def test_callback_sees_progress_and_can_end_the_run():
    joint = Joint.from_counts(np.random.default_rng(0).random((200, 3)))
    calls = []
    agglomerative_bottleneck(joint, callback=lambda done, total: calls.append((done, total)))
    assert [done for done, _ in calls] == [0, 0, 0, 0, 64, 128, 192, 199]
    assert {total for _, total in calls} == {199}

    def stop(done, total):
        if done:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        agglomerative_bottleneck(joint, callback=stop)


def test_a_path_cannot_be_altered():
    path = merge_two(Joint.from_counts(np.eye(3)))
    with pytest.raises(AttributeError):
        path.ixz = path.iyz
    with pytest.raises(ValueError, match="read-only"):
        path.merges[0] = 0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda joint: merge_path(joint, iyz_weight=0.0), "not both be zero"),
        (lambda joint: merge_path(joint, iyz_weight=math.nan), "finite"),
        (
            lambda joint: agglomerative_bottleneck(joint, gamma=-1.0),
            "gamma must be a finite number, 0 or positive; found -1.0",
        ),
        (lambda joint: merge_two(joint, beta=2.0), "without a beta"),
        (lambda joint: merge_two(joint, criterion="lagrangian"), "with a beta > 0"),
        (lambda joint: merge_two(joint, criterion="lagrangian", beta=-1.0), "beta must be positive"),
        (
            lambda joint: merge_two(joint, criterion="utility"),
            "criterion must be 'leakage' or 'lagrangian', found 'utility'",
        ),
        (lambda joint: merge_two(joint).labels_at(0), "1 to 3 clusters"),
        (lambda joint: merge_two(joint).encoder_at(4), "found k = 4"),
    ],
)
def test_errors_say_what_was_expected(call, message):
    with pytest.raises(InvalidOptionError, match=message):
        call(Joint.from_counts(np.eye(3)))


def test_a_path_ends_between_blocks_once_it_is_told_to() -> None:
    joint = Joint.from_counts(np.random.default_rng(0).random((300, 3)))
    budget, seen = Budget(), []

    def look(done: int, _total: int) -> None:
        seen.append(done)
        if done:
            budget.stop()
        budget.look()

    with pytest.raises(Stopped):
        merge_path(joint, iyz_weight=1.0, callback=look)
    assert seen[-1] == 64  # the next block of merges was not begun


def _partition(labels):
    return {frozenset(np.flatnonzero(labels == z).tolist()) for z in set(labels.tolist())}


@pytest.mark.parametrize("name", [name for name in TABLES if name != "one y"])
@pytest.mark.parametrize("make", [agglomerative_bottleneck, merge_two])
def test_the_linkage_is_the_path(name, make):
    joint = Joint.from_counts(TABLES[name])
    path = make(joint)
    rows = path.to_linkage()
    assert hierarchy.is_valid_linkage(rows)
    assert hierarchy.is_monotonic(rows)
    lost = path.iyz[0] - path.iyz[1:]
    np.testing.assert_allclose(rows[:, 2], lost, atol=1e-14)
    seen = joint.p_x > 0
    held = {number: {int(x)} for number, x in enumerate(np.flatnonzero(seen))}
    for t, (i, j, _, size) in enumerate(rows.tolist()):
        held[int(seen.sum()) + t] = held.pop(int(i)) | held.pop(int(j))
        assert len(held[int(seen.sum()) + t]) == size
        labels = path.labels_at(int(path.clusters[t + 1]))
        assert set(map(frozenset, held.values())) == _partition(np.where(seen, labels, -1)) - {
            frozenset(np.flatnonzero(~seen).tolist())
        }


def test_a_path_of_one_letter_has_an_empty_linkage():
    assert agglomerative_bottleneck(Joint.from_counts([[1, 2], [0, 0]])).to_linkage().shape == (0, 4)
