"""JOINT in all its forms, and what is wrong with it when it is wrong."""

import gzip
import io

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.cli.options import Source

OPTIONS = ("--gamma", "0.4", "--starts", "1", "--json")
TABLE = "drug,dose,outcome,n\na,1,well,3\nb,2,ill,2\na,2,ill,1\nb,1,well,0.5\n"


@pytest.fixture
def write(tmp_path):
    def put(text, name="table.csv"):
        path = tmp_path / name
        path.write_text(text, encoding="utf-8")
        return path

    return put


def test_samples_and_counts(run, write):
    path = write(TABLE)
    samples = run("solve", path, "--x", "drug,dose", "--y", "outcome", *OPTIONS).json
    assert samples["x_labels"] == [["a", 1], ["a", 2], ["b", 1], ["b", 2]]
    assert samples["y_labels"] == ["ill", "well"]
    assert samples["x_names"] == ["drug", "dose"]
    counted = run("solve", path, "--x", "drug", "--y", "outcome", "--count", "n", "--smoothing", "0.1", *OPTIONS).json
    joint = ip.Joint.from_counts([[1.1, 3.1], [2.1, 0.6]])
    expected = ip.solve(joint, ip.bottleneck(0.4), starts=1, rng=0)
    assert counted["loss_nats"] == pytest.approx(expected.loss, abs=1e-12)


def test_words_for_missing_are_words(run, write):
    path = write("x,y\nNA,null\nnull,nan\nNone,null\nNA,nan\n")
    assert run("solve", path, "--x", "x", "--y", "y", *OPTIONS).json["x_labels"] == ["NA", "None", "null"]


def test_numbers_only_where_nothing_is_lost(run, write):
    path = write("x,y\n007,10\n7,9\n007,9\n")
    found = run("solve", path, "--x", "x", "--y", "y", *OPTIONS).json
    assert found["x_labels"] == ["007", "7"]
    assert found["y_labels"] == [9, 10]


def test_column_names_with_commas_are_quoted(run, write):
    path = write('"a,b",c\n1,2\n2,1\n')
    assert run("solve", path, "--x", '"a,b"', "--y", "c", *OPTIONS).json["x_names"] == ["a,b"]


def test_spaces_around_names_in_the_header_are_none_of_them(run, write):
    path = write("x, y ,n\n1, a,2\n2,b,1\n")
    assert run("solve", path, "--x", "x", "--y", "y", "--count", "n", *OPTIONS).json["y_labels"] == [" a", "b"]


def test_byte_order_mark_and_blank_lines(run, write):
    path = write("\ufeffx,y\n\na,b\nc,d\n\n")
    assert run("solve", path, "--x", "x", "--y", "y", *OPTIONS).json["x_labels"] == ["a", "c"]


def test_parquet(run, tmp_path):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": ["a", "b", "b"], "y": [1, 2, 1], "n": [1.0, 2.0, 3.0]}).to_parquet(path)
    found = run("solve", path, "--x", "x", "--y", "y", "--count", "n", *OPTIONS).json
    assert found["x_labels"] == ["a", "b"]
    assert found["y_labels"] == [1, 2]
    said = run("solve", path, "--x", "z", "--y", "y", *OPTIONS)
    assert (said.code, "there is no column 'z'" in said.err) == (3, True)


def test_matrices(run, write, tmp_path):
    P = ip.datasets.paper_uniform().p_xy
    expected = run("solve", "paper_uniform", *OPTIONS).json["loss_nats"]
    np.save(tmp_path / "P.npy", P)
    text = write("\n".join(",".join(repr(float(p)) for p in row) for row in P), "P.csv")
    for path in (tmp_path / "P.npy", text):
        assert run("solve", path, "--matrix", *OPTIONS).json["loss_nats"] == pytest.approx(expected, abs=1e-12)
    counts = write("3,1\n1,3\n", "N.csv")
    assert run("solve", counts, "--matrix", "--counts", "--smoothing", "1", *OPTIONS).code == 0


