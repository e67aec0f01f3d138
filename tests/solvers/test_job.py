"""What a solver is asked for: caps, losses, and how an encoder becomes a run.

No run is reported with an encoder that is none, nor as stationary where a letter of next to no mass says otherwise.
"""

import dataclasses
import inspect
from dataclasses import dataclass

import numpy as np
import pytest

import infoplane as ip
import verify
from batches import job_of, starts_of
from infoplane.joint.joint import Support
from infoplane.solution import Residuals, Run, Status
from infoplane.solvers.job import ProofOptions, RunOptions, parameters_of, work_of

HEART = ip.datasets.heart()


def test_the_cap_on_clusters_is_at_most_the_letters():
    job = job_of(HEART, ip.bottleneck(0.1))
    assert (job.most, job.capped) == (16, False)
    assert (job.but(clusters=4).most, job.but(clusters=4).capped) == (4, True)
    assert (job.but(clusters=99).most, job.but(clusters=99).capped) == (16, False)


def test_losses_are_those_of_the_definition_and_the_best_is_the_lowest():
    job, encoders = job_of(HEART, ip.funnel(3.0)), list(starts_of(HEART, 4))
    expected = [verify.lagrangian(HEART.p_xy, W, ip.funnel(3.0).rho) for W in encoders]
    assert job.losses(encoders) == pytest.approx(expected, abs=1e-12)
    assert job.best(encoders) == int(np.argmin(expected))
    runs = [job.standing(W, "given") for W in encoders]
    assert job.best_run(runs) is runs[job.best(encoders)]


def test_a_standing_encoder_is_stationary_only_if_it_is():
    problem = ip.bottleneck(0.1)
    job, optimum = job_of(HEART, problem), ip.solve(HEART, problem, rng=0).encoder
    assert job.standing(optimum, "given").status is ip.Status.STATIONARY
    assert job.standing(starts_of(HEART, 1)[0], "given").status is ip.Status.STALLED


def test_changes_leave_the_job_as_it_was_and_parts_stop_with_it():
    job = job_of(HEART, ip.bottleneck(0.1), limit=50)
    brief = job.within(work=10.0)
    assert (job.budget.work, brief.budget.work, brief.budget.iterations) == (np.inf, 10.0, 50)
    job.budget.stop()
    assert brief.budget.stopped


def test_work_grows_with_letters_clusters_and_outcomes():
    dense = Support(ip.Joint.from_counts(np.ones((10, 5))))
    assert work_of(dense, 2) == 10 * 2 * 25
    assert work_of(dense, 4) == 2 * work_of(dense, 2)


ONE_OUTCOME = ip.Joint.from_counts([[1e-12], [1.0], [2.0]])
"""A funnel of it may keep all of X; the first letter weighs less than a cluster may without being dropped."""


@pytest.mark.parametrize("solver", ["pf-2", "pf-2v", "drs"])
def test_a_letter_that_weighs_next_to_nothing_keeps_its_cluster(solver):
    found = ip.solve(ONE_OUTCOME, ip.funnel(2.0), solver, init=np.eye(3))
    verify.check_encoder(ONE_OUTCOME.p_xy, found.encoder)
    assert found.status is Status.STATIONARY
    assert found.loss == pytest.approx(-ONE_OUTCOME.entropy_x, abs=1e-12)
    swept = ip.sweep(ONE_OUTCOME, ip.funnel, [2.0], solver, init=np.eye(3))
    assert swept.runs[0].loss == found.loss


@pytest.mark.parametrize("mass", [1e-30, 5e-324])
@pytest.mark.parametrize("solver", ["ib-1", "ib-2", "admm-ib", "blahut-arimoto", "accelerated"])
def test_stationary_runs_are_stationary_for_the_faintest_letters_too(solver, mass):
    joint = ip.Joint.from_counts([[0.0, mass], [mass, 1.0], [mass, 0.0], [mass, 2.0]])
    problem = ip.bottleneck(0.12)
    runs = ip.sweep(joint, lambda _gamma: problem, [0.12], solver, starts=3, rng=0, max_iter=300).runs
    # ib-2 stalls at the larger mass, and says so.
    assert any(run.status is Status.STATIONARY for run in runs) or (solver == "ib-2" and mass > 1e-320)
    for run in runs:
        verify.check_encoder(joint.p_xy, run.encoder)
        assert run.status is not Status.STATIONARY or problem.stationarity(joint, run.encoder) <= 1e-8


