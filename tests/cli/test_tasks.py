"""``--keep COLS --hide COLS`` in ``solve`` and ``frontier``: numbers that are true, caps that are kept, and what is refused."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
import verify


@pytest.fixture
def table(tmp_path):
    rng = np.random.default_rng(0)
    job = rng.choice(list("abcdef"), 400)
    rich = rng.random(400) < np.array([0.1, 0.3, 0.5, 0.6, 0.7, 0.9])[[ord(one) - 97 for one in job]]
    sex = rng.random(400) < np.array([0.3, 0.6, 0.2, 0.8, 0.5, 0.6])[[ord(one) - 97 for one in job]]
    path = tmp_path / "people.csv"
    pd.DataFrame({"job": job, "rich": np.where(rich, "yes", "no"), "sex": np.where(sex, "f", "m")}).to_csv(
        path, index=False
    )
    return path


def columns(table):
    return ("solve", str(table), "--x", "job", "--keep", "rich", "--hide", "sex")


def test_at_beta_and_certified(run, table, tmp_path):
    said = run(*columns(table), "--beta", "1", "--certify", "--json", "--out", str(tmp_path / "encoder.csv"))
    assert said.code == 0
    W, frame = np.array(said.json["encoder"]), pd.read_csv(table)
    for name, column in (("iuz_bits", "rich"), ("isz_bits", "sex")):
        joint = ip.Joint.from_frame(frame, "job", column)
        assert said.json[name] == pytest.approx(verify.mutual_informations(joint.p_xy, W)[1] / np.log(2), abs=1e-10)
    assert said.json["status"] == "CERTIFIED"
    assert said.json["problem"]["hide"] == 1.0
    assert "iyz_bits" not in said.json
    assert len(pd.read_csv(tmp_path / "encoder.csv")) == 6


def test_within_a_cap(run, table):
    said = run(*columns(table), "--max-leakage-bits", "0.005", "--json")
    assert said.code == 0
    assert said.json["isz_bits"] <= 0.005
    assert said.json["gap_bits"] <= 2e-6
    shown = run(*columns(table), "--max-leakage-bits", "0.005", "--clusters", "2")
    assert "kept, I(U;Z)" in shown.out
    assert "told, I(S;Z)" in shown.out


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (("--x", "job", "--keep", "rich", "--beta", "1"), 2, "go together"),
        (("--x", "job", "--keep", "rich", "--hide", "rich", "--beta", "1"), 2, "found 'rich' in two"),
        (("--x", "job,sex", "--keep", "rich", "--hide", "sex", "--beta", "1"), 2, "found 'sex' in two"),
        (("--x", "job", "--keep", "rich", "--hide", "sex"), 2, "give --beta"),
        (("--x", "job", "--keep", "rich", "--hide", "sex", "--beta", "1", "--max-leakage-bits", "1"), 2, "alone"),
        (("--x", "job", "--keep", "rich", "--hide", "sex", "--beta", "1", "--problem", "funnel"), 2, "leave out --problem"),
        (("--x", "job", "--y", "rich", "--keep", "rich", "--hide", "sex", "--beta", "1"), 2, "no --y"),
        (("--x", "job", "--keep", "rick", "--hide", "sex", "--beta", "1"), 3, "rick"),
    ],
)  # fmt: skip
def test_what_is_refused(run, table, options, code, message):
    said = run("solve", str(table), *options)
    assert said.code == code
    assert message in " ".join(said.err.split())


def test_the_bottleneck_with_side_information_by_name(run, table):
    found = run(*columns(table), "--side-information", "--gamma", "0.01", "--beta", "2", "--json").json
    own = run(*columns(table), "--gamma", "0.01", "--beta", "2", "--json").json
    assert found["problem"]["family"] == "side_information_bottleneck"
    assert found["loss_nats"] == pytest.approx(own["loss_nats"], abs=1e-9)
    assert "needs --gamma" in run(*columns(table), "--side-information", "--beta", "2").err
    assert "goes with" in run("solve", "paper_uniform", "--side-information", "--gamma", "0.1").err


def test_the_frontier_along_beta(run, table, tmp_path):
    said = run("frontier", *columns(table)[1:], "--grid-values", "0.3,1,4", "--out", str(tmp_path / "f.csv"), "--json")
    assert said.code == 0
    frame = pd.read_csv(tmp_path / "f.csv")
    assert {"isz_bits", "iuz_bits", "ixz_bits"} <= set(frame)
    assert frame.isz_bits.is_monotonic_decreasing
    assert said.json["problem"] == "task-funnel"
    shown = run("frontier", *columns(table)[1:], "--grid-values", "0.3,1", "--plot", str(tmp_path / "plane.png"))
    assert "I(S;Z)" in shown.out
    assert (tmp_path / "plane.png").exists()
    said = run("frontier", *columns(table)[1:], "--transitions")
    assert said.code == 2
    assert "a bottleneck's gamma" in " ".join(said.err.split())


def test_points_are_added_where_the_curve_is_long(run, table):
    found = run("frontier", *columns(table)[1:], "--points", "6", "--notation", "beta", "--starts", "2", "--json").json
    betas = [one["parameter"] for one in found["answers"]]
    assert len(betas) == 6
    assert betas[0] == pytest.approx(0.1)
    assert betas[-1] == pytest.approx(30.0)


def test_a_frontier_is_stored_resumed_reported_and_verified(run, table, tmp_path):
    store, out, page = (str(tmp_path / name) for name in ("runs.db", "f.npz", "f.html"))
    asked = ("frontier", *columns(table)[1:], "--grid-values", "0.3,1", "--certify", "--store", store)
    first = run(*asked, "--out", out, "--report", page)
    assert first.code == 0, first.err
    checked = run("verify", out)
    assert checked.code == 0
    assert checked.out.count("VERIFIED") == 2
    again = run("resume", store, "--report", page)
    assert again.code == 0
    assert "2 of 2 runs were done before" in again.err
    text = (tmp_path / "f.html").read_text()
    assert "about rich and tell" in text
    assert '"columns":["isz_bits","iuz_bits"]' in text


def test_a_solution_is_verified_and_its_clusters_say_each_target_on_its_own(run, table, tmp_path):
    out = str(tmp_path / "a.npz")
    said = run(*columns(table), "--beta", "1", "--certify", "--out", out, "--json")
    assert said.code == 0
    (found,) = run("verify", out, "--json").json["findings"]
    assert found["verdict"] == "VERIFIED"
    for name in ("ixz_bits", "iuz_bits", "isz_bits", "loss_nats"):
        assert found[name] == pytest.approx(said.json[name], abs=1e-12)
    held = ip.Frontier.load(out).runs[0].clusters_frame().filter(regex="z\\)$")
    assert held.filter(like="rich").sum(axis=1).to_numpy() == pytest.approx(1.0)
    assert held.filter(like="sex").sum(axis=1).to_numpy() == pytest.approx(1.0)
