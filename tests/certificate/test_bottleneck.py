"""The bottleneck's lower bound: true in floating point, for any lambda, at any moment; and tight where it should be."""

import itertools

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import exact_boxes as exact
import infoplane as ip
import verify
from box_search import values
from infoplane.certificate import bottleneck as bottleneck_proof
from infoplane.certificate.bottleneck import (
    OpenBoxes,
    Proof,
    assured,
    coarsened_bound,
    contraction_bound,
    groups_of,
    prove,
)
from infoplane.frontier.transitions import critical_gamma
from infoplane.information import mutual_information
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.posterior import form
from infoplane.posterior.form import Mixture, dobrushin, dual_of
from infoplane.runtime.budget import Limits
from infoplane.solvers.envelope import Envelope
from strategies import chains, joints


def dense(joint):
    return np.asarray(joint.p_xy)


def weighed(joint, gamma, lam, cuts, target=0.0):
    """The boxes after so many cuts for a lambda, and the proven least value of f(q) - lambda.q."""
    support = Support(joint)
    open_boxes = OpenBoxes(support.T)
    open_boxes.grow(cuts + 1)
    search(dual_of(support, gamma, lam), open_boxes.boxes, target, cuts)
    return support, open_boxes


# -- safety in floating point (boxes: tests/kernels/bottleneck_proof) -----------------------------------------------------


@exact.joints
def test_the_final_sum_is_rounded_down(joint):
    rng = np.random.default_rng(5)
    support = Support(joint)
    for _ in range(10):
        problem = ip.bottleneck(float(rng.uniform(0.01, 1.0)))
        lam, least = rng.normal(size=joint.shape[0]) * 10.0, float(rng.normal())
        P = [[mpmath.mpf(v) for v in row] for row in dense(joint).tolist()]
        p_x = [mpmath.fsum(row) for row in P]
        p_y = [mpmath.fsum(row[y] for row in P) for y in range(len(P[0]))]
        gamma = -mpmath.mpf(problem.rho_zx) / mpmath.mpf(problem.rho_zy)
        whole = gamma * exact.entropy(p_x) - exact.entropy(p_y) + least
        whole += mpmath.fsum(mpmath.mpf(a) * b for a, b in zip(lam, p_x, strict=True))
        assert assured(support, problem, lam, least) <= whole
        assert whole - assured(support, problem, lam, least) <= 1e-12


# -- no false certificate --------------------------------------------------------------------------------------------------


@settings(max_examples=36, deadline=None)
@given(chains(max_y=4), st.floats(0.02, 1.0), st.integers(0, 2**32 - 1), st.floats(-6.0, 1.0))
def test_any_lambda_gives_a_bound_that_holds(chain, gamma, seed, size):
    """Perturbed duals: whatever lambda is handed to branch and bound, and however early it stops, no encoder is below the bound."""
    joint, W = chain
    problem, support = ip.bottleneck(gamma), Support(joint)
    rng = np.random.default_rng(seed)
    lam = Mixture.of(support, W[:, support.x]).multipliers(support, gamma)
    lam += 10.0**size * rng.normal(size=lam.size)
    _, open_boxes = weighed(joint, gamma, lam, int(rng.integers(0, 60)), target=np.inf)
    bound = assured(support, problem, lam, open_boxes.least)
    assert bound <= verify.lagrangian(dense(joint), W, problem.rho) + 1e-12
    n_x = joint.shape[0]
    for encoder in (np.eye(n_x), np.ones((1, n_x)), rng.dirichlet(np.ones(3), size=n_x).T):
        assert bound <= verify.lagrangian(dense(joint), encoder, problem.rho) + 1e-12


def partitions(n):
    """Every deterministic encoder of n letters, up to names."""
    for labels in itertools.product(range(n), repeat=n):
        if all(label <= max(labels[:i], default=-1) + 1 for i, label in enumerate(labels)):
            yield np.eye(max(labels) + 1)[:, labels]


@settings(max_examples=16, deadline=None)
@given(joints(max_x=5, max_y=4), st.floats(0.02, 1.0), st.data())
def test_a_certificate_is_below_every_encoder(joint, gamma, data):
    problem = ip.bottleneck(gamma)
    W = data.draw(chains_encoder(joint))
    found = ip.certify(joint, problem, W, tol=1e-7, max_cells=100_000)
    assert found.loss == pytest.approx(verify.lagrangian(dense(joint), W, problem.rho), abs=1e-12)
    assert found.lower_bound <= found.loss + 1e-12
    losses = [verify.lagrangian(dense(joint), V, problem.rho) for V in partitions(joint.shape[0])]
    assert found.lower_bound <= min(losses) + 1e-12
    assert found.left == 0
    best = ip.solve(joint, problem, "blahut-arimoto", starts=4, rng=0, max_iter=3000)
    assert found.lower_bound <= best.loss + 1e-12
    # Tight: the search ended, so that some encoder attains the bound to the tolerance.
    attained = certified(joint, problem, 1e-7)
    loss = verify.lagrangian(dense(joint), attained.encoder, problem.rho)
    assert loss - 1.1e-7 <= found.lower_bound <= loss + 1e-12
    again = ip.certify(joint, problem, attained.encoder, tol=3e-7, max_cells=100_000)
    assert again.certified
    assert again.posterior is None
    assert min(losses) >= again.loss - 3e-7 - 1e-12


