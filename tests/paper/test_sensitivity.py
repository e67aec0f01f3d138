"""Other values of open settings: which runs they have, and which answers they change."""

from infoplane.paper.figures import bottleneck_planes
from infoplane.paper.scale import FULL
from infoplane.paper.sensitivity import QUARTER
from infoplane.paper.sweeps import Sweep
from tiny import made_points, made_runs


def test_a_lower_limit_makes_slow_runs_divergent():
    pieces = {piece.name: piece for piece in bottleneck_planes.pieces(FULL)}
    name = "uniform: ib-1, gradient"
    limit = pieces[name].method.max_iter
    columns = {one: made_points([0.5, 0.6], [0.1, 0.1], iterations=[10, limit - 1]) for one in pieces}
    runs = made_runs("bottleneck-planes", columns, FULL)
    assert runs.points(name).converged.tolist() == [1, 1]
    assert runs.under(QUARTER).points(name).converged.tolist() == [1, 0]
    assert {"first step 1", "first step 0.001", "near-deterministic starts"} < set(runs.settings)
    other = runs.under("first step 1").piece(name)
    assert isinstance(other, Sweep)
    assert other.method.first_step == 1.0
