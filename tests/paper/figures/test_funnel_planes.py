"""The funnel planes' claims, on made-up runs whose answers are known."""

import numpy as np

from tiny import claim, made_points, made_runs


def test_funnel_planes_both_ways():
    good, bad = made_points([0.5, 1.5], [0.01, 0.3], start=0.0), made_points([0.5, 1.5], [0.2, 0.5], start=0.0)
    merges = {"ixz": np.array([0.0, 0.92, 1.5]), "iyz": np.array([0.0, 0.31, 0.6])}
    columns = {
        "uniform: Merge-Two": merges,
        "uniform: certified": made_points([0.9], [0.1], parameter=[2.0], lower_bound=[-0.6]),
    }
    runs = made_runs("funnel-planes", {**columns, "uniform: pf-2, majorise": good, "uniform: pf-2v, majorise": bad})
    assert claim("funnel-planes", "pf-2-leaks-less-uniform").ask(runs, "majorise").holds is True
    assert claim("funnel-planes", "funnel-below-merging-uniform").ask(runs, "majorise").holds is True
    assert claim("funnel-planes", "pf-2-stuck-uniform").ask(runs, "majorise").holds is None
    runs = made_runs("funnel-planes", {**columns, "uniform: pf-2, majorise": bad, "uniform: pf-2v, majorise": good})
    assert claim("funnel-planes", "pf-2-leaks-less-uniform").ask(runs, "majorise").holds is False
    assert claim("funnel-planes", "funnel-below-merging-uniform").ask(runs, "majorise").holds is False
    for leakage, expected in ((0.2, True), (0.15, False)):
        runs = made_runs("funnel-planes", {**columns, "uniform: pf-2, majorise": made_points([0.9], [leakage])})
        assert claim("funnel-planes", "pf-2-stuck-uniform").ask(runs, "majorise").holds is expected
