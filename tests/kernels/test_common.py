"""exp and log against decimal arithmetic with 40 digits, over all that the kernels feed them; roots against SciPy's; linear systems."""

import math
from decimal import Decimal, localcontext

import numba
import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import wrightomega

from compiled import compiled
from infoplane.kernels.common import (
    LOG_TINY,
    TINY,
    exp,
    floored_log,
    log,
    safe_log,
    solve_definite,
    upper_root,
    wright_omega,
)

BOUND = 1.25  # units in the last place; the docstring says 2


exp_of, log_of, floored_log_of = map(compiled, (exp, log, floored_log))
safe_log, upper_root, wright_omega = map(compiled, (safe_log, upper_root, wright_omega))
solve_definite = compiled(solve_definite)


@numba.njit
def many(x, of_log, out):
    for i in range(x.size):
        out[i] = log(x[i]) if of_log else exp(x[i])


def worst(x, of_log):
    """Largest error in units of the last place of the exact result."""
    found = np.empty_like(x)
    many(x, of_log, found)
    error = 0.0
    with localcontext() as context:
        context.prec = 40
        for argument, value in zip(x, found, strict=True):
            exact = Decimal(float(argument)).ln() if of_log else Decimal(float(argument)).exp()
            unit = Decimal(math.ulp(float(exact)))
            error = max(error, abs(float((Decimal(float(value)) - exact) / unit)))
    return error


@pytest.mark.parametrize(("low", "high"), [(-708.0, 709.0), (-40.0, 0.0), (-1.0, 1.0), (-1e-8, 1e-8)])
def test_exp_is_within_its_bound(low, high):
    x = np.random.default_rng(0).uniform(low, high, 4000)
    assert worst(x, False) <= BOUND


def test_exp_at_the_edges_of_its_reduction():
    """Where k changes, |r| is largest: halfway between multiples of log 2, and one step to either side."""
    middle = (np.arange(-1020, 1020) + 0.5) * math.log(2.0)
    assert worst(np.concatenate([np.nextafter(middle, -np.inf), middle, np.nextafter(middle, np.inf)]), False) <= BOUND


def test_exp_underflows_to_zero():
    assert exp_of(0.0) == 1.0
    assert exp_of(-708.0) == pytest.approx(math.exp(-708.0), rel=1e-15)
    for x in (-708.75, -745.0, -1e5, -1e300, -math.inf):
        assert 0.0 <= exp_of(x) <= 1.6e-308
    assert exp_of(-math.inf) == 0.0


@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e-150, 1e-300, 1e150])
def test_log_is_within_its_bound(scale):
    assert worst(scale * np.random.default_rng(0).uniform(0.01, 1.0, 4000), True) <= BOUND


def test_log_close_to_one_keeps_its_relative_accuracy():
    """log(1 + t) = t - t^2/2 + ...: no digits may cancel, on either side of 1 and across the edges of the reduction."""
    rng = np.random.default_rng(0)
    t = rng.choice([-1.0, 1.0], 4000) * 10.0 ** rng.uniform(-15.0, -0.5, 4000)
    root = math.sqrt(0.5)
    edges = np.concatenate([p * (1.0 + np.arange(-4, 5) * 2.0**-52) for p in (root, 2.0 * root, 1.0, 2.0, 0.5)])
    x = np.concatenate([1.0 + t, edges])
    assert worst(x[x != 1.0], True) <= BOUND
    assert log_of(1.0) == 0.0


def test_floored_log_of_nothing_is_finite():
    for p in (0.0, 5e-324, 1e-310, TINY):
        assert floored_log_of(p) == LOG_TINY
    assert 0.0 * floored_log_of(0.0) == 0.0
    assert floored_log_of(0.25) == pytest.approx(math.log(0.25), rel=1e-15)


@pytest.mark.parametrize("b", [-800.0, -50.0, -20.0, -2.0, -1e-3, 0.0, 1.0, 2.0, 2.0001, 10.0, 1e3, 1e12])
def test_wright_omega_is_scipys(b):
    assert wright_omega(b) == pytest.approx(float(wrightomega(b)), rel=1e-14)


@pytest.mark.parametrize("b", [1.0 + 1e-12, 1.0001, 1.5, 2.0, 10.0, 1e4, 1e12])
def test_upper_root_solves_its_equation(b):
    s = upper_root(b)
    expected = brentq(lambda t: math.expm1(t) - t - (b - 1.0), 0.0, 60.0, xtol=1e-15, rtol=1e-15)
    assert s == pytest.approx(expected, rel=1e-7 if b < 1.001 else 1e-12)


def test_upper_root_below_its_range_is_the_vertex():
    assert upper_root(1.0) == 0.0
    assert upper_root(0.3) == 0.0


def test_safe_log():
    assert safe_log(0.0) == LOG_TINY
    assert 0.0 * safe_log(0.0) == 0.0
    assert safe_log(0.25) == np.log(0.25)


def definite(n=12, seed=0):
    """A positive definite matrix with unit diagonal, and a right side."""
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, n))
    A = A @ A.T + 0.1 * np.eye(n)
    scale = 1.0 / np.sqrt(np.diag(A))
    return A * np.outer(scale, scale), rng.standard_normal(n)


def test_a_definite_system_is_solved():
    A, b = definite()
    u = b.copy()
    assert solve_definite(A.copy(), u, 1e-10)
    np.testing.assert_allclose(A @ u, b, atol=1e-10)


def test_cholesky_says_if_a_matrix_is_indefinite_and_goes_on_damped():
    A, b = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([1.0, 1.0])
    assert not solve_definite(A.copy(), b, 1e-10)
    assert np.isfinite(b).all()
