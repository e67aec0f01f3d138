import copy
import inspect
import math
import pickle
import pydoc
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse

import infoplane as ip
import verify
from infoplane import datasets
from infoplane.encoder.encoder import check_encoder
from infoplane.errors import InvalidEncoderError, InvalidOptionError
from infoplane.information import encoder_entropies, plane_point
from infoplane.joint.joint import Joint
from infoplane.problem import (
    FAMILIES,
    MarkovLagrangian,
    bottleneck,
    deterministic_bottleneck,
    family_of,
    funnel,
    generalised_bottleneck,
    has_posterior_form,
    lagrangian,
    record_of,
    siblings,
)
from strategies import chains, positive_encoders

FAST = settings(deadline=None, max_examples=36)
TOL = 1e-12

coefficients = st.floats(-3.0, 3.0).map(lambda v: round(v, 3))
problems = st.one_of(
    st.tuples(coefficients, coefficients, coefficients).filter(any).map(lambda rho: MarkovLagrangian(*rho)),
    st.floats(0.05, 1.0).map(bottleneck),
    st.floats(0.05, 20.0).map(funnel),
    st.floats(0.05, 1.0).map(deterministic_bottleneck),
    st.tuples(st.floats(0.05, 1.0), st.floats(0.0, 1.0)).map(lambda pair: generalised_bottleneck(*pair)),
)


# -- value -------------------------------------------------------------------------------------------------------------


@given(chains(), problems)
@FAST
def test_value_against_explicit_sums(chain, problem):
    joint, W = chain
    assert problem.value(joint, W) == pytest.approx(verify.lagrangian(joint.p_xy, W, problem.rho), abs=TOL)


@given(chains(), st.floats(0.05, 1.0), st.floats(0.05, 20.0), st.floats(0.0, 1.0))
@FAST
def test_named_members_equal_their_formula(chain, gamma, beta, a):
    joint, W = chain
    h, (ixz, iyz) = encoder_entropies(joint, [W])[0], plane_point(joint, W)
    for problem, expected in (
        (bottleneck(gamma), gamma * ixz - iyz),
        (funnel(beta), beta * iyz - ixz),
        (deterministic_bottleneck(gamma), gamma * h.z - iyz),
        (generalised_bottleneck(gamma, a), gamma * (h.z - a * h.z_given_x) - iyz),
    ):
        assert problem.value(joint, W) == pytest.approx(expected, abs=TOL * max(1.0, beta)), problem.family


@given(st.floats(0.01, 1.0))
@FAST
def test_the_generalised_bottleneck_joins_the_other_two(gamma):
    assert generalised_bottleneck(gamma, 1.0).rho == bottleneck(gamma).rho
    assert generalised_bottleneck(gamma, 0.0).rho == deterministic_bottleneck(gamma).rho


def test_names_and_coefficients():
    problem = MarkovLagrangian(rho_z=-0.8, rho_zx=-0.2, rho_zy=1.0)
    assert problem.rho == (-0.8, -0.2, 1.0)
    assert (problem.family, problem.parameter) == ("lagrangian", None)
    assert bottleneck(0.25) == MarkovLagrangian(-0.75, -0.25, 1.0, "bottleneck", 0.25)
    assert funnel(beta=4) == MarkovLagrangian(3.0, 1.0, -4.0, "funnel", 4.0)


# -- gradient ----------------------------------------------------------------------------------------------------------


def slope(f, W, direction, h=1e-5):
    return (f(W + h * direction) - f(W - h * direction)) / (2 * h)


@given(chains(positive_encoders), problems, st.data())
@FAST
def test_gradient_along_feasible_directions(chain, problem, data):
    joint, W = chain
    direction = np.array([[data.draw(st.floats(-1, 1)) for _ in range(W.shape[1])] for _ in range(W.shape[0])])
    direction -= direction.mean(axis=0)
    expected = slope(lambda V: problem.value(joint, V), W, direction)
    assert (problem.gradient(joint, W) * direction).sum() == pytest.approx(expected, abs=2e-6, rel=2e-6)


