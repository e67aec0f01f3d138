"""The default: never above what another of our solvers, or a trivial encoder, has; whatever the size."""

import functools

import numpy as np
import pytest

import infoplane as ip
import verify
from batches import job_of, starts_of
from infoplane.joint.joint import Support
from infoplane.solvers import base
from infoplane.solvers.base import advanced
from infoplane.solvers.columns import Columns
from infoplane.solvers.envelope import Envelope
from infoplane.solvers.portfolio import STAGES, Candidates, Portfolio, default_encoder

HEART = ip.datasets.heart()


def blurred(letters=90, width=0.015):
    """Letters on a circle, each seen as itself or a near neighbour: as many clusters as letters are worth having."""
    angle = np.arange(letters) / letters
    apart = np.abs(angle[:, None] - angle)
    T = np.exp(-(np.minimum(apart, 1 - apart) ** 2) / (2 * width**2))
    return ip.Joint.from_counts(T / T.sum(axis=1, keepdims=True))


def two_outcomes(letters=120, seed=0):
    """Many letters by two outcomes, masses far apart."""
    rng = np.random.default_rng(seed)
    p = rng.beta(0.6, 0.6, letters)
    return ip.Joint.from_counts(rng.lognormal(0.0, 1.5, letters)[:, None] * np.column_stack([p, 1 - p]))


@pytest.mark.parametrize("rho", [(1.8, 1.8, -0.3), (1.0, 0.5, -0.4), (0.3, 0.2, 0.1), (-0.5, 2.0, -0.5)])
def test_no_lagrangian_ends_above_a_trivial_encoder(rho):
    """Splitting alone ended at 2.656 nats for the first of them, STATIONARY; a constant Z has 0."""
    problem = ip.MarkovLagrangian(*rho)
    found = ip.solve(HEART, problem, rng=0, starts=4)
    verify.check_solution(HEART.p_xy, rho, found)
    assert found.converged
    for W in (np.ones((1, 16)), np.eye(16), ip.solve(HEART, problem, "merging").encoder):
        assert found.loss <= verify.lagrangian(HEART.p_xy, W, rho) + 1e-9


def test_the_number_of_clusters_is_found_beyond_that_of_the_starts():
    joint, problem = blurred(), ip.bottleneck(0.02)
    found = ip.solve(joint, problem, rng=0)
    assert found.clusters > 64
    assert found.cluster_cap is None
    assert not found.at_cap
    full = ip.solve(joint, problem, "annealing", clusters=90)
    assert found.loss <= full.loss + 1e-9
    verify.check_solution(joint.p_xy, problem.rho, found)


def test_a_sweep_says_more_of_y_the_lower_gamma_is():
    """With 64 clusters at most, I(Y;Z) fell again below gamma = 0.05."""
    frontier = ip.sweep(blurred(), ip.bottleneck, [0.02, 0.05, 0.2])
    informed = [run.iyz for run in frontier.runs]
    assert informed[0] > informed[1] > informed[2]
    assert frontier.runs[0].clusters > 64
    assert not frontier.to_frame()["at_cap"].any()


@pytest.mark.parametrize("gamma", [0.002, 0.02])
def test_a_cap_leaves_the_default_no_worse_than_any_solver(gamma):
    """Above 64 letters annealing used to run alone, whatever ``starts`` said."""
    joint, problem = two_outcomes(), ip.bottleneck(gamma)
    found = ip.solve(joint, problem, clusters=5, rng=0)
    assert found.clusters == found.cluster_cap == 5
    assert found.at_cap
    for solver in ("annealing", "accelerated", "merging", "pooling"):
        other = ip.solve(joint, problem, solver, clusters=5, rng=0)
        assert other.clusters <= 5
        assert found.loss <= other.loss + 1e-9


@pytest.mark.parametrize("gamma", [0.01, 0.1])
def test_the_deterministic_bottleneck_is_no_worse_than_merging_and_accelerated(gamma):
    joint, problem = two_outcomes(), ip.deterministic_bottleneck(gamma)
    found = ip.solve(joint, problem, rng=0)
    for solver in ("accelerated", "merging"):
        assert found.loss <= ip.solve(joint, problem, solver, rng=0).loss + 1e-9


def test_a_funnel_of_many_letters_is_below_pooling_and_merging():
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(4, 0.3), size=66) * rng.random((66, 1)))
    problem = ip.funnel(6.0)
    found = ip.solve(joint, problem, rng=0, starts=2)
    verify.check_solution(joint.p_xy, problem.rho, found)
    for solver in (ip.Pooling(), ip.Merging(), ip.Merging("lagrangian")):
        assert found.loss <= ip.solve(joint, problem, solver, starts=2, rng=0).loss + 1e-9


@pytest.mark.parametrize("problem", [ip.bottleneck(0.02), ip.funnel(6.0), ip.deterministic_bottleneck(0.05)])
def test_same_seed_same_bits(problem):
    joint = two_outcomes(70)
    one, two = (ip.solve(joint, problem, clusters=6, starts=2, rng=5) for _ in range(2))
    np.testing.assert_array_equal(one.encoder, two.encoder)


