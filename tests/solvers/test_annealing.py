from concurrent.futures import Executor, Future

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.joint.joint import Support
from infoplane.solvers import annealing
from infoplane.solvers.annealing import Annealing, Root, gamma_of
from infoplane.solvers.base import near_identity

HEART = ip.datasets.heart()
GRID = np.geomspace(0.02, 0.5, 9)


def test_never_worse_than_random_restarts_of_blahut_arimoto():
    annealed = ip.sweep(HEART, ip.bottleneck, GRID, Annealing())
    restarts = ip.sweep(HEART, ip.bottleneck, GRID, "blahut-arimoto", starts=16, init="random", rng=0)
    ours, theirs = (np.array([f.runs[row].loss for row in f.best_rows()]) for f in (annealed, restarts))
    assert (ours <= theirs + 1e-9).all()
    assert (ours < theirs - 1e-6).sum() >= 3
    for run in annealed.runs:
        assert run.converged
        verify.check_solution(HEART.p_xy, run.problem.rho, run)


def test_the_order_of_the_grid_changes_nothing():
    up = ip.sweep(HEART, ip.bottleneck, GRID, Annealing())
    shuffled = np.random.default_rng(0).permutation(GRID)
    mixed = ip.sweep(HEART, ip.bottleneck, shuffled, Annealing())
    assert [run.parameter for run in mixed.runs] == list(shuffled)
    found = {run.parameter: run.encoder for run in mixed.runs}
    for run in up.runs:
        np.testing.assert_array_equal(run.encoder, found[run.parameter])


def test_the_optimum_that_random_starts_miss():
    """Non-uniform data, gamma = 0.2154: 16 random starts of Blahut-Arimoto all end at -0.187341."""
    gamma = np.geomspace(0.1, 1, 16)[5]
    joint = ip.datasets.paper_nonuniform()
    found = ip.solve(joint, ip.bottleneck(gamma), Annealing())
    assert found.loss == pytest.approx(-0.187447, abs=2e-6)
    assert found.solver == "annealing"


def test_a_jump_is_not_missed():
    """Erasures: I(Y;Z) = 0.6 I(X;Z) for every Z, so that Z = X is optimal below gamma = 0.6 and a constant Z above it."""
    joint = ip.Joint.from_matrix(np.column_stack([0.6 * np.eye(2) / 2, [0.2, 0.2]]))
    found = ip.sweep(joint, ip.bottleneck, [0.3, 0.59, 0.61, 0.9], Annealing())
    np.testing.assert_allclose(
        [run.loss for run in found.runs],
        np.minimum((np.array([0.3, 0.59, 0.61, 0.9]) - 0.6) * np.log(2), 0.0),
        atol=1e-9,
    )
    assert all(run.converged for run in found.runs)
    assert ip.solve(joint, ip.bottleneck(0.9), Annealing()).clusters == 1


def test_warm_encoders_are_taken():
    start = near_identity(4, 16)
    assert ip.solve(HEART, ip.bottleneck(0.05), Annealing(), init=start).clusters <= 4


def test_gamma_of_a_multiple():
    assert gamma_of(ip.MarkovLagrangian(-1.6, -0.4, 2.0)) == pytest.approx(0.2)


