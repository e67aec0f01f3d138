"""Stores: what was finished is kept, what differs is refused, what is foreign is left alone, and nothing in a file is executed."""

import json
import os

import numpy as np
import pytest

import infoplane as ip
import verify
from infoplane.errors import StoreError
from infoplane.storage.database import insert, is_being_written
from infoplane.storage.reader import read_store, store_status
from infoplane.storage.store import contending
from infoplane.sweep import engine, ledger
from infoplane.sweep.plan import Chunk, run_chunk
from storing import GRID, UNIFORM, ask, connecting, swept
from sweeping import Warm, assert_same_runs, planned


def attempts(path):
    """Each unit that a worker ever got, as (first place, solver, start), with whether its chunk ended."""
    rows = ask(path, "SELECT units, ended IS NOT NULL FROM chunks ORDER BY chunk")
    return [
        ((places[0], solver, start), bool(done)) for units, done in rows for solver, start, places in json.loads(units)
    ]


# -- there and back ------------------------------------------------------------------------------------------------------


def test_a_stored_sweep_is_the_same_to_the_bit(expected, tmp_path):
    found = swept(tmp_path / "runs.db")
    assert_same_runs(found, expected)
    assert os.listdir(tmp_path) == ["runs.db"]
    again = read_store(tmp_path / "runs.db")
    assert_same_runs(again, expected)
    assert again.complete
    assert os.listdir(tmp_path) == ["runs.db"]
    assert found.provenance == again.provenance == expected.provenance
    for row in found.best_rows():
        verify.check_solution(np.asarray(UNIFORM.p_xy), found.runs[row].problem.rho, found.solution(row))
        verify.check_solution(np.asarray(UNIFORM.p_xy), found.runs[row].problem.rho, again.runs[row])


def test_encoders_of_the_best_are_kept_and_no_others(made):
    found = read_store(made)
    kept = [row for row in range(len(found)) if found.runs[row].has_encoder]
    assert set(found.best_rows()) <= set(kept)
    assert len(kept) == ask(made, "SELECT count(*) FROM encoders")[0][0] <= 2 * len(GRID)
    dropped = next(row for row in range(len(found)) if row not in kept)
    with pytest.raises(ip.InvalidOptionError, match=r"was not kept.*best_rows\(\)"):
        found.encoder(dropped)
    assert found.runs[dropped].clusters >= 1
    assert not hasattr(found.runs[dropped], "no_such_thing")


def test_traces_of_the_best_are_kept_and_no_others(made, expected):
    found = read_store(made)
    assert ask(made, "SELECT place, solver, start FROM traces") == ask(
        made, "SELECT place, solver, start FROM encoders"
    )
    traced = [row for row in range(len(found)) if found.runs[row].trace is not None]
    assert set(found.best_rows()) <= set(traced)
    assert traced == [row for row in range(len(expected)) if expected.runs[row].trace is not None]
    run = found.solution(found.best_rows()[0])
    assert len(run.trace) == run.iterations
    assert run.trace.loss[-1] == pytest.approx(run.loss, abs=1e-9)


def test_best_of_every_solver_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr("infoplane.solvers.registry.certifier", lambda _problem: Warm(2, claims=1e-7))
    found = swept(tmp_path / "runs.db", certify=True)
    for name in ("warm", "ib-1"):
        own = ip.Frontier(UNIFORM, [run for run in found.runs if run.solver == name])
        assert [own.encoder(row).shape[1] for row in own.best_rows()] == [3] * 4


# -- going on ------------------------------------------------------------------------------------------------------------


def test_interrupted_again_and_again_it_ends_the_same(expected, tmp_path):
    path = tmp_path / "runs.db"
    calls = 0
    while True:
        heard = []

        def press(progress, heard=heard, calls=calls):
            heard.append(progress)
            if len(heard) > calls % 2:
                raise KeyboardInterrupt

        found = swept(path, progress=press)
        calls += 1
        if found.complete:
            break
        assert is_being_written(path) is False
        partial = read_store(path)
        assert not partial.complete
        assert len(partial) == 5 * len({run.parameter for run in partial.runs})
    assert calls > 2
    assert_same_runs(found, expected)
    log = attempts(path)
    assert sorted(unit for unit, done in log if done) == [(place, 0, start) for place in range(4) for start in range(5)]
    outcomes = [outcome for (outcome,) in ask(path, "SELECT outcome FROM sessions")]
    assert outcomes == ["interrupted"] * (calls - 1) + ["complete"]


def test_a_finished_store_computes_nothing(store, expected, monkeypatch):
    monkeypatch.setattr(engine, "run_chunk", None)
    assert_same_runs(swept(store), expected)


def test_without_a_seed_the_stores_is_taken(tmp_path):
    path = tmp_path / "runs.db"
    first = swept(path, rng=None, progress=lambda progress: (_ for _ in ()).throw(KeyboardInterrupt))
    assert not first.complete
    found = swept(path, rng=None)
    (seed,) = ask(path, "SELECT value FROM manifest WHERE key = 'seed'")[0]
    assert_same_runs(found, swept(rng=int(seed)))
    with pytest.raises(StoreError, match="seed is"):
        swept(path, rng=1)


def test_segments_of_a_path_are_whole_or_not_there(tmp_path):
    solver = Warm(2)

    def press(_progress):
        raise KeyboardInterrupt

    partial = swept(tmp_path / "runs.db", solver=solver, progress=press)
    assert 2 <= ask(tmp_path / "runs.db", "SELECT count(*) FROM runs")[0][0] < 4
    assert not partial.complete
    assert_same_runs(swept(tmp_path / "runs.db", solver=solver), swept(solver=solver))


