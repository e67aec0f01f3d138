"""Newton's step towards a peak: quadratic where climbs are linear, and never what a climb ends with unless it is higher."""

import numpy as np

from infoplane.certificate.bottleneck.mixture import LEAP_LETTERS, Mixture, climb, dual_of, posterior
from infoplane.joint.joint import Joint
from infoplane.joint.support import Support
from interpreted import interpreted

leap = interpreted("bottleneck_proof.leap").leap


def many(n_x=LEAP_LETTERS, zeros=False):
    rng = np.random.default_rng(41)
    T = rng.dirichlet(np.full(3, 0.5), size=n_x)
    if zeros:
        T[rng.random(T.shape) < 0.2] = 0.0
        T[T.sum(axis=1) == 0.0] = 1.0
    return Support(Joint.from_counts(T * rng.dirichlet(np.full(n_x, 2.0))[:, None]))


def pushed(support, gamma, lam, u):
    return support.T @ posterior(support, gamma, lam, u)


def test_a_step_squares_the_distance_to_the_peak():
    support, gamma = many(300), 0.15
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    peak = support.p_y
    for _ in range(20_000):
        peak = pushed(support, gamma, lam, peak)
    near = peak + 1e-4 * np.array([1.0, -0.4, -0.6])
    to = np.empty(3)
    dual = dual_of(support, gamma, lam)
    assert leap(dual, posterior(support, gamma, lam, near), near, pushed(support, gamma, lam, near), to)
    assert np.abs(to - peak).max() < 1e-6
    assert abs(to.sum() - 1.0) < 1e-12


def test_climbs_by_leaps_end_on_peaks_no_lower_than_where_they_began():
    """As climbs by small steps do; letters with zeros and starts at the edge included."""
    for zeros in (False, True):
        support, gamma = many(zeros=zeros), 0.1
        lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
        starts = np.vstack([support.p_y, support.T.T[:20], np.eye(3)])
        peaks, heights = climb(support, gamma, lam, starts)

        def height(u, lam=lam, gamma=gamma, support=support):
            return gamma * np.logaddexp.reduce((lam + np.log(np.maximum(u, 1e-300)) @ support.T) / gamma)

        for start, peak, found in zip(starts, peaks, heights, strict=True):
            assert found >= height(start) - 1e-9
            assert height(peak) >= found - 1e-9
            assert np.abs(pushed(support, gamma, lam, peak) - peak).max() < 1e-6
