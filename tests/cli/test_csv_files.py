"""Labels that a spreadsheet would run: said, and escaped if that is asked for."""

import csv

import pandas as pd
import pytest

from infoplane.cli.csv_files import write_csv

LABELS = [
    "=1+1",
    "+cmd|'/C calc'!A0",
    "-2+3+cmd|x",
    "@SUM(A1)",
    "\t=1",
    "plain",
    "-5",
    "+3.5",
    "-5 to 3",
    "-1e-3",
    "-5 to under 3",
    "-5 and over",
]


def written(run, tmp_path, *more):
    table, out = tmp_path / "table.csv", tmp_path / "encoder.csv"
    with table.open("w", newline="") as file:
        csv.writer(file).writerows([("=name", "y"), *((label, "ab"[n % 2]) for n, label in enumerate(LABELS))])
    options = ("--x", "=name", "--y", "y", "--gamma", "0.4", "--starts", "1", "--solver", "blahut-arimoto")
    said = run("solve", table, *options, "--out", out, *more).err
    with out.open(newline="") as file:
        return said, [row[0] for row in csv.reader(file)]


def test_formulas_are_said_and_labels_kept(run, tmp_path):
    said, cells = written(run, tmp_path)
    assert "a spreadsheet would run 6 cells of" in said
    assert "--escape-formulas" in said
    assert cells == ["=name", *sorted(LABELS)]


def test_formulas_are_escaped_if_asked_for(run, tmp_path):
    said, cells = written(run, tmp_path, "--escape-formulas")
    assert "6 cells that a spreadsheet would run as a formula got an apostrophe" in said
    assert cells == ["'=name", *(f"'{one}" if one in LABELS[:5] else one for one in sorted(LABELS))]


def test_numbers_and_plain_labels_are_not_spoken_of(tmp_path, capsys):
    frame = pd.DataFrame({"x": ["a", "-5", None], "n": [-1.0, 2.0, 3.0]}, index=pd.Index([1, 2, 3], name="run"))
    write_csv(frame, tmp_path / "f.csv", index=True)
    assert capsys.readouterr().err == ""
    assert (tmp_path / "f.csv").read_text() == "run,x,n\n1,a,-1.0\n2,-5,2.0\n3,,3.0\n"


@pytest.mark.parametrize("more", [(), ("--escape-formulas",)])
def test_names_of_systems_too(run, tmp_path, more):
    table, out = tmp_path / "systems.csv", tmp_path / "out.csv"
    table.write_text("system,x,word\n=who,a,u\n=who,b,v\n=who,c,u\n")
    joint = tmp_path / "joint.csv"
    joint.write_text("x,low,high\na,3,1\nb,1,3\nc,2,2\n")
    run("efficiency", joint, table, "--out", out, "--max-solves", "1", *more)
    assert out.read_text().splitlines()[1].startswith("'=who" if more else "=who")
