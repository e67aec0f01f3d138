import os
import signal

import numpy as np
import pytest

import infoplane as ip
import twins
import verify
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.base import make_starts, random_encoder, seed_sequence
from infoplane.solvers.splitting.block import minimise
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import SplittingIteration

UNIFORM = ip.datasets.paper_uniform()


def test_a_row_that_is_all_rounding_does_not_end_in_nan():
    """p(y|x) of 0 and 1 but for 1e-12, small gamma: a column of W comes to be 0 or 1 throughout, and its curvature is all rounding."""
    rng = np.random.default_rng([31, 74])
    n_x, n_y = int(rng.integers(2, 31)), int(rng.integers(2, 5))
    rng.dirichlet(np.full(n_y, 0.3), size=n_x)  # so that the numbers below are those that failed
    T = np.full((n_x, n_y), 10.0 ** rng.integers(-12, -2))
    T[np.arange(n_x), rng.integers(0, n_y, n_x)] = 1.0
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(n_x, 2.0))[:, None] * T / T.sum(axis=1, keepdims=True))
    problem = ip.bottleneck(0.020836080053702768)
    W = make_starts(joint, None, 200, seed_sequence(74), "random")[81:82].copy()
    batch = Stepped(ip.SOLVERS["ib-2"], Support(joint), problem, W)
    going = True
    while going:
        going = batch.advance(1)
        (run,) = batch.runs()
        assert np.isfinite(run.encoder).all()
        going = going and run.iterations < 40
    verify.check_encoder(joint.p_xy, run.encoder, tol=1e-9)


@pytest.mark.parametrize(
    "make", [ip.datasets.paper_uniform, ip.datasets.paper_nonuniform], ids=["uniform", "non-uniform"]
)
def test_formulations_agree_at_convergence(make):
    """From the same starts each bottleneck formulation ends at the same best loss, whatever alpha and order."""
    joint = make()
    for gamma in (0.1, 0.4):
        found = [
            ip.solve(
                joint, ip.bottleneck(gamma), ip.DouglasRachford(name, relaxation=alpha), starts=6, rng=2, init="random"
            )
            for name in ("ib-1", "ib-2", "ib-1v")
            for alpha in (1.0, 1.618)
        ]
        assert all(one.status is ip.Status.STATIONARY for one in found)
        losses = [one.loss for one in found]
        assert max(losses) - min(losses) < 1e-7


