"""What one parameter has found counts at all others, when a frontier is read."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.frontier.frontier import Frontier

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
