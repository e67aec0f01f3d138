"""Files of runs that keep one target and hide another: true ones are verified, forged bounds, numbers and roles are not."""

import numpy as np
import pytest

import infoplane as ip
import infoplane_verify
from checker_cases import parts, written
from infoplane_verify.tasks import TaskBoxes
from made_up import made_tasks, told


def test_no_posterior_is_below_a_closed_box():
    rng = np.random.default_rng(0)
    T_u, T_s = rng.dirichlet(np.ones(3), 6), rng.dirichlet(np.ones(4), 6)
    boxes = TaskBoxes(T_u, T_s, 0.2 * rng.random(6), 1.0, 0.7, 0.0)
    Q = np.vstack([rng.dirichlet(np.full(6, a), 2000) for a in (0.1, 1.0)])
    values, _ = boxes.values(Q)
    found = boxes.examine(boxes.root(), values.min() - 1.0)
    assert len(found.closed) == 1
    cells = boxes.root()
    for target in (values.min() + 0.02, values.min() - 0.01):
        for _ in range(6):
            found = boxes.examine(cells, target)
            for closed in found.closed:
                inside = ((Q @ T_u >= closed.low) & (Q @ T_u <= closed.high)).all(axis=1)
                assert (values[inside] >= closed.bound).all()
            if not found.open:
                break
            cells = found.open[0][0]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tasks")
    tasks = made_tasks(3, letters=5, kept=2, hidden=3)
    runs = {
        "gamma": ip.solve(tasks, ip.task_funnel(0.6), certify=True),
        "zero": ip.solve(tasks, ip.task_funnel(0.6, gamma=0.0), certify=True),
        "cap": ip.task_at_leakage(tasks, 0.01).solution,
        "nothing": ip.task_at_leakage(tasks, 0.0).solution,
        "side": ip.solve(tasks, ip.side_information_bottleneck(0.05, hide=0.5), certify=True),
    }
    for name, run in runs.items():
        ip.Frontier(run.joint, [run]).save(folder / f"{name}.npz")
    return tasks, runs, folder


@pytest.mark.parametrize("name", ["gamma", "zero", "cap", "nothing", "side"])
def test_true_files_are_verified(files, name):
    tasks, runs, folder = files
    (check,) = infoplane_verify.verify(folder / f"{name}.npz")
    assert check.verdict.name == "VERIFIED"
    ixz, iuz, isz = told(tasks, runs[name].encoder)
    assert (check.ixz, check.iuz, check.isz) == pytest.approx((ixz, iuz, isz), abs=1e-12)
    assert "I(U;Z)" in infoplane_verify.sentence(check)


def raised(meta, _arrays):
    meta["lower_bounds"] = [bound + 1e-5 for bound in meta["lower_bounds"]]


def better(meta, arrays):
    arrays["plane"][:, 0] -= 1e-6
    meta["lower_bounds"] = [bound - 1e-6 for bound in meta["lower_bounds"]]


def exchanged(meta, _arrays):
    for label in meta["y_labels"]["tuple"]:
        role, _, name = label["tuple"][0].partition(" ")
        label["tuple"][0] = f"{'hide' if role == 'keep' else 'keep'} {name}"


def one_target(meta, _arrays):
    meta["y_names"] = ["a", "b"]


def other_hide(meta, arrays):
    arrays["rho"][:, 2] *= 1.5


def other_name(meta, _arrays):
    meta["families"] = ["task_lagrangian"]


def other_mass(_meta, arrays):
    first = np.flatnonzero(arrays["p_column"] == 0)[:2]
    arrays["p_value"][first] += np.array([1e-4, -1e-4])


def other_multipliers(_meta, arrays):
    arrays["multipliers"][:, 0] -= 0.05


def forged(files, tmp_path, name, change):
    """The verdict on a file of which something was changed; its proof ends within a hundred cells if nothing was."""
    meta, arrays = parts(files[2] / f"{name}.npz")
    change(meta, arrays)
    return infoplane_verify.verify(written(tmp_path / "forged.npz", meta, arrays), max_cells=1000)[0].verdict.name


@pytest.mark.parametrize("name", ["gamma", "zero", "cap"])
@pytest.mark.parametrize("change", [raised, better, other_multipliers])
def test_forged_numbers_are_refuted(files, tmp_path, name, change):
    assert forged(files, tmp_path, name, change) == "REFUTED"


@pytest.mark.parametrize("name", ["gamma", "zero", "cap"])
@pytest.mark.parametrize(
    ("change", "said"),
    [
        (exchanged, "not of one target to keep and one to hide"),
        (one_target, "its joint is of another kind"),
        (other_hide, "is a task_funnel at"),
        (other_name, "is a task_lagrangian with a parameter"),
        (other_mass, "do not have the same p"),
    ],
)
def test_other_roles_and_other_problems_are_refused(files, tmp_path, name, change, said):
    with pytest.raises(infoplane_verify.UnreadableAnswerError, match=said):
        forged(files, tmp_path, name, change)


def test_a_file_that_was_only_written_again_is_verified(files, tmp_path):
    """What was changed is what the others are refused for."""
    assert forged(files, tmp_path, "gamma", lambda _meta, _arrays: None) == "VERIFIED"
