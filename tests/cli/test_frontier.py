"""``infoplane frontier`` and ``infoplane compare``: tables, files, pictures, and what is refused before the work."""

import sys
from functools import partial

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
import verify
from infoplane.errors import StoreWriteError
from infoplane.problem import FAMILIES
from infoplane.runtime.compiling import COMPILING
from infoplane.sweep.engine import EngineError
from infoplane.sweep.grid import default_grid
from sweeping import Warm

FRONTIER = ("frontier", "paper_uniform", "--solver", "drs", "--starts", "2", "--grid", "0.1:0.5:3")


def test_json_has_every_run_and_agrees_with_sweep(run):
    said = run(*FRONTIER, "--json")
    assert said.code == 0
    found = said.json
    expected = ip.sweep(
        ip.datasets.paper_uniform(), ip.bottleneck, np.geomspace(0.1, 0.5, 3), "drs", starts=2, rng=0, init="mixed"
    )
    assert len(found["runs"]) == 6
    assert found["best"] == expected.best_rows()
    assert found["pareto"] == expected.pareto_rows()
    assert [one["loss_nats"] for one in found["runs"]] == [one.loss for one in expected.runs]
    assert found["runs"][0]["gap_nats"] is None
    assert found["complete"] is found["converged"] is True
    assert said.err in ("", f"{COMPILING}\n")


def test_a_cap_on_clusters_that_binds_is_said(run):
    held = "At 1 of 2 parameters the answer has 2 clusters, the cap: more may have a lower loss."
    command = ("frontier", "heart", "--grid-values", "0.05,0.9", "--starts", "2")
    assert held in run(*command, "--clusters", "2").out
    assert "the cap" not in run(*command).out


def test_table_and_grid_values(run):
    said = run("frontier", "paper_uniform", "--problem", "funnel", "--grid-values", "1.5,4", "--solver", "pf-2")
    assert "funnel frontier of paper_uniform: 16 starts of pf-2" in said.out
    assert "[nats]" in said.out
    assert "[bits]" in said.out
    assert len([line for line in said.out.splitlines() if line.strip().startswith(("1.5 ", "4 "))]) == 2


@pytest.mark.parametrize("problem", ["bottleneck", "funnel", "deterministic-bottleneck", "generalised-bottleneck"])
def test_default_grids(run, problem):
    more = ("--a", "0.5") if problem == "generalised-bottleneck" else ()
    found = run("frontier", "paper_uniform", "--problem", problem, "--solver", "merging", *more, "--json").json
    parameters = [one["parameter"] for one in found["runs"]]
    family = partial(FAMILIES[problem.replace("-", "_")], **({"a": 0.5} if more else {}))
    points = FAMILIES[problem.replace("-", "_")].points
    assert set(default_grid(ip.datasets.paper_uniform(), family, points)) <= set(parameters)
    assert len(set(parameters)) <= points


def test_npz_loads_again_and_numbers_are_true(run, tmp_path):
    path = tmp_path / "f.npz"
    said = run(*FRONTIER, "--out", path, "--json")
    assert said.code == 0
    assert f"wrote {path}" in said.err
    loaded = ip.Frontier.load(path)
    assert [run.loss for run in loaded.runs] == [one["loss_nats"] for one in said.json["runs"]]
    for row in range(len(loaded)):
        verify.check_solution(loaded.joint.p_xy, loaded.runs[row].problem.rho, loaded.solution(row))


@pytest.mark.parametrize(("ending", "read"), [("csv", pd.read_csv), ("parquet", pd.read_parquet)])
def test_frames_are_written(run, tmp_path, ending, read):
    if ending == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"f.{ending}"
    path.write_text("old")
    found = run(*FRONTIER, "--out", path, "--json").json
    frame = read(path)
    assert len(frame) == 6
    np.testing.assert_array_equal(frame["loss_nats"], [one["loss_nats"] for one in found["runs"]])
    assert list(tmp_path.iterdir()) == [path]


def test_plot_is_written(run, tmp_path):
    pytest.importorskip("matplotlib")
    path = tmp_path / "plane.png"
    assert run(*FRONTIER, "--plot", path).code == 0
    assert path.read_bytes().startswith(b"\x89PNG")


