"""``infoplane compare``: one table of several solvers, and what is refused before the work."""

import sys

import pytest

import infoplane as ip

COMPARE = ("compare", "paper_uniform", "--starts", "2", "--grid", "0.1:0.5:2")


def test_json(run):
    said = run(*COMPARE, "--solver", "ib-1,blahut-arimoto", "--solver", "merging", "--json")
    assert said.code == 0
    found = said.json
    assert found["solvers"] == ["ib-1", "blahut-arimoto", "merging"]
    rows = found["comparison"]
    assert [(row["parameter"], row["solver"]) for row in rows] == [
        (parameter, solver) for parameter in (0.1, 0.5) for solver in found["solvers"]
    ]
    for row in rows:
        lowest = min(other["loss_nats"] for other in rows if other["parameter"] == row["parameter"])
        assert row["above_lowest_nats"] == row["loss_nats"] - lowest
        assert row["winner"] is (row["loss_nats"] <= lowest + 1e-9)
        assert 0.0 <= row["share_converged"] <= 1.0
        assert row["runs"] == (1 if row["solver"] == "merging" else 2)
    direct = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.5], "ib-1", starts=2, rng=0)
    assert [row["loss_nats"] for row in rows if row["solver"] == "ib-1"] == direct.best()["loss_nats"].tolist()


def test_certify_adds_the_solver_that_proves_and_every_gap(run):
    said = run(*COMPARE, "--solver", "ib-1,merging", "--certify", "--json")
    assert said.code == 0, said.err
    rows = said.json["comparison"]
    assert said.json["solvers"] == ["ib-1", "merging", "envelope"]
    for parameter in (0.1, 0.5):
        own = {row["solver"]: row for row in rows if row["parameter"] == parameter}
        bounds = [row["loss_nats"] - row["gap_nats"] for row in own.values()]
        assert max(bounds) - min(bounds) < 1e-12
        assert own["ib-1"]["status"] == own["envelope"]["status"] == "CERTIFIED"
        assert own["merging"]["gap_nats"] > 1e-5
    table = run(*COMPARE, "--solver", "envelope", "--certify")
    assert "gap to" in table.out
    assert "gap to" not in run(*COMPARE, "--solver", "merging").out


def test_certify_takes_limits_and_is_4_if_they_are_met(run):
    said = run("compare", "heart", "--grid-values", "0.2", "--solver", "merging", "--certify", "--max-cells", "10")
    assert said.code == 4
    assert "more than max_cells = 10" in said.err
    assert "Not certified: the best run of 1 of 1 parameters" in said.err


def test_keeps_the_names_asked_for(run):
    rows = run(*COMPARE, "--solver", "drs,ib-1", "--json").json["comparison"]
    assert [row["solver"] for row in rows] == ["drs", "ib-1", "drs", "ib-1"]


def test_table_and_default_solvers(run, tmp_path):
    pytest.importorskip("matplotlib")
    said = run(*COMPARE, "--problem", "funnel", "--grid", "1.5:3:2", "--plot", tmp_path / "p.svg")
    able = [name for name, one in ip.SOLVERS.items() if name != "drs" and one.refusal(ip.funnel(2.0)) is None]
    assert f"funnel of paper_uniform: {len(able)} solvers" in said.out
    for name in ("pf-2 ", "pf-2v", "merging"):
        assert name in said.out
    assert "ib-1" not in said.out
    assert "*" in said.out
    assert (tmp_path / "p.svg").exists()


def test_passes_options_to_solvers_that_have_them(run):
    said = run(*COMPARE, "--solver", "ib-1,merging", "--relaxation", "1", "--json")
    assert said.code == 0
    said = run(*COMPARE, "--solver", "blahut-arimoto,merging", "--relaxation", "1")
    assert said.code == 2
    assert "none of blahut-arimoto, merging has an option --relaxation" in said.err


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--solver", "ib-1,newton"), "there is no solver 'newton'; the names are"),
        (("--solver", "ib-1,pf-2"), "pf-2"),
        (("--problem", "lagrangian"), "no parameter to sweep"),
        (("--plot", "p.txt"), "--plot must end in"),
    ],
)
def test_usage_errors(run, options, words):
    said = run("compare", "paper_uniform", *options)
    assert said.code == 2
    assert words in said.err


def test_not_converged_is_4(run):
    said = run(*COMPARE, "--solver", "ib-1,ib-2", "--max-iter", "2", "--json")
    assert said.code == 4
    assert {row["share_converged"] for row in said.json["comparison"]} == {0.0}


def test_interrupted_is_130(run, monkeypatch):
    def partial(joint, family, parameters, solver, **options):
        done = ip.sweep(joint, family, parameters[:1], solver, starts=1, rng=0)
        return ip.Frontier(joint, done.runs, complete=False)

    monkeypatch.setattr(sys.modules["infoplane.sweep.compare"], "sweep", partial)
    said = run(*COMPARE, "--solver", "ib-1,ib-2", "--json")
    assert said.code == 130
    assert [row["solver"] for row in said.json["comparison"]] == ["ib-1"]


def test_the_older_notation(run):
    shared = ("compare", "paper_uniform", "--starts", "1", "--solver", "accelerated", "--notation", "beta")
    said = run(*shared, "--grid-values", "5")
    assert said.code == 0, said.err
    assert any(line.split()[:2] == ["5", "accelerated"] for line in said.out.split("\n"))
    assert run(*shared, "--grid-values", "5", "--json").json["comparison"][0]["parameter"] == 0.2
