import mpmath
import numpy as np
import pytest

import exact_boxes as exact
from compiled import interpreted
from exact_boxes import case
from infoplane.kernels.bottleneck_proof.ascent import SEEN
from infoplane.kernels.bottleneck_proof.cell_bound import MANY

ascent = interpreted("bottleneck_proof.ascent")
bound_with = interpreted("bottleneck_proof.cell_bound").bound_with


def test_the_slope_of_the_bound_is_what_the_ascent_takes_it_for():
    """Differences of the exact B in every multiplier against E_w F less the edge."""
    joint = exact.many_letters()
    rng = np.random.default_rng(5)
    dual, work, _ = case(joint, 0.2, rng)
    work.v[:8] = rng.normal(size=8)
    work.v[8:] = rng.uniform(0.2, 0.8, size=8)
    bound_with(dual, work, work.v)
    ascent.locate(work)
    T = exact.channel(joint)
    for j in range(16):
        sides = []
        for step in (-1e-7, 1e-7):
            v = work.v.copy()
            v[j] += step
            sides.append((v[j], exact.bound(T, dual.gamma, dual.lam, work.low, work.high, work.slope, v)[0]))
        measured = float((sides[1][1] - sides[0][1]) / (mpmath.mpf(sides[1][0]) - mpmath.mpf(sides[0][0])))
        slope = ascent.slope_of(work.low, work.high, j, work.mean[j], work.v[j])
        assert slope == pytest.approx(measured, abs=1e-6 * (1 + abs(measured)) / dual.gamma)


@pytest.mark.parametrize("make", [exact.many_letters, exact.many_columns, exact.nearly_deterministic])
def test_the_curvature_is_the_covariance_under_w(make):
    """Of few letters exactly; of many, some stand for all, and no direction may be far off."""
    rng = np.random.default_rng(13)
    joint = make()
    for _ in range(5):
        dual, work, _ = case(joint, 0.3, rng)
        work.v[: work.low.size] *= 0.1
        bound_with(dual, work, work.v)
        ascent.locate(work)
        ascent.curvature(dual, work)
        centred = work.F - work.mean[:, None]
        whole = (work.w * centred) @ centred.T / dual.gamma
        unseen = dual.T.shape[1] * SEEN * np.abs(centred).max() ** 2 / dual.gamma
        off = 1e-12 if dual.T.shape[1] < MANY else 0.1
        assert np.abs(work.Q - whole).max() <= off * np.diag(whole).max() + unseen
