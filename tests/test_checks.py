import json
from fractions import Fraction

import numpy as np
import pytest

import infoplane as ip
from infoplane.checks import number, whole_number


def test_numpy_numbers_count_like_pythons():
    given, meant = whole_number("k", np.int16(3)), number("r", np.float32(0.5), lambda _: True, "")
    assert (given, meant) == (3, 0.5)
    assert (type(given), type(meant)) == (int, float)
    assert number("r", Fraction(1, 4), lambda _: True, "") == 0.25


@pytest.mark.parametrize("value", [0, -1, True, 2.0, "3", None, np.float64(2), np.bool_(True)])
def test_what_is_no_whole_number_is_refused(value):
    with pytest.raises(ip.InvalidOptionError, match="k must be a positive whole number, found "):
        whole_number("k", value)


def test_nought_where_it_is_allowed():
    assert whole_number("k", 0, least=0) == 0
    with pytest.raises(ip.InvalidOptionError, match="k must be 0 or a positive whole number, found -1"):
        whole_number("k", -1, least=0)


def test_a_sweep_asked_for_in_numpy_numbers_is_the_same(tmp_path):
    joint, gammas = ip.datasets.paper_uniform(), np.geomspace(0.1, 0.9, 3)

    def swept(kind, real, name):
        solved = ip.solve(
            joint,
            ip.MarkovLagrangian(*(real(rho) for rho in ip.bottleneck(0.3).rho)),
            ip.Accelerated(memory=kind(4)),
            clusters=kind(3),
            starts=kind(2),
            max_iter=kind(500),
            rng=kind(0),
        )
        options = {"starts": kind(2), "clusters": kind(3), "max_iter": kind(300), "rng": kind(1), "points": kind(4)}
        store = tmp_path / name
        frontier = ip.sweep(joint, ip.bottleneck, gammas, "ib-1", store=store, **options)
        return solved.loss, [run.loss for run in frontier.runs]

    assert json.dumps(swept(int, float, "python.db")) == json.dumps(swept(np.int64, np.float64, "numpy.db"))
