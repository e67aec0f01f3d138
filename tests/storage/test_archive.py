"""`Frontier.save` and `Frontier.load`: every bit comes back, bad files are refused, and half a file is never seen."""

import dataclasses
import io
import json
import math
import os
import zipfile
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import infoplane as ip
from infoplane.errors import InvalidOptionError
from infoplane.storage import archive
from made_up import three_kinds

P = np.array([[0.2, 0.05, 0.05], [0.05, 0.2, 0.0], [0.0, 0.05, 0.2], [0.1, 0.1, 0.0]])

JOINTS = {
    "dense": lambda: ip.Joint.from_matrix(P),
    "sparse": lambda: ip.Joint.from_matrix(sparse.csr_array(P)),
    "zero mass": lambda: ip.Joint.from_matrix(np.pad(P, ((0, 1), (1, 0)))),
    "tuple labels": lambda: ip.Joint.from_matrix(
        P, x_labels=[("a", 1), ("a", 2), ("b", 1), ("b", 2)], x_names=["drug", "dose"], y_names=["outcome"]
    ),
    "nested and mixed labels": lambda: ip.Joint.from_matrix(P, x_labels=[1, "1", 2.5, (1, ("u", False))]),
    "bins": lambda: ip.Joint.from_frame(
        pd.DataFrame(
            {
                "v": [-1.5, 2.0, 3.25, np.inf],
                "when": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01", "2025-01-01"]),
                "y": ["a", "b", "c", "a"],
                "day": pd.to_datetime(["2024-01-01", "2024-01-02", "2024-02-01", "2025-01-01"]),
            }
        ),
        ["v", "when"],
        ["y", "day"],
        bins={"v": 3, "when": 2, "day": "weekday"},
    ),
    "unicode": lambda: ip.Joint.from_matrix(
        P,
        x_labels=["ä", "日本", "\N{GRINNING FACE}", 'a"b\\c\n'],
        y_labels=["α", "β", "γ"],
        x_names=["größe"],
        y_names="名",
    ),
}


def frontier(joint):
    return ip.sweep(joint, ip.bottleneck, [0.2, 0.5], "blahut-arimoto", starts=2, rng=0)


@pytest.fixture(scope="module")
def small():
    return frontier(ip.datasets.paper_uniform())


