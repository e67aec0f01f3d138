"""Methods against the paper's equations and stopping rule; pieces: sweeps with their bounds, references, single runs step by step."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane_paper.figures.theorems import straightness, worst_ratio
from infoplane_paper.pieces import (
    KINDS,
    Certified,
    Descent,
    Merges,
    Method,
    Private,
    Starts,
    Sweep,
    Trajectory,
    near_deterministic,
    random_starts,
)
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
    W = near_deterministic(5, 4, 3)
    assert W.shape == (5, 4, 3)
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    assert (W.max(axis=1) > 0.99).all()
    assert len({one.argmax(axis=0).tobytes() for one in W}) > 1


@pytest.mark.parametrize(("family", "grid"), [("bottleneck", (0.15, 0.3, 0.6)), ("funnel", (1.5, 2.5, 5.0))])
def test_no_encoder_crosses_the_proven_bound(family, grid):
    certified = Points(**Certified("c", "paper_uniform", family, grid).run())
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


def test_perfect_privacy_and_starts():
    utility, bound = Private("p", "heart").run()["utility"]
    assert 0.0 < utility <= bound <= utility + 1e-9
    starts = Starts("s", "heart", 17, 3).run()
    joint = ip.datasets.heart()
    expected = [verify.mutual_informations(joint.p_xy, one) for one in random_starts(3, 17, 16, 0)]
    np.testing.assert_allclose(np.array(expected).T / np.log(2), [starts["ixz"], starts["iyz"]], atol=1e-9)


def test_merge_two_against_all_partitions():
    """On three letters every merge is one of three pairs: Algorithm 1 can be followed by hand, from independently computed numbers."""
    joint = ip.datasets.paper_nonuniform()
    P = joint.p_xy

    def place(labels):
        W = np.zeros((max(labels) + 1, 3))
        W[labels, np.arange(3)] = 1.0
        return tuple(round(value / np.log(2), 6) for value in verify.mutual_informations(P, W))

    pairs = [place(labels) for labels in ([0, 0, 1], [0, 1, 0], [1, 0, 0])]
    expected = {place([0, 1, 2])}
    for R in np.linspace(0, place([0, 1, 2])[0], 100):
        allowed = [pair for pair in pairs if pair[0] >= R - 1e-9]
        if R == 0:
            expected.add((0.0, 0.0))
        elif allowed:
            expected.add(min(allowed, key=lambda pair: pair[1]))
    ends = Merges("m", "paper_nonuniform").run()
    assert {(round(u, 6), round(v, 6)) for u, v in zip(ends["ixz"], ends["iyz"], strict=True)} == expected


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


def back_tracked(f, gradient, u, xi):
    """One mean-subtracted gradient step, quartered from xi on until the entries lie in [0, 1] and Armijo's condition holds.

    As the published scripts do, 1e-9 is added to every entry, and the columns are normalised.
    """
    g = gradient(u)
    g = g - g.mean(axis=0)
    while (u - xi * g).min() < 0.0 or (u - xi * g).max() > 1.0:
        xi /= 4
    while f(u - xi * g) > f(u) - 1e-4 * xi * (g**2).sum():
        xi /= 4
    new = u - xi * g + 1e-9
    return new / new.sum(axis=0)


def solver_one_by_hand(P, gamma, W, c, alpha, xi, iterations):
    """ib-1 with the paper's steps, written from its equations: p = p(z), q = W."""
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    K, T = P / p_y, (P / p_x[:, None]).T

    def step_p(p, W, nu):
        return back_tracked(
            lambda p: (1 - gamma) * (p * np.log(p)).sum() + nu @ p + c / 2 * ((p - W @ p_x) ** 2).sum(),
            lambda p: (1 - gamma) * (np.log(p) + 1) + nu + c * (p - W @ p_x),
            p,
            xi,
        )

    def value(p, W, nu):
        entropies = gamma * (p_x * W * np.log(W)).sum() - (p_y * (W @ K) * np.log(W @ K)).sum()
        return entropies - nu @ (W @ p_x) + c / 2 * ((p - W @ p_x) ** 2).sum()

    def slope(p, W, nu):
        return p_x * (gamma * (np.log(W) + 1) - (np.log(W @ K) + 1) @ T - (nu + c * (p - W @ p_x))[:, None])

    def step_W(p, W, nu):
        return back_tracked(lambda W: value(p, W, nu), lambda W: slope(p, W, nu), W, xi)

    p, nu = W @ p_x, np.zeros(len(W))
    for _ in range(iterations):
        nu = nu - (1 - alpha) * c * (p - W @ p_x)
        p = step_p(p, W, nu)
        nu = nu + c * (p - W @ p_x)
        W = step_W(p, W, nu)
    return W


@pytest.mark.parametrize("first_step", [1.0, 0.1, 0.01])
@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_papers_step_against_its_equations(first_step):
    joint = ip.datasets.paper_nonuniform()
    start = np.random.default_rng(1).random((4, 3))
    start /= start.sum(axis=0)
    method = Method("ib-1", "gradient", 16.0, 1.618, first_step=first_step)
    found = ip.solve(joint, ip.bottleneck(0.2), method.options(), init=start, max_iter=8)
    expected = solver_one_by_hand(joint.p_xy, 0.2, start, 16.0, 1.618, first_step, 8)
    np.testing.assert_allclose(found.encoder, expected, atol=1e-9)


def test_converged_is_each_ways_own_rule():
    sweep = Sweep("s", "paper_uniform", "bottleneck", (0.2, 0.5), Method("ib-1", "gradient", 16.0, 1.618), 4, 3)
    gradient = Points(**sweep.run())
    exact = Points(**replace(sweep, method=Method("ib-1", "majorise", 16.0, 1.618)).run())
    assert gradient.converged.all()
    assert not gradient.stationary.any()
    np.testing.assert_array_equal(exact.converged, exact.stationary)
    assert exact.converged.all()
    cut = Points(**replace(sweep, method=sweep.method.within(3)).run())
    assert not cut.converged.any()
