"""One more slope: cold, from the optimum below it, or from an encoder that somebody brings."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.frontier.curve import KnownCurve
from infoplane.frontier.next_optimum import optimum
from infoplane.options import RunOptions

JOINT = ip.datasets.paper_nonuniform()


def test_warm_and_cold_end_alike():
    curve = KnownCurve(JOINT, ip.bottleneck)
    cold = [optimum(curve, slope, RunOptions()) for slope in (0.1, 0.3)]
    curve.add(0.1, cold[0])
    warm = optimum(curve, 0.3, RunOptions())
    assert warm.loss == pytest.approx(cold[1].loss, abs=1e-9)
    assert warm.clusters <= cold[0].clusters
    assert all(run.converged and run.parameter == slope for run, slope in zip(cold, (0.1, 0.3), strict=True))


def test_from_a_given_encoder_it_only_descends():
    curve, W = KnownCurve(JOINT, ip.bottleneck), np.array([[0.9, 0.1, 0.8], [0.1, 0.9, 0.2]])
    run = optimum(curve, 0.3, RunOptions(), W)
    assert run.loss <= ip.bottleneck(0.3).value(JOINT, W)


def test_the_funnel():
    run = optimum(KnownCurve(JOINT, ip.funnel), -0.5, RunOptions())
    assert run.problem == ip.funnel(2.0)
    assert run.loss == pytest.approx(ip.solve(JOINT, ip.funnel(2.0), certify=True).loss, abs=1e-6)
