"""The funnel rate's claims, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane.paper.figures import funnel_rate
from tiny import claim, made_descent, made_points, made_runs

K = np.arange(1, 400)


@pytest.mark.parametrize(
    ("lowest", "expected", "words"),
    [
        (-2.4600, True, "no encoder could have it"),
        (-0.3, False, "no encoder could have it"),
    ],
)
def test_minimum_against_the_lowest_met(lowest, expected, words):
    names = [funnel_rate.name(alpha, "gradient") for alpha in funnel_rate.ALPHAS]
    columns = {name: made_descent(-1 + 0.9**K, lowest) for name in names}
    proven = made_points(parameter=[3.5], loss=[-3.0283], lower_bound=[-3.0283 - 1e-7])
    runs = made_runs("funnel-rate", {**columns, "certified": proven})
    found = claim("funnel-rate", "minimum-funnel").ask(runs, "gradient")
    assert found.holds is expected
    assert words in found.said
    assert found.numbers["optimum_bits"] == -3.0283
