"""Files as JOINT: Excel, JSON lines, Feather and tables of databases."""

import gzip
import json
import sqlite3
import sys
from contextlib import closing
from datetime import date, datetime

import pandas as pd
import pytest

import infoplane as ip
from infoplane.cli.options import Source

ROWS = {
    "drug": ["b", "a", "b", None],
    "dose": [2, 1, 2, 1],
    "when": [datetime(2023, 12, 31, 5), datetime(2024, 1, 1), datetime(2024, 1, 9), datetime(2024, 3, 5)],
    "n": [1.0, 2.0, 0.5, 3.0],
}


def excel(path, rows=ROWS):
    pytest.importorskip("openpyxl")
    pd.DataFrame(rows).to_excel(path / "table.xlsx", index=False)
    return path / "table.xlsx"


def json_lines(path, rows=ROWS):
    records = [dict(zip(rows, row, strict=True)) for row in zip(*rows.values(), strict=True)]
    lines = "".join(json.dumps({k: v for k, v in one.items() if v is not None}, default=str) + "\n" for one in records)
    (path / "table.jsonl").write_text(lines + "\n")
    return path / "table.jsonl"


def compressed_json_lines(path, rows=ROWS):
    (path / "table.ndjson.gz").write_bytes(gzip.compress(json_lines(path, rows).read_bytes()))
    return path / "table.ndjson.gz"


def feather(path, rows=ROWS):
    pd.DataFrame(rows).to_feather(path / "table.feather")
    return path / "table.feather"


def parquet(path, rows=ROWS):
    pd.DataFrame(rows).to_parquet(path / "table.parquet")
    return path / "table.parquet"


def database(path, rows=ROWS):
    with closing(sqlite3.connect(path / "all.db")) as connection:
        pd.DataFrame(rows).to_sql('the "table"', connection, index=False)
    return f'sqlite:///{path / "all.db"}?the "table"'


KINDS = {one.__name__: one for one in (excel, json_lines, compressed_json_lines, feather, parquet, database)}
every_kind = pytest.mark.parametrize("made", KINDS.values(), ids=KINDS)


def load(place, x, y, **more):
    return Source(str(place), (x,), (y,), **more).load()


@every_kind
def test_the_joint_is_that_of_the_frame(made, tmp_path, capsys):
    place, frame = made(tmp_path), pd.DataFrame(ROWS)
    for missing in ("drop", "category"):
        expected = ip.Joint.from_frame(frame, "drug", "dose", missing=missing)
        assert load(place, "drug", "dose", missing=missing) == expected
        assert load(place, "drug", "dose", missing=missing).records == expected.records
    assert "1 of 4 rows left out, since a value is missing" in capsys.readouterr().err
    weighted = load(place, "dose", "drug", count="n", missing="category")
    assert weighted == ip.Joint.from_frame(frame, "dose", "drug", weight="n", missing="category")
    with pytest.raises(ip.InvalidJointError, match=r"'drug'.*missing|empty cell in column 'drug'"):
        load(place, "drug", "dose")


@every_kind
@pytest.mark.parametrize("rule", ["month", 2])
def test_dates_are_binned(made, tmp_path, rule):
    expected = ip.Joint.from_frame(pd.DataFrame(ROWS), "when", "dose", bins={"when": rule})
    assert load(made(tmp_path), "when", "dose", bins={"when": rule}) == expected


@every_kind
def test_the_command_line(made, tmp_path, run):
    options = ("--y", "dose", "--gamma", "0.4", "--starts", "1", "--json")
    place = str(made(tmp_path))
    found = run("solve", place, "--x", "drug", "--missing", "drop", *options).json
    assert (found["x_labels"], found["y_labels"]) == (["a", "b"], [1, 2])
    said = run("solve", place, "--x", "drog", *options)
    assert (said.code, "there is no column 'drog'; expected one of 'drug'" in said.err) == (3, True)
    said = run("solve", place.replace("all.db", "none.db").replace("table.", "none."), "--x", "drug", *options)
    assert (said.code, "there is no file" in said.err) == (3, True)


WIDE = {"word": ["a", "b"], "u": [3, 1], "v": [1, 3]}