def chains_encoder(joint):
    from strategies import encoders

    return encoders(joint.shape[0])


def test_an_encoder_stopped_early_is_not_certified_and_its_gap_is_true():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    optimum = certified(joint, problem, 1e-9)
    for iterations in (1, 3, 10, 30, 100):
        early = ip.solve(joint, problem, "blahut-arimoto", starts=1, init="identity", max_iter=iterations)
        found = ip.certify(joint, problem, early.encoder, tol=1e-8)
        assert optimum.lower_bound - 1e-9 <= early.loss
        assert abs(found.lower_bound - optimum.lower_bound) <= 1e-8
        assert found.gap >= early.loss - optimum.loss - 1e-12
        assert found.certified == (found.gap <= 1e-8)


def certified(joint, problem, tol):
    from infoplane.solvers.envelope import Envelope

    return ip.solve(joint, problem, Envelope(tol=tol))


@pytest.mark.parametrize("make", [ip.datasets.paper_uniform, ip.datasets.paper_nonuniform])
@pytest.mark.parametrize("shift", [-1e-6, 0.0, 1e-6])
def test_at_a_transition_the_trivial_encoder_is_judged_rightly(make, shift):
    """At the largest gamma with a non-trivial optimum, where D is flat to the fourth order: no false certificate, no endless search."""
    joint = make()
    p = dense(joint) / np.sqrt(np.outer(joint.p_x, joint.p_y))
    critical = float(np.linalg.svd(p)[1][1] ** 2)
    problem = ip.bottleneck(critical * (1.0 + shift))
    found = ip.certify(joint, problem, np.ones((1, 3)), tol=1e-8, max_cells=200_000)
    assert found.left == 0
    assert found.lower_bound <= 0.0
    best = certified(joint, problem, 1e-10)
    assert found.lower_bound <= best.loss + 1e-12
    assert found.gap <= 1e-8 + (0.0 - best.loss)


# -- known answers ---------------------------------------------------------------------------------------------------------


def test_a_local_optimum_of_the_paper_is_refuted():
    """Non-uniform data at gamma = 0.1848: random starts of Blahut-Arimoto end at -0.206005; the optimum is -0.208488."""
    joint, problem = ip.datasets.paper_nonuniform(), ip.bottleneck(float(np.geomspace(0.1, 1, 16)[4]))
    local = ip.solve(joint, problem, "blahut-arimoto", starts=16, rng=0, init="random", tol=1e-10)
    assert local.loss == pytest.approx(-0.206005, abs=1e-6)
    found = ip.certify(joint, problem, local.encoder)
    assert not found.certified
    assert found.lower_bound == pytest.approx(-0.208488, abs=2e-6)
    # The posterior it hands over lowers the loss: split it off the others, p(x) = t q(x) + (1 - t) rest.
    q = found.posterior
    assert q.sum() == pytest.approx(1.0, abs=1e-12)
    losses = []
    for t in (1e-3, 1e-2, 3e-2):
        taken = t * q / joint.p_x
        W = np.vstack([taken, (1.0 - taken) * local.encoder])
        losses.append(verify.lagrangian(dense(joint), W, problem.rho))
    assert min(losses) < local.loss - 1e-6
    again = ip.solve(joint, problem, "blahut-arimoto", init=W, tol=1e-10)
    assert ip.certify(joint, problem, again.encoder).certified


@pytest.mark.parametrize("gamma", [0.05, 0.2, 0.5])
def test_planted_blocks_and_products(gamma):
    """Nine letters of Y with an optimum known from three: L* = (gamma - 1) H(B) + sum p(b) L*_b for blocks b, and sums for products."""
    parts = [
        dense(ip.datasets.paper_uniform()),
        dense(ip.datasets.paper_nonuniform()),
        np.array([[3, 0, 1], [0, 2, 1], [1, 1, 4]]),
    ]
    parts = [part / part.sum() for part in parts]
    problem = ip.bottleneck(gamma)
    best = [certified(ip.Joint.from_counts(part), problem, 1e-9) for part in parts]
    weights = [0.5, 0.2, 0.3]
    blocks = np.zeros((9, 9))
    for k, part in enumerate(parts):
        blocks[3 * k : 3 * k + 3, 3 * k : 3 * k + 3] = weights[k] * part
    planted = (gamma - 1.0) * -np.dot(weights, np.log(weights)) + np.dot(weights, [one.loss for one in best])
    found = certified(ip.Joint.from_counts(blocks), problem, 1e-7)
    assert found.status is ip.Status.CERTIFIED
    assert planted - 1e-7 <= found.lower_bound <= planted + 1e-9
    assert found.loss == pytest.approx(planted, abs=1e-7)
    product = certified(ip.Joint.from_counts(np.kron(parts[0], parts[1])), problem, 1e-6)
    assert product.status is ip.Status.CERTIFIED
    assert best[0].loss + best[1].loss - 1e-6 <= product.lower_bound <= best[0].loss + best[1].loss + 1e-9


