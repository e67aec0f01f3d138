"""The bottleneck rate's claims, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane.paper.figures import bottleneck_rate
from tiny import claim, made_descent, made_points, made_runs

K = np.arange(1, 400)


@pytest.mark.parametrize(("other", "expected"), [(-1 + 0.8**K, True), (-1 + 1.0 / K**2, False)])
def test_linear_tails(other, expected):
    names = [bottleneck_rate.name(solver, "exact") for solver in bottleneck_rate.SOLVERS]
    columns = {names[0]: made_descent(-1 + 0.9**K, -1.0), names[1]: made_descent(other, -1.0)}
    runs = made_runs("bottleneck-rate", columns)
    assert claim("bottleneck-rate", "linear-bottleneck").ask(runs, "exact").holds is expected


def test_two_clusters_are_told_of():
    names = [bottleneck_rate.name(solver, "gradient") for solver in bottleneck_rate.SOLVERS]
    columns = {name: made_descent(-1 + 0.9**K, -0.3) for name in names}
    columns |= {
        "certified": made_points(loss=[-0.3473], lower_bound=[-0.3473]),
        "two clusters": made_points(loss=[-0.324]),
    }
    found = claim("bottleneck-rate", "minimum-bottleneck").ask(made_runs("bottleneck-rate", columns), "gradient")
    assert found.holds is False
    assert "the best encoder with only two clusters has -0.3240 bits" in found.said
