"""`Frontier.at`: the target is met, by a run, by a mixture where the curve is straight, by a refined parameter elsewhere."""

import math
import time
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import infoplane as ip
import strategies
import verify
from infoplane.frontier.geometry import FrontierPoint
from infoplane.frontier.target import chord_parameter, mixed_encoder, vertices
from infoplane.information import bits
from infoplane.runtime import budget
from infoplane.solution import Status
from made_up import run_of

MET = 1e-6


def erasure(letters=3, erased=0.4, p_x=None):
    """Y is X, or lost: I(Y;Z) = (1 - erased) I(X;Z) for every encoder, so that the whole frontier is one straight piece."""
    p_x = np.full(letters, 1 / letters) if p_x is None else np.asarray(p_x)
    return ip.Joint.from_matrix(np.column_stack([(1 - erased) * np.diag(p_x), erased * p_x]))


def checked(solution):
    verify.check_solution(solution.joint.p_xy, solution.problem.rho, solution)
    assert solution.loss == pytest.approx(
        verify.lagrangian(solution.joint.p_xy, solution.encoder, solution.problem.rho)
    )
    return solution


@pytest.fixture(scope="module")
def bottleneck():
    joint = ip.datasets.paper_nonuniform()
    return ip.sweep(joint, ip.bottleneck, np.geomspace(0.1, 1, 6), "drs", starts=3, rng=0)


@pytest.fixture(scope="module")
def funnel():
    return ip.sweep(ip.datasets.paper_uniform(), ip.funnel, np.geomspace(1.2, 20, 8), "drs", starts=4, rng=0)


# -- straight pieces ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.1, 0.5, 0.93])
@pytest.mark.parametrize("p_x", [[0.5, 0.5], [0.2, 0.3, 0.5], [0.6, 0.4, 0.0]])
def test_a_straight_piece_is_met_exactly(p_x, share):
    joint = erasure(p_x=p_x, erased=0.4)
    frontier = ip.sweep(joint, ip.bottleneck, [0.3, 0.9], "drs", starts=2, rng=0)
    h = bits(joint.entropy_x)
    found = checked(frontier.at(ixz_bits=share * h))
    assert bits(found.ixz) == pytest.approx(share * h, abs=1e-9)
    assert bits(found.iyz) == pytest.approx(0.6 * share * h, abs=1e-9)
    # By mixing the ends, or by a stationary encoder that happens to lie there: every point of the piece is optimal.
    assert found.solver.startswith("mixture: ") or found.solver.endswith("(refined)")
    assert found.parameter == pytest.approx(0.6, abs=1e-6)  # the slope of the piece
    by_y = checked(frontier.at(iyz_bits=0.6 * share * h))
    assert bits(by_y.ixz) == pytest.approx(share * h, abs=1e-9)


def test_a_funnel_without_choice_is_met_exactly():
    joint = erasure(letters=2, erased=0.5)
    frontier = ip.sweep(joint, ip.funnel, [1.1, 6.0], "drs", starts=4, rng=0)
    found = checked(frontier.at(iyz_bits=0.2))
    assert bits(found.iyz) == pytest.approx(0.2, abs=1e-9)
    assert bits(found.ixz) == pytest.approx(0.4, abs=1e-9)
    assert "mixture" in found.solver


def test_a_mixture_of_proven_ends_is_proven():
    """min L is concave in the parameter, so that the chord of two bounds is a bound; here it is tight."""
    joint = erasure(letters=2)
    swept = ip.sweep(joint, ip.bottleneck, [0.3, 0.6, 0.9], "drs", starts=2, rng=0)
    proven = ip.Frontier(joint, [replace(run, lower_bound=run.loss - 1e-9) for run in swept.runs])
    found = proven.at(ixz_bits=0.4)
    assert found.status is Status.CERTIFIED
    assert 0.0 <= found.gap < 1e-7
    assert swept.at(ixz_bits=0.4).gap is None


# -- curved pieces -----------------------------------------------------------------------------------------------------


def curve(frontier, axis):
    points = vertices(frontier)
    return [bits(point.along(axis)) for point in points]