@pytest.mark.parametrize(
    ("text", "options", "words"),
    [
        (TABLE, ("--x", "drog", "--y", "outcome"), "no column 'drog'; expected one of 'drug', 'dose', 'outcome', 'n'"),
        (TABLE, ("--x", "drug", "--y", "drug"), "found 'drug' in"),
        (TABLE, ("--x", "drug", "--y", "outcome", "--count", "m"), "no column 'm'"),
        (
            '"age, years",y\n1,2\n',
            ("--x", "age, years", "--y", "y"),
            """no column 'age'; expected one of '"age, years"', 'y'""",
        ),
        (TABLE, ("--x", "n", "--y", "outcome", "--count", "drug"), "'a' where a number is expected"),
        (TABLE, ("--x", "drug", "--y", "outcome", "--smoothing", "-1"), "smoothing"),
        ("x,y,x\n1,2,3\n", ("--x", "x", "--y", "y"), "'x' is there 2 times"),
        ("x,y\n1,2\n1,2,3\n", ("--x", "x", "--y", "y"), "line 3 has 3 cells, the header has 2"),
        ("x,y\n1,2\n,2\n", ("--x", "x", "--y", "y"), "line 3 has an empty cell in column 'x'"),
        ("x,y,n\n1,2,-1\n", ("--x", "x", "--y", "y", "--count", "n"), "line 2 has the count -1"),
        ("x,y,n\n1,2,nan\n", ("--x", "x", "--y", "y", "--count", "n"), "line 2 has the count nan"),
        ("x,y,n\n1,2,0\n", ("--x", "x", "--y", "y", "--count", "n"), "only zeros"),
        ("x,y\n", ("--x", "x", "--y", "y"), "at least one row"),
        ("", ("--x", "x", "--y", "y"), "expected some, and there are none"),
        ('x,y\n"1,2\n', ("--x", "x", "--y", "y"), "cannot be read as csv"),
        ("0.5,0.2\n0.1,0.1\n", ("--matrix",), "found the sum 0.9. For counts"),
        ("0.5,0.2\n0.3\n", ("--matrix",), "line 2 has 1 numbers, the first has 2"),
        ("0.5,half\n", ("--matrix",), "'half' where a number is expected"),
        ("0.5,nan\n", ("--matrix",), "nan"),
        ("", ("--matrix",), "table.csv: "),
    ],
)
def test_bad_data_is_3_and_says_where(run, write, text, options, words):
    path = write(text)
    said = run("solve", path, *options, *OPTIONS)
    assert said.code == 3
    assert words in said.err
    assert said.out == ""
    assert "Traceback" not in said.err


def test_files_that_cannot_be_read_are_3(run, tmp_path):
    columns = ("--x", "x", "--y", "y")
    said = run("solve", tmp_path / "none.csv", *columns, *OPTIONS)
    assert (said.code, "there is no file" in said.err) == (3, True)
    (tmp_path / "dir.csv").mkdir()
    said = run("solve", tmp_path / "dir.csv", *columns, *OPTIONS)
    assert (said.code, "cannot be read" in said.err) == (3, True)
    (tmp_path / "text.npy").write_text("no array")
    said = run("solve", tmp_path / "text.npy", "--matrix", *OPTIONS)
    assert (said.code, "cannot be read as npy" in said.err) == (3, True)
    np.save(tmp_path / "objects.npy", np.array([{}], dtype=object), allow_pickle=True)
    said = run("solve", tmp_path / "objects.npy", "--matrix", *OPTIONS)
    assert (said.code, "cannot be read as npy" in said.err) == (3, True)
    pytest.importorskip("pyarrow")
    (tmp_path / "text.parquet").write_text("no table")
    said = run("solve", tmp_path / "text.parquet", *columns, *OPTIONS)
    assert (said.code, "cannot be read" in said.err) == (3, True)


def test_unknown_names_and_endings_are_3(run, tmp_path):
    said = run("solve", "hart", *OPTIONS)
    assert said.code == 3
    assert "paper_uniform, paper_nonuniform, heart" in said.err
    said = run("solve", tmp_path / "table.docx", "--x", "x", "--y", "y", *OPTIONS)
    assert (said.code, ".jsonl or .ndjson" in said.err) == (3, True)
    said = run("solve", tmp_path / "table.parquet", "--matrix", *OPTIONS)
    assert (said.code, ".txt or .npy" in said.err) == (3, True)