@pytest.mark.parametrize("n_y", [6, 9])
@pytest.mark.parametrize("concentration", [0.2, 1.0])
def test_no_solver_is_below_a_certificate_with_many_letters(n_y, concentration):
    rng = np.random.default_rng([n_y, int(10 * concentration)])
    P = rng.dirichlet(np.full(n_y, concentration), size=14) * rng.dirichlet(np.full(14, 2.0))[:, None]
    P[rng.random(P.shape) < 0.1] = 0.0
    joint = ip.Joint.from_counts(P)
    for gamma in (0.05, 0.15, 0.3):
        problem = ip.bottleneck(gamma)
        best = certified(joint, problem, 1e-6)
        assert best.status is ip.Status.CERTIFIED
        for name in ("blahut-arimoto", "accelerated", "annealing"):
            other = ip.solve(joint, problem, name, starts=4, rng=0, max_iter=500)
            assert verify.lagrangian(dense(joint), other.encoder, problem.rho) >= best.lower_bound - 1e-12


# -- honest at any moment ----------------------------------------------------------------------------------------------------


def test_the_bound_only_rises_and_always_holds():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.05)
    support = Support(joint)
    proof = Proof(support, problem, Mixture.of(support, np.full((1, 16), 1.0)), 1e-7, Limits().budget())
    bounds = [proof.lower_bound, *(proof.lower_bound for _ in proof.pieces()), proof.lower_bound]
    assert proof.complete
    assert proof.open_boxes.left == 0
    assert (np.diff(bounds) >= 0.0).all()
    loss = problem.value(joint, proof.mixture.encoder(support, 0.05))
    assert bounds[-1] <= loss <= bounds[-1] + 1e-7


@pytest.mark.parametrize("limits", [{"max_cells": 1}, {"max_cells": 20}, {"max_seconds": 1e-9}])
def test_limits_end_the_search_with_a_bound_that_holds(limits):
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.05)
    optimum = certified(joint, problem, 1e-8)
    found = ip.certify(joint, problem, optimum.encoder, **limits)
    assert found.lower_bound <= optimum.loss
    assert found.cells <= limits.get("max_cells", Limits.max_cells)
    assert not found.certified
    assert found.left > 0
    assert "left open" in str(found)
    (name,) = limits
    assert found.limit == f"{name} = {limits[name]:g}"
    assert str(found).endswith(f"; ended by {found.limit}")
    assert found.limit in found._repr_html_()


# -- the search is not taken at its word --------------------------------------------------------------------------------------


def proven(joint, gamma, tol=1e-7):
    """A proof run to its end, and the encoder it ends with."""
    support = Support(joint)
    proof = Proof(support, ip.bottleneck(gamma), Mixture(np.ones(1), support.p_y[None]), tol, Limits().budget())
    proof.search()
    assert proof.complete
    encoder = proof.mixture.encoder(support, gamma)
    return proof, encoder, ip.bottleneck(gamma).value(joint, encoder)


@pytest.mark.parametrize("gamma", [0.05, 0.2])
def test_a_claim_that_local_search_undercuts_is_withdrawn(gamma):
    """The least value claimed 1e-6 too high, as a search that errs would: a posterior below it refuses the certificate."""
    joint = ip.datasets.heart()
    proof, encoder, loss = proven(joint, gamma)
    bound = proof.lower_bound
    proof.challenge(encoder, loss)
    assert (proof.refuted, proof.complete, proof.lower_bound) == ("", True, bound)
    lam, least = proof.claim
    proof.claim = lam, least + 1e-6
    proof.challenge(encoder, loss)
    assert not proof.complete
    assert "below" in proof.limit
    assert proof.multipliers is None
    assert loss - proof.lower_bound > 1e-3
    q = proof.violation
    assert least <= values(Support(joint), gamma, lam, q[None])[0] < least + 1e-6


def test_an_encoder_below_its_bound_refutes_it():
    proof, encoder, loss = proven(ip.datasets.heart(), 0.1)
    proof.claim, proof.lower_bound = None, loss + 1e-8
    proof.challenge(encoder, loss)
    assert "an encoder with a loss 1e-08 nats below the bound" in proof.limit
    assert proof.lower_bound < loss - 1e-3


