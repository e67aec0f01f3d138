"""`Envelope`: global optima with proof, without random starts, alone and along a path."""

import os
import signal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from batches import job_of
from infoplane.certificate.bottleneck import contraction_bound, estimate_cells
from infoplane.joint.joint import Support
from infoplane.problem import posterior_form_below
from infoplane.solvers import envelope
from infoplane.solvers.base import near_identity
from infoplane.solvers.envelope import Envelope
from infoplane.solvers.shared.resizing import merged, settled
from strategies import joints


def path(joint, gammas, options, start=None):
    """One run per gamma, by one call of `follow`."""
    support, problems = Support(joint), [ip.bottleneck(g) for g in gammas]
    letters = support.p_x.size
    start = near_identity(letters, letters) if start is None else start
    return list(options.follow(job_of(support, problems[0], start[None], limit=5000), problems))


@pytest.mark.parametrize("make", [ip.datasets.paper_uniform, ip.datasets.paper_nonuniform])
def test_all_sixteen_gammas_of_the_paper_to_1e_8(make):
    joint, gammas = make(), np.geomspace(0.1, 1.0, 16)
    runs = path(joint, gammas, Envelope(tol=1e-8))
    assert len(runs) == 16
    P = np.asarray(joint.p_xy)
    for gamma, run in zip(gammas, runs, strict=True):
        loss = verify.lagrangian(P, run.encoder, ip.bottleneck(float(gamma)).rho)
        verify.check_encoder(P, run.encoder)
        assert run.status is ip.Status.CERTIFIED
        assert loss - 1e-8 <= run.lower_bound <= loss + 1e-12
        assert run.found_by == "envelope"
    if make is ip.datasets.paper_nonuniform:
        losses = [verify.lagrangian(P, runs[k].encoder, ip.bottleneck(float(gammas[k])).rho) for k in (4, 5)]
        np.testing.assert_allclose(losses, [-0.208488, -0.187447], atol=5e-7)


def test_heart_along_a_path_and_alone():
    joint, gammas = ip.datasets.heart(), np.geomspace(0.01, 1.0, 64)[[0, 8, 24, 37, 46, 63]]
    runs = path(joint, gammas, Envelope())
    P = np.asarray(joint.p_xy)
    for gamma, run in zip(gammas, runs, strict=True):
        assert run.status is ip.Status.CERTIFIED
        alone = ip.solve(joint, ip.bottleneck(float(gamma)), Envelope())
        verify.check_solution(P, alone.problem.rho, alone)
        assert alone.status is ip.Status.CERTIFIED
        assert alone.gap <= 1e-6
        loss = verify.lagrangian(P, run.encoder, alone.problem.rho)
        assert loss == pytest.approx(alone.loss, abs=1e-6)
        assert max(run.lower_bound, alone.lower_bound) <= min(loss, alone.loss) + 1e-12


def test_near_identity_start_alone_would_miss_an_optimum_of_heart():
    """gamma = 0.0578: Blahut-Arimoto from the near-identity start is stationary, 8e-5 nats above what is certified."""
    joint, problem = ip.datasets.heart(), ip.bottleneck(float(np.geomspace(0.01, 1.0, 64)[24]))
    local = ip.solve(joint, problem, "blahut-arimoto", init="identity", tol=1e-10)
    best = ip.solve(joint, problem, Envelope())
    assert local.status is ip.Status.STATIONARY
    assert local.loss > best.loss + 5e-5


@settings(max_examples=12, deadline=None)
@given(joints(max_y=4), st.floats(0.02, 1.0))
def test_every_small_joint_is_certified_and_true(joint, gamma):
    problem = ip.bottleneck(gamma)
    found = ip.solve(joint, problem, Envelope(max_cells=200_000), max_iter=500)
    verify.check_solution(np.asarray(joint.p_xy), problem.rho, found)
    assert found.status is ip.Status.CERTIFIED
    assert found.gap <= 1e-6
    other = ip.solve(joint, problem, "blahut-arimoto", starts=3, rng=0, max_iter=300)
    assert other.loss >= found.lower_bound - 1e-12
    assert found.clusters + found.died == (joint.p_x > 0).sum()


