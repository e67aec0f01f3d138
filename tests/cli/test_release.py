"""`infoplane release`, and `infoplane apply` on its mechanism: what is written, promised, refused and warned of."""

import json
import re
from functools import partial

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.cli.release import _cost
from infoplane.storage.mechanism import read_mechanism, write_mechanism
from infoplane.table.mechanism import Mechanism

CAPS = ("--max-leakage-bits", "0.02", "--max-lift-bits", "0.3", "--max-seconds", "20")


@pytest.fixture
def people(tmp_path):
    rng = np.random.default_rng(0)
    n = 600
    age = rng.integers(18, 80, n)
    job = rng.choice(["=cmd()", "<b>baker</b>", "clerk\x1b[2J"], n)
    sex = np.where(rng.random(n) < 0.3 + 0.4 * (age > 45), "f", "m")
    table = pd.DataFrame({"person": [f"p{i}" for i in range(n)], "age": age, "job": job, "sex": sex, "copy": sex})
    table.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "key").write_bytes(bytes(range(32)))
    return tmp_path


def test_a_release_keeps_its_caps_and_its_mechanism_gives_the_same_rows(run, people):
    keyed = ("--id", "person", "--key-file", people / "key")
    files = (
        "--out",
        people / "out.csv",
        "--decoder",
        people / "d.csv",
        "--mechanism",
        people / "m.json",
        "--report",
        people / "r.html",
    )
    done = run(
        "release", people / "people.csv", "--x", "age,job", "--hide", "sex", "--bin", "age:3", *CAPS, *keyed, *files
    )
    assert done.code == 0, done.err
    assert "|lift| <= 0.3 bits" in done.out
    assert "The worst case of 0.3 bits costs" in done.out
    assert "not differential privacy" in done.out
    assert "\x1b[2J" not in done.out + done.err
    out = pd.read_csv(people / "out.csv")
    assert [*out.columns] == ["z", "stands_for"]
    p_x_given_z = pd.read_csv(people / "d.csv").filter(like="z").to_numpy()
    assert p_x_given_z.sum(axis=0) == pytest.approx(1.0)
    # The caps, from the file alone.
    held = read_mechanism(people / "m.json")
    frame = pd.read_csv(people / "people.csv")
    feature = held.features[0]
    W = feature.encoder[:, feature.codes(frame)]
    p_zs = np.array([[W[:, frame.sex == s].sum(axis=1) / len(frame)] for s in ("f", "m")])[:, 0].T
    lift = np.log2(p_zs / p_zs.sum(axis=1, keepdims=True) / p_zs.sum(axis=0))
    assert np.abs(lift).max() <= 0.3 + 1e-9
    assert (p_zs * lift).sum() <= 0.02 + 1e-9
    # Same key, same rows: through the file, in another order, and with other columns left out.
    frame.drop(columns=["sex", "copy"]).iloc[::-1].to_csv(people / "new.csv", index=False)
    done = run("apply", people / "m.json", people / "new.csv", *keyed, "--out", people / "again.csv")
    assert done.code == 0, done.err
    again = pd.read_csv(people / "again.csv")
    assert again.iloc[::-1].reset_index(drop=True).equals(out)
    run("apply", people / "m.json", people / "people.csv", *keyed, "--out", people / "same.csv")
    assert (people / "same.csv").read_bytes() == (people / "out.csv").read_bytes()
    text = (people / "m.json").read_text()
    assert "p17" not in text
    assert bytes(range(32)).hex() not in text
    page = (people / "r.html").read_text()
    assert "<b>baker" not in page
    assert "not differential privacy of the data set" in page
    assert "Threat model" in page
    assert "bits more could be kept within these caps: proven." in page
    assert re.search(r"No release that leaks 0.0\d* bits on average keeps more than [\d.]+ bits, which is proven", page)
    assert "@media print" in page