def assert_same(found, expected):
    """The same joint, completeness and runs, to the bit."""
    assert found.joint == expected.joint
    assert found.joint.is_sparse == expected.joint.is_sparse
    for name in ("x_labels", "y_labels"):
        ours, theirs = getattr(found.joint, name), getattr(expected.joint, name)
        assert [type(label) for label in ours] == [type(label) for label in theirs]
    assert found.joint.bins == expected.joint.bins
    assert found.joint.records == expected.joint.records
    if expected.joint.counts is not None:
        assert abs(found.joint.counts - expected.joint.counts).sum() == 0
    assert found.complete is expected.complete
    assert len(found) == len(expected)
    for one, other in zip(found.runs, expected.runs, strict=True):
        for field in dataclasses.fields(other):
            a, b = getattr(one, field.name), getattr(other, field.name)
            if field.name == "trace":
                assert (a is None) == (b is None)
                assert a is None or a.columns().tobytes() == b.columns().tobytes()
            elif field.name in ("encoder", "multipliers") and b is not None:
                assert (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
            else:
                assert a == b, field.name
                assert type(a) is type(b), field.name


# -- there and back ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("build", JOINTS.values(), ids=JOINTS)
def test_every_run_comes_back_to_the_bit(build, tmp_path):
    expected = frontier(build())
    assert len(expected) == 4
    expected.save(tmp_path / "f.npz")
    found = ip.Frontier.load(tmp_path / "f.npz")
    assert_same(found, expected)
    found.save(tmp_path / "again.npz")
    assert_same(ip.Frontier.load(tmp_path / "again.npz"), expected)


def test_bounds_interruption_and_clusters_of_different_numbers_come_back(small, tmp_path):
    merged = ip.sweep(small.joint, ip.bottleneck, [0.2, 0.9], "merging")
    runs = [*small.runs, *merged.runs]
    runs[0] = dataclasses.replace(runs[0], lower_bound=runs[0].loss - 1e-9)
    assert len({len(run.encoder) for run in runs}) > 1
    expected = ip.Frontier(small.joint, runs, complete=False)
    expected.save(tmp_path / "f.npz")
    assert_same(ip.Frontier.load(tmp_path / "f.npz"), expected)


def test_traces_come_back_whole_or_thinned(small, tmp_path):
    runs = list(small.runs)
    traced = [row for row, run in enumerate(runs) if run.trace is not None]
    assert traced == small.best_rows()
    runs[traced[0]] = dataclasses.replace(runs[traced[0]], trace=runs[traced[0]].trace.thinned(3))
    expected = ip.Frontier(small.joint, runs)
    expected.save(tmp_path / "f.npz")
    found = ip.Frontier.load(tmp_path / "f.npz")
    assert_same(found, expected)
    assert [run.trace is None or run.trace.iteration is None for run in found.runs] == [
        row != traced[0] for row in range(len(runs))
    ]


def test_multipliers_come_back_and_runs_share_them(tmp_path):
    joint = JOINTS["zero mass"]()
    expected = ip.sweep(joint, ip.bottleneck, [0.2, 0.5], "blahut-arimoto", starts=2, rng=0, certify=True)
    expected = ip.Frontier(joint, [*expected.runs, dataclasses.replace(expected.runs[0], multipliers=None)])
    expected.save(tmp_path / "f.npz")
    assert_same(ip.Frontier.load(tmp_path / "f.npz"), expected)
    with np.load(tmp_path / "f.npz") as archive:
        assert archive["multipliers"].shape == (2, 5)
        assert archive["multiplier_rows"].tolist() == [0, 0, 0, 1, 1, 1, -1]


def changed(path, **other):
    """A file with other entries in its description, and without the arrays that are None."""
    with np.load(path) as archive:
        arrays = dict(archive)
    gone = [name for name in other if name in arrays]
    meta = json.loads(str(arrays["meta"])) | {name: value for name, value in other.items() if name not in gone}
    kept = {name: array for name, array in arrays.items() if name not in gone}
    np.savez(path, **kept | {"meta": np.array(json.dumps(meta))})


@pytest.mark.parametrize("format", [0, 2, 4, "1", 1.0, True, None])
def test_another_format_is_refused(small, tmp_path, format):
    small.save(tmp_path / "f.npz")
    changed(tmp_path / "f.npz", format=format)
    with pytest.raises(InvalidOptionError, match=f"its format is {format!r}, and this version of infoplane reads 1"):
        ip.Frontier.load(tmp_path / "f.npz")


@pytest.mark.parametrize("name", ["traces", "trace_lengths", "multipliers", "kept", "plane", "rho", "encoders"])
def test_a_file_without_one_of_its_arrays_is_refused(small, tmp_path, name):
    small.save(tmp_path / "f.npz")
    changed(tmp_path / "f.npz", **{name: None})
    with pytest.raises(InvalidOptionError, match=f"it has no {name}"):
        ip.Frontier.load(tmp_path / "f.npz")


def test_a_provenance_of_ones_own_is_written_as_json(small, tmp_path):
    made = ip.Frontier(
        small.joint, small.runs, provenance={"grid": np.array([0.1, 0.2]), "sweeps": (np.int64(2), math.nan)}
    )
    made.save(tmp_path / "f.npz")
    assert ip.Frontier.load(tmp_path / "f.npz").provenance == {"grid": [0.1, 0.2], "sweeps": [2, None]}


def test_no_runs_at_all(small, tmp_path):
    expected = ip.Frontier(small.joint, [], complete=False)
    expected.save(tmp_path / "f.npz")
    assert_same(ip.Frontier.load(tmp_path / "f.npz"), expected)


@pytest.mark.parametrize("kind", [str, Path])
def test_the_file_has_the_name_that_was_asked_for(small, tmp_path, monkeypatch, kind):
    monkeypatch.chdir(tmp_path)
    small.save(kind("plane"))
    assert os.listdir(tmp_path) == ["plane"]
    assert_same(ip.Frontier.load(kind("plane")), small)


# -- files that are none -----------------------------------------------------------------------------------------------


class Bomb:
    """An object whose unpickling is an act."""

    def __init__(self, marker):
        self.marker = marker

    def __reduce__(self):
        return os.mkdir, (self.marker,)


def truncated(path, good):
    path.write_bytes(good[: len(good) // 2])


def without_its_end(path, good):
    path.write_bytes(good[:-10])


def damaged(path, good):
    middle = len(good) // 2
    path.write_bytes(good[:middle] + bytes(255 - byte for byte in good[middle : middle + 64]) + good[middle + 64 :])


def empty(path, good):
    path.write_bytes(b"")


def text(path, good):
    path.write_text("parameter,loss\n0.2,-0.24\n")


def another_npz(path, good):
    with path.open("wb") as file:
        np.savez(file, a=np.arange(3))


def an_array(path, good):
    with path.open("wb") as file:
        np.save(file, np.arange(3))


def other_meta(path, good):
    with path.open("wb") as file:
        np.savez(file, meta=np.array("[1, 2]"))


def more_trace_than_runs(path, good):
    with np.load(path) as archive:
        arrays = dict(archive)
    with path.open("wb") as file:
        np.savez(file, **arrays | {"trace_lengths": arrays["trace_lengths"] + 1})


def newer_format(path, good):
    with path.open("wb") as file:
        np.savez(file, meta=np.array('{"format": 999}'))


def objects(path, good):
    with path.open("wb") as file:
        np.savez(file, meta=np.array([Bomb(str(path.parent / "marker"))], dtype=object))


def pickled(path, good):
    with path.open("wb") as file:
        np.save(file, np.array([Bomb(str(path.parent / "marker"))], dtype=object))


BAD = (
    truncated,
    without_its_end,
    damaged,
    empty,
    text,
    another_npz,
    an_array,
    other_meta,
    more_trace_than_runs,
    newer_format,
    objects,
    pickled,
)


def edited(**changes):
    """A file with some arrays replaced: None leaves one out, a function makes another of it."""

    def write(path, good):
        with np.load(path) as archive:
            arrays = dict(archive)
        for name, change in changes.items():
            arrays[name] = change(arrays[name].copy()) if callable(change) else change
        with path.open("wb") as file:
            np.savez(file, **{name: array for name, array in arrays.items() if array is not None})

    return write


def meta(**changes):
    return edited(meta=lambda text: np.array(json.dumps(json.loads(str(text)) | changes)))


def spoiled(value):
    def spoil(array):
        array.flat[0] = value
        return array

    return spoil


def repacked(path, good):
    """Packed by a method that numpy does not use."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_BZIP2) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def vast(path, good):
    """A header that declares 10^18 numbers."""
    with zipfile.ZipFile(path) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": (10**9, 10**9)})
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in (members | {"encoders.npy": header.getvalue()}).items():
            archive.writestr(name, data)


SPOILED = {
    "an unknown member": edited(more=np.zeros(3)),
    "a member missing": edited(counts=None),
    "an unknown packing": repacked,
    "a vast shape": vast,
    "deep JSON": edited(meta=np.array("[" * 100_000)),
    "an encoder of NaN": edited(encoders=spoiled(np.nan)),
    "an encoder above 1": edited(encoders=spoiled(1.5)),
    "an encoder below 0": edited(encoders=lambda W: -W),
    "an encoder missing": edited(encoders=lambda W: W[1:]),
    "an encoder of text": edited(encoders=lambda W: W.astype(str)),
    "an encoder of other letters": edited(encoders=lambda W: W[:, 1:]),
    "numbers of half precision": edited(rho=lambda rho: rho.astype("f2")),
    "a run less of rho": edited(rho=lambda rho: rho[1:]),
    "an infinite coefficient": edited(rho=spoiled(np.inf)),
    "an infinite loss": edited(plane=spoiled(np.inf)),
    "a negative count": edited(counts=spoiled(-1)),
    "vast counts": edited(counts=lambda counts: counts + 2**62),
    "mass outside of the joint": edited(p_row=lambda row: row + 100),
    "mass of NaN": edited(p_value=spoiled(np.nan)),
    "a vast joint": meta(shape=[10**9, 10**9]),
    "no labels": meta(x_labels=[]),
    "a status that is none": meta(statuses=["BEST"] * 4),
    "too few statuses": meta(statuses=["STALLED"]),
    "solvers that are no names": meta(solvers=[None] * 4),
    "bounds that are no numbers": meta(lower_bounds=["-1"] * 4),
    "certified without a bound": meta(statuses=["CERTIFIED"] * 4),
    "certified with a wide gap": meta(
        statuses=["CERTIFIED"] * 4, lower_bounds=[-10.0] * 4, provenance={"certify_nats": 1e-6}
    ),
}


@pytest.mark.parametrize("write", SPOILED.values(), ids=SPOILED)
def test_a_file_that_was_tampered_with_is_refused(small, tmp_path, write):
    path = tmp_path / "f.npz"
    small.save(path)
    write(path, path.read_bytes())
    with pytest.raises(InvalidOptionError, match=r"f\.npz is not a frontier that infoplane saved"):
        ip.Frontier.load(path)


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "f.npz")
    with pytest.raises(InvalidOptionError, match="a pipe or a device"):
        ip.Frontier.load(tmp_path / "f.npz")


@pytest.mark.parametrize("path", [3, None, b"f.npz", "", "f\0.npz"])
def test_what_is_no_path_is_refused(small, path):
    with pytest.raises(InvalidOptionError, match="must be a path"):
        ip.Frontier.load(path)
    with pytest.raises(InvalidOptionError, match="must be a path"):
        small.save(path)


def test_encoders_stored_by_columns_come_back(small, tmp_path):
    small.save(tmp_path / "f.npz")
    edited(encoders=np.asfortranarray)(tmp_path / "f.npz", b"")
    assert_same(ip.Frontier.load(tmp_path / "f.npz"), small)


@pytest.mark.parametrize("write", BAD, ids=lambda write: write.__name__)
def test_a_file_that_is_no_frontier_is_refused_and_never_executed(small, tmp_path, write):
    path = tmp_path / "f.npz"
    small.save(path)
    write(path, path.read_bytes())
    with pytest.raises(InvalidOptionError, match=r"f\.npz is not a frontier that infoplane saved"):
        ip.Frontier.load(path)
    assert os.listdir(tmp_path) == ["f.npz"]


def test_the_bomb_works(tmp_path):
    with (tmp_path / "bomb.npy").open("wb") as file:
        np.save(file, np.array([Bomb(str(tmp_path / "marker"))], dtype=object))
    np.load(tmp_path / "bomb.npy", allow_pickle=True)
    assert (tmp_path / "marker").is_dir()


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        ip.Frontier.load(tmp_path / "f.npz")


# -- writes that fail --------------------------------------------------------------------------------------------------


def half_then(error):
    def savez(file, **arrays):
        file.write(b"half of a file")
        raise error

    return savez


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), KeyboardInterrupt()], ids=["full", "ctrl-c"])
def test_a_failing_write_leaves_nothing_behind(small, tmp_path, monkeypatch, error):
    monkeypatch.setattr(np, "savez_compressed", half_then(error))
    with pytest.raises(type(error)):
        small.save(tmp_path / "f.npz")
    assert os.listdir(tmp_path) == []


def test_a_failing_write_leaves_an_existing_file_untouched(small, tmp_path, monkeypatch):
    path = tmp_path / "f.npz"
    small.save(path)
    before = path.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(np, "savez_compressed", half_then(OSError(28, "No space left on device")))
        with pytest.raises(OSError, match="No space left"):
            small.save(path)
    assert os.listdir(tmp_path) == ["f.npz"]
    assert path.read_bytes() == before
    assert_same(ip.Frontier.load(path), small)


def test_a_move_that_fails_leaves_nothing_behind(small, tmp_path):
    (tmp_path / "f.npz").mkdir()
    with pytest.raises(OSError, match=r"f\.npz"):
        small.save(tmp_path / "f.npz")
    assert os.listdir(tmp_path) == ["f.npz"]
    assert os.listdir(tmp_path / "f.npz") == []


@pytest.mark.parametrize(("column", "value"), [(2, -1e-9), (3, -np.inf), (4, np.inf)])
def test_residuals_that_no_run_ends_with_are_refused(small, column, value, tmp_path):
    small.save(tmp_path / "f.npz")
    with np.load(tmp_path / "f.npz") as archive:
        arrays = {name: archive[name] for name in archive.files}
    assert small.runs[0].status is ip.Status.STATIONARY
    arrays["numbers"][0, column] = value
    np.savez(tmp_path / "bad.npz", **arrays)
    with pytest.raises(InvalidOptionError, match="residuals"):
        ip.Frontier.load(tmp_path / "bad.npz")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("how", "magic"),
        ("gain", None),
        ("seen", [True]),
        ("weights", [0.5]),
        ("prior", [1.0, -1.0, 1.0]),
        ("centres", [[0.1, 0.9]]),
        ("curve", [[1]]),
        ("concentration", [float("nan")] * 3),
    ],
)
def test_a_forged_denoising_is_refused(name, value):
    made = ip.Joint.from_counts(three_kinds(np.random.default_rng(0), 50, 20)[0]).denoised()
    meta, arrays = json.loads(json.dumps(archive.joint_meta(made))), archive.joint_arrays(made)
    assert str(archive.joint_from(meta, arrays).denoising) == str(made.denoising)
    meta["denoising"][name] = value
    with pytest.raises((ValueError, TypeError)):
        archive.joint_from(meta, arrays)
