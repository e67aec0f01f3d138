"""Which clusters of an encoder say the same."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import strategies
import verify
from infoplane.encoder import SAME_POSTERIOR, compact, distinct_clusters


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
