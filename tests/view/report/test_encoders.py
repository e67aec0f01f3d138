from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.view.report.contents import encoder_columns, largest
from made_up import runs_of


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), clusters=st.integers(1, 12), most=st.integers(2, 8))
def test_columns_add_up_whatever_is_merged(seed, clusters, most):
    rng = np.random.default_rng(seed)
    joint = ip.Joint.from_counts(rng.random((7, 3)) * (rng.random((7, 3)) < 0.7) + 1e-9)
    run = runs_of(joint, [0.2], clusters=clusters, seed=seed)[0]
    # Some clusters coincide, some hold nothing.
    W = np.vstack([0.25 * run.encoder, 0.75 * run.encoder, np.zeros((2, 7))])
    found = encoder_columns(replace(run, encoder=W), largest(joint.p_x, 5), largest(joint.p_y, 3), most)
    assert len(found["clusters"]) <= most
    members = sorted(z for group in found["members"] for z in group)
    assert len(members) == len(set(members))
    np.testing.assert_allclose(np.sum(found["cells"], axis=0), 1000, atol=most / 2)
    np.testing.assert_allclose(np.sum(found["posteriors"], axis=1), 1000, atol=1.5)
    assert sum(found["p_z"]) == pytest.approx(1.0, abs=2e-3)
    assert found["differ"] <= clusters
