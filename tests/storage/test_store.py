"""Stores: what was finished is kept, what differs is refused, what is foreign is left alone, and nothing in a file is executed."""

import json
import os
import shutil
import sys

import numpy as np
import pytest
from scipy import sparse

import infoplane as ip
import verify
from infoplane.errors import StoreError
from infoplane.storage import database
from infoplane.storage.database import COLUMNS, checksum, insert, is_being_written
from infoplane.storage.store import contending, read_store, store_status
from infoplane.sweep import engine
from infoplane.sweep import plan as plans
from infoplane.sweep.plan import Chunk, run_chunk
from sweeping import GRID, UNIFORM, Warm, ask, assert_same_runs, change, connecting, forge, planned, swept


def attempts(path):
    """Each unit that a worker ever got, as (first grid_index, solver, start), with whether its chunk ended."""
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


@pytest.mark.parametrize("seed", range(2))
def test_the_best_answers_are_those_without_a_store(seed, tmp_path):
    """Where a run that is not the best of its own parameter is the best of another: its encoder is kept, too, whatever the order."""
    joint = ip.Joint.from_counts(np.random.default_rng(5).integers(0, 9, (12, 5)))
    options = {"solver": "accelerated", "starts": 6, "init": "random", "rng": seed}
    expected = ip.sweep(joint, ip.deterministic_bottleneck, np.geomspace(0.02, 0.5, 8), **options)
    found = ip.sweep(
        joint, ip.deterministic_bottleneck, np.geomspace(0.02, 0.5, 8), store=tmp_path / "runs.db", **options
    )
    own = set(expected.best_rows())
    assert any(answer.row not in own for answer in expected.best_answers())
    assert [answer.row for answer in found.best_answers()] == [answer.row for answer in expected.best_answers()]
    assert found.best().drop(columns="seconds").equals(expected.best().drop(columns="seconds"))


def test_a_run_whose_encoder_was_not_kept_can_be_printed(tmp_path):
    joint = ip.Joint.from_counts(2 * np.eye(3, dtype=int) + 1)
    found = ip.sweep(joint, ip.funnel, [2.0], "pf-2", starts=3, rng=0, store=tmp_path / "runs.db")
    dropped = next(run for run in found.runs if not run.has_encoder)
    assert "iterations" in str(dropped)
    assert "was not kept" in dropped._repr_html_()


def test_traces_of_the_best_are_kept_and_no_others(made, expected):
    found = read_store(made)
    traces, encoders = (
        set(ask(made, f"SELECT grid_index, solver, start FROM {one}")) for one in ("traces", "encoders")
    )
    assert traces <= encoders
    traced = [row for row in range(len(found)) if found.runs[row].trace is not None]
    assert set(found.best_rows()) <= set(traced)
    assert traced == [row for row in range(len(expected)) if expected.runs[row].trace is not None]
    run = found.solution(found.best_rows()[0])
    assert len(run.trace) == run.iterations
    assert run.trace.loss[-1] == pytest.approx(run.loss, abs=1e-9)


def test_best_of_every_solver_is_kept(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules["infoplane.solve"], "certifier", lambda _problem: Warm(2, claims=1e-7))
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
    assert sorted(unit for unit, done in log if done) == [
        (grid_index, 0, start) for grid_index in range(4) for start in range(5)
    ]
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
        r"problems\[0\]\[2\] is -0.1 there, -0.09",
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
    monkeypatch.setattr(engine, "__version__", "0.2.0.dev")
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
        counts = dict(connection.execute("SELECT grid_index, count(*) FROM runs GROUP BY grid_index"))
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
    whole = contending(run_chunk(plan, chunk, "").records)[-1].run.trace
    monkeypatch.setattr(plans, "LONGEST_TRACE", 5)
    thin = contending(run_chunk(plan, chunk, "").records)[-1].run.trace
    assert whole.iteration is None
    assert len(thin) == 5 < len(whole)
    assert (thin.iteration[0], thin.iteration[-1]) == (1, len(whole))
    np.testing.assert_array_equal(thin.loss, whole.loss[thin.iteration.astype(int) - 1])


def test_an_archive_of_a_store_comes_back(made, tmp_path):
    expected = read_store(made)
    expected.save(tmp_path / "f.npz")
    found = ip.Frontier.load(tmp_path / "f.npz")
    assert_same_runs(found, expected)
    assert found.provenance == expected.provenance
    assert [run.has_encoder for run in expected.runs] == [getattr(run, "has_encoder", True) for run in found.runs]


