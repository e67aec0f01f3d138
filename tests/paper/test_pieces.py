"""Pieces that are sweeps: the call that repeats one, its starts, and the proven bound."""

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane_paper.methods import KINDS, Method
from infoplane_paper.pieces import Certified, Sweep, near_deterministic, random_starts
from infoplane_paper.points import Points, excess
from tiny import made_points, repeated


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_call_repeats_its_piece(kind):
    piece = Sweep("s", "paper_nonuniform", "funnel", (1.5, 3.0), Method("pf-2v", kind, 64.0, 1.0).within(50), 4, 2)
    columns = piece.run()
    found, said = repeated(piece.call(columns))
    assert said == columns["converged"].sum()
    found = found["f"]
    np.testing.assert_array_equal(np.array([run.ixz for run in found.runs]) / np.log(2), columns["ixz"])
    for row, run in enumerate(found.runs):
        ixz, iyz = (value / np.log(2) for value in verify.mutual_informations(found.joint.p_xy, run.encoder))
        assert columns["loss"][row] == pytest.approx(columns["parameter"][row] * iyz - ixz, abs=1e-9)


def test_one_parameter_many_times_has_new_starts_each():
    piece = Sweep("s", "paper_uniform", "bottleneck", (0.2,) * 3, Method("blahut-arimoto", "exact").within(1), 4, 2)
    columns = piece.run()
    assert len(np.unique(columns["ixz"].round(12))) == 6
    assert piece.call(columns).count("[0.2] * 3") == 1
    assert piece.estimate() > 0


def test_random_starts_are_those_of_the_library():
    """One iteration from the start of a seed is one from the array that the evaluation makes for it."""
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.3)
    theirs = ip.solve(joint, problem, "blahut-arimoto", clusters=5, starts=3, rng=7, init="random", max_iter=1)
    ours = ip.solve(joint, problem, "blahut-arimoto", init=random_starts(3, 5, 16, 7), max_iter=1)
    np.testing.assert_array_equal(theirs.encoder, ours.encoder)


def test_near_deterministic_starts():
    W = near_deterministic(5, 4, 3, seed=1)
    assert W.shape == (5, 4, 3)
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    assert (W.max(axis=1) > 0.99).all()
    assert len({one.argmax(axis=0).tobytes() for one in W}) > 1


@pytest.mark.parametrize(("family", "grid"), [("bottleneck", (0.15, 0.3, 0.6)), ("funnel", (1.5, 2.5, 5.0))])
def test_no_encoder_crosses_the_proven_bound(family, grid):
    certified = Points.from_columns(Certified("c", "paper_uniform", family, grid).run())
    assert (certified.loss - certified.lower_bound >= 0).all()
    assert (certified.loss - certified.lower_bound <= 2e-6).all()
    rng = np.random.default_rng(0)
    joint = ip.datasets.paper_uniform()
    for _ in range(300):
        W = rng.dirichlet(np.full(4, rng.choice([0.05, 0.3, 1.0])), size=3).T
        ixz, iyz = (value / np.log(2) for value in verify.mutual_informations(joint.p_xy, W))
        point = made_points([ixz], [iyz])
        assert excess(point, certified, family)[0] >= -1e-9
    # The optima themselves touch it.
    assert np.abs(excess(certified, certified, family)).max() <= 3e-6
