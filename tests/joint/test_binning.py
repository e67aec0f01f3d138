"""Numbers in bins of about equal mass, with labels that people read."""

import numpy as np
import pandas as pd
import pytest

from infoplane import InvalidJointError, InvalidOptionError, Joint
from infoplane.joint.binning import Bin, quantile_bins


def test_equal_values_stay_together_and_labels_are_their_ends():
    found = quantile_bins({1: 10, 2: 1, 3: 1, 40: 8}, 4)
    assert set(found.values()) == {"1", "2 to 3", "40"}


def test_real_numbers_get_the_digits_that_tell_them_apart():
    found = quantile_bins({0.12341: 1, 0.12349: 1, 0.5: 1, 1.0: 1}, 2)
    assert list(dict.fromkeys(found.values())) == ["0.1234 to 0.1235", "0.5 to 1"]


def test_bins_of_a_large_column_have_about_equal_mass():
    values = np.random.default_rng(0).normal(size=2000)
    found = quantile_bins(dict.fromkeys(values.tolist(), 1.0), 5)
    sizes = pd.Series(list(found.values())).value_counts()
    assert sizes.tolist() == [400] * 5


def test_labels_are_ordered_by_their_numbers():
    frame = pd.DataFrame({"age": [5, 7, 9, 10, 15, 100], "y": [0, 1, 0, 1, 0, 1]})
    joint = Joint.from_frame(frame, "age", "y", bins={"age": 3})
    assert joint.x_labels == ("5 to 7", "9 to 10", "15 to 100")
    assert all(type(label) is Bin for label in joint.x_labels)
    assert joint.records == 6


def test_one_of_several_columns_is_binned():
    frame = pd.DataFrame({"sex": ["f", "m", "f", "m"], "age": [20, 30, 40, 50], "y": [0, 1, 0, 1]})
    joint = Joint.from_frame(frame, ["sex", "age"], "y", bins={"age": 2})
    assert set(joint.x_labels) == {("f", "20 to 30"), ("f", "40 to 50"), ("m", "20 to 30"), ("m", "40 to 50")}


def test_what_cannot_be_binned_is_named():
    frame = pd.DataFrame({"x": ["a", "b"], "y": [0, 1]})
    with pytest.raises(InvalidJointError, match=r"'a'|'b'"):
        Joint.from_frame(frame, "x", "y", bins={"x": 2})
    with pytest.raises(InvalidJointError, match="found 'z'"):
        Joint.from_frame(frame, "x", "y", bins={"z": 2})
    with pytest.raises(InvalidOptionError, match="positive whole number"):
        Joint.from_frame(frame, "x", "y", bins={"y": 0})