def test_a_release_as_values_has_the_columns_and_nothing_new(run, people):
    done = run("release", people / "people.csv", "--x", "job", "--hide", "sex", "--max-lift-bits", "0.1", "--as", "value",
               "--out", people / "out.parquet", "--json")  # fmt: skip
    assert done.code == 0, done.err
    assert "Drawn anew" in done.err
    out, frame = pd.read_parquet(people / "out.parquet"), pd.read_csv(people / "people.csv")
    assert [*out.columns] == ["job"]
    assert set(out.job) <= set(frame.job)
    measures = [one["measure"] for one in json.loads(done.out)["audit"]]
    assert "smallest expected group" in measures


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--x", "age,sex", "--hide", "sex"), "it would be released itself"),
        (("--x", "job", "--hide", "sex", "--id", "person"), "--id and --key-file go together"),
        (("--x", "job", "--hide", "sex", "--confidence", "0.9"), "confidence goes with max_leakage alone"),
        (("--x", "work", "--hide", "sex"), "work"),
        (("--x", "job", "--keep", "job", "--hide", "sex"), "'job' is in --x and in --keep"),
        (("--x", "job", "--hide", "sex", "--confidence", "0.9", "--proof", "p.npz"), "--proof is of a bound"),
    ],
)
def test_what_is_refused(run, people, options, said):
    done = run("release", people / "people.csv", *options, "--max-lift-bits", "0.1", "--out", people / "out.csv")
    assert done.code in (2, 3)
    assert said in done.err
    assert not (people / "out.csv").exists()


def test_a_built_in_joint_or_an_unknown_ending_is_no_table_of_records(run):
    options = ("--x", "risk_factors", "--hide", "outcome", "--max-leakage-bits", "0.01", "--out", "z.csv")
    for name, said in (("heart", "infoplane datasets heart --out heart.csv"), ("people.dat", "found 'people.dat'")):
        found = run("release", name, *options)
        assert found.code == 3
        assert "expected a table ending in .csv" in found.err
        assert said in found.err


def test_a_column_that_is_the_secret_is_warned_of_with_its_bits(run, people):
    done = run(
        "release",
        people / "people.csv",
        "--x",
        "job,copy",
        "--hide",
        "sex",
        "--max-lift-bits",
        "0.1",
        "--out",
        people / "o.csv",
    )
    assert done.code == 0, done.err
    assert "Warning: column 'copy' alone tells" in done.err
    assert "column 'job' alone" not in done.err


def test_unseen_rows_are_counted_and_an_edited_mechanism_is_refused(run, people):
    done = run("release", people / "people.csv", "--x", "job", "--hide", "sex", "--max-lift-bits", "0.1", "--out", people / "o.csv",
               "--mechanism", people / "m.json")  # fmt: skip
    assert done.code == 0, done.err
    pd.DataFrame({"job": ["spy", "=cmd()"]}).to_csv(people / "new.csv", index=False)
    done = run("apply", people / "m.json", people / "new.csv", "--out", people / "new_out.csv")
    assert done.code == 3
    assert "found 1 of 2" in done.err
    assert "spy" not in done.err
    done = run("apply", people / "m.json", people / "new.csv", "--unseen", "suppress", "--out", people / "new_out.csv")
    assert done.code == 0, done.err
    assert pd.read_csv(people / "new_out.csv", skip_blank_lines=False).z.isna().tolist() == [True, False]
    held = json.loads((people / "m.json").read_text())
    held["features"][0]["encoder"][0][0] = 2.0
    (people / "bad.json").write_text(json.dumps(held))
    done = run("apply", people / "bad.json", people / "new.csv", "--out", people / "never.csv")
    assert done.code == 3
    with pytest.raises(ip.InvalidMechanismError):
        read_mechanism(people / "bad.json")


def test_what_a_column_tells_of_another_is_kept(run, people):
    done = run("release", people / "people.csv", "--x", "age,job", "--keep", "copy", "--hide", "sex", "--max-lift-bits", "0.1",
               "--bin", "age:3", "--out", people / "o.csv")  # fmt: skip
    assert done.code == 0, done.err
    frame = pd.read_csv(people / "people.csv").assign(
        rich=lambda t: np.where(t.age % 2 + (t.job == "=cmd()") > 1, "y", "n")
    )
    frame.to_csv(people / "more.csv", index=False)
    done = run("release", people / "more.csv", "--x", "age,job", "--keep", "rich", "--hide", "sex", "--max-lift-bits", "0.1",
               "--max-leakage-bits", "0.01", "--bin", "age:3", "--out", people / "p.csv", "--mechanism", people / "m.json",
               "--report", people / "r.html")  # fmt: skip
    assert done.code == 0, done.err
    assert "bits of what age, job tell of rich" in done.out
    assert "bits more could be kept within these caps: proven" in done.out
    assert "I(U;Z)" in (people / "r.html").read_text()
    done = run("apply", people / "m.json", people / "more.csv", "--out", people / "again.csv")
    assert done.code == 0, done.err
    done = run("release", people / "more.csv", "--x", "age", "--keep", "sex", "--hide", "sex", "--max-lift-bits", "0.1",
               "--out", people / "q.csv")  # fmt: skip
    assert done.code == 2
    assert "it is kept, or hidden" in done.err


