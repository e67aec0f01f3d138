"""`infoplane audit` of a mechanism and of a released table."""

import json

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.storage.mechanism import write_mechanism
from infoplane.table.mechanism import Mechanism


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    age, job = rng.integers(18, 80, 800), rng.choice(["baker", "clerk"], 800)
    sex = np.where(rng.random(800) < 0.2 + 0.5 * (age > 45), "f", "m")
    pd.DataFrame({"age": age, "job": job, "sex": sex}).to_csv(tmp_path / "people.csv", index=False)
    return tmp_path


def test_the_audit_of_a_mechanism_is_that_of_its_release(run, people):
    frame = pd.read_csv(people / "people.csv")
    joint = ip.Joint.from_frame(frame, ["age", "job"], "sex", bins={"age": 3})
    kept = ip.perfect_privacy(joint)
    write_mechanism(Mechanism.of_joint(joint, kept.encoder), people / "m.json")
    done = run(
        "audit", people / "people.csv", people / "m.json", "--max-seconds", "0", "--report", people / "r.html", "--json"
    )
    assert done.code == 0, done.err
    want = ip.audit(joint, kept, max_seconds=0)
    found = pd.DataFrame(json.loads(done.out)["audit"]).set_index("measure")
    assert [*found.index] == [*want.index]
    told = [
        "mutual information",
        "mutual information, population",
        "utility",
        "maximal leakage",
        "t-closeness",
        "smallest expected group",
    ]
    assert found.value[told].to_numpy(dtype=float) == pytest.approx(want.value[told].to_numpy(), abs=1e-9)
    assert found.sentence["utility"] == want.sentence["utility"]
    # Records that it was not made from say more.
    done = run("audit", people / "people.csv", people / "m.json", "--max-seconds", "0", "--other-records", "--json")
    fresh = pd.DataFrame(json.loads(done.out)["audit"]).set_index("measure")
    assert fresh.value["mutual information, population"] < found.value["mutual information, population"]
    page = (people / "r.html").read_text()
    assert "Name, date" in page
    assert "<script" not in page
    # A secret that the mechanism releases itself is refused.
    done = run("audit", people / "people.csv", people / "m.json", "--hide", "job")
    assert done.code == 2
    assert "itself what the mechanism releases" in done.err


def test_several_columns_are_one_secret(run, people):
    done = run("release", people / "people.csv", "--x", "age", "--bin", "age:2", "--hide", "sex,job", "--max-lift-bits", "0.2",
               "--out", people / "out.csv", "--mechanism", people / "m.json")  # fmt: skip
    assert done.code == 0, done.err
    done = run("audit", people / "people.csv", people / "m.json", "--max-seconds", "0", "--attack", "--json")
    assert done.code == 0, done.err
    found = pd.DataFrame(json.loads(done.out)["audit"]).set_index("measure")
    assert found.value["local information privacy"] <= 0.2 + 1e-9
    assert found.value["l-diversity"] == 4


def test_the_audit_of_a_table_counts_its_rows(run, people):
    frame = pd.read_csv(people / "people.csv")
    frame[["job"]].to_csv(people / "released.csv", index=False)
    done = run("audit", people / "people.csv", people / "released.csv", "--hide", "sex", "--attack", "--json")
    assert done.code == 0, done.err
    found = pd.DataFrame(json.loads(done.out)["audit"]).set_index("measure")
    table = pd.crosstab(frame.job, frame.sex, normalize=True).to_numpy()
    told = table * np.log2(table / table.sum(axis=1, keepdims=True) / table.sum(axis=0))
    assert found.value["mutual information"] == pytest.approx(told.sum(), abs=1e-12)
    assert "utility" not in found.index
    assert 0.4 < found.value["held-out attacker"] < 0.65  # a job says nothing of the sex here
    done = run("audit", people / "people.csv", people / "released.csv", "--hide", "sex")
    assert "0 is best" in done.out
    frame[["job"]].iloc[1:].to_csv(people / "short.csv", index=False)
    done = run("audit", people / "people.csv", people / "short.csv", "--hide", "sex")
    assert done.code == 2
    assert "found 799" in done.err


def test_a_gain_of_one_s_own(run, people):
    pd.DataFrame({"job": pd.read_csv(people / "people.csv").job}).to_csv(people / "released.csv", index=False)
    pd.DataFrame({"guess": ["f", "m"], "m": [0, 1], "f": [1, 0]}).to_csv(people / "gain.csv", index=False)
    ask = ("audit", people / "people.csv", people / "released.csv", "--hide", "sex", "--json", "--gain")
    found = pd.DataFrame(json.loads(run(*ask, people / "gain.csv").out)["audit"]).set_index("measure").value
    assert found["g-vulnerability, after"] == pytest.approx(found["best guess, after"])
    pd.DataFrame({"guess": ["f"], "f": [1]}).to_csv(people / "bad.csv", index=False)
    done = run(*ask, people / "bad.csv")
    assert done.code == 2
    assert "none is named 'm'" in done.err


def test_a_secret_in_bins_is_attacked_and_measured_in_those_bins(run, tmp_path):
    rng = np.random.default_rng(0)
    day = pd.Timestamp("2000-01-01") + pd.to_timedelta(rng.integers(0, 1000, 400), unit="D")
    pd.DataFrame({"born": day.date, "age": rng.integers(18, 80, 400)}).to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame({"z": day.year.map("y{}".format)}).to_csv(tmp_path / "released.csv", index=False)
    ask = ("audit", tmp_path / "people.csv", tmp_path / "released.csv", "--attack", "--json", "--hide")
    found = pd.DataFrame(run(*ask, "born", "--bin", "born:year").json["audit"]).set_index("measure").value
    shares = np.bincount(day.year - 2000) / 400
    assert found["mutual information"] == pytest.approx(-(shares * np.log2(shares)).sum())
    assert found["held-out attacker"] == 1.0
    found = pd.DataFrame(run(*ask, "age", "--bin", "age:2").json["audit"]).set_index("measure").value
    assert found["held-out attacker"] > 0.4  # one of two bins; of sixty ages it would be one or two in a hundred