@given(chains(positive_encoders), problems, st.data())
@FAST
def test_gradient_along_one_entry_at_a_time(chain, problem, data):
    joint, W = chain
    at = data.draw(st.integers(0, W.shape[0] - 1)), data.draw(st.integers(0, W.shape[1] - 1))
    direction = np.zeros_like(W)
    direction[at] = 1.0
    # Off the simplex `value` refuses, the explicit sums do not.
    expected = slope(lambda V: verify.lagrangian(joint.p_xy, V, problem.rho), W, direction)
    assert problem.gradient(joint, W)[at] == pytest.approx(expected, abs=2e-6, rel=2e-6)


@given(chains(positive_encoders), problems)
@FAST
def test_sparse_agrees_with_dense(chain, problem):
    joint, W = chain
    twin = Joint.from_matrix(sparse.csr_array(joint.p_xy))
    assert problem.value(twin, W) == pytest.approx(problem.value(joint, W), abs=TOL)
    gradient = problem.gradient(twin, W)
    assert type(gradient) is np.ndarray
    np.testing.assert_allclose(gradient, problem.gradient(joint, W), atol=TOL)


@given(chains(positive_encoders), problems)
@FAST
def test_an_x_of_zero_mass_has_no_gradient(chain, problem):
    joint, W = chain
    seen_x, _ = joint.support()
    assert not problem.gradient(joint, W)[:, ~seen_x].any()


@given(chains(), problems)
@FAST
def test_gradient_at_zeros_is_the_limit_from_inside(chain, problem):
    joint, W = chain
    near, nearer = (explicit_gradient(joint, np.maximum(W, t), problem.rho) for t in (1e-140, 1e-280))
    gradient = problem.gradient(joint, W)
    assert not np.isnan(gradient).any()
    finite = np.isfinite(gradient)
    np.testing.assert_allclose(gradient[finite], nearer[finite], atol=1e-9)
    # What is infinite still grows by log(1e140) times a weight; what is finite has arrived.
    assert np.array_equal(np.sign(gradient[~finite]), np.sign((nearer - near)[~finite]))
    assert (np.abs(nearer - near)[finite] < 1e-9).all()


def explicit_gradient(joint, W, rho):
    p_zy = W @ joint.p_xy
    gradient = np.zeros_like(W)
    for z, x in np.ndindex(*W.shape):
        if joint.p_x[x] > 0:
            gradient[z, x] -= rho[0] * joint.p_x[x] * (math.log(W[z] @ joint.p_x) + 1)
            gradient[z, x] -= rho[1] * joint.p_x[x] * (math.log(W[z, x]) + 1)
        for y in np.flatnonzero(joint.p_xy[x]):
            gradient[z, x] -= rho[2] * joint.p_xy[x, y] * (math.log(p_zy[z, y] / joint.p_y[y]) + 1)
    return gradient


def test_gradient_at_zeros_by_hand():
    joint = Joint.from_matrix([[0.5, 0.0], [0.0, 0.5]])
    identity = np.eye(2)
    # Bottleneck: an x can only lose by entering a cluster that knows nothing of its y; the funnel invites it.
    assert bottleneck(0.5).gradient(joint, identity)[0, 1] == math.inf
    assert funnel(3.0).gradient(joint, identity)[0, 1] == -math.inf
    for problem in (bottleneck(0.1), bottleneck(0.7), funnel(0.3), funnel(7.1)):
        empty = problem.gradient(joint, np.array([[1.0, 1.0], [0.0, 0.0]]))[1]
        np.testing.assert_allclose(empty, 0.0, atol=1e-15)
    assert (deterministic_bottleneck(0.5).gradient(joint, np.array([[1.0, 1.0], [0.0, 0.0]]))[1] == math.inf).all()


# -- the map W exp(-g / width) -----------------------------------------------------------------------------------------


