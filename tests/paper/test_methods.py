"""The paper's way to run a solver, and what a piece's call repeats."""

from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.paper.convergence import straightness, worst_ratio
from infoplane.paper.descents import Descent, Iterates
from infoplane.paper.merge_two import merge_two_ends
from infoplane.paper.methods import KINDS, Method, scaled
from infoplane.paper.pieces import Certified, Private, Starts, Sweep, near_deterministic
from infoplane.paper.points import Points, excess
from infoplane.solvers.starts import make_starts, seed_sequence


def back_tracked(f, gradient, u, xi):
    """One mean-subtracted gradient step, halved from xi on until the entries are positive and Armijo's condition holds."""
    g = gradient(u)
    g = g - g.mean(axis=0)
    while (u - xi * g).min() <= 0.0:
        xi /= 2
    while f(u - xi * g) > f(u) - 1e-4 * xi * (g**2).sum():
        xi /= 2
    return u - xi * g


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
    found = ip.solve(joint, method.family("bottleneck")(0.2), method.options(), init=start, max_iter=8)
    expected = solver_one_by_hand(joint.p_xy, 0.2, start, 16.0, 1.618, first_step, 8)
    np.testing.assert_allclose(found.encoder, expected, atol=1e-9)


def test_converged_is_each_ways_own_rule():
    sweep = Sweep("s", "paper_uniform", "bottleneck", (0.2, 0.5), Method("ib-1", "gradient", 16.0, 1.618), 4, 3)
    gradient = Points.from_columns(sweep.run())
    exact = Points.from_columns(replace(sweep, method=Method("ib-1", "exact", 16.0, 1.618)).run())
    assert gradient.converged.all()
    assert not gradient.stationary.any()
    np.testing.assert_array_equal(exact.converged, exact.stationary)
    assert exact.converged.all()
    cut = Points.from_columns(replace(sweep, method=sweep.method.within(3)).run())
    assert not cut.converged.any()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_call_repeats_its_piece(kind):
    piece = Sweep("s", "paper_nonuniform", "funnel", (1.5, 3.0), Method("pf-2v", kind, 64.0, 1.0).within(50), 4, 2)
    found = eval(piece.call(), {"ip": ip, "np": np, "scaled": scaled})
    columns = piece.run()
    np.testing.assert_array_equal(np.array([run.ixz for run in found.runs]) / np.log(2), columns["ixz"])
    for row, run in enumerate(found.runs):
        ixz, iyz = (value / np.log(2) for value in verify.mutual_informations(found.joint.p_xy, run.encoder))
        assert columns["loss"][row] == pytest.approx(columns["parameter"][row] * iyz - ixz, abs=1e-9)


def test_one_parameter_many_times_has_new_starts_each():
    piece = Sweep("s", "paper_uniform", "bottleneck", (0.2,) * 3, Method("blahut-arimoto", "exact").within(1), 4, 2)
    columns = piece.run()
    assert len(np.unique(columns["ixz"].round(12))) == 6
    assert piece.call().count("[0.2] * 3") == 1
    assert piece.estimate() > 0


def test_near_deterministic_starts():
    W = near_deterministic(5, 4, 3, seed=1)
    assert W.shape == (5, 4, 3)
    np.testing.assert_allclose(W.sum(axis=1), 1.0)
    assert (W.max(axis=1) > 0.99).all()
    assert len({one.argmax(axis=0).tobytes() for one in W}) > 1


def test_merge_two_ends_against_all_partitions():
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
    ixz, iyz = merge_two_ends(joint)
    assert {(round(u, 6), round(v, 6)) for u, v in zip(ixz, iyz, strict=True)} == expected


@pytest.mark.parametrize(("family", "grid"), [("bottleneck", (0.15, 0.3, 0.6)), ("funnel", (1.5, 2.5, 5.0))])
def test_no_encoder_crosses_the_proven_bound(family, grid):
    certified = Points.from_columns(Certified("c", "paper_uniform", family, grid).run())
    assert (certified.loss - certified.lower_bound >= 0).all()
    assert (certified.loss - certified.lower_bound <= 2e-6).all()
    rng = np.random.default_rng(0)
    joint = ip.datasets.paper_uniform()
    for _ in range(300):
        W = rng.dirichlet(np.full(4, rng.choice([0.05, 0.3, 1.0])), size=3).T
        ixz, iyz = (np.array([value / np.log(2)]) for value in verify.mutual_informations(joint.p_xy, W))
        blank = np.zeros(1)
        point = Points(blank, blank, ixz, iyz, *[blank] * 6)
        assert excess(point, certified, family)[0] >= -1e-9
    # The optima themselves touch it.
    assert np.abs(excess(certified, certified, family)).max() <= 3e-6


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
    found = eval(piece.call(), {"ip": ip, "scaled": scaled})
    assert found.iterations == piece.run()["iterations"][0]
    proven = eval(Certified("c", "paper_uniform", "bottleneck", (0.5,)).call(), {"ip": ip})
    assert proven.runs[0].status is ip.Status.CERTIFIED


def test_iterates_move_less_and_less():
    method = Method("ib-1", "exact", 16.0, 1.618, tol=1e-13, inner=30)
    columns = Iterates("i", "paper_uniform", "bottleneck", 0.2, method, 4).run()
    assert columns["converged"][0] == 1
    assert columns["step"][-1] < 1e-11 * columns["step"].max()
    assert worst_ratio(columns["step"]) < 1.0
    assert straightness(columns["step"]) > 0.99


def test_perfect_privacy_and_starts():
    utility, bound = Private("p", "heart").run()["utility"]
    assert 0.0 < utility <= bound <= utility + 1e-9
    starts = Starts("s", "heart", 17, 3).run()
    joint = ip.datasets.heart()
    W = make_starts(joint, 17, 3, seed_sequence(0), "random")
    expected = [verify.mutual_informations(joint.p_xy, one) for one in W]
    np.testing.assert_allclose(np.array(expected).T / np.log(2), [starts["ixz"], starts["iyz"]], atol=1e-9)
