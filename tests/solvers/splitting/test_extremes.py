"""Where tables are nearly singular, a run stays a run."""

import numpy as np

import infoplane as ip
import verify
from infoplane.joint.support import Support
from infoplane.solvers.starts import make_starts, seed_sequence
from infoplane.solvers.stopping import Stopping


def test_a_row_that_is_all_rounding_does_not_end_in_nan():
    """p(y|x) of 0 and 1 but for 1e-12, small gamma: a column of W comes to be 0 or 1 throughout, and its curvature is all rounding."""
    rng = np.random.default_rng([31, 74])
    n_x, n_y = int(rng.integers(2, 31)), int(rng.integers(2, 5))
    rng.dirichlet(np.full(n_y, 0.3), size=n_x)  # so that the numbers below are those that failed
    T = np.full((n_x, n_y), 10.0 ** rng.integers(-12, -2))
    T[np.arange(n_x), rng.integers(0, n_y, n_x)] = 1.0
    joint = ip.Joint.from_counts(rng.dirichlet(np.full(n_x, 2.0))[:, None] * T / T.sum(axis=1, keepdims=True))
    problem = ip.bottleneck(0.020836080053702768)
    W = make_starts(joint, None, 200, seed_sequence(74), "random")[81:82].copy()
    batch = ip.SOLVERS["ib-2"].begin(Support(joint), [problem], W, Stopping(), False)
    going = True
    while going:
        going = batch.advance(1)
        (run,) = batch.runs()
        assert np.isfinite(run.encoder).all()
        going = going and run.iterations < 40
    verify.check_encoder(joint.p_xy, run.encoder, tol=1e-9)