@pytest.mark.parametrize(
    "command",
    [
        ("solve", "notes.docx", "--x", "a", "--keep", "b", "--hide", "c", "--beta", "1"),
        ("solve", "paper_uniform", "--gamma", "0.4", "--prior", "notes.docx"),
        ("efficiency", "paper_uniform", "notes.docx"),
    ],
)
def test_a_file_of_any_other_kind_is_no_table(run, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notes.docx").write_text("no table")
    said = run(*command)
    assert (said.code, "notes.docx" in said.err, ".csv, .tsv, .txt, .parquet" in said.err) == (3, True, True)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("table.csv", "--x", "a", "--keep", "b", "--hide", "c", "--beta", "1", "--counts"), "--counts goes with"),
        (
            ("table.csv", "--x", "a", "--keep", "b", "--hide", "c", "--beta", "1", "--count", "b"),
            "--x, --keep or --hide",
        ),
        (("heart", "--x", "a"), "heart is built in and takes no --x"),
        (("heart", "--matrix"), "takes no --matrix"),
        (("table.csv", "--x", "a"), "name its columns with --x and --y"),
        (("table.csv", "--x", "a,,b", "--y", "c"), "expected column names separated by commas"),
        (("table.csv", "--x", "a", "--y", "c", "--counts"), "--counts goes with --matrix"),
        (("table.csv", "--x", "a", "--y", "c", "--count", "a"), "cannot be part of --x or --y"),
        (("table.csv", "--matrix", "--x", "a"), "no columns to name"),
        (("table.csv", "--matrix", "--smoothing", "1"), "say --counts"),
    ],
)
def test_options_that_do_not_fit_are_2(run, options, words):
    said = run("solve", *options, *OPTIONS)
    assert said.code == 2
    assert words in said.err


# -- tables as they are ------------------------------------------------------------------------------------------------


def load(path, x="", y="", **more):
    names = [tuple(part for part in side.split(",") if part) for side in (x, y)]
    return Source(str(path), *names, **more).load()


EXPECTED = ip.Joint.from_counts([[3, 1], [1, 3]], 0.0, ["a", "b"], ["u", "v"], "word", "y")


@pytest.mark.parametrize("sign", [",", ";", "\t"])
def test_wide_tables_are_found_out(write, sign):
    text = "word,u,v\na,3,1\nb,1,3\n".replace(",", sign)
    assert load(write(text)) == EXPECTED
    assert load(write(text), wide=True) == EXPECTED
    assert load(write(text, "table.tsv" if sign == "\t" else "table.txt")) == EXPECTED


def test_wide_tables_say_what_is_no_count(run, write):
    said = run("solve", write("word,u,v\na,3,1\nb,one,3\n"), "--wide", *OPTIONS)
    assert said.code == 3
    assert "line 3, column 'u': found 'one' where a number is expected" in said.err
    said = run("solve", write("word,u,v\na,3,1\nb,1,-3\n"), "--wide", *OPTIONS)
    assert "line 3 has the count -3 in column 'v'" in said.err
    said = run("solve", write("word,u,v\na,x,1\n"), *OPTIONS)
    assert (said.code, "name its columns with --x and --y" in said.err, "--wide" in said.err) == (2, True, True)


def test_a_table_of_samples_is_not_taken_for_a_wide_one(run, write):
    said = run("solve", write("x,y\n1,2\n2,1\n"), *OPTIONS)
    assert (said.code, "name its columns with --x and --y" in said.err) == (2, True)
    said = run("solve", write("x,y,z\n1,2,0\n1,1,0\n"), *OPTIONS)
    assert (said.code, "must be distinct" in said.err) == (2, True)


def test_compressed_tables(tmp_path):
    path = tmp_path / "table.csv.gz"
    path.write_bytes(gzip.compress(b"x,y\na,1\nb,2\n"))
    joint = load(path, "x", "y")
    assert joint.x_labels == ("a", "b")


def test_standard_input(monkeypatch):
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"x;y\na;1\nb;2\n")))
    assert load("-", "x", "y").y_labels == (1, 2)


def test_latin_1_is_read_and_said(tmp_path, capsys):
    path = tmp_path / "latin.csv"
    path.write_bytes("x,y\nJos\xe9,1\nb,2\n".encode("latin-1"))
    assert load(path, "x", "y").x_labels == ("Jos\xe9", "b")
    assert "is not UTF-8: read as Latin-1" in capsys.readouterr().err
    path.write_text("x,y\nJos\xe9,1\nb,2\n", encoding="utf-16")
    assert load(path, "x", "y").x_labels == ("Jos\xe9", "b")
    assert "Latin" not in capsys.readouterr().err


def test_several_column_names_one_with_a_comma(run, write):
    path = write('"a,b",c,d\n1,2,3\n2,1,4\n')
    assert run("solve", path, "--x", '"a,b",c', "--y", "d", *OPTIONS).json["x_names"] == ["a,b", "c"]


