"""The bottleneck's lower bound: true in floating point, for any lambda, at any moment; and tight where it should be."""

import itertools
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.certificate.bottleneck.bound import certify_bottleneck
from infoplane.certificate.bottleneck.mixture import Mixture, dual_of
from infoplane.certificate.bottleneck.partition import Partition
from infoplane.certificate.bottleneck.proof import Proof, assured, gamma_of
from infoplane.certificate.certificate import Limits
from infoplane.joint.support import Support
from infoplane.kernels.bottleneck_proof.cell_bound import bound_with, room
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.kernels.bottleneck_proof.leaves import VERTICES, entropy_of
from strategies import chains, joints

mpmath.mp.dps = 50


def dense(joint):
    return np.asarray(joint.p_xy)


def exact_entropy(p):
    return -mpmath.fsum(mpmath.mpf(v) * mpmath.log(v) for v in p if v > 0)


def exact_T(P):
    """p(y|x) of the table as it is stored, a row an x."""
    return [[mpmath.mpf(v) / mpmath.fsum(row) for v in row] for row in P.tolist()]


def exact_f(P, gamma, q):
    """f(q) = H(Tq) - gamma H(q)."""
    T = exact_T(P)
    q = [mpmath.mpf(v) for v in q]
    q = [v / mpmath.fsum(q) for v in q]
    u = [mpmath.fsum(q[x] * T[x][y] for x in range(len(q))) for y in range(len(T[0]))]
    return exact_entropy(u) - gamma * exact_entropy(q)


def with_zeros():
    return ip.Joint.from_counts([[4, 0, 1], [0, 3, 2], [1, 1, 0], [1, 1, 0], [0, 0, 5]])


SAMPLES = {"heart": ip.datasets.heart, "paper": ip.datasets.paper_nonuniform, "zeros": with_zeros}


def weighed(joint, gamma, lam, cuts, target=0.0):
    """The cells after so many cuts for a lambda, and the proven least value of f(q) - lambda.q."""
    support = Support(joint)
    partition = Partition(support.T)
    partition.grow(cuts)
    search(dual_of(support, gamma, lam), partition.cells, target, 0, 1, cuts)
    return support, partition


# -- safety in floating point --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [make() for make in SAMPLES.values()], ids=SAMPLES)
def test_a_cells_bound_is_below_its_exact_value_and_close_to_it(joint):
    """The formula in 50 digits, from the stored table, for cells of all sizes, and for slopes a and lambdas of all sizes."""
    rng = np.random.default_rng(3)
    for size in (1.0, 1e-3, 1e-7):
        for _ in range(6):
            gamma = float(rng.uniform(0.01, 1.0))
            lam = rng.normal(size=joint.shape[0]) * 10.0 ** rng.uniform(-2, 2)
            support = Support(joint)
            n_y, n_x = support.T.shape
            work = room(n_y, n_x)
            centre = np.floor(rng.dirichlet(np.ones(n_y)) * 2**20) / 2**20
            corners = np.abs(centre + np.floor(size * rng.dirichlet(np.ones(n_y), size=n_y) * 2**30) / 2**30)
            corners[0, :2] = (0.0, corners[0, :2].sum())
            work.corners[:] = corners
            work.heights[:] = [entropy_of(v) for v in corners]
            work.a[:] = rng.normal(size=n_y) * 10.0 ** rng.uniform(-1, 3)
            bound, _ = bound_with(dual_of(support, gamma, lam), work)
            least = min(
                exact_entropy(v) - mpmath.fsum(mpmath.mpf(s) * mpmath.mpf(w) for s, w in zip(work.a, v, strict=True))
                for v in corners.tolist()
            )
            exponents = [
                (mpmath.mpf(lam[x]) - mpmath.fsum(mpmath.mpf(s) * t for s, t in zip(work.a, row, strict=True))) / gamma
                for x, row in enumerate(exact_T(dense(joint)))
            ]
            top = max(exponents)
            exact = least - gamma * (top + mpmath.log(mpmath.fsum(mpmath.exp(e - top) for e in exponents)))
            assert bound <= exact
            assert exact - bound <= 1e-13 * (1.0 + abs(lam).max() + abs(work.a).max())


