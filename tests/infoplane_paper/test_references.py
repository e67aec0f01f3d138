"""Reference points against an independent computation."""

import numpy as np

import infoplane as ip
import verify
from infoplane.solvers.starts import make_starts, seed_sequence
from infoplane_paper.references import Private, Starts


def test_perfect_privacy_and_starts():
    utility, bound = Private("p", "heart").run()["utility"]
    assert 0.0 < utility <= bound <= utility + 1e-9
    starts = Starts("s", "heart", 17, 3).run()
    joint = ip.datasets.heart()
    W = make_starts(joint, 17, 3, seed_sequence(0), "random")
    expected = [verify.mutual_informations(joint.p_xy, one) for one in W]
    np.testing.assert_allclose(np.array(expected).T / np.log(2), [starts["ixz"], starts["iyz"]], atol=1e-9)
