"""`infoplane frontier --max-leakage-bits`: the curve of caps, for the funnel and for one target kept and another hidden."""

import json

import pandas as pd
import pytest

import infoplane as ip
from infoplane.information import NATS_PER_BIT


def test_a_curve_of_caps_is_that_of_the_library(run, tmp_path):
    files = ("--plot", tmp_path / "caps.png", "--out", tmp_path / "caps.csv")
    done = run(
        "frontier", "paper_uniform", "--problem", "funnel", "--max-leakage-bits", "0.1,0.05", *files, "--certify"
    )
    assert done.code == 0, done.err
    frame = pd.read_csv(tmp_path / "caps.csv")
    found = ip.funnel_curve(ip.datasets.paper_uniform(), [0.1 * NATS_PER_BIT, 0.05 * NATS_PER_BIT])
    assert frame.max_leakage_bits.tolist() == [0.1, 0.05]
    assert frame.ixz_bits.tolist() == pytest.approx([one.ixz / NATS_PER_BIT for one in found], abs=1e-6)
    assert frame.certified.all()
    assert (frame.iyz_bits <= frame.max_leakage_bits + 1e-9).all()
    assert f"{frame.ixz_bits[0]:.6f}" in done.out
    assert (tmp_path / "caps.png").stat().st_size > 5_000


def test_one_target_is_kept_and_another_hidden_under_caps(run, tmp_path):
    rows = pd.DataFrame({"job": list("aabbccddee"), "rich": [1, 0, 1, 1, 0, 0, 1, 0, 1, 1], "sex": list("fmmmffmfff")})
    rows.to_csv(tmp_path / "rows.csv", index=False)
    asked = ("frontier", tmp_path / "rows.csv", "--x", "job", "--keep", "rich", "--hide", "sex")
    done = run(*asked, "--max-leakage-bits", "0,0.05", "--json")
    assert done.code == 0, done.err
    nothing, little = json.loads(done.out)["caps"]
    joint = ip.TaskJoint.from_frame(rows, x="job", keep="rich", hide="sex")
    found = ip.task_curve(joint, [0.0, 0.05 * NATS_PER_BIT])
    assert [nothing["iuz_bits"], little["iuz_bits"]] == pytest.approx(
        [one.iuz / NATS_PER_BIT for one in found], abs=1e-6
    )
    assert nothing["isz_bits"] == pytest.approx(0.0, abs=1e-12)
    assert nothing["population_bits"] == pytest.approx(found[0].leakage_bound.bound / NATS_PER_BIT)
    assert "about this table; in the population" in " ".join(run(*asked, "--max-leakage-bits", "0.05").out.split())
    said = run("solve", *asked[1:], "--max-leakage-bits", "0.05").out
    assert "About this table, not the population. I(S;Z) in the population is at most" in " ".join(said.split())


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--problem", "funnel", "--grid", "1:2:3", "--solver", "pf-1"), "leave out --grid, --solver"),
        ((), "goes with --problem funnel"),
        (("--keep", "a"), "--keep and --hide go together"),
        (("--problem", "funnel", "--out", "caps.npz"), ".csv or .parquet; found .npz"),
        (("--problem", "funnel", "--max-leakage-bits", "0.1,-1"), "expected 0 or more, found -1"),
    ],
)
def test_what_has_no_meaning_under_caps_is_refused(run, more, said):
    done = run("frontier", "paper_uniform", "--max-leakage-bits", "0.1", *more)
    assert done.code == 2
    assert said in done.err.replace("\n", " ")
