"""The Lagrangian of tasks: value, gradient, width and stationarity against explicit sums; its families."""

import functools
import pickle

import numpy as np
import pytest

import infoplane as ip
from infoplane.problem import siblings
from infoplane.storage.files import problem_of
from made_up import made_tasks, told


@pytest.mark.parametrize("gamma", [0.0, 0.05, 0.7])
@pytest.mark.parametrize("seed", range(4))
def test_the_value_is_that_of_the_informations_and_the_gradient_its_slope(gamma, seed):
    tasks, problem = made_tasks(seed, hidden=4), ip.TaskLagrangian(gamma, keep=1.5, hide=0.8)
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.ones(4), 8).T
    ixz, iuz, isz = told(tasks, W)
    assert problem.value(tasks.joint, W) == pytest.approx(gamma * ixz - 1.5 * iuz + 0.8 * isz, abs=1e-12)
    away = rng.normal(size=W.shape)
    away -= away.mean(axis=0)
    h = 1e-6 * W.min()
    slope = (problem.value(tasks.joint, W + h * away) - problem.value(tasks.joint, W - h * away)) / (2 * h)
    assert (problem.gradient(tasks.joint, W) * away).sum() == pytest.approx(slope, abs=1e-5)


@pytest.mark.parametrize("seed", range(10))
def test_the_map_with_its_width_never_raises_the_loss(seed):
    tasks, rng = made_tasks(seed, hidden=3, peaked=0.3), np.random.default_rng(seed)
    problem = ip.TaskLagrangian(rng.choice([0.0, 0.1]), hide=rng.choice([0.3, 1.0, 4.0]))
    W = rng.dirichlet(np.ones(5), 8).T
    for _ in range(40):
        before = problem.value(tasks.joint, W)
        W = W * np.exp(-problem.gradient(tasks.joint, W) / tasks.p_x / problem.width)
        W /= W.sum(axis=0)
        assert problem.value(tasks.joint, W) <= before + 1e-14


def test_families_and_what_files_keep_of_them():
    problem = ip.task_funnel(2.0, gamma=0.1)
    assert problem_of(problem.rho, problem.family, problem.parameter) == problem
    assert pickle.loads(pickle.dumps(problem)) == problem
    assert problem.record.has(problem)
    assert siblings(problem).make(3.0) == ip.task_funnel(3.0, gamma=0.1)
    side = ip.side_information_bottleneck(0.1, hide=2.0)
    assert (side.gamma, side.keep, side.hide) == (problem.gamma, problem.keep, problem.hide)
    assert pickle.loads(pickle.dumps(ip.task_funnel)) is ip.task_funnel
    tasks = made_tasks(0)
    small = ip.task_funnel(2.0).on(tasks.joint)
    assert small.gamma == pytest.approx(0.01 * ip.critical_gamma(tasks.keep))
    with pytest.raises(ip.InvalidOptionError, match="leaves gamma to the joint"):
        _ = ip.task_funnel(2.0).rho
    with pytest.raises(ip.InvalidOptionError, match="needs hide"):
        ip.side_information_bottleneck(0.1)
    with pytest.raises(ip.InvalidOptionError, match="beta must be"):
        ip.task_funnel(-1.0)
    with pytest.raises(ip.InvalidOptionError, match="hide must be a positive number"):
        functools.partial(ip.TaskLagrangian, 0.1)(hide=0.0)
