"""``infoplane efficiency``: tables of namings in, one row per system out."""

import pandas as pd
import pytest

import infoplane as ip
from infoplane.information import bits, plane_point
from infoplane.systems.given import read_systems

ROWS = {
    "system": ["en", "en", "en", "en", "fr", "fr", "fr"],
    "x": [0, 0, 1, 2, 0, 1, 2],
    "word": ["dark", "light", "dark", "light", "noir", "noir", "blanc"],
    "count": [1, 3, 4, 2, 1, 1, 1],
}


@pytest.fixture
def namings(tmp_path):
    path = tmp_path / "naming.csv"
    pd.DataFrame(ROWS).to_csv(path, index=False)
    return path


def expected():
    systems = ip.systems_from_frame(pd.DataFrame(ROWS), "x", "word", "system", "count")
    return ip.efficiency(ip.datasets.paper_uniform(), systems)


def test_json_has_what_the_library_says(run, namings):
    said = run("efficiency", "paper_uniform", namings, "--json")
    assert said.code == 0, said.err
    frame = expected()
    rows = said.json["systems"]
    assert [row["system"] for row in rows] == ["en", "fr"]
    for name in ("ixz_bits", "iyz_bits", "gamma", "beta", "epsilon_bits", "epsilon_proven_low_bits", "gnid"):
        assert [row[name] for row in rows] == frame[name].tolist()
    assert rows[0]["epsilon_proven_high_bits"] is None


def test_trials_drawn_anew(run, namings, tmp_path):
    systems = ip.systems_from_frame(pd.DataFrame(ROWS), "x", "word", "system", "count", counts=True)
    frame = ip.efficiency(ip.datasets.paper_uniform(), systems, counts=True, bootstrap=19, rng=4)
    asked = ("efficiency", "paper_uniform", namings, "--bootstrap", "19", "--seed", "4")
    rows = run(*asked, "--json").json["systems"]
    for name in ("trials", "beta_ci_low", "epsilon_ci_high_bits", "on_bound_p"):
        assert [row[name] for row in rows] == frame[name].tolist()
    out = run(*asked).out
    assert f"{frame['epsilon_ci_low_bits'][0]:.4f} to {frame['epsilon_ci_high_bits'][0]:.4f}" in out
    assert f"{frame['on_bound_p'][0]:.3f}" in out
    shares = tmp_path / "encoder.csv"
    pd.DataFrame({"x": [0, 1, 2], "z0": [1.0, 0.5, 0.0], "z1": [0.0, 0.5, 1.0]}).to_csv(shares, index=False)
    said = run("efficiency", "paper_uniform", shares, "--bootstrap", "19")
    assert said.code == 2
    assert "counts of namings" in said.err


def test_table_in_both_notations(run, namings):
    frame = expected()
    gamma, beta = (run("efficiency", "paper_uniform", namings, "--notation", name).out for name in ("gamma", "beta"))
    assert f"{frame['gamma'][0]:.4g}" in gamma
    assert "beta" not in gamma
    assert f"{frame['beta'][0]:.4g}" in beta
    assert "gamma" not in beta
    assert "proven to" not in gamma


def test_a_proof_its_files_and_its_exit_code(run, namings, tmp_path):
    out, plot, report = (tmp_path / name for name in ("e.csv", "e.png", "e.html"))
    said = run(
        "efficiency", "paper_uniform", namings, "--certify", "--out", out, "--plot", plot, "--report", report, "--notation", "beta"
    )  # fmt: skip
    assert said.code == 0, said.err
    assert "proven to" in said.out
    frame = pd.read_csv(out)
    assert (frame["epsilon_proven_low_bits"] <= frame["epsilon_proven_high_bits"]).all()
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert "epsilon" in report.read_text()
    short = run("efficiency", "heart", _hard(tmp_path), "--certify", "--max-cells", "1", "--word", "group")
    assert short.code == 4
    assert "Not certified: epsilon of 1 of 1 systems" in short.err


