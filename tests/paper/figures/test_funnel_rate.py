"""The funnel rate's claims, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane_paper.figures import funnel_rate
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
    assert "the proven optimum over all encoders is -3.0283 bits" in found.said


def test_a_linear_rate_is_drawn_straight_and_above_one_common_limit():
    pytest.importorskip("matplotlib")
    names = [funnel_rate.name(alpha, kind) for alpha in funnel_rate.ALPHAS for kind in ("gradient", "majorise", "auto")]
    columns = {name: made_descent(-1 + 0.9**K, -1.0) for name in names}
    columns[names[0]] = made_descent(-0.2 + 0.9**K, -0.2)
    ways = funnel_rate.FIGURE.draw(made_runs("funnel-rate", columns)).axes
    assert [(ax.get_xscale(), ax.get_yscale()) for ax in ways] == [("linear", "log")] * 2
    first = ways[0].lines[0].get_ydata()
    assert first[-1] == pytest.approx(0.8, abs=1e-6)  # levels off above the limit that all runs share
    line = ways[1].lines[0]
    slopes = np.diff(np.log(line.get_ydata()[:100])) / np.diff(line.get_xdata()[:100])
    assert slopes == pytest.approx(np.log(0.9), abs=1e-6)


@pytest.mark.parametrize(("converged", "moved"), [(0.0, True), (1.0, False)])
def test_runs_that_diverge_or_never_move_have_no_minimum(converged, moved):
    names = [funnel_rate.name(alpha, "gradient") for alpha in funnel_rate.ALPHAS]
    loss = -1 + 0.9**K if moved else np.full(len(K), -2.46)
    one = {**made_descent(loss, -2.46), "converged": np.array([converged])}
    proven = made_points(parameter=[3.5], loss=[-3.0283], lower_bound=[-3.0283 - 1e-7])
    runs = made_runs("funnel-rate", {**dict.fromkeys(names, one), "certified": proven})
    found = claim("funnel-rate", "minimum-funnel").ask(runs, "gradient")
    assert found.holds is None
    assert "none converged and left its start" in found.said
