import infoplane as ip
from infoplane.solvers.stopping import Stopping
from infoplane.status import Residuals


def test_almost_is_the_same_check_with_looser_tolerances():
    stopping = Stopping(tol=1e-8)
    assert stopping.judge(Residuals(1e-9, 1e-9, 1e-9), ip.Status.STALLED) is ip.Status.STATIONARY
    assert stopping.judge(Residuals(1e-9, 1e-9, 2e-8), ip.Status.STALLED) is ip.Status.ALMOST
    assert stopping.judge(Residuals(1e-9, 1e-3, 2e-8), ip.Status.STALLED) is ip.Status.STALLED
    assert not ip.Status.ALMOST.converged