def _hard(tmp_path):
    path = tmp_path / "groups.csv"
    labels = ip.datasets.heart().x_labels
    pd.DataFrame({"risk_factors": labels, "group": [at % 3 for at in range(16)]}).to_csv(path, index=False)
    return path


@pytest.mark.parametrize(
    ("change", "code", "message"),
    [
        (
            {"x": [0, 0, 1, 5, 0, 1, 2]},
            3,
            "system 'en': the labels of x must be those of the joint; the joint has no x 5",
        ),
        ({"count": [1, 3, 0, 2, 1, 1, 1]}, 3, "system 'en': the item x = 1 has no naming"),
        ({"word": ["dark", "", "dark", "light", "noir", "noir", "blanc"]}, 3, "empty cell in column 'word'"),
        ({"word": None}, 2, "name the column of words with --word"),
        ({"x": None, "what": [0, 0, 1, 2, 0, 1, 2]}, 2, "name the column of items with --item"),
    ],
)
def test_bad_tables_are_named(run, tmp_path, change, code, message):
    path = tmp_path / "bad.csv"
    pd.DataFrame({key: value for key, value in {**ROWS, **change}.items() if value is not None}).to_csv(
        path, index=False
    )
    said = run("efficiency", "paper_uniform", path)
    assert said.code == code
    assert message in " ".join(said.err.split())


def test_what_is_refused_before_the_work(run, namings, tmp_path):
    assert run("efficiency", "paper_uniform", tmp_path / "none.csv").code == 2
    assert run("efficiency", "paper_uniform", namings, "--plot", "x.doc").code == 2
    assert run("efficiency", "paper_uniform", namings, "--problem", "deterministic-bottleneck").code == 2


CHIPS = ("A0", "B0", "B1", "B10", "B2")


@pytest.fixture
def named(tmp_path):
    """Five items whose order as text is not that of the joint, and one system that tells some of them apart."""
    joint, systems = tmp_path / "joint.csv", tmp_path / "systems.csv"
    rows = ["B1,9,1", "B10,1,1", "A0,1,9", "B2,2,8", "B0,8,2"]
    joint.write_text("\n".join(["chip,low,high", *rows]) + "\n")
    words = dict(zip(CHIPS, "uvvvw", strict=True))
    systems.write_text("system,chip,word\n" + "".join(f"s,{chip},{word}\n" for chip, word in words.items()))
    return joint, systems, words


@pytest.mark.parametrize("prior", ["capacity", "uniform", "FILE", None])
def test_the_prior_is_chosen_by_label_and_said(run, named, tmp_path, prior):
    path, systems, words = named
    chips = ("B1", "B10", "A0", "B2", "B0")
    joint = ip.Joint.from_counts([[9, 1], [1, 1], [1, 9], [2, 8], [8, 2]], x_labels=chips)
    masses = dict(zip(CHIPS, (0.1, 0.15, 0.2, 0.25, 0.3), strict=True))
    (tmp_path / "prior.csv").write_text("chip,p\n" + "".join(f"{chip},{p}\n" for chip, p in masses.items()))
    expected, said = {
        "capacity": (joint.with_prior({"A0": 1 / 3, "B0": 1 / 9, "B1": 1 / 9, "B10": 1 / 9, "B2": 1 / 3}), "capacity"),
        "uniform": (joint.with_prior("uniform"), "uniform"),
        "FILE": (joint.with_prior([masses[chip] for chip in chips]), "from prior.csv"),
        None: (joint, "that of JOINT"),
    }[prior]
    options = () if prior is None else ("--prior", tmp_path / "prior.csv" if prior == "FILE" else prior)
    found = run("efficiency", path, systems, "--max-solves", "0", "--json", *options).json
    point = plane_point(expected, read_systems(expected, [words[chip] for chip in chips])[0].encoder)
    assert said in found["prior"]
    assert found["systems"][0]["ixz_bits"] == pytest.approx(bits(point.ixz), abs=1e-6)
    assert found["systems"][0]["iyz_bits"] == pytest.approx(bits(point.iyz), abs=1e-6)
    shown = run("efficiency", path, systems, "--max-solves", "0", *options).out
    assert said in " ".join(shown.split())


