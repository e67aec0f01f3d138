"""Boxes of the funnel: the identity holds, no distribution below the target is lost, and one letter is enough up to beta = 1."""

import numpy as np
import pytest

import infoplane as ip
from checker_cases import JOINTS, boxes_of, posteriors
from infoplane_verify.search import Cells

cases = pytest.mark.parametrize(
    ("name", "beta"), [("heart", 1.5), ("heart", 10.0), ("paper", 4.0), ("zeros", 2.5), ("nearly deterministic", 3.0)]
)


def boxes_around(Q, rng):
    low = np.maximum(Q - 0.3 * rng.random(Q.shape) ** 3, 0.0)
    return Cells(low, np.minimum(Q + 0.3 * rng.random(Q.shape) ** 3, 1.0), rng.dirichlet(np.ones(Q.shape[1]), len(Q)))


@cases
def test_the_bound_and_what_is_above_it_add_up_to_the_value(name, beta):
    rng = np.random.default_rng(0)
    boxes = boxes_of(JOINTS[name](), ip.funnel(beta))
    Q = posteriors(boxes.letters, rng)
    _, bound = boxes.bounded(boxes_around(Q, rng))
    values, rounding = boxes.values(Q)
    u = Q @ boxes.T
    with np.errstate(divide="ignore", invalid="ignore"):
        divergence = np.where(u > 0.0, u * np.log(u / bound.v), 0.0).sum(axis=1)
    excess = bound.excess(Q)
    assert (excess >= -1e-13).all()
    whole = bound.safe + bound.margin + excess.sum(axis=1) + beta * divergence
    np.testing.assert_allclose(whole, values, rtol=0, atol=1e-11)
    assert (values + rounding >= bound.safe).all()
    assert (bound.margin < 1e-9).all()


@cases
def test_what_lies_below_the_target_stays_near_an_end(name, beta):
    rng = np.random.default_rng(1)
    boxes = boxes_of(JOINTS[name](), ip.funnel(beta))
    Q = posteriors(boxes.letters, rng)
    cells, bound = boxes.bounded(boxes_around(Q, rng))
    rho = boxes.values(Q)[0] + 1e-9 - bound.safe + bound.margin
    left, right, tall = boxes.ends(cells, bound, rho)
    assert tall.any()
    assert not (tall & (left < Q) & (right > Q)).any()


@cases
def test_examined_cells_lose_nothing_that_is_below_the_target(name, beta):
    rng = np.random.default_rng(2)
    boxes = boxes_of(JOINTS[name](), ip.funnel(beta))
    Q = posteriors(boxes.letters, rng, count=80)
    Q = Q[(Q > 0.0).sum(axis=1) <= boxes.most]
    Q = np.vstack([Q, np.eye(boxes.letters)])
    target = float(np.quantile(boxes.values(Q)[0], 0.7))
    below = Q[boxes.values(Q)[0] < target - 1e-9]
    assert len(below) > 3
    waiting = boxes.root()
    for _ in range(4):
        found = boxes.examine(waiting, target)
        waiting = Cells(*(np.concatenate(one) for one in zip(*(cells for cells, _ in found.open), strict=True)))
        inside = (waiting.low[:, None] <= below) & (below <= waiting.high[:, None])
        assert inside.all(axis=2).any(axis=0).all()
        waiting = waiting.of(slice(0, None))


@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_up_to_one_a_single_letter_is_lowest(beta):
    rng = np.random.default_rng(3)
    boxes = boxes_of(JOINTS["heart"](), ip.funnel(beta), lam=rng.normal(size=16))
    assert boxes.most == 1
    lowest = boxes.values(np.eye(16))[0].min()
    assert (boxes.values(posteriors(16, rng))[0] >= lowest - 1e-12).all()


def test_descending_never_raises_the_value():
    boxes = boxes_of(JOINTS["heart"](), ip.funnel(3.5))
    Q = posteriors(boxes.letters, np.random.default_rng(4), count=40)
    assert (boxes.values(boxes.descended(Q))[0] <= boxes.values(Q)[0] + 1e-12).all()
