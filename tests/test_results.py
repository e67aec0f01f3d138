"""Results: nobody can change them, and they can be compared and put into sets."""

import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest

import infoplane as ip
from infoplane.information import read_only
from infoplane.solution import Residuals, Run, Status, judge, proven
from infoplane.storage.store import read_store
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


STILL, MOVING = Residuals(0.0, 0.0, 1e-9), Residuals(0.0, 0.0, 0.1)


@pytest.mark.parametrize(
    ("gap", "residuals", "otherwise", "expected"),
    [
        (1e-9, MOVING, Status.STALLED, Status.CERTIFIED),
        (0.0, MOVING, Status.INTERRUPTED, Status.CERTIFIED),
        (1.1e-9, MOVING, Status.STALLED, Status.STALLED),
        (1.1e-9, STILL, Status.CERTIFIED, Status.STATIONARY),
        (1.1e-9, MOVING, Status.CERTIFIED, Status.ITERATION_LIMIT),
        (-1e-10, MOVING, Status.STALLED, Status.CERTIFIED),  # rounding
        (-1e-8, MOVING, Status.STALLED, Status.STALLED),  # a bound above the loss proves nothing
        (-1e-8, STILL, Status.CERTIFIED, Status.STATIONARY),
        (None, STILL, Status.CERTIFIED, Status.STATIONARY),
        (float("nan"), STILL, Status.CERTIFIED, Status.STATIONARY),
    ],
)
def test_certified_is_a_gap_of_at_most_what_was_asked_for(gap, residuals, otherwise, expected):
    assert proven(gap, 1e-9, residuals, otherwise) is expected


@dataclass(frozen=True)
class Boastful(ip.Solver):
    """Calls the identity certified, with a bound a nat below it, or with none."""

    name = "boastful"
    proof: bool = True
    deterministic = True

    def run(self, job):
        W = np.eye(job.letters)
        return [Run(W, Status.CERTIFIED, 1, MOVING, lower_bound=job.loss(W) - 1.0 if self.proof else None)]


@pytest.mark.parametrize("solver", [Boastful(), Boastful(proof=False)])
def test_a_solver_that_boasts_is_judged_by_the_tolerance_asked_for(solver, tmp_path):
    joint, asked = ip.datasets.paper_uniform(), {"certify": 1e-6, "rng": 0}
    found = [ip.sweep(joint, ip.bottleneck, [0.2], solver, **asked)]
    found += [ip.sweep(joint, ip.bottleneck, [0.2], solver, **asked, store=tmp_path / "runs.db")]
    found += [read_store(tmp_path / "runs.db")]
    found[0].save(tmp_path / "runs.npz")
    found += [ip.Frontier.load(tmp_path / "runs.npz")]
    for frontier in found:
        for run in frontier.runs:
            assert (run.status is Status.CERTIFIED) == (run.gap <= 1e-6)
        assert {run.solver: run.status for run in frontier.runs}["boastful"] is Status.ITERATION_LIMIT
    assert ip.solve(joint, ip.bottleneck(0.2), replace(solver, proof=False)).status is Status.ITERATION_LIMIT


@pytest.mark.parametrize("asked", [1e-9, 1e-12])
def test_a_wide_tolerance_of_the_solver_does_not_widen_the_one_asked_for(asked):
    joint, solver = ip.datasets.paper_uniform(), ip.Columns(tol=1e-2, max_cells=500)
    run = ip.sweep(joint, ip.funnel, [2.5], solver, certify=asked).runs[0]
    assert (run.status is Status.CERTIFIED) == (run.gap <= asked)
    one = ip.solve(joint, ip.funnel(2.5), solver, certify=asked)
    assert (one.status is Status.CERTIFIED) == (one.gap <= asked)


def test_almost_is_the_same_check_with_looser_tolerances():
    assert judge(Residuals(1e-9, 1e-9, 1e-9), 1e-8, Status.STALLED) is Status.STATIONARY
    assert judge(Residuals(1e-9, 1e-9, 2e-8), 1e-8, Status.STALLED) is Status.ALMOST
    assert judge(Residuals(1e-9, 1e-3, 2e-8), 1e-8, Status.STALLED) is Status.STALLED
    assert not Status.ALMOST.converged