@pytest.mark.parametrize("formulation", ["ib-1", "pf-2", "ib-1v", "pf-2v"])
def test_solver_one_and_solver_two_agree_at_convergence(formulation):
    """The same blocks in the other order: a different path, the same stationary point from a start near it."""
    joint = ip.datasets.paper_uniform()
    problem = ip.bottleneck(0.2) if formulation.startswith("ib") else ip.funnel(2.5)
    reference = ip.solve(joint, problem, formulation, starts=4, rng=0)
    near = 0.9 * reference.encoder + 0.1 * random_encoder(reference.clusters, 3, np.random.default_rng(0))
    for order in ("I", "II"):
        found = ip.solve(joint, problem, ip.DouglasRachford(formulation, relaxation=1.0, order=order), init=near)
        assert found.status is ip.Status.STATIONARY
        assert found.loss == pytest.approx(reference.loss, abs=1e-9)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_gradient_and_exact_agree_where_the_gradient_step_converges():
    """The paper's step needs a good start and a small tolerance on the primal residual: near the optimum both stay there."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.5)
    exact = ip.solve(joint, problem, "ib-1", starts=4, rng=0)
    near = 0.98 * exact.encoder + 0.02 / exact.clusters
    gradient = ip.solve(
        joint, problem, ip.DouglasRachford("ib-1", step="gradient", penalty=16.0), init=near, max_iter=20_000
    )
    assert gradient.loss == pytest.approx(exact.loss, abs=1e-4)
    assert gradient.loss >= exact.loss - 1e-9


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_run_that_meets_only_the_papers_rule_is_not_called_converged():
    """Measured in the paper's own setting: the primal residual is tiny far from any stationary point."""
    found = ip.solve(
        ip.datasets.paper_uniform(),
        ip.bottleneck(0.1),
        ip.DouglasRachford("ib-1", step="gradient", penalty=16.0, relaxation=1.0),
        starts=4,
        init="random",
        rng=0,
    )
    assert found.residuals.primal <= 2e-6
    assert not found.converged
    assert found.loss > -0.344377 + 1e-3


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_tails_are_linear(formulation):
    problem = ip.bottleneck(0.2) if formulation.startswith("ib") else ip.funnel(2.5)
    found = ip.solve(
        UNIFORM,
        problem,
        ip.DouglasRachford(formulation, relaxation=1.0, acceleration=False),
        starts=1,
        init="random",
        rng=0,
        tol=1e-10,
    )
    rate = found.rate()
    assert 0.0 < rate.factor < 1.0
    assert rate.r_squared > 0.99
    assert rate.last > rate.first


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"formulation": "ib-3"}, "formulation must be auto or one of"),
        ({"step": "newton"}, "step must be"),
        ({"penalty": 0.0}, "penalty must be"),
        ({"penalty": "big"}, "penalty must be"),
        ({"relaxation": 0.0}, "relaxation must be"),
        ({"relaxation": 2.1}, "relaxation must be"),
        ({"inner": 0}, "inner must be"),
        ({"proximal": -1.0}, "proximal must be"),
        ({"first_step": 0.0}, "first_step must be"),
        ({"order": 1}, "order must be"),
    ],
)
def test_bad_solver_options(options, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        ip.DouglasRachford(**options)


@pytest.mark.parametrize("formulation", ["ib-1", "ib-2", "pf-2"])
def test_a_flag_gives_up_the_iteration_under_way(formulation):
    joint, problem = ip.datasets.heart(), ip.funnel(3.0) if formulation == "pf-2" else ip.bottleneck(0.1)
    W = make_starts(joint, 5, 3, seed_sequence(0), "random")
    batch = Stepped(ip.SOLVERS[formulation], Support(joint), problem, W, record=True)
    assert batch.advance(2)
    before, budget = [run.encoder for run in batch.runs()], batch.job.budget
    budget.stop()
    batch.advance(2)
    for run, known in zip(batch.runs(), before, strict=True):
        assert (run.iterations, len(run.trace)) == (2, 2)
        np.testing.assert_array_equal(run.encoder, known)
    budget.flag[0] = 0
    assert batch.advance(1)  # it could go on
    assert [run.iterations for run in batch.runs()] == [3, 3, 3]


def test_control_c_is_heard_inside_one_iteration(monkeypatch):
    """One of 6,000 unknowns and many products of conjugate gradients, which is far from its end when Ctrl-C is heard."""
    joint = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(2000, 60)))
    real = SplittingIteration.advance

    def pressed(iteration, steps, trace):
        os.kill(os.getpid(), signal.SIGINT)
        return real(iteration, steps, trace)

    monkeypatch.setattr(SplittingIteration, "advance", pressed)
    exact = ip.DouglasRachford("ib-2", step="exact")
    problem = ip.bottleneck(0.01)
    found = ip.solve(joint, problem, exact, clusters=100, starts=1, rng=0)
    assert found.status is ip.Status.INTERRUPTED
    assert found.iterations == 0
    assert found.loss == pytest.approx(problem.value(joint, found.encoder), abs=1e-12)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_dual_of_thousands_of_unknowns_takes_steps_that_descend():
    """1,830 of them; as a dense system the first iteration alone takes seconds."""
    joint = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(90, 60)))
    solver = ip.DouglasRachford("ib-2", relaxation=1.0, penalty=64.0, acceleration=False)
    start = np.random.default_rng(0).dirichlet(np.ones(30), size=90).T
    levels = [one.augmented for one in ip.iterates(joint, ip.bottleneck(0.2), solver, start, max_iter=4)][1:]
    assert len(levels) == 4
    assert (np.diff(levels) < 0).all()


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_majorised_steps_are_not_exact_ones_unless_argmins_have_a_closed_form():
    """After two iterations; ib-2 and ib-1v take argmins exactly either way."""
    joint = ip.datasets.paper_uniform()
    start = np.random.default_rng(0).dirichlet(np.ones(3), size=3).T

    def after_two(formulation, step):
        problem = ip.bottleneck(0.2) if formulation.startswith("ib") else ip.funnel(2.5)
        solver = ip.DouglasRachford(formulation, step=step, penalty=16.0, relaxation=1.0)
        return list(ip.iterates(joint, problem, solver, start, max_iter=2))[-1].W

    apart = {
        name: np.abs(after_two(name, "exact") - after_two(name, "majorise")).max()
        for name in ("ib-1", "ib-2", "ib-1v", "pf-1", "pf-2", "pf-2v")
    }
    assert max(apart["ib-2"], apart["ib-1v"]) < 1e-12
    assert min(apart[name] for name in ("ib-1", "pf-1", "pf-2", "pf-2v")) > 1e-3
    assert apart["ib-1"] > 0.1


