"""Releases on one plane: numbers by formulas written here, dominance by its definition, the releases made on request, and the advice."""

import math

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import infoplane as ip

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


@given(st.integers(0, 2**32 - 1))
def test_dominated_is_what_its_definition_says(seed):
    rng = np.random.default_rng(seed)
    joint = ip.Joint.from_matrix(rng.dirichlet(np.ones(12)).reshape(4, 3))
    # Blurring an encoder lowers all three numbers; the copies are equal to none but themselves.
    encoders = {f"{k}": rng.dirichlet(np.ones(3), 4).T for k in range(6)}
    encoders |= {"all": np.eye(4), "again": np.eye(4), "nothing": np.ones((1, 4))}
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


def test_the_best_release_dominates_a_merge_and_the_advice_keeps_to_caps():
    joint = ip.datasets.heart()
    ours = ip.release_mechanism(joint, max_leakage=0.01 * BIT, rng=0)
    both = ip.release_mechanism(joint, max_leakage=0.01 * BIT, max_lift=0.4 * BIT, rng=0)
    found = ip.compare_releases(joint, {"average": ours, "worst case": both}, merged=[4, 8, 12])
    frame = found.to_frame().set_index("name")
    path = ip.merge_two(joint)
    assert frame.ixz_bits["merged to 8"] == pytest.approx(path.ixz[path.clusters == 8][0] / BIT)
    assert frame.dominated_by["merged to 8"] == "average"
    assert frame.worst_lift_bits["average"] == pytest.approx(ours.worst_lift.nats / BIT)
    assert frame.smallest_group["average"] == pytest.approx(ours.smallest_group)
    assert found.advice(max_leakage=0.01 * BIT).startswith("Take 'average': I(X;Z) = 2.813 bits")
    assert found.advice(0.01 * BIT, 0.4 * BIT).startswith("Take 'worst case': I(X;Z) = 2.812 bits")
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
    with pytest.raises(ip.InvalidOptionError, match="a name of its own"):
        ip.compare_releases(joint, {"merged to 2": ip.merge_two(joint).encoder_at(2)}, merged=[2])
    with pytest.raises(ip.InvalidOptionError, match="max_lift must be a number of nats"):
        ip.compare_releases(joint, {}, merged=[2]).advice(max_lift=-1.0)
    with pytest.raises(ip.InvalidEncoderError):
        ip.compare_releases(joint, {"wrong": np.ones((2, 3))})