def test_a_prior_that_does_not_fit_is_refused(run, named, tmp_path):
    path, systems, _ = named
    prior = tmp_path / "prior.csv"
    for text, message in (
        ("chip,p\nA0,1\n", "nothing is said of x ="),
        ("chip,p\nA0,1\nA0,0\n", "each x once"),
        ("p\n1\n", "1 column of labels, then one of probabilities"),
        ("chip,p\nA0,1_0\n", "where a number is expected"),
    ):
        prior.write_text(text)
        refused = run("efficiency", path, systems, "--prior", prior)
        assert refused.code == 3
        assert message in refused.err
    refused = run("solve", path, "--gamma", "0.2", "--prior", "capacity")
    assert refused.code == 2
    assert "goes with infoplane efficiency" in refused.err


@pytest.mark.parametrize("kind", ["csv", "parquet", "npz"])
def test_what_solve_wrote_is_a_system(run, tmp_path, kind):
    out = tmp_path / f"mine.{kind}"
    solved = run("solve", "heart", "--gamma", "0.2", "--out", out, "--json")
    assert solved.code == 0, solved.err
    said = run("efficiency", "heart", out, "--json")
    assert said.code == 0, said.err
    (row,) = said.json["systems"]
    assert row["system"] == "mine"
    for name in ("ixz_bits", "iyz_bits"):
        assert row[name] == pytest.approx(solved.json[name], abs=1e-12)
    assert row["epsilon_bits"] == pytest.approx(0.0, abs=1e-6)


def test_an_encoder_of_several_columns_and_written_labels_is_a_system(run, tmp_path):
    table = tmp_path / "t.csv"
    rows = [(day, flag, (day + flag) % 2) for day in (1, 2, 3) for flag in (0, 1) for _ in range(4)] + [
        (1, 0, 0),
        (3, 1, 1),
    ]
    text = "day,flag,y\n" + "\n".join(f"2024-01-0{day},{bool(flag)},{y}" for day, flag, y in rows)
    table.write_text(text + "\n")
    columns = ("--x", "day,flag", "--y", "y")
    out = tmp_path / "e.csv"
    assert run("solve", table, *columns, "--gamma", "0.2", "--out", out).code == 0
    said = run("efficiency", table, *columns, out, "--json")
    assert said.code == 0, said.err
    assert said.json["systems"][0]["epsilon_bits"] == pytest.approx(0.0, abs=1e-6)
    out.write_text(out.read_text().replace("2024-01-03", "2024-01-04"))
    wrong = run("efficiency", table, *columns, out)
    assert wrong.code == 3
    assert "2024-01-0" in wrong.err


def test_the_clusters_of_labels_are_a_system(run, tmp_path):
    labels = tmp_path / "clusters.csv"
    solved = run("solve", "heart", "--gamma", "0.2", "--labels", labels, "--json")
    assert solved.code == 0, solved.err
    assert f"wrote {labels}" in solved.err
    frame = pd.read_csv(labels, keep_default_na=False)
    assert frame.columns.tolist() == ["risk_factors", "cluster"]
    assert frame["risk_factors"].tolist() == list(ip.datasets.heart().x_labels)
    encoder = pd.DataFrame(solved.json["encoder"])
    assert frame["cluster"].tolist() == encoder.to_numpy().argmax(axis=0).tolist()
    page = tmp_path / "r.html"
    said = run("efficiency", "heart", labels, "--report", page, "--json")
    assert said.json["systems"][0]["system"] == "clusters"
    assert "Bottleneck of heart with 1 given system<" in page.read_text()
    refused = run("solve", "heart", "--gamma", "0.2", "--labels", tmp_path / "clusters.npz")
    assert refused.code == 2
    assert "--labels must end in .csv, .parquet" in refused.err
