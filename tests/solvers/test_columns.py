"""`Columns`: funnels with proof, and the bound under every limit and interruption."""

import itertools
import signal
import threading

import numpy as np
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

import infoplane as ip
import verify
from infoplane.joint.joint import Support
from infoplane.posterior import programme
from infoplane.solvers.columns import Columns
from strategies import joints


def partitions(n):
    """Every map of n letters to clusters, each partition once."""

    def grow(labels):
        if len(labels) == n:
            yield labels
        else:
            for label in range(max(labels, default=-1) + 2):
                yield from grow((*labels, label))

    yield from grow(())


def half_of_heart():
    """Every second letter."""
    return ip.Joint.from_counts(ip.datasets.heart().p_xy[::2])


def hard_encoder(labels):
    return np.eye(max(labels) + 1)[:, list(labels)]


@pytest.mark.parametrize("make", [ip.datasets.paper_uniform, ip.datasets.paper_nonuniform])
def test_the_papers_data_is_certified_to_1e_8(make):
    joint = make()
    frontier = ip.sweep(joint, ip.funnel, np.geomspace(0.5, 20.0, 7), Columns(tol=1e-8))
    assert len(frontier.runs) == 7
    for run in frontier.runs:
        assert run.status is ip.Status.CERTIFIED
        assert run.gap <= 1e-8
        verify.check_solution(joint.p_xy, run.problem.rho, run, tol=1e-10)
        for labels in partitions(3):
            assert run.lower_bound <= verify.lagrangian(joint.p_xy, hard_encoder(labels), run.problem.rho)


def test_heart_at_beta_3_5():
    found = ip.solve(ip.datasets.heart(), ip.funnel(3.5), Columns())
    assert found.status is ip.Status.CERTIFIED
    assert found.loss == pytest.approx(-2.099081, abs=1e-6)
    assert found.clusters <= 16


def test_heart_sweep_shares_columns_and_certifies_every_point():
    joint = ip.datasets.heart()
    frontier = ip.sweep(joint, ip.funnel, np.geomspace(1.0, 10.0, 20)[::4], Columns())
    merging = ip.sweep(joint, ip.funnel, np.geomspace(1.0, 10.0, 20)[::4], "merging")
    for run, greedy in zip(frontier.runs, merging.runs, strict=True):
        assert run.status is ip.Status.CERTIFIED
        assert run.lower_bound <= greedy.loss
        verify.check_solution(joint.p_xy, run.problem.rho, run, tol=1e-10)


