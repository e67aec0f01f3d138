"""Merge-Two with its constraint, followed by hand."""

import numpy as np
from infoplane_paper.merge_two import merge_two_ends

import infoplane as ip
import verify


def test_merge_two_ends_against_all_partitions():
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
    ixz, iyz = merge_two_ends(joint)
    assert {(round(u, 6), round(v, 6)) for u, v in zip(ixz, iyz, strict=True)} == expected
