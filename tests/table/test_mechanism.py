import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.encoder.letters import CategoryLetters, IntervalLetters, RowLetters
from infoplane.errors import InvalidMechanismError
from infoplane.storage.mechanism import read_mechanism, write_mechanism
from infoplane.table.mechanism import Mechanism, MechanismFeature


def fitted(product=False):
    """An encoder of a column of text and one of numbers, and its rows."""
    rng = np.random.default_rng(0)
    job, age = rng.integers(0, 40, 3000), rng.integers(18, 80, 3000).astype(float)
    y = rng.random(3000) < 0.1 + 0.5 * (job < 20) + 0.3 * (age > 50)
    X = pd.DataFrame({"job": [f"job {one}" for one in job], "age": age})
    X.loc[:9, "job"], X.loc[10:19, "age"] = None, np.nan
    return ip.BottleneckEncoder(product=product).set_output(transform="pandas").fit(X, y), X


@pytest.mark.parametrize("product", [False, True])
def test_a_mechanism_does_what_its_encoder_does(product):
    encoder, X = fitted(product)
    other = pd.concat([X.head(50), pd.DataFrame({"job": ["new", None], "age": [33.0, np.nan]})], ignore_index=True)
    mechanism = Mechanism.of_encoder(encoder, "income")
    made = mechanism.apply(other)
    pd.testing.assert_frame_equal(made, encoder.transform(other), check_categorical=False)
    assert mechanism.unknown(other)["job*age" if product else "job"] == (2 if product else 1)
    assert all(one.deterministic for one in mechanism.features)
    assert all(len(one.descriptions) == len(one.clusters) for one in mechanism.features)