@every_kind
def test_wide_tables(made, tmp_path):
    place = made(tmp_path, WIDE)
    joint = Source(str(place)).load()
    assert joint == ip.Joint.from_counts([[3, 1], [1, 3]], 0.0, ["a", "b"], ["u", "v"], "word", "y")


@pytest.mark.parametrize("made", [excel, json_lines, database])
def test_one_and_true_are_not_merged(made, tmp_path):
    if made is database:
        with closing(sqlite3.connect(tmp_path / "all.db")) as connection:
            connection.execute("create table mixed (x, y)")
            connection.executemany("insert into mixed values (?, ?)", [(1, "a"), (1.0, "b"), (2, "b")])
            connection.commit()
        place = f"sqlite:///{tmp_path}/all.db?mixed"
    else:
        place = made(tmp_path, {"x": pd.Series([1, True, 2], dtype=object), "y": ["a", "b", "b"]})
    with pytest.raises(
        ip.InvalidJointError, match=r"column 'x' must not hold values that are equal but of different types"
    ):
        load(place, "x", "y")


BAD_LINES = {
    "no JSON": ('{"x": 1, "y": 2}\n{"x": ', "line 2 is no JSON"),
    "no object": ('{"x": 1, "y": 2}\n\n[1, 2]', r"line 3 must be an object, .*found \[1, 2\]"),
    "nested": ('{"x": [1], "y": 2}', r"line 1, column 'x': found \[1\] where one value is expected"),
    "NaN": ('{"x": NaN, "y": 2}', "line 1 has an empty cell in column 'x'"),
}


@pytest.mark.parametrize(("text", "words"), BAD_LINES.values(), ids=BAD_LINES)
def test_bad_json_lines(text, words, tmp_path):
    (tmp_path / "bad.jsonl").write_text(text)
    with pytest.raises(ip.InvalidJointError, match=words):
        load(tmp_path / "bad.jsonl", "x", "y")


@pytest.mark.parametrize("ending", [".xlsx", ".feather", ".parquet"])
def test_files_that_are_something_else(ending, tmp_path):
    (tmp_path / f"bad{ending}").write_text("x,y\n1,2\n")
    with pytest.raises(ip.InvalidJointError, match=f"bad{ending}"):
        load(tmp_path / f"bad{ending}", "x", "y")


def test_tables_of_a_database_are_named(tmp_path):
    place = database(tmp_path)
    with pytest.raises(ip.InvalidJointError, match="there is no table 'tabel'; expected one of 'the \"table\"'"):
        load(place.replace('the "table"', "tabel"), "drug", "dose")
    with pytest.raises(ip.InvalidJointError, match=r"sqlite:///file.db\?table"):
        load(f"sqlite:///{tmp_path}/all.db", "drug", "dose")
    with pytest.raises(ip.InvalidJointError, match="there is no file"):
        load(f"sqlite:///{tmp_path}/none.db?t", "drug", "dose")
    assert not (tmp_path / "none.db").exists()
    (tmp_path / "text.db").write_text("no database, but long enough to be looked at as one" * 20)
    with pytest.raises(ip.InvalidJointError, match="the database cannot be read"):
        load(f"sqlite:///{tmp_path}/text.db?t", "drug", "dose")


def test_the_first_of_several_sheets_is_read_and_said(tmp_path, capsys):
    pytest.importorskip("openpyxl")
    with pd.ExcelWriter(tmp_path / "two.xlsx") as book:
        pd.DataFrame({"x": ["a", "b"], "y": [date(2024, 1, 1), date(2024, 2, 1)]}).to_excel(
            book, sheet_name="one", index=False
        )
        pd.DataFrame({"z": [1]}).to_excel(book, sheet_name="two")
    assert load(tmp_path / "two.xlsx", "x", "y", bins={"y": "month"}).y_labels == ("2024-01", "2024-02")
    assert "the first sheet is read, 'one', of 2" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("made", "module", "extra"), [(excel, "openpyxl", "excel"), (feather, "pyarrow.dataset", "parquet")]
)
def test_a_reader_that_is_not_there_is_named(made, module, extra, tmp_path, monkeypatch):
    place = made(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(
        ip.MissingExtraError, match=rf"files need {module.split('.')[0]}: pip install \"infoplane\[{extra}\]\""
    ):
        load(place, "drug", "dose", missing="drop")
