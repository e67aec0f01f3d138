import numpy as np
import pytest

import infoplane as ip
from infoplane.solvers.shared.starts import near_identity

UNIFORM = ip.datasets.paper_uniform()


def test_a_start_depends_on_its_number_only():
    few = ip.solve(UNIFORM, ip.funnel(2.0), starts=3, rng=1)
    many = ip.solve(UNIFORM, ip.funnel(2.0), starts=6, rng=1)
    assert few.starts[:3] == many.starts[:3]  # after them comes what the pool has found, if it is better


def test_generators_seeds_and_nothing_are_all_accepted():
    by_generator = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2, rng=np.random.default_rng(3))
    again = ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(by_generator.encoder, again.encoder)
    assert ip.solve(UNIFORM, ip.bottleneck(0.2), starts=2).converged


def test_init_by_the_user_is_used_and_left_alone():
    W = near_identity(3, 3)
    before = W.copy()
    found = ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", init=W)
    assert len(found.starts) == 1
    np.testing.assert_array_equal(W, before)
    stacked = ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", init=np.stack([W, W]))
    assert [start.loss for start in stacked.starts] == [found.loss] * 2
    assert len(ip.solve(UNIFORM, ip.bottleneck(0.2), "drs", init="identity").starts) == 1


@pytest.mark.parametrize("asked", [{"clusters": 10**9}, {"starts": 10**9}])
def test_starts_that_no_memory_holds_are_refused_before_it_is_asked_for(asked):
    with pytest.raises(ip.InvalidOptionError, match=r"would take [\d,]+ GB, more than 4: ask for fewer"):
        ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "blahut-arimoto", rng=0, **asked)
