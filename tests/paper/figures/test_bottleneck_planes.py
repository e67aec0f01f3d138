"""The bottleneck planes' claims, on made-up runs whose answers are known."""

import pytest

from tiny import claim, made_points, made_runs

CERTIFIED = made_points([0.4, 1.0], [0.0, 0.0], parameter=[0.5, 0.2], lower_bound=[-0.1, -0.3])
"""I(Y;Z) <= min(0.5 u + 0.1, 0.2 u + 0.3)."""


@pytest.mark.parametrize(
    ("ib_1v", "ib_1", "expected"),
    [([0.40], [0.45], True), ([0.45], [0.45], False), ([0.40], [0.40], False)],
)
def test_stuck_where_others_are_not(ib_1v, ib_1, expected):
    at = {"ixz": [0.75], "parameter": [0.2]}
    runs = made_runs(
        "bottleneck-planes",
        {
            "uniform: certified": CERTIFIED,
            "uniform: ib-1v, majorise": made_points(iyz=ib_1v, **at),
            "uniform: ib-1, majorise": made_points(iyz=ib_1, **at),
            "uniform: ib-2, majorise": made_points(iyz=ib_1, **at),
        },
    )
    found = claim("bottleneck-planes", "ib-1v-stuck-uniform").ask(runs, "majorise")
    assert found.holds is expected
    assert found.evidence == ("uniform: ib-1v, majorise", "uniform: certified")
    assert claim("bottleneck-planes", "ib-1v-stuck-uniform").ask(runs, "gradient").holds is None


@pytest.mark.parametrize(("losses", "expected"), [((-0.4, -0.5), True), ((-0.5, -0.5), False), ((-0.4, -0.4), False)])
def test_trapped(losses, expected):
    runs = made_runs(
        "bottleneck-planes",
        {
            "non-uniform: certified": made_points(lower_bound=[-0.5]),
            "non-uniform: blahut-arimoto": made_points(loss=[losses[0]]),
            "non-uniform: ib-1, gradient": made_points(loss=[losses[1]]),
        },
    )
    assert claim("bottleneck-planes", "ba-trapped").ask(runs, "gradient").holds is expected


def test_explores_more():
    on = made_points([0.1, 0.2], [0.15, 0.2])
    columns = {"uniform: certified": CERTIFIED, "uniform: blahut-arimoto": made_points([0.1], [0.15])}
    runs = made_runs("bottleneck-planes", {**columns, "uniform: ib-1, auto": on})
    assert claim("bottleneck-planes", "ib-1-explores-uniform").ask(runs, "auto").holds is True
    runs = made_runs("bottleneck-planes", {**columns, "uniform: ib-1, auto": made_points([0.1], [0.0])})
    assert claim("bottleneck-planes", "ib-1-explores-uniform").ask(runs, "auto").holds is False