def test_not_converged_is_4(run):
    said = run(*FRONTIER, "--solver", "ib-2", "--max-iter", "2", "--json")
    assert said.code == 4
    assert said.json["converged"] is False
    assert said.err.startswith("Not converged: the best run of 3 of 3 parameters")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--grid", "1:0.1:4"), "expected 0 < LOW <= HIGH, found LOW = 1 and HIGH = 0.1"),
        (("--grid", "0:1:4"), "expected 0 < LOW <= HIGH"),
        (("--grid", "0.1:1"), "expected LOW:HIGH:COUNT"),
        (("--grid", "0.1:1:0"), "COUNT must be a positive whole number"),
        (("--grid", "0.1:1:2.5"), "COUNT must be a positive whole number"),
        (("--grid", "a:1:2"), "expected a finite number, found 'a'"),
        (("--grid", "0.1:2:3"), "gamma must be in (0, 1]"),
        (("--grid-values", "0.1,,0.2"), "expected a finite number, found ''"),
        (("--grid", "0.1:1:2", "--grid-values", "0.1"), "leave one out"),
        (("--problem", "lagrangian"), "no parameter to sweep"),
        (("--problem", "generalised-bottleneck"), "needs --a"),
        (("--a", "0.5"), "takes no --a"),
        (("--solver", "pf-2"), "pf-2"),
        (("--solver", "merging", "--relaxation", "1"), "merging has no option --relaxation"),
        (("--gamma", "0.2"), "No such option '--gamma'. Parameters are swept here: give --grid"),
        (("--out", "f.xlsx"), "--out must end in .csv, .parquet, .npz; found 'f.xlsx'"),
        (("--plot", "plane.doc"), "--plot must end in .png, .svg, .pdf; found 'plane.doc'"),
        (("--out", "no/such/directory/f.csv"), "nothing can be written to no/such/directory"),
        (("--plot", "no/such/directory/f.png"), "nothing can be written to no/such/directory"),
    ],
)
def test_usage_errors_are_2_before_any_work(run, monkeypatch, options, words):
    def never(*_args, **_options):
        raise AssertionError("the sweep began")

    monkeypatch.setattr("infoplane.cli.frontier.sweep", never)
    said = run("frontier", "paper_uniform", *options)
    assert said.code == 2
    assert words in said.err
    assert said.out == ""


def test_interrupted_sweep_is_130_and_shows_what_there_is(run, monkeypatch, tmp_path):
    def partial(joint, family, parameters, solver, **options):
        done = ip.sweep(joint, family, parameters[:1], solver, starts=1, rng=0)
        return ip.Frontier(joint, done.runs, complete=False)

    monkeypatch.setattr("infoplane.cli.frontier.sweep", partial)
    said = run(*FRONTIER, "--json", "--out", tmp_path / "f.csv")
    assert said.code == 130
    assert said.json["complete"] is False
    assert "1 of 3 parameters were finished" in said.err
    assert (tmp_path / "f.csv").exists()

    monkeypatch.setattr("infoplane.cli.frontier.sweep", lambda joint, *_, **__: ip.Frontier(joint, [], complete=False))
    said = run(*FRONTIER)
    assert (said.code, said.out) == (130, "")


# -- stores, engines, points, proofs ---------------------------------------------------------------------------------


def test_the_same_command_continues_and_another_is_refused(run, tmp_path):
    store = tmp_path / "runs.db"
    first = run(*FRONTIER, "--store", store, "--json")
    assert first.code == 0
    again = run(*FRONTIER, "--store", store, "--json")
    assert again.out == first.out  # seconds too: nothing was run again
    plain = run(*FRONTIER, "--json").json
    assert [one["loss_nats"] for one in again.json["runs"]] == [one["loss_nats"] for one in plain["runs"]]
    said = run(*FRONTIER, "--store", store, "--seed", "3")
    assert (said.code, said.out) == (2, "")
    assert "belongs to another sweep: seed is 0 there, 3 here" in said.err
    table = run(*FRONTIER, "--store", store)
    assert "bottleneck frontier of paper_uniform: 2 starts of" in table.out


