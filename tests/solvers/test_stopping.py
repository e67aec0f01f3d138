import infoplane as ip
from infoplane.solvers.stopping import Stopping
from infoplane.status import Residuals


def test_almost_is_the_same_check_with_looser_tolerances():
    stopping = Stopping(tol=1e-8)
    assert stopping.judge(Residuals(1e-9, 1e-9, 1e-9), ip.Status.STALLED) is ip.Status.STATIONARY
    assert stopping.judge(Residuals(1e-9, 1e-9, 2e-8), ip.Status.STALLED) is ip.Status.ALMOST
    assert stopping.judge(Residuals(1e-9, 1e-3, 2e-8), ip.Status.STALLED) is ip.Status.STALLED
    assert not ip.Status.ALMOST.converged


def test_a_budget_limits_iterations_only_if_there_is_one():
    stopping = Stopping(max_iter=5000)
    assert stopping.affordable(stopping.work, 10**9) == 5000
    assert stopping.affordable(10**9, 10**6) == 1000
    assert stopping.affordable(10**9, 10**8) == 100
    assert Stopping(max_iter=50).affordable(10**9, 10**8) == 50
