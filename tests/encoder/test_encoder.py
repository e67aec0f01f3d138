"""Which clusters of an encoder say the same."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
import verify
from infoplane.encoder.encoder import SAME_POSTERIOR, compact, distinct_clusters


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