def test_interrupted_with_a_store_says_how_to_resume(run, monkeypatch, tmp_path):
    monkeypatch.setattr("infoplane.cli.frontier.sweep", lambda joint, *_, **__: ip.Frontier(joint, [], complete=False))
    said = run(*FRONTIER, "--store", tmp_path / "runs.db")
    assert said.code == 130
    assert f"All finished runs are in {tmp_path / 'runs.db'}: repeat the same command to continue." in said.err
    assert "Nothing is kept without --store." in run(*FRONTIER).err


@pytest.mark.parametrize(
    ("error", "code", "without"),
    [
        (StoreWriteError("full.", resumable=True), 5, 5),
        (EngineError("lost.", resumable=True), 130, 2),
    ],
)
def test_a_full_disk_is_5_and_lost_workers_are_130(run, monkeypatch, tmp_path, error, code, without):
    def fail(*_arguments, **_options):
        raise error

    monkeypatch.setattr("infoplane.cli.frontier.sweep", fail)
    said = run(*FRONTIER, "--store", tmp_path / "runs.db")
    assert said.code == code
    assert said.err == f"Error: {error} All runs finished before are in {tmp_path / 'runs.db'}.\n"
    assert run(*FRONTIER).code == without


def test_points(run, tmp_path):
    found = run("frontier", "paper_uniform", "--points", "13", "--json").json
    assert len(found["best"]) == 13
    parameters = [found["runs"][row]["parameter"] for row in found["best"]]
    grid = default_grid(ip.datasets.paper_uniform(), ip.bottleneck, 13)
    assert (min(parameters), max(parameters)) == (grid.min(), grid.max())
    said = run(*FRONTIER, "--points", "2")
    assert (said.code, "at least the grid's 3; found 2" in said.err) == (2, True)
    assert len(run("frontier", "paper_uniform", "--points", "2", "--json").json["best"]) == 2


def test_engines(run):
    assert run(*FRONTIER, "--engine", "threads", "--json").code == 0
    said = run(*FRONTIER, "--engine", "slurm")
    assert (said.code, "engine must be 'threads', 'dask' or 'dask:ADDRESS'" in said.err) == (2, True)


@pytest.mark.parametrize(("claims", "code"), [(1e-8, 0), (1e-2, 4)])
def test_certify(run, monkeypatch, claims, code):
    monkeypatch.setattr(sys.modules["infoplane.solve"], "certifier", lambda _problem: Warm(claims=claims))
    monkeypatch.setattr("infoplane.cli.options.prepare", lambda *_: None)
    said = run("frontier", "paper_uniform", "--grid", "0.1:0.5:3", "--certify", "--json")
    assert said.code == code
    assert {one["solver"] for one in said.json["runs"]} == {"warm"}
    assert {one["status"] for one in said.json["runs"]} == {"CERTIFIED" if code == 0 else "STATIONARY"}
    if code == 4:
        assert (
            "Not certified: the best run of 3 of 3 parameters. The widest, 0.1, has a gap of 1.0e-02 nats" in said.err
        )
    both = run("frontier", "paper_uniform", "--grid", "0.1:0.5:3", "--certify", "1e-3", "--solver", "ib-1", "--json")
    assert {one["solver"] for one in both.json["runs"]} == {"warm", "ib-1"}


def test_the_limits_of_a_proof_go_with_certify(run):
    """Also beside another solver, which has no such options."""
    for solver in ((), ("--solver", "blahut-arimoto", "--starts", "1"), ("--solver", "envelope")):
        said = run("frontier", "heart", "--grid-values", "0.2", *solver, "--certify", "--max-cells", "10", "--json")
        assert said.code == 4, said.err
        assert "more than max_cells = 10" in said.err or solver[1:2] == ("blahut-arimoto",)
        assert "Not certified: the best run of 1 of 1 parameters" in said.err
        assert all(one["gap_nats"] > 1e-6 for one in said.json["runs"])


