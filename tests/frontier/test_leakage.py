"""The funnel under a cap on the leakage: feasible, certified, monotone and concave; and a cap that holds in the population."""

import itertools
import signal
import threading

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
import verify
from infoplane.certificate.funnel import generation, privacy
from infoplane.certificate.funnel import leakage as certificate
from infoplane.certificate.funnel.privacy import perfect_privacy, private_encoder
from infoplane.frontier import leakage
from infoplane.frontier.leakage import PathRelease, funnel_at_leakage, funnel_curve, in_order
from infoplane.information import plane_point
from infoplane.joint.joint import Support
from infoplane.posterior.merge_path import merge_two
from infoplane.runtime.budget import Budget
from infoplane.solvers.columns import Columns
from infoplane.solvers.portfolio import default_encoder
from strategies import joints

BIT = np.log(2.0)


@pytest.fixture(scope="module")
def heart_curve():
    joint = ip.datasets.heart()
    return joint, funnel_curve(joint, np.array([0.01, 0.03, 0.1, 0.2]) * BIT, tol=1e-5)


def test_heart_is_certified_at_every_cap(heart_curve):
    joint, curve = heart_curve
    assert len(curve) == 4
    for found in curve:
        assert found.certified
        assert found.gap <= 1e-5
        assert found.solution.status is ip.Status.CERTIFIED
        verify.check_solution(joint.p_xy, found.solution.problem.rho, found.solution, tol=1e-10)
        ixz, iyz = verify.mutual_informations(joint.p_xy, found.solution.encoder)
        assert iyz <= found.max_iyz + 1e-12
        assert ixz <= found.upper_bound + 1e-12


def test_the_frontier_rises_and_bends_down(heart_curve):
    """Concavity of the certified values, up to their gaps; and beta is the slope."""
    _, curve = heart_curve
    eps, utility = np.array([found.max_iyz for found in curve]), np.array([found.solution.ixz for found in curve])
    slope = np.diff(utility) / np.diff(eps)
    wiggle = 2e-5 / np.diff(eps).min()
    assert (np.diff(utility) > 0).all()
    assert (np.diff(slope) < wiggle).all()
    for left, right, between in zip(curve[:-1], curve[1:], slope, strict=True):
        assert right.beta - 0.05 <= between <= left.beta + 0.05


def test_no_partition_on_the_merge_path_beats_the_cap(heart_curve):
    joint, curve = heart_curve
    path = merge_two(joint)
    for found in curve:
        allowed = path.ixz[path.iyz <= found.max_iyz]
        assert allowed.max() <= found.upper_bound


def test_small_caps_lead_to_perfect_privacy():
    """Utility grows like the root of a small leakage: four times less of it, half the gain."""
    joint = ip.Joint.from_counts([[4, 1, 1], [1, 3, 1], [1, 1, 5], [2, 3, 1], [3, 1, 2]])
    hidden = perfect_privacy(joint)
    gains = [found.solution.ixz - hidden.utility for found in funnel_curve(joint, [1e-4, 2.5e-5], tol=1e-7)]
    assert 0.0 < gains[1] < gains[0] < 0.05
    assert gains[0] / gains[1] == pytest.approx(2.0, abs=0.1)


def test_a_cap_that_does_not_bind_releases_everything():
    joint = ip.datasets.paper_uniform()
    found = funnel_at_leakage(joint, joint.mutual_information + 0.01)
    assert found.certified
    assert found.beta == 0.0
    assert found.solution.ixz == pytest.approx(joint.entropy_x, abs=1e-10)


def test_the_lagrangian_of_its_own_beta_agrees():
    """At the slope of the capped optimum, the Lagrangian problem has the same value."""
    joint = ip.datasets.paper_nonuniform()
    found = funnel_at_leakage(joint, 0.05, tol=1e-7)
    again = ip.solve(joint, ip.funnel(found.beta), Columns(tol=1e-7))
    assert found.solution.loss == pytest.approx(again.loss, abs=3e-7)
    assert found.solution.lower_bound <= again.loss