# -- refused, with the difference named ----------------------------------------------------------------------------------

DIFFERENCES = {
    "joint": ({"joint": ip.datasets.paper_nonuniform()}, 'joint_sha256 is "e5675180'),
    "family": (
        {"family": ip.deterministic_bottleneck, "solver": "ib-1"},
        'family is "bottleneck" there, "deterministic_b',
    ),
    "more parameters": ({"grid": [*GRID, 0.9]}, "grid has 4 values there, 5 here"),
    "a parameter": ({"grid": [0.1, 0.25, 0.5000001, 0.8]}, r"grid\[2\] is 0.5 there, 0.5000001 here"),
    "the same family with another a": (
        {"family": lambda gamma: ip.MarkovLagrangian(gamma - 1, -0.9 * gamma, 1.0, "bottleneck", gamma)},
        r"rho\[0\]\[1\] is -0.1 there, -0.09",
    ),
    "solver": ({"solver": "ib-2"}, 'solver is "ib-1" there, "ib-2" here; options.formulation is "ib-1" there'),
    "an option": (
        {"solver": ip.DouglasRachford("ib-1", relaxation=1.5)},
        "options.relaxation is 1.618 there, 1.5 here",
    ),
    "starts": ({"starts": 6}, "starts is 5 there, 6 here"),
    "seed": ({"rng": 1}, "seed is 0 there, 1 here"),
    "clusters": ({"clusters": 2}, "clusters is 3 there, 2 here"),
    "init": ({"init": "random"}, 'init is "mixed" there, "random" here'),
    "encoders": ({"init": np.eye(3)}, 'init is "mixed" there, "encoders 3x3, sha256'),
    "tol": ({"tol": 1e-6}, "tol is 1e-08 there, 1e-06 here"),
    "max_iter": ({"max_iter": 7}, "max_iter is 20000 there, 7 here"),
    "points": ({"points": 9}, "points is null there, 9 here"),
}


@pytest.mark.parametrize(("options", "words"), DIFFERENCES.values(), ids=DIFFERENCES)
def test_a_store_of_another_sweep_is_refused(options, words, store):
    before = store.read_bytes()
    with pytest.raises(StoreError, match=rf"runs\.db belongs to another sweep: {words}"):
        swept(store, **options)
    assert store.read_bytes() == before
    assert os.listdir(store.parent) == ["runs.db"]


def test_another_version_is_refused(store, monkeypatch):
    monkeypatch.setattr(ledger, "__version__", "0.2.0.dev")
    with pytest.raises(StoreError, match=r'version is ".*" there, "0\.2\.0\.dev" here'):
        swept(store)


def test_labels_may_differ(store, expected):
    relabelled = ip.Joint.from_matrix(UNIFORM.p_xy, x_labels=["a", "b", "c"])
    found = swept(store, joint=relabelled)
    assert found.joint.x_labels == ("a", "b", "c")
    assert found.to_frame().equals(read_store(store).to_frame())


def test_a_full_disk_ends_the_sweep_and_keeps_what_was_finished(tmp_path, monkeypatch):
    path = tmp_path / "runs.db"
    options = {"starts": 60, "max_iter": 5}
    with monkeypatch.context() as patch:
        connecting(patch, "max_page_count = 14")
        with pytest.raises(StoreError, match=r"cannot be written: database or disk is full.*repeat the call") as caught:
            swept(path, **options)
    assert caught.value.resumable
    assert os.listdir(tmp_path) == ["runs.db"]
    kept = ask(path, "SELECT count(*) FROM runs")[0][0]
    assert 0 < kept < 240
    status = store_status(path)
    assert (status.runs, status.complete, status.running) == (kept, False, False)
    assert_same_runs(swept(path, **options), swept(**options))
    finished = [unit for unit, done in attempts(path) if done]
    assert len(finished) == len(set(finished)) == 240


def test_control_c_while_a_chunk_is_written_leaves_whole_parameters(expected, tmp_path, monkeypatch):
    """The transaction is undone, and the parameter that it would have finished is not shown as finished."""
    whole = len(expected.runs) // len(GRID)

    def interrupted(connection, table, rows, **options):
        insert(connection, table, rows, **options)
        counts = dict(connection.execute("SELECT place, count(*) FROM runs GROUP BY place"))
        # This chunk finishes the second parameter.
        if table == "encoders" and sum(runs == whole for runs in counts.values()) == 2:
            raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr("infoplane.storage.store.insert", interrupted)
        found = swept(tmp_path / "runs.db")
    assert not found.complete
    assert len(found.runs) == whole
    assert len({run.parameter for run in found.runs}) == 1
    assert_same_runs(swept(tmp_path / "runs.db"), expected)


def test_long_traces_are_thinned(monkeypatch):
    plan = planned(ip.SOLVERS["ib-1"])
    chunk = Chunk(tuple(plan.units([0])), {0: ip.bottleneck(0.3)})
    whole = contending(run_chunk(plan, chunk, "").records)[-1].trace
    monkeypatch.setattr("infoplane.storage.store.LONGEST_TRACE", 5)
    thin = contending(run_chunk(plan, chunk, "").records)[-1].trace
    assert whole.iteration is None
    assert len(thin) == 5 < len(whole)
    assert (thin.iteration[0], thin.iteration[-1]) == (1, len(whole))
    np.testing.assert_array_equal(thin.loss, whole.loss[thin.iteration.astype(int) - 1])
