"""The compiled loop against the same recursions run by Python; what is proven of them; the automatic penalty; leaps along a slow tail."""

import itertools
import sys

import numpy as np
import pytest

import infoplane as ip
from batches import Stepped
from compiled import interpreted
from infoplane.joint.joint import Support
from infoplane.kernels.splitting.advance import retune
from infoplane.kernels.splitting.tables import Iterate, Tail
from infoplane.solvers.base import make_starts, seed_sequence
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import SETTLED, DouglasRachford
from infoplane.solvers.splitting.thresholds import penalty_threshold
from recursions import STEPS, augmented, problem_for, python_iterates


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("alpha", [0.5, 1.0, 1.618])
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_compiled_loop_is_the_recursion(formulation, alpha, step):
    _compare(formulation, alpha, step, None)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("formulation", ["ib-1v", "pf-2v"])
def test_an_encoder_that_comes_first_in_the_order_of_solver_one(formulation, step):
    """As the published scripts run the variational formulations."""
    _compare(formulation, 1.0, step, "I")


def _compare(formulation, alpha, step, order):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, *_ = python_iterates(formulation, joint, problem, W, 32.0, alpha, 12, step, order=order)
    solver = DouglasRachford(formulation, step=step, penalty=32.0, relaxation=alpha, inner=1, order=order)
    batch = Stepped(solver, Support(joint), problem, W[None], tol=1e-15, limit=1000, record=True)
    batch.advance(12)
    p, q, nu = states[-1]
    encoder, marginal = (p, q) if FORMULATIONS[formulation].encoder_first else (q, p)
    np.testing.assert_allclose(batch.state.W[0], encoder, atol=1e-13)
    np.testing.assert_allclose(batch.state.v[0], marginal, atol=1e-13)
    np.testing.assert_allclose(batch.state.nu[0], nu, atol=1e-11)


loop = interpreted("splitting.advance")

JOINT, PROBLEM = ip.datasets.paper_uniform(), ip.bottleneck(0.3)


def tail(limit, mode, r):
    """Three iterates of limit + r^k mode, as `leap` wants them: now, one and two strides ago."""
    return [limit + mode * r**k for k in (2, 1, 0)]


def test_a_planted_mode_is_followed_to_its_limit():
    best = ip.solve(JOINT, PROBLEM, "drs", rng=0).encoder
    mode = 0.02 * (np.full((3, 3), 1 / 3) - best)
    nu_limit, nu_mode = np.array([[0.1], [0.2], [0.3]]), np.array([[0.01], [-0.02], [0.03]])
    now, before, earlier = tail(best, mode, 0.8)
    nu_now, nu_before, _ = tail(nu_limit, nu_mode, 0.8)
    found, W, nu = loop.leap(JOINT.p_x, now, before, earlier, nu_now, nu_before)
    assert found
    np.testing.assert_allclose(W, best, atol=1e-12)
    np.testing.assert_allclose(nu, nu_limit, atol=1e-12)


def test_a_leap_that_raises_the_loss_or_follows_no_single_mode_is_refused():
    best = ip.solve(JOINT, PROBLEM, "drs", rng=0).encoder
    away = 0.9 * best + 0.1 / 3
    nu = np.zeros((3, 1))
    uphill = 0.02 * (np.full((3, 3), 1 / 3) - best)
    found, W, _nu = loop.leap(JOINT.p_x, away, away + uphill, away, nu, nu)  # to and fro
    assert not found
    np.testing.assert_array_equal(W, away)

    def looked_ahead(before, earlier):
        split = Stepped(ip.DouglasRachford("ib-1"), JOINT, PROBLEM, away[None]).split._replace(h=np.zeros(1))
        u, ones = away @ split.M, np.ones_like(nu)
        now, looked = Iterate(away, u, nu, ones, ones, ones, u), Tail(before, earlier, nu, 2)
        return loop._looked_ahead(split, now, looked)

    for side, leaps in ((1, False), (-1, True)):  # moving away from the optimum, or towards it, slowing down
        now, looked = looked_ahead(away - side * uphill, away - side * 3 * uphill)
        assert (now.W is not away) == leaps
        assert looked.looks == (0 if leaps else 3)


@pytest.mark.parametrize(
    ("formulation", "parameter"),
    [("ib-1", 0.6), ("ib-2", 0.1), ("ib-1v", 0.6), ("pf-1", 10.0), ("pf-2", 10.0), ("pf-2v", 10.0)],
)
def test_fewer_iterations_to_the_same_point(formulation, parameter):
    joint = ip.datasets.paper_nonuniform()
    problem = ip.bottleneck(parameter) if formulation.startswith("ib") else ip.funnel(parameter)
    plain, fast = (
        ip.solve(joint, problem, ip.DouglasRachford(formulation, acceleration=on), starts=4, rng=0, init="random")
        for on in (False, True)
    )
    assert fast.status is ip.Status.STATIONARY
    assert fast.loss == pytest.approx(plain.loss, abs=1e-9)
    spent = [sum(start.iterations for start in found.starts) for found in (plain, fast)]
    assert spent[1] < 0.8 * spent[0]


