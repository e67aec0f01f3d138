"""Which clusters of an encoder say the same."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import strategies
import verify
from infoplane import Joint, bottleneck, gnid
from infoplane.encoder.encoder import (
    SAME_POSTERIOR,
    Cluster,
    by_mass,
    cluster_names,
    compact,
    distinct_clusters,
    predicted,
    told,
)
from infoplane.information import mutual_information
from infoplane.solution import Residuals, Solution, Status


@settings(max_examples=60, deadline=None)
@given(strategies.chains(), st.lists(st.floats(0.05, 0.95), min_size=6, max_size=6))
def test_splitting_a_cluster_in_proportion_adds_none(chain, shares):
    joint, W = chain
    whole = distinct_clusters(W, joint.p_x)
    parts = np.array(shares[: len(W)])[:, None]
    split = distinct_clusters(np.vstack([parts * W, (1 - parts) * W]), joint.p_x)
    q = W * joint.p_x / np.maximum((W @ joint.p_x)[:, None], 1e-300)
    tv = 0.5 * np.abs(q[:, None] - q[None]).sum(axis=2)
    clear = np.all((tv < 0.5 * SAME_POSTERIOR) | (tv > 2 * SAME_POSTERIOR)) and np.all(
        ((W @ joint.p_x) > 1e-4) | ((W @ joint.p_x) == 0)
    )
    if clear:
        assert len(split) == len(whole)
    assert 1 <= len(whole) <= len(W)
    assert len({z for group in split for z in group}) == sum(len(group) for group in split)


@settings(max_examples=60, deadline=None)
@given(strategies.chains(), st.integers(1, 3))
def test_compacting_changes_neither_information(chain, copies):
    joint, W = chain
    split = np.vstack([W / copies] * copies)
    found = compact(split, joint.p_x)
    assert len(found) <= len(W)
    seen = joint.p_x > 0
    before, after = (verify.mutual_informations(joint.p_xy, V) for V in (W, found))
    # Posteriors within 0.01 of each other are made one, which costs a little of both.
    assert all(abs(x - y) < 0.1 for x, y in zip(before, after, strict=True))
    np.testing.assert_allclose(found.sum(axis=0)[seen], 1.0)


def pairwise(W, p_x):
    """The same groups, from the distances of all pairs."""
    p_z = W @ p_x
    q = W * p_x / np.where(p_z > 0.0, p_z, 1.0)[:, None]
    groups = []
    for z in (int(z) for z in np.argsort(-p_z, kind="stable") if p_z[z] > 1e-12):
        distance = [0.5 * np.abs(q[group[0]] - q[z]).sum() for group in groups]
        if groups and min(distance) <= SAME_POSTERIOR:
            groups[int(np.argmin(distance))].append(z)
        else:
            groups.append([z])
    return groups


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10_000))
def test_groups_are_those_of_all_pairs(seed):
    rng = np.random.default_rng(seed)
    p_x = rng.dirichlet(np.ones(12))
    few = rng.dirichlet(np.full(12, 0.3), size=4)
    W = few[rng.integers(0, 4, 15)] * np.exp(rng.uniform(-0.03, 0.03, (15, 12))) / p_x * rng.random((15, 1))
    W /= W.sum(axis=0)
    assert distinct_clusters(W, p_x, smallest=1e-12) == pairwise(W, p_x)


# "the" is the most frequent letter everywhere; "goal" and "vote" are what the topics are about.
WORDS = Joint.from_counts(
    [[50, 50, 1], [30, 0, 0], [0, 20, 0], [0, 19, 0]],
    x_labels=["the", "goal", "vote", "law"],
    y_labels=["sport", "politics", "other"],
)
ENCODER = np.array([[0.5, 1.0, 0.0, 0.0], [0.5, 0.0, 1.0, 1.0], [0.0, 0.0, 0.0, 0.0]])


def solution():
    return Solution(WORDS, bottleneck(0.2), ENCODER, Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))


def test_largest_first_and_typical_letters_before_frequent_ones():
    first, second, empty = by_mass(WORDS, ENCODER, 2)
    assert (first.z, second.z, empty.z) == (1, 0, 2)
    assert first.mass > second.mass > empty.mass == 0.0
    assert [WORDS.x_labels[x] for x in first.typical] == ["vote", "law"]
    assert [WORDS.x_labels[x] for x in second.typical] == ["goal"]  # "the" is said of everything
    assert empty.typical == ()
    assert first.letters == 3
    assert first.p_y == pytest.approx(ENCODER[1] @ WORDS.p_xy / first.mass)
    assert predicted(first, WORDS.y_labels, 2) == "politics 0.72, sport 0.28"


def test_what_letters_tell_adds_up_to_the_information():
    rng = np.random.default_rng(0)
    joint = Joint.from_counts(rng.poisson(1.0, size=(12, 5)) * rng.integers(0, 2, size=(12, 5)) + np.eye(12, 5))
    W = rng.dirichlet(np.full(4, 0.3), size=12).T
    P, p_y = joint.p_xy, joint.p_y
    for z in range(4):
        p_zy = W[z] @ P
        twin = [
            W[z, x] * math.fsum(P[x, y] * math.log(p_zy[y] / p_zy.sum() / p_y[y]) for y in range(5) if P[x, y] > 0.0)
            for x in range(12)
        ]
        np.testing.assert_allclose(told(joint, W[z]), twin, atol=1e-15)
    assert sum(told(joint, row).sum() for row in W) == pytest.approx(mutual_information(W @ P), abs=1e-13)
    thin = Joint.from_matrix(sparse.csr_array(P))
    np.testing.assert_allclose(told(thin, W[0]), told(joint, W[0]), atol=1e-15)


def test_under_a_uniform_prior_the_letters_that_distinguish_a_cluster_come_first():
    # All of the same mass, in one hard cluster each: only p(y|x) tells letters apart, not the alphabet.
    counts = [[50, 50], [75, 25], [95, 5], [80, 20], [35, 65], [30, 70], [1, 99]]
    joint = Joint.from_counts(counts, x_labels=list("abcdefg"))
    W = np.array([[1, 1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1, 1]], dtype=float)
    first, second = by_mass(joint, W, 9)
    assert [joint.x_labels[x] for x in first.typical] == [
        "c",
        "d",
        "b",
    ]  # a is average, and says nothing of the cluster
    assert [joint.x_labels[x] for x in second.typical] == ["g", "f", "e"]


def test_a_letter_that_speaks_against_its_cluster_is_not_typical_of_it():
    joint = Joint.from_counts([[9, 1], [8, 2], [1, 9], [5, 95]], x_labels=["agrees", "too", "against", "other"])
    (_, mixed) = by_mass(joint, np.array([[1.0, 1.0, 1.0, 0.0], [0.0, 0.0, 0.0, 1.0]]), 9)
    assert [joint.x_labels[x] for x in mixed.typical] == ["agrees", "too"]


def test_clusters_that_say_nothing_of_y_show_what_is_rarer_elsewhere():
    joint = Joint.from_counts([[1, 1], [3, 3], [2, 2], [2, 2]], x_labels=list("abcd"))
    one, two = by_mass(joint, np.array([[0.5, 0.0, 1.0, 1.0], [0.5, 1.0, 0.0, 0.0]]), 2)
    assert [joint.x_labels[x] for x in one.typical] == ["c", "d"]
    assert [joint.x_labels[x] for x in two.typical] == ["b", "a"]


def test_labels_are_the_largest_cluster_of_every_letter():
    found = solution().labels()
    assert found.to_dict() == {"the": 0, "goal": 0, "vote": 1, "law": 1}
    assert (found.name, found.index.name) == ("cluster", WORDS.x_names[0])
    hard = np.eye(3)[:, found.to_numpy()]
    assert gnid(WORDS, found.iloc[::-1], hard) == pytest.approx(0.0, abs=1e-12)
    frame = pd.DataFrame({"u": list("aabb"), "v": [1, 2, 1, 2], "y": [0, 1, 1, 0]})
    joint = Joint.from_frame(frame, ["u", "v"], "y")
    pair = Solution(joint, bottleneck(0.2), np.eye(4), Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))
    assert pair.labels().index.names == ["u", "v"]
    assert pair.labels().loc[("b", 1)] == 2


def test_one_cluster_shows_the_most_frequent_letters():
    (only,) = by_mass(WORDS, np.ones((1, 4)), 2)
    assert [WORDS.x_labels[x] for x in only.typical] == ["the", "goal"]


def test_frame_has_a_row_for_each_cluster():
    frame = solution().clusters_frame(letters=1)
    assert frame.index.tolist() == [1, 0, 2]
    assert frame.columns.tolist() == ["p_z", "letters", "typical", "p(sport|z)", "p(politics|z)", "p(other|z)"]
    assert frame.typical.tolist() == [("vote",), ("goal",), ()]
    assert frame.iloc[0, 3:].sum() == pytest.approx(1.0)


def test_labels_of_equal_text_keep_their_columns():
    joint = Joint.from_counts([[1, 2], [2, 1]], y_labels=[1, "1"])
    made = Solution(joint, bottleneck(0.2), np.eye(2), Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))
    assert made.clusters_frame().shape == (2, 5)


def test_representation_is_one_line_with_units():
    made = solution()
    assert "\n" not in repr(made)
    assert repr(made).startswith("Solution(bottleneck, γ = 0.2: loss ")
    for part in ("nats", "I(X;Z)", "I(Y;Z)", "bits", "3 clusters", "STATIONARY"):
        assert part in repr(made)


def test_notebook_shows_the_clusters_and_escapes_labels():
    joint = Joint.from_counts([[3, 1], [1, 3]], x_labels=["<b>", "&"], y_labels=["u", "<i>"])
    made = Solution(joint, bottleneck(0.2), np.eye(2), Status.STATIONARY, "by hand", 1, 0.0, Residuals(0.0, 0.0, 0.0))
    html = made._repr_html_()
    assert "&lt;b&gt;" in html
    assert "<b>" not in html
    assert "&lt;i&gt; 0.75" in html


def test_a_cluster_is_called_by_what_sets_it_apart():
    """Contributions to D(p(x|z) || p(x)) by hand: "the" adds .627 log(.627/.594) to the first, and takes from the second, where it is
    only counted."""
    assert cluster_names(WORDS, ENCODER) == ["goal; the", "vote; law; 1 more", ""]
    assert cluster_names(WORDS, ENCODER, 1) == ["goal; 1 more", "vote; 2 more", ""]
    assert solution().cluster_names(1).tolist() == cluster_names(WORDS, ENCODER, 1)
    assert cluster_names(WORDS, np.ones((1, 4))) == ["the; goal; vote; 1 more"]


def test_what_is_said_of_several_targets_is_said_of_each():
    cluster = Cluster(0, 1.0, 2, (0,), np.array([0.4, 0.6, 0.7, 0.3]))
    labels = (("keep income", "high"), ("keep income", "low"), ("hide sex", "f"), ("hide sex", "m"))
    assert predicted(cluster, labels, 3) == "keep income: low 0.60, high 0.40; hide sex: f 0.70, m 0.30"
    assert predicted(cluster._replace(p_y=np.array([0.4, 0.6])), ("ham", "spam"), 1) == "spam 0.60"