def test_there_is_no_such_file(tmp_path):
    for use in (read_store, store_status):
        with pytest.raises(StoreError, match=r"no\.db cannot be read: No such file"):
            use(tmp_path / "no.db")
    with pytest.raises(StoreError, match="cannot be written"):
        swept(tmp_path / "no" / "such" / "directory" / "runs.db")
    with pytest.raises(StoreError, match="cannot be read"):
        swept(tmp_path)


def test_a_store_that_changes_under_a_reader_is_read_again(store, monkeypatch):
    """At rest a file is read as if nobody could write; if somebody did, the reader notices and begins anew."""
    looks, real = [], database.contents

    def contents(connection, tables, keys):
        found = real(connection, tables, keys)
        looks.append(len(found["sessions"]))
        if len(looks) == 1:
            with monkeypatch.context() as patch:
                patch.setattr(database, "contents", real)
                swept(store)
        return found

    monkeypatch.setattr(database, "contents", contents)
    assert len(database.read(store, ["sessions"])["sessions"]) == 2
    assert looks == [1, 2]


@pytest.mark.parametrize(
    "spoil", ["data = x'00'", "length = length + 1", "length = 0", "length = -1", "data = zeroblob(9)"]
)
def test_a_damaged_trace_is_refused(spoil, store):
    forge(store, f"UPDATE traces SET {spoil}")
    found = read_store(store)
    with pytest.raises(StoreError, match="is damaged"):
        _ = found.runs[found.best_rows()[0]].trace


@pytest.mark.parametrize("spoil", ["x'00'", "x''", "zeroblob(72)", f"x'{'000000000000f87f' * 9}'", "'text'", "1.5"])
def test_an_encoder_that_is_none_is_refused(spoil, store):
    forge(store, f"UPDATE encoders SET data = {spoil}")
    found = read_store(store)
    with pytest.raises(StoreError, match="is damaged"):
        found.encoder(found.best_rows()[0])


EDITS = {
    "manifest": "value = replace(value, '0.25', '0.26')",
    "arrays": "data = zeroblob(length(data))",
    "parameters": "rho_z = rho_z - 1e-9",
    "runs": "loss = loss - 1e-9",
    "encoders": "data = zeroblob(length(data))",
    "traces": "data = zeroblob(length(data))",
    "sessions": "outcome = 'interrupted'",
    "chunks": "ended = ended + 1",
}

ROWS = {
    "manifest": r"key '\w+'",
    "arrays": r"name '\w+'",
    "parameters": "grid_index 0",
    "sessions": "session 1",
    "chunks": "chunk 1",
    **dict.fromkeys(("runs", "encoders", "traces"), r"grid_index 0, solver 0, start \d"),
}


@pytest.mark.parametrize("table", EDITS)
def test_a_changed_row_does_not_have_its_checksum(table, store):
    assert {*EDITS, "multipliers"} == COLUMNS.keys()  # those are below
    change(store, f"UPDATE {table} SET {EDITS[table]}")

    def look():
        found = read_store(store)
        best = found.runs[found.best_rows()[0]]
        return best.encoder, best.trace

    with pytest.raises(StoreError, match=f"the row of {table} with {ROWS[table]} does not have its checksum"):
        look()


def test_multipliers_come_back_and_are_checked(tmp_path):
    options = {"grid": [0.1, 0.4], "starts": 2, "certify": True}
    expected, found = swept(**options), swept(tmp_path / "runs.db", **options)
    again = read_store(tmp_path / "runs.db")
    for one in (found, again):
        assert_same_runs(one, expected)
        assert all(run.multipliers.shape == (3,) for run in one.runs)
    for spoil, said in (("zeroblob(16)", "2 letters"), (f"x'{'000000000000f87f' * 3}'", "not finite")):
        forge(tmp_path / "runs.db", f"UPDATE multipliers SET data = {spoil}")
        with pytest.raises(StoreError, match=said):
            read_store(tmp_path / "runs.db")
    change(tmp_path / "runs.db", "UPDATE multipliers SET data = zeroblob(24)")
    with pytest.raises(
        StoreError, match=r"the row of multipliers with grid_index 0, solver \d, start 0 does not have its checksum"
    ):
        read_store(tmp_path / "runs.db")


