"""Who needs the fewest iterations, on made-up runs whose answers are known."""

import pytest

from infoplane_paper.figures import iterations
from tiny import claim, made_points, made_runs


@pytest.mark.parametrize(("counts", "expected"), [((5, 50), True), ((50, 5), False)])
def test_fewest_iterations(counts, expected):
    columns = {
        name: made_points(iterations=[counts[1]])
        for name in (f"uniform: {one}, majorise" for one in iterations.SOLVERS)
    }
    runs = made_runs("iterations", {**columns, "uniform: blahut-arimoto": made_points(iterations=[counts[0]])})
    assert claim("iterations", "ba-fewest-iterations").ask(runs, "majorise").holds is expected
    runs = made_runs("iterations", {**columns, iterations.LOOSE: made_points(iterations=[0])})
    assert claim("iterations", "ba-fewest-iterations").ask(runs, "gradient").holds is True
