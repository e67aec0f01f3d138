"""Damaged files: archives, stores, tables and matrices with bytes or contents changed. Each is read, or refused with a sentence.

Never a traceback, a number that is not finite, a wait or a huge allocation: the limits of `guarded` turn those into failures.
"""

import io
import json
import shutil
import sqlite3
import tempfile
import warnings
import zipfile
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
from click.testing import CliRunner

import infoplane as ip
from infoplane.cli.app import infoplane
from infoplane.storage.store import read_store, store_status

from .calls import Broken

TEXT = "age,job,n\n30,clerk,3\n30,nurse,1\n40,clerk,2\n40,nurse,4\n50,cook,1\n50,clerk,2\n"
WIDE = "x\tlow\thigh\nred\t3\t1\ngreen\t0\t2\nblue\t5\t5\n"
HOSTILE_TEXTS = (
    "\x00",
    "\x1b[31m",
    "\ufeff",
    '"',
    ",",
    "\r",
    "NaN",
    "inf",
    "1_0",
    "=1+1",
    "+2+cmd|x",
    "1e999",
    "-1",
    "\U0001f600",
    "9" * 400,
    "\u202e",
    "",
)
HOSTILE_JSON = (None, -1, 10**30, 1e308, "", "\x1b]0;x\x07", [], {}, [[[]]], True, [1, "a"], {"tuple": 3}, "CERTIFIED")
HOSTILE_SQL = ("NULL", "-1", "9e999", "'text'", "zeroblob(1000)", "x'00ff'", "9223372036854775807", "0", "''")


@cache
def originals():
    """Good files of every kind, made once."""
    folder = Path(tempfile.mkdtemp(prefix="infoplane-fuzz-"))
    joint = ip.Joint.from_counts(
        np.array([[3.0, 1, 0], [0, 2, 2], [1, 1, 4], [2, 0, 1]]), x_labels=["a", "b", ("c", 1), 4]
    )
    swept = ip.sweep(
        joint, ip.bottleneck, [0.1, 0.3], "blahut-arimoto", starts=2, rng=0, certify=True, store=folder / "runs.db"
    )
    swept.save(folder / "frontier.npz")
    (folder / "long.csv").write_text(TEXT)
    (folder / "wide.tsv").write_text(WIDE)
    np.save(folder / "matrix.npy", np.array([[0.2, 0.3], [0.1, 0.4]]))
    return folder


def spoiled_bytes(rng, data):
    """Some bytes changed, inserted, taken out, repeated or cut off."""
    data = bytearray(data)
    for _ in range(rng.integers(1, 5)):
        at, length = int(rng.integers(len(data) + 1)), int(rng.integers(1, 40))
        how = rng.integers(6)
        if how == 0:
            data[at:at] = rng.bytes(length)
        elif how == 1:
            del data[at : at + length]
        elif how == 2:
            data[at : at + length] = bytes(length)
        elif how == 3:
            data[at:at] = data[at : at + length] * int(rng.integers(1, 5))
        elif how == 4:
            del data[at:]
        else:
            data[at : at + 1] = rng.bytes(1)
    return bytes(data)


def spoiled_archive(rng, path):
    """An archive with one array, or one entry of its description, replaced."""
    with np.load(path) as archive:
        arrays = {name: archive[name] for name in archive.files}
    name = str(rng.choice(sorted(arrays)))
    if name == "meta" or rng.random() < 0.4:
        meta = json.loads(str(arrays["meta"]))
        key = str(rng.choice(sorted(meta)))
        value = HOSTILE_JSON[rng.integers(len(HOSTILE_JSON))]
        if isinstance(meta[key], list) and meta[key] and rng.random() < 0.6:
            meta[key][rng.integers(len(meta[key]))] = value
        else:
            meta[key] = value
        arrays["meta"] = np.array(json.dumps(meta))
    else:
        array = arrays[name]
        how = rng.integers(7)
        if how == 0:
            del arrays[name]
        elif how == 1:
            arrays[name] = array[..., :-1]
        elif how == 2:
            arrays[name] = array.astype(["U9", "f4", "i2", "c16"][rng.integers(4)])
        elif how == 3 and array.size:
            changed = array.copy().ravel()
            changed[rng.integers(array.size)] = rng.choice([-1, 2, 10**6])
            arrays[name] = changed.reshape(array.shape)
        elif how == 4 and array.dtype.kind == "f" and array.size:
            changed = array.copy().ravel()
            changed[rng.integers(array.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e308, -1e-9])
            arrays[name] = changed.reshape(array.shape)
        elif how == 5:
            arrays[name] = array.reshape((*array.shape, 1))
        else:
            return with_header(rng, path, name)
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def with_header(rng, path, name):
    """An array whose header says more than there is, or that is a pickle, or packed otherwise, or not alone."""
    file = io.BytesIO()
    header = io.BytesIO()
    shape = [(10 ** int(rng.integers(3, 17)),), (2**31, 2**31), (1,)][rng.integers(3)]
    kind = ["<f8", "|O", "<U1000", "<i8"][rng.integers(4)]
    np.lib.format.write_array_header_1_0(header, {"descr": kind, "fortran_order": False, "shape": shape})
    with zipfile.ZipFile(path) as old, zipfile.ZipFile(file, "w", [8, 0, 12, 14][rng.integers(4)]) as new:
        for info in old.infolist():
            data = old.read(info)
            new.writestr(info.filename, header.getvalue() + bytes(64) if info.filename == f"{name}.npy" else data)
        if rng.random() < 0.3:
            new.writestr("other.npy", data)
    return file.getvalue()


