"""Column generation: where it begins, and what a stopped search leaves."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from funnel_twin import channels
from funnel_twin import values as g
from infoplane.certificate.funnel import generation
from infoplane.certificate.funnel.generation import (
    FreePosteriors,
    FreeSearch,
    coarser,
    cut_short,
    generate,
    simple_bound,
    without_dust,
)
from infoplane.joint.joint import Support
from infoplane.posterior.form import scaled
from infoplane.posterior.programme import Channel, Programme
from infoplane.runtime.budget import Budget
from infoplane.solution import Status
from strategies import joints


def test_traces_of_letters_are_left_out():
    Q = np.array([[0.5, 1e-12], [0.3, 0.6], [0.2 - 1e-10, 0.4], [1e-10, 0.0]])
    kept = without_dust(Q, 2)
    np.testing.assert_allclose(kept, [[0.625, 0.0], [0.375, 0.6], [0.0, 0.4], [0.0, 0.0]], atol=1e-11)
    np.testing.assert_allclose(without_dust(Q, 9)[:, 0], [0.5, 0.3, 0.2, 0.0], atol=1e-9)
    np.testing.assert_allclose(without_dust(Q, 1).sum(axis=0), 1.0)


@pytest.mark.parametrize("pieces", [0, 1, 3])
def test_an_interrupt_at_any_piece_leaves_a_mixture_and_a_bound(pieces, monkeypatch):
    support, budget, seen = Support(ip.datasets.heart()), Budget(), []
    programme, advance = Programme(support, budget), FreeSearch.advance

    def stopping(search, cells):
        seen.append(cells)
        if len(seen) > pieces:
            budget.stop()
        return advance(search, cells)

    monkeypatch.setattr(FreeSearch, "advance", stopping)
    outcome = generate(programme, FreePosteriors(programme), lambda: programme.at_beta(3.5), 1e-9, budget)
    monkeypatch.undo()
    assert len(seen) == pieces + 1
    assert cut_short(budget) is Status.INTERRUPTED
    whole = Programme(support)
    optimum = generate(whole, FreePosteriors(whole), lambda: whole.at_beta(3.5), 1e-6, Budget())
    W = outcome.point.encoder
    np.testing.assert_allclose(W.sum(axis=0), 1.0, atol=1e-12)
    assert outcome.lower <= optimum.point.dual
    assert outcome.point.dual >= optimum.point.dual - 1e-9


def many_posteriors(n, rng, steps=40):
    """A grid on every edge and random points of every small face: obvious, and far from all of the simplex."""
    t = np.linspace(0.0, 1.0, steps + 1)
    blocks = [np.eye(n)]
    for i, j in itertools.combinations(range(n), 2):
        Q = np.zeros((n, steps + 1))
        Q[i], Q[j] = t, 1.0 - t
        blocks.append(Q)
    for size in range(3, min(n, 4) + 1):
        for face in itertools.combinations(range(n), size):
            Q = np.zeros((n, 60))
            Q[list(face)] = rng.dirichlet(np.full(size, 0.7), 60).T
            blocks.append(Q)
    return np.hstack(blocks)


@pytest.mark.parametrize("seed", range(15))
def test_pricing_proves_what_is_true_and_finds_what_is_false(seed):
    """With lambda shifted so that the lowest g on a fine net is 0, and then so that it is not."""
    T, rng = channels(seed)
    n = T.shape[1]
    beta = float(rng.choice([1.1, 1.6, 3.0, 9.0]))
    lam = -beta * rng.random(n)
    channel = Channel(T)
    net = many_posteriors(n, rng)
    net = np.hstack([net, channel.descend(lam, beta, net[:, rng.permutation(net.shape[1])[:400]])[0]])
    low = g(T, lam, beta, net).min()

    proof = FreeSearch(channel, lam + low, beta, -1e-2)
    while proof.advance(5000):
        pass
    assert proof.violating().shape[1] == 0  # nothing is lower than the net
    assert -1e-2 <= proof.least() <= 1e-9
    assert proof.left == 0

    attack = FreeSearch(channel, lam + low + 0.1, beta, -1e-3)
    while attack.advance(5000):
        pass
    assert attack.least() <= -0.1 + 1e-9
    found = attack.violating()
    assert found.shape[1] >= 1
    np.testing.assert_allclose(found.sum(axis=0), 1.0, atol=1e-12)
    assert (g(T, lam + low + 0.1, beta, found) < -1e-4).all()


@pytest.mark.parametrize("seed", range(8))
def test_wherever_a_search_stops_its_bound_holds(seed):
    T, rng = channels(seed)
    n = T.shape[1]
    lam = -3.0 * rng.random(n)
    channel = Channel(T)
    low = g(T, lam, 3.0, many_posteriors(n, rng)).min()
    for cells in (1, 2, 3, 10, 50):
        search = FreeSearch(channel, lam + low, 3.0, -1e-4)
        search.advance(cells)
        assert search.cells <= 1 + cells  # the whole simplex, and pairs
        assert search.least() <= 1e-9


def test_letters_that_say_the_same_of_y_count_as_one():
    T = np.array([[0.7, 0.2, 0.7, 0.2], [0.3, 0.8, 0.3, 0.8]])
    channel = Channel(T)
    assert len(channel.T) == 2
    assert channel.rank == 2
    lam, letter = channel.gather(np.array([1.0, 2.0, 3.0, 0.5]))
    assert lam.tolist() == [3.0, 2.0]
    assert letter.tolist() == [2, 1]
    # An independent pair: every column the same up to rounding.
    flat = Channel(Support(ip.Joint.from_matrix(np.outer([0.3, 0.3, 0.4], [0.1, 0.7, 0.2]))).T)
    assert (len(flat.T), flat.rank) == (1, 1)


def test_pricing_wants_beta_above_one():
    with pytest.raises(ip.InvalidOptionError, match="beta > 1"):
        FreeSearch(Channel(np.eye(2)), np.zeros(2), 1.0, -0.1)


def test_an_optimal_encoder_is_certified_and_a_spoilt_one_is_not():
    joint, problem = ip.datasets.paper_uniform(), ip.funnel(2.5)
    certificate = ip.certify(joint, problem, np.eye(3))
    assert not certificate.certified
    assert certificate.posterior is not None
    better = ip.certify(joint, problem, np.eye(3), tol=1e-8)
    assert better.lower_bound <= certificate.loss
    best = better.lower_bound
    rng = np.random.default_rng(0)
    for W in (np.ones((1, 3)), np.eye(3), rng.dirichlet(np.ones(3), 3).T):
        one = ip.certify(joint, problem, W, tol=1e-7)
        assert one.gap == one.loss - one.lower_bound
        assert one.loss == pytest.approx(verify.lagrangian(joint.p_xy, W, problem.rho), abs=1e-12)
        assert abs(one.lower_bound - best) <= 1e-7
        assert not one.certified
        assert one.posterior.sum() == pytest.approx(1.0)
        assert one.left == 0


@pytest.mark.parametrize("start", ["merging", "trivial", "identity", "random"])
def test_the_reported_posterior_lowers_the_loss(start):
    """A new cluster with a little mass and that posterior, taken from the others in proportion to p(z|x)."""
    joint, problem = ip.datasets.heart(), ip.funnel(3.5)
    W = {
        "merging": lambda: ip.solve(joint, problem, "merging").encoder,
        "trivial": lambda: np.ones((1, 16)),
        "identity": lambda: np.eye(16),
        "random": lambda: np.random.default_rng(0).dirichlet(np.ones(5), 16).T,
    }[start]()
    certificate = ip.certify(joint, problem, W, tol=1e-5)
    assert not certificate.certified
    moved = 1e-4 * certificate.posterior / joint.p_x
    spoilt = np.vstack([W * (1.0 - moved), moved])
    assert verify.lagrangian(joint.p_xy, spoilt, problem.rho) < verify.lagrangian(joint.p_xy, W, problem.rho) - 1e-7


@pytest.mark.parametrize("scale", [1.0, 0.01, 40.0])
def test_any_positive_multiple_is_the_same_problem(scale):
    joint = ip.datasets.paper_nonuniform()
    rho = tuple(scale * r for r in ip.funnel(3.0).rho)
    W = ip.solve(joint, ip.funnel(3.0), "merging").encoder
    one = ip.certify(joint, ip.funnel(3.0), W, tol=1e-7)
    many = ip.certify(joint, ip.MarkovLagrangian(*rho), W, tol=1e-7 * scale)
    assert many.lower_bound == pytest.approx(scale * one.lower_bound, abs=2e-7 * scale)


def test_other_problems_are_refused():
    for problem in (ip.bottleneck(0.3), ip.deterministic_bottleneck(0.3), ip.MarkovLagrangian(1.0, 1.0, -1.0)):
        with pytest.raises(ip.UnsupportedProblemError, match="rho"):
            scaled(problem)


def test_limits_are_honoured_and_the_bound_still_holds():
    joint, problem = ip.datasets.heart(), ip.funnel(10.0)
    full = ip.certify(joint, problem, np.eye(16), tol=1e-7)
    for max_cells in (1, 30, 1000):
        short = ip.certify(joint, problem, np.eye(16), max_cells=max_cells)
        assert short.cells <= max_cells
        assert short.lower_bound <= full.lower_bound + 1e-7
        assert np.isfinite(short.lower_bound)
        assert not short.certified


@settings(max_examples=60, deadline=None)
@given(joint=joints(max_x=5, max_y=4), beta=st.floats(0.2, 20.0), data=st.data())
def test_simple_and_coarse_bounds_hold(joint, beta, data):
    support = Support(joint)
    n = joint.shape[0]
    W = np.array(data.draw(st.lists(st.floats(0.01, 1.0), min_size=3 * n, max_size=3 * n))).reshape(3, n)
    W /= W.sum(axis=0)
    P = np.asarray(joint.p_xy)
    for encoder in (W, np.eye(n), np.ones((1, n))):
        ixz, iyz = verify.mutual_informations(P, encoder)
        assert simple_bound(support, beta) <= beta * iyz - ixz
        letters = data.draw(st.integers(1, int((joint.p_y > 0).sum())))
        merged = coarser(joint, letters)
        assert merged.shape == (n, letters)
        assert verify.mutual_informations(np.asarray(merged.p_xy), encoder)[1] <= iyz + 1e-12


def test_a_coarser_y_bounds_a_problem_that_is_too_large(monkeypatch):
    """Where not even the first tolerance is proven within three quarters of the limits, the last quarter goes to a coarser Y."""
    rng = np.random.default_rng(3)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(7, 0.15), 10) * rng.dirichlet(np.ones(10))[:, None])
    problem = ip.funnel(3.0)
    coarse = []
    monkeypatch.setattr(generation, "coarser", lambda *arguments: coarse.append(arguments) or coarser(*arguments))
    certificate = ip.certify(joint, problem, np.eye(10), max_cells=12)
    assert len(coarse) == 1
    assert certificate.left > 0
    assert certificate.cells <= 12
    assert simple_bound(Support(joint), 3.0) <= certificate.lower_bound <= ip.solve(joint, problem, "merging").loss
    # It is certified when there is room.
    full = ip.certify(joint, problem, ip.solve(joint, problem, "columns").encoder)
    assert full.certified
    assert len(coarse) == 1


FAINT = (
    (1.36e-3, 5.50e-2, 2.93e-3, 0.0, 1e-9),
    (7.32e-2, 9.34e-2, 4.39e-3, 0.0, 0.0),
    (8.03e-2, 1.66e-4, 1.20e-6, 1e-30, 1e-30),
    (5.87e-3, 1.78e-2, 1.67e-2, 0.0, 0.0),
    (2.65e-2, 3.32e-2, 2.51e-5, 0.0, 0.0),
    (9.96e-2, 5.92e-2, 2.95e-2, 0.0, 0.0),
    (3.54e-5, 1.24e-5, 1.03e-1, 0.0, 0.0),
    (9.35e-2, 1.05e-11, 4.68e-4, 0.0, 0.0),
    (2.09e-2, 3.30e-4, 1.62e-2, 0.0, 0.0),
    (6.97e-2, 8.01e-3, 8.06e-3, 0.0, 0.0),
    (3.77e-2, 3.62e-3, 1.85e-2, 0.0, 0.0),
    (1.96e-2, 1.26e-3, 8.63e-6, 0.0, 0.0),
)
"""A noisy table with faint cells: here a move of the relaxation often has no length, and the bound is computed a second time."""


def test_a_bound_on_a_table_with_faint_cells_is_below_what_another_solver_finds():
    joint, problem = ip.Joint.from_counts(FAINT), ip.funnel(3.0)
    certified = ip.solve(joint, problem, certify=True)
    assert certified.status is ip.Status.CERTIFIED
    assert certified.lower_bound <= ip.solve(joint, problem, "pooling", starts=4, rng=1).loss
