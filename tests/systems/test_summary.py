"""Groups of systems against numbers written out."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.systems.summary import NUMBERS


def made():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({name: rng.random(7) for name in NUMBERS})
    frame["group"], frame["who"] = list("aaaabbb"), list("1234123")
    frame.loc[0, "beta"] = np.inf
    return frame


def test_means_standard_errors_and_the_paired_difference():
    frame = made()
    found = ip.efficiency_summary(frame, "group", "who")
    a, b = (frame[frame.group == name].epsilon_bits.to_numpy() for name in "ab")
    assert found.loc["a", "epsilon_bits"] == pytest.approx(a.mean())
    assert found.loc["a", "epsilon_bits_se"] == pytest.approx(a.std(ddof=1) / 2.0)
    assert found.loc["difference", "epsilon_bits"] == pytest.approx((a[:3] - b).mean())
    assert found.loc["difference", "epsilon_bits_se"] == pytest.approx((a[:3] - b).std(ddof=1) / np.sqrt(3.0))
    assert found.loc["a", "beta"] == pytest.approx(frame.beta[1:4].mean())
    assert found.systems.tolist() == [4, 3, 3]


def test_what_is_missing_is_said():
    with pytest.raises(ip.InvalidOptionError, match="needs the column 'nobody'"):
        ip.efficiency_summary(made(), "nobody")
    with pytest.raises(ip.InvalidOptionError, match="two groups"):
        ip.efficiency_summary(made(), "who", "group")