def kinds(seed):
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(2, 7)), int(rng.integers(2, 5))
    kind = ("smooth", "peaked", "zeros", "equal rows", "nearly deterministic")[seed % 5]
    P = rng.dirichlet(np.full(m, {"smooth": 2.0, "peaked": 0.2}.get(kind, 0.6)), n)
    if kind == "zeros":
        P = P * (rng.random((n, m)) < 0.5)
        P[P.sum(axis=1) == 0.0, 0] = 1.0
    elif kind == "equal rows":
        P = P[rng.integers(0, max(n // 2, 1), n)]
    elif kind == "nearly deterministic":
        P = np.eye(m)[rng.integers(0, m, n)] + 1e-9 * P
    return (
        ip.Joint.from_counts(P * rng.dirichlet(np.ones(n))[:, None]),
        float(np.exp(rng.uniform(0.0, np.log(30.0)))),
        rng,
    )


@pytest.mark.parametrize("seed", range(10))
def test_no_encoder_beats_the_lower_bound(seed):
    """Against all deterministic maps, random encoders, and random ones polished by a general optimiser."""
    joint, beta, rng = kinds(seed)
    P, n, rho = np.asarray(joint.p_xy), joint.shape[0], ip.funnel(beta).rho
    found = ip.solve(joint, ip.funnel(beta), Columns())
    assert found.status is ip.Status.CERTIFIED
    verify.check_solution(P, rho, found, tol=1e-10)
    rivals = [hard_encoder(labels) for labels in partitions(n)]
    rivals += [rng.dirichlet(np.full(n, 0.3), n).T for _ in range(50)]

    def loss(theta):
        W = np.exp(theta.reshape(n, n) - theta.reshape(n, n).max(axis=0))
        return ip.funnel(beta).value(joint, W / W.sum(axis=0))

    polished = minimize(loss, 3.0 * rng.standard_normal(n * n), method="L-BFGS-B", options={"maxiter": 30}).fun
    best = min([polished, *(verify.lagrangian(P, W, rho) for W in rivals)])
    assert found.lower_bound <= best
    assert found.loss <= best + 1e-6


@settings(max_examples=25, deadline=None)
@given(joint=joints(max_x=5, max_y=4), beta=st.floats(0.1, 30.0))
def test_any_joint(joint, beta):
    """Zeros, letters without mass, one letter, independence: certified, and the reported numbers are true."""
    problem = ip.funnel(beta)
    found = ip.solve(joint, problem, Columns(tol=1e-6))
    assert found.status is ip.Status.CERTIFIED
    P = np.asarray(joint.p_xy)
    verify.check_solution(P, problem.rho, found, tol=1e-10)
    seen = np.flatnonzero(joint.p_x > 0)
    assert found.clusters <= max(len(seen), 1)
    for labels in partitions(len(seen)):
        W = np.ones((max(labels) + 1, joint.shape[0])) / (max(labels) + 1)
        W[:, seen] = hard_encoder(labels)
        assert found.lower_bound <= verify.lagrangian(P, W, problem.rho) + 1e-12


@pytest.mark.parametrize("beta", [0.05, 0.5, 1.0])
def test_up_to_beta_one_everything_is_released(beta):
    joint = ip.datasets.heart()
    found = ip.solve(joint, ip.funnel(beta), Columns(tol=1e-11))
    assert found.loss == pytest.approx(beta * joint.mutual_information - joint.entropy_x, abs=1e-11)
    assert found.gap <= 1e-11
    assert found.ixz == pytest.approx(joint.entropy_x, abs=1e-12)


def test_a_noisy_channel_is_released_beyond_beta_one():
    """Up to 1 over Dobrushin's coefficient, here computed pair by pair, and not far beyond."""
    joint = ip.datasets.heart()
    T = np.asarray(joint.p_y_given_x)
    eta = max(0.5 * np.abs(T[:, i] - T[:, j]).sum() for i, j in itertools.combinations(range(16), 2))
    assert 1.0 / eta > 1.05
    found = ip.solve(joint, ip.funnel(0.999 / eta), Columns(tol=1e-10))
    assert found.ixz == pytest.approx(joint.entropy_x, abs=1e-12)
    assert found.gap <= 1e-10
    assert ip.solve(joint, ip.funnel(2.0 / eta), Columns()).ixz < joint.entropy_x - 0.01


def test_an_independent_y_costs_nothing():
    joint = ip.Joint.from_matrix(np.outer([0.5, 0.2, 0.3], [0.25, 0.75]))
    found = ip.solve(joint, ip.funnel(50.0), Columns())
    assert found.status is ip.Status.CERTIFIED
    assert found.loss == pytest.approx(-joint.entropy_x, abs=1e-6)


def test_a_multiple_of_the_funnel():
    joint = ip.datasets.paper_nonuniform()
    one = ip.solve(joint, ip.funnel(4.0), Columns(tol=1e-8))
    many = ip.solve(joint, ip.MarkovLagrangian(*(7.0 * r for r in ip.funnel(4.0).rho)), Columns(tol=7e-8))
    assert many.status is ip.Status.CERTIFIED
    assert many.loss == pytest.approx(7.0 * one.loss, abs=1e-7)


@pytest.mark.parametrize(
    "problem", [ip.bottleneck(0.3), ip.deterministic_bottleneck(0.2), ip.MarkovLagrangian(0.5, -0.7, 0.3)]
)
def test_other_problems_are_refused(problem):
    with pytest.raises(ip.UnsupportedProblemError, match="rho"):
        ip.solve(ip.datasets.paper_uniform(), problem, Columns())


@pytest.mark.parametrize("options", [{"tol": 0.0}, {"tol": -1e-6}, {"max_cells": 0}, {"max_seconds": 0.0}])
def test_options_are_checked(options):
    with pytest.raises(ip.InvalidOptionError):
        Columns(**options)


def test_limits_leave_a_bound_that_holds_and_no_false_claim():
    joint, problem = half_of_heart(), ip.funnel(10.0)
    best = ip.solve(joint, problem, Columns())
    for limited in (Columns(max_cells=20), Columns(max_seconds=1e-9)):
        found = ip.solve(joint, problem, limited)
        assert found.status is not ip.Status.CERTIFIED
        assert found.lower_bound <= best.loss
        verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)
    assert ip.solve(joint, problem, Columns(), max_iter=1).status is not ip.Status.CERTIFIED


@pytest.mark.parametrize(
    ("beta", "limits"), [(1e6, {"max_cells": 3}), (40.0, {"max_cells": 3}), (10.0, {"max_seconds": 1e-9})]
)
def test_a_search_cut_short_is_never_worse_than_the_default(beta, limits):
    rng = np.random.default_rng(3)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(3, 0.4), 5) * rng.dirichlet(np.ones(5))[:, None])
    problem = ip.funnel(beta)
    found, default = ip.solve(joint, problem, Columns(**limits)), ip.solve(joint, problem, rng=0)
    assert found.status is not ip.Status.CERTIFIED
    assert found.lower_bound <= default.loss
    assert found.loss <= default.loss + 1e-12 * beta