def spoiled_store(rng, path):
    """A store with a value of some row replaced."""
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        chosen = str(rng.choice(tables))
        columns = [row[1] for row in connection.execute(f"PRAGMA table_info({chosen})")]
        column, value = str(rng.choice(columns)), HOSTILE_SQL[rng.integers(len(HOSTILE_SQL))]
        try:
            if rng.random() < 0.15:
                connection.execute(f"DELETE FROM {chosen}")
            else:
                connection.execute(f"UPDATE OR REPLACE {chosen} SET {column} = {value}")
            connection.commit()
        except sqlite3.Error:
            connection.rollback()


def spoiled_text(rng, text):
    """A table with hostile cells put in."""
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(text) + 1))
        text = text[:at] + HOSTILE_TEXTS[rng.integers(len(HOSTILE_TEXTS))] + text[at + int(rng.integers(3)) :]
    return text.encode("utf-8" if rng.random() < 0.9 else "utf-16")


def read_archive(path):
    """Load it, look at everything, and verify it."""
    ends = []
    for look in (_loaded, lambda one: ip.verify(one, max_cells=20)):
        try:
            look(path)
            ends.append("read")
        except (ip.InfoplaneError, OSError) as error:
            ends.append(_sentence(error))
    return ends[0]


def _loaded(path):
    finite(ip.Frontier.load(path))


def finite(frontier):
    """Look at all that a frontier has; whatever is there is finite."""
    for run in frontier.runs:
        numbers = [run.loss, run.ixz, run.iyz, run.lower_bound or 0.0]
        if min(run.residuals) < 0.0 or (run.status is ip.Status.STATIONARY and max(run.residuals) == np.inf):
            raise Broken(f"{run.status.name} with {run.residuals}")
        if getattr(run, "has_encoder", True):
            numbers += np.ravel(run.encoder).tolist()
        if not np.isfinite(numbers).all():
            raise Broken(f"a number that is not finite in {run!r}")
        str(run), run.trace, run.multipliers
    frontier.to_frame()
    frontier.best()


def read_database(path):
    """Its status and its frontier."""
    try:
        store_status(path)
        finite(read_store(path))
    except ip.InfoplaneError as error:
        return _sentence(error)
    return "read"


def read_table(path, *options):
    """The command, in this process."""
    arguments = [
        "solve",
        str(path),
        *options,
        "--gamma",
        "0.2",
        "--solver",
        "blahut-arimoto",
        "--starts",
        "1",
        "--max-iter",
        "5",
        "--json",
    ]
    result = CliRunner().invoke(infoplane, arguments)
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    if result.exit_code not in (0, 2, 3, 4) or "Traceback" in result.stderr:
        raise Broken(f"exit code {result.exit_code}: {result.stderr[-300:]}")
    if "\x1b" in result.stdout + result.stderr:
        raise Broken(f"an escape sequence reaches the terminal: {result.stderr[-200:]!r}")
    return f"exit {result.exit_code}"


def _sentence(error):
    if len(str(error)) < 20:
        raise Broken(f"an error that says nothing: {error!r}") from error
    return "refused"


def attack(rng):
    """A spoiled file, read."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        kind = rng.integers(5)
        good = originals() / ("frontier.npz", "runs.db", "long.csv", "wide.tsv", "matrix.npy")[kind]
        path = Path(folder) / good.name
        if kind == 0:
            path.write_bytes(
                spoiled_bytes(rng, good.read_bytes()) if rng.random() < 0.4 else spoiled_archive(rng, good)
            )
            read, options = read_archive, ()
        elif kind == 1:
            shutil.copy(good, path)
            if rng.random() < 0.5:
                spoiled_store(rng, path)
            else:
                path.write_bytes(spoiled_bytes(rng, good.read_bytes()))
            if rng.random() < 0.3:  # by another name
                path = Path(folder) / "link.db"
                path.symlink_to(good.name)
            read, options = read_database, ()
        elif kind == 4:
            path.write_bytes(spoiled_bytes(rng, good.read_bytes()))
            read, options = read_table, ("--matrix",)
        else:
            text = (TEXT, WIDE)[kind - 2]
            path.write_bytes(spoiled_text(rng, text) if rng.random() < 0.7 else spoiled_bytes(rng, text.encode()))
            read, options = read_table, (("--x", "age", "--y", "job", "--count", "n") if kind == 2 else ("--wide",))
        try:
            return read(path, *options)
        except Exception as error:
            kept = originals() / f"finding-{rng.integers(10**9)}-{good.name}"
            shutil.copy(path, kept)
            raise Broken(f"{kept}\n    {type(error).__name__}: {str(error)[:300]}") from error
