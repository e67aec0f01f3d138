"""Plans: a start depends on seed, parameter and number only; units cover every run once; what workers are sent, and how they run it."""

import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.runtime.budget import Budget
from infoplane.solvers.base import PathSolver, make_starts
from infoplane.solvers.job import RunOptions
from infoplane.storage.store import contending
from infoplane.sweep.plan import BUDGETS, Chunk, ParameterGrid, Unit, run_chunk
from sweeping import Warm, planned

UNIFORM = ip.datasets.paper_uniform()
HEART = ip.datasets.heart()


def test_a_start_depends_on_seed_place_and_number_only():
    plan = planned(starts=8)
    all_of_them = plan.encoders(2)
    for first, count in ((0, 1), (0, 8), (3, 2), (7, 1)):
        assert plan.encoders(2, first, count).tobytes() == all_of_them[first : first + count].tobytes()
    # As numpy itself would spawn them, which is what a script of one's own would write.
    theirs = make_starts(UNIFORM, None, 8, np.random.SeedSequence(3).spawn(3)[2], None)
    assert all_of_them.tobytes() == theirs.tobytes()
    assert plan.encoders(1).tobytes() != all_of_them.tobytes()


@settings(max_examples=25, deadline=None)
@given(parameters=st.integers(1, 9), starts=st.integers(1, 5), segment=st.one_of(st.none(), st.integers(1, 4)))
def test_units_cover_every_run_once(parameters, starts, segment):
    ordinary, path = planned(starts=starts), planned(Warm(segment), starts=starts)
    units = ordinary.units(range(parameters))
    assert sorted((unit.indices[0], unit.start) for unit in units) == [
        (j, i) for j in range(parameters) for i in range(starts)
    ]
    assert ordinary.runs_per_parameter == starts
    segments = [unit.indices for unit in path.units(range(parameters))]
    assert [place for one in segments for place in one] == list(range(parameters))
    assert all(len(one) == (segment or parameters) for one in segments[:-1])
    assert path.runs_per_parameter == 1


def test_a_plan_travels_without_labels_and_works_the_same():
    labelled = ip.Joint.from_matrix(HEART.p_xy, x_labels=[f"letter {x} " + "!" * 1000 for x in range(16)])
    plan = planned(joint=labelled, starts=2)
    assert plan.support.T.shape == (4, 16)  # made before it travels, and not sent
    sent = pickle.dumps(plan)
    assert b"letter" not in sent
    assert len(sent) < 3_000
    chunk = Chunk(tuple(plan.units([0])), {0: ip.bottleneck(0.4)})
    here, there = (
        run_chunk(plan, chunk, "").records,
        run_chunk(pickle.loads(sent), pickle.loads(pickle.dumps(chunk)), "").records,
    )
    assert [one.run.encoder.tobytes() for one in here] == [one.run.encoder.tobytes() for one in there]
    assert [(one.loss, one.ixz, one.iyz) for one in here] == [(one.loss, one.ixz, one.iyz) for one in there]


def test_a_grid_numbers_parameters():
    grid = ParameterGrid(ip.bottleneck, [0.9, 0.1], 4)
    assert grid.add([0.5, 0.2]) == [2, 3]
    assert grid.problems[3] == ip.bottleneck(0.2)
    assert Unit(0, 1, (2,)) == (0, 1, (2,))


def test_rows_stand_as_given_and_ascend_where_parameters_were_inserted(tmp_path):
    for store in (None, tmp_path / "given.db"):
        assert [run.parameter for run in ip.sweep(HEART, ip.bottleneck, [0.9, 0.1], store=store).runs] == [0.9, 0.1]
    for store in (None, tmp_path / "inserted.db"):
        found = [run.parameter for run in ip.sweep(HEART, ip.bottleneck, [0.9, 0.1], points=3, store=store).runs]
        assert found == sorted(found)
        assert {0.1, 0.9} < {*found}


NAMES = [
    name
    for name, solver in ip.SOLVERS.items()
    if name not in ("drs", "admm-ib")
    and not (solver.refusal(ip.bottleneck(0.3)) and solver.refusal(ip.funnel(1.7)))  # those for several targets
]


TRACELESS = ("envelope", "columns", "merging", "root-tracking", "submodular")


def problem_for(solver):
    return ip.funnel(1.7) if solver.refusal(ip.bottleneck(0.3)) else ip.bottleneck(0.3)