@pytest.mark.parametrize("looks", [1, 2, 8])
def test_an_interrupted_search_returns_its_encoder_and_its_bound(looks):
    joint, problem, seen = ip.datasets.heart(), ip.funnel(3.5), 0

    def impatient(_):
        nonlocal seen
        seen += 1
        if seen == looks:
            raise KeyboardInterrupt

    found = ip.solve(joint, problem, Columns(tol=1e-9), callback=impatient)
    assert found.status in (ip.Status.INTERRUPTED, ip.Status.STATIONARY, ip.Status.ALMOST)
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)
    assert found.lower_bound <= -2.099080
    assert found.loss <= ip.solve(joint, problem, "merging").loss + 1e-9


def test_many_letters_of_y_are_announced():
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(rng.random((60, 6)))
    with pytest.warns(ip.PenaltyWarning, match="up to 6 of 60 letters"):
        found = ip.solve(joint, ip.funnel(3.0), Columns(max_cells=50))
    assert found.lower_bound <= found.loss
    assert Columns().caution(Support(ip.datasets.heart()), ip.funnel(2.0), np.eye(16)) is None


def test_the_same_bits_every_time():
    joint, problem = ip.datasets.heart(), ip.funnel(2.5)
    one, two = (ip.solve(joint, problem, Columns(), rng=0) for _ in range(2))
    np.testing.assert_array_equal(one.encoder, two.encoder)
    assert one.lower_bound == two.lower_bound


def test_without_rng_the_certified_answer_is_the_same_every_time():
    joint, problem = ip.datasets.heart(), ip.funnel(2.5)
    one, two = (ip.solve(joint, problem, certify=True) for _ in range(2))
    np.testing.assert_array_equal(one.encoder, two.encoder)
    assert one.lower_bound == two.lower_bound


@pytest.mark.parametrize("beta", [311941.09, 1e9])
def test_a_large_beta_ends_with_an_encoder_and_a_bound(beta):
    joint = ip.Joint.from_counts([[3, 0], [0, 2], [2, 1], [2, 3], [0, 0]])
    problem = ip.funnel(beta)
    found = ip.solve(joint, problem, Columns())
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10 * beta)
    assert found.lower_bound <= found.loss
    # In units of beta, where the arithmetic is exact to 1e-16, the answer is sharp.
    assert found.gap <= 1e-9 * beta
    assert found.loss <= ip.solve(joint, problem, "merging").loss + 1e-9


@pytest.mark.parametrize("mass", [1e-30, 1e-300, 5e-324])
def test_a_letter_of_all_but_no_mass_does_not_stand_in_the_way_of_a_proof(mass):
    joint, problem = ip.Joint.from_counts([[mass, 2 * mass], [1, 0.5], [0.2, 2.0], [1, 1]]), ip.funnel(3.0)
    found = ip.solve(joint, problem, Columns())
    assert found.status is ip.Status.CERTIFIED
    without = ip.solve(ip.Joint.from_counts([[1, 0.5], [0.2, 2.0], [1, 1]]), problem, Columns())
    assert found.loss == pytest.approx(without.loss, abs=1e-6)


@pytest.mark.parametrize("cap", [1e-11, 1e-14])
def test_a_tiny_cap_ends_with_a_release_and_a_bound(cap):
    joint = ip.Joint.from_counts([[3, 0], [0, 2], [2, 1], [2, 3], [0, 0]])
    found = ip.funnel_at_leakage(joint, cap, max_cells=500)  # what is left to prove is below any search's tolerance
    assert found.solution.iyz <= cap
    assert found.solution.ixz <= found.upper_bound < joint.entropy_x


@pytest.mark.parametrize("seed", range(12))
def test_no_rival_beats_a_bound_with_many_letters_of_y(seed):
    """Bounds of searches that were cut short, and of whole ones, |Y| up to 10."""
    rng = np.random.default_rng(seed)
    n, m = int(rng.integers(4, 14)), int(rng.integers(5, 11))
    T = rng.dirichlet(np.full(m, (1.0, 0.15, 0.4)[seed % 3]), n)
    if seed % 4 == 0:
        T *= rng.random((n, m)) < 0.6
        T[T.sum(axis=1) == 0.0] = 1.0
    joint = ip.Joint.from_counts(rng.dirichlet(np.ones(n))[:, None] * T / T.sum(axis=1, keepdims=True))
    problem = ip.funnel(float(np.exp(rng.uniform(0.1, 3.0))))
    found = ip.solve(joint, problem, Columns(max_cells=int(rng.choice([3, 100, 3000]))), rng=0)
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)
    rivals = [ip.solve(joint, problem, name, starts=4, rng=0, max_iter=200).loss for name in ("merging", "accelerated")]
    assert found.lower_bound <= min(rivals)


