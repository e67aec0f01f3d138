"""The range of parameters that is swept if nobody says."""

import numpy as np
import pytest

import infoplane as ip
from infoplane.sweep.range import KEPT, natural_range

JOINTS = {"heart": ip.datasets.heart, "uniform": ip.datasets.paper_uniform, "non-uniform": ip.datasets.paper_nonuniform}


@pytest.mark.parametrize("make", JOINTS.values(), ids=JOINTS)
def test_a_bottlenecks_range_spans_its_trade_off(make):
    joint = make()
    low, high = natural_range(joint, ip.bottleneck)
    most, least = (ip.solve(joint, ip.bottleneck(gamma), rng=0) for gamma in (low, min(1.001 * high, 1.0)))
    assert most.iyz >= (KEPT - 0.01) * joint.mutual_information
    assert least.iyz <= 1e-6
    assert ip.solve(joint, ip.bottleneck(0.8 * high), rng=0).iyz > 1e-3 * joint.mutual_information


@pytest.mark.parametrize("make", JOINTS.values(), ids=JOINTS)
def test_a_funnels_range_spans_its_trade_off(make):
    joint = make()
    low, high = natural_range(joint, ip.funnel)
    assert ip.solve(joint, ip.funnel(low), rng=0).iyz >= 0.95 * joint.mutual_information
    assert ip.solve(joint, ip.funnel(high), rng=0).iyz <= 0.03 * joint.mutual_information


def test_independent_letters_leave_nothing_to_trade():
    joint = ip.Joint.from_matrix(np.outer([0.6, 0.4], [0.5, 0.3, 0.2]))
    for family in (ip.bottleneck, ip.funnel):
        low, high = natural_range(joint, family)
        assert 0.0 < low < high
        assert family(low).parameter == low


@pytest.mark.parametrize("family", [ip.bottleneck, ip.funnel])
def test_the_search_reports_and_is_the_same_for_it(family):
    joint, heard = ip.datasets.heart(), []
    silent = natural_range(joint, family)
    assert natural_range(joint, family, heard.append) == silent
    assert heard
    assert all(one.runs > 0 and np.isfinite(one.best_loss) for one in heard)


@pytest.mark.parametrize("family", [ip.bottleneck, ip.funnel])
def test_a_search_that_is_stopped_has_no_range(family):
    with pytest.raises(KeyboardInterrupt):
        natural_range(ip.datasets.heart(), family, lambda _progress: True)
