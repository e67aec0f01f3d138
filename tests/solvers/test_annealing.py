from concurrent.futures import Executor, Future

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.solvers.annealing import Annealing, gamma_of
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
