"""Boxes of the bottleneck: no distribution is below the bound of its box, and none below the target is lost when a box shrinks."""

import numpy as np
import pytest

import infoplane as ip
from checker_cases import JOINTS, boxes_of, posteriors
from infoplane_verify.search import Cells

cases = pytest.mark.parametrize(
    ("name", "gamma"), [("heart", 0.05), ("heart", 0.3), ("paper", 0.2), ("zeros", 0.1), ("nearly deterministic", 0.5)]
)


def box_around(u, rng):
    low = np.maximum(u - 0.3 * rng.random(u.shape) ** 3, 0.0)
    return low, np.maximum(np.minimum(u + 0.3 * rng.random(u.shape) ** 3, 1.0), 1e-12)


@cases
def test_no_distribution_is_below_the_bound_of_its_box(name, gamma):
    rng = np.random.default_rng(0)
    boxes = boxes_of(JOINTS[name](), ip.bottleneck(gamma))
    Q = posteriors(boxes.letters, rng)
    low, high = box_around(Q @ boxes.T, rng)
    hint = np.hstack([rng.normal(size=low.shape), rng.random(low.shape)])
    bound, w, _, _, margin = boxes.bounded(Cells(low, high, hint), 0.0)
    values, rounding = boxes.values(Q)
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(Q > 0.0, Q * np.log(Q / w), 0.0).sum(axis=1)
    assert (values + rounding >= bound - margin + gamma * divergence - 1e-9 * (divergence > 1e3)).all()
    assert (margin < 1e-9).all()


@cases
def test_what_lies_below_the_target_stays_in_the_box(name, gamma):
    rng = np.random.default_rng(1)
    boxes = boxes_of(JOINTS[name](), ip.bottleneck(gamma))
    Q = posteriors(boxes.letters, rng)
    values, _ = boxes.values(Q)
    u = Q @ boxes.T
    cells = Cells(*box_around(u, rng), np.zeros((len(u), 2 * boxes.outcomes)))
    tight, kept = boxes.tightened(cells)
    assert kept.all()
    bound, w, _, _, margin = boxes.bounded(tight, np.inf)
    # The target just above the value of q, so that q is below it.
    target = values + 1e-9
    shrunk = boxes.shrunk(tight, w, (target - bound + 2.0 * margin) / gamma)
    assert ((shrunk.low <= u) & (u <= shrunk.high)).all()
    assert ((shrunk.high - shrunk.low) < 0.9 * (tight.high - tight.low)).any()


@cases
def test_halves_cover_their_box(name, gamma):
    rng = np.random.default_rng(2)
    boxes = boxes_of(JOINTS[name](), ip.bottleneck(gamma), lam=np.zeros(JOINTS[name]().shape[0]))
    u = posteriors(boxes.letters, rng) @ boxes.T
    cells = Cells(*box_around(u, rng), np.zeros((len(u), 2 * boxes.outcomes)))
    halves, bounds = boxes.halves(cells, posteriors(boxes.letters, rng), np.arange(len(u)) * 1.0)
    n = len(u)
    inside = (halves.low <= np.tile(u, (2, 1))) & (np.tile(u, (2, 1)) <= halves.high)
    assert (inside[:n].all(axis=1) | inside[n:].all(axis=1)).all()
    np.testing.assert_array_equal(bounds[:n], bounds[n:])


def test_descending_never_raises_the_value():
    boxes = boxes_of(JOINTS["heart"](), ip.bottleneck(0.1))
    Q = posteriors(boxes.letters, np.random.default_rng(3), count=40)
    assert (boxes.values(boxes.descended(Q))[0] <= boxes.values(Q)[0] + 1e-12).all()
