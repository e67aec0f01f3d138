"""The certified information plane: no encoder beyond its proven curve, no run outside the band, the band as narrow as it should be."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.frontier.enclosure import Line, enclosure, lowest, supporting_line
from infoplane.information import bits, plane_points

NONUNIFORM = ip.datasets.paper_nonuniform()


@pytest.fixture(scope="module")
def bottlenecks():
    return ip.sweep(NONUNIFORM, ip.bottleneck, [0.05, 0.15, 0.3, 0.5, 0.8], certify=True)


@pytest.fixture(scope="module")
def funnels():
    return ip.sweep(NONUNIFORM, ip.funnel, [1.2, 2.0, 4.0, 10.0], certify=True)


def encoders(letters, rng, count=400):
    """Of all shapes: noisy ones, nearly deterministic ones, and hard maps."""
    soft = [
        rng.dirichlet(np.full(z, a), size=letters).T for z in (2, 3, 4) for a in (0.05, 0.3, 1.0) for _ in range(count)
    ]
    hard = [np.eye(letters)[:, rng.integers(0, letters, letters)] for _ in range(count)]
    return soft + hard


def test_no_encoder_of_a_bottleneck_lies_above_the_band(bottlenecks):
    found = bottlenecks.enclosure()
    for point in plane_points(NONUNIFORM, encoders(3, np.random.default_rng(0))):
        assert bits(point.iyz) <= found.at(min(bits(point.ixz), found.ixz_bits[-1]))[1] + 1e-12


def test_no_encoder_of_a_funnel_lies_below_the_band(funnels):
    found = funnels.enclosure()
    assert found.hides_y
    for point in plane_points(NONUNIFORM, encoders(3, np.random.default_rng(1))):
        assert bits(point.iyz) >= found.at(min(bits(point.ixz), found.ixz_bits[-1]))[0] - 1e-12


@pytest.mark.parametrize("family", ["bottlenecks", "funnels"])
def test_certified_runs_lie_in_the_band_and_pin_it_down(family, request):
    frontier = request.getfixturevalue(family)
    found = frontier.enclosure()
    assert found.proven == len(frontier)
    for run in frontier.runs:
        low, high = found.at(bits(run.ixz))
        assert low - 1e-12 <= bits(run.iyz) <= high + 1e-12
        # The line of a bottleneck's bound passes the run at a distance of its gap, that of a funnel's at gap / beta.
        assert high - low <= bits(run.gap) * (1.0 if family == "bottlenecks" else 1.0 / run.parameter) + 1e-12
    table = found.to_frame()
    assert (table.gap_bits >= 0.0).all()
    assert table.ixz_bits.iloc[0] == 0.0
    assert table.ixz_bits.iloc[-1] == pytest.approx(bits(NONUNIFORM.entropy_x))
    assert table.iyz_high_bits.iloc[-1] == pytest.approx(bits(NONUNIFORM.mutual_information))
    assert found.gap_bits == table.gap_bits.max()
    assert found.widest_bits == table.ixz_bits[table.gap_bits.idxmax()]


def test_the_band_holds_what_a_finer_sweep_finds(bottlenecks):
    coarse = bottlenecks.enclosure()
    fine = ip.sweep(NONUNIFORM, ip.bottleneck, np.geomspace(0.05, 0.8, 24), certify=True)
    for run in fine.runs:
        low, high = coarse.at(bits(run.ixz))
        assert low - 2e-6 <= bits(run.iyz) <= high + 1e-12
    assert fine.enclosure().gap_bits < 0.5 * coarse.gap_bits


def test_a_frontier_that_is_a_straight_line_is_known_exactly():
    """Y is a function of X: I(Y;Z) = I(X;Z) up to H(Y), and Z = Y tells all of it, though Z = X tells no more."""
    joint = ip.Joint.from_counts(np.repeat(np.eye(2), 2, axis=0))
    found = ip.sweep(joint, ip.bottleneck, [0.5], certify=True).enclosure()
    assert found.gap_bits < 1e-9
    assert found.at(0.25) == pytest.approx((0.25, 0.25))
    assert found.at(1.5) == pytest.approx((1.0, 1.0))


def test_a_loose_bound_widens_the_band_where_it_stands(bottlenecks):
    loose = ip.Frontier(NONUNIFORM, [run.bounded(run.lower_bound - 0.01, 1e-6) for run in bottlenecks.runs]).enclosure()
    place = bits(bottlenecks.runs[2].ixz)
    assert loose.at(place)[1] == pytest.approx(bottlenecks.enclosure().at(place)[1] + bits(0.01))
    assert loose.at(place)[0] == bottlenecks.enclosure().at(place)[0]


def test_multiples_of_a_problem_say_the_same():
    problem = ip.bottleneck(0.3)
    twice = ip.MarkovLagrangian(*(2.0 * rho for rho in problem.rho))
    assert supporting_line(twice, -0.4) == pytest.approx(supporting_line(problem, -0.2))
    funnel = ip.funnel(3.0)
    twice = ip.MarkovLagrangian(*(2.0 * rho for rho in funnel.rho))
    assert supporting_line(twice, -0.4) == pytest.approx(supporting_line(funnel, -0.2))


def test_it_survives_saving(bottlenecks, tmp_path):
    bottlenecks.save(tmp_path / "f.npz")
    again = ip.Frontier.load(tmp_path / "f.npz").enclosure()
    assert again.to_frame().equals(bottlenecks.enclosure().to_frame())


def test_it_is_refused_without_a_proof_or_for_two_kinds_at_once(bottlenecks, funnels):
    unproven = ip.sweep(NONUNIFORM, ip.bottleneck, [0.3], starts=1, rng=0)
    for frontier in (unproven, bottlenecks + funnels, ip.Frontier(NONUNIFORM, [])):
        with pytest.raises(ip.InvalidOptionError, match="certify=True"):
            enclosure(frontier)
    with pytest.raises(ip.InvalidOptionError, match="ixz_bits"):
        bottlenecks.enclosure().at(7.0)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=1, max_size=8))
def test_the_kinks_of_the_lowest_line(pairs):
    """Between kinks the lowest line is straight: it is the interpolation of its values at them."""
    lines = [Line(float(a), float(b)) for a, b in pairs]
    kinks = lowest(lines, 4.0)
    assert kinks[0] == 0.0
    assert kinks[-1] == 4.0
    assert (np.diff(kinks) >= 0.0).all()
    everywhere = np.linspace(0.0, 4.0, 81)

    def least(ixz):
        return np.min([line.slope * ixz + line.height for line in lines], axis=0)

    np.testing.assert_allclose(np.interp(everywhere, kinks, least(kinks)), least(everywhere), atol=1e-9)