def test_the_order_of_caps_does_not_matter():
    joint = ip.datasets.paper_uniform()
    up, down = funnel_curve(joint, [0.01, 0.1]), funnel_curve(joint, [0.1, 0.01])
    assert [one.max_iyz for one in up] == [0.01, 0.1]
    for one, two in zip(up, reversed(down), strict=True):
        np.testing.assert_array_equal(one.solution.encoder, two.solution.encoder)


@pytest.mark.parametrize("eps", [0.01, 0.1, 0.3])
@pytest.mark.parametrize("noise", [0.0, 1e-12])
def test_where_y_is_a_function_of_x_there_is_nothing_to_search(noise, eps):
    """I(X;Z) = I(Y;Z) + H(X|Y) at best, and reached; at beta = 1, or a rounding above, a search went on until its limits."""
    for table in (np.diag([4.0, 3.0, 2.0, 1.0]), [[2, 0, 0], [1, 0, 0], [0, 3, 0], [0, 1, 0], [0, 0, 3]]):
        joint = ip.Joint.from_counts(np.asarray(table) + noise)
        found = funnel_at_leakage(joint, eps)
        assert found.certified
        assert found.cells == 0
        verify.check_encoder(joint.p_xy, found.encoder)
        ixz, iyz = verify.mutual_informations(np.asarray(joint.p_xy), found.encoder)
        assert iyz <= eps
        assert ixz == pytest.approx(eps + joint.entropy_x - joint.mutual_information, abs=1e-6)


@pytest.mark.parametrize("name", ["paper_uniform", "paper_nonuniform", "heart"])
def test_a_certified_cap_is_a_certified_solution(name):
    """Also where the line of a larger cap, or the bound that needs no search, is what proves it."""
    joint = ip.datasets.load(name)
    curve = funnel_curve(joint, np.linspace(0.02, 0.3, 6))
    assert any(found.cells == 0 for found in curve)
    for found in curve:
        assert found.certified
        assert found.solution.status is ip.Status.CERTIFIED
        assert found.solution.gap <= 1e-6
        assert found.solution.loss == pytest.approx(found.beta * found.iyz - found.ixz, abs=1e-12)


@settings(max_examples=12, deadline=None)
@given(joint=joints(max_x=4, max_y=3), eps=st.floats(1e-5, 0.5))
def test_any_joint(joint, eps):
    found = funnel_at_leakage(joint, eps)
    P = np.asarray(joint.p_xy)
    ixz, iyz = verify.mutual_informations(P, found.solution.encoder)
    assert iyz <= eps + 1e-12
    assert found.solution.ixz == pytest.approx(ixz, abs=1e-10)
    assert found.certified
    # Releases that anyone can write down: nothing, everything if allowed, everything with some probability.
    share = min(1.0, eps / joint.mutual_information) if joint.mutual_information > 0 else 1.0
    assert found.upper_bound >= share * joint.entropy_x - 1e-12


def test_it_answers_like_a_solution():
    found = funnel_at_leakage(ip.datasets.heart(), 0.05)
    verify.check_encoder(found.joint.p_xy, found.encoder)
    ixz, iyz = verify.mutual_informations(found.joint.p_xy, found.encoder)
    assert (found.ixz, found.iyz) == (pytest.approx(ixz, abs=1e-10), pytest.approx(iyz, abs=1e-10))
    assert found.gap == found.upper_bound - found.ixz
    assert found.clusters == len(found.encoder)
    np.testing.assert_array_equal(found.p_z, found.encoder @ found.joint.p_x)
    frame = found.encoder_frame()
    assert list(frame.index) == list(found.joint.x_labels)
    np.testing.assert_array_equal(frame.to_numpy(), found.encoder.T)
    for name in ("encoder", "ixz", "iyz", "status", "converged", "solver", "iterations", "seconds", "residuals"):
        assert getattr(found, name) is getattr(found.solution, name) or getattr(found, name) == getattr(
            found.solution, name
        )
    assert found.converged
    assert found.seconds > 0.0


