"""Loss decrease: on made-up sequences whose rates and minima are known."""

import numpy as np
import pytest

from infoplane_paper.figures import rates
from infoplane_paper.figures.rates import linear_tails, on_its_way
from tiny import claim, made_descent, made_points, made_runs

K = np.arange(1, 400)


def test_linear_tails_both_ways():
    linear, sublinear = -1.0 + 0.9**K, -1.0 + 1.0 / K**2
    found = tails(a=linear)
    assert found.holds is True
    assert found.said.startswith("a: x0.9000 an iteration, r^2 1.0000, 399 iterations")
    assert tails(a=linear, b=sublinear).holds is False
    assert tails(a=np.array([1.0, 0.0])).holds is None


def tails(**losses):
    return linear_tails(losses, dict.fromkeys(losses, True))


def test_a_tail_needs_an_end():
    linear, slow = -1.0 + 0.9**K, -1.0 + 0.999**K
    # Not converged, stopped while it falls, never left its start.
    assert linear_tails({"a": linear}, {"a": False}).holds is None
    assert on_its_way(slow) > 0.01 > on_its_way(linear)
    assert tails(a=slow).holds is None
    assert "stopped on its way" in tails(a=slow).said
    assert tails(a=1e-5 * linear).holds is None
    # What has no end yet leaves open what one with an end confirms, but not what one refutes.
    assert tails(a=linear, b=slow).holds is None
    assert tails(a=-1.0 + 1.0 / K**2, b=slow).holds is False


@pytest.mark.parametrize(("other", "expected"), [(-1 + 0.8**K, True), (-1 + 1.0 / K**2, False)])
def test_linear_tails_of_the_bottleneck(other, expected):
    names = [f"{solver}, majorise" for solver in rates.SOLVERS]
    columns = {names[0]: made_descent(-1 + 0.9**K, -1.0), names[1]: made_descent(other, -1.0)}
    runs = made_runs("bottleneck-rate", columns)
    assert claim("bottleneck-rate", "linear-bottleneck").ask(runs, "majorise").holds is expected


@pytest.mark.parametrize(("two", "expected"), [(-0.3240, True), (-0.3150, False)])
def test_the_minimum_is_that_of_the_two_solvers_not_of_the_proof(two, expected):
    names = [f"{solver}, gradient" for solver in rates.SOLVERS]
    columns = {name: made_descent(-1 + 0.9**K, -0.3) for name in names}
    columns |= {"certified": made_points(loss=[-0.3473], lower_bound=[-0.3473])}
    columns |= {
        rates.ends(solver, clusters): made_points(loss=[two if clusters == rates.CLUSTERS else -0.337])
        for solver in rates.SOLVERS
        for clusters in rates.FEWER
    }
    found = claim("bottleneck-rate", "minimum-bottleneck").ask(made_runs("bottleneck-rate", columns), "gradient")
    assert found.holds is expected
    assert f"starts, |Z| = {rates.CLUSTERS}: {two:.4f}" in found.said
    assert "the proven optimum over all encoders is -0.3473 bits" in found.said


@pytest.mark.parametrize(
    ("lowest", "expected", "words"),
    [
        (-2.4600, True, "no encoder could have it"),
        (-0.3, False, "no encoder could have it"),
    ],
)
def test_minimum_against_the_lowest_met(lowest, expected, words):
    names = [rates.pf_2(alpha, "gradient") for alpha in rates.ALPHAS]
    columns = {name: made_descent(-1 + 0.9**K, lowest) for name in names}
    proven = made_points(parameter=[3.5], loss=[-3.0283], lower_bound=[-3.0283 - 1e-7])
    runs = made_runs("funnel-rate", {**columns, "certified": proven})
    found = claim("funnel-rate", "minimum-funnel").ask(runs, "gradient")
    assert found.holds is expected
    assert words in found.said
    assert "the proven optimum over all encoders is -3.0283 bits" in found.said


def test_a_linear_rate_is_drawn_straight_and_above_one_common_limit():
    pytest.importorskip("matplotlib")
    names = [rates.pf_2(alpha, kind) for alpha in rates.ALPHAS for kind in ("gradient", "majorise", "auto")]
    columns = {name: made_descent(-1 + 0.9**K, -1.0) for name in names}
    columns[names[0]] = made_descent(-0.2 + 0.9**K, -0.2)
    ways = rates.FUNNEL.draw(made_runs("funnel-rate", columns)).axes
    assert [(ax.get_xscale(), ax.get_yscale()) for ax in ways] == [("linear", "log")] * 2
    first = ways[0].lines[0].get_ydata()
    assert first[-1] == pytest.approx(0.8, abs=1e-6)  # levels off above the limit that all runs share
    line = ways[1].lines[0]
    slopes = np.diff(np.log(line.get_ydata()[:100])) / np.diff(line.get_xdata()[:100])
    assert slopes == pytest.approx(np.log(0.9), abs=1e-6)


@pytest.mark.parametrize(("converged", "moved"), [(0.0, True), (1.0, False)])
def test_runs_that_diverge_or_never_move_have_no_minimum(converged, moved):
    names = [rates.pf_2(alpha, "gradient") for alpha in rates.ALPHAS]
    loss = -1 + 0.9**K if moved else np.full(len(K), -2.46)
    one = {**made_descent(loss, -2.46), "converged": np.array([converged])}
    proven = made_points(parameter=[3.5], loss=[-3.0283], lower_bound=[-3.0283 - 1e-7])
    runs = made_runs("funnel-rate", {**dict.fromkeys(names, one), "certified": proven})
    found = claim("funnel-rate", "minimum-funnel").ask(runs, "gradient")
    assert found.holds is None
    assert "none converged and left its start" in found.said
