"""A solution: what follows from its encoder, what it says of how it ended, its trace; and which of several runs is the best."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.information import entropy
from infoplane.solution import TIE, best_of, contenders, fit_rate

UNIFORM, PROBLEM = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
RUN = {"starts": 1, "rng": 0, "max_iter": 2}

ENDS = st.lists(st.tuples(st.sampled_from([0.0, 4e-10, 8e-10, 1.2e-9, 0.5]), st.booleans()), min_size=1, max_size=9)


def test_numbers_and_frame_follow_from_the_encoder():
    found = ip.solve(ip.datasets.heart(), PROBLEM, "blahut-arimoto", starts=1, rng=0, clusters=3)
    verify.check_solution(found.joint.p_xy, PROBLEM.rho, found)
    frame = found.encoder_frame()
    assert frame.shape == (16, found.clusters)
    assert list(frame.index) == list(found.joint.x_labels)
    np.testing.assert_array_equal(frame.to_numpy(), found.encoder.T)
    np.testing.assert_allclose(found.p_z, found.encoder @ found.joint.p_x, rtol=0, atol=1e-15)


@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("rho", [(-0.8, -0.2, 1.0), (-2.4, -0.6, 3.0), (1.5, 1.0, -2.5), (3.0, 2.0, -5.0)])
def test_a_bound_follows_from_its_multipliers(rho, capped):
    P = np.array([[0.2, 0.05, 0.05], [0.05, 0.2, 0.0], [0.0, 0.0, 0.0], [0.1, 0.15, 0.2]])
    problem = ip.MarkovLagrangian(*rho)
    found = ip.solve(ip.Joint.from_matrix(P), problem, "merging" if capped else None, certify=True, starts=1, rng=0)
    seen = [0, 1, 3]
    assert found.multipliers[2] == 0.0
    p_x, p_y, T = P[seen].sum(axis=1), P.sum(axis=0), (P[seen] / P[seen].sum(axis=1, keepdims=True)).T

    def f(q):
        return rho[1] * entropy(q) + rho[2] * entropy(T @ q)

    lam = found.multipliers[seen]
    m = found.lower_bound + rho[1] * entropy(p_x) + rho[2] * entropy(p_y) - lam @ p_x
    assert -1e-6 <= m < 0.0
    for q in np.random.default_rng(0).dirichlet(np.full(3, 0.5), size=300):
        assert f(q) - lam @ q >= m
    p_z = found.encoder[:, seen] @ p_x
    touching = [
        f(found.encoder[z, seen] * p_x / p_z[z]) - lam @ (found.encoder[z, seen] * p_x / p_z[z])
        for z in range(len(p_z))
    ]
    assert max(p_z * touching) <= 2e-6


@pytest.mark.parametrize("solver", ["blahut-arimoto", "accelerated", "merging", "ib-2"])
def test_nobody_is_advised_on_options_that_the_solver_does_not_have_or_has_not_changed(solver):
    found = ip.solve(UNIFORM, PROBLEM, solver, **RUN)
    assert not found.converged
    assert found.advice == ""
    assert found.message == (
        f"{found.status.value}: {found.status.remedy}" if found.status.remedy else found.status.value
    )
    assert "penalty" not in str(found)
    assert "step=" not in str(found)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize(
    ("options", "advice"),
    [
        ({"penalty": 2.0}, "use penalty='auto'"),
        ({"step": "gradient", "penalty": 2.0}, "use step='majorise' and penalty='auto'"),
    ],
)
def test_a_splitting_solver_advises_its_own_defaults(options, advice):
    found = ip.solve(UNIFORM, PROBLEM, ip.DouglasRachford("ib-2", **options), **RUN)
    assert found.status is ip.Status.ITERATION_LIMIT
    assert found.message == f"{found.status.value}: raise max_iter, or {advice}"
    assert str(found).endswith(found.message)
    swept = ip.sweep(UNIFORM, ip.bottleneck, [0.2], ip.DouglasRachford("ib-2", **options), **RUN)
    assert swept.runs[0].message == found.message


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_a_run_that_converged_advises_nothing():
    found = ip.solve(UNIFORM, PROBLEM, ip.DouglasRachford("ib-1", penalty=8.0), starts=1, rng=0, max_iter=100_000)
    assert found.converged
    assert found.message == (
        f"{found.status.value}: {found.status.remedy}" if found.status.remedy else found.status.value
    )


def test_a_proof_at_its_limit_advises_to_raise_it():
    found = ip.solve(ip.datasets.heart(), ip.funnel(3.5), ip.Columns(max_cells=1), tol=1e-12)
    assert found.status is not ip.Status.CERTIFIED
    assert found.gap > 1e-3
    # What it answers with is stationary; had it not been, the way on would be a longer proof.
    assert replace(found, status=ip.Status.ITERATION_LIMIT).message.endswith(": raise max_cells or max_seconds")


@given(ENDS)
def test_the_lowest_is_best_and_among_equals_one_that_converged(ends):
    losses, converged = zip(*ends, strict=True)
    near = [index for index, loss in enumerate(losses) if loss <= min(losses) + TIE]
    assert best_of(losses, converged) == min(near, key=lambda index: (not converged[index], losses[index]))


@given(ENDS, ENDS)
def test_the_best_of_two_groups_is_a_contender_of_its_own(first, second):
    together = [*first, *second]
    best = best_of(*zip(*together, strict=True))
    group, index = (first, best) if best < len(first) else (second, best - len(first))
    assert index in contenders(*zip(*group, strict=True))


def test_a_thinned_trace_keeps_its_ends_and_says_which_iterations_it_has():
    run = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-2", starts=1, rng=0)
    thin = run.trace.thinned(10)
    assert len(thin) == 10
    assert (thin.iteration[0], thin.iteration[-1]) == (1, run.iterations)
    rows = thin.iteration.astype(int) - 1
    np.testing.assert_array_equal(thin.columns()[:, :6], run.trace.columns()[rows])
    np.testing.assert_array_equal(thin.thinned(3).iteration, thin.iteration[[0, 4, 9]])
    assert run.trace.thinned(run.iterations) is run.trace


def test_a_thinned_trace_has_no_rate():
    run = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-2", starts=1, rng=0)
    assert 0 < run.rate().factor < 1
    thin = ip.solution.replace(run, trace=run.trace.thinned(10))
    with pytest.raises(ValueError, match=f"kept 10 of the {run.iterations} iterations"):
        thin.rate()


def test_rate_recovers_a_planted_one_and_says_when_it_cannot():
    k = np.arange(200)
    planted = fit_rate(-1.0 + 0.9**k)
    assert planted.factor == pytest.approx(0.9, abs=1e-6)
    assert planted.r_squared == pytest.approx(1.0, abs=1e-9)
    sublinear = fit_rate(1.0 / (1.0 + k) ** 2)
    assert sublinear.r_squared < 0.99
    with pytest.raises(ValueError, match="too few"):
        fit_rate(np.zeros(3))


def test_str_names_units_and_status():
    text = str(ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2, rng=0))
    assert "nats" in text
    assert "bits" in text
    assert "stationary" in text


def test_the_exponent_of_a_linear_tail_is_one_half():
    """At a strict minimum the residuals fall as the root of the distance in loss: of Blahut-Arimoto by its loss, of ib-1 by L_c."""
    joint = ip.datasets.paper_uniform()
    plain = ip.DouglasRachford("ib-1", acceleration=False)
    for solver in ("blahut-arimoto", plain):
        found = ip.solve(joint, ip.bottleneck(0.2), solver, starts=2, rng=0)
        exponent = found.exponent()
        assert exponent.theta == pytest.approx(0.5, abs=0.05)
        assert exponent.r_squared > 0.98
    with pytest.raises(ip.InvalidOptionError, match="kept no trace"):
        replace(found, trace=None).exponent()


def test_a_trace_draws_itself():
    pytest.importorskip("matplotlib")
    found = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "ib-1", starts=2, rng=0)
    ax = found.plot_trace()
    assert ax.get_yscale() == "log"
    assert {line.get_label() for line in ax.lines} >= {"primal residual", "dual residual", "stationarity residual"}
    assert found.plot_trace(ax) is ax


def test_a_bound_is_never_above_the_loss_by_rounding_nor_minus_zero():
    from infoplane.solution import beneath

    assert str(beneath(-0.0, 0.0)) == "0.0"
    assert beneath(-0.0, -7e-17) == -7e-17
    assert beneath(-1.0, 0.5) == -1.0
    assert beneath(0.1, 0.0) == 0.1  # a contradiction stays one
    assert beneath(None, 0.0) is None
    found = ip.solve(ip.datasets.heart(), ip.bottleneck(0.9), certify=True, rng=0)
    assert found.gap >= 0.0
    assert str(found.lower_bound) != "-0.0"