def test_exact_steps_converge_to_the_same_optimum():
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
    for name in ("ib-1", "ib-2"):
        found = ip.solve(joint, problem, ip.DouglasRachford(name, step="exact"), starts=4, rng=0)
        assert found.converged
        assert found.loss == pytest.approx(-0.240760, abs=1e-6)


@pytest.mark.parametrize("name", ["ib-1", "ib-2", "ib-1v", "pf-1", "pf-2v"])
def test_leaps_never_raise_the_augmented_lagrangian(name):
    """At a constant penalty above the proven threshold leaps are off; with the automatic one, once it rests, L_c falls, leaps included."""
    problem = ip.bottleneck(0.6) if name.startswith("ib") else ip.funnel(5.0)
    run = ip.solve(ip.datasets.paper_nonuniform(), problem, name, starts=1, init="random", rng=2, max_iter=2000)
    rests = np.flatnonzero(np.diff(run.trace.penalty) != 0.0).max(initial=0) + 2
    assert len(run.trace) > rests + 60
    assert np.diff(run.trace.augmented[rests:]).max() <= 1e-12


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_three_blocks_one_after_another_are_an_iteration_of_ib_2():
    """W, then p(z), then each p(z|y), then both dual variables, by the obvious twins; against the compiled run."""
    joint, gamma, c = ip.datasets.paper_nonuniform(), 0.3, 40.0
    support, problem = Support(joint), ip.bottleneck(gamma)
    W = np.random.default_rng(5).dirichlet(np.full(2, 3.0), size=3).T.copy()
    batch = Stepped(ip.ThreeBlockADMM(penalty=c), support, problem, W[None].copy(), tol=1e-13, limit=10)
    M = np.column_stack([support.p_x, support.K])
    q, nu = W @ M, np.zeros((2, 4))
    weights = np.concatenate([[gamma - 1.0], support.p_y])  # of H(Z) and of each H(Z|Y = y)

    def nearest(weight, target, start):
        """Argmin of weight H(v) + (c/2) |v - target|^2 on the simplex."""

        def objective(v):
            log = np.log(np.maximum(v, 1e-300))
            return -weight * float(v @ log) + 0.5 * c * float(((v - target) ** 2).sum()), -weight * (log + 1.0) + c * (
                v - target
            )

        return minimise(objective, start, "simplex")

    for _ in range(3):
        W = twins.encoder_argmin_convex(support.P, M, (0.0, -gamma, 0.0), (0.0, 0.0), q, -nu, np.full_like(q, c), W)
        q = q.copy()
        for j in range(4):  # p(z) first, then p(z|y) for every y
            q[:, j] = nearest(weights[j], W @ M[:, j] + nu[:, j] / c, q[:, j])
        nu = nu + c * (W @ M - q)
        batch.advance(1)
        np.testing.assert_allclose(batch.state.W[0], W, atol=1e-6)
        np.testing.assert_allclose(batch.state.v[0], q, atol=1e-6)
        np.testing.assert_allclose(batch.state.nu[0], nu, atol=1e-4)


def test_it_says_who_found_the_answer_and_is_nothing_but_ib_2():
    found = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.4), "admm-ib-3", starts=2, rng=0)
    plain = ip.DouglasRachford("ib-2", relaxation=1.0, acceleration=False)
    same = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.4), plain, starts=2, rng=0)
    assert (found.solver, same.solver) == ("admm-ib-3", "ib-2")
    np.testing.assert_array_equal(found.encoder, same.encoder)
    with pytest.raises(ip.InvalidOptionError, match="run of ib-2"):
        ip.ThreeBlockADMM("ib-1")
