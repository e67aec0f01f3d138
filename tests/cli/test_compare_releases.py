"""`infoplane compare-releases`: mechanisms, our releases, columns left out, levels and merges in one table, and what to take."""

import json

import numpy as np
import pandas as pd
import pytest

import infoplane as ip

BIT = np.log(2.0)


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    age, job = rng.integers(18, 80, 500), rng.choice(["cook", "clerk", "judge"], 500)
    sex = np.where(rng.random(500) < 0.3 + 0.4 * (age > 45), "f", "m")
    rich = np.where((job == "judge") & (rng.random(500) < 0.8), "rich", "not")
    pd.DataFrame({"age": age, "job": job, "sex": sex, "rich": rich}).to_csv(tmp_path / "people.csv", index=False)
    pd.DataFrame({"value": ["cook", "clerk", "smith"], "level": "work"}).to_csv(tmp_path / "jobs.csv", index=False)
    pd.DataFrame({"value": ["cook", "cook"], "level": ["work", "food"]}).to_csv(tmp_path / "twice.csv", index=False)
    return tmp_path


def test_all_kinds_of_releases_in_one_table(run, people):
    data, of = people / "people.csv", ("--x", "age,job", "--hide", "sex")
    made = ("--bin", "age:6", "--max-leakage-bits", "0.01", "--out", people / "r.csv", "--mechanism", people / "m.json")
    assert run("release", data, *of, *made).code == 0
    others = ("--drop", "job", "--drop", "age,job", "--levels", "age:3", "--levels", f"job:{people / 'jobs.csv'}")
    more = ("--merge", "2", "--max-leakage-bits", "0.01", "--plot", people / "plane.png", "--out", people / "c.csv")
    done = run("compare-releases", data, people / "m.json", *of, *others, *more, "--json")
    assert done.code == 0, done.err
    found = json.loads(done.out)
    table = pd.DataFrame(found["releases"]).set_index("name")
    ours, theirs = table.loc["best, I(S;Z) 0.01"], table.loc[str(people / "m.json")]
    assert ours.ixz_bits == pytest.approx(theirs.ixz_bits, abs=1e-5)
    assert theirs.iyz_bits <= 0.01 + 1e-9
    assert {"without job", "without age, job", "age in 3 bins, job at level 1", "merged to 2"} < set(table.index)
    # The mechanism's six bins are those of the others; the level of the table joins cooks and clerks.
    rows = pd.read_csv(data)
    joint = ip.Joint.from_frame(
        rows.replace({"job": {"cook": "work", "clerk": "work"}}), ["age", "job"], "sex", bins={"age": 6}
    )
    assert table.ixz_bits["job at level 1"] == pytest.approx(joint.entropy_x / BIT)
    assert table.iyz_bits["job at level 1"] == pytest.approx(joint.mutual_information / BIT)
    assert found["advice"][0].startswith("Take ")
    assert (people / "plane.png").stat().st_size > 1000
    assert pd.read_csv(people / "c.csv").name.tolist() == table.index.tolist()
    shown = run(
        "compare-releases", data, *of, "--bin", "age:6", "--drop", "age", "--keep", "rich", "--max-lift-bits", "0.2"
    )
    assert shown.code == 0, shown.err
    assert "without age" in shown.out
    assert "best, lift 0.2" in shown.out
    assert "I(U;Z)" in shown.out
    assert shown.out.endswith(
        "All of this is about this table, not the population, for which infoplane audit gives a bound; it is not differential privacy of "
        "the data set.\n"
    )


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--levels", "wage:3"), "--levels needs a column of --x"),
        (("--levels", "age:none.csv"), "none.csv"),
        (("--levels", "age:1２"), "expected a table ending in"),
        (("--levels", "job:3"), "Give a mapping"),
        (("--levels", "job:twice.csv"), "each value of 'job' once; found 'cook' twice"),
        (("--drop", "wage"), "'wage'"),
        ((), "a release at least"),
    ],
)
def test_what_is_refused(run, people, monkeypatch, options, said):
    monkeypatch.chdir(people)
    done = run("compare-releases", people / "people.csv", "--x", "age,job", "--hide", "sex", *options)
    assert done.code in (2, 3), done.err
    assert said in done.err
