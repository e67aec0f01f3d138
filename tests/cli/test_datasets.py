"""``infoplane datasets``: the built-in joints, as a table and as JSON."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip


def test_datasets(run):
    said = run("datasets")
    assert all(name in said.out for name in ip.datasets.names())
    found = run("datasets", "--json").json["datasets"]
    assert [one["name"] for one in found] == list(ip.datasets.names())
    assert found[2]["shape"] == [16, 4]
    assert found[2]["ixy_bits"] == pytest.approx(0.292701, abs=1e-6)


def test_the_records_of_one_as_a_table(run, tmp_path):
    path = tmp_path / "heart.csv"
    assert "299 records" in run("datasets", "heart", "--out", path).err
    read = ip.Joint.from_frame(pd.read_csv(path), "risk_factors", "outcome", smoothing=1e-3)
    heart = ip.datasets.heart()
    at = [read.x_labels.index(x) for x in heart.x_labels], [read.y_labels.index(y) for y in heart.y_labels]
    assert read.p_xy[np.ix_(*at)] == pytest.approx(heart.p_xy, abs=1e-15)


@pytest.mark.parametrize("words", [("heart",), ("--out", "x.csv"), ("colours", "--out", "x.csv")])
def test_what_has_no_records_is_refused(run, words):
    assert run("datasets", *words).code == 2
