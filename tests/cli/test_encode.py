"""`infoplane encode` and `infoplane apply`, on files."""

import json

import numpy as np
import pandas as pd
import pytest

from infoplane.storage.mechanism import read_mechanism


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    job, age = rng.integers(0, 60, 2000), rng.normal(45, 12, 2000).round(1)
    income = np.where(rng.random(2000) < 0.15 + 0.4 * (job < 30) + 0.3 * (age > 50), "high", "low")
    table = pd.DataFrame({"id": range(2000), "job": [f"job {one}" for one in job], "age": age, "income": income})
    table.loc[:3, "job"] = None
    table.to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def test_a_table_is_encoded_and_its_model_applied_to_others(run, people):
    options = ["--columns", "job,age", "--numbers", "age", "--target", "income", "--out", people / "out.csv"]
    more = ["--model", people / "m.json", "--mapping", people / "map.csv", "--report", people / "r.html", "--json"]
    done = run("encode", people / "people.csv", *options, *more)
    assert done.code == 0, done.err
    found = json.loads(done.out)
    assert [one["name"] for one in found["features"]] == ["job", "age"]
    assert (found["classes"], found["rows"]) == (["high", "low"], 2000)
    out = pd.read_csv(people / "out.csv")
    assert [*out.columns] == ["id", "job", "age", "income"]
    assert set(out.age) == {f"z{z}" for z in range(found["features"][1]["clusters"])}
    mapping = pd.read_csv(people / "map.csv")
    assert {"feature", "category", "count", "cluster", "p(high|z)", "typical"} <= set(mapping)
    page = (people / "r.html").read_text()
    assert "Columns in groups that keep what predicts income" in page
    assert "http" not in page.replace("http-equiv", "")
    # Rows that were never seen, by the model alone.
    rows = pd.DataFrame(
        {"age": [20.0, 70.0, np.nan], "job": ["job 1", "unheard of", "job 50"], "note": ["=1+1", "b", "c"]}
    )
    rows.to_csv(people / "new.csv", index=False)
    done = run("apply", people / "m.json", people / "new.csv", "--out", people / "new_out.csv")
    assert done.code == 0, done.err
    assert "job: 1 row of 3 with values that were never met" in done.err
    made = pd.read_csv(people / "new_out.csv")
    wanted = read_mechanism(people / "m.json").apply(rows)
    assert made.job.tolist() == wanted.job.tolist()
    assert made.note.tolist() == rows.note.tolist()


def test_columns_together_and_other_outputs(run, people):
    done = run("encode", people / "people.csv", "--columns", "job,age", "--numbers", "age", "--product", "--clusters", "3", "--target",
               "income", "--output", "posterior", "--out", people / "out.parquet")  # fmt: skip
    assert done.code == 0, done.err
    out = pd.read_parquet(people / "out.parquet")
    assert [*out.columns] == ["id", "job*age_low", "income"]
    assert out["job*age_low"].between(0, 1).all()


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--columns", "jobs", "--target", "income"], 3, "there is no column 'jobs'"),
        (["--columns", "job", "--target", "job"], 2, "it would predict itself"),
        (["--columns", "job", "--numbers", "age", "--target", "income"], 2, "--numbers must be among --columns"),
        (["--columns", "job", "--target", "income", "--clusters", "2", "--gamma", "0.1"], 2, "give one of"),
        (["--columns", "id,job", "--numbers", "job", "--target", "income"], 3, "where a number is expected"),
        (["--columns", "id", "--target", "job"], 3, "column 'job' must have a value in every row; found none in row 1"),
    ],
)
def test_what_is_refused(run, people, options, code, said):
    done = run("encode", people / "people.csv", *options, "--out", people / "out.csv")
    assert (done.code, said in done.err) == (code, True), done.err


def test_a_model_that_is_none_is_refused(run, people):
    (people / "m.json").write_text("{}")
    done = run("apply", people / "m.json", people / "people.csv", "--out", people / "out.csv")
    assert (done.code, "is no mechanism" in done.err) == (3, True)


def test_numbers_among_words_are_met_again_in_rows_without_words(run, tmp_path):
    """A column of codes and the word unknown holds text; rows that are all codes hold the same values."""
    codes = [f"{n % 4}" if n % 9 else "unknown" for n in range(120)]
    rows = pd.DataFrame({"code": codes, "y": [one in "01" for one in codes]})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    options = ("--columns", "code", "--target", "y", "--clusters", "2", "--out", tmp_path / "e.csv")
    assert run("encode", tmp_path / "rows.csv", *options, "--model", tmp_path / "m.json").code == 0
    some = rows[rows.code != "unknown"].drop(columns="y")
    some.to_csv(tmp_path / "some.csv", index=False)
    said = run("apply", tmp_path / "m.json", tmp_path / "some.csv", "--out", tmp_path / "z.csv")
    assert (said.code, "never met" in said.err) == (0, False)
    wanted = read_mechanism(tmp_path / "m.json").apply(some)
    assert pd.read_csv(tmp_path / "z.csv").code.tolist() == wanted.code.tolist()
    assert wanted.code.nunique() == 2