def test_the_same_bits_every_time_and_the_same_optimum_from_any_start():
    joint, gammas = ip.datasets.heart(), [0.05, 0.1]
    one, two = (path(joint, gammas, Envelope()) for _ in range(2))
    trivial = path(joint, gammas, Envelope(), start=np.ones((1, 16)))
    for a, b, c in zip(one, two, trivial, strict=True):
        np.testing.assert_array_equal(a.encoder, b.encoder)
        assert a.lower_bound == b.lower_bound
        assert c.status is ip.Status.CERTIFIED
        assert abs(c.lower_bound - a.lower_bound) <= 1e-6


@pytest.mark.filterwarnings("ignore:a certificate for:infoplane.PenaltyWarning")
@pytest.mark.parametrize("options", [Envelope(max_cells=10), Envelope(max_seconds=1e-9)])
def test_at_a_limit_the_status_is_honest_and_the_bound_holds(options):
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.05)
    found = ip.solve(joint, problem, options)
    best = ip.solve(joint, problem, Envelope())
    assert found.status in (ip.Status.STATIONARY, ip.Status.ALMOST)
    assert found.lower_bound <= best.loss
    assert found.gap > 1e-6
    verify.check_solution(np.asarray(joint.p_xy), problem.rho, found)


def test_multiples_are_solved_to_their_own_scale():
    joint = ip.datasets.paper_uniform()
    found = ip.solve(joint, ip.MarkovLagrangian(-70.0, -30.0, 100.0), Envelope(tol=1e-5))
    one = ip.solve(joint, ip.bottleneck(0.3), Envelope(tol=1e-7))
    assert found.status is ip.Status.CERTIFIED
    assert found.loss == pytest.approx(100.0 * one.loss, abs=1e-5)
    assert ip.solve(joint, ip.MarkovLagrangian(1.0, -3.0, 2.0), Envelope()).loss == pytest.approx(0.0, abs=1e-12)


def test_duplicates_are_merged_and_nothing_else():
    joint, problem = ip.datasets.heart(), ip.bottleneck(0.1)
    support = Support(joint)
    W = ip.solve(joint, problem, Envelope()).encoder
    split = np.vstack([0.3 * W, 0.7 * W])
    found = merged(support, problem, split, 1e-12)
    assert len(found) == len(W)
    np.testing.assert_allclose(np.sort(found.sum(axis=1)), np.sort(W.sum(axis=1)), atol=1e-9)
    assert len(merged(support, problem, split, np.inf)) == 1


def test_what_a_proof_will_take_is_said_beforehand():
    rng = np.random.default_rng(0)
    start = np.ones((1, 12))
    few, many = (ip.Joint.from_counts(rng.random((12, n)) ** 4) for n in (10, 24))
    assert Envelope().caution(Support(few), ip.bottleneck(0.2), start) is None
    assert "max_cells" in Envelope().caution(Support(many), ip.bottleneck(0.2), start)
    assert Envelope().caution(Support(many), ip.bottleneck(1.0), start) is None
    with pytest.warns(ip.PenaltyWarning, match=r"\|Y\| = 24"):
        found = ip.solve(many, ip.bottleneck(0.3), Envelope(max_cells=10))
    assert found.status is not ip.Status.CERTIFIED
    assert found.lower_bound < found.loss


@pytest.mark.parametrize("letters", [2, 4, 7])
def test_the_estimate_is_right_to_an_order_of_magnitude(letters):
    P = np.random.default_rng(letters).dirichlet(np.ones(letters), size=20) / 20
    gammas = (0.05, 0.1, 0.2)
    cells = [ip.certify(ip.Joint.from_counts(P), ip.bottleneck(g), np.ones((1, 20))).cells for g in gammas]
    assert 0.1 <= np.exp(np.log(cells).mean()) / estimate_cells(letters) <= 10.0
    assert max(cells) <= 10.0 * estimate_cells(letters, hard=True)