def test_a_joint_with_bins_and_missing_values_goes_there_and_back(tmp_path):
    """Rows of the frame get the cluster of their letter; what the joint does not have gets p(z)."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.normal(40, 9, 500).round(1), "job": rng.choice(["a", "b", "c"], 500)})
    frame["ill"] = (rng.random(500) < 0.2 + 0.5 * (frame.age > 45)).astype(int)
    frame.loc[:20, "age"], frame.loc[30:40, "job"] = np.nan, None
    joint = ip.Joint.from_frame(frame, ["age", "job"], "ill", bins={"age": 4}, missing="category")
    found = ip.partition(joint, clusters=3)
    write_mechanism(Mechanism.of_joint(joint, found.encoder, note="test"), tmp_path / "m.json")
    mechanism = read_mechanism(tmp_path / "m.json")
    edges = joint.bins["age"]
    bins = [str(one) for one in IntervalLetters(edges, True).labels]
    places = np.where(frame.age.isna(), len(edges) + 1, np.searchsorted(edges, frame.age, side="right"))
    keys = [
        (bins[i], "missing" if job is None or job != job else job) for i, job in zip(places, frame.job, strict=True)
    ]
    homes = dict(zip([(str(a), b) for a, b in joint.x_labels], found.encoder.argmax(axis=0), strict=True))
    assert mechanism.apply(frame).z.tolist() == [f"z{homes[key]}" for key in keys]
    drawn = mechanism.apply(pd.DataFrame({"age": np.full(9000, 40.0), "job": "new"}), rng=0).z
    np.testing.assert_allclose(drawn.value_counts(normalize=True).sort_index(), found.p_z, atol=0.02)


def test_a_bin_in_which_no_record_fell_goes_there_and_back(tmp_path):
    """Its rows are counted as never met, and get p(z)."""
    frame = pd.DataFrame({"age": [1, 2, 25, 26, 31, 40] * 3, "ill": [0, 0, 1, 0, 1, 1] * 3})
    joint = ip.Joint.from_frame(frame, "age", "ill", bins={"age": [10, 20, 30]})
    found = ip.partition(joint, clusters=2)
    write_mechanism(Mechanism.of_joint(joint, found.encoder), tmp_path / "m.json")
    mechanism, rows = read_mechanism(tmp_path / "m.json"), pd.DataFrame({"age": [15] * 9000 + [1]})
    assert mechanism.unknown(rows) == {"z": 9000}
    drawn = mechanism.apply(rows, rng=0).z
    assert drawn[9000] == f"z{found.encoder[:, 0].argmax()}"
    np.testing.assert_allclose(drawn[:9000].value_counts(normalize=True).sort_index(), found.p_z, atol=0.02)
    assert mechanism.apply(rows, unseen="suppress").z.isna().sum() == 9000


def test_a_value_may_be_called_missing():
    """It is one among the values, whether some are missing or not."""
    frame = pd.DataFrame({"x": ["missing", "a", "b", "a"] * 9, "y": [0, 1, 1, 1] * 9})
    joint = ip.Joint.from_frame(frame, "x", "y")
    mechanism = Mechanism.of_joint(joint, np.eye(3))
    assert mechanism.apply(frame.head(3), unseen="error").z.tolist() == ["z2", "z0", "z1"]
    encoder = ip.BottleneckEncoder().fit(pd.DataFrame({"x": [*frame.x, None, None]}), [*frame.y, 0, 1])
    assert sorted(encoder.mapping_.category) == ["a", "b", "missing", "missing (empty)"]


def test_bins_of_dates_are_refused():
    frame = pd.DataFrame({"day": pd.date_range("2024-01-01", periods=40), "ill": [0, 1] * 20})
    joint = ip.Joint.from_frame(frame, "day", "ill", bins={"day": "weekday"})
    with pytest.raises(ip.InvalidOptionError, match="column 'day' has bins of dates"):
        Mechanism.of_joint(joint, np.ones((1, 7)))


def test_a_random_mechanism_draws_in_proportion():
    letters, _ = CategoryLetters.of(pd.Series(["a", "b"]))
    W = np.array([[0.8, 0.1, 0.5], [0.2, 0.9, 0.5]])
    feature = MechanismFeature("x", ("x",), RowLetters((letters,)), np.arange(2), W, ("z0", "z1"))
    release = Mechanism("release", ("s",), ("u", "v"), (feature,))
    rows = pd.DataFrame({"x": np.repeat(["a", "b", "c"], 20_000)})
    drawn = release.apply(rows, rng=0).x
    shares = pd.crosstab(rows.x, drawn, normalize="index").z0
    # Four standard errors of a share of 20,000.
    np.testing.assert_allclose(shares, W[0], atol=4 * 0.5 / np.sqrt(20_000))
    assert drawn.equals(release.apply(rows, rng=0).x)
    assert not feature.deterministic


@pytest.mark.parametrize("dtype", [object, "string", "str"])
def test_numbers_that_a_file_has_as_text_are_found(dtype):
    joint = ip.Joint.from_frame(pd.DataFrame({"rooms": [1, 2, 3] * 4, "let": [0, 1, 1, 0] * 3}), "rooms", "let")
    mechanism = Mechanism.of_joint(joint, np.eye(3))
    rows = pd.DataFrame({"rooms": pd.Series(["2", "3.0", "1", "many"], dtype=dtype)})
    assert mechanism.apply(rows, unseen="suppress").z.tolist() == ["z1", "z2", "z0", np.nan]


@pytest.mark.parametrize("numbers", [[2, 1, 7], [2.0, 1.0, np.inf], pd.array([2, 1, None], dtype="Int64")])
def test_text_that_a_file_has_as_numbers_is_found(numbers):
    """A column of codes is text if one of them is no number; another file may have none of those."""
    joint = ip.Joint.from_frame(pd.DataFrame({"code": ["1", "2", "x"] * 4, "let": [0, 1, 1, 0] * 3}), "code", "let")
    rows = pd.DataFrame({"code": numbers})
    assert Mechanism.of_joint(joint, np.eye(3)).apply(rows, unseen="suppress").z.tolist() == ["z1", "z0", np.nan]


def test_rows_that_do_not_fit_are_refused():
    mechanism = Mechanism.of_encoder(fitted()[0], "income")
    with pytest.raises(InvalidMechanismError, match="rows must have the column 'job'; found 'jobs', 'age'"):
        mechanism.apply(pd.DataFrame({"jobs": ["a"], "age": [1.0]}))
    with pytest.raises(InvalidMechanismError, match="numbers; found 1 value of 2 that are none, the first in row 1"):
        mechanism.apply(pd.DataFrame({"job": ["a", "a"], "age": ["3", "old"]}))