def step(joint, W, problem):
    """One step of the map from a positive encoder, in plain NumPy."""
    g = problem.gradient(joint, W) / np.where(joint.p_x > 0, joint.p_x, 1.0)
    W_new = W * np.exp(-(g - g.min(axis=0)) / problem.width)
    return W_new / W_new.sum(axis=0)


def blahut_arimoto(joint, W, gamma):
    """p(z|x) prop. to p(z) exp(-KL[p(y|x) || p(y|z)] / gamma); KL is infinite where p(y|z) = 0 < p(y|x)."""
    p_z, p_zy = W @ joint.p_x, W @ joint.p_xy
    W_new = W.copy()
    for x in np.flatnonzero(joint.p_x):
        p = joint.p_xy[x] / joint.p_x[x]
        for z in range(len(W)):
            if p_z[z] > 0 and (p_zy[z, p > 0] > 0).all():
                kl = sum(p[y] * math.log(p[y] / (p_zy[z, y] / p_z[z])) for y in np.flatnonzero(p))
                W_new[z, x] = p_z[z] * math.exp(-kl / gamma)
            else:
                W_new[z, x] = 0.0
    return W_new / W_new.sum(axis=0)


def test_width_of_the_named_members():
    for gamma in (0.01, 0.2, 0.5, 1.0):
        assert bottleneck(gamma).width == gamma
        assert generalised_bottleneck(gamma, 0.5).width == 0.5 * gamma
    for beta in (1.2, 2.5, 20.0):
        assert funnel(beta).width == beta - 1.0


@given(problems)
@FAST
def test_width_is_positive_and_scales_with_the_problem(problem):
    assert problem.width > 0.0
    assert MarkovLagrangian(*(4.0 * rho for rho in problem.rho)).width == pytest.approx(4.0 * problem.width)


@given(chains(positive_encoders), problems)
@FAST
def test_the_map_never_raises_the_lagrangian(chain, problem):
    joint, W = chain
    for _ in range(3):
        before, W = problem.value(joint, W), step(joint, W, problem)
        assert problem.value(joint, W) <= before + TOL * max(1.0, *map(abs, problem.rho))
        W = np.maximum(W, 1e-30)
        W /= W.sum(axis=0)


@given(chains(positive_encoders), problems)
@FAST
def test_stationarity_is_how_far_the_map_moves(chain, problem):
    joint, W = chain
    seen, _ = joint.support()
    expected = np.abs(W - step(joint, W, problem))[:, seen].max()
    assert problem.stationarity(joint, W) == pytest.approx(expected, abs=1e-12)


@given(chains(), problems)
@FAST
def test_stationarity_is_a_number_for_any_encoder_dense_or_sparse_and_at_any_scale(chain, problem):
    joint, W = chain
    found = problem.stationarity(joint, W)
    assert 0.0 <= found <= 1.0
    twin = Joint.from_matrix(sparse.csr_array(joint.p_xy))
    assert problem.stationarity(twin, W) == pytest.approx(found, abs=1e-12)
    scaled = MarkovLagrangian(*(8.0 * rho for rho in problem.rho))
    assert scaled.stationarity(joint, W) == pytest.approx(found, abs=1e-12)


@given(chains(), st.floats(0.05, 1.0))
@FAST
def test_stationarity_of_the_bottleneck_is_the_residual_of_the_self_consistent_equations(chain, gamma):
    joint, W = chain
    seen, _ = joint.support()
    expected = np.abs(W - blahut_arimoto(joint, W, gamma))[:, seen].max()
    assert bottleneck(gamma).stationarity(joint, W) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("gamma", [0.2, 0.6])
@pytest.mark.parametrize("build", [datasets.paper_uniform, datasets.paper_nonuniform], ids=["uniform", "nonuniform"])
def test_stationarity_vanishes_at_fixed_points_of_blahut_arimoto(build, gamma):
    joint = build()
    W = np.random.default_rng(0).dirichlet(np.ones(3), 3).T
    assert bottleneck(gamma).stationarity(joint, W) > 1e-3
    for _ in range(2_000):
        W = blahut_arimoto(joint, W, gamma)
    assert bottleneck(gamma).stationarity(joint, W) < 1e-12


