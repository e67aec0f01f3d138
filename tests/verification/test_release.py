"""Files of releases: honest ones are verified, whatever their caps; what was changed in them is refuted or refused."""

import math

import numpy as np
import pytest

import infoplane as ip
from checker_cases import parts, written
from infoplane.errors import InvalidAnswerError
from infoplane_verify.release import ReleaseBoxes

BIT = math.log(2.0)
TERMS = {
    "lift": {"max_lift": 0.2 * BIT},
    "above": {"max_lift": 0.5 * BIT, "two_sided": False},
    "both": {"max_lift": 0.4 * BIT, "max_leakage": 0.01 * BIT},
    "average": {"max_leakage": 0.02 * BIT},
    "group": {"max_lift": 0.3 * BIT, "min_group": 60},
}


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("releases")
    joint = ip.Joint.from_counts([[30, 5, 8], [4, 40, 9], [12, 11, 50], [20, 3, 1]])
    for name, terms in TERMS.items():
        ip.release_mechanism(joint, **terms, rng=0).save(folder / f"{name}.npz")
    return folder


def verdict(tmp_path, meta, arrays):
    return ip.verify(written(tmp_path / "forged.npz", meta, arrays), max_cells=3000)[0]


@pytest.mark.parametrize("name", TERMS)
def test_an_honest_release_is_verified(files, name):
    (found,) = ip.verify(files / f"{name}.npz")
    assert found.verdict.name == "VERIFIED", found.reason
    assert found.family == "release"


@pytest.mark.parametrize("name", ["lift", "both"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda meta, arrays: meta["caps"].update(max_lift=meta["caps"]["max_lift"] / 2), "p(s|z) of released value"),
        (lambda meta, arrays: arrays["numbers"].__setitem__(3, arrays["numbers"][1] - 1e-6), "above the bound"),
        (lambda meta, arrays: arrays["numbers"].__setitem__(1, arrays["numbers"][1] + 1e-9), "that of its encoder"),
        (lambda meta, arrays: arrays["numbers"].__setitem__(2, 0.0), "that of its encoder"),
        (lambda meta, arrays: arrays["numbers"].__setitem__(3, arrays["numbers"][3] + 1e-3), "called certified"),
        (lambda meta, arrays: meta["caps"].update(min_group=190), "the rarest released value"),
        # A release that says nothing, and a bound that says that nothing is better.
        (
            lambda meta, arrays: arrays.update(
                encoder=np.ones((1, 4)), numbers=np.array([arrays["numbers"][0], 0.0, 0.0, 1e-7])
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


@pytest.mark.parametrize(
    "change",
    [
        lambda meta, arrays: meta["caps"].pop("records"),
        lambda meta, arrays: meta["caps"].update(max_lift=-1.0),
        lambda meta, arrays: meta["caps"].update(capped=[True]),
        lambda meta, arrays: meta.update(certified="yes"),
        lambda meta, arrays: arrays["numbers"].__setitem__(0, -1.0),
        lambda meta, arrays: arrays["multipliers"].__setitem__(0, np.nan),
        lambda meta, arrays: arrays["encoder"].__setitem__((0, 0), 2.0),
        lambda meta, arrays: arrays.pop("encoder"),
    ],
)
def test_what_makes_no_sense_is_refused(files, tmp_path, change):
    meta, arrays = parts(files / "lift.npz")
    change(meta, arrays)
    with pytest.raises(InvalidAnswerError):
        verdict(tmp_path, meta, arrays)


@pytest.mark.parametrize("beta", [0.0, 0.8])
def test_no_posterior_within_the_caps_is_below_the_bound_of_its_box(beta):
    rng = np.random.default_rng(0)
    met = 0
    for _ in range(30):
        n, m = 6, 3
        T, lam = rng.dirichlet(np.ones(m), n), 0.3 * rng.normal(size=n)
        p = rng.dirichlet(np.ones(n)) @ T
        L, U = 0.6 * p, np.minimum(1.5 * p, 1.0)
        boxes = ReleaseBoxes(T, lam, beta, L, U, np.ones(n))
        cells = boxes.root()
        q = rng.dirichlet(np.full(n, 0.5), 300)
        q = q[((q @ T >= L) & (q @ T <= U)).all(axis=1)]
        centre = q[0]
        cells = cells._replace(low=np.maximum(centre - 0.2, 0.0)[None], high=np.minimum(centre + 0.2, 1.0)[None])
        _, bound = boxes.bounded(cells)
        inside = ((q >= cells.low) & (q <= cells.high)).all(axis=1)
        met += int(inside.sum())
        assert boxes.values(q[inside])[0].min() >= bound.safe[0]
    assert met > 30


def test_multipliers_that_are_huge_prove_nothing(files, tmp_path):
    """What a proof allows for rounding grows with them, and must not be given away."""
    meta, arrays = parts(files / "above.npz")
    arrays["encoder"] = np.ones((1, 4))
    arrays["numbers"][1:] = 0.0, 0.0, 5e-7
    for times in (1e10, 1e16, 1e50, 9e90):
        found = verdict(tmp_path, meta, arrays | {"multipliers": arrays["multipliers"] * times})
        assert found.verdict.name == "REFUTED"


def test_nothing_told_on_average_is_nothing_told_by_any_value(tmp_path):
    joint = ip.Joint.from_counts(ip.datasets.heart().p_xy[::2])
    for terms in ({}, {"max_lift": 0.1}):
        kept = ip.release_mechanism(joint, max_leakage=0.0, **terms, rng=0)
        assert kept.certified
        assert kept.utility == pytest.approx(ip.perfect_privacy(joint).utility, abs=1e-6)
        assert abs(kept.worst_lift.nats) < 1e-9
    kept.save(tmp_path / "r.npz")
    assert ip.verify(tmp_path / "r.npz")[0].verdict.name == "VERIFIED"


def test_a_bound_that_needed_no_multipliers_is_verified(tmp_path):
    joint = ip.Joint.from_counts([[30, 5, 8], [4, 40, 9], [12, 11, 50]])
    ip.release_mechanism(joint, max_leakage=5.0).save(tmp_path / "r.npz")
    assert ip.verify(tmp_path / "r.npz")[0].verdict.name == "VERIFIED"