@pytest.fixture(scope="module")
def half():
    """Every second letter of heart."""
    return ip.Joint.from_counts(ip.datasets.heart().p_xy[::2])


@pytest.mark.parametrize("eps", [0.0, 1e-300, 1e-8])
def test_no_cap_is_worse_than_perfect_privacy(half, eps):
    """Caps below the rounding of I(Y;Z) were met never, or by a release that says next to nothing."""
    hidden = perfect_privacy(half)
    assert hidden.ixz > 0.5
    found = funnel_at_leakage(half, eps, max_cells=50)
    assert found.ixz >= hidden.ixz - 1e-9
    assert found.ixz <= found.upper_bound
    assert found.iyz <= max(eps, 1e-29)


def test_a_release_is_shared_with_perfect_privacy_rather_than_with_nothing():
    """Y hears one bit of X and not the other; what leaks too much is mixed with what tells the other bit."""
    joint = ip.Joint.from_counts([[9, 1], [9, 1], [1, 9], [1, 9]])
    support = Support(joint)
    private = np.array([[1.0, 0.0, 1.0, 0.0], [0.0, 1.0, 0.0, 1.0]])
    cap = 0.25 * joint.mutual_information
    W = certificate.within(support, np.eye(4), cap, private)
    point = plane_point(joint, W)
    assert cap * (1.0 - 1e-9) < point.iyz <= cap
    assert point.ixz == pytest.approx(0.25 * 2.0 * BIT + 0.75 * BIT, abs=1e-9)
    assert certificate.within(support, np.eye(4), 2.0, private) is not private
    np.testing.assert_array_equal(certificate.within(support, np.ones((1, 4)), 0.0, private), private)


def test_without_time_for_all_vertices_those_met_hide_y(monkeypatch):
    monkeypatch.setattr(privacy, "RULES", privacy.RULES._replace(chunk=1000))
    support = Support(ip.datasets.heart())
    whole, cut = (
        plane_point(support.joint, private_encoder(support, 5_000, Budget(seconds=one))) for one in (np.inf, 0.0)
    )
    assert 0.0 < cut.ixz < whole.ixz
    assert max(cut.iyz, whole.iyz) < 1e-25


@pytest.mark.parametrize("eps", [-0.1, np.inf, np.nan, "0.1", True])
def test_a_cap_is_a_number_from_0_on(eps):
    with pytest.raises(ip.InvalidOptionError, match="0 or more"):
        funnel_at_leakage(ip.datasets.paper_uniform(), eps)


def test_limits_leave_a_bound_that_holds():
    joint = ip.datasets.heart()
    full = funnel_at_leakage(joint, 0.05)
    short = funnel_at_leakage(joint, 0.05, max_cells=50)
    assert full.certified
    assert not short.certified
    assert short.upper_bound >= full.solution.ixz
    assert short.solution.iyz <= 0.05
    assert "not certified" in str(short)
    assert "\ncertified: " in str(full)


def test_without_time_for_a_proof_it_is_no_worse_than_the_solvers_runs_and_their_time_sharing():
    """Cells run out at once: what is left are the solvers' clusters, mixed as well as they can be."""
    joint, cap = ip.datasets.heart(), 0.05
    found = ip.funnel_at_leakage(joint, cap, max_cells=1)
    swept = ip.sweep(
        joint, ip.funnel, [1.5, 2.4, 3.8, 6.1], starts=4, rng=0
    )  # the cap is met between the second and the third
    shared = swept.at(iyz_bits=cap / BIT, max_seconds=1e-9)
    assert found.iyz <= cap
    assert found.ixz >= shared.ixz - 1e-6
    assert found.ixz <= found.upper_bound