def test_stationarity_of_letters_and_cells_without_mass():
    # Row 2 and column 2 have no mass; the first two letters share no y, so the identity on them is stationary.
    joint = Joint.from_matrix([[0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 0.0]])
    W = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.5]])
    assert bottleneck(0.3).stationarity(joint, W) == 0.0
    assert bottleneck(0.3).stationarity(joint, np.full((2, 3), 0.5)) == 0.0
    assert bottleneck(0.3).stationarity(joint, np.vstack([W, np.zeros(3)])) == 0.0
    # The funnel lets an x enter a cluster with which it shares no y.
    assert funnel(3.0).stationarity(joint, W) == pytest.approx(0.5)


@given(chains(zeros=False), st.floats(0.05, 20.0).map(funnel))
@FAST
def test_every_deterministic_encoder_is_stationary_for_the_funnel(chain, problem):
    joint, W = chain
    hard = np.eye(len(W))[:, W.argmax(axis=0)]
    assert problem.stationarity(joint, hard) == 0.0


# -- bad input ---------------------------------------------------------------------------------------------------------

BAD_OPTIONS = {
    "nan": (lambda: MarkovLagrangian(math.nan, 0, 1), "rho_z must be a finite number; found nan"),
    "inf": (lambda: MarkovLagrangian(0, 0, -math.inf), "rho_zy must be a finite number; found -inf"),
    "text": (lambda: MarkovLagrangian(0, "1", 0), "rho_zx must be a finite number; found '1'"),
    "all zero": (lambda: MarkovLagrangian(0, 0, 0), "all zero: there is nothing to minimise"),
    "bottleneck 0": (lambda: bottleneck(0), r"gamma must be in \(0, 1\].*found 0\."),
    "bottleneck 1.5": (lambda: bottleneck(1.5), r"gamma must be in \(0, 1\]; above 1 only the trivial.*found 1\.5"),
    "bottleneck nan": (lambda: bottleneck(math.nan), r"gamma must be in \(0, 1\].*found nan"),
    "bottleneck text": (lambda: bottleneck("high"), "gamma must be a number; found 'high'"),
    "bottleneck None": (lambda: bottleneck(None), "give gamma, or beta = 1/gamma"),
    "bottleneck inf": (lambda: bottleneck(math.inf), r"gamma must be in \(0, 1\].*found inf"),
    "funnel 0": (lambda: funnel(0), r"beta must be positive and finite; found 0\."),
    "funnel negative": (lambda: funnel(-1), r"beta must be positive and finite; found -1\."),
    "funnel nan": (lambda: funnel(math.nan), "beta must be positive and finite; found nan"),
    "funnel inf": (lambda: funnel(math.inf), "beta must be positive and finite; found inf"),
    "deterministic 2": (lambda: deterministic_bottleneck(2), r"gamma must be in \(0, 1\].*found 2\."),
    "generalised gamma": (lambda: generalised_bottleneck(-1, 0.5), r"gamma must be in \(0, 1\].*found -1\."),
    "generalised a nan": (lambda: generalised_bottleneck(0.5, math.nan), r"a must be in \[0, 1\]; found nan"),
    "generalised a": (lambda: generalised_bottleneck(0.5, 1.5), r"a must be in \[0, 1\]; found 1\.5"),
    "generalised list": (lambda: generalised_bottleneck(0.5, [1, 2]), r"a must be a number; found \[1, 2\]"),
}


@pytest.mark.parametrize(("build", "message"), BAD_OPTIONS.values(), ids=BAD_OPTIONS)
def test_bad_option(build, message):
    with pytest.raises(InvalidOptionError, match=message):
        build()


JOINT = Joint.from_matrix([[0.25, 0.25], [0.5, 0.0]])

