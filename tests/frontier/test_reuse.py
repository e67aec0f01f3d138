"""What one parameter has found counts at all others, when a frontier is read."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.cli.frontier import as_table, record
from infoplane.formatting import rounded
from infoplane.frontier.frontier import Frontier
from infoplane.frontier.hull import vertices
from infoplane.systems.efficiency import known
from infoplane.view.report.contents import Allowance, contents
from made_tasks import made_tasks, told

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
    found = ip.sweep(tasks, ip.task_funnel, np.linspace(0.5, 1.2, 8), rng=0, starts=1, clusters=3)
    gamma, informations = found.runs[0].problem.price, [told(tasks, run.encoder) for run in found.runs]
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


def test_everybody_who_reads_a_frontier_says_the_same():
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
    table = as_table(found, "t")
    assert f"found at {answer.found_at:g}" in table.rows[1][-1]
    assert table.rows[1][1] == rounded(answer.run.loss)

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
    assert all(min(change.clusters) > 1 for change in found.suggest().transitions)
    drawn = np.vstack([dots.get_offsets() for dots in found.plot().collections if dots.get_zorder() >= 4])
    assert (drawn[:, 0] > 0.0).all()
    assert all(run.loss < 0.0 for run in known(found).runs)
