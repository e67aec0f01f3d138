"""Files of mechanisms: there and back, and nothing in them is trusted."""

import json
from contextlib import suppress

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from infoplane.encoder.letters import CategoryLetters, IntervalLetters, RowLetters
from infoplane.errors import InvalidMechanismError
from infoplane.storage.mechanism import read_mechanism, write_mechanism
from infoplane.table.mechanism import Mechanism, MechanismFeature


def example():
    """A product of text and numbers with a pooled letter, and a random feature."""
    job, codes = CategoryLetters.of(pd.Series(["a", "b", None]))
    age = IntervalLetters((30.0, 50.5), False)
    both, _ = RowLetters.of([job, age], [codes, np.array([0, 1, 2])])
    hard = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])
    soft = np.array([[0.25, 0.5, 1.0, 0.1], [0.75, 0.5, 0.0, 0.9]])
    return Mechanism(
        "release",
        ("ill",),
        (True, False),
        (
            MechanismFeature("both", ("job", "age"), both, np.array([0, 1, 1]), hard, ("z0", "z1"), ("few", "många")),
            MechanismFeature("job", ("job",), RowLetters((job,)), np.arange(3), soft, ("u", "v")),
        ),
        "a note",
    )


ROWS = pd.DataFrame({"job": ["a", "b", None, "b", "new"], "age": [10.0, 40.0, 70.0, 10.0, 10.0]})


def test_there_and_back(tmp_path):
    write_mechanism(example(), tmp_path / "m.json")
    back = read_mechanism(tmp_path / "m.json")
    pd.testing.assert_frame_equal(back.apply(ROWS, rng=3), example().apply(ROWS, rng=3))
    assert back.apply(ROWS).both.tolist() == ["z0", "z1", "z1", "z1", "z1"]
    assert (back.kind, back.target, back.classes, back.note) == ("release", ("ill",), (True, False), "a note")
    assert back.features[0].descriptions == ("few", "många")


def changed(record, path, value):
    """The record with one place changed; None leaves the key out."""
    record = json.loads(json.dumps(record))
    *outer, last = path
    inside = record
    for key in outer:
        inside = inside[key]
    if value is None:
        del inside[last]
    else:
        inside[last] = value
    return record


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (["format"], "pickle", "is no mechanism"),
        (["version"], 2, "version must be 1"),
        (["kind"], "model", "kind must be 'encoder' or 'release'"),
        (["features"], [], "features must be a list that is not empty"),
        (["features"], "x", "features must be a list"),
        (["features", 1, "name"], "both", "features must be of different names"),
        (["features", 0], 3, r"features\[0\] must be an object"),
        (["features", 0, "columns"], ["job", "job"], "columns must be different names"),
        (["features", 0, "columns"], ["job"], "letters must be 1 objects"),
        (["features", 0, "letters", 1, "edges"], [3, 2], "edges must be increasing"),
        (["features", 0, "letters", 1, "edges"], [3, "4"], "edges must be finite numbers"),
        (["features", 0, "letters", 1, "edges"], [10**400], "edges must be finite numbers"),
        (["features", 0, "letters", 0, "values"], ["a", "a"], "values must be different"),
        (
            ["features", 0, "letters", 0, "values"],
            ["a", ["b"]],
            r"values\[1\] must be a text, a finite number, true or false",
        ),
        (["features", 0, "letters", 0, "kind"], "regex", "kind must be 'categories' or 'intervals'"),
        (["features", 0, "letters", 0, "missing"], 1, "whether values may be missing"),
        (["features", 0, "keys"], [0, 0, 1], "keys must be different"),
        (["features", 0, "keys", 0], 99, r"keys\[0\] must be a whole number from 0 to 8"),
        (["features", 0, "keys"], None, "keys must be a list"),
        (["features", 0, "rows", 0], 3, r"rows\[0\] must be a whole number from 0 to 2"),
        (["features", 0, "rows", 0], True, r"rows\[0\] must be a whole number"),
        (["features", 0, "rows"], [0, 1], "rows must be 3 numbers, one for each letter"),
        (["features", 0, "labels", 0], 2, r"labels\[0\] must be a whole number from 0 to 1"),
        (["features", 0, "labels"], [], "labels must be not empty"),
        (["features", 0, "clusters"], ["z0", "z0"], "clusters must be different names"),
        (["features", 0, "clusters"], [], "clusters must be different names, one at least"),
        (["features", 0, "descriptions"], ["x"], "descriptions must be 2 texts, or none"),
        (["features", 1, "encoder", 0], [0.5, 0.6], r"encoder\[0\] must be numbers that sum to 1"),
        (["features", 1, "encoder", 0], [1.5, -0.5], r"encoder\[0\] must be 2 numbers that are not negative"),
        (["features", 1, "encoder"], [], "encoder must be a list that is not empty"),
        (["note"], 3, "note must be a text"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(tmp_path, path, value, said):
    file = tmp_path / "m.json"
    write_mechanism(example(), file)
    file.write_text(json.dumps(changed(json.loads(file.read_text()), path, value)))
    with pytest.raises(InvalidMechanismError, match=said):
        read_mechanism(file)


def test_files_that_are_no_json_are_refused(tmp_path, monkeypatch):
    for number, text in enumerate(["", "{", "[" * 100_000, '{"format": NaN}', "\x80"]):
        file = tmp_path / f"{number}.json"
        file.write_bytes(text.encode("latin-1"))
        with pytest.raises(InvalidMechanismError):
            read_mechanism(file)
    with pytest.raises(InvalidMechanismError, match="cannot be read"):
        read_mechanism(tmp_path / "none.json")
    monkeypatch.setattr("infoplane.storage.mechanism.LARGEST", 3)
    with pytest.raises(InvalidMechanismError, match="at most 3 bytes"):
        read_mechanism(tmp_path / "2.json")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data())
def test_a_damaged_file_is_read_or_refused_but_nothing_else(tmp_path, data):
    """Any value anywhere: a mechanism that can be applied, or the one error."""
    write_mechanism(example(), tmp_path / "m.json")
    record = json.loads((tmp_path / "m.json").read_text())
    inside, path = record, []
    while isinstance(inside, (dict, list)) and inside and (not path or data.draw(st.booleans())):
        keys = sorted(inside) if isinstance(inside, dict) else range(len(inside))
        path.append(data.draw(st.sampled_from([*keys])))
        inside = inside[path[-1]]
    junk = st.recursive(
        st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
        st.lists,
        max_leaves=4,
    )
    file = tmp_path / "damaged.json"
    file.write_text(json.dumps(changed(record, path, data.draw(junk | st.just({}) | st.none()))))
    with suppress(InvalidMechanismError):
        assert len(read_mechanism(file).apply(ROWS, rng=0)) == len(ROWS)