@pytest.mark.parametrize(("axis", "share"), [("ixz", 0.3), ("ixz", 0.85), ("iyz", 0.3), ("iyz", 0.6)])
@pytest.mark.parametrize("which", ["bottleneck", "funnel"])
def test_targets_are_met_and_nothing_known_is_better(which, axis, share, request):
    frontier = request.getfixturevalue(which)
    low, high = curve(frontier, axis)[0], curve(frontier, axis)[-1]
    target = low + share * (high - low)
    found = checked(frontier.at(**{f"{axis}_bits": target}))
    assert bits(getattr(found, axis)) == pytest.approx(target, abs=MET)
    assert found.status in (Status.STATIONARY, Status.ALMOST)
    # On or beyond every chord between two runs of the sweep, and below no tangent: no run has a lower loss at its parameter.
    sign = -1.0 if frontier.hides_y else 1.0
    chord = np.interp(bits(found.ixz), curve(frontier, "ixz"), curve(frontier, "iyz"))
    assert sign * (bits(found.iyz) - chord) >= -1e-6
    assert found.loss <= min(found.problem.value(frontier.joint, run.encoder) for run in frontier.runs) + 1e-7


def test_a_finer_sweep_finds_nothing_better(bottleneck):
    fine = ip.sweep(bottleneck.joint, ip.bottleneck, np.geomspace(0.1, 1, 30), "drs", starts=2, rng=1)
    u, v = curve(fine, "ixz"), curve(fine, "iyz")
    for target in np.linspace(u[0], u[-1], 6)[1:-1]:
        found = bottleneck.at(ixz_bits=target)
        assert bits(found.iyz) >= np.interp(target, u, v) - 1e-6


def test_a_curved_piece_is_refined(bottleneck):
    u = curve(bottleneck, "ixz")
    found = bottleneck.at(ixz_bits=0.5 * (u[1] + u[2]))
    assert found.solver.endswith("(refined)")
    ends = [point.parameter for point in vertices(bottleneck)[1:3]]
    assert min(ends) < found.parameter < max(ends)
    assert found.iterations > 0
    assert found.problem == ip.bottleneck(found.parameter)


@pytest.mark.parametrize("family", [lambda g: ip.generalised_bottleneck(g, a=0.5), ip.deterministic_bottleneck])
def test_other_members_are_met_too(family):
    joint = ip.datasets.paper_uniform()
    frontier = ip.sweep(joint, family, [0.1, 0.5, 0.9], "drs", starts=3, rng=0, max_iter=3000)
    u = curve(frontier, "ixz")
    assert u[-1] - u[0] > 0.5
    found = checked(frontier.at(ixz_bits=0.5 * (u[0] + u[-1]), max_iter=3000))
    assert bits(found.ixz) == pytest.approx(0.5 * (u[0] + u[-1]), abs=MET)
    assert found.problem.family == frontier.runs[0].problem.family


def test_an_unknown_family_is_mixed_only():
    joint = ip.datasets.paper_uniform()
    frontier = ip.sweep(joint, lambda g: ip.MarkovLagrangian(g - 1.0, -g, 1.0), [0.1, 0.3, 0.6], "drs", starts=3, rng=0)
    found = checked(frontier.at(ixz_bits=0.5))
    assert bits(found.ixz) == pytest.approx(0.5, abs=1e-9)
    assert "unknown family: nothing was refined" in found.solver
    assert found.iterations == 0


def test_a_run_that_is_there_is_returned(bottleneck):
    point = vertices(bottleneck)[2]
    found = bottleneck.at(iyz_bits=bits(point.run.iyz) + 5e-7)
    np.testing.assert_array_equal(found.encoder, point.run.encoder)
    assert found.solver == point.run.solver
    with pytest.raises(ValueError, match="read-only"):
        found.encoder[:] = 0.0


# -- refusals ----------------------------------------------------------------------------------------------------------


