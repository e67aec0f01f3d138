import numpy as np
import pytest

import infoplane as ip
import verify
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.constrained import root

JOINT = ip.datasets.paper_nonuniform()


def test_roots_of_an_increasing_function_side_by_side():
    """sqrt(a), one per entry; nothing to find where it is positive at 0, or negative up to the largest."""
    a = np.array([4.0, 1e-4, 1e4, -1.0, 1e9])
    found = root(lambda lam: (lam**2 - a, 2.0 * lam), np.ones(5), 1e3)
    np.testing.assert_allclose(found[:3], [2.0, 1e-2, 1e2], rtol=1e-10)
    assert found[3] < 1e-11
    assert found[4] == 1e3


def test_which_problems_have_a_multiplier():
    def held(solver, problem):
        support = Support(ip.datasets.paper_uniform())
        return solver.begin(ip.Job(support, problem, starts=np.eye(3)[None])).lam[0]

    assert held(ip.BregmanProjection(), ip.bottleneck(0.3)) == pytest.approx(1 / 0.3)
    assert held(ip.BregmanProjection(), ip.MarkovLagrangian(-1.4, -0.6, 2.0)) == pytest.approx(1 / 0.3)
    assert held(ip.EMFunnel(), ip.funnel(2.5)) == pytest.approx(1 / 2.5)
    for problem in (ip.funnel(2.5), ip.deterministic_bottleneck(0.3)):
        assert "abp is for the bottleneck" in ip.BregmanProjection().refusal(problem)


@pytest.mark.parametrize(
    "solver", [ip.BregmanProjection(rate=0.3), ip.EMFunnel(rate=0.3), ip.TransportBottleneck(relevance=0.1)]
)
def test_a_run_under_a_constraint_is_judged_by_the_problem_that_was_asked_for(solver):
    """It may be stationary for its own multiplier; what is reported is the residual of the problem, and the advice names the other."""
    problem = ip.funnel(2.2) if solver.name == "em-pf" else ip.bottleneck(0.2)
    found = ip.solve(JOINT, problem, solver, starts=2, rng=0, max_iter=2000)
    verify.check_solution(JOINT.p_xy, problem.rho, found, tol=1e-9)
    assert not found.converged
    assert ("beta" if solver.name == "em-pf" else "gamma") + " = " in found.advice


@pytest.mark.parametrize("make", [ip.BregmanProjection, ip.EMFunnel])
@pytest.mark.parametrize("bad", [0.0, -1.0, np.nan, "much"])
def test_a_bound_is_a_positive_number(make, bad):
    with pytest.raises(ip.InvalidOptionError, match="rate must be a positive number of nats"):
        make(rate=bad)


START = np.random.default_rng(0).dirichlet(np.ones(3), size=3).T


def test_with_the_multiplier_held_it_is_blahut_arimoto():
    batch = Stepped(ip.BregmanProjection(), JOINT, ip.bottleneck(0.3), START[None], limit=10)
    batch.advance(1)
    p_x, T = JOINT.p_x, JOINT.p_xy / JOINT.p_x[:, None]
    p_z = START @ p_x
    decoder = (START @ JOINT.p_xy) / p_z[:, None]
    kl = (T[None] * np.log(T[None] / decoder[:, None])).sum(axis=2)
    expected = p_z[:, None] * np.exp(-kl / 0.3)
    np.testing.assert_allclose(batch.state.W[0], expected / expected.sum(axis=0), rtol=1e-12)


@pytest.mark.parametrize("rate", [0.2, 0.5])
def test_the_point_of_the_frontier_at_a_rate(rate):
    """I(X;Z) is the rate; at the gamma that was found the loss is the certified optimum, so that no encoder of that rate is better."""
    first = ip.solve(JOINT, ip.bottleneck(0.5), ip.BregmanProjection(rate=rate), starts=4, rng=0)
    assert first.ixz == pytest.approx(rate, abs=1e-9)
    gamma = float(first.advice.split("gamma = ")[1].split(",")[0])
    proof = ip.certify(JOINT, ip.bottleneck(gamma), first.encoder)
    assert proof.gap < 1e-6


