"""The slope that a capped funnel reports, and what caps owe each other."""

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.certificate.funnel.leakage import capped_curve, first_programme
from infoplane.joint.joint import Support
from infoplane.runtime.budget import Budget, Limits

HEART = ip.datasets.heart()


def cut_short(caps, cells=1):
    """Answers whose proof was never begun."""
    support, budget = Support(HEART), Budget()
    limits = Limits(1e-9, cells, 60.0)
    return capped_curve(support, first_programme(support, budget), caps, limits, budget)


def test_without_a_proof_beta_is_the_slope_and_not_that_of_the_trivial_line():
    (found,) = cut_short([0.01])
    assert not found.certified
    exact = ip.funnel_at_leakage(HEART, 0.01)
    assert exact.certified
    assert found.beta == pytest.approx(exact.beta, rel=0.5)
    assert found.beta > 1.5  # the trivial line has 1
    assert found.solution.problem.parameter == found.beta
    assert found.solution.lower_bound <= ip.solve(HEART, found.solution.problem, starts=4, rng=0).loss + 1e-9


def test_a_certified_beta_is_a_slope_of_the_frontier():
    """Finite differences of the exact curve on both sides enclose it."""
    caps, half = [0.008, 0.01, 0.012], ip.Joint.from_counts(HEART.p_xy[::2])
    low, here, high = (ip.funnel_at_leakage(half, cap, tol=1e-7) for cap in caps)
    assert (high.ixz - here.ixz) / 0.002 - 1e-3 <= here.beta <= (here.ixz - low.ixz) / 0.002 + 1e-3


def test_no_cap_answers_worse_than_a_smaller_one_or_a_mixture_of_its_neighbours():
    caps = [0.002, 0.01, 0.03]
    found = cut_short(caps)
    for one in found:
        W = np.asarray(one.encoder)
        ixz, iyz = verify.mutual_informations(HEART.p_xy, W)
        assert iyz <= one.max_iyz + 1e-12
        assert one.upper_bound >= ixz - 1e-9
    share = (caps[1] - caps[0]) / (caps[2] - caps[0])
    assert found[1].ixz >= (1 - share) * found[0].ixz + share * found[2].ixz - 1e-7