def test_starts_are_as_many_as_the_budget_holds():
    solver, small, large = Portfolio(), Support(HEART), Support(two_outcomes(3000))
    assert solver.useful_starts(small, ip.bottleneck(0.1), 16, 16) == 16
    assert 1 <= solver.useful_starts(large, ip.bottleneck(0.1), 300, 16) < 16
    assert solver.useful_starts(large, ip.bottleneck(0.1), 3000, 16) == 1


def test_a_funnel_of_many_outcomes_pools_several_starts():
    """One start on 330 x 330 letters, at beta = 2, ended 2.5e-4 nats above four of the accelerated solver; four pooled 9e-3 below."""
    solver, colours, problem = Portfolio(), Support(ip.datasets.colours()), ip.funnel(2.0)
    assert solver.useful_starts(colours, problem, 330, 16) == 4
    assert solver.useful_starts(colours, problem, 330, 2) == 2
    assert solver.useful_starts(colours, ip.bottleneck(0.1), 330, 16) == 1
    assert solver.useful_starts(Support(two_outcomes(9000)), problem, 330, 16) == 1
    starts = np.full((4, 330, 330), 1 / 330)
    found = Candidates(job_of(colours, problem, starts, limit=1))
    STAGES[0].work(found, found.brief)
    # splitting would cost as much as forty iterations
    assert [run.found_by for run in found.started[:4]] == ["accelerated"] * 4


def test_soft_problems_go_on_from_hard_partitions_too():
    """A generalised bottleneck was left at its starts' best: hard partitions were settled only if they were lower as they were."""
    rng = np.random.default_rng(0)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(4, 0.3), size=100) * rng.lognormal(0.0, 1.0, (100, 1)))
    problem = ip.generalised_bottleneck(0.1, 0.5)
    hard = ip.solve(joint, ip.deterministic_bottleneck(0.1), clusters=8, rng=0).encoder
    other = ip.solve(joint, problem, "accelerated", init=0.99 * hard + 0.01 / len(hard))
    assert ip.solve(joint, problem, clusters=8, rng=0).loss <= other.loss + 1e-9


def test_a_capped_funnel_of_many_outcomes_is_no_worse_than_the_difference_of_convex_solver():
    """A tenth of the colours: four clusters by pooling alone ended 1e-3 nats above."""
    joint, problem = ip.Joint.from_counts(np.asarray(ip.datasets.colours().p_xy)[::10, ::10]), ip.funnel(1.5)
    other = ip.solve(joint, problem, "dc-pf", clusters=4, starts=4, rng=0)
    assert ip.solve(joint, problem, clusters=4, rng=0).loss <= other.loss + 1e-6


def test_a_capped_funnel_of_many_letters_is_no_worse_than_random_starts():
    """Rare letters, few clusters, a large beta: without random starts among its own the default ended 6e-2 nats above them."""
    table = np.random.default_rng(1).dirichlet(np.full(12, 0.1), size=200) / np.arange(1, 201)[:, None]
    joint, problem = ip.Joint.from_counts(table), ip.funnel(30.0)
    options = {"clusters": 8, "max_iter": 300, "rng": 0}
    other = ip.solve(joint, problem, "accelerated", init="random", starts=8, **options)
    assert ip.solve(joint, problem, starts=2, **options).loss <= other.loss + 1e-9


WIDE = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(40, 8)))


@functools.cache
def loss_of_default(problem):
    return ip.solve(WIDE, problem, rng=0).loss


def test_it_is_what_the_default_finds():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    found = default_encoder(job_of(joint, problem), 60.0)
    assert problem.value(joint, found) == pytest.approx(ip.solve(joint, problem, rng=0).loss, abs=1e-9)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
@pytest.mark.parametrize("limits", [{"max_seconds": 1e-6}, {"max_cells": 1}], ids=["seconds", "cells"])
@pytest.mark.parametrize(
    ("problem", "solver"), [(ip.funnel(3.0), Columns), (ip.bottleneck(0.05), Envelope)], ids=["funnel", "bottleneck"]
)
def test_no_limit_makes_an_answer_worse_than_the_default(problem, solver, limits):
    found = ip.solve(WIDE, problem, solver(**limits))
    assert found.loss <= loss_of_default(problem) + 1e-9
    verify.check_solution(WIDE.p_xy, problem.rho, found, tol=1e-9)
    assert found.lower_bound <= found.loss


@pytest.mark.parametrize("blocks", [0, 1, 4, 12])
def test_interrupted_it_has_an_encoder_all_the_same(blocks, monkeypatch):
    job, seen = job_of(WIDE, ip.funnel(3.0), np.eye(40)[None]), []

    def stopping(iteration, steps):
        seen.append(steps)
        if len(seen) > blocks:
            job.budget.stop()
        return advanced(iteration, steps)

    monkeypatch.setattr(base, "advanced", stopping)
    W = default_encoder(job, 60.0)
    assert len(seen) == blocks + 1
    np.testing.assert_allclose(W.sum(axis=0), np.ones(40))


def test_a_default_that_the_clock_has_ended_says_so_and_not_its_own_limit_on_work():
    job = job_of(HEART, ip.funnel(3.0), starts_of(HEART, 2)).within(seconds=0.0)
    runs = Portfolio().run(job)
    assert {run.advice for run in runs} == {"raise max_seconds"}
    assert not any(run.status.converged for run in runs)