def test_targets_out_of_reach_are_refused_with_the_range(bottleneck, funnel):
    for frontier in (bottleneck, funnel):
        for axis in ("ixz", "iyz"):
            u = curve(frontier, axis)
            for target in (u[0] - 0.01, u[-1] + 0.01):
                with pytest.raises(ip.InvalidOptionError, match=rf"from {u[0]:.6f} to {u[-1]:.6f} bits"):
                    frontier.at(**{f"{axis}_bits": target})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "one target"),
        ({"ixz_bits": 0.5, "iyz_bits": 0.2}, "one target"),
        ({"ixz_bits": math.nan}, "finite number"),
        ({"iyz_bits": "0.2"}, "finite number"),
        ({"iyz_bits": True}, "finite number"),
        ({"iyz_bits": np.complex128(0.2)}, "finite number"),
    ],
)
def test_bad_targets(bottleneck, options, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        bottleneck.at(**options)


def test_no_runs_and_two_families_are_refused(bottleneck):
    joint = bottleneck.joint
    with pytest.raises(ip.InvalidOptionError, match="without runs"):
        ip.Frontier(joint, []).at(ixz_bits=0.1)
    both = bottleneck + ip.sweep(joint, ip.funnel, [2.0], "merging")
    with pytest.raises(ip.InvalidOptionError, match="several families"):
        both.at(ixz_bits=0.1)
    two = ip.Frontier(joint, [run_of(joint, np.eye(3), ip.generalised_bottleneck(g, a=g), g) for g in (0.25, 0.5)])
    with pytest.raises(ip.InvalidOptionError, match="several families"):
        two.at(ixz_bits=0.1)


def test_a_funnels_leakage_target_is_a_cap():
    """And no worse than the time-sharing of the runs on either side of it."""
    joint = ip.Joint.from_counts(ip.datasets.heart().p_xy[::2])
    swept = ip.sweep(joint, ip.funnel, np.geomspace(1.5, 20.0, 6), starts=2, rng=0)
    low, high = (bits(value) for value in np.sort([run.iyz for run in swept.runs])[[0, -1]])
    leaks, kept = zip(*sorted((bits(run.iyz), bits(run.ixz)) for run in swept.runs), strict=True)
    for target in np.linspace(low, high, 4)[1:-1]:
        for limits in ({}, {"max_seconds": 1e-9}):
            found = swept.at(iyz_bits=target, **limits)
            assert bits(found.iyz) <= target
            assert bits(found.ixz) >= np.interp(target, leaks, kept) - 1e-6


def test_no_time_to_refine_gives_the_time_sharing_of_the_nearest_runs():
    swept = ip.sweep(ip.datasets.heart(), ip.bottleneck, [0.05, 0.2], rng=0)
    found = swept.at(ixz_bits=1.0, max_seconds=1e-9)
    assert found.solver.startswith("mixture")
    assert bits(found.ixz) == pytest.approx(1.0, abs=1e-6)
    refined = swept.at(ixz_bits=1.0)
    assert refined.iyz > found.iyz


class Compiling(ip.Accelerated):
    """Has a kernel compiled for a thousand seconds, by the clock of the test, before every run."""

    def run(self, job):
        budget.compiled_for[0] = budget.compiled_for.get(0, 0.0) + 1000.0
        return super().run(job)


def test_the_time_to_refine_is_not_that_of_the_compiler(monkeypatch):
    swept = ip.sweep(ip.datasets.heart(), ip.bottleneck, [0.05, 0.2], rng=0)
    real, compiled = time.perf_counter, {}
    monkeypatch.setattr(budget, "compiled_for", compiled)
    monkeypatch.setattr(time, "perf_counter", lambda: real() + sum(compiled.values()))
    found = swept.at(ixz_bits=1.0, solver=Compiling(), max_seconds=900.0)
    assert found.solver == "accelerated (refined)"


@pytest.mark.parametrize("seconds", [0.0, -1.0, True, "soon"])
def test_seconds_that_are_none_are_refused(seconds):
    swept = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.4], rng=0)
    with pytest.raises(ip.InvalidOptionError, match="max_seconds"):
        swept.at(ixz_bits=1.2, max_seconds=seconds)


@settings(max_examples=60, deadline=None)
@given(st.data(), strategies.joints(), st.floats(0.0, 1.0))
def test_information_is_linear_in_the_weight(data, joint, share):
    a, b = (FrontierPoint(run_of(joint, data.draw(strategies.encoders(joint.shape[0]))), 0.5) for _ in range(2))
    a, b = (a, b) if a.run.ixz <= b.run.ixz else (b, a)
    assume(b.run.ixz - a.run.ixz > 1e-6)
    target = a.run.ixz + share * (b.run.ixz - a.run.ixz)
    w, W = mixed_encoder(a, b, "ixz", target)
    verify.check_encoder(joint.p_xy, W)
    assert len(W) == len(a.run.encoder) + len(b.run.encoder)
    ixz, iyz = verify.mutual_informations(joint.p_xy, W)
    assert ixz == pytest.approx(target, abs=1e-10)
    assert iyz == pytest.approx(w * a.run.iyz + (1 - w) * b.run.iyz, abs=1e-10)
    if b.run.iyz > a.run.iyz + 1e-6:
        theta = chord_parameter(a, b)
        if theta < 1.0:
            values = [ip.bottleneck(theta).value(joint, one.run.encoder) for one in (a, b)]
            assert values[0] == pytest.approx(values[1], abs=1e-10)
