"""The bottleneck rate's claims, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane_paper.figures import bottleneck_rate
from tiny import claim, made_descent, made_points, made_runs

K = np.arange(1, 400)


@pytest.mark.parametrize(("other", "expected"), [(-1 + 0.8**K, True), (-1 + 1.0 / K**2, False)])
def test_linear_tails(other, expected):
    names = [bottleneck_rate.name(solver, "majorise") for solver in bottleneck_rate.SOLVERS]
    columns = {names[0]: made_descent(-1 + 0.9**K, -1.0), names[1]: made_descent(other, -1.0)}
    runs = made_runs("bottleneck-rate", columns)
    assert claim("bottleneck-rate", "linear-bottleneck").ask(runs, "majorise").holds is expected


@pytest.mark.parametrize(("two", "expected"), [(-0.3240, True), (-0.3150, False)])
def test_the_minimum_is_that_of_the_two_solvers_not_of_the_proof(two, expected):
    names = [bottleneck_rate.name(solver, "gradient") for solver in bottleneck_rate.SOLVERS]
    columns = {name: made_descent(-1 + 0.9**K, -0.3) for name in names}
    columns |= {"certified": made_points(loss=[-0.3473], lower_bound=[-0.3473])}
    columns |= {
        bottleneck_rate.ends(solver, clusters): made_points(
            loss=[two if clusters == bottleneck_rate.CLUSTERS else -0.337]
        )
        for solver in bottleneck_rate.SOLVERS
        for clusters in bottleneck_rate.FEWER
    }
    found = claim("bottleneck-rate", "minimum-bottleneck").ask(made_runs("bottleneck-rate", columns), "gradient")
    assert found.holds is expected
    assert f"starts, |Z| = {bottleneck_rate.CLUSTERS}: {two:.4f}" in found.said
    assert "the proven optimum over all encoders is -0.3473 bits" in found.said
