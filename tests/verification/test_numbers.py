"""Numbers of an encoder against the tests' own checker, which shares no code with this one either."""

import numpy as np
import pytest
from hypothesis import given

import strategies
import verify
from infoplane_verify.numbers import entropy, recomputed

RHO = (-0.8, -0.2, 1.0)


@given(strategies.chains())
def test_informations_and_loss_are_those_of_explicit_sums(chain):
    joint, W = chain
    P = np.asarray(joint.p_xy)
    found = recomputed(P, W, RHO)
    assert (found.ixz, found.iyz) == pytest.approx(verify.mutual_informations(P, W), rel=0, abs=1e-12)
    assert found.loss == pytest.approx(verify.lagrangian(P, W, RHO), rel=0, abs=1e-12)


def test_entropy_takes_zeros():
    assert entropy(np.array([0.0, 0.5, 0.5])) == pytest.approx(np.log(2.0), rel=1e-15)
