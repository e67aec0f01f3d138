"""Releases on one plane: numbers by formulas written here, dominance by its definition, the releases made on request, and the advice."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.storage.mechanism import write_mechanism
from infoplane.table.mechanism import Mechanism

BIT = math.log(2)


def people(rows=600, seed=0):
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    return pd.DataFrame(
        {
            "job": rng.integers(0, 3, rows) + sex,
            "age": rng.integers(0, 3, rows),
            "sex": sex,
            "rich": (rng.random(rows) < 0.3 + 0.3 * sex).astype(int),
        }
    )


def informed(a, b):
    """I(A;B) of two columns in bits, by counting."""
    J = pd.crosstab(a, b).to_numpy() / len(a)
    p = J.sum(axis=1, keepdims=True) * J.sum(axis=0)
    return float((J[J > 0] * np.log2(J[J > 0] / p[J > 0])).sum())


def test_numbers_of_a_dropped_column_are_those_of_the_rows_without_it():
    rows = people()
    joint = ip.Joint.from_frame(rows, ["job", "age"], "sex")
    found = ip.compare_releases(joint, {}, dropped=["job", "age", ["job", "age"]]).to_frame().set_index("name")
    without = found.loc["without age"]
    assert without.ixz_bits == pytest.approx(informed(rows.job, rows.job))
    assert without.iyz_bits == pytest.approx(informed(rows.job, rows.sex))
    assert without.smallest_group == pytest.approx(rows.job.value_counts().min())
    shares = pd.crosstab(rows.job, rows.sex, normalize="index") / rows.sex.value_counts(normalize=True)
    assert without.worst_lift_bits == pytest.approx(np.log2(shares.to_numpy().max()))
    nothing = found.loc["without job, age"]
    assert nothing[["ixz_bits", "iyz_bits", "worst_lift_bits"]].astype(float).abs().max() < 1e-12


def test_of_a_task_utility_is_what_is_told_of_u_whatever_the_order_of_letters():
    rows = people()
    task = ip.TaskJoint.from_frame(rows, ["job", "age"], keep="rich", hide="sex")
    keep = task.keep
    turned = ip.TaskJoint(
        ip.Joint.from_matrix(keep.p_xy[::-1], keep.x_labels[::-1], keep.y_labels, keep.x_names, keep.y_names), task.hide
    )
    for one in (task, turned):
        found = ip.compare_releases(one, {}, dropped=["age"]).to_frame()
        assert found.iuz_bits[0] == pytest.approx(informed(rows.job, rows.rich))
        assert found.isz_bits[0] == pytest.approx(informed(rows.job, rows.sex))


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32 - 1))
def test_dominated_is_what_its_definition_says(seed):
    rng = np.random.default_rng(seed)
    P = rng.dirichlet(np.ones(12)).reshape(4, 3)
    P[3] = P[2]  # together they tell no less of the secret, and keep less
    joint = ip.Joint.from_counts(P)
    # Blurring an encoder lowers all three numbers; the copies are equal to none but themselves.
    encoders = {f"{k}": rng.dirichlet(np.ones(3), 4).T for k in range(6)}
    encoders |= {"all": np.eye(4), "again": np.eye(4), "nothing": np.ones((1, 4)), "joined": np.eye(3)[:, [0, 1, 2, 2]]}
    frame = ip.compare_releases(joint, encoders).to_frame().set_index("name")
    table = frame[["ixz_bits", "iyz_bits", "worst_lift_bits"]].to_numpy() * [1, -1, -1]
    for name, mine in zip(frame.index, table, strict=True):
        better = {
            other
            for other, theirs in zip(frame.index, table, strict=True)
            if (theirs >= mine - 1e-9).all() and (theirs > mine + 1e-8).any()
        }
        assert frame.dominated[name] or not better
        assert frame.dominated[name] == bool(frame.dominated_by[name])
        if frame.dominated[name]:
            theirs = table[frame.index.get_loc(frame.dominated_by[name])]
            assert (theirs >= mine - 1e-8).all()
            assert (theirs > mine).any()
    assert not frame.dominated[["all", "again", "nothing"]].any()
    assert frame.dominated["joined"]


def test_the_best_release_dominates_a_merge_and_the_advice_keeps_to_caps():
    joint = ip.datasets.heart()
    ours = ip.release_mechanism(joint, max_leakage=0.01 * BIT, rng=0)
    both = ip.release_mechanism(joint, max_leakage=0.01 * BIT, max_lift=0.2 * BIT, rng=0)
    found = ip.compare_releases(joint, {"average": ours, "worst case": both}, merged=[4, 8, 12])
    frame = found.to_frame().set_index("name")
    path = ip.merge_two(joint)
    assert frame.ixz_bits["merged to 8"] == pytest.approx(path.ixz[path.clusters == 8][0] / BIT)
    assert frame.dominated_by["merged to 8"] == "average"
    assert frame.worst_lift_bits["average"] == pytest.approx(ours.worst_lift.nats / BIT)
    assert frame.smallest_group["average"] == pytest.approx(ours.smallest_group)
    assert found.advice(max_leakage=0.01 * BIT).startswith("Take 'average': I(X;Z) = 2.813 bits")
    assert found.advice(0.01 * BIT, 0.2 * BIT).startswith("Take 'worst case': I(X;Z) = 2.705 bits")
    assert found.advice(max_lift=0.0).startswith("Take none of them")
    assert str(found).startswith("1 of 5 releases are dominated")
    assert "the most of all" in str(ip.compare_releases(joint, {"ours": both}))
    figure = found.plot()
    left, right = figure.axes
    at = np.asarray(left.collections[0].get_offsets())
    assert at[:, 0] == pytest.approx(frame.iyz_bits.to_numpy())
    assert np.asarray(right.collections[0].get_offsets())[:, 0] == pytest.approx(frame.worst_lift_bits.to_numpy())
    hollow = left.collections[0].get_facecolors()[:, 3] == 0.0
    assert hollow.tolist() == frame.dominated.tolist()


def test_what_cannot_be_compared_is_refused():
    joint = ip.Joint.from_frame(people(), ["job", "age"], "sex")
    with pytest.raises(ip.InvalidOptionError, match="a release at least"):
        ip.compare_releases(joint, {})
    with pytest.raises(ip.InvalidOptionError, match="'agge'"):
        ip.compare_releases(joint, {}, dropped=["agge"])
    with pytest.raises(ip.InvalidOptionError, match="'jobb'"):
        ip.compare_releases(joint, {}, levels={"jobb": [2]})
    with pytest.raises(ip.InvalidOptionError, match="names none of them"):
        ip.compare_releases(joint, {}, levels={"job": [{"0": "low"}]})
    with pytest.raises(ip.InvalidOptionError, match="2 bins of 'job' need numbers"):
        ip.compare_releases(ip.Joint.from_frame(people().astype(str), ["job", "age"], "sex"), {}, levels={"job": [2]})
    with pytest.raises(ip.InvalidOptionError, match="a name of its own"):
        ip.compare_releases(joint, {"merged to 2": ip.merge_two(joint).encoder_at(2)}, merged=[2])
    with pytest.raises(ip.InvalidOptionError, match="merged values must be a positive whole number"):
        ip.compare_releases(joint, {}, merged=[2.5])
    with pytest.raises(ip.InvalidOptionError, match="max_lift must be a number of nats"):
        ip.compare_releases(joint, {}, merged=[2]).advice(max_lift=-1.0)
    with pytest.raises(ip.InvalidEncoderError):
        ip.compare_releases(joint, {"wrong": np.ones((2, 3))})


def test_levels_are_the_rows_in_coarser_groups_in_every_combination():
    rows = people()
    rows["age"] = rows.age * 7 + rows.job % 2
    joint = ip.Joint.from_frame(rows, ["job", "age"], "sex")
    jobs = {0: "low", 1: "low", 9: "none has it"}
    found = ip.compare_releases(joint, {}, levels={"age": [3, 1], "job": [jobs]}).to_frame().set_index("name")
    assert found.index.tolist() == [
        "age in 3 bins", "age in 1 bin", "job at level 1", "job at level 1, age in 3 bins", "job at level 1, age in 1 bin",
    ]  # fmt: skip
    job, age = rows.job.replace({0: "low", 1: "low"}).astype(str), pd.cut(rows.age, [-1, 2, 9, 20]).astype(str)
    for name, groups in (
        ("age in 3 bins", rows.job.astype(str) + age),
        ("job at level 1, age in 3 bins", job + age),
        ("job at level 1, age in 1 bin", job),
    ):
        assert found.ixz_bits[name] == pytest.approx(informed(groups, groups))
        assert found.iyz_bits[name] == pytest.approx(informed(groups, rows.sex))
        assert found.smallest_group[name] == pytest.approx(groups.value_counts().min())


def test_bins_of_bins_are_in_the_order_of_their_edges_and_what_is_missing_stays_apart():
    rows = people()
    rows["age"] = np.where(np.arange(600) % 10 == 0, np.nan, np.arange(600) % 97)
    joint = ip.Joint.from_frame(rows, "age", "sex", bins={"age": 12}, missing="category")
    (half,) = ip.compare_releases(joint, {}, levels={"age": [2]}).releases
    groups = [set(np.array(joint.x_labels)[row > 0]) for row in half.encoder]
    assert {"missing"} in groups
    low, high = sorted((group for group in groups if group != {"missing"}), key=lambda group: "under 8" not in group)
    lows, highs = ([one.low for one in joint.x_labels if one in group] for group in (low, high))
    assert max(edge or 0.0 for edge in lows) < min(highs)


def test_a_mechanism_file_is_a_release_like_its_encoder(tmp_path):
    rows = people()
    rows["years"] = np.arange(600) % 71
    joint = ip.Joint.from_frame(rows, ["job", "years"], "sex", bins={"years": 3})
    kept = ip.release_mechanism(joint, max_lift=0.2, rng=0)
    file = tmp_path / "m.json"
    write_mechanism(Mechanism.of_joint(joint, kept.encoder), file)
    found = ip.compare_releases(joint, {"array": kept, "path": file, "text": str(file)}).to_frame()
    assert np.ptp(found.iloc[:, 1:5].to_numpy(dtype=float), axis=0) == pytest.approx(0.0, abs=1e-10)
    # In finer bins, and with another column of x that the mechanism does not look at, it is the same release.
    (low, high) = joint.bins["years"]
    finer = ip.Joint.from_frame(rows, ["age", "years", "job"], "sex", bins={"years": [3, low, low + 1, high]})
    again = ip.compare_releases(finer, {"path": file}).to_frame()
    assert again.iyz_bits[0] == pytest.approx(found.iyz_bits[0], abs=1e-12)
    assert again.worst_lift_bits[0] == pytest.approx(found.worst_lift_bits[0], abs=1e-12)
    with pytest.raises(ip.InvalidMechanismError, match=f"cuts 'years' at {low}, within the joint's 'under {low + 1}'"):
        ip.compare_releases(
            ip.Joint.from_frame(rows, ["job", "years"], "sex", bins={"years": [low + 1]}), {"path": file}
        )
    with pytest.raises(ip.InvalidMechanismError, match="releases the column 'years', which x has not"):
        ip.compare_releases(ip.Joint.from_frame(rows, ["job", "age"], "sex"), {"path": file})
    with pytest.raises(ip.InvalidMechanismError, match="met none of the values"):
        ip.compare_releases(
            ip.Joint.from_frame(rows.assign(job="x"), ["job", "years"], "sex", bins={"years": [low, high]}),
            {"path": file},
        )


def test_the_names_of_many_releases_are_those_that_nothing_dominates():
    rows = people()
    joint = ip.Joint.from_frame(rows, ["job", "age"], "sex")
    found = ip.compare_releases(joint, {"all": np.eye(joint.shape[0])}, levels={"age": [2, 1], "job": [4, 3, 2, 1]})
    assert len(found.releases) > 12
    left = found.plot().axes[0]
    useful = {one.name for one in found.releases if found.dominated_by(one) is None}
    assert {text.get_text() for text in left.texts} == useful
    assert 0 < len(useful) < len(found.releases)
    assert left.get_title(loc="left").endswith("not named")


def test_utility_falls_with_each_cap_and_caps_hold():
    joint = ip.datasets.paper_uniform()
    found = ip.release_frontier(joint, [0.005, None], [0.3 * BIT, 0.05 * BIT], rng=0, max_seconds=20)
    frame = found.to_frame()
    assert len(frame) == 5
    capped = frame[frame.max_lift_bits.notna()]
    assert (capped[["worst_lift_bits"]].to_numpy()[:, 0] <= capped.max_lift_bits + 1e-9).all()
    assert (-capped.least_lift_bits <= capped.max_lift_bits + 1e-9).all()
    assert (frame.iyz_bits[frame.max_leakage_bits.notna()] <= 0.005 / BIT + 1e-9).all()
    for _, group in frame.groupby("max_leakage_bits", dropna=False):
        # From loose to tight; what is proven allows for the gap.
        upper = group.ixz_bits + group.gap_bits
        assert (group.ixz_bits.to_numpy()[1:] <= upper.to_numpy()[:-1] + 1e-9).all()
    alone = frame[frame.max_lift_bits.isna()].iloc[0]
    assert alone.cost_bits == 0.0
    assert frame.cost_bits[1] == pytest.approx(alone.ixz_bits - frame.ixz_bits[1])
    free = frame[frame.max_leakage_bits.isna()].iloc[0]
    assert free.cost_bits == pytest.approx(joint.entropy_x / BIT - free.ixz_bits)
    ax = found.plot()
    assert len(ax.containers) == 2
    assert "certified" in str(found)


def test_no_caps_are_refused():
    with pytest.raises(ip.InvalidOptionError, match="one at least"):
        ip.release_frontier(ip.datasets.paper_uniform(), [0.01], [])
