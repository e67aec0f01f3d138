"""The certificate of an encoder for a bottleneck, through the one function that gives it."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.certificate.bottleneck.gap import certify_bottleneck
from infoplane.certificate.certificate import Limits
from infoplane.posterior.form import gamma_of


def test_multiples_of_a_bottleneck_are_certified_too():
    joint = ip.datasets.paper_uniform()
    one = certify_bottleneck(joint, ip.bottleneck(0.3), np.eye(3), Limits(tol=1e-8))
    three = certify_bottleneck(joint, ip.MarkovLagrangian(-2.1, -0.9, 3.0), np.eye(3), Limits(tol=3e-8))
    assert three.lower_bound == pytest.approx(3.0 * one.lower_bound, abs=1e-7)
    assert three.loss == pytest.approx(3.0 * one.loss, abs=1e-12)
    assert gamma_of(ip.MarkovLagrangian(1.0, -3.0, 2.0)) == 1.5


@pytest.mark.parametrize(
    "problem", [ip.funnel(2.0), ip.deterministic_bottleneck(0.2), ip.generalised_bottleneck(0.2, 0.5)]
)
def test_other_problems_are_refused_by_name(problem):
    with pytest.raises(ip.UnsupportedProblemError, match="rho_zx < 0 < rho_zy"):
        certify_bottleneck(ip.datasets.paper_uniform(), problem, np.eye(3), Limits())


def test_the_encoder_given_is_not_modified():
    joint, W = ip.datasets.paper_uniform(), np.eye(3)
    before = W.copy()
    certify_bottleneck(joint, ip.bottleneck(0.3), W, Limits())
    np.testing.assert_array_equal(W, before)
