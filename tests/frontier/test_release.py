"""Releases whose caps hold for every released value: against vertices that are enumerated, known optima, and their own terms."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import infoplane as ip
from infoplane.certificate.funnel.allowed import CappedSearch

BIT = math.log(2.0)


def entropies(p):
    return np.where(p > 0, -p * np.log(np.where(p > 0, p, 1.0)), 0.0)


def vertices(T, L, U):
    """All vertices of {q >= 0, sum q = 1, L <= Tq <= U}: a support, and as many tight rows less one."""
    m, n = T.shape
    sides = [(s, bound) for s in range(m) for bound in (L[s], U[s])]
    found = []
    for count in range(m):
        for rows in itertools.combinations(sides, count):
            if len({s for s, _ in rows}) < count:
                continue
            for letters in itertools.combinations(range(n), count + 1):
                A = np.vstack([np.ones(count + 1), *(T[s, list(letters)] for s, _ in rows)])
                if abs(np.linalg.det(A)) < 1e-12:
                    continue
                q = np.zeros(n)
                q[list(letters)] = np.linalg.solve(A, [1.0, *(bound for _, bound in rows)])
                u = T @ q
                if q.min() > -1e-12 and (u >= L - 1e-12).all() and (u <= U + 1e-12).all():
                    found.append(np.maximum(q, 0.0))
    return np.array(found).T


def lifts(joint, W):
    J = W @ joint.p_xy
    return np.log(J / J.sum(axis=1, keepdims=True) / joint.p_y)


@pytest.mark.parametrize(("seed", "two_sided"), [(0, True), (1, False), (2, True), (3, False)])
def test_the_best_release_is_the_best_mixture_of_all_vertices(seed, two_sided):
    rng = np.random.default_rng(seed)
    joint = ip.Joint.from_matrix(rng.dirichlet(np.full(18, 0.8)).reshape(6, 3))
    eps, T = 0.25, joint.p_y_given_x
    L, U = math.exp(-eps) * joint.p_y * two_sided, np.minimum(math.exp(eps) * joint.p_y, 1.0)
    V = vertices(T, L, U)
    best = joint.entropy_x - linprog(entropies(V).sum(axis=0), A_eq=V, b_eq=joint.p_x).fun
    release = ip.release_mechanism(joint, max_lift=eps, two_sided=two_sided, rng=0)
    assert release.certified
    assert release.ixz == pytest.approx(best, abs=1e-6)
    assert release.upper_bound >= best - 1e-9
    found = lifts(joint, release.encoder)
    assert found.max() <= eps + 1e-11
    assert found.max() == pytest.approx(release.worst_lift.nats, abs=1e-12)
    assert not two_sided or found.min() >= -eps - 1e-11


@pytest.mark.parametrize(
    ("terms", "utility"),
    [
        ({"max_lift": 0.2 * BIT, "two_sided": False}, 2.7956),
        ({"max_lift": 0.5 * BIT}, 3.0074),
        ({"max_lift": 0.4 * BIT, "max_leakage": 0.01 * BIT}, 2.811565),
    ],
)
def test_known_optima_of_heart(terms, utility):
    release = ip.release_mechanism(ip.datasets.heart(), **terms, rng=1)
    assert release.certified
    assert release.ixz / BIT == pytest.approx(utility, abs=1e-4)
    assert lifts(release.joint, release.encoder).max() <= terms["max_lift"] + 1e-11
    assert release.iyz <= terms.get("max_leakage", math.inf)


def test_no_lift_at_all_is_perfect_privacy():
    joint = ip.datasets.paper_uniform()
    release = ip.release_mechanism(joint, max_lift=0.0)
    assert release.ixz == pytest.approx(ip.perfect_privacy(joint).ixz, abs=1e-6)
    assert release.iyz < 1e-12


def test_the_average_alone_is_the_exact_funnel():
    joint = ip.datasets.paper_uniform()
    release, funnel = ip.release_mechanism(joint, 0.01), ip.funnel_at_leakage(joint, 0.01)
    assert (release.ixz, release.upper_bound) == (funnel.ixz, funnel.upper_bound)


@pytest.fixture(scope="module")
def of_ten():
    """Released values for ten records each at least."""
    return ip.release_mechanism(ip.datasets.heart(), max_lift=0.2 * BIT, two_sided=False, min_group=10, rng=0)


def test_every_group_is_large_enough_and_the_bound_is_above(of_ten):
    joint, release = ip.datasets.heart(), of_ten
    assert release.p_z.min() * 299 >= 10 - 1e-9
    assert release.smallest_group == pytest.approx(release.p_z.min() * 299)
    assert lifts(joint, release.encoder).max() <= 0.2 * BIT + 1e-11
    assert 2.7895 <= release.ixz / BIT <= release.upper_bound / BIT <= 2.7908


def test_only_the_secrets_that_are_named_are_capped():
    joint = ip.datasets.heart()
    first = joint.y_labels[0]
    release = ip.release_mechanism(joint, max_lift=0.1, secrets=[first], rng=0)
    found = lifts(joint, release.encoder)
    assert release.secrets == (first,)
    assert np.abs(found[:, 0]).max() <= 0.1 + 1e-11
    assert np.abs(found).max() > 0.5


def test_a_release_says_what_it_keeps_to():
    said = str(ip.release_mechanism(ip.datasets.heart(), max_lift=0.2 * BIT, max_leakage=0.01 * BIT, rng=0))
    assert "within I(S;Z) <= 0.01 bits, |lift| <= 0.2 bits" in said
    assert "about the table" in said


def test_a_search_that_is_cut_short_keeps_its_caps_and_has_a_bound():
    joint = ip.datasets.heart()
    release = ip.release_mechanism(joint, max_lift=0.05 * BIT, max_cells=2, rng=0)
    assert not release.certified
    assert release.upper_bound / BIT >= 2.4126
    assert np.abs(lifts(joint, release.encoder)).max() <= 0.05 * BIT + 1e-11


def test_a_claim_that_a_local_search_contradicts_certifies_nothing(monkeypatch):
    monkeypatch.setattr(CappedSearch, "least", lambda _search: 0.01)
    with pytest.warns(ip.ContradictionWarning, match="contradicts itself"):
        release = ip.release_mechanism(ip.datasets.heart(), max_lift=0.2 * BIT, rng=0)
    assert not release.certified
    assert release.upper_bound / BIT > 2.7052


@pytest.mark.parametrize(
    "counts",
    [
        [[9e-31, 0.64, 0.53], [0.0, 3.4e-301, 7.6e-302], [1e-30, 0.89, 0.88], [4e-32, 0.81, 0.94]],
        [[0.11, 0.0], [0.19, 0.0], [0.69, 5e-324], [0.46, 0.0], [0.02, 0.0], [9.2e-10, 0.0]],
    ],
)
def test_released_values_too_faint_to_be_computed_with_are_not_there(counts):
    """Of mass 1e-301 and a secret of mass 1e-31, p(s, z) would be 0 in floating point, and the lower cap not kept."""
    joint = ip.Joint.from_counts(counts)
    release = ip.release_mechanism(joint, max_lift=0.4, max_leakage=1.23e-4, rng=0, max_cells=500)
    ratio = release.encoder @ joint.p_xy / (release.encoder @ joint.p_x)[:, None] / joint.p_y
    assert ratio.min() >= math.exp(-0.4) * (1.0 - 1e-9)


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({}, "needs a cap"),
        ({"max_lift": -0.1}, "max_lift must be a number of nats, 0 or more; found -0.1"),
        ({"max_leakage": math.nan}, "max_leakage"),
        ({"max_lift": 0.1, "secrets": ["nobody"]}, "found 'nobody'"),
        ({"max_lift": 0.1, "secrets": "nobody"}, "secrets must be a list"),
        ({"max_lift": 0.1, "secrets": []}, "nothing would be capped"),
        ({"max_leakage": 0.1, "secrets": [0]}, "they go with max_lift"),
        ({"min_group": 0}, "min_group must be a positive number"),
        ({"min_group": 300}, "at most the 299 records"),
        ({"max_lift": 0.1, "two_sided": 1}, "two_sided must be True or False"),
    ],
)
def test_terms_that_make_no_sense_are_refused(terms, said):
    with pytest.raises(ip.InvalidOptionError, match=said):
        ip.release_mechanism(ip.datasets.heart(), **terms)


def test_groups_of_records_need_records():
    with pytest.raises(ip.InvalidOptionError, match="min_group counts records"):
        ip.release_mechanism(ip.datasets.paper_uniform(), min_group=5)


def test_confidence_goes_with_the_average_alone():
    joint = ip.datasets.heart()
    with pytest.raises(ip.InvalidOptionError, match="confidence goes with max_leakage alone"):
        ip.release_mechanism(joint, max_leakage=0.01, max_lift=0.1, confidence=0.95)
    with pytest.raises(ip.InvalidOptionError, match="confidence goes with max_leakage alone"):
        ip.release_mechanism(joint, max_lift=0.1, confidence=0.95)
    rng = np.random.default_rng(0)
    many = ip.Joint.from_counts(
        rng.multinomial(4000, ip.datasets.paper_uniform().p_xy.ravel()).reshape(ip.datasets.paper_uniform().shape)
    )
    found = ip.release_mechanism(many, max_leakage=0.05, confidence=0.95, rng=0, max_seconds=2)
    assert found.confidence == 0.95
    assert found.leakage_bound.bound <= 0.05


# -- what is kept is a target U ---------------------------------------------------------------------------------------------


def tasks(seed, n=6, m=3, s=3):
    P = np.random.default_rng(seed).dirichlet(np.full(n * m * s, 0.7)).reshape(n, m, s)
    return ip.TaskJoint(
        ip.Joint.from_matrix(P.sum(axis=2), y_names="u"), ip.Joint.from_matrix(P.sum(axis=1), y_names="s")
    )


@pytest.mark.parametrize(("seed", "two_sided"), [(0, True), (1, False)])
def test_the_best_release_of_a_target_is_the_best_mixture_of_all_vertices(seed, two_sided):
    task = tasks(seed)
    eps, p_s = 0.25, task.hide.p_y
    V = vertices(task.hide.p_y_given_x, math.exp(-eps) * p_s * two_sided, np.minimum(math.exp(eps) * p_s, 1.0))
    best = linprog(entropies(task.keep.p_y_given_x @ V).sum(axis=0), A_eq=V, b_eq=task.keep.p_x)
    release = ip.release_mechanism(task, max_lift=eps, two_sided=two_sided, rng=0)
    assert release.certified
    assert release.utility == release.iuz == pytest.approx(task.keep.entropy_y - best.fun, abs=1e-6)
    assert lifts(task.hide, release.encoder).max() <= eps + 1e-11
    assert "I(U;Z)" in str(release)


def test_keeping_x_itself_as_a_target_is_the_plain_release():
    hide = ip.Joint.from_matrix(np.random.default_rng(5).dirichlet(np.ones(9)).reshape(3, 3), y_names="s")
    keep = ip.Joint.from_matrix(np.diag(hide.p_x), y_names="u")
    for terms in ({"max_lift": 0.2}, {"max_lift": 0.3, "max_leakage": 0.01}, {"max_leakage": 0.01}):
        as_task, plain = (ip.release_mechanism(one, **terms, rng=0) for one in (ip.TaskJoint(keep, hide), hide))
        assert as_task.certified
        assert as_task.utility == pytest.approx(plain.ixz, abs=2e-6)
        assert as_task.isz <= terms.get("max_leakage", 1.0) + 1e-12


def test_letters_of_a_task_may_come_in_two_orders():
    task = tasks(3)
    order = [3, 1, 5, 0, 4, 2]
    keep = ip.Joint.from_matrix(task.keep.p_xy[order], x_labels=order, y_names="u")
    turned = ip.release_mechanism(ip.TaskJoint(keep, task.hide), max_lift=0.2, rng=0)
    assert turned.joint is task.hide
    assert turned.utility == pytest.approx(ip.release_mechanism(task, max_lift=0.2, rng=0).utility, abs=2e-6)
    assert lifts(task.hide, turned.encoder).max() <= 0.2 + 1e-11


def test_a_smallest_group_and_no_confidence_for_a_target():
    rng = np.random.default_rng(0)
    x, u, s = rng.integers(5, size=400), rng.integers(2, size=400), rng.integers(2, size=400)
    frame = pd.DataFrame({"x": x, "u": (u + x) % 3, "s": (s * x) % 2})
    task = ip.TaskJoint.from_frame(frame, "x", "u", "s")
    release = ip.release_mechanism(task, max_lift=0.3, min_group=60, rng=0, max_cells=500)
    assert release.smallest_group >= 60 - 1e-6
    assert release.gap >= -1e-9
    assert np.abs(lifts(task.hide, release.encoder)).max() <= 0.3 + 1e-9
    with pytest.raises(ip.InvalidOptionError, match="confidence is for a release that keeps X"):
        ip.release_mechanism(task, max_leakage=0.1, confidence=0.9)


def test_values_for_a_fraction_of_a_record_are_counted_in_words(of_ten):
    joint = ip.datasets.heart()
    kept = ip.release_mechanism(joint, max_lift=0.3 * BIT, rng=0)
    few = int((kept.p_z * joint.records < 1.0).sum())
    assert few > 0
    assert f"{few} of {kept.clusters} released value" in str(kept)
    assert "less than one record" not in str(of_ten)


def test_few_groups_keep_no_more_than_the_log_of_their_number(tmp_path):
    """24 records, each with a value of its own: 6 groups of 4 at most."""
    joint = ip.Joint.from_counts(np.eye(2)[np.arange(24) % 3 // 2])
    kept = ip.release_mechanism(joint, max_leakage=0.1, min_group=4, rng=0, max_seconds=2.0)
    assert kept.utility <= kept.upper_bound <= math.log(6) + 1e-12
    kept.save(tmp_path / "r.npz")
    assert ip.verify(tmp_path / "r.npz")[0].verdict.name == "VERIFIED"