BAD_ENCODERS = {
    "one dimension": ([0.5, 0.5], r"must have shape \(\|Z\|, \|X\|\) = \(any, 2\), found \(2,\)"),
    "columns": (np.ones((1, 3)), r"= \(any, 2\), found \(1, 3\)"),
    "no rows": (np.ones((0, 2)), r"= \(any, 2\), found \(0, 2\)"),
    "nan": ([[1.0, math.nan]], "holds probabilities, found nan at z = 0, x = 1"),
    "negative": ([[1.5, 1.0], [-0.5, 0.0]], r"holds probabilities, found -0\.5 at z = 1, x = 0"),
    "rows sum to 1": (
        [[0.5, 0.5], [0.25, 0.75]],
        r"column x = \d sums to \d\.\d*\. If rows sum to 1 instead, pass its transpose",
    ),
}


@pytest.mark.parametrize(
    "use",
    [
        lambda W: check_encoder(JOINT, W),
        lambda W: bottleneck(0.5).value(JOINT, W),
        lambda W: bottleneck(0.5).gradient(JOINT, W),
        lambda W: bottleneck(0.5).stationarity(JOINT, W),
    ],
    ids=["check", "value", "gradient", "stationarity"],
)
@pytest.mark.parametrize(("W", "message"), BAD_ENCODERS.values(), ids=BAD_ENCODERS)
def test_bad_encoder(use, W, message):
    with pytest.raises(InvalidEncoderError, match=message):
        use(W)


# -- the checker itself can fail ---------------------------------------------------------------------------------------

# Row 2 has no mass: its column must be p(z).
P = np.array([[0.25, 0.25], [0.5, 0.0], [0.0, 0.0]])
RHO = bottleneck(0.25).rho


def solution(**changes):
    W = np.array([[0.75, 0.25, 0.5], [0.25, 0.75, 0.5]])
    ixz, iyz = verify.mutual_informations(P, W)
    loss = 0.25 * ixz - iyz
    good = {"encoder": W, "loss": loss, "ixz": ixz, "iyz": iyz, "lower_bound": None, "gap": None}
    return SimpleNamespace(**good | changes)


def test_the_checker_accepts_what_is_right():
    good = solution()
    verify.check_solution(P, RHO, good)
    verify.check_solution(sparse.csr_array(P), RHO, good)
    verify.check_solution(P, RHO, solution(lower_bound=good.loss - 0.5, gap=good.loss - (good.loss - 0.5)))


WRONG = {
    "loss": ({"loss": 0.0}, "loss is"),
    "loss nan": ({"loss": math.nan}, "loss is"),
    "ixz": ({"ixz": 0.1}, "ixz is"),
    "iyz": ({"iyz": 0.1}, "iyz is"),
    "column sum": ({"encoder": np.array([[0.75, 0.25, 0.5], [0.25, 0.75, 0.5 + 2e-12]])}, "column 2 sums to"),
    "negative": ({"encoder": np.array([[1.5, 0.25, 0.5], [-0.5, 0.75, 0.5]])}, "column 0 is not a distribution"),
    "shape": ({"encoder": np.eye(2)}, "3 values of x, but 2 columns"),
    "no mass": (
        {"encoder": np.array([[0.75, 0.25, 0.6], [0.25, 0.75, 0.4]])},
        r"x = 2 has no mass, .* off p\(z\) by 0\.1",
    ),
    "bound": ({"lower_bound": 1.0, "gap": -1.0}, "lower bound 1.0 is above the loss"),
    "gap": ({"lower_bound": -1.0, "gap": 0.5}, "gap 0.5 is not loss - lower bound"),
    "gap without bound": ({"gap": 0.0}, "no lower bound, but the gap 0.0"),
}


@pytest.mark.parametrize(("changes", "message"), WRONG.values(), ids=WRONG)
def test_the_checker_refuses_what_is_wrong(changes, message):
    with pytest.raises(AssertionError, match=message):
        verify.check_solution(P, RHO, solution(**changes))


def test_a_family_is_found_again():
    for problem in (
        ip.bottleneck(0.3),
        ip.funnel(3.0),
        ip.deterministic_bottleneck(0.3),
        ip.generalised_bottleneck(0.3, a=0.25),
    ):
        again = siblings(problem).make(problem.parameter)
        assert again.family == problem.family
        np.testing.assert_allclose(again.rho, problem.rho)
    assert siblings(ip.MarkovLagrangian(-0.8, -0.2, 1.0)).make is None


