"""Results: nobody can change them, and they can be compared and put into sets."""

import pickle
from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from infoplane.results import read_only
from infoplane.systems.given import read_systems


class Square:
    """F(u) = |u - 1|^2 / 2."""

    def value(self, u):
        return float(((u - 1.0) ** 2).sum() / 2.0)

    def argmin(self, target, c, _start):
        return (1.0 + c * target) / (1.0 + c)


def results():
    """One of every kind that public functions return."""
    joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
    found = ip.solve(joint, problem, "ib-1", rng=0, starts=2, max_iter=50)
    proven = ip.certify(joint, problem, found.encoder)
    swept = ip.sweep(joint, ip.bottleneck, [0.1, 0.4], certify=True)
    return {
        "solution": found,
        "trace": found.trace,
        "certified": ip.solve(joint, problem, certify=True),
        "certificate": proven,
        "capped": ip.funnel_at_leakage(joint, 0.1),
        "private": ip.perfect_privacy(joint),
        "merges": ip.merge_two(joint),
        "capacity": ip.capacity(found.encoder),
        "pair": ip.douglas_rachford(Square(), Square(), p0=np.zeros(3), q0=np.zeros(3)),
        "frontier": swept,
        "enclosure": swept.enclosure(),
        "system": read_systems(joint, ["a", "b", "a"])[0],
        "joint": joint,
    }


@pytest.fixture(scope="module")
def found():
    return results()


def arrays_of(result):
    return {name: value for name, value in vars(result).items() if isinstance(value, np.ndarray)}


def test_results_are_compared_and_hashed_without_an_error(found):
    again = results()
    assert found.keys() == again.keys()
    for name, one in found.items():
        assert one == one, name
        assert hash(one) == hash(one)
        assert (one == again[name]) is (name == "joint")
        assert (one != again[name]) is (name != "joint")
        assert one != 0
    assert hash(found["joint"]) == hash(again["joint"])
    assert len({*found.values(), *again.values()}) == 2 * len(found) - 1


def test_no_array_of_a_result_can_be_written_to(found):
    seen = 0
    for name, one in found.items():
        for array in arrays_of(one).values():
            seen += 1
            with pytest.raises(ValueError, match="read-only"):
                array[...] = 0.0
            assert not (array.base is not None and array.base.flags.writeable), name
    assert seen > 25


def test_arrays_that_a_result_is_made_from_stay_the_callers(found):
    W = np.array(found["solution"].encoder)
    made = replace(found["solution"], encoder=W, multipliers=W[0])
    loss = made.loss
    W[:] = 1.0 / len(W)
    assert replace(made).loss == loss
    assert made.multipliers[0] != W[0, 0] or W[0, 0] == made.encoder[0, 0]
    path = ip.merge_two(found["joint"])
    assert replace(path, ixz=path.ixz).ixz is path.ixz  # what nobody can change is not copied


def test_a_frame_of_an_encoder_is_the_users_own(found):
    frame = found["solution"].encoder_frame()
    frame.iloc[:, 0] = 0.0
    assert found["solution"].encoder[0].sum() > 0.0


@pytest.mark.parametrize("name", ["solution", "trace", "certified", "certificate", "merges", "capacity", "capped"])
def test_pickles_come_back_read_only(found, name):
    back = pickle.loads(pickle.dumps(found[name]))
    back = getattr(back, "solution", back)
    assert arrays_of(back)
    assert not any(array.flags.writeable for array in arrays_of(back).values())


def test_stored_encoders_are_read_only(found, tmp_path):
    found["frontier"].save(tmp_path / "f.npz")
    back = ip.Frontier.load(tmp_path / "f.npz")
    assert back.runs
    for run in back.runs:
        assert not run.encoder.flags.writeable
        assert run.multipliers is None or not run.multipliers.flags.writeable
        assert run == run
        assert hash(run) == hash(run)


def test_only_what_somebody_could_write_to_is_copied():
    own = np.arange(6.0).reshape(2, 3)
    assert read_only(own) is not own
    kept = read_only(own)
    assert read_only(kept) is kept
    assert read_only(kept[0]).base is kept
    behind = own[:]
    behind.flags.writeable = False
    own[0, 0] = 7.0
    assert read_only(behind) is not behind
    turned = read_only(np.asfortranarray(own))
    assert turned.flags.f_contiguous  # the layout decides in which order numbers are summed