def test_other_problems_are_refused():
    with pytest.raises(ip.UnsupportedProblemError, match=r"abp is for the bottleneck.*found rho"):
        ip.solve(JOINT, ip.funnel(2.0), "abp")


def jensen(W, V, lam):
    """The paper's relaxed Lagrangian at V, with q(x|y,z) and the bound on I(X;Z) taken at W, by explicit sums; up to a constant."""
    P, p_x = JOINT.p_xy, JOINT.p_x
    value = 0.0
    for z in range(len(W)):
        r = W[z] @ p_x
        for x in range(3):
            u = p_x[x] * V[z, x]
            value -= lam * u * np.log(W[z, x] / r)
            for y in range(3):
                q = P[x, y] * W[z, x] / (W[z] @ P[:, y])
                value += P[x, y] * V[z, x] * np.log(P[x, y] * V[z, x] / (q * r))
    return value


def test_a_step_minimises_the_relaxed_lagrangian():
    beta = 2.5
    batch = Stepped(ip.EMFunnel(), JOINT, ip.funnel(beta), START[None], limit=10)
    batch.advance(1)
    new = batch.state.W[0]
    best = jensen(START, new, 1.0 / beta)
    rng = np.random.default_rng(1)
    for size in (0.2, 0.02, 0.002):
        other = new * np.exp(size * rng.standard_normal(new.shape))
        assert jensen(START, other / other.sum(axis=0), 1.0 / beta) > best


@pytest.mark.parametrize("beta", [1.5, 5.0])
def test_the_loss_never_rises(beta):
    batch = Stepped(
        ip.EMFunnel(),
        ip.datasets.heart(),
        ip.funnel(beta),
        np.random.default_rng(0).dirichlet(np.ones(16), 16).T[None],
        limit=60,
        record=True,
    )
    batch.advance(60)
    assert (np.diff(batch.runs()[0].trace.loss) <= 1e-12).all()


def test_the_least_leakage_at_a_rate_is_no_less_than_what_is_proven():
    """The rate is met; the leakage lies on or above the certified line of the slope that was found, and near it."""
    found = ip.solve(JOINT, ip.funnel(2.0), ip.EMFunnel(rate=0.4), starts=2, rng=0, init="random", max_iter=1000)
    assert found.ixz == pytest.approx(0.4, abs=1e-6)
    proven = ip.solve(JOINT, ip.funnel(2.0), certify=True, rng=0).lower_bound
    assert -1e-9 <= 2.0 * found.iyz - found.ixz - proven < 0.05


@pytest.mark.parametrize("gamma", [0.2, 0.4])
def test_its_fixed_points_solve_the_self_consistent_equations(gamma):
    """And its best of eight is Blahut-Arimoto's here."""
    found, other = (
        ip.solve(JOINT, ip.bottleneck(gamma), name, starts=8, rng=0, init="random")
        for name in ("ot-ib", "blahut-arimoto")
    )
    assert found.converged
    assert found.loss == pytest.approx(other.loss, abs=1e-8)
    assert JOINT.p_x @ np.abs(found.encoder.sum(axis=0) - 1.0) < 1e-12


def test_the_least_rate_at_a_relevance():
    """The dual of abp's problem: the same gamma, the same point."""
    relevance = ip.solve(JOINT, ip.bottleneck(0.5), ip.BregmanProjection(rate=0.2), starts=2, rng=0, init="random").iyz
    solver = ip.TransportBottleneck(relevance=relevance)
    found = ip.solve(JOINT, ip.bottleneck(0.58), solver, starts=4, rng=0, init="random", max_iter=3000)
    assert found.iyz == pytest.approx(relevance, abs=1e-7)
    assert found.ixz == pytest.approx(0.2, abs=1e-7)