def test_problems_are_recognised_by_their_numbers():
    """Any positive multiple of a bottleneck or a funnel is treated as one, whatever its name."""
    assert family_of(ip.MarkovLagrangian(-2.1, -0.9, 3.0)) is bottleneck
    assert family_of(ip.MarkovLagrangian(5.0, 2.0, -7.0)) is funnel
    assert family_of(ip.generalised_bottleneck(0.3, a=1.0)) is bottleneck
    assert family_of(ip.generalised_bottleneck(0.3, a=0.5)) is generalised_bottleneck
    assert family_of(ip.MarkovLagrangian(0.5, -0.7, 0.3)) is lagrangian


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_record_is_true_to_its_problems(family):
    """What the record claims of its members holds of one: posterior form, recognition, a solver and a certifier that take it."""
    if family.parameter is None:
        problem = ip.MarkovLagrangian(0.5, -0.7, 0.3)
    else:
        problem = family(0.4, **dict.fromkeys(family.options, 0.5))
    assert problem.record is family
    assert has_posterior_form(problem) is family.has_posterior_form
    assert family.contains(problem) is family.has_posterior_form
    assert ip.SOLVERS[family.solver].refusal(problem) is None
    assert ip.SOLVERS[family.sweep_solver].refusal(problem) is None
    if family.certifier is not None:
        assert ip.SOLVERS[family.certifier].refusal(problem) is None
    if family.parameter is not None:
        assert family.points > 1
        assert family(min(family.most, 1e6), **dict.fromkeys(family.options, 0.5)).family == family.name
        with pytest.raises(ip.InvalidOptionError, match=family.parameter):
            family(0.0, **dict.fromkeys(family.options, 0.5))


def test_a_family_is_called_by_position_and_by_name():
    assert bottleneck(0.2) == bottleneck(gamma=0.2) == MarkovLagrangian(-0.8, -0.2, 1.0, "bottleneck", 0.2)
    assert funnel(3.0) == funnel(beta=3.0)
    expected = MarkovLagrangian(-0.8, -0.1, 1.0, "generalised_bottleneck", 0.2)
    for called in (((0.2, 0.5), {}), ((0.2,), {"a": 0.5}), ((), {"a": 0.5, "gamma": 0.2}), ((), {"beta": 5, "a": 0.5})):
        assert generalised_bottleneck(*called[0], **called[1]) == expected


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: funnel(), TypeError, "beta"),
        (lambda: funnel(gamma=0.2), TypeError, "beta"),
        (lambda: bottleneck(0.2, 0.5), TypeError, "positional"),
        (
            lambda: generalised_bottleneck(0.2),
            InvalidOptionError,
            r"needs a, in \[0, 1\]; for a sweep, functools.partial",
        ),
        (lambda: generalised_bottleneck(0.2, 1.5), InvalidOptionError, r"a must be in \[0, 1\]; found 1.5"),
        (lambda: lagrangian(0.2), InvalidOptionError, "has no parameter: give infoplane.MarkovLagrangian"),
    ],
)
def test_a_call_that_makes_no_member_is_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_family_is_one_documented_object():
    assert str(inspect.signature(ip.bottleneck)).startswith("(gamma=None, *, beta=None)")
    assert list(inspect.signature(ip.generalised_bottleneck).parameters) == ["gamma", "a", "beta"]
    assert list(inspect.signature(ip.funnel).parameters) == ["beta"]
    assert repr(ip.funnel) == "<family funnel(beta): beta I(Y;Z) - I(X;Z)>"
    for name, family in FAMILIES.items():
        assert family.__name__ == name
        assert family.__doc__ != type(family).__doc__
        assert family.__doc__ in pydoc.plain(pydoc.render_doc(family)).replace("\n    ", "\n")
        assert pickle.loads(pickle.dumps(family)) is family
        assert copy.deepcopy(family) is family


