import numpy as np
import pytest

import infoplane as ip

JOINT = ip.datasets.paper_nonuniform()


@pytest.mark.parametrize("gamma", [0.2, 0.4])
def test_its_fixed_points_solve_the_self_consistent_equations(gamma):
    """And its best of eight is Blahut-Arimoto's here."""
    found, other = (
        ip.solve(JOINT, ip.bottleneck(gamma), name, starts=8, rng=0, init="random")
        for name in ("ot-ib", "blahut-arimoto")
    )
    assert found.converged
    assert found.loss == pytest.approx(other.loss, abs=1e-8)
    assert JOINT.p_x @ np.abs(found.encoder.sum(axis=0) - 1.0) < 1e-12


def test_the_least_rate_at_a_relevance():
    """The dual of abp's problem: the same gamma, the same point."""
    relevance = ip.solve(JOINT, ip.bottleneck(0.5), ip.BregmanProjection(rate=0.2), starts=2, rng=0, init="random").iyz
    solver = ip.TransportBottleneck(relevance=relevance)
    found = ip.solve(JOINT, ip.bottleneck(0.58), solver, starts=4, rng=0, init="random", max_iter=3000)
    assert found.iyz == pytest.approx(relevance, abs=1e-7)
    assert found.ixz == pytest.approx(0.2, abs=1e-7)
