"""Which status a run has follows from its numbers, by one rule, wherever it is shown."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

import infoplane as ip
from infoplane.results import Residuals, Run, Status, judge, proven
from infoplane.storage.reader import read_store

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


def test_almost_is_the_same_test_with_a_looser_tolerance():
    assert judge(Residuals(0.0, 0.0, 1e-5), 1e-8, Status.STALLED) is Status.ALMOST


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
