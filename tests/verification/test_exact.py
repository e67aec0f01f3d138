"""Bounds in many digits: those of the search up to its margin, and those of the tests' own 50-digit arithmetic."""

from decimal import Decimal

import mpmath
import numpy as np
import pytest

import infoplane as ip
from checker_cases import JOINTS, boxes_of
from exact_boxes import bound as mpmath_bound
from exact_boxes import channel
from infoplane_verify.exact import bottleneck_bound, funnel_bound
from infoplane_verify.search import Closed, search

LIMITS = {"max_cells": 150, "max_seconds": 60.0, "firm": True}


@pytest.mark.parametrize("name", ["paper", "zeros", "nearly deterministic"])
@pytest.mark.parametrize("problem", [ip.bottleneck(0.2), ip.funnel(3.0)])
def test_many_digits_agree_with_the_search_to_within_its_margin(name, problem):
    joint = JOINTS[name]()
    boxes = boxes_of(joint, problem)
    again = bottleneck_bound if problem.rho_zy > 0 else funnel_bound
    parameter = boxes.gamma if problem.rho_zy > 0 else boxes.beta
    found = search(boxes, -5e-7, np.eye(boxes.letters), **LIMITS)
    assert found.closed
    for cell in found.closed:
        exact = again(np.asarray(joint.p_xy), boxes.lam, parameter, cell)
        assert Decimal(cell.bound) <= exact <= Decimal(cell.bound) + Decimal("1e-9")


def test_the_bottleneck_bound_is_that_of_other_arithmetic():
    joint, rng = JOINTS["zeros"](), np.random.default_rng(0)
    P, lam = np.asarray(joint.p_xy), rng.normal(size=5)
    low, high = np.array([0.0, 0.1, 0.2]), np.array([0.4, 0.3, 0.9])
    slope, v = rng.normal(size=3), np.append(rng.normal(size=3), rng.random(3))
    mine = bottleneck_bound(P, lam, 0.3, Closed(low, high, 0.0, {"slope": slope, "v": v}))
    theirs, _ = mpmath_bound(channel(joint), 0.3, lam, low, high, slope, v)
    assert abs(mpmath.mpf(str(mine)) - theirs) < mpmath.mpf(10) ** -40


def test_a_v_that_sums_to_more_than_one_proves_nothing():
    joint = JOINTS["paper"]()
    boxes = boxes_of(joint, ip.funnel(3.0))
    cell = search(boxes, -5e-7, np.eye(boxes.letters), **LIMITS).closed[0]
    cell.by["v"] = cell.by["v"] * 1.001
    assert funnel_bound(np.asarray(joint.p_xy), boxes.lam, 3.0, cell) == Decimal("-Infinity")
