import numpy as np
import pytest

import infoplane as ip
import verify
from batches import Stepped, run, starts_of
from infoplane.joint.joint import Support

HEART = ip.datasets.heart()


@pytest.mark.parametrize("beta", [1.5, 3.0, 8.0])
def test_the_funnels_cycle_is_monotone_and_shorter_than_plain_iteration(beta):
    joint, problem = HEART, ip.funnel(beta)
    starts = starts_of(joint, 8)
    fast = run(ip.Accelerated(), joint, problem, starts, record=True, limit=20_000)
    batch = Stepped(ip.BlahutArimoto(), Support(joint), problem, starts, tol=1e-9, limit=20_000)
    while batch.advance(1000):
        pass
    for one in fast:
        assert one.status is ip.Status.STATIONARY
        assert np.diff(one.trace.loss).max() <= 1e-12
        assert one.trace.loss[-1] == pytest.approx(verify.lagrangian(joint.p_xy, one.encoder, problem.rho), abs=1e-9)
    assert sum(one.iterations for one in fast) < 0.7 * sum(one.iterations for one in batch.runs())


def test_leaps_do_not_lead_the_funnel_to_worse_optima():
    worse = total = 0
    for joint in (HEART, ip.datasets.paper_uniform(), ip.datasets.paper_nonuniform()):
        starts = starts_of(joint, 16, clusters=min(joint.shape[0], 8), seed=3)
        for beta in (1.5, 2.5, 5.0):
            problem = ip.funnel(beta)
            plain = Stepped(ip.BlahutArimoto(), Support(joint), problem, starts, tol=1e-9, limit=20_000)
            while plain.advance(1000):
                pass
            fast = run(ip.Accelerated(), joint, problem, starts, limit=20_000)
            for one, two in zip(fast, plain.runs(), strict=True):
                worse += problem.value(joint, one.encoder) > problem.value(joint, two.encoder) + 1e-6
                total += 1
    assert worse <= 0.02 * total