@pytest.mark.parametrize("where", ["solver", "search"])
def test_ctrl_c_returns_what_there_is_for_every_cap(where, monkeypatch):
    joint, caps = ip.datasets.heart(), [0.01, 0.1]
    path = merge_two(joint)
    heard, stop = threading.Event(), Budget.stop

    def stopping(budget):
        stop(budget)
        heard.set()

    monkeypatch.setattr(Budget, "stop", stopping)

    def pressed(real):
        def call(*arguments, **options):
            signal.pthread_kill(threading.get_ident(), signal.SIGINT)
            assert heard.wait(60.0)  # else so small a search may end before
            return real(*arguments, **options)

        return call

    if where == "solver":
        monkeypatch.setattr(leakage, "default_encoder", pressed(leakage.default_encoder))
    else:
        monkeypatch.setattr(generation.FreeSearch, "advance", pressed(generation.FreeSearch.advance))
    for cap, found in zip(caps, funnel_curve(joint, caps), strict=True):
        assert found.iyz <= cap
        assert path.ixz[path.iyz <= cap].max() - 1e-9 <= found.ixz <= found.upper_bound
        assert not found.certified


def test_solvers_run_where_the_cap_is_met(monkeypatch):
    """Betas of the seeds, from the programme's own dual value: the last is near the slope of the frontier at the cap."""
    joint, betas = ip.datasets.heart(), []

    def watched(job, *arguments, **options):
        betas.append(job.problem.parameter)
        return default_encoder(job, *arguments, **options)

    monkeypatch.setattr(leakage, "default_encoder", watched)
    found = funnel_at_leakage(joint, 0.03 * BIT)
    assert 1 <= len(betas) <= 4
    assert found.beta / 1.5 < betas[-1] < 1.5 * found.beta


def test_what_is_proven_at_one_cap_holds_at_smaller_ones(half):
    """Searches cut short: no bound lies above the line of a larger cap, and all lie above the certified utilities."""
    caps = np.array([1e-3, 0.01, 0.2]) * BIT
    exact, curve = funnel_curve(half, caps[1:]), funnel_curve(half, caps, max_cells=20)
    assert all(found.certified for found in exact)
    assert not all(found.certified for found in curve)
    for one, best in zip(curve[1:], exact, strict=True):
        assert one.upper_bound >= best.ixz - 1e-12
    for one in curve:
        for larger in curve:
            if larger.max_iyz >= one.max_iyz:
                line = larger.beta * one.max_iyz - larger.solution.lower_bound
                assert one.upper_bound <= line + 1e-12


def test_one_cluster_is_said_in_the_singular():
    assert str(ip.funnel_at_leakage(ip.Joint.from_matrix(np.diag([0.5, 0.5])), 0.0)).endswith(", 1 cluster")


def test_a_cap_of_nothing_is_perfect_privacy():
    """The line of a faint cap leaves 3.9e-6 nats open on heart, in any time."""
    exact = ip.perfect_privacy(ip.datasets.heart())
    some, none = ip.funnel_curve(ip.datasets.heart(), [0.2, 0.0], max_seconds=5.0)
    assert none.certified
    assert none.gap == pytest.approx(exact.gap, abs=1e-12)
    assert np.array_equal(none.encoder, exact.encoder)
    assert (none.max_iyz, none.beta, some.max_iyz) == (0.0, np.inf, 0.2)
    assert some.ixz > none.ixz


def test_a_cap_of_nothing_is_proven_where_only_a_constant_tells_nothing():
    # Every large beta is a dual value there, and a huge one proved nothing within any number of cells.
    found = ip.funnel_at_leakage(ip.datasets.paper_nonuniform(), 0.0, max_cells=2_000)
    assert found.certified
    assert found.ixz == 0.0
    assert 10.0 < found.beta < 20.0


HEART = ip.datasets.heart()


def drawn(n, seed):
    rng = np.random.default_rng(seed)
    return ip.Joint.from_counts(rng.multinomial(n, HEART.p_xy.ravel()).reshape(HEART.shape))


@pytest.fixture(scope="module")
def found():
    return ip.funnel_at_leakage(drawn(20_000, 0), 0.01 * BIT, confidence=0.95, rng=1)