def test_the_length_of_a_block_makes_no_difference():
    joint, problem = ip.datasets.paper_nonuniform(), ip.bottleneck(0.6)
    starts = make_starts(joint, None, 3, seed_sequence(0), "random")
    ended = []
    for block in (7, 1000):
        batch = Stepped(ip.DouglasRachford("ib-1"), Support(joint), problem, starts)
        while batch.advance(block):
            pass
        ended.append(batch.runs())
    for one, two in zip(*ended, strict=True):
        assert one.iterations == two.iterations
        np.testing.assert_array_equal(one.encoder, two.encoder)


@pytest.mark.parametrize("order", ["I", "II"])
@pytest.mark.parametrize("step", STEPS)
@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_a_step_is_the_recursion_of_the_formulations_own_blocks(formulation, step, order):
    joint, problem = ip.datasets.paper_nonuniform(), problem_for(formulation)
    W = np.random.default_rng(1).dirichlet(np.ones(3), size=3).T.copy()
    states, split, *_ = python_iterates(formulation, joint, problem, W, 32.0, 1.618, 2, step, order=order)
    advance = {"I": loop.step_one, "II": loop.step_two}[order]
    known, found = np.full_like(states[0][2], np.nan), states[0]
    for expected in states[1:]:  # the second step begins with the multipliers that the first one left
        found = advance((split, known), *found, np.full_like(known, 32.0), 1.618)
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_automatic_penalty_lowers_the_augmented_lagrangian_nearly_always(formulation):
    joint = ip.datasets.paper_uniform()
    solution = ip.solve(
        joint,
        problem_for(formulation),
        DouglasRachford(formulation, relaxation=1.0, acceleration=False),
        starts=1,
        init="random",
        rng=3,
    )
    steps = np.diff(solution.trace.augmented)
    assert (steps <= 1e-10).mean() > 0.95


def test_once_settled_a_penalty_only_grows():
    """Targets are kappa |h| / mass = 2: a row far above keeps its c unless it may fall, one far below is raised in either case."""
    h, mass, boost = np.array([-0.5]), np.full((3, 1), 0.5), np.ones((3, 1))
    for may_fall, expected in ((True, [2.0, 2.0, 2.0]), (False, [9.0, 2.0, 2.0])):
        c = np.array([[9.0], [2.0], [0.1]])
        before = np.empty_like(c)
        retune(h, mass, c, boost, 2.0, 0.0, may_fall, before)
        np.testing.assert_allclose(c[:, 0], expected)
        np.testing.assert_array_equal(before, c)


def test_only_formulations_that_the_descent_theorem_covers_settle():
    joint = ip.datasets.paper_uniform()
    for name, formulation in FORMULATIONS.items():
        start = np.full((1, 3, 3), 1 / 3)
        batch = Stepped(DouglasRachford(name), Support(joint), problem_for(name), start, limit=20_000)
        assert batch.split.settled == (SETTLED if formulation.descends else sys.maxsize)


@pytest.mark.parametrize("alpha", [0.7, 1.0, 2.0])
def test_descent_of_solver_one_just_above_the_proven_threshold(alpha):
    """L_c falls in every iteration once c > L, at the smallest mass met; no more than a tenth above it here, whatever alpha is."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.5)
    W = np.random.default_rng(4).dirichlet(np.full(3, 20.0), size=3).T.copy()
    named = {"formulation": "ib-1", "relaxation": alpha}
    c = ip.theorem_threshold(joint, problem, W, **named).c
    for _ in range(20):
        states, split, shares, marginals = python_iterates("ib-1", joint, problem, W, c, alpha, 12, inner=60)
        met = min((q for _p, q, _nu in states), key=lambda q: (q @ joint.p_x).min())
        now = ip.theorem_threshold(joint, problem, met / met.sum(0), **named).c
        now = max(now, (1.0 - 0.5) / min(p.min() for p, _q, _nu in states))
        if now < c:
            break
        c = 1.1 * now
    assert 1.0 < c / now < 1.5
    # The first iterate has no first-order condition behind it; from the second on the theorem applies.
    levels = [augmented(split, shares, marginals, False, state, c) for state in states[1:]]
    assert np.diff(levels).max() <= 1e-12


@pytest.mark.parametrize("alpha", [0.7, 1.0, 1.618])
@pytest.mark.parametrize("formulation", ["ib-2", "ib-1v"])
def test_sufficient_decrease_of_solver_two(formulation, alpha):
    """Lemma "Sufficient Decrease II": L_c falls by {c (1/alpha - 1/2) - L_q^2/(alpha c) - sigma_G/2} |dq|^2, c above Theorem 5's."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.5)
    W = np.random.default_rng(4).dirichlet(np.full(3, 20.0), size=3).T.copy()
    c = 2.0 * penalty_threshold(joint, problem, W, formulation=formulation, relaxation=alpha).c
    states, split, shares, marginals = python_iterates(formulation, joint, problem, W, c, alpha, 60)
    met = min((p for p, _q, _nu in states), key=lambda p: p.min())
    now = penalty_threshold(joint, problem, met / met.sum(0), formulation=formulation, relaxation=alpha)
    assert c > now.c
    L_q, sigma_G = now.constants["L_q"], now.constants["sigma_G"]
    delta = c * (1.0 / alpha - 0.5) - L_q**2 / (alpha * c) - sigma_G / 2.0
    assert delta > 0
    for before, after in itertools.pairwise(states[1:]):
        fall = augmented(split, shares, marginals, True, before, c) - augmented(
            split, shares, marginals, True, after, c
        )
        assert fall >= delta * ((before[1] - after[1]) ** 2).sum() - 1e-12
