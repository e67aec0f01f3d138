"""What to keep and what to hide, of the same rows; and what is refused, by name."""

import pickle

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from made_up import made_tasks

ROWS = pd.DataFrame(
    {
        "job": list("aabbccaabb"),
        "town": list("uvuvuvuvuv"),
        "rich": [0, 1, 1, 1, 0, 0, 1, 0, 1, 1],
        "sex": list("fmfmfmmmff"),
        "n": [3, 1, 2, 2, 1, 4, 1, 1, 2, 3],
    }
)


def test_from_rows_both_joints_are_those_of_the_same_rows():
    tasks = ip.TaskJoint.from_frame(ROWS, x=["job", "town"], keep="rich", hide=["sex"], weight="n")
    assert tasks.keep == ip.Joint.from_frame(ROWS, ["job", "town"], "rich", weight="n")
    assert tasks.hide == ip.Joint.from_frame(ROWS, ["job", "town"], "sex", weight="n")
    assert tasks.records == 20
    assert tasks.joint.records is None
    assert [one.name for one in tasks.joint.targets] == ["keep rich", "hide sex"]
    # A row that lacks what is hidden is no row of what is kept either.
    holes = ROWS.assign(sex=ROWS.sex.where(ROWS.index > 2))
    dropped = ip.TaskJoint.from_frame(holes, x="job", keep="rich", hide="sex", missing="drop")
    assert dropped.records == 7
    assert dropped == ip.TaskJoint.from_frame(ROWS[3:], x="job", keep="rich", hide="sex")


def test_it_comes_back_from_its_joint_and_from_a_pickle():
    for tasks in (made_tasks(0), ip.TaskJoint.from_frame(ROWS, x="job", keep=["rich", "town"], hide="sex")):
        again = ip.TaskJoint.of(tasks.joint)
        assert np.allclose(again.keep.p_xy, tasks.keep.p_xy, atol=1e-16)
        assert (again.hide.y_labels, again.keep.y_names) == (tasks.hide.y_labels, tasks.keep.y_names)
        assert pickle.loads(pickle.dumps(tasks)) == tasks


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"x": "job", "keep": "sex", "hide": "sex"}, "found 'sex' in both"),
        ({"x": ["job", "sex"], "keep": "rich", "hide": "sex"}, "must not tell what is to be hidden; found the column 'sex'"),
        ({"x": "job", "keep": "job", "hide": "sex"}, "found 'job' in x and again in y"),
        ({"x": "job", "keep": "rick", "hide": "sex"}, "found 'rick'"),
    ],
)  # fmt: skip
def test_columns_that_are_refused(columns, message):
    with pytest.raises(ip.InvalidJointError, match=message):
        ip.TaskJoint.from_frame(ROWS, **columns)


def test_joints_that_do_not_fit():
    keep, hide = made_tasks(0).keep, made_tasks(0).hide
    fewer = ip.Joint.from_counts(hide.p_xy[:-1], y_names="s")
    with pytest.raises(ip.InvalidJointError, match="nothing is said of x = 7"):
        ip.TaskJoint(keep, fewer)
    with pytest.raises(ip.InvalidJointError, match=r"the same p\(x\)"):
        ip.TaskJoint(keep, hide.with_prior("uniform"))
    with pytest.raises(AttributeError, match="immutable"):
        made_tasks(0).keep = keep
    with pytest.raises(ip.InvalidOptionError, match="needs a problem of tasks"):
        ip.solve(made_tasks(0), ip.bottleneck(0.2))
    with pytest.raises(ip.InvalidJointError, match="a problem that keeps one target"):
        ip.solve(keep, ip.task_funnel(1.0))
    with pytest.raises(ip.UnsupportedProblemError, match="one Y"):
        ip.solve(made_tasks(0), ip.task_funnel(1.0), "ib-1")


def test_a_secret_that_x_determines_is_named():
    known = ip.Joint.from_matrix(np.diag([0.2, 0.3, 0.5]), y_names="id")
    tasks = ip.TaskJoint(ip.Joint.from_conditional([0.2, 0.3, 0.5], [[0.5, 0.5]] * 3, y_names="u"), known)
    assert "x determines id" in tasks.caution
    assert made_tasks(0).caution is None
