"""Several targets as one: informations add up, certificates hold, names come back, and what does not fit is refused by name."""

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
import verify
from infoplane.errors import InvalidJointError, InvalidOptionError
from infoplane.joint.joint import Joint


def targets(rng, letters=6, sizes=(2, 3, 4)):
    p_x = rng.dirichlet(np.ones(letters))
    names = "abcdefgh"[: len(sizes)]
    return p_x, [
        Joint.from_matrix(p_x[:, None] * rng.dirichlet(np.ones(size), letters), y_names=name)
        for name, size in zip(names, sizes, strict=True)
    ]


@pytest.mark.parametrize("seed", range(20))
def test_the_information_of_a_mixture_is_the_weighted_sum(seed):
    rng = np.random.default_rng(seed)
    p_x, joints = targets(rng)
    weights = rng.uniform(0.1, 3.0, len(joints))
    mixed = Joint.mixed(list(zip(weights, joints, strict=True)))
    W = rng.dirichlet(np.ones(4), len(p_x)).T
    each = [verify.mutual_informations(joint.p_xy, W)[1] for joint in joints]
    theta = weights / weights.sum()
    assert ip.information.plane_point(mixed, W).iyz == pytest.approx(float(theta @ each), abs=1e-12)
    assert list(mixed.target_informations(W).values()) == pytest.approx(each, abs=1e-12)
    assert list(mixed.target_informations(W)) == ["a", "b", "c"]
    assert mixed.records is None


def test_a_certified_bottleneck_of_two_tasks_is_the_optimum_of_the_sum():
    p_x, joints = targets(np.random.default_rng(3), sizes=(2, 2))
    mixed = Joint.mixed([(3.0, joints[0]), (1.0, joints[1])])
    found = ip.solve(mixed, ip.bottleneck(0.1), certify=True)
    assert found.status is ip.Status.CERTIFIED
    loss = 0.1 * found.ixz - 0.75 * found.by_target["a"] - 0.25 * found.by_target["b"]
    assert found.loss == pytest.approx(loss, abs=1e-12)
    for seed in range(20):  # no encoder is below the bound, of the sum computed by itself
        W = np.random.default_rng(seed).dirichlet(np.full(5, 0.3), len(p_x)).T
        one, two = (verify.mutual_informations(joint.p_xy, W)[1] for joint in joints)
        assert 0.1 * verify.mutual_informations(joints[0].p_xy, W)[0] - 0.75 * one - 0.25 * two >= found.lower_bound
    assert "I(a;Z)" in found._repr_html_()


def test_rows_are_matched_by_label_and_files_keep_the_names(tmp_path):
    P = np.array([[0.1, 0.2], [0.3, 0.4]])
    one, two = Joint(P, ["u", "v"], y_names="s"), Joint(P[::-1, ::-1], ["v", "u"], y_names="t")
    mixed = Joint.mixed([(1, one), (1, two)])
    assert np.allclose(mixed.p_xy, 0.5 * np.hstack([P, P[:, ::-1]]))
    frontier = ip.sweep(mixed, ip.bottleneck, [0.1, 0.2], rng=0)
    frontier.save(tmp_path / "f.npz")
    again = ip.Frontier.load(tmp_path / "f.npz")
    assert again.joint == mixed
    assert again.runs[0].by_target == frontier.runs[0].by_target
    assert [one.name for one in again.joint.targets] == ["s", "t"]
    wide = Joint.mixed([(1, Joint(sparse.csr_array(P), y_names="s")), (2, Joint(sparse.csr_array(P), y_names="t"))])
    assert wide.is_sparse
    assert [one.weight for one in wide.targets] == pytest.approx([1 / 3, 2 / 3])
    assert [one.name for one in one.targets] == ["s"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda a, b: [(1, a), (1, a)], "found 'a' twice"),
        (lambda a, b: [(1, a), (0, b)], "the weight of 'b' must be"),
        (lambda a, b: [(1, a), (1, Joint(b.p_xy, [*range(5), 9], y_names="b"))], "nothing is said of x = 5"),
        (lambda a, b: [(1, a), (1, b.with_prior("uniform"))], "x = .* with 'a' and 0.1666"),
        (lambda a, b: [(1, a), (1, Joint(b.p_xy, x_names="town", y_names="b"))], "'a' has the columns x and 'b' has town"),
        (lambda a, b: [], "one or more pairs"),
        (lambda a, b: 3, "found a value of type int"),
        (lambda a, b: [(1, b.p_xy)], "a joint must be an infoplane.Joint"),
    ],
)  # fmt: skip
def test_what_is_refused(change, message):
    _, (a, b) = targets(np.random.default_rng(0), sizes=(2, 3))
    with pytest.raises((InvalidJointError, InvalidOptionError), match=message):
        Joint.mixed(change(a, b))