@pytest.mark.parametrize("joint", [make() for make in SAMPLES.values()], ids=SAMPLES)
def test_no_posterior_lies_below_the_bound_of_its_cell(joint):
    rng = np.random.default_rng(4)
    gamma = 0.2
    lam = Mixture(np.ones(1), joint.p_y[None]).multipliers(Support(joint), gamma)
    support, partition = weighed(joint, gamma, lam, 200)
    cells = partition.cells
    n_x = joint.shape[0]
    posteriors = [*np.eye(n_x), *rng.dirichlet(np.full(n_x, 0.3), size=20), *rng.dirichlet(np.full(n_x, 3.0), size=20)]
    for q in posteriors:
        u = support.T @ q
        inside = [
            k for k in range(partition.leaves) if np.linalg.solve(cells.vertices[cells.corners[k]].T, u).min() >= -1e-12
        ]
        assert inside, "a posterior that no cell holds"
        value = exact_f(dense(joint), gamma, q) - mpmath.fsum(
            mpmath.mpf(a) * mpmath.mpf(b) for a, b in zip(lam, q, strict=True)
        )
        # A point on a face may belong to either cell; the lower of their bounds is what it must respect.
        assert value >= min(cells.bounds[k] for k in inside)
        assert value >= partition.least


@pytest.mark.parametrize("joint", [make() for make in SAMPLES.values()], ids=SAMPLES)
def test_cuts_are_exact(joint):
    """In rational numbers the cells' volumes add up to that of the first simplex, and every corner sums to one."""

    def volume(rows):
        rows = [[Fraction(float(v)) for v in row] for row in rows]
        det = Fraction(1)
        for k in range(len(rows)):
            pivot = next((i for i in range(k, len(rows)) if rows[i][k] != 0), None)
            if pivot is None:
                return Fraction(0)
            if pivot != k:
                rows[k], rows[pivot] = rows[pivot], rows[k]
            det *= rows[k][k]
            for i in range(k + 1, len(rows)):
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k], strict=True)]
        return abs(det)

    lam = Mixture(np.ones(1), joint.p_y[None]).multipliers(Support(joint), 0.1)
    support, partition = weighed(joint, 0.1, lam, 300)
    vertices, corners = partition.cells.vertices, partition.cells.corners
    first = volume(Partition(support.T).cells.vertices[: len(joint.p_y)])
    assert partition.leaves > 100
    assert sum(volume(vertices[corners[k]]) for k in range(partition.leaves)) == first
    for v in vertices[: partition.cells.counts[VERTICES]]:
        assert sum(Fraction(float(value)) for value in v) == 1
    assert (vertices[: len(joint.p_y)].min(axis=0) <= support.T.min(axis=1)).all()


@pytest.mark.parametrize("joint", [make() for make in SAMPLES.values()], ids=SAMPLES)
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
        exact = gamma * exact_entropy(p_x) - exact_entropy(p_y) + least
        exact += mpmath.fsum(mpmath.mpf(a) * b for a, b in zip(lam, p_x, strict=True))
        assert assured(support, problem, lam, least) <= exact
        assert exact - assured(support, problem, lam, least) <= 1e-12


# -- no false certificate --------------------------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(chains(max_y=4), st.floats(0.02, 1.0), st.integers(0, 2**32 - 1), st.floats(-6.0, 1.0))
def test_any_lambda_gives_a_bound_that_holds(chain, gamma, seed, size):
    """Perturbed duals: whatever lambda is handed to branch and bound, and however early it stops, no encoder is below the bound."""
    joint, W = chain
    problem, support = ip.bottleneck(gamma), Support(joint)
    rng = np.random.default_rng(seed)
    lam = Mixture.of(support, W[:, support.x]).multipliers(support, gamma)
    lam += 10.0**size * rng.normal(size=lam.size)
    _, partition = weighed(joint, gamma, lam, int(rng.integers(0, 60)), target=np.inf)
    bound = assured(support, problem, lam, partition.least)
    assert bound <= verify.lagrangian(dense(joint), W, problem.rho) + 1e-12
    n_x = joint.shape[0]
    for encoder in (np.eye(n_x), np.ones((1, n_x)), rng.dirichlet(np.ones(3), size=n_x).T):
        assert bound <= verify.lagrangian(dense(joint), encoder, problem.rho) + 1e-12