def test_the_release_holds_in_the_population(found):
    """The truth is known here, and the bound is above it; the release says something; its numbers are those of all the records."""
    ixz, iyz = verify.mutual_informations(HEART.p_xy, found.encoder)
    assert iyz <= found.leakage_bound.bound <= 0.01 * BIT
    assert ixz > 1.0 * BIT
    assert (found.ixz, found.iyz) == pytest.approx(verify.mutual_informations(found.joint.p_xy, found.encoder))
    assert str(found).startswith("I(Y;Z) in the population is at most")


def test_split_path_and_order_are_in_the_result(found):
    fit, test = found.fitted_on.counts, found.tested_on.counts
    np.testing.assert_array_equal(fit + test, found.joint.counts)
    assert fit.sum() == 10_000
    path = found.path
    assert path[0].clusters == 1
    assert path[0].bound.bound == 0.0
    assert all(a.predicted <= b.predicted and a.ixz < b.ixz for a, b in itertools.pairwise(path))
    passed = [step.bound is not None and step.bound.bound <= found.max_iyz for step in path]
    assert passed.index(False) == found.chosen + 1
    assert all(step.bound is None for step in path[found.chosen + 2 :])
    assert path[found.chosen].bound == ip.leakage_bound(found.encoder, found.tested_on) == found.leakage_bound
    again = ip.funnel_at_leakage(found.joint, found.max_iyz, confidence=0.95, rng=1)
    np.testing.assert_array_equal(again.encoder, found.encoder)


def test_the_sequence_stops_at_the_first_failure():
    """Of constant, harmless, leaking and harmless again the second is released, and the fourth is never looked at."""
    joint = ip.Joint.from_counts([[2000, 1000], [1000, 2000], [1500, 1500]])
    mild, leaks = np.array([[0.51, 0.5, 0.5], [0.49, 0.5, 0.5]]), np.eye(3)
    path = [PathRelease(W, 0.0, 0.0, 0.0) for W in (np.ones((1, 3)), mild, leaks, mild)]
    done, chosen = in_order(path, joint, 0.005, 0.95)
    assert chosen == 1
    assert done[2].bound.bound > 0.005
    assert done[3].bound is None


def test_too_few_records_get_the_constant_release_and_the_least_cap():
    """And with that cap, on the same split, the first release of the path passes."""
    joint = ip.Joint.from_counts(drawn(800, 3).counts[::2])
    records = int(joint.counts.sum())
    found = ip.funnel_at_leakage(joint, 0.001 * BIT, confidence=0.95, rng=0)
    assert found.chosen == 0
    assert found.clusters == 1
    assert found.iyz < 1e-20
    assert found.leakage_bound.bound == 0.0
    assert f"{records} records cannot support 0.001 bits" in str(found)
    assert found.least_cap > 3.0 / records
    more = ip.funnel_at_leakage(joint, found.least_cap * 1.000001, confidence=0.95, rng=0)
    assert more.chosen >= 1


def test_what_is_no_sample_is_refused():
    with pytest.raises(ip.InvalidOptionError, match="needs the records"):
        ip.funnel_at_leakage(ip.datasets.paper_uniform(), 0.01, confidence=0.95)
    with pytest.raises(ip.InvalidOptionError, match="confidence must be"):
        ip.funnel_at_leakage(HEART, 0.01, confidence=1.0)


def test_without_confidence_the_first_line_is_about_the_table():
    plain = ip.funnel_at_leakage(HEART, 0.01 * BIT, max_seconds=5.0)
    assert (
        str(plain)
        .splitlines()[0]
        .startswith("About this table, not the population. I(Y;Z) in the population is at most")
    )
    assert plain.leakage_bound.bound > 5.0 * plain.max_iyz
    hidden = ip.perfect_privacy(HEART)
    assert hidden.leakage_bound.bound > 0.01 * BIT > hidden.iyz
    assert "About this table" in str(hidden)
    assert ip.funnel_at_leakage(ip.datasets.paper_uniform(), 0.01).leakage_bound is None