def test_letters_beyond_any_estimate_are_announced_too():
    """1.5^702 cells and more are beyond floats: the estimate is infinite, and no traceback."""
    assert estimate_cells(10_000) == estimate_cells(10_000, hard=True) == np.inf
    wide = ip.Joint.from_counts(np.random.default_rng(0).random((3, 2000)))
    assert "|Y| = 2000 is hopeless" in Envelope().caution(Support(wide), ip.bottleneck(0.2), np.ones((1, 3)))


def test_refuses_other_problems_and_bad_limits():
    with pytest.raises(ip.UnsupportedProblemError, match="rho"):
        ip.solve(ip.datasets.paper_uniform(), ip.funnel(2.0), Envelope())
    with pytest.raises(ip.InvalidOptionError, match="tol"):
        Envelope(tol=0.0)
    with pytest.raises(ip.InvalidOptionError, match="max_cells"):
        Envelope(max_cells=0)


@pytest.mark.parametrize("pauses", [0, 1, 3, 10])
@pytest.mark.parametrize("problem", [ip.bottleneck(0.05), ip.deterministic_bottleneck(0.05)], ids=["IB", "DIB"])
def test_interrupted_at_any_pause_it_answers_with_an_encoder_and_a_bound(problem, pauses, monkeypatch):
    joint = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(20, 6)))
    support = Support(joint)
    start = np.random.default_rng(1).dirichlet(np.ones(20), size=20).T.copy()
    job, seen = job_of(support, problem, start[None]), []

    def interrupted(proof):
        for _ in proof.pieces():
            seen.append(proof.lower_bound)
            if len(seen) > pauses:
                job.budget.stop()

    monkeypatch.setattr(envelope, "prove", interrupted)
    (run,) = Envelope().run(job)
    monkeypatch.undo()
    assert len(seen) == pauses + 1
    loss = problem.value(joint, run.encoder)
    assert run.status is ip.Status.INTERRUPTED
    assert loss <= problem.value(joint, start) + 1e-12
    assert contraction_bound(support, posterior_form_below(problem)) <= run.lower_bound
    assert run.lower_bound <= ip.solve(joint, problem, rng=0).loss


def test_control_c_in_the_first_piece_of_a_proof_still_has_an_answer(monkeypatch):
    joint, problem = ip.Joint.from_counts(np.random.default_rng(0).gamma(0.3, size=(20, 6))), ip.bottleneck(0.05)
    real = envelope.prove

    def pressed(proof):
        os.kill(os.getpid(), signal.SIGINT)
        real(proof)

    monkeypatch.setattr(envelope, "prove", pressed)
    found = ip.solve(joint, problem, Envelope())
    verify.check_solution(joint.p_xy, problem.rho, found, tol=1e-9)
    assert found.lower_bound <= found.loss


def test_a_hopeless_search_is_not_begun_and_the_bound_of_groups_is_returned():
    """70 letters of Y: no box of them is ever cut, and that is said before and after."""
    rng = np.random.default_rng(8)
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(70, 0.3), size=12))
    with pytest.warns(
        ip.PenaltyWarning, match=r"\|Y\| = 70 is hopeless, and its search is not begun beyond 64 letters"
    ):
        found = ip.solve(joint, ip.bottleneck(0.2), "envelope", certify=True, max_seconds=0.3)
    assert -np.inf < found.lower_bound <= found.loss
    again = ip.certify(joint, ip.bottleneck(0.2), found.encoder, max_seconds=0.3)
    assert again.limit == "|Y| = 70: beyond 64 letters only groups of them are searched"


@pytest.mark.filterwarnings("ignore:a certificate for:infoplane.PenaltyWarning")
def test_after_a_limit_the_answer_is_polished_within_a_budget(monkeypatch):
    """A proof that ended has a stationary answer; one that a limit ended must not take much longer than its limit."""
    patience = []

    def polish(job, W):
        patience.append(ip.Accelerated().begin(job.but(starts=W[None])).limit)
        return settled(job, W)

    monkeypatch.setattr(envelope, "settled", polish)
    monkeypatch.setattr(envelope, "POLISH_WORK", 1)
    for cells in (1, 1_000_000):
        ip.solve(ip.datasets.heart(), ip.bottleneck(0.1), Envelope(max_cells=cells), max_iter=4000)
    assert patience[0] < patience[1] == 4000
