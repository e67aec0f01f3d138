import math

import numpy as np
import pandas as pd
import pytest

from infoplane import datasets
from infoplane.errors import InvalidJointError, InvalidOptionError
from infoplane.information import bits
from infoplane.joint.joint import Joint

PAPER = np.array([[0.90, 0.08, 0.40], [0.025, 0.82, 0.05], [0.075, 0.10, 0.55]])

FACTORS = ["anaemia", "high_blood_pressure", "diabetes", "smoking"]
# anaemia, high_blood_pressure, diabetes, smoking: woman alive, woman died, man alive, man died
HEART = """
0 0 0 0: 10 5 12  8
0 0 0 1:  0 0 26  6
0 0 1 0: 14 3 13  4
0 0 1 1:  0 0  8  4
0 1 0 0:  8 2  8  4
0 1 0 1:  1 0  5  3
0 1 1 0:  6 3  5  3
0 1 1 1:  0 1  4  4
1 0 0 0: 11 2  7 10
1 0 0 1:  0 0 12  3
1 0 1 0:  9 6 11  3
1 0 1 1:  0 1  4  2
1 1 0 0:  6 4  8  3
1 1 0 1:  0 1  4  5
1 1 1 0:  6 6  3  0
1 1 1 1:  0 0  2  0
"""


def patients():
    """One row a patient, in an order that sorting has to undo."""
    rows = []
    for line in HEART.strip().splitlines():
        factors, counts = line.split(":")
        for (sex, died), n in zip([(0, 0), (0, 1), (1, 0), (1, 1)], counts.split(), strict=True):
            rows += [[*map(int, factors.split()), sex, died]] * int(n)
    return pd.DataFrame(rows[::-1], columns=[*FACTORS, "sex", "DEATH_EVENT"])


@pytest.mark.parametrize(
    ("joint", "p_x"), [(datasets.paper_uniform(), [1 / 3] * 3), (datasets.paper_nonuniform(), [0.1, 0.3, 0.6])]
)
def test_paper(joint, p_x):
    np.testing.assert_allclose(joint.p_x, p_x, atol=1e-15)
    np.testing.assert_allclose(joint.p_y_given_x, PAPER, atol=1e-15)
    assert math.fsum(joint.p_xy.ravel()) == pytest.approx(1.0, abs=1e-15)


def test_heart_has_the_known_numbers():
    joint = datasets.heart()
    assert joint.shape == (16, 4)
    assert bits(joint.entropy_x) == pytest.approx(3.767341, abs=5e-7)
    assert bits(joint.entropy_y) == pytest.approx(1.840707, abs=5e-7)
    assert bits(joint.mutual_information) == pytest.approx(0.292701, abs=5e-7)


def test_heart_is_the_table_of_its_patients():
    frame = patients()
    assert len(frame) == 299
    joint = Joint.from_frame(frame, x=FACTORS, y=["sex", "DEATH_EVENT"], smoothing=1e-3)
    assert joint.fingerprint == datasets.heart().fingerprint


def test_heart_labels():
    joint = datasets.heart()
    assert joint.x_labels[0] == "none"
    assert joint.x_labels[1] == "smoking"
    assert joint.x_labels[10] == "anaemia+diabetes"
    assert joint.x_labels[15] == "anaemia+high_blood_pressure+diabetes+smoking"
    assert joint.y_labels == ("woman alive", "woman died", "man alive", "man died")


@pytest.mark.parametrize("name", datasets.names())
def test_registry(name):
    data = datasets.REGISTRY[name]
    assert data.name == name
    assert data.load is getattr(datasets, name)
    assert datasets.load(name) == data.load()
    for line in (data.title, data.source):
        assert line
        assert "\n" not in line
    assert "Origin" in data.load.__doc__ or "paper_uniform" in data.load.__doc__


def test_names_and_an_unknown_name():
    assert datasets.names() == ("paper_uniform", "paper_nonuniform", "heart", "colours")
    with pytest.raises(
        InvalidOptionError, match="one of paper_uniform, paper_nonuniform, heart, colours; found 'iris'"
    ):
        datasets.load("iris")


def test_the_registry_cannot_be_changed():
    with pytest.raises(TypeError, match="does not support item assignment"):
        datasets.REGISTRY["mine"] = datasets.REGISTRY["heart"]


# -- colours -----------------------------------------------------------------------------------------------------------


def test_colours_have_the_known_numbers():
    joint = datasets.colours()
    assert joint.shape == (330, 330)
    assert bits(joint.entropy_x) == pytest.approx(math.log2(330), abs=1e-12)
    assert bits(joint.entropy_y) == pytest.approx(8.36026, abs=5e-6)
    assert bits(joint.mutual_information) == pytest.approx(4.82914, abs=5e-6)
    assert joint.x_labels == joint.y_labels


def test_colours_with_another_prior_and_width():
    prior = np.arange(1.0, 331.0) / np.arange(1.0, 331.0).sum()
    joint = datasets.colours(prior)
    np.testing.assert_allclose(joint.p_x, prior, atol=1e-15)
    np.testing.assert_allclose(joint.p_y_given_x, datasets.colours().p_y_given_x, atol=1e-14)
    assert datasets.colours(sigma2=16.0).mutual_information > joint.mutual_information
    with pytest.raises(InvalidOptionError, match="sigma2 must be a positive number"):
        datasets.colours(sigma2=0.0)
    with pytest.raises(InvalidJointError, match="one probability for each of 330 x"):
        datasets.colours([0.5, 0.5])
