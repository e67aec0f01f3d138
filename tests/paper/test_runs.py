"""Other values of open settings: which runs they have, and which answers they change."""

import numpy as np
import pytest

import infoplane as ip
from infoplane_paper.figures import bottleneck_planes, funnel_heart
from infoplane_paper.methods import SMOOTHED, load, load_call
from infoplane_paper.pieces import Sweep
from infoplane_paper.runs import QUARTER, SCRIPTS_ORDER, SMOOTHING, varied
from infoplane_paper.settings import FULL
from tiny import made_points, made_runs


def test_a_lower_limit_makes_slow_runs_divergent():
    pieces = {piece.name: piece for piece in bottleneck_planes.FIGURE.pieces(FULL)}
    name = "uniform: ib-1, gradient"
    limit = pieces[name].method.max_iter
    columns = {one: made_points([0.5, 0.6], [0.1, 0.1], iterations=[10, limit - 1]) for one in pieces}
    runs = made_runs("bottleneck-planes", columns, FULL)
    assert runs.points(name).converged.tolist() == [1, 1]
    assert runs.under(QUARTER).points(name).converged.tolist() == [1, 0]
    expected = {"first step 1", "first step 0.001", "near-deterministic starts", "|Z| = 2", SCRIPTS_ORDER}
    assert expected < set(runs.settings)
    other = runs.under("first step 1").piece(name)
    assert isinstance(other, Sweep)
    assert other.method.first_step == 1.0
    assert runs.under(SCRIPTS_ORDER).piece("uniform: ib-1v, gradient").method.order == "I"
    assert runs.under(SCRIPTS_ORDER).piece(name).method.order is None
    assert runs.under("|Z| = 2").piece(name).clusters == 2


def test_the_heart_data_smoothed_in_the_other_way_has_its_own_references():
    pieces = {piece.name: piece for piece in funnel_heart.FIGURE.pieces(FULL)}
    assert {pieces[varied(f"heart: {one}", SMOOTHING)].joint for one in ("certified", "starts", "pf-2, gradient")} == {
        SMOOTHED
    }
    assert load(SMOOTHED).mutual_information / np.log(2) == pytest.approx(0.230, abs=5e-4)
    assert eval(load_call(SMOOTHED), {"ip": ip}).shape == (16, 4)
