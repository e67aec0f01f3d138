"""Posteriors that caps allow: what contradicts a proof must itself be within them."""

import numpy as np

import infoplane as ip
from infoplane.certificate.funnel.allowed import AllowedPosteriors, Caps, lift_caps
from infoplane.joint.joint import Support
from infoplane.posterior.programme import Programme
from infoplane.runtime.budget import Budget

FAINT = [
    [1e-100, 0.04, 1e-30, 0, 0],
    [0, 0.016, 1e-9, 0, 0],
    [0.1, 1e-20, 8e-12, 0, 1e-11],
    [0, 1e-30, 0.008, 0, 0],
    [0, 0.013, 0.045, 0, 1e-11],
    [0, 0.036, 0.016, 1e-11, 0],
    [0, 0.021, 0.006, 0, 0],
    [0, 1e-20, 0.035, 0, 1e-300],
]


def test_what_contradicts_a_proof_is_within_the_caps_to_the_last_digits():
    """Linear programmes keep a cap up to 1e-10, which is none for a value of the secret of mass 1e-11."""
    support = Support(ip.Joint.from_counts(FAINT))
    L, U = lift_caps(support.p_y, np.ones(5, bool), 0.4, False)
    for most in (np.ones(8), np.minimum(2.0 * support.p_x, 1.0)):
        caps = Caps(L, U, most)
        programme = Programme(support, Budget(), caps.allows(support.T, np.eye(8)))
        finder = AllowedPosteriors(programme, caps, np.random.default_rng(0))
        found = finder.challenge(programme.at_beta(20.0), np.inf)
        assert found is not None
        q, g = found
        assert (support.T @ q <= U * (1.0 + 1e-12)).all()
        assert (q <= most * (1.0 + 1e-12)).all()
        assert np.isfinite(g)
