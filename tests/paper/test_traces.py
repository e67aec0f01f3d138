"""Single runs iteration by iteration: the fastest method, its losses, the path of the iterates."""

import numpy as np
import pytest

import infoplane as ip
from infoplane_paper.methods import Method
from infoplane_paper.pieces import Certified, Descent, Trajectory, random_starts
from infoplane_paper.rates import straightness, worst_ratio
from tiny import repeated


def test_a_descent_keeps_the_fastest_and_its_own_losses():
    slow, fast, never = (Method("ib-1", "exact", c, 1.0) for c in (64.0, 8.0, 1.0))
    piece = Descent("d", "paper_uniform", "bottleneck", 0.2, (slow, fast, never.within(300)), 4)
    columns = piece.run()
    assert columns["converged"].tolist() == [1, 1, 0]
    assert columns["chosen"][0] == 1
    assert columns["iterations"][1] < columns["iterations"][0]
    assert len(columns["loss"]) == columns["iterations"][1]
    assert columns["loss"][-1] == pytest.approx(columns["end"][1], abs=1e-9)
    gradient = Descent("g", "paper_uniform", "bottleneck", 0.2, (Method("ib-1", "gradient", 16.0, 1.618),), 4).run()
    assert gradient["loss"][-1] == pytest.approx(gradient["end"][0], abs=1e-9)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_calls_of_descents_and_certificates_run():
    piece = Descent("g", "paper_uniform", "bottleneck", 0.2, (Method("ib-1", "gradient", 16.0, 1.618).within(20),), 4)
    _, found = repeated(piece.call(piece.run()))
    assert found == piece.run()["iterations"][0]
    proof = Certified("c", "paper_uniform", "bottleneck", (0.5,))
    names, found = repeated(proof.call(proof.run()))
    assert found == round(proof.run()["lower_bound"][0], 4)
    assert names["f"].runs[0].status is ip.Status.CERTIFIED


@pytest.mark.parametrize("kind", ["gradient", "auto"])
@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_call_of_a_descent_is_that_of_its_fastest_method(kind):
    """Not of its first, and without the extrapolation that the descent does without."""
    methods = tuple(Method("ib-1", kind, c, alpha).within(4000) for c in (1.0, 16.0) for alpha in (1.0, 2.0))
    piece = Descent("g", "paper_uniform", "bottleneck", 0.2, methods, 4)
    columns = piece.run()
    assert columns["chosen"][0] != 0
    _, found = repeated(piece.call(columns))
    assert found == len(columns["loss"]) == columns["iterations"].min()


def test_iterates_move_less_and_less():
    method = Method("ib-1", "exact", 16.0, 1.618, tol=1e-13, inner=30)
    columns = Trajectory("i", "paper_uniform", "bottleneck", 0.2, method, 4).run()
    assert columns["step"][-1] < 1e-11 * columns["step"].max()
    assert worst_ratio(columns["step"]) < 1.0
    assert straightness(columns["step"]) > 0.99


@pytest.mark.parametrize(
    ("solver", "family", "parameter", "c"),
    [("ib-1", "bottleneck", 0.2, 16.0), ("ib-2", "bottleneck", 0.2, 64.0), ("pf-2", "funnel", 2.5, 64.0)],
)
def test_the_gradient_vanishes_with_the_steps(solver, family, parameter, c):
    """|grad L_c| and the steps are of the same order, and near a limit L_c - L_c* is of the order of their square."""
    method = Method(solver, "exact", c, 1.0, tol=1e-13, inner=30).within(400)
    columns = Trajectory("t", "paper_uniform", family, parameter, method, 3).run()
    assert len(columns["gradient"]) == len(columns["step"]) == len(columns["augmented"])
    ratio = columns["gradient"][20:] / columns["step"][20:]
    assert 1e-2 < ratio.min() <= ratio.max() < 10.0 * c
    if solver == "ib-1":  # the tail of a run that has ended
        fit = ip.fit_exponent(columns["augmented"], columns["gradient"])
        assert fit.theta == pytest.approx(0.5, abs=0.02)


def test_the_gradient_of_solver_one_is_that_of_differences():
    """At the point after some iterations of ib-1, grad L_c in p and nu, from the first-order conditions, is the slope of L_c itself."""
    method = Method("ib-1", "exact", 16.0, 1.0, tol=1e-13, inner=200).within(6)
    found = Trajectory("t", "paper_uniform", "bottleneck", 0.2, method, 2).run()
    joint, gamma, c = ip.datasets.paper_uniform(), 0.2, 16.0
    (start,) = random_starts(1, 2, 3)
    *_, last = ip.iterates(joint, ip.bottleneck(gamma), method.options(), start, tol=1e-13, max_iter=6)
    v, nu = last.v[:, 0], last.nu[:, 0]
    r = v - last.W @ joint.p_x

    def augmented_in_p(v):
        return float((1.0 - gamma) * (v * np.log(v)).sum() + nu @ (v - v0 + r) + 0.5 * c * ((v - v0 + r) ** 2).sum())

    v0, d, h = v, np.array([1.0, -1.0]) / np.sqrt(2.0), 1e-5
    slope = (augmented_in_p(v + h * d) - augmented_in_p(v - h * d)) / (2 * h)
    assert found["gradient"][-1] == pytest.approx(np.hypot(slope, np.linalg.norm(r)), rel=1e-5)