@pytest.mark.parametrize(
    ("options", "message"), [({"rungs": -1}, "rungs"), ({"depth": 1.0}, "depth"), ({"rungs": 1.5}, "rungs")]
)
def test_bad_options(options, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        Annealing(**options)


def test_the_funnel_is_refused():
    with pytest.raises(ip.UnsupportedProblemError, match="bottleneck"):
        ip.solve(HEART, ip.funnel(2.0), Annealing())


def test_a_long_grid_is_several_paths_that_a_store_keeps(tmp_path):
    joint, grid = ip.datasets.paper_uniform(), np.geomspace(0.05, 0.9, 230)

    def stop(progress):
        if progress.done >= 100:
            raise KeyboardInterrupt

    options = {"store": tmp_path / "long.db", "rng": 0, "chunk_seconds": 1e-3}
    part = ip.sweep(joint, ip.bottleneck, grid, executor=OneByOne(), progress=stop, **options)
    assert not part.complete
    assert 100 <= len(part.runs) < 230
    whole = ip.sweep(joint, ip.bottleneck, grid, **options)
    assert whole.complete
    at_once = ip.sweep(joint, ip.bottleneck, grid)
    assert [run.loss for run in whole.runs] == [run.loss for run in at_once.runs]
    alone = ip.sweep(joint, ip.bottleneck, grid[95:105])
    np.testing.assert_allclose([run.loss for run in whole.runs[95:105]], [run.loss for run in alone.runs], atol=1e-9)


class OneByOne(Executor):
    """Work is done when it is handed in, so that there is an order in which to be interrupted."""

    def submit(self, work, /, *arguments, **options):
        future = Future()
        future.set_result(work(*arguments, **options))
        return future


JOINT, HEART = ip.datasets.paper_nonuniform(), ip.datasets.heart()


def logs(beta):
    """Log q(z, y) of the optimum, its clusters in the order of their decoders."""
    found = ip.solve(JOINT, ip.bottleneck(1.0 / beta), "accelerated", rng=0, tol=1e-13, init=START)
    q = found.encoder @ JOINT.p_xy
    return np.log(q[np.argsort(q[:, 0] / q.sum(axis=1))])


START = np.array([[0.9, 0.05, 0.1], [0.1, 0.95, 0.9]])


def test_the_optimum_moves_as_the_equation_says():
    """Against the difference of two optima, solved by themselves: two clusters at gamma = 0.4, far from every bifurcation."""
    beta, little = 2.5, 1e-4
    found = ip.solve(JOINT, ip.bottleneck(1.0 / beta), "accelerated", rng=0, tol=1e-13, init=START)
    root = Root(Support(JOINT), found.encoder, beta)
    velocity, _ = root.velocity()
    order = np.argsort(root.decoder[:, 0])
    apart = (logs(beta + little) - logs(beta - little)) / (2.0 * little)
    assert np.abs(apart).max() > 0.1
    np.testing.assert_allclose(velocity[order], apart, atol=2e-3 * np.abs(apart).max())


@pytest.mark.parametrize("joint", [JOINT, HEART])
def test_the_certified_optimum_along_the_curve(joint):
    """Transitions included: its clusters fall from |X| to 1 on the way."""
    found = ip.sweep(joint, ip.bottleneck, [0.7, 0.1, 0.2, 0.4], ip.RootTracking())
    assert [run.parameter for run in found.runs] == [0.7, 0.1, 0.2, 0.4]
    for run in found.runs:
        best = ip.solve(joint, run.problem, certify=True, rng=0)
        assert run.loss <= best.lower_bound + 2e-6
        assert run.clusters == best.clusters
        assert run.converged


def test_the_equation_makes_the_way(monkeypatch):
    """At gamma = 0.2 no cluster has died yet: the map is iterated at the beginning and at the end only."""
    mapped, iterate = [], annealing._mapped
    monkeypatch.setattr(annealing, "_mapped", lambda job, W: mapped.append(W) or iterate(job, W))
    errors = []
    for step in (0.04, 0.01):
        mapped.clear()
        found = ip.solve(JOINT, ip.bottleneck(0.2), ip.RootTracking(stride=step))
        assert len(mapped) == 2
        errors.append(np.abs(mapped[1] - found.encoder).max())
    assert errors[0] < 0.05
    assert (
        errors[1] < errors[0] / 3.0
    )  # Euler's error is of order one; the evaluation of the map after each step takes more of it away


def test_a_jump_of_the_optimum_is_not_seen():
    """Erasures, I(Y;Z) = 0.6 I(X;Z) for every Z: above gamma = 0.6 a constant is better, but the branch Z = X stays stationary."""
    joint = ip.Joint.from_matrix(np.column_stack([0.6 * np.eye(2) / 2, [0.2, 0.2]]))
    below, above = (ip.solve(joint, ip.bottleneck(gamma), ip.RootTracking()) for gamma in (0.59, 0.61))
    assert below.loss == pytest.approx(-0.01 * np.log(2), abs=1e-9)
    assert above.converged
    assert above.loss == pytest.approx(0.01 * np.log(2), abs=1e-9)


def test_only_bottlenecks_and_sensible_steps():
    with pytest.raises(ip.UnsupportedProblemError, match=r"root-tracking follows the bottleneck.*found rho"):
        ip.solve(JOINT, ip.funnel(2.0), "root-tracking")
    with pytest.raises(ip.InvalidOptionError, match="stride must be positive"):
        ip.RootTracking(stride=0.0)