def test_a_changed_row_is_not_continued_from(store):
    change(store, "UPDATE runs SET loss = loss - 1e-9 WHERE start = 1")
    with pytest.raises(
        StoreError, match="the row of runs with grid_index 0, solver 0, start 1 does not have its checksum"
    ):
        swept(store)


@pytest.fixture(scope="module")
def continued(tmp_path_factory):
    """A sweep that was interrupted, and then completed: two sessions."""
    path = tmp_path_factory.mktemp("continued") / "runs.db"
    assert not swept(path, progress=_interrupt).complete
    assert swept(path).complete
    return path


@pytest.mark.parametrize("use", [read_store, store_status, swept])
@pytest.mark.parametrize(
    ("table", "edit", "row"),
    [
        ("sessions", "began = began - 1 WHERE session = 2", "session 2"),
        ("sessions", "outcome = 'complete'", "session 1"),
        ("chunks", "units = '[]' WHERE chunk = 3", "chunk 3"),
        ("chunks", "ended = NULL WHERE chunk = 2", "chunk 2"),
        ("chunks", "session = 2", "chunk 1"),
    ],
)
def test_changed_bookkeeping_is_refused_by_whatever_reads_it(table, edit, row, use, continued, tmp_path):
    path = tmp_path / "runs.db"
    shutil.copy(continued, path)
    change(path, f"UPDATE {table} SET {edit}")
    with pytest.raises(StoreError, match=f"the row of {table} with {row} does not have its checksum"):
        use(path)


def _interrupt(_):
    raise KeyboardInterrupt


def test_the_status_is_of_rows_with_their_checksums(store):
    change(store, "UPDATE runs SET status = 'STALLED' WHERE start = 4")
    with pytest.raises(StoreError, match="the row of runs with grid_index 0, solver 0, start 4"):
        store_status(store)


@pytest.mark.parametrize("row", [(1, 0.5, "a", b"x", None), (1.0, 0.5, "a", b"x", float("nan"))])
def test_a_checksum_is_of_what_sqlite_gives_back(row):
    assert checksum(row) == checksum((1, 0.5, "a", b"x", None))
    assert checksum((-0.0,)) == checksum((0,))
    assert len({checksum(one) for one in ((1,), ("1",), (b"1",), (None,), (1, 1))}) == 5


def test_another_joint_is_refused_by_its_digest(store):
    forge(store, "UPDATE arrays SET data = (SELECT data FROM arrays WHERE name = 'p_column') WHERE name = 'p_row'")
    with pytest.raises(StoreError, match="damaged"):
        read_store(store)
    manifest = "UPDATE manifest SET value = replace(value, 'a', 'b') WHERE key = 'joint_sha256'"
    forge(store, manifest)
    with pytest.raises(StoreError, match="damaged"):
        read_store(store)


def test_a_trace_that_was_dropped_meanwhile_is_none(store):
    found = read_store(store)
    change(store, "DELETE FROM traces")
    assert found.runs[found.best_rows()[0]].trace is None


@pytest.mark.parametrize(
    "joint",
    [
        ip.Joint.from_counts(
            [[4, 0, 1], [0, 0, 0], [2, 3, 0]], x_labels=[("ä", 1), ("b", 2), ("b", 3)], x_names=["drug", "dose"]
        ),
        ip.Joint.from_counts(sparse.csr_array(np.array([[4.0, 0, 1], [0, 3, 2]])), y_labels=["<b>", "'; --", 7]),
    ],
    ids=["labels and a letter without mass", "sparse"],
)
def test_joints_come_back_with_their_labels(joint, tmp_path):
    found = swept(tmp_path / "runs.db", joint=joint)
    again = read_store(tmp_path / "runs.db")
    assert again.joint == joint
    assert again.joint.is_sparse == joint.is_sparse
    assert_same_runs(again, found)


def test_a_status_that_is_none_is_a_damaged_store(store):
    forge(store, "UPDATE runs SET status = '__import__' WHERE start = 1")
    for use in (swept, read_store, store_status):
        with pytest.raises(StoreError, match="damaged"):
            use(store)


def test_an_encoder_whose_file_is_gone(store):
    found = read_store(store)
    store.unlink()
    with pytest.raises(StoreError, match="cannot be read"):
        found.encoder(found.best_rows()[0])
