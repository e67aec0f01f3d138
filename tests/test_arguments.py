"""What is no joint is refused by every public function that takes one, and 10**400 wherever numbers are expected."""

import inspect

import numpy as np
import pytest

import infoplane as ip

GAMMA, W = ip.bottleneck(0.2), np.eye(3)
OTHERS = {
    "problem": GAMMA,
    "family": ip.bottleneck,
    "encoder": W,
    "encoders": W,
    "parameters": [0.2],
    "max_iyz": 0.1,
    "max_isz": 0.1,
    "leakages": [0.1],
    "max_leakages": [0.1],
    "max_lifts": [0.1],
    "solver": ip.DouglasRachford("ib-1"),
    "start": W,
    "W": W,
    "V": W,
    "store": "runs.db",
    "clusters": 2,
    "releases": {"one": W},
}
TAKE_A_JOINT = [
    name
    for name in ip.__all__
    if inspect.isfunction(f := getattr(ip, name)) and "joint" in inspect.signature(f).parameters
]


@pytest.mark.parametrize("name", TAKE_A_JOINT)
@pytest.mark.parametrize("given", [np.eye(3) / 3.0, "heart", None, [[0.5, 0.5]]])
def test_what_is_no_joint_is_refused(name, given):
    function = getattr(ip, name)
    parameters = inspect.signature(function).parameters
    others = {one: OTHERS[one] for one, more in parameters.items() if one != "joint" and more.default is more.empty}
    with pytest.raises(ip.InvalidOptionError, match=r"a joint must be an infoplane\.Joint; found a value of type"):
        next(function(joint=given, **others))  # what is made step by step says so at its first


def test_every_such_function_is_tried():
    assert {"solve", "sweep", "critical_gamma", "merge_two", "gnid", "penalty_threshold"} <= set(TAKE_A_JOINT)
    assert len(TAKE_A_JOINT) >= 14


HUGE = 10**400


@pytest.mark.parametrize(
    "call",
    [
        lambda joint: joint.with_prior([HUGE, 0, 0]),
        lambda joint: ip.Joint.from_conditional([HUGE, 0, 0], joint.p_y_given_x, axes="yx"),
        lambda _: ip.datasets.colours([HUGE] * 330),
        lambda joint: ip.sweep(joint, ip.bottleneck, [HUGE]),
        lambda joint: ip.certify(joint, GAMMA, [[HUGE, 1, 1]]),
        lambda joint: ip.gnid(joint, W, [[HUGE, 1, 1]]),
        lambda joint: ip.efficiency(joint, [[[HUGE, 1, 1], [1, 1, 1]]], counts=True),
        lambda joint: ip.merge_two(joint, memory_limit=HUGE),
        lambda joint: ip.perfect_privacy(joint, max_bases=HUGE),
        lambda joint: ip.funnel_at_leakage(joint, HUGE),
        lambda joint: ip.transitions(joint, points=HUGE),
        lambda _: ip.bottleneck(HUGE),
        lambda _: ip.douglas_rachford(None, None, p0=[HUGE], q0=[0.0]),
    ],
)
def test_a_whole_number_beyond_all_floats_is_refused_in_few_words(call):
    with pytest.raises(ip.InfoplaneError) as refused:
        call(ip.datasets.paper_uniform())
    assert 20 < len(str(refused.value)) < 400
