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
@given(strategies.chains(), st.floats(0.05, 0.95))
def test_a_compact_encoder_says_the_same(chain, share):
    """Clusters split in proportion become one again; both informations are what they were."""
    joint, W = chain
    P = joint.p_xy.toarray() if joint.is_sparse else joint.p_xy
    merged = compact(np.vstack([share * W, (1 - share) * W]), joint.p_x)
    assert len(merged) <= len(W)
    np.testing.assert_allclose(merged.sum(axis=0), 1.0, atol=1e-12)
    q = W * joint.p_x / np.maximum((W @ joint.p_x)[:, None], 1e-300)
    apart = 0.5 * np.abs(q[:, None] - q[None]).sum(axis=2)
    if np.all((apart < 1e-9) | (apart > SAME_POSTERIOR)):
        for one, other in zip(verify.mutual_informations(P, merged), verify.mutual_informations(P, W), strict=True):
            assert abs(one - other) < 1e-6
