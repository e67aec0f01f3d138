"""What a curve knows: its ends without a solver, its hull, and bounds from both sides."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.information import plane_point
from infoplane.systems.curve import EncoderLine, KnownCurve, optimum

JOINT = ip.datasets.paper_uniform()


def solved(curve, *slopes):
    for slope in slopes:
        curve.add(slope, ip.solve(JOINT, curve.problem(slope), "accelerated", starts=4, rng=0))
    return curve


def test_the_ends_of_the_bottleneck():
    curve = KnownCurve(JOINT, ip.bottleneck)
    assert curve.lines[0] == EncoderLine(0.0, 0.0)
    assert curve.lines[-1].u == pytest.approx(JOINT.entropy_x, abs=1e-12)
    assert curve.lines[-1].w == pytest.approx(JOINT.mutual_information, abs=1e-12)
    assert curve.solved == [0.0, 1.0]


def test_the_ends_of_the_funnel():
    curve = KnownCurve(JOINT, ip.funnel)
    assert curve.lines[-1].w == pytest.approx(-JOINT.mutual_information, abs=1e-12)
    assert [curve.parameter(slope) for slope in curve.solved] == [1.0, np.inf]
    assert curve.slope(4.0) == -0.25
    assert curve.problem(-0.25) == ip.funnel(4.0)


def test_letters_of_equal_conditionals_are_one():
    joint = ip.Joint.from_matrix([[0.1, 0.3], [0.05, 0.15], [0.3, 0.1]])
    end = KnownCurve(joint, ip.bottleneck).corners[-1].run
    assert end.clusters == 2
    assert end.iyz == pytest.approx(joint.mutual_information, abs=1e-14)


def test_heights_are_achieved_and_excesses_bound_them():
    curve = solved(KnownCurve(JOINT, ip.bottleneck), 0.1, 0.3, 0.5)
    rng = np.random.default_rng(0)
    for _ in range(50):
        line = curve.line(plane_point(JOINT, rng.dirichlet(np.full(3, 0.2), size=3).T))
        slope, excess = curve.nearest(line)
        assert slope in curve.solved
        assert excess == pytest.approx(curve.best_at(slope) - line.at(slope), abs=1e-15)
        assert -1e-9 <= curve.height(line.u) - line.w <= excess + 1e-12


def test_slopes_fall_with_u():
    curve = solved(KnownCurve(JOINT, ip.bottleneck), 0.1, 0.3, 0.5)
    for u in np.linspace(0.01, 1.0, 40):
        low, high = curve.slopes_around(u)
        assert low <= high
        assert low <= curve.chord(u) <= high
        assert low <= curve.guess(u) <= high
        assert low <= curve.middle(u) <= high


def test_an_answer_that_is_no_better_only_marks_its_slope():
    curve = solved(KnownCurve(JOINT, ip.bottleneck), 0.3)
    before = list(curve.lines)
    assert not curve.add(0.9, ip.solve(JOINT, ip.bottleneck(0.9), "accelerated", starts=1))
    assert curve.lines == before
    assert 0.9 in curve.solved
    assert curve.optimal_at(0.9)[0].clusters == 1


def test_an_encoder_above_the_hull_becomes_a_corner():
    curve = KnownCurve(JOINT, ip.bottleneck)
    below, above = (curve.made(0.3, np.array(W), "given") for W in ([[1, 1, 0], [0, 0, 1]], [[1, 0, 1], [0, 1, 0]]))
    assert not curve.admit(below)
    assert curve.admit(above)
    assert curve.height(above.ixz) == pytest.approx(above.iyz, abs=1e-15)


def test_proven_bounds():
    curve = KnownCurve(JOINT, ip.bottleneck)
    line = curve.line(plane_point(JOINT, np.array([[1, 1, 0], [0, 0, 1.0]])))
    # Without a proof, contraction and I(Y;Z) <= I(X;Y) bound it all the same.
    always = curve.proven_excess(line)
    assert curve.best_at(0.3) - line.at(0.3) < always <= JOINT.mutual_information - line.w + 1e-12
    curve.add(0.3, ip.solve(JOINT, ip.bottleneck(0.3), certify=True))
    assert curve.proven_excess(line) < always
    assert curve.proven_excess(line) == pytest.approx(curve.best_at(0.3) - line.at(0.3), abs=1e-6)
    assert curve.proven_excess(line) >= curve.best_at(0.3) - line.at(0.3)


NONUNIFORM = ip.datasets.paper_nonuniform()


def test_warm_and_cold_end_alike():
    curve = KnownCurve(NONUNIFORM, ip.bottleneck)
    cold = [optimum(curve, slope) for slope in (0.1, 0.3)]
    curve.add(0.1, cold[0])
    warm = optimum(curve, 0.3)
    assert warm.loss == pytest.approx(cold[1].loss, abs=1e-9)
    assert warm.clusters <= cold[0].clusters
    assert all(run.converged and run.parameter == slope for run, slope in zip(cold, (0.1, 0.3), strict=True))


def test_from_a_given_encoder_it_only_descends():
    curve, W = KnownCurve(NONUNIFORM, ip.bottleneck), np.array([[0.9, 0.1, 0.8], [0.1, 0.9, 0.2]])
    run = optimum(curve, 0.3, W)
    assert run.loss <= ip.bottleneck(0.3).value(NONUNIFORM, W)


def test_the_funnel():
    run = optimum(KnownCurve(NONUNIFORM, ip.funnel), -0.5)
    assert run.problem == ip.funnel(2.0)
    assert run.loss == pytest.approx(ip.solve(NONUNIFORM, ip.funnel(2.0), certify=True).loss, abs=1e-6)
