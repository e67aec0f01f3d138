"""The descent theorem, iteration by iteration, on real runs of every formulation that it covers."""

import numpy as np
import pytest

import infoplane as ip
import twins
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.base import random_encoder
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.iterates import iterates, watched
from made_up import JOINTS
from recursions import problem_for

COVERED = [name for name, formulation in FORMULATIONS.items() if formulation.descends]


def begun(joint, formulation, options, iterations, seed=3):
    """A batch of one run from a random start."""
    support = Support(joint)
    W = random_encoder(support.P.shape[0], support.P.shape[0], np.random.default_rng(seed))[None]
    return Stepped(options, support, problem_for(formulation), W, tol=1e-13, limit=iterations)


def augmented(batch, point, c):
    """L_c from the slow twins."""
    split = batch.split
    gap = (point.W @ split.M - point.v) * (1.0 if split.encoder_first else -1.0)
    own = twins.encoder_value(split.P, point.W, point.W, split.a, split.d)
    return own + twins.marginal_value(point.v, split.h) + float((point.nu * gap + 0.5 * c * gap * gap).sum())


def check(joint, formulation, options, iterations=60):
    """Every iteration that the theorem speaks of obeys its inequality; returns (iterations that it covers, iterations checked)."""
    batch = begun(joint, formulation, options, iterations)
    steps = [step for step in watched(batch.iteration) if step is not None]
    for number, step in enumerate(steps):
        fall = augmented(batch, step.before, step.after.c) - augmented(batch, step.after, step.after.c)
        assert fall >= step.promised - 1e-11, number
    return sum(step.covered for step in steps), len(steps)


@pytest.mark.parametrize("joint", [make() for make in JOINTS.values()], ids=JOINTS)
@pytest.mark.parametrize("alpha", [1.0, 1.618])
@pytest.mark.parametrize("formulation", COVERED)
def test_the_inequality_holds_row_by_row_for_the_automatic_penalty(formulation, alpha, joint):
    check(joint, formulation, ip.DouglasRachford(formulation, relaxation=alpha, acceleration=False))


@pytest.mark.parametrize("formulation", COVERED)
def test_above_the_threshold_every_iteration_is_covered_and_falls(formulation):
    joint = ip.datasets.paper_nonuniform()
    W = random_encoder(3, 3, np.random.default_rng(3))
    c = 8.0 * ip.theorem_threshold(joint, problem_for(formulation), W, formulation=formulation).c
    options = ip.DouglasRachford(formulation, penalty=c, relaxation=1.0)
    covered, checked = check(joint, formulation, options, iterations=40)
    assert covered == checked >= 30


def test_most_iterations_of_pf_1_are_covered():
    covered, checked = check(
        ip.datasets.paper_nonuniform(), "pf-1", ip.DouglasRachford("pf-1", acceleration=False), 100
    )
    assert covered >= 0.8 * checked


@pytest.mark.parametrize("formulation", FORMULATIONS)
def test_iterates_are_those_of_solve(formulation):
    """From the start to the answer, one for every iteration, with the L_c of the trace; and v is the marginals of W at the end."""
    joint = ip.datasets.paper_nonuniform()
    problem, start = problem_for(formulation), random_encoder(3, 3, np.random.default_rng(3))
    options = ip.DouglasRachford(formulation, acceleration=False)
    found = ip.solve(joint, problem, options, init=start, max_iter=300)
    path = list(iterates(joint, problem, options, start, max_iter=300))
    assert len(path) == found.iterations + 1
    np.testing.assert_array_equal(path[0].W, start)
    alive = found.encoder.shape[0]
    np.testing.assert_allclose(path[-1].W[:alive], found.encoder, atol=1e-14)
    assert not path[-1].W[alive:].any()
    np.testing.assert_array_equal([now.augmented for now in path[1:]], found.trace.augmented)
    assert path[0].W is not path[1].W
    assert all(one.v.shape == one.nu.shape == one.c.shape for one in path)
