"""The certified information plane: no encoder beyond its proven curve, no run outside the band, the band as narrow as it should be."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.cli.frontier import print_runs, record
from infoplane.formatting import rounded
from infoplane.frontier.frontier import Frontier
from infoplane.frontier.geometry import BestAnswer, Line, enclosure, lowest, supporting_line
from infoplane.frontier.target import vertices
from infoplane.information import bits, plane_points
from infoplane.systems.efficiency import known
from infoplane.view.report.contents import Allowance, contents
from made_up import made_tasks, told

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
            enclosure(frontier.joint, frontier.runs)
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


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=12), st.booleans())
def test_the_hull_is_above_every_run(points, hides_y):
    """Against the obvious twin: a run is on the hull of all if and only if no pair of runs, mixed, beats it."""

    class Placed:
        def __init__(self, u, v, parameter):
            self.ixz, self.iyz, self.parameter = float(u), float(v), parameter
            self.problem = ip.funnel(2.0) if hides_y else ip.bottleneck(0.5)

    runs = [Placed(u, v, float(i)) for i, (u, v) in enumerate(points)]

    class Given:
        def __init__(self):
            self.runs, self.hides_y = runs, hides_y

        def best_answers(self):
            return [BestAnswer(row, run, run.parameter) for row, run in enumerate(runs)]

    sign = -1.0 if hides_y else 1.0
    hull = [(point.run.ixz, point.run.iyz) for point in vertices(Given())]
    assert hull == sorted(hull)
    assert all(b[1] >= a[1] for a, b in itertools.pairwise(hull))
    for run in runs:
        if hull[0][0] <= run.ixz <= hull[-1][0]:
            assert sign * run.iyz <= sign * np.interp(run.ixz, *zip(*hull, strict=True)) + 1e-9
    # Nothing better is left out at either end.
    if hides_y:
        assert hull[-1][0] == max(run.ixz for run in runs)
        assert hull[0][1] == min(run.iyz for run in runs)
    else:
        assert hull[-1][1] == max(run.iyz for run in runs)
        assert hull[0][0] == min(run.ixz for run in runs)


HEART = ip.datasets.heart()
GRID = [0.02, 0.05, 0.1]


def spoilt(family=ip.bottleneck, **options):
    """A sweep whose run at the middle parameter is the trivial encoder, as if it had got stuck."""
    found = ip.sweep(HEART, family, GRID, "accelerated", starts=2, rng=0, **options)
    return Frontier(
        HEART,
        [
            replace(run, encoder=np.ones((1, 16)), status=ip.Status.STALLED) if run.parameter == GRID[1] else run
            for run in found.runs
        ],
    )


@pytest.mark.parametrize("family", [ip.bottleneck, ip.deterministic_bottleneck, ip.funnel])
def test_every_encoder_counts_at_every_parameter(family):
    """The slow twin: every encoder at every problem."""
    found = spoilt(family)
    best = found.best()
    for (_, row), parameter in zip(best.iterrows(), GRID, strict=True):
        lowest = min(verify.lagrangian(HEART.p_xy, run.encoder, family(parameter).rho) for run in found.runs)
        assert row.parameter == parameter
        assert row.loss_nats <= lowest + 2e-9


def test_every_encoder_counts_at_every_weight_of_what_is_hidden():
    """With few clusters and one start sweeps end at several optima: by explicit sums none is lower elsewhere than the answer here."""
    tasks = made_tasks(12)
    found = ip.sweep(tasks, ip.task_funnel, np.linspace(0.5, 1.2, 5), rng=0, starts=1, clusters=3)
    gamma, informations = found.runs[0].problem.settled_gamma, [told(tasks, run.encoder) for run in found.runs]
    helped = 0
    for own, answer in zip(found.runs, found.best_answers(), strict=True):
        lowest = min(gamma * ixz - iuz + own.parameter * isz for ixz, iuz, isz in informations)
        assert answer.run.loss == pytest.approx(lowest, abs=2e-9)
        helped += own.loss > lowest + 1e-4
    assert helped


def test_an_encoder_from_elsewhere_is_judged_here_and_says_where_it_was_found():
    found = spoilt()
    best = found.best()
    row = best.iloc[1]
    assert row.found_at in (GRID[0], GRID[2])
    assert row.loss_nats < 0.0
    assert row.status not in ("STATIONARY", "CERTIFIED")
    assert found.runs[best.index[1]].parameter == row.found_at
    own = best.iloc[0]
    assert own.found_at == own.parameter == GRID[0]
    answer = found.best_answers()[1].run
    assert answer.residuals.stationarity > 1e-8
    assert "init=" in answer.message
    assert [run.loss for run in found.runs if run.parameter == GRID[1]] == pytest.approx([0.0, 0.0], abs=1e-12)


def test_the_cap_is_that_of_the_parameter():
    found = spoilt()
    capped = Frontier(HEART, [replace(run, cluster_cap=1) if run.parameter == GRID[1] else run for run in found.runs])
    assert capped.best().iloc[1].found_at == GRID[1]


def test_a_bound_stays_that_of_the_parameter():
    found = spoilt()
    bounded = Frontier(
        HEART,
        [
            replace(run, lower_bound=-HEART.mutual_information) if run.parameter == GRID[1] else run
            for run in found.runs
        ],
    )
    answer = bounded.best_answers()[1].run
    assert answer.lower_bound == -HEART.mutual_information
    assert answer.gap >= 0.0


def test_everybody_who_reads_a_frontier_says_the_same(capsys):
    """Command line, picture, report, hull, knee and the curve that systems are held against."""
    found = spoilt()
    answer = found.best_answers()[1]
    assert answer.is_moved
    assert "At 1 of 3 parameters" in found.reused
    assert Frontier(HEART, [run for run in found.runs if run.parameter != GRID[1]]).reused is None

    told = record(found, "bottleneck", 0)
    assert told["best"] == found.best().index.tolist()
    assert not told["converged"]
    assert told["answers"][1]["run"] == answer.row
    assert told["answers"][1]["parameter"] == GRID[1]
    assert told["answers"][1]["loss_nats"] == answer.run.loss
    print_runs(found, "t")
    (line,) = (line for line in capsys.readouterr().out.splitlines() if f"found at {answer.found_at:g}" in line)
    assert line.split()[1] == rounded(answer.run.loss)

    page = contents(found, "t", True, Allowance())
    shown = page["best"][1]
    assert page["table"]["parameter"][shown] == GRID[1]
    assert page["table"]["loss_nats"][shown] == answer.run.loss
    assert page["table"]["run"][shown] == answer.row
    assert page["table"]["found_at"][shown] == answer.found_at
    assert page["encoders"][shown]["p_z"] == page["encoders"][page["table"]["run"].index(answer.row)]["p_z"]
    assert found.reused in page["notes"]
    assert "6 runs" in page["summary"]

    assert all(point.run.ixz > 0.0 for point in vertices(found) if point.parameter == GRID[1])
    assert all(min(change.clusters_below, change.clusters_above) > 1 for change in found.suggest().transitions)
    drawn = np.vstack([dots.get_offsets() for dots in found.plot().collections if dots.get_zorder() >= 4])
    assert (drawn[:, 0] > 0.0).all()
    assert all(run.loss < 0.0 for run in known(found).runs)
