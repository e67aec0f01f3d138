"""The accelerated solver: whole runs against plain iteration of the same map. Its steps are tested in tests/kernels/fixed_point."""

import pytest

import infoplane as ip
from batches import run, starts_of

HEART = ip.datasets.heart()


@pytest.mark.parametrize("name", ["paper_uniform", "paper_nonuniform", "heart"])
def test_a_fraction_of_the_iterations_of_blahut_arimoto_to_no_worse_an_end(name):
    """Same starts, stationarity 1e-10; without the split test, which would only make the ends better."""
    joint = ip.datasets.load(name)
    plain_total = fast_total = worse = runs = 0
    for gamma in (0.05, 0.1, 0.2, 0.3, 0.4, 0.6):
        problem, starts = ip.bottleneck(gamma), starts_of(joint, 8, seed=int(100 * gamma))
        plain = run(ip.BlahutArimoto(), joint, problem, starts, tol=1e-10, limit=20_000)
        fast = run(ip.Accelerated(split=False), joint, problem, starts, tol=1e-10, limit=20_000)
        for one, two in zip(plain, fast, strict=True):
            assert two.status is ip.Status.STATIONARY
            assert problem.stationarity(joint, two.encoder) <= 1.1e-10
            worse += problem.value(joint, two.encoder) > problem.value(joint, one.encoder) + 1e-9
            runs += 1
        plain_total += sum(one.iterations for one in plain)
        fast_total += sum(two.iterations for two in fast)
    assert 3 * fast_total < plain_total
    assert worse <= 0.05 * runs


@pytest.mark.parametrize("beta", [0.3, 1.0])
def test_up_to_beta_one_the_funnel_releases_everything(beta):
    found = ip.solve(HEART, ip.funnel(beta), "accelerated", starts=2, rng=0, init="random")
    assert found.converged
    assert found.loss == pytest.approx(beta * HEART.mutual_information - HEART.entropy_x, abs=1e-12)
    fewer = ip.solve(HEART, ip.funnel(beta), "accelerated", starts=2, rng=0, init="random", clusters=4)
    assert fewer.converged
    assert fewer.loss > found.loss


@pytest.mark.parametrize("options", [{"memory": 0}, {"memory": 2.5}, {"memory": True}, {"split": 1}])
def test_options_are_checked(options):
    with pytest.raises(ip.InvalidOptionError, match=next(iter(options))):
        ip.Accelerated(**options)


def test_what_it_refuses():
    nothing = ip.MarkovLagrangian(0.2, 0.3, 0.5)
    with pytest.raises(ip.UnsupportedProblemError, match="constant Z"):
        ip.solve(HEART, nothing, "accelerated")
