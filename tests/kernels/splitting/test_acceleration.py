"""Leaps: exact on a planted mode, refused where the loss would rise, and the same whatever the length of a block."""

import numpy as np
import pytest

import infoplane as ip
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.kernels.splitting.tables import Split
from infoplane.solvers.shared.starts import make_starts, seed_sequence
from interpreted import interpreted

leap = interpreted("splitting.acceleration").leap

JOINT, PROBLEM = ip.datasets.paper_uniform(), ip.bottleneck(0.3)


def split():
    support = Support(JOINT)
    M = np.ascontiguousarray(support.p_x[:, None])
    nothing = np.zeros(3)
    return Split(
        support.p_x, support.p_y, support.P, support.T, M, np.ascontiguousarray(M.T / support.p_x),
        np.zeros(1), nothing, np.zeros(2), 1, 0.0, True, 1.0, 0.0, 1.0, False, False,
        np.zeros(1, dtype=np.int64), np.full((3, 1), np.nan),
    )  # fmt: skip


def tail(limit, mode, r):
    """Three iterates of limit + r^k mode, as `leap` wants them: now, one and two strides ago."""
    return [limit + mode * r**k for k in (2, 1, 0)]


def test_a_planted_mode_is_followed_to_its_limit():
    best = ip.solve(JOINT, PROBLEM, "drs", rng=0).encoder
    mode = 0.02 * (np.full((3, 3), 1 / 3) - best)
    nu_limit, nu_mode = np.array([[0.1], [0.2], [0.3]]), np.array([[0.01], [-0.02], [0.03]])
    now, before, earlier = tail(best, mode, 0.8)
    nu_now, nu_before, _ = tail(nu_limit, nu_mode, 0.8)
    leaped, W, nu = leap(split(), np.array(PROBLEM.rho), now, before, earlier, nu_now, nu_before)
    assert leaped
    np.testing.assert_allclose(W, best, atol=1e-12)
    np.testing.assert_allclose(nu, nu_limit, atol=1e-12)


def test_a_leap_that_raises_the_loss_or_follows_no_single_mode_is_refused():
    best = ip.solve(JOINT, PROBLEM, "drs", rng=0).encoder
    away = 0.9 * best + 0.1 / 3
    nu = np.zeros((3, 1))
    uphill = 0.02 * (np.full((3, 3), 1 / 3) - best)
    now, before, earlier = away, away - uphill, away - 3 * uphill  # moving away from the optimum, slowing down
    assert not leap(split(), np.array(PROBLEM.rho), now, before, earlier, nu, nu)[0]
    zigzag = leap(split(), np.array(PROBLEM.rho), away, away + uphill, away, nu, nu)
    assert not zigzag[0]
    np.testing.assert_array_equal(zigzag[1], away)


@pytest.mark.parametrize(
    ("formulation", "parameter"),
    [("ib-1", 0.6), ("ib-2", 0.1), ("ib-1v", 0.6), ("pf-1", 10.0), ("pf-2", 10.0), ("pf-2v", 10.0)],
)
def test_fewer_iterations_to_the_same_point(formulation, parameter):
    joint = ip.datasets.paper_nonuniform()
    problem = ip.bottleneck(parameter) if formulation.startswith("ib") else ip.funnel(parameter)
    plain, fast = (
        ip.solve(joint, problem, ip.DouglasRachford(formulation, acceleration=on), starts=4, rng=0, init="random")
        for on in (False, True)
    )
    assert fast.status is ip.Status.STATIONARY
    assert fast.loss == pytest.approx(plain.loss, abs=1e-9)
    spent = [sum(start.iterations for start in found.starts) for found in (plain, fast)]
    assert spent[1] < 0.8 * spent[0]


def test_the_length_of_a_block_makes_no_difference():
    joint, problem = ip.datasets.paper_nonuniform(), ip.bottleneck(0.6)
    starts = make_starts(joint, None, 3, seed_sequence(0), "random")
    ended = []
    for block in (7, 1000):
        batch = Stepped(ip.DouglasRachford("ib-1"), Support(joint), problem, starts)
        while batch.advance(block):
            pass
        ended.append(batch.runs())
    for one, two in zip(*ended, strict=True):
        assert one.iterations == two.iterations
        np.testing.assert_array_equal(one.encoder, two.encoder)
