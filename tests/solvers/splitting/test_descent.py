"""The descent theorem, iteration by iteration, on real runs of every formulation that it covers."""

import itertools

import numpy as np
import pytest

import infoplane as ip
import twins
from batches import Stepped
from infoplane.joint.joint import Support
from infoplane.solvers.base import random_encoder
from infoplane.solvers.splitting.formulations import FORMULATIONS
from infoplane.solvers.splitting.solver import iterates
from infoplane.solvers.splitting.thresholds import curvatures, descent
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


def standings(batch):
    """Where the only run stands after every iteration, and the factors by which its steps had to raise the penalty."""
    going = True
    while going:
        going = batch.advance(1)
        alive = slice(int(batch.state.alive[0]))
        tables = (batch.state.W, batch.state.v, batch.state.nu, batch.state.c)
        yield ip.Standing(*(table[0, alive].copy() for table in tables)), batch.state.boost[0, alive].copy()


def check(joint, formulation, options, iterations=60):
    """Every iteration that the theorem speaks of obeys its inequality; returns (iterations that it covers, iterations checked).

    It has nothing to say of the first one, before nu is a gradient, of those in which a cluster was dropped, and where the argmin had to
    raise a row's penalty.
    """
    batch = begun(joint, formulation, options, iterations)
    covered = checked = 0
    for number, ((before, boost), (after, raised)) in enumerate(itertools.pairwise(standings(batch))):
        if np.array_equal(boost, raised):  # arrays of different shapes are not equal
            kappa = descent(batch.split.alpha, after.c, *curvatures(batch.split.h, before.v, after.v))
            fall = augmented(batch, before, after.c) - augmented(batch, after, after.c)
            assert fall >= (kappa * (after.v - before.v) ** 2).sum() - 1e-11, number
            covered, checked = covered + bool((kappa > 0.0).all()), checked + 1
    return covered, checked


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