def test_a_second_release_of_the_same_records_is_warned_of(run, people):
    ask = ("release", people / "people.csv", "--x", "age", "--bin", "age:3", "--hide", "sex")
    files = ("--out", people / "o.csv", "--mechanism", people / "m.json")
    keyed = ("--id", "person", "--key-file", people / "key")
    assert "held" not in run(*ask, "--max-lift-bits", "0.1", *files, *keyed).err
    assert "held" not in run(*ask, "--max-lift-bits", "0.1", *files, *keyed).err  # the same key: nothing new
    done = run(*ask, "--max-lift-bits", "0.1", *files)
    assert "held a release of 600 rows already" in done.err
    done = run(*ask, "--max-lift-bits", "0.01", *files, *keyed)
    assert "held another mechanism for age" in done.err
    done = run("apply", people / "m.json", people / "people.csv", "--out", people / "a.csv")
    assert "held" not in done.err
    done = run("apply", people / "m.json", people / "people.csv", "--out", people / "a.csv")
    assert "held a release" in done.err


def test_groups_of_one_row_and_values_that_are_no_numbers(run, people):
    frame = pd.DataFrame({"job": [f"job {i}" for i in range(30)], "age": range(30), "sex": ["f", "m"] * 15})
    frame.to_csv(people / "ones.csv", index=False)
    done = run(
        "release",
        people / "ones.csv",
        "--x",
        "job",
        "--hide",
        "sex",
        "--max-lift-bits",
        "0.2",
        "--out",
        people / "o.csv",
    )
    assert done.code == 0, done.err
    assert "Warning: column 'job' alone tells" in done.err
    done = run("release", people / "ones.csv", "--x", "age", "--bin", "age:2", "--hide", "sex", "--max-lift-bits", "0.2",
               "--min-group", "5", "--out", people / "o2.csv", "--mechanism", people / "m.json")  # fmt: skip
    assert done.code == 0, done.err
    pd.DataFrame({"age": ["3", "secret text"]}).to_csv(people / "new.csv", index=False)
    done = run("apply", people / "m.json", people / "new.csv", "--out", people / "no.csv")
    assert done.code == 3
    assert "secret text" not in done.err
    assert "age" in done.err


def test_a_cap_for_the_population(run, people):
    done = run("release", people / "people.csv", "--x", "age", "--bin", "age:3", "--hide", "sex", "--max-leakage-bits", "0.2",
               "--confidence", "0.9", "--out", people / "o.csv")  # fmt: skip
    assert done.code in (0, 4), done.err
    assert "I(S;Z) in the population <= 0.2 bits" in done.out


@pytest.mark.parametrize("keep", [(), ("--keep", "copy")])
def test_the_proof_is_verified(run, people, keep):
    hide = "job" if keep else "sex"
    done = run("release", people / "people.csv", "--x", "age", "--hide", hide, *keep, "--bin", "age:4", "--max-lift-bits", "0.1",
               "--out", people / "out.csv", "--proof", people / "proof.npz")  # fmt: skip
    assert done.code == 0, done.err
    said = run("verify", people / "proof.npz")
    assert said.code == 0, said.out
    assert f"I({'U' if keep else 'X'};Z)" in said.out


def test_values_expected_for_less_than_one_record_are_cautioned_of(run, people):
    of = ("--x", "age,job", "--hide", "sex", "--bin", "age:30", "--max-lift-bits", "0.1", "--max-seconds", "0.3")
    asked = ("release", people / "people.csv", *of)
    done = run(*asked, "--out", people / "out.csv", "--report", people / "r.html")
    assert done.code == 0, done.err
    said = re.search(r"(\d+) of (\d+) released values (?:is|are) expected for less than one record", done.out)
    assert said is not None, done.out
    assert said[0] in (people / "r.html").read_text()
    done = run(*asked, "--min-group", "5", "--out", people / "out.csv")
    assert "less than one record" not in done.out


