"""Reference points against an independent computation."""

import numpy as np

import infoplane as ip
import verify
from infoplane_paper.pieces import Merges, Private, Starts, random_starts


def test_perfect_privacy_and_starts():
    utility, bound = Private("p", "heart").run()["utility"]
    assert 0.0 < utility <= bound <= utility + 1e-9
    starts = Starts("s", "heart", 17, 3).run()
    joint = ip.datasets.heart()
    expected = [verify.mutual_informations(joint.p_xy, one) for one in random_starts(3, 17, 16, 0)]
    np.testing.assert_allclose(np.array(expected).T / np.log(2), [starts["ixz"], starts["iyz"]], atol=1e-9)


def test_merge_two_against_all_partitions():
    """On three letters every merge is one of three pairs: Algorithm 1 can be followed by hand, from independently computed numbers."""
    joint = ip.datasets.paper_nonuniform()
    P = joint.p_xy

    def place(labels):
        W = np.zeros((max(labels) + 1, 3))
        W[labels, np.arange(3)] = 1.0
        return tuple(round(value / np.log(2), 6) for value in verify.mutual_informations(P, W))

    pairs = [place(labels) for labels in ([0, 0, 1], [0, 1, 0], [1, 0, 0])]
    expected = {place([0, 1, 2])}
    for R in np.linspace(0, place([0, 1, 2])[0], 100):
        allowed = [pair for pair in pairs if pair[0] >= R - 1e-9]
        if R == 0:
            expected.add((0.0, 0.0))
        elif allowed:
            expected.add(min(allowed, key=lambda pair: pair[1]))
    ends = Merges("m", "paper_nonuniform").run()
    assert {(round(u, 6), round(v, 6)) for u, v in zip(ends["ixz"], ends["iyz"], strict=True)} == expected