def test_starts_are_the_librarys_unless_said(run):
    """A funnel's starts are spread, a bottleneck's are mixed."""
    command = ("frontier", "paper_uniform", "--problem", "funnel", "--grid-values", "3", "--solver", "pf-2", "--json")
    joint = ip.datasets.paper_uniform()
    for options, init in (((), "spread"), (("--init", "mixed"), "mixed")):
        found = run(*command, "--starts", "3", "--max-iter", "5", *options).json["runs"]
        expected = ip.sweep(joint, ip.funnel, [3.0], "pf-2", starts=3, max_iter=5, rng=0, init=init)
        assert [one["loss_nats"] for one in found] == [one.loss for one in expected.runs]


def test_transitions(run, tmp_path):
    picture = tmp_path / "plane.png"
    command = ("frontier", "paper_uniform", "--grid", "0.4:0.9:4", "--transitions", "--plot", str(picture))
    said = run(*command)
    lines = [line for line in said.out.splitlines() if line.startswith("transition: gamma ")]
    found = run(*command, "--json").json["transitions"]
    assert len(lines) == len(found) >= 1
    last = found[-1]
    assert last["clusters_above"] == 1
    assert last["gamma_low"] <= 0.6610 <= last["gamma_high"] * (1 + 2e-3)
    assert picture.read_bytes().startswith(b"\x89PNG")
    refused = run("frontier", "paper_uniform", "--problem", "funnel", "--transitions")
    assert refused.code == 2
    assert "--transitions belongs to --problem bottleneck" in refused.err


def test_a_certified_frontier_says_how_well_it_is_enclosed(run):
    asked = ("frontier", "paper_uniform", "--grid", "0.2:0.6:3", "--certify")
    said = run(*asked)
    assert said.code == 0
    assert "enclosure: I(Y;Z) is known to" in said.out
    gap = run(*asked, "--json").json["enclosure_gap_bits"]
    assert f"is known to {gap:.2g} bits" in said.out
    assert run(*FRONTIER, "--json").json["enclosure_gap_bits"] is None


def test_report_is_written(run, tmp_path):
    pytest.importorskip("altair")
    pytest.importorskip("vl_convert")
    path = tmp_path / "r.html"
    older = ("--notation", "beta", "--grid", "2:10:3")
    said = run(*FRONTIER, *older, "--store", tmp_path / "runs.db", "--report", path)
    assert said.code == 0
    assert f"wrote {path}" in said.err
    page = path.read_text()
    assert "Bottleneck frontier of paper_uniform" in page
    assert '"symbol":"\\u03b2","inverse":true' in page
    said = run(*FRONTIER, "--report", tmp_path / "r.pdf")
    assert (said.code, "--report must end in .html" in said.err) == (2, True)


def test_a_report_without_its_extra_is_refused_before_any_work(run, monkeypatch, tmp_path):
    from infoplane.view.report.page import vega_library

    vega_library.cache_clear()
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr("infoplane.cli.frontier.sweep", None)
    said = run(*FRONTIER, "--report", tmp_path / "r.html")
    assert (said.code, 'pip install "infoplane[report]"' in said.err) == (2, True)


# -- compare -----------------------------------------------------------------------------------------------------------


def test_the_older_notation_is_the_same_frontier(run):
    grids = {"gamma": "0.1:0.5:3", "beta": "2:10:3"}
    shared = ("frontier", "paper_uniform", "--solver", "accelerated", "--starts", "1", "--notation")
    found = {name: run(*shared, name, "--grid", grid, "--json").json for name, grid in grids.items()}
    assert sorted(row["parameter"] for row in found["beta"]["runs"]) == pytest.approx(
        [row["parameter"] for row in found["gamma"]["runs"]]
    )
    table = run(*shared, "beta", "--grid-values", "5,2").out
    assert table.split("\n")[3].startswith(" beta")
    assert "gamma" not in table
    assert [line.split()[0] for line in table.splitlines()[5:7]] == ["2", "5"]
    refused = run(*shared, "beta", "--grid-values", "0.5")
    assert (refused.code, "beta must be at least 1" in refused.err) == (2, True)


def test_default_ranges_are_said_in_the_notation_asked_for(run):
    said = run("frontier", "paper_uniform", "--notation", "beta", "--points", "4")
    assert "beta from 1.5" in said.err