def test_a_proof_with_a_disputed_cell_is_not_certified_and_says_so(monkeypatch):
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    best = certified(joint, problem, 1e-7)
    assert ip.certify(joint, problem, best.encoder).certified
    monkeypatch.setattr(OpenBoxes, "disputed", 2)
    found = ip.certify(joint, problem, best.encoder)
    assert not found.certified
    assert found.limit == "2 claims of the search that a second computation did not confirm"
    assert found.limit in str(found)
    assert found.multipliers is None
    assert found.lower_bound <= best.loss
    again = certified(joint, problem, 1e-6)
    assert again.status is not ip.Status.CERTIFIED


GAMMA = st.floats(0.02, 1.0)


@settings(max_examples=36, deadline=None)
@given(chains())
def test_contraction_of_every_encoder(chain):
    """I(Y;Z) <= eta I(X;Z), with eta by brute force over pairs of letters."""
    joint, W = chain
    T = Support(joint).T
    eta = max(0.5 * np.abs(a - b).sum() for a in T.T for b in T.T)
    assert dobrushin(T) == pytest.approx(eta, abs=1e-12)
    ixz, iyz = verify.mutual_informations(dense(joint), W)
    assert iyz <= eta * ixz + 1e-12


def test_the_three_ways_to_dobrushins_coefficient(monkeypatch):
    T = np.random.default_rng(0).dirichlet(np.full(4, 0.5), size=30).T
    by_subsets = dobrushin(T)
    monkeypatch.setattr(form, "MOST_SUBSETS", 0)
    by_pairs = dobrushin(T)
    monkeypatch.setattr(form, "MOST_PAIRS", 0)
    doeblin = dobrushin(T)
    assert by_subsets == pytest.approx(by_pairs, abs=1e-12)
    assert by_pairs < doeblin <= 1.0


@settings(max_examples=36, deadline=None)
@given(chains(), GAMMA)
def test_the_contraction_bound_is_below_every_encoder(chain, gamma):
    joint, W = chain
    problem, P = ip.bottleneck(gamma), dense(joint)
    bound = contraction_bound(Support(joint), problem)
    for encoder in (W, np.eye(joint.shape[0]), np.ones((1, joint.shape[0]))):
        assert bound <= verify.lagrangian(P, encoder, problem.rho) + 1e-12


def test_maximal_correlation_would_be_wrong():
    """On heart an encoder keeps more of I(X;Z) than the squared maximal correlation: that constant is no bound, eta is."""
    joint = ip.datasets.heart()
    found = ip.solve(joint, ip.bottleneck(0.29), Envelope())
    ixz, iyz = verify.mutual_informations(dense(joint), found.encoder)
    assert critical_gamma(joint) * 1.2 < iyz / ixz <= dobrushin(Support(joint).T)


def test_where_contraction_settles_it_no_cell_is_opened():
    joint = ip.Joint.from_matrix(np.outer([0.6, 0.4], [0.5, 0.3, 0.2]))
    found = ip.certify(joint, ip.bottleneck(0.5), np.ones((1, 2)))
    assert (found.cells, found.lower_bound, found.certified) == (0, 0.0, True)
    worse = ip.certify(joint, ip.bottleneck(0.5), np.eye(2))
    assert not worse.certified
    assert worse.gap == pytest.approx(worse.loss, abs=1e-12)


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
    assert max(len(group) for group in groups_of(support.P)) <= bottleneck_proof.EFFORT.widest + 1
    proof = Proof(support, problem, Mixture(np.ones(1), support.p_y[None]), 1e-4, Limits(max_cells=4_000).budget())
    prove(proof)
    assert not proof.complete
    assert 0 < proof.budget.cells_spent <= 4_000
    assert proof.open_boxes.cuts == 0
    loss = problem.value(support.joint, proof.mixture.encoder(support, 0.3))
    assert contraction_bound(support, problem) <= proof.lower_bound < loss


def test_when_cells_run_out_the_best_of_all_bounds_stands():
    P = np.random.default_rng(2).dirichlet(np.full(12, 0.5), size=20) / 20
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
    monkeypatch.setattr(bottleneck_proof, "EFFORT", bottleneck_proof.EFFORT._replace(few=1))
    P = np.random.default_rng(3).dirichlet(np.ones(4), size=100)
    support = Support(ip.Joint.from_counts(P))
    proof = Proof(
        support, ip.bottleneck(0.05), Mixture(np.ones(1), support.p_y[None]), 1e-9, Limits(max_cells=2_500).budget()
    )
    monkeypatch.setattr(bottleneck_proof, "coarsened_bound", None)  # would be called
    prove(proof)
    assert not proof.complete
    assert proof.budget.cells_spent == 2_500
