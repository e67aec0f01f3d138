"""Releases of what tells of U: honest files are verified, what was changed is not, and no posterior is below the bound of its box."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from checker_cases import parts
from infoplane.errors import InvalidAnswerError
from infoplane_verify.exact import Form
from infoplane_verify.exact import bound as exact_bound
from infoplane_verify.kept import KeptBoxes
from infoplane_verify.search import Cells
from made_up import made_tasks

from .test_release import verdict

TERMS = {
    "lift": {"max_lift": 0.1},
    "above": {"max_lift": 0.2, "two_sided": False},
    "both": {"max_lift": 0.2, "max_leakage": 0.005},
    "average": {"max_leakage": 0.01},
    "nothing": {"max_leakage": 0.0},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    task = made_tasks(0, letters=6, kept=2, hidden=3)
    for name, terms in TERMS.items():
        ip.release_mechanism(task, **terms, rng=0).save(folder / f"{name}.npz")
    rows = np.random.default_rng(0).integers(0, 3, (400, 3))
    frame = pd.DataFrame({"x": rows[:, 0] * 3 + rows[:, 1], "u": rows[:, 0] > 0, "s": (rows[:, 1] + rows[:, 2]) % 3})
    people = ip.TaskJoint.from_frame(frame, "x", "u", "s")
    ip.release_mechanism(people, max_lift=0.05, min_group=60, rng=0).save(folder / "group.npz")
    return folder


@pytest.mark.parametrize("name", [*TERMS, "group"])
def test_an_honest_release_is_verified(files, name):
    (found,) = ip.verify(files / f"{name}.npz")
    assert found.verdict.name == "VERIFIED", found.reason
    assert found.loss == -found.iuz


@pytest.mark.parametrize("name", ["lift", "both"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda meta, arrays: meta["caps"].update(max_lift=meta["caps"]["max_lift"] / 2), "p(s|z) of released value"),
        (lambda meta, arrays: arrays["numbers"].__setitem__(3, arrays["numbers"][1] - 1e-6), "above the bound"),
        (lambda meta, arrays: arrays["numbers"].__setitem__(1, arrays["numbers"][1] + 1e-9), "the file's I(U;Z)"),
        # A release that says nothing, and a bound that says that nothing is better.
        (
            lambda meta, arrays: arrays.update(
                encoder=np.ones((1, 6)), numbers=np.array([arrays["numbers"][0], 0.0, 0.0, 1e-7])
            ),
            "the bound needs",
        ),
    ],
)
def test_what_was_changed_is_refuted(files, tmp_path, name, change, said):
    meta, arrays = parts(files / f"{name}.npz")
    change(meta, arrays)
    found = verdict(tmp_path, meta, arrays)
    assert found.verdict.name == "REFUTED"
    assert said in found.reason


@pytest.mark.parametrize("kept", [3, True, None])
def test_values_of_the_target_that_its_table_has_not_are_refused(files, tmp_path, kept):
    meta, arrays = parts(files / "lift.npz")
    meta["kept"] = kept
    with pytest.raises(InvalidAnswerError):
        verdict(tmp_path, meta, arrays)


@pytest.mark.parametrize("beta", [0.0, 0.7])
def test_no_posterior_within_the_caps_is_below_the_bound_of_its_box(beta):
    rng = np.random.default_rng(0)
    met = 0
    for _ in range(30):
        P = rng.dirichlet(np.ones(6))[:, None]
        U, S = P * rng.dirichlet(np.ones(2), 6), P * rng.dirichlet(np.ones(3), 6)
        p, lam = S.sum(axis=0), 0.3 * rng.normal(size=6)
        most = rng.choice([1.0, 0.6], 6)
        boxes = KeptBoxes(U / P, S / P, lam, beta, 0.6 * p, np.minimum(1.5 * p, 1.0), most)
        q = rng.dirichlet(np.full(6, 0.7), 400)
        g, _ = boxes.values(q)
        q, g = q[np.isfinite(g)], g[np.isfinite(g)]
        u = q[0] @ boxes.U
        low, high = np.maximum(u - 0.1, 0.0), np.minimum(u + 0.1, 1.0)
        inside = ((q @ boxes.U >= low) & (q @ boxes.U <= high)).all(axis=1)
        met += int(inside.sum())
        ((_, best),) = boxes.examine(box(low, high), 50.0).open  # of all programmes: none reaches so much
        (first,) = boxes.examine(box(low, high), -50.0).closed  # of the first
        assert first.bound <= best.max() <= g[inside].min()
        form = Form(U, S, lam, 1.0, beta, 0.0, *boxes.caps, most)
        exact = float(exact_bound(form, first))
        assert first.bound <= exact <= first.bound + 1e-11
    assert met > 300


def box(low, high):
    """One cell, at which a search for its bound may begin anywhere."""
    return Cells(low[None], high[None], np.zeros((1, 0)))


def test_a_box_that_the_caps_leave_empty_is_closed():
    U, S = np.array([[0.4, 0.1], [0.1, 0.4]]), np.array([[0.5, 0.0], [0.0, 0.5]])
    boxes = KeptBoxes(2 * U, 2 * S, np.zeros(2), 0.0, np.array([0.45, 0.45]), np.array([0.55, 0.55]), np.ones(2))
    low, high = np.array([0.53001, 0.45]), np.array([0.55, 0.46999])  # p(u|z) is from 0.47 to 0.53
    found = boxes.examine(box(low, high), 50.0)
    assert [one.bound > 50.0 for one in found.closed] == [True]
    assert found.open == []
