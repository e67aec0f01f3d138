"""The threshold of c against gamma, on made-up runs whose answers are known."""

import numpy as np
import pytest

from infoplane_paper.figures import penalty_threshold
from tiny import THREE, claim, made_points, made_runs


@pytest.mark.parametrize(("second", "expected"), [(4.0, True), (256.0, False), (np.inf, None)])
def test_threshold_against_gamma(second, expected):
    penalties = THREE.some(penalty_threshold.PENALTIES)
    columns = {
        penalty_threshold.name("ib-2", c): made_points(
            [0.5] * 2, [0.1] * 2, parameter=[0.1, 0.8], converged=[c >= 4, c >= second]
        )
        for c in penalties
    }
    columns["formula"] = {"ib-1": np.array([1.0, 2.0]), "ib-2": np.array([3.0, 3.0])}
    runs = made_runs("penalty-threshold", columns)
    asked = claim("penalty-threshold", "threshold-independent")
    assert asked.ask(runs, "measured").holds is expected
    assert asked.ask(runs, "formula").holds is True
    assert (" never do" in asked.ask(runs, "measured").said) is (second == np.inf)
    columns["formula"] = {"ib-1": np.array([1.0, 2.0]), "ib-2": np.array([3.0, 3.1])}
    assert asked.ask(made_runs("penalty-threshold", columns), "formula").holds is False
