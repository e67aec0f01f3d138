"""Bounds in many digits: those of the search up to its margin, and those of the tests' own 50-digit arithmetic."""

from decimal import Decimal

import mpmath
import numpy as np
import pytest

import infoplane as ip
from checker_cases import JOINTS, boxes_of
from exact_boxes import bound as mpmath_bound
from exact_boxes import channel
from infoplane_verify.exact import Form
from infoplane_verify.exact import bound as exact_bound
from infoplane_verify.numbers import h
from infoplane_verify.search import Closed, Multipliers, search

LIMITS = {"max_cells": 60, "max_seconds": 60.0, "firm": True}


@pytest.mark.parametrize("name", ["paper", "zeros", "nearly deterministic"])
@pytest.mark.parametrize("problem", [ip.bottleneck(0.2), ip.funnel(3.0)])
def test_many_digits_agree_with_the_search_to_within_its_margin(name, problem):
    joint = JOINTS[name]()
    boxes = boxes_of(joint, problem)
    P = np.asarray(joint.p_xy)
    if problem.rho_zy > 0:
        form = Form(P, np.ones((len(P), 1)), boxes.lam, 1.0, 0.0, boxes.gamma)
    else:
        form = Form(np.eye(len(P)), P, boxes.lam, 1.0, boxes.beta, 0.0)
    found = search(boxes, -5e-7, np.eye(boxes.letters), **LIMITS)
    assert found.closed
    for cell in found.closed:
        exact = exact_bound(form, cell)
        assert Decimal(cell.bound) <= exact <= Decimal(cell.bound) + Decimal("1e-9")


def test_the_bottleneck_bound_is_that_of_other_arithmetic():
    joint, rng = JOINTS["zeros"](), np.random.default_rng(0)
    P, lam = np.asarray(joint.p_xy), rng.normal(size=5)
    low, high = np.array([0.0, 0.1, 0.2]), np.array([0.4, 0.3, 0.9])
    slope, v = rng.normal(size=3), np.append(rng.normal(size=3), rng.random(3))
    cell = Closed(low, high, 0.0, Multipliers(slope, v[:3], v[3:], np.zeros(1), np.zeros(1)))
    mine = exact_bound(Form(P, np.ones((5, 1)), lam, 1.0, 0.0, 0.3), cell)
    theirs, _ = mpmath_bound(channel(joint), 0.3, lam, low, high, slope, v)
    assert abs(mpmath.mpf(str(mine)) - theirs) < mpmath.mpf(10) ** -40


def test_a_t_outside_of_its_range_proves_nothing():
    form = Form(np.eye(2), np.eye(2), np.zeros(2), 1.0, 0.0, 0.0)
    by = Multipliers(np.zeros(2), np.zeros(2), np.array([0.5, 1.001]), np.zeros(2), np.zeros(2))
    assert exact_bound(form, Closed(np.zeros(2), np.ones(2), 0.0, by)) == Decimal("-Infinity")


@pytest.mark.parametrize("gamma", [0.0, 0.2])
@pytest.mark.parametrize("most", [1.0, 0.6])
@pytest.mark.parametrize("nu", [None, -0.1])
def test_no_posterior_is_below_the_bound_whatever_the_multipliers(gamma, most, nu):
    rng, met = np.random.default_rng(0), 0
    if nu is None and most < 1.0:
        nu = 0.2
    for _ in range(20):
        P = rng.dirichlet(np.ones(5))[:, None]
        U, S = P * rng.dirichlet(np.ones(3), 5), P * rng.dirichlet(np.ones(2), 5)
        form = Form(U, S, rng.normal(size=5), 1.3, 0.7, gamma, np.array([0.1, 0.3]), np.array([0.7, 0.9]), most)
        q = rng.dirichlet(np.full(5, 0.8), 300)
        u, s = q @ (U / P), q @ (S / P)
        low, high = np.maximum(u[0] - 0.2, 0.0), np.minimum(u[0] + 0.2, 1.0)
        by = Multipliers(
            rng.normal(size=3), rng.normal(size=3), rng.random(3), rng.normal(size=2), rng.normal(size=2), nu
        )
        inside = ((u >= low) & (u <= high)).all(axis=1) & ((s >= form.L) & (s <= form.upper)).all(axis=1)
        inside &= (q <= most).all(axis=1)
        values = 1.3 * h(u).sum(axis=1) - 0.7 * h(s).sum(axis=1) - gamma * h(q).sum(axis=1) - q @ form.lam
        met += int(inside.sum())
        assert float(exact_bound(form, Closed(low, high, 0.0, by))) <= values[inside].min(initial=np.inf)
    assert met > 100