def test_missing_values(write, capsys):
    path = write("x,y\na,1\n,2\nb,2\n")
    assert load(path, "x", "y", missing="drop").records == 2
    assert "1 of 3 rows left out" in capsys.readouterr().err
    assert load(path, "x", "y", missing="category").x_labels == ("a", "b", "missing")
    with pytest.raises(ip.InvalidJointError, match="line 3 has an empty cell in column 'x'"):
        load(path, "x", "y")


def test_a_label_called_missing_and_an_empty_cell_are_not_one(write):
    with pytest.raises(ip.InvalidJointError, match="column 'x' has values called 'missing', and 1 that are missing"):
        load(write("x,y\nmissing,1\n,2\nb,2\n"), "x", "y", missing="category")


def test_missing_values_of_parquet(tmp_path, capsys):
    pytest.importorskip("pyarrow")
    path = tmp_path / "table.parquet"
    pd.DataFrame({"x": ["a", None, "b"], "y": [1, 2, 2]}).to_parquet(path)
    assert load(path, "x", "y", missing="drop").records == 2
    assert "1 of 3 rows left out" in capsys.readouterr().err
    assert "missing" in load(path, "x", "y", missing="category").x_labels


def test_numbers_are_binned(run, write):
    path = write("age,y\n" + "".join(f"{age},{age % 2}\n" for age in (20, 25, 34, 35, 40, 61)))
    assert load(path, "age", "y", bins={"age": 2}).x_labels == ("under 35", "35 and over")
    found = run("solve", path, "--x", "age", "--y", "y", "--bin", "age:2", "--bin", "y:2", *OPTIONS).json
    assert found["x_labels"] == ["under 35", "35 and over"]
    assert found["y_labels"] == ["under 1", "1 and over"]
    said = run("solve", write("age,y\n20,1\nold,2\n"), "--x", "age", "--y", "y", "--bin", "age:2", *OPTIONS)
    assert (said.code, "line 3, column 'age': found 'old'" in said.err) == (3, True)
    for wrong in ("age", "age:0", ":3", "age:x"):
        assert run("solve", path, "--x", "age", "--y", "y", "--bin", wrong, *OPTIONS).code == 2
    assert run("solve", path, "--x", "age", "--y", "y", "--bin", "sex:2", *OPTIONS).code == 2


def test_bins_and_missing_together(write):
    path = write("age,y\n20,1\n,2\n40,2\n")
    assert load(path, "age", "y", bins={"age": 2}, missing="category").x_labels == (
        "under 40",
        "40 and over",
        "missing",
    )


def test_dates_are_binned(run, write):
    path = write("when,y\n2023-12-31,a\n2024-01-01T08:30,b\n2024-03-05,a\n2024-03-06,b\n")
    options = ("--x", "when", "--y", "y", *OPTIONS)
    assert run("solve", path, "--bin", "when:month", *options).json["x_labels"] == ["2023-12", "2024-01", "2024-03"]
    assert run("solve", path, "--bin", "when:year", *options).json["x_labels"] == ["2023", "2024"]
    found = run("solve", path, "--bin", "when:weekday", *options).json["x_labels"]
    assert found == ["Monday", "Tuesday", "Wednesday", "Sunday"]
    found = run("solve", path, "--bin", "when:2", *options).json["x_labels"]
    assert found == ["before 2024-03-05", "2024-03-05 and later"]
    said = run("solve", write("when,y\n2024-01-01,a\nspring,b\n"), "--bin", "when:month", *options)
    assert (said.code, "line 3, column 'when': found 'spring' where a date" in said.err) == (3, True)
    assert run("solve", path, "--bin", "when:day", *options).code == 2


def test_missing_dates_are_a_bin(write):
    path = write("when,y\n2023-12-31,a\n,b\n2024-03-05,a\n")
    found = load(path, "when", "y", bins={"when": "year"}, missing="category")
    assert found.x_labels == ("2023", "2024", "missing")


