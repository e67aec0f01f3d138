"""`certify` by the kind of problem: posterior forms, problems that have one below them, and those that no bound exists for."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.posterior.form import gamma_of
from infoplane.problem import has_posterior_form, is_bottleneck, posterior_form_below

NONUNIFORM = ip.datasets.paper_nonuniform()

MAPS = [
    labels
    for labels in itertools.product(range(4), repeat=4)
    if all(label <= max(labels[:x], default=-1) + 1 for x, label in enumerate(labels))
]
"""Every map of four letters, up to the names of its clusters."""


@settings(max_examples=100, deadline=None)
@given(
    rho=st.tuples(*[st.floats(-3.0, 3.0)] * 3).filter(lambda rho: abs(sum(rho)) > 1e-6),
    seed=st.integers(0, 1000),
    clusters=st.integers(1, 4),
)
def test_the_problem_below_is_below_and_touches_at_deterministic_encoders(rho, seed, clusters):
    problem, rng = ip.MarkovLagrangian(*rho), np.random.default_rng(seed)
    below = posterior_form_below(problem)
    if sum(rho) < 0.0 or rho[0] == rho[2] == 0.0:
        assert below is problem
        return
    assert has_posterior_form(below)
    soft = rng.dirichlet(np.full(clusters, 0.4), size=3).T
    hard = np.eye(clusters)[:, rng.integers(0, clusters, 3)]
    conditional = verify.entropies(NONUNIFORM.p_xy, soft)[1]
    assert problem.value(NONUNIFORM, soft) - below.value(NONUNIFORM, soft) == pytest.approx(
        sum(rho) * conditional, abs=1e-12
    )
    assert problem.value(NONUNIFORM, hard) == pytest.approx(below.value(NONUNIFORM, hard), abs=1e-12)


@pytest.mark.parametrize("a", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("gamma", [0.05, 0.3])
def test_generalised_bottlenecks_have_the_bottleneck_below_them(gamma, a):
    below = posterior_form_below(ip.generalised_bottleneck(gamma, a))
    assert is_bottleneck(below)
    assert below.rho == pytest.approx(ip.bottleneck(gamma).rho, abs=1e-15)


@pytest.mark.parametrize("a", [0.0, 0.3, 0.9])
def test_no_encoder_beats_the_bound_of_a_generalised_bottleneck(a):
    """Every deterministic map, and thousands of soft ones, of tiny joints."""
    rng = np.random.default_rng(7)
    for _ in range(6):
        joint = ip.Joint.from_counts(rng.dirichlet(np.full(3, 0.5), size=4) * rng.dirichlet(np.full(4, 2.0))[:, None])
        problem = ip.generalised_bottleneck(float(rng.uniform(0.05, 0.6)), a)
        best = ip.solve(joint, problem, certify=True, rng=0)
        maps = [problem.value(joint, np.eye(4)[:, list(labels)]) for labels in MAPS]
        soft = [
            problem.value(joint, rng.dirichlet(np.full(4, c), size=4).T) for c in (0.02, 0.1, 0.5) for _ in range(100)
        ]
        assert best.lower_bound <= min(*maps, *soft, best.loss) + 1e-12
        # A deterministic map has the loss of the bottleneck, which the bound is of: in between lies nothing but hardness.
        assert best.lower_bound >= ip.solve(joint, ip.bottleneck(problem.parameter), certify=True).lower_bound - 1e-6
        assert (best.status is ip.Status.CERTIFIED) == (best.gap <= 1e-6)


def test_a_deterministic_bottleneck_whose_bottleneck_is_hard_is_certified():
    problem = ip.deterministic_bottleneck(0.05)
    best = ip.solve(NONUNIFORM, problem, certify=True, rng=0)
    assert best.status is ip.Status.CERTIFIED
    found = ip.certify(NONUNIFORM, problem, best.encoder)
    assert found.certified
    assert found.problem == problem
    assert found.loss == best.loss
    soft = 0.9 * best.encoder + 0.1 / len(best.encoder)
    worse = ip.certify(NONUNIFORM, problem, soft)
    assert worse.loss == problem.value(NONUNIFORM, soft)
    assert not worse.certified
    assert worse.posterior is None


def test_sweeps_of_the_deterministic_bottleneck_have_bounds():
    found = ip.sweep(NONUNIFORM, ip.deterministic_bottleneck, [0.05, 0.3], certify=True, rng=0)
    assert all(run.lower_bound is not None for run in found.runs)
    assert {run.solver for run in found.runs} > {"envelope"}
    best = [found.runs[row] for row in found.best_rows()]
    assert [run.status is ip.Status.CERTIFIED for run in best] == [run.gap <= 1e-6 for run in best] == [True, False]
    with pytest.raises(ip.InvalidOptionError, match="bottlenecks alone"):
        found.enclosure()


@pytest.mark.parametrize(("rho", "reason"), [
    ((-1.0, -0.2, 0.5), "falls without limit"),
    ((-0.9, 0.0, 0.5), "falls without limit"),
    ((1.0, 1.0, -1.0), "plus a positive multiple of H"),
    ((-2.0, 3.0, 0.5), "plus a positive multiple of H"),
])  # fmt: skip
def test_where_the_theory_stops_the_refusal_says_so(rho, reason):
    with pytest.raises(ip.UnsupportedProblemError, match=reason):
        ip.certify(NONUNIFORM, ip.MarkovLagrangian(*rho), np.eye(3))


def test_a_negative_sum_has_no_bound():
    """Z of n letters that say nothing of X: the loss falls like S log n."""
    problem = ip.MarkovLagrangian(-1.0, -0.2, 0.5)
    losses = [problem.value(NONUNIFORM, np.full((n, 3), 1.0 / n)) for n in (1, 10, 100)]
    assert losses == pytest.approx([-0.7 * np.log(n) for n in (1, 10, 100)])


def test_multiples_of_a_bottleneck_are_certified_too():
    joint = ip.datasets.paper_uniform()
    one = ip.certify(joint, ip.bottleneck(0.3), np.eye(3), tol=1e-8)
    three = ip.certify(joint, ip.MarkovLagrangian(-2.1, -0.9, 3.0), np.eye(3), tol=3e-8)
    assert three.lower_bound == pytest.approx(3.0 * one.lower_bound, abs=1e-7)
    assert three.loss == pytest.approx(3.0 * one.loss, abs=1e-12)
    assert gamma_of(ip.MarkovLagrangian(1.0, -3.0, 2.0)) == 1.5


@pytest.mark.parametrize(
    "problem", [ip.funnel(2.0), ip.deterministic_bottleneck(0.2), ip.generalised_bottleneck(0.2, 0.5)]
)
def test_other_problems_are_refused_by_name(problem):
    with pytest.raises(ip.UnsupportedProblemError, match="rho_zx < 0 < rho_zy"):
        gamma_of(problem)


def test_the_encoder_given_is_not_modified():
    joint, W = ip.datasets.paper_uniform(), np.eye(3)
    before = W.copy()
    ip.certify(joint, ip.bottleneck(0.3), W)
    np.testing.assert_array_equal(W, before)