def test_the_default_solves_funnels_whose_letters_cannot_be_inverted():
    """1 / 1e-308 is infinite."""
    joint = ip.Joint.from_counts([[1e-308], [1.0], [2.0]])
    assert ip.solve(joint, ip.funnel(2.0), rng=0).loss == pytest.approx(-joint.entropy_x, abs=1e-12)


@dataclass(frozen=True)
class Overflowing(ip.Solver):
    """Of its runs the second ends with NaN."""

    name = "overflowing"

    def run(self, job):
        count, letters = len(job.starts), job.letters
        broken = [np.full((2, letters), np.nan), np.zeros((2, letters)), np.empty((0, letters))]
        sound = [np.eye(letters)]
        encoders = (sound + broken)[:count] if count > 1 else broken[:1]
        return [Run(W, Status.STATIONARY, 1, Residuals(0.0, 0.0, 0.0), lower_bound=0.5) for W in encoders]


def test_a_run_that_left_the_range_of_floating_point_is_said_to_have_failed(tmp_path, with_cores):
    with_cores(1)
    joint = ip.datasets.paper_uniform()
    stored = ip.sweep(joint, ip.bottleneck, [0.2], Overflowing(), starts=4, rng=0, store=tmp_path / "runs.db")
    for found in (stored, ip.sweep(joint, ip.bottleneck, [0.2], Overflowing(), starts=4, rng=0)):
        assert not np.isnan(found.to_frame().loss_nats).any()
    best = ip.solve(joint, ip.bottleneck(0.2), Overflowing(), starts=4)
    assert [one.status for one in best.starts] == [Status.STATIONARY, *[Status.STALLED] * 3]
    alone = ip.solve(joint, ip.bottleneck(0.2), Overflowing(), starts=1)
    assert alone.status is Status.STALLED
    assert "range of floating point" in alone.message
    assert alone.lower_bound is None
    np.testing.assert_array_equal(alone.encoder, np.ones((1, 3)))


@pytest.mark.parametrize(
    ("given", "message"),
    [({"tol": 0.0}, "tol"), ({"tol": 1.0}, "tol"), ({"max_iter": 0}, "max_iter"), ({"clusters": 2.5}, "clusters")],
)
def test_what_is_out_of_range_is_named(given, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        RunOptions(**given)


def test_numbers_of_other_kinds_become_pythons_own():
    import numpy as np

    options = RunOptions(tol=np.float32(0.5), max_iter=np.int64(3), clusters=np.int32(2))
    assert (type(options.tol), type(options.max_iter), type(options.clusters)) == (float, int, int)


@pytest.mark.parametrize("function", [ip.solve, ip.sweep, ip.compare, ip.efficiency])
def test_every_parameter_is_documented_and_has_the_records_default(function):
    """Texts and defaults are those of the records, wherever an option is taken."""
    text, taken = inspect.getdoc(function), inspect.signature(function).parameters
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    named = [name for line in section.splitlines() if not line.startswith(" ") for name in line.split(", ")]
    assert named == list(dict.fromkeys(named))
    assert set(named) == set(taken)
    records = [one for one in (RunOptions, ProofOptions) if parameters_of(one) in section]
    assert records
    for record in records:
        for field in dataclasses.fields(record):
            if field.name in taken:
                assert taken[field.name].default == field.default


def test_limits_of_a_proof_that_nobody_asked_for_are_refused_by_all():
    with pytest.raises(ip.InvalidOptionError, match="max_seconds set how long a proof may take"):
        ip.efficiency(ip.datasets.paper_uniform(), [["u", "u", "v"]], max_seconds=2.0)
