"""exp and log against decimal arithmetic with 40 digits, over all that the kernels feed them."""

import math
from decimal import Decimal, localcontext

import numba
import numpy as np
import pytest

from compiled import compiled
from infoplane.kernels.common.fast import exp, floored_log, log
from infoplane.kernels.common.roots import LOG_TINY, TINY

BOUND = 1.25  # units in the last place; the docstring says 2


exp_of, log_of, floored_log_of = map(compiled, (exp, log, floored_log))


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
