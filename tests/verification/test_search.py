"""Branch and bound: what it says is proven, and what limits and violations do to it."""

import numpy as np
import pytest

import infoplane as ip
from checker_cases import JOINTS, boxes_of
from infoplane_verify.search import Cells, Examined, search

PROBLEMS = [ip.bottleneck(0.1), ip.funnel(3.5)]
LIMITS = {"max_cells": 10_000, "max_seconds": 60.0, "firm": True}


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_true_minimum_is_proven_and_a_higher_one_contradicted(problem):
    boxes = boxes_of(JOINTS["paper"](), problem)
    seeds = np.eye(boxes.letters)
    proven = search(boxes, -5e-7, seeds, **LIMITS)
    assert (proven.proven, proven.left) == (-5e-7, 0)
    assert proven.lowest >= -5e-7
    assert 0 < len(proven.closed) <= 12
    assert all(cell.bound >= -5e-7 for cell in proven.closed)
    beaten = search(boxes, 1e-5, seeds, **LIMITS)
    assert beaten.lowest < 1e-5
    assert beaten.posterior.sum() == pytest.approx(1.0)
    assert boxes.values(beaten.posterior[None])[0][0] == beaten.lowest


@pytest.mark.parametrize("problem", PROBLEMS)
def test_a_limit_leaves_what_is_proven_by_then(problem):
    boxes = boxes_of(JOINTS["heart"](), problem)
    least = search(boxes, -5e-7, np.eye(boxes.letters), **LIMITS).proven
    before = -np.inf
    for cells in (1, 20, 60):
        early = search(boxes, -5e-7, np.eye(boxes.letters), **LIMITS | {"max_cells": cells})
        assert early.left > 0
        assert before <= early.proven < least
        before = early.proven
    assert early.proven > -1.0


@pytest.mark.parametrize("problem", PROBLEMS)
def test_without_a_claim_the_target_gives_way(problem):
    boxes = boxes_of(JOINTS["paper"](), problem)
    boxes.lam = boxes.lam + 0.05
    found = search(boxes, 0.0, np.eye(boxes.letters), **LIMITS | {"firm": False})
    assert found.left == 0
    assert found.lowest - 0.002 < found.proven <= found.lowest
    assert found.lowest == pytest.approx(-0.05, abs=1e-3)


class Told:
    """One cell, cut into as many as there are bounds told of them; the function is 1 everywhere."""

    batch = 1

    def __init__(self, bounds):
        self.bounds = np.array(bounds)

    def root(self):
        return Cells(*np.zeros((3, 1, 2)))

    def values(self, Q):
        return np.ones(len(Q)), 0.0

    def descended(self, Q):
        return Q

    def examine(self, cells, target):
        found = Examined()
        found.cut(Cells(*np.zeros((3, len(self.bounds), 2))), self.bounds)
        return found


@pytest.mark.parametrize(("target", "bounds"), [(0.5, [0.1, np.nan]), (np.nan, []), (np.inf, []), (0.5, [-np.inf])])
def test_what_is_no_number_proves_nothing(target, bounds):
    assert search(Told(bounds), target, np.eye(2), **LIMITS | {"max_cells": 1}).proven == -np.inf
    assert search(Told([0.1, 0.7]), 0.5, np.eye(2), **LIMITS | {"max_cells": 1}).proven == 0.1