def partitions(n):
    """Every deterministic encoder of n letters, up to names."""
    for labels in itertools.product(range(n), repeat=n):
        if all(label <= max(labels[:i], default=-1) + 1 for i, label in enumerate(labels)):
            yield np.eye(max(labels) + 1)[:, labels]


@settings(max_examples=25, deadline=None)
@given(joints(max_x=5, max_y=4), st.floats(0.02, 1.0), st.data())
def test_a_certificate_is_below_every_encoder(joint, gamma, data):
    problem = ip.bottleneck(gamma)
    W = data.draw(chains_encoder(joint))
    found = certify_bottleneck(joint, problem, W, Limits(tol=1e-7, max_cells=100_000))
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
    if found.certified:
        assert min(losses) >= found.loss - 1e-7 - 1e-12
        assert found.posterior is None


def chains_encoder(joint):
    from strategies import encoders

    return encoders(joint.shape[0])


def test_an_encoder_stopped_early_is_not_certified_and_its_gap_is_true():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    optimum = certified(joint, problem, 1e-9)
    for iterations in (1, 3, 10, 30, 100):
        early = ip.solve(joint, problem, "blahut-arimoto", starts=1, init="identity", max_iter=iterations)
        found = certify_bottleneck(joint, problem, early.encoder, Limits(tol=1e-8))
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
    found = certify_bottleneck(joint, problem, np.ones((1, 3)), Limits(tol=1e-8, max_cells=200_000))
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
    found = certify_bottleneck(joint, problem, local.encoder, Limits())
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
    assert certify_bottleneck(joint, problem, again.encoder, Limits()).certified


def test_multiples_of_a_bottleneck_are_certified_too():
    joint = ip.datasets.paper_uniform()
    one = certify_bottleneck(joint, ip.bottleneck(0.3), np.eye(3), Limits(tol=1e-8))
    three = certify_bottleneck(joint, ip.MarkovLagrangian(-2.1, -0.9, 3.0), np.eye(3), Limits(tol=3e-8))
    assert three.lower_bound == pytest.approx(3.0 * one.lower_bound, abs=1e-7)
    assert three.loss == pytest.approx(3.0 * one.loss, abs=1e-12)
    assert gamma_of(ip.MarkovLagrangian(1.0, -3.0, 2.0)) == 1.5


@pytest.mark.parametrize(
    "problem", [ip.funnel(2.0), ip.deterministic_bottleneck(0.2), ip.generalised_bottleneck(0.2, 0.5)]
)
def test_other_problems_are_refused_by_name(problem):
    with pytest.raises(ip.UnsupportedProblemError, match="rho_zx < 0 < rho_zy"):
        certify_bottleneck(ip.datasets.paper_uniform(), problem, np.eye(3), Limits())


# -- honest at any moment ----------------------------------------------------------------------------------------------------


def test_the_bound_only_rises_and_always_holds():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.05)
    support = Support(joint)
    proof = Proof(support, problem, Mixture.of(support, np.full((1, 16), 1.0)), Limits(tol=1e-7))
    bounds = [proof.lower_bound]
    for _ in proof.pieces():
        bounds.append(proof.lower_bound)
    assert proof.complete
    assert proof.partition.left == 0
    assert (np.diff(bounds) >= 0.0).all()
    loss = problem.value(joint, proof.mixture.encoder(support, 0.05))
    assert bounds[-1] <= loss <= bounds[-1] + 1e-7


@pytest.mark.parametrize("limits", [Limits(max_cells=1), Limits(max_cells=100), Limits(max_seconds=1e-9)])
def test_limits_end_the_search_with_a_bound_that_holds(limits):
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.05)
    optimum = certified(joint, problem, 1e-8)
    found = certify_bottleneck(joint, problem, optimum.encoder, limits)
    assert found.lower_bound <= optimum.loss
    assert found.cells <= limits.max_cells
    assert not found.certified
    assert found.left > 0
    assert "left open" in str(found)


def test_the_encoder_given_is_not_modified():
    joint, W = ip.datasets.paper_uniform(), np.eye(3)
    before = W.copy()
    certify_bottleneck(joint, ip.bottleneck(0.3), W, Limits())
    np.testing.assert_array_equal(W, before)
