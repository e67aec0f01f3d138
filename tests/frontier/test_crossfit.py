import numpy as np
import pytest

import infoplane as ip
from infoplane.information import plane_point


def test_cross_fitting_sees_what_the_table_cannot():
    """Of independent x and y, and of a known population: 20 samples each, the solution's own value beside the interval."""
    rng = np.random.default_rng(0)
    for share in (0.0, 1.0):
        held, above = [], []
        for _ in range(20):
            p_x, p_y = rng.dirichlet(np.full(8, 2.0)), rng.dirichlet(np.full(3, 3.0))
            P = p_x[:, None] * (share * rng.dirichlet(np.ones(3), 8) + (1 - share) * p_y)
            joint = ip.Joint.from_counts(rng.multinomial(400, P.ravel()).reshape(8, 3))
            solution = ip.solve(joint, ip.bottleneck(0.3 * ip.critical_gamma(joint)), starts=1, rng=0)
            truth = plane_point(ip.Joint.from_matrix(P / P.sum()), solution.encoder).iyz
            found = solution.interval(rng=rng)
            held.append(found.iyz.low <= truth <= found.iyz.high)
            above.append((solution.iyz - truth, abs(found.iyz.corrected - truth)))
        assert np.mean(held) >= 0.85  # of 20; benchmarks/bench_coverage.py has more
        if share == 0.0:  # all that the solution shows is chance
            plain, corrected = np.mean(above, axis=0)
            assert corrected < 0.6 * plain


def test_a_denoised_solution_is_denoised_anew_and_the_same_seed_gives_the_same(monkeypatch):
    joint = ip.Joint.from_counts([[60, 20], [20, 60], [45, 35], [2, 1]])
    solution = ip.solve(joint, ip.bottleneck(0.05), sample="denoised", rng=0)
    first, second = (solution.interval(parts=3, rng=7) for _ in range(2))
    assert (first.iyz, first.parts, first.records) == (second.iyz, 3, 243)
    assert "cross-fitted in 3 parts" in str(first)
    capped = ip.solve(joint, ip.bottleneck(0.05), clusters=2, rng=0)
    assert capped.interval(rng=0).ixz.high < np.log(2) + 0.1
    with pytest.raises(ip.InvalidOptionError, match="parts must be"):
        solution.interval(parts=1)
    with pytest.raises(ip.InvalidJointError, match="needs counts"):
        ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2)).interval()
