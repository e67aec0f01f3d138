"""The bound of a coarsened Y: the identity behind it, its groups, and that it is below certified optima."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.certificate.bottleneck import coarsening
from infoplane.certificate.bottleneck.coarsening import coarsened_bound, groups_of, prove
from infoplane.certificate.bottleneck.proof import Proof, contraction_bound
from infoplane.certificate.certificate import Limits
from infoplane.information import mutual_information
from infoplane.joint.joint import Support
from infoplane.posterior.mixture import Mixture
from infoplane.solvers.envelope import Envelope
from strategies import chains, joints


@settings(max_examples=40, deadline=None)
@given(chains(max_y=5), st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.data())
def test_the_identity_behind_the_coarsened_bound(chain, gamma, share, data):
    """gamma I(X;Z) - I(Y;Z) from the merged and the conditional problems, for any grouping and any share s."""
    joint, W = chain
    P = np.asarray(joint.p_xy)
    labels = [data.draw(st.integers(0, 2)) for _ in range(P.shape[1])]
    s = gamma * share
    groups = [[y for y in range(P.shape[1]) if labels[y] == k] for k in range(3)]
    groups = [g for g in groups if g and P[:, g].sum() > 0]
    ixz, iyz = verify.mutual_informations(P, W)
    merged = np.column_stack([P[:, g].sum(axis=1) for g in groups])
    total = (gamma - s) * ixz - (1.0 - s) * verify.mutual_informations(merged, W)[1]
    for group in groups:
        weight = P[:, group].sum()
        a, b = verify.mutual_informations(P[:, group] / weight, W)
        total += weight * (s * a - b)
    assert total == pytest.approx(gamma * ixz - iyz, abs=1e-10)


@settings(max_examples=12, deadline=None)
@given(joints(max_x=6, max_y=4), st.floats(0.02, 0.9), st.data())
def test_the_coarsened_bound_is_below_the_certified_optimum(joint, gamma, data):
    support = Support(joint)
    n_y = len(support.p_y)
    labels = [data.draw(st.integers(0, 1)) for _ in range(n_y)]
    groups = [g for k in (0, 1) if (g := [y for y in range(n_y) if labels[y] == k])]
    bound = coarsened_bound(support, gamma, 1e-6, Limits(1e-6, 50_000).budget(), groups)
    best = ip.solve(joint, ip.bottleneck(gamma), Envelope(max_cells=100_000), max_iter=300)
    assert best.status is ip.Status.CERTIFIED
    assert bound <= best.lower_bound + 1e-6
    assert bound <= best.loss + 1e-12


def test_merging_proportional_letters_loses_nothing():
    """p(x|y) the same for two letters: Y' says all that Y says, and the coarsened bound is the optimum."""
    base = np.asarray(ip.datasets.paper_nonuniform().p_xy)
    P = np.column_stack([0.3 * base[:, 0], base[:, 1], 0.7 * base[:, 0], 0.5 * base[:, 2], 0.5 * base[:, 2]])
    joint = ip.Joint.from_matrix(P)
    groups = groups_of(P, 3)
    assert sorted(groups) == [[0, 2], [1], [3, 4]]
    bound = coarsened_bound(Support(joint), 0.2, 1e-7, Limits().budget(), groups)
    best = ip.solve(ip.datasets.paper_nonuniform(), ip.bottleneck(0.2), Envelope(tol=1e-7))
    assert best.loss - 1e-5 <= bound <= best.loss


def test_groups_hold_every_letter_once_and_none_is_too_large():
    P = np.random.default_rng(1).random((7, 10))
    found = groups_of(P / P.sum())
    assert len(found) == 4
    assert sorted(y for group in found for y in group) == list(range(10))
    assert max(len(group) for group in found) <= 4


def test_groups_are_those_of_greedy_merging_done_slowly():
    """The obvious twin: every pair weighed anew before every merger, by the information that it costs."""
    P = np.random.default_rng(4).dirichlet(np.full(9, 0.4), size=6)
    P /= P.sum()
    found, most = [[y] for y in range(9)], 4

    def information(groups):
        return mutual_information(np.column_stack([P[:, group].sum(axis=1) for group in groups]))

    def merged(i, j):
        return [group for k, group in enumerate(found) if k not in (i, j)] + [found[i] + found[j]]

    while len(found) > 3:
        pairs = [(i, j) for i in range(len(found)) for j in range(i) if len(found[i]) + len(found[j]) <= most]
        found = merged(*max(pairs, key=lambda pair: information(merged(*pair))))
    assert sorted(sorted(group) for group in found) == sorted(groups_of(P, 3))


def test_very_many_letters_are_bounded_without_a_single_box():
    """Boxes of 70 letters would take seconds each: groups of them, each with few, are looked at instead."""
    rng = np.random.default_rng(5)
    P = np.exp(-((np.linspace(0, 1, 12)[:, None] - np.linspace(0, 1, 70)) ** 2) / 0.02) + 1e-3 * rng.random((12, 70))
    support, problem = Support(ip.Joint.from_counts(P)), ip.bottleneck(0.3)
    assert max(len(group) for group in groups_of(support.P)) <= coarsening.EFFORT.widest + 1
    proof = Proof(support, problem, Mixture(np.ones(1), support.p_y[None]), 1e-4, Limits(max_cells=4_000).budget())
    prove(proof)
    assert not proof.complete
    assert 0 < proof.budget.cells_spent <= 4_000
    assert proof.partition.cuts == 0
    loss = problem.value(support.joint, proof.mixture.encoder(support, 0.3))
    assert contraction_bound(support, problem) <= proof.lower_bound < loss


def test_when_cells_run_out_the_best_of_all_bounds_stands():
    P = np.random.default_rng(2).dirichlet(np.full(16, 0.5), size=30) / 30
    joint, problem = ip.Joint.from_counts(P), ip.bottleneck(0.2)
    support = Support(joint)
    constant, limits = Mixture(np.ones(1), support.p_y[None]), Limits(max_cells=3_000)
    proof, direct = (Proof(support, problem, constant, limits.tol, limits.budget()) for _ in range(2))
    prove(proof)
    direct.search()
    assert not proof.complete
    assert proof.budget.cells_spent <= 3_000
    loss = problem.value(joint, proof.mixture.encoder(support, 0.2))
    assert contraction_bound(support, problem) <= direct.lower_bound < proof.lower_bound < loss


def test_a_y_with_few_letters_is_not_coarsened(monkeypatch):
    """Four letters or fewer: Y' would be Y, and the same proof would be begun again."""
    monkeypatch.setattr(coarsening, "EFFORT", coarsening.EFFORT._replace(few=1))
    P = np.random.default_rng(3).dirichlet(np.ones(4), size=100)
    support = Support(ip.Joint.from_counts(P))
    proof = Proof(
        support, ip.bottleneck(0.05), Mixture(np.ones(1), support.p_y[None]), 1e-9, Limits(max_cells=2_500).budget()
    )
    monkeypatch.setattr(coarsening, "coarsened_bound", None)  # would be called
    prove(proof)
    assert not proof.complete
    assert proof.budget.cells_spent == 2_500
