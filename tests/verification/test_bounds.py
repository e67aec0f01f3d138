"""Bounds without a search, against the optimum; multipliers of an optimal encoder."""

import numpy as np
import pytest

import infoplane as ip
from checker_cases import JOINTS, boxes_of, posteriors
from infoplane_verify.bounds import at_most_all, bottleneck_multipliers, contraction, funnel_multipliers


@pytest.mark.parametrize("name", JOINTS)
def test_they_are_below_every_certified_optimum(name):
    joint = JOINTS[name]()
    P = np.asarray(joint.p_xy)
    for gamma in (0.1, 0.5, 1.0):
        assert contraction(P, gamma) <= ip.solve(joint, ip.bottleneck(gamma), certify=True).loss + 1e-12
    for beta in (0.5, 2.0):
        assert at_most_all(P, beta) <= ip.solve(joint, ip.funnel(beta), certify=True).loss + 1e-12
    assert contraction(P, 1.0) == 0.0


def test_at_small_beta_the_funnels_bound_is_reached():
    joint = JOINTS["heart"]()
    assert at_most_all(np.asarray(joint.p_xy), 0.5) == pytest.approx(
        ip.solve(joint, ip.funnel(0.5), certify=True).loss, abs=1e-12
    )


@pytest.mark.parametrize(
    ("problem", "own", "parameter"),
    [(ip.bottleneck(0.2), bottleneck_multipliers, 0.2), (ip.funnel(2.5), funnel_multipliers, 2.5)],
)
def test_an_optimal_encoder_brings_its_own_multipliers(problem, own, parameter):
    joint = ip.datasets.paper_nonuniform()
    P = np.asarray(joint.p_xy)
    found = ip.solve(joint, problem, certify=1e-9)
    lam = own(P, found.encoder, parameter)
    boxes = boxes_of(joint, problem, lam=lam)
    assert (boxes.values(posteriors(3, np.random.default_rng(0)))[0] >= -1e-5).all()
    mass = found.encoder * P.sum(axis=1)
    assert np.abs(boxes.values(mass / mass.sum(axis=1, keepdims=True))[0]).max() < 1e-4