def test_a_given_encoder_is_where_it_begins():
    """An optimal start needs no more columns than a few rounds of proof."""
    joint, problem = ip.datasets.heart(), ip.funnel(3.5)
    cold = ip.solve(joint, problem, Columns())
    warm = ip.solve(joint, problem, Columns(), init=cold.encoder)
    assert warm.iterations < cold.iterations
    assert warm.loss == pytest.approx(cold.loss, abs=1e-6)


COUNTS = [[3, 0], [0, 2], [2, 1], [2, 3]]


@pytest.mark.parametrize(("without_mass", "beta"), [(0, 1e6), (1, 1e4)])
def test_at_a_large_beta_neither_the_default_nor_columns_loses_to_the_other_or_to_perfect_privacy(without_mass, beta):
    joint, problem = ip.Joint.from_counts([*COUNTS, *without_mass * [[0, 0]]]), ip.funnel(beta)
    default, exact = ip.solve(joint, problem, rng=0), ip.solve(joint, problem, Columns())
    private = problem.value(joint, ip.perfect_privacy(joint).encoder)
    assert max(default.loss, exact.loss) <= min(default.loss, exact.loss, private) + 1e-6


def test_the_default_is_as_good_on_half_of_heart_at_a_large_beta():
    joint, problem = half_of_heart(), ip.funnel(1e3)
    assert ip.solve(joint, problem, rng=0).loss <= ip.solve(joint, problem, Columns()).loss + 1e-6


class Waiting:
    """In place of HiGHS: it presses Ctrl-C, and does not answer before it is released."""

    def __init__(self, pressed_at):
        self.calls, self.pressed_at, self.released, self.answered = 0, pressed_at, threading.Event(), 0

    def __call__(self, *arguments, **options):
        self.calls += 1
        if self.calls == self.pressed_at:
            # To a thread that is not the main one: as when the main thread is just about to sleep, nothing wakes it.
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
        if self.calls >= self.pressed_at:
            self.released.wait(300)
            self.answered += 1
        return real_linprog(*arguments, **options)


real_linprog = scipy.optimize.linprog


@pytest.fixture
def waiting(monkeypatch):
    monkeypatch.setattr(programme, "RULES", programme.RULES._replace(short=0))
    made = []

    def make(pressed_at):
        made.append(Waiting(pressed_at))
        monkeypatch.setattr(scipy.optimize, "linprog", made[0])
        return made[0]

    yield make
    made[0].released.set()


@pytest.mark.parametrize("pressed_at", [1, 3])
def test_control_c_is_heard_while_highs_works(pressed_at, waiting):
    joint, problem, highs = ip.datasets.heart(), ip.funnel(3.5), waiting(pressed_at)
    found = ip.solve(joint, problem, Columns())
    assert (highs.calls, highs.answered) == (pressed_at, 0)
    assert found.status is not ip.Status.CERTIFIED
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)
    assert found.lower_bound <= -2.099080


def test_control_c_is_heard_while_highs_works_for_the_default_solver(waiting):
    joint, problem, highs = ip.datasets.heart(), ip.funnel(3.5), waiting(1)
    found = ip.solve(joint, problem, starts=2, rng=0)
    assert (highs.calls, highs.answered) == (1, 0)
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-10)


def test_control_c_is_heard_while_highs_works_in_the_main_thread(waiting):
    joint, problem, highs = ip.datasets.heart(), ip.funnel(3.5), waiting(1)
    W = ip.solve(joint, problem, "merging").encoder
    proof = ip.certify(joint, problem, W)
    assert (highs.calls, highs.answered) == (1, 0)
    assert proof.lower_bound <= -2.099080
    assert not proof.certified


@pytest.mark.parametrize("beta", [1.0001, 1.01, 3.0])
def test_where_y_is_a_function_of_x_the_simple_bound_is_enough(beta):
    """Nothing leaks and H(X|Y) is said: near beta = 1 a search took seconds to find out."""
    joint, problem = ip.Joint.from_counts([[2, 0, 0], [1, 0, 0], [0, 3, 0], [0, 1, 0], [0, 0, 3]]), ip.funnel(beta)
    found = ip.solve(joint, problem, Columns())
    verify.check_solution(joint.p_xy, problem.rho, found)
    assert found.status is ip.Status.CERTIFIED
    assert found.loss == pytest.approx(joint.mutual_information - joint.entropy_x, abs=1e-6)
    assert ip.certify(joint, problem, found.encoder).cells == 0