def test_rows_that_were_never_met_are_counted_by_column_and_numbers_may_be_written_otherwise(run, people):
    rows = pd.read_csv(people / "people.csv").assign(hours=[20, 40] * 300)
    rows.to_csv(people / "people.csv", index=False)
    made = (
        "--x",
        "hours,job",
        "--hide",
        "sex",
        "--max-lift-bits",
        "0.2",
        "--out",
        people / "o.csv",
        "--mechanism",
        people / "m.json",
    )
    assert run("release", people / "people.csv", *made).code == 0
    rows = rows.head(9).astype({"hours": float})
    rows.loc[2, "hours"], rows.loc[4, "hours"] = 7.25, np.nan
    rows.to_csv(people / "new.csv", index=False)
    done = run("apply", people / "m.json", people / "new.csv", "--out", people / "z.csv")
    assert done.code == 3
    assert "found 2 of 9 without, in column 'hours'." in done.err
    assert "7.25" not in done.err
    done = run("apply", people / "m.json", people / "new.csv", "--out", people / "z.csv", "--unseen", "suppress")
    assert done.code == 0
    assert pd.read_csv(people / "z.csv").z.isna().tolist() == [at in (2, 4) for at in range(9)]


def test_a_stricter_search_that_keeps_more_is_recommended_and_costs_are_never_negative():
    """A search with a smallest group may miss what one with more caps finds: here the first has tighter caps than the second."""
    joint, found = ip.datasets.paper_uniform(), {}
    for caps in ({"max_leakage": 1e-3}, {"max_leakage": 1e-3, "max_lift": 0.05}):
        kept = ip.release_mechanism(joint, **caps, rng=0)
        other = 0.1 if len(caps) == 1 else 1e-6
        search = partial(ip.release_mechanism, joint, max_leakage=other, rng=0, max_seconds=5.0)
        (found[len(caps)],) = _cost(kept, search)
    assert "the search keeps" in found[1]
    assert "costs 0.0000 bits" in found[2]


def test_an_empty_cell_is_refused_by_its_line_and_with_an_option_that_there_is(run, tmp_path):
    (tmp_path / "people.csv").write_text("age,sex,note\n20,f,\n,m,\n30,m,\n")
    asked = (tmp_path / "people.csv", "--hide", "sex")
    for more in (("release", *asked, "--x", "age", "--max-lift-bits", "1", "--out", tmp_path / "o.csv"),
                 ("compare-releases", *asked, "--x", "age", "--merge", "1")):  # fmt: skip
        said = run(*more)
        assert (said.code, said.err.count("line 3 has an empty cell in column 'age'. Give what is missing")) == (3, 1)
    assert run(*more, "--missing", "category").code == 0


def test_records_without_an_id_are_refused(run, tmp_path):
    """They would all be drawn by one u."""
    people = pd.DataFrame({"person": ["a", None, "b"], "age": [20, 30, 30], "sex": list("fmm")})
    people.to_csv(tmp_path / "people.csv", index=False)
    (tmp_path / "key").write_bytes(bytes(32))
    joint = ip.Joint.from_frame(people, "age", "sex")
    write_mechanism(Mechanism.of_joint(joint, np.full((2, 2), 0.5)), tmp_path / "m.json")
    keyed = ("--id", "person", "--key-file", tmp_path / "key", "--out", tmp_path / "o.csv")
    asked = ("--x", "age", "--hide", "sex", "--max-lift-bits", "1", "--missing", "category")
    for command in (
        ("release", tmp_path / "people.csv", *asked),
        ("apply", tmp_path / "m.json", tmp_path / "people.csv"),
    ):
        said = run(*command, *keyed)
        assert (said.code, said.err.count("column 'person' must have a value in every row; found none in row 2")) == (
            3,
            1,
        )


def test_dates_are_released_in_bins_and_hidden_in_bins(run, tmp_path):
    rows = pd.DataFrame(
        {"born": [f"200{n % 4}-01-0{n % 9 + 1}" for n in range(72)], "sex": ["fm"[n % 3 == 0] for n in range(72)]}
    )
    rows.to_csv(tmp_path / "people.csv", index=False)
    for x, hide in (("born", "sex"), ("sex", "born")):
        out, model = tmp_path / f"{x}.csv", tmp_path / f"{x}.json"
        asked = ("release", tmp_path / "people.csv", "--x", x, "--hide", hide, "--bin", "born:year", "--max-leakage-bits", "0.2",
                 "--max-seconds", "1", "--as", "value", "--out", out)  # fmt: skip
        if x == "born":  # a mechanism knows no bins of dates: refused before anything is written
            refused = run(*asked, "--mechanism", model)
            assert (refused.code, "bins of dates" in refused.err, out.exists()) == (2, True, False)
            assert run(*asked).code == 0
            assert set(pd.read_csv(out).born) <= {2000, 2001, 2002, 2003}
        else:
            assert run(*asked, "--mechanism", model).code == 0
            assert set(pd.read_csv(out).sex) == {"f", "m"}
