import math

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import wrightomega

from compiled import compiled
from infoplane.kernels.common.roots import LOG_TINY, safe_log, upper_root, wright_omega

safe_log, upper_root, wright_omega = map(compiled, (safe_log, upper_root, wright_omega))


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