def test_decimal_commas_between_semicolons(write, capsys):
    text = "v;y;n\n1,5;a;0,5\n2,5;b;1,5\n-1e3;a;2\n"
    joint = load(write(text), "v", "y", count="n", bins={"v": 3})
    assert joint.x_labels == ("under 1.5", "1.5 to under 2", "2 and over")
    assert joint.p_x.tolist() == [0.5, 0.125, 0.375]
    assert "is read as 1.5, since semicolons separate the cells" in capsys.readouterr().err
    assert load(write(text), "v", "y").x_labels == ("-1e3", "1,5", "2,5")
    matrix = load(write("0,5;0,25\n0;0,25\n"), matrix=True)
    assert matrix.p_xy.tolist() == [[0.5, 0.25], [0.0, 0.25]]
    wide = load(write("word;u;v\na;1,5;0\nb;0;0,5\n"))
    assert wide.p_xy.tolist() == [[0.75, 0.0], [0.0, 0.25]]
    for wrong in ("1.234,5", "1,2,3", ",5"):
        with pytest.raises(ip.InvalidJointError, match=f"found '{wrong}' where a number is expected"):
            load(write(f"v;y\n1,5;a\n{wrong};b\n"), "v", "y", bins={"v": 2})
    with pytest.raises(ip.InvalidJointError, match="expected: write '1234,5', without what parts the thousands"):
        load(write("v;y\n1,5;a\n1.234,5;b\n"), "v", "y", bins={"v": 2})
    with pytest.raises(ip.InvalidJointError, match="found '1,5' where a number is expected"):
        load(write('v,y\n"1,5",a\n'), "v", "y", bins={"v": 2})


def test_a_prior_has_its_labels_as_they_are_written(tmp_path):
    """In the file's own order; of numbers that a typed file holds, too."""
    pytest.importorskip("pyarrow")
    pd.DataFrame({"x": [0.5, 1.5, 2.5], "flag": [True, False, True], "y": [1, 2, 2]}).to_parquet(tmp_path / "t.parquet")
    (tmp_path / "p.csv").write_text("x,flag,p\n2.5,True,0.2\n0.5,True,0.5\n1.5,False,0.3\n")
    joint = load(tmp_path / "t.parquet", "x,flag", "y", prior=str(tmp_path / "p.csv"))
    assert joint.x_labels == ((0.5, True), (1.5, False), (2.5, True))
    assert joint.p_x == pytest.approx([0.5, 0.3, 0.2])


# -- samples are not distributions -------------------------------------------------------------------------------------


def test_what_the_sample_size_explains_is_a_warning_and_in_the_json(run, write):
    rows = "".join(f"{number},{number * 7919 % 13 % 2}\n" for number in range(60))
    said = run("solve", write("name,y\n" + rows), "--x", "name", "--y", "y", *OPTIONS)
    warnings = [line for line in said.err.splitlines() if line.startswith("Warning: I(X;Y) is ")]
    assert len(warnings) == 1
    assert warnings[0].endswith("independent (60 records): group letters or bin numbers, e.g. --bin name:5.")
    assert said.json["records"] == 60
    assert said.json["expected_ixy_bits"] == pytest.approx(said.json["ixy_bits"])
    assert "if they were independent" in said.json["caution"]


def test_nobody_is_told_to_bin_a_column_of_words(run, write):
    rows = "".join(f"n{number},{number * 7919 % 13 % 2}\n" for number in range(60))
    said = run("solve", write("name,y\n" + rows), "--x", "name", "--y", "y", *OPTIONS)
    assert "independent (60 records): group letters or bin numbers.\n" in said.err


def test_a_good_sample_has_no_warning(run, write):
    path = write("x,y,n\na,0,300\na,1,100\nb,0,100\nb,1,300\n")
    said = run("solve", path, "--x", "x", "--y", "y", "--count", "n", *OPTIONS)
    assert "independent" not in said.err
    assert (said.json["records"], said.json["caution"]) == (800, None)


def test_denoise(run, tmp_path):
    """--denoise solves what the records support, says so on stderr and in the object, and needs whole-number counts."""
    counts = np.array([[30, 3], [3, 30], [1, 2]])
    path = tmp_path / "counts.csv"
    pd.DataFrame([(x, y, counts[x, y]) for x in range(3) for y in range(2)], columns=["x", "y", "n"]).to_csv(path)
    asked = ("solve", path, "--x", "x", "--y", "y", "--count", "n", "--denoise", *OPTIONS)
    found = run(*asked)
    made = ip.Joint.from_counts(counts).denoised()
    assert found.json["ixy_bits"] == pytest.approx(made.mutual_information / np.log(2), rel=1e-12)
    assert found.json["denoised"]["how"] == "shrinkage"
    assert found.json["denoised"]["gain_nats"] == pytest.approx(made.denoising.gain, rel=1e-12)
    assert "denoised: 3 letters, each shrunk towards p(y)" in found.err
    path.write_text(path.read_text().replace(",30", ",30.5"))
    refused = run(*asked)
    assert refused.code == 3
    assert "denoising needs counts of records" in refused.err
