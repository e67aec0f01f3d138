"""The funnel rate's claims, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane.paper.figures import funnel_rate
from tiny import claim, made_descent, made_points, made_runs

K = np.arange(1, 400)


@pytest.mark.parametrize(
    ("optimum", "expected", "words"),
    [
        (-2.4600, True, "no encoder could have it"),
        (-3.0283, False, "no encoder could have it"),
        (-4.0, False, "read as nats: the"),
    ],
)
def test_minimum_against_the_certified_one(optimum, expected, words):
    names = [funnel_rate.name(alpha, "gradient") for alpha in funnel_rate.ALPHAS]
    columns = {name: made_descent(-1 + 0.9**K, -0.3) for name in names}
    proven = made_points(parameter=[3.5], loss=[optimum], lower_bound=[optimum - 1e-7])
    runs = made_runs("funnel-rate", {**columns, "certified": proven})
    found = claim("funnel-rate", "minimum-funnel").ask(runs, "gradient")
    assert found.holds is expected
    assert words in found.said
    assert found.numbers["difference_bits"] == pytest.approx(-2.46 - optimum)