@pytest.mark.parametrize("name", NAMES)
def test_a_run_does_not_depend_on_the_others_of_its_batch(name):
    """Units one by one, all in one chunk, and with holes as a resumed sweep has them: the kernels keep runs apart."""
    solver = ip.SOLVERS[name]
    problem = problem_for(solver)
    plan, problems = planned(solver, options=RunOptions(max_iter=40)), {0: problem, 1: problem}
    units = tuple(plan.units([0, 1]))
    together = {(one.index, one.start): one for one in run_chunk(plan, Chunk(units, problems), "").records}
    assert len(together) == 2 * plan.runs_per_parameter
    for some in (units[::2], *((unit,) for unit in units)):
        for one in run_chunk(plan, Chunk(tuple(some), problems), "").records:
            same = together[one.index, one.start]
            assert one.run.encoder.tobytes() == same.run.encoder.tobytes()
            assert (one.loss, one.ixz, one.iyz, one.run.iterations) == (
                same.loss,
                same.ixz,
                same.iyz,
                same.run.iterations,
            )


@pytest.mark.parametrize("name", NAMES)
def test_recording_changes_no_bit_and_the_best_have_whole_traces(name):
    """Against the solver itself, without a trace."""
    solver = ip.SOLVERS[name]
    problem, plan = problem_for(solver), planned(solver)
    found = run_chunk(plan, Chunk(tuple(plan.units([0])), {0: problem}), "").records
    W = plan.encoders(0)
    if isinstance(solver, PathSolver):
        plain = list(solver.follow(plan.job(problem, W[:1] if solver.deterministic else W, False, Budget()), [problem]))
    else:
        plain = solver.run(plan.job(problem, W[: len(found)], False, Budget()))
    for one, other in zip(found, plain, strict=True):
        assert one.run.encoder.tobytes() == other.encoder.tobytes()
        assert (one.run.status, one.run.iterations, one.run.residuals) == (
            other.status,
            other.iterations,
            other.residuals,
        )
    best = contending(found)
    assert 1 <= len(best) <= 2
    traced = [one for one in found if one.run.trace is not None]
    assert traced == ([] if name in TRACELESS else sorted(best, key=lambda one: one.start))
    for one in traced:
        assert np.isfinite(one.run.trace.loss).all()
        assert one.run.trace.loss[-1] == pytest.approx(one.loss, abs=1e-9)
        assert isinstance(solver, PathSolver) or len(one.run.trace) == one.run.iterations


def test_a_run_that_does_not_reach_what_is_known_gets_no_trace():
    plan = planned(ip.SOLVERS["ib-1"])
    units, problems = tuple(plan.units([0])), {0: ip.bottleneck(0.3)}
    best = contending(run_chunk(plan, Chunk(units, problems), "").records)[-1]
    for lowest, traced in ((best.loss + 0.5e-9, True), (best.loss, True), (best.loss - 2e-9, False)):
        found = run_chunk(plan, Chunk(units, problems, {(0, 0): lowest}), "").records
        assert any(one.run.trace is not None for one in found) == traced


class Elsewhere(ip.BlahutArimoto):
    """A solver whose recorded runs are others, as of one that does not keep the runs of a batch apart."""

    def begin(self, job):
        W = job.starts
        return super().begin(job.but(starts=0.9 * W + 0.1 / W.shape[1] if job.record else W))


def test_a_run_that_ends_elsewhere_alone_lends_no_trace():
    one = Chunk(tuple(planned().units([0])), {0: ip.bottleneck(0.3)})
    assert any(known.run.trace is not None for known in run_chunk(planned(ip.BlahutArimoto()), one, "").records)
    plan = planned(Elsewhere())
    found = run_chunk(plan, Chunk(tuple(plan.units([0])), {0: ip.bottleneck(0.3)}), "").records
    assert [one.run.trace for one in found] == [None] * 6


def test_a_stop_ends_a_chunk():
    plan = planned(ip.SOLVERS["pf-2v"], joint=HEART, starts=2, options=RunOptions(tol=1e-15))
    chunk = Chunk(tuple(plan.units([0, 1])), {0: ip.funnel(50.0), 1: ip.funnel(5.0)})
    BUDGETS["stopped"] = Budget()
    BUDGETS["stopped"].stop()
    try:
        assert run_chunk(plan, chunk, "stopped").records == ()
    finally:
        del BUDGETS["stopped"]
