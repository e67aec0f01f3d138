import itertools

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.frontier.hull import vertices
from infoplane.frontier.reuse import BestAnswer


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), min_size=1, max_size=12), st.booleans())
def test_the_hull_is_above_every_run(points, hides_y):
    """Against the obvious twin: a run is on the hull of all if and only if no pair of runs, mixed, beats it."""

    class Placed:
        def __init__(self, u, v, parameter):
            self.ixz, self.iyz, self.parameter = float(u), float(v), parameter
            self.problem = ip.funnel(2.0) if hides_y else ip.bottleneck(0.5)

    runs = [Placed(u, v, float(i)) for i, (u, v) in enumerate(points)]

    class Given:
        def __init__(self):
            self.runs, self.hides_y = runs, hides_y

        def best_answers(self):
            return [BestAnswer(row, run, run.parameter) for row, run in enumerate(runs)]

    sign = -1.0 if hides_y else 1.0
    hull = [(point.run.ixz, point.run.iyz) for point in vertices(Given())]
    assert hull == sorted(hull)
    assert all(b[1] >= a[1] for a, b in itertools.pairwise(hull))
    for run in runs:
        if hull[0][0] <= run.ixz <= hull[-1][0]:
            assert sign * run.iyz <= sign * np.interp(run.ixz, *zip(*hull, strict=True)) + 1e-9
    # Nothing better is left out at either end.
    if hides_y:
        assert hull[-1][0] == max(run.ixz for run in runs)
        assert hull[0][1] == min(run.iyz for run in runs)
    else:
        assert hull[-1][1] == max(run.iyz for run in runs)
        assert hull[0][0] == min(run.ixz for run in runs)