def test_the_record_behind_a_function():
    assert record_of(ip.funnel) is ip.funnel
    assert record_of(partial(ip.generalised_bottleneck, a=0.5)) is ip.generalised_bottleneck
    # These are functions of something else than the family's parameter, or nobody knows of what.
    for other in (
        partial(ip.generalised_bottleneck, 0.2),
        partial(ip.bottleneck, gamma=0.2),
        lagrangian,
        lambda g: ip.bottleneck(g),
    ):
        assert record_of(other) is None


@pytest.mark.parametrize("call", [ip.sweep, ip.compare])
def test_a_plain_function_needs_parameters(call):
    with pytest.raises(
        InvalidOptionError, match=r"without parameters .* such as infoplane.bottleneck .*give the parameters"
    ):
        call(datasets.paper_uniform(), lambda gamma: ip.bottleneck(gamma))


def test_betas_of_a_plain_function_are_read_off_its_first_problem():
    joint, options = datasets.paper_uniform(), {"solver": "merging", "notation": "beta"}
    for family, other in ((ip.bottleneck, lambda g: ip.bottleneck(g)), (ip.funnel, lambda beta: ip.funnel(beta))):
        named, plain = (ip.sweep(joint, one, [5.0, 8.0], **options) for one in (family, other))
        assert [run.problem for run in plain.runs] == [run.problem for run in named.runs]


# -- both notations ------------------------------------------------------------------------------------------------------


@given(st.floats(1.0, 1e6))
def test_beta_of_the_older_notation_is_one_over_gamma(beta):
    assert bottleneck(beta=beta) == bottleneck(gamma=1.0 / beta)


@pytest.mark.parametrize(
    ("given_options", "message"),
    [
        ({}, "give gamma, or beta = 1/gamma, and not both; found neither"),
        ({"gamma": 0.2, "beta": 5.0}, "found gamma = 0.2 and beta = 5.0"),
        ({"beta": 0.5}, "beta must be at least 1; below 1 only the trivial encoder is optimal; found 0.5"),
        ({"beta": math.inf}, "beta must be at least 1"),
        ({"beta": "5"}, "beta must be a number"),
        ({"gamma": 1.5}, r"gamma must be in \(0, 1\]"),
    ],
)
def test_notations_are_not_mixed(given_options, message):
    with pytest.raises(InvalidOptionError, match=message):
        bottleneck(**given_options)


@pytest.mark.parametrize("as_sparse", [False, True])
def test_stationarity_of_a_letter_does_not_depend_on_how_faint_it_is(as_sparse):
    """Masses of 1e-322 have one or two digits; the p(y|x) that they stand for has all."""
    W = np.array([[0.7, 0.2, 0.4], [0.3, 0.8, 0.6]])
    found = []
    for mass in (2.0**-60, 2.0**-1070):
        counts = np.array([[1.0, 2.0], [3.0, 1.0], [mass, 3.0 * mass]])
        joint = ip.Joint.from_counts(sparse.csr_array(counts) if as_sparse else counts)
        # Rounded to the few digits that such masses have after division by their sum, the letter is another one.
        faint = ip.Joint.from_matrix(_with_row(joint.p_xy, 2, [mass, 3.0 * mass]))
        found.append(ip.bottleneck(0.3).stationarity(faint, W))
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def _with_row(table, row, values):
    dense = table.toarray() if hasattr(table, "toarray") else table.copy()
    dense[row] = values
    return sparse.csr_array(dense) if hasattr(table, "toarray") else dense


def test_how_a_parameter_is_written():
    assert bottleneck.notation().of(0.2) == 0.2
    written = bottleneck.notation("beta")
    assert (written.name, written.symbol, written.of(0.2), written.of(0.0)) == ("beta", "β", 5.0, math.inf)
    assert funnel.notation("beta") == funnel.notation("gamma")
    with pytest.raises(InvalidOptionError, match="notation must be 'gamma' or 'beta', found 'b'"):
        bottleneck.notation("b")
