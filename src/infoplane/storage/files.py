"""What all files share: they are written whole or not at all, hold JSON values and arrays, and are not trusted when they are read.

``numpy.load(allow_pickle=False)`` executes nothing, but it unpacks whatever a file says it holds, takes the last of two members of one
name, and ends in a dozen kinds of errors. Here the names and sizes of a file's members are looked at before anything is unpacked, kinds and
shapes of the arrays before anybody uses them; whatever is wrong is a ValueError.
"""

from __future__ import annotations

import errno
import glob
import math
import os
import stat
import tempfile
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import date, datetime
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
import scipy.sparse

from ..errors import InvalidOptionError
from ..formatting import shown
from ..joint.binning import Bin
from ..joint.joint import Joint
from ..problem import MarkovLagrangian
from ..sampling.denoising import CONSTANT, MIXTURE, SHRINKAGE, Candidate, Denoising
from ..task_problem import TASKS, TaskLagrangian

try:
    import fcntl
except ImportError:  # not a Unix: nothing is locked, and what a killed process left behind stays
    fcntl = None  # type: ignore[assignment]

PART = ".part"
"""How the name of a file ends that is being written."""


def to_json(
    value: Any,
    *,
    nonfinite: Callable[[float], Any] = lambda _: None,
    arrays: Callable[[Any], Any] | None = None,
    others: Callable[[Any], Any] = str,
) -> Any:
    """A value in terms that JSON has: null, booleans, numbers, texts, lists, and objects whose keys are texts.

    numpy's scalars become Python's, tuples lists. NaN and the infinities, for which JSON has no word, become what ``nonfinite`` says; numpy
    arrays the lists of their values, or what ``arrays`` says; everything else, such as a date, what ``others`` says.
    """

    def convert(one: Any) -> Any:
        if isinstance(one, np.generic):
            one = one.item()
        if one is None or isinstance(one, (bool, int, str)):
            return one
        if isinstance(one, float):
            return one if math.isfinite(one) else nonfinite(one)
        if isinstance(one, Mapping):
            return {str(key): convert(inside) for key, inside in one.items()}
        if isinstance(one, (list, tuple)):
            return [convert(inside) for inside in one]
        if isinstance(one, np.ndarray):
            return convert(one.tolist()) if arrays is None else arrays(one)
        return others(one)

    return convert(value)


@contextmanager
def whole_file(path: Path) -> Iterator[BinaryIO]:
    """A file beside ``path`` to write to, which is moved there once whole, so that no reader ever sees a part of it.

    The part is locked while it is written. One that nobody has locked was left by a process that was killed, and is removed.
    """
    _remove_left_over(path)
    handle, temporary = _locked_part(path)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)  # mkstemp's files are private; a result is as readable as any other file
        os.replace(temporary, path)
    except BaseException as error:
        if isinstance(error, OSError) and error.errno is not None:
            error.filename = os.fspath(path)  # not the part's, and a full disk names none
        with suppress(FileNotFoundError):
            os.unlink(temporary)
        raise


def _locked_part(path: Path) -> tuple[int, str]:
    """A new file beside ``path``, open and locked. Another process may take it for left over before it is locked: then once more."""
    while True:
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.", suffix=PART)
        if lock(handle) and os.fstat(handle).st_nlink > 0:
            return handle, temporary
        os.close(handle)


def _remove_left_over(path: Path) -> None:
    for part in path.parent.glob(f".{glob.escape(path.name)}.*{PART}") if fcntl is not None else ():
        with suppress(OSError):
            handle = os.open(part, os.O_RDWR | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0))
            try:
                if lock(handle):
                    part.unlink()
            finally:
                os.close(handle)


def lock(handle: int, *, shared: bool = False) -> bool:
    """Lock an open file for as long as it is open, alone or ``shared``; False if another process, or another part of this one, has."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(handle, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def path_of(what: str, given: str | os.PathLike[str]) -> Path:
    """A path from what the caller gives as one, or `InvalidOptionError`: a text that is not empty, or an object that stands for one."""
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise InvalidOptionError(f'{what} must be a path, such as "runs.db"; found {given!r}.')
    return Path(path)


def check_regular(path: str | os.PathLike[str]) -> None:
    """An OSError unless ``path`` is an ordinary file: to open a pipe would wait for somebody to write to it."""
    mode = os.stat(path).st_mode
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, "Is a directory", os.fspath(path))
    if not stat.S_ISREG(mode):
        raise OSError(errno.EINVAL, "it is a pipe or a device, and a file is needed", os.fspath(path))


MOST_BYTES = 2**33
"""Of all arrays of a file together, unpacked: a file of 8 MB cannot be packed from more."""

METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
"""How NumPy packs; the others fail in ways of their own."""


class Expected(NamedTuple):
    """The kind of an array's values, as in ``numpy.dtype.kind``, of 8 bytes if they are numbers; and its shape, None for any length."""

    kind: str
    shape: tuple[int | None, ...]

    def fits(self, array: Any) -> bool:
        """Whether such an array is meant; without values any type will do."""
        if not isinstance(array, np.ndarray) or array.ndim != len(self.shape):
            return False
        alike = array.dtype.kind == self.kind and (array.dtype.kind not in "if" or array.dtype.itemsize == 8)
        lengths = zip(self.shape, array.shape, strict=True)
        return (alike or 0 in array.shape) and all(want in (None, length) for want, length in lengths)


def read_npz(path: str | os.PathLike[str], expected: Mapping[str, Expected]) -> dict[str, Any]:
    """The arrays of a file, in this machine's byte order; a ValueError unless all are as expected.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/f.npz", numbers=np.arange(3.0))
    ...     read_npz(f"{folder}/f.npz", {"numbers": Expected("f", (None,))})
    {'numbers': array([0., 1., 2.])}
    """
    check_regular(path)
    with open(path, "rb") as file, damage_said():
        with zipfile.ZipFile(file) as packed:
            members = packed.infolist()
            names = [one.filename.removesuffix(".npy") for one in members]
        if len(set(names)) < len(names) or any(one.compress_type not in METHODS for one in members):
            raise ValueError("an array is there twice, or packed in a way that NumPy does not use")
        if sum(one.file_size for one in members) > MOST_BYTES:
            raise ValueError(f"its arrays would take more than {MOST_BYTES:,} bytes")
        for name in names:
            if name not in expected:
                raise ValueError(f"it has a member {shown(name)} that is not expected")
        file.seek(0)
        with np.load(file, allow_pickle=False) as arrays:
            found = {name: arrays[name] for name in names}
    for name, array in found.items():
        if not expected[name].fits(array):
            raise ValueError(f"its {name} have type {getattr(array, 'dtype', None)} and shape {np.shape(array)}")
    return {name: _here(array) for name, array in found.items()}


def read_npy(path: str | os.PathLike[str]) -> Any:
    """The array of a .npy file; a ValueError unless it is one, whole, and holds numbers or text."""
    with open(path, "rb") as file, damage_said():
        array = np.load(file, allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "biufU":
        raise ValueError("it holds no array of numbers")
    return _here(array)


def _here(array: Any) -> Any:
    """Row by row, and in this machine's byte order."""
    return array.astype(array.dtype.newbyteorder("="), order="C", copy=False)


@contextmanager
def damage_said() -> Iterator[None]:
    """Whatever zip, zlib and NumPy raise for damaged files, a dozen kinds of errors, as a ValueError."""
    try:
        yield
    except ValueError:
        raise
    except Exception as error:
        raise ValueError(f"it is damaged, or no file of arrays: {error}") from error


# -- a problem, a joint -----------------------------------------------------------------------------------------------------------


def problem_of(rho: Sequence[float], family: str, parameter: float | None) -> MarkovLagrangian:
    """A problem from what files and stores keep of it: three coefficients, the name of its family, and its parameter."""
    one, two, three = (float(value) for value in rho)
    if family in TASKS:
        return TaskLagrangian(-one + 0.0, two, -three, family, parameter)
    return MarkovLagrangian(one, two, three, family, parameter)


COUNTS = {"n_row", "n_column", "n_value"}
"""What a file may be without: a joint that was not made of records has no counts."""


def joint_meta(joint: Joint) -> dict[str, Any]:
    """Shape and labels of a joint, as JSON values."""
    made = joint.denoising
    return {
        "shape": joint.shape,
        "sparse": joint.is_sparse,
        "x_labels": _distinct("x_labels", joint.x_labels),
        "y_labels": _distinct("y_labels", joint.y_labels),
        "x_names": list(joint.x_names),
        "y_names": list(joint.y_names),
        **({} if made is None else {"denoising": to_json(vars(made), nonfinite=float)}),
    }


def joint_arrays(joint: Joint) -> dict[str, Any]:
    """The cells of a joint that hold mass; and, if it was made of records, those in which any fell."""
    arrays: dict[str, Any] = {}
    for name, table in (("p", joint.p_xy), *([] if joint.counts is None else [("n", joint.counts)])):
        cells = scipy.sparse.coo_array(table)
        arrays[f"{name}_row"], arrays[f"{name}_column"] = cells.row.astype(np.int64), cells.col.astype(np.int64)
        arrays[f"{name}_value"] = cells.data
    return arrays


def joint_from(meta: Mapping[str, Any], arrays: Mapping[str, Any]) -> Joint:
    """The joint, to the bit; ValueError or InvalidJointError if it is none."""
    shape = tuple(meta["shape"])
    if [len(meta["x_labels"]["tuple"]), len(meta["y_labels"]["tuple"])] != list(shape):
        raise ValueError(f"its joint has shape {shape}, and other numbers of labels")
    # Cells of a dense joint: beyond 2 GB a file of a few labels and cells would stand for more memory than there is.
    if not meta["sparse"] and math.prod(shape) > 2**28:
        raise ValueError(f"its joint of shape {shape} is too large for a dense table")
    joint = Joint.from_matrix(
        _table("p", arrays, shape, meta["sparse"]),
        x_labels=_labels(meta["x_labels"]),
        y_labels=_labels(meta["y_labels"]),
        x_names=meta["x_names"],
        y_names=meta["y_names"],
    )
    if not COUNTS & arrays.keys():
        return joint
    drawn = joint.with_counts(_table("n", arrays, shape, meta["sparse"]))
    made = meta.get("denoising")
    return drawn if made is None else drawn._drawn(drawn.p_xy, drawn.counts, _denoising(made, shape[1]))


def _table(name: str, arrays: Mapping[str, Any], shape: tuple[int, ...], is_sparse: bool) -> Any:
    cells = scipy.sparse.coo_array(
        (arrays[f"{name}_value"], (arrays[f"{name}_row"], arrays[f"{name}_column"])), shape=shape
    )
    return cells.tocsr() if is_sparse else cells.toarray()


def _denoising(meta: Mapping[str, Any], letters: int) -> Denoising:
    """How a joint was denoised; ValueError unless its arrays fit each other and the joint's letters of Y."""
    seen = np.array(meta["seen"], dtype=bool)
    outcomes = int(seen.sum())
    arrays = {name: np.array(meta[name], dtype=float) for name in ("prior", "weights", "concentration")}
    centres = np.array(meta["centres"], dtype=float).reshape(-1, outcomes)
    curve = tuple(Candidate(int(groups), *map(float, rest)) for groups, *rest in meta["curve"])
    fits = seen.shape == (letters,) and len(centres) == len(arrays["weights"])
    fits &= arrays["prior"].shape == arrays["concentration"].shape == (outcomes,)
    finite = all(np.isfinite(one).all() and (one > 0.0).all() for one in (*arrays.values(), centres))
    if not (fits and finite and meta["how"] in (MIXTURE, SHRINKAGE, CONSTANT) and math.isfinite(meta["gain"])):
        raise ValueError("its denoising does not fit its joint")
    return Denoising(
        how=meta["how"],
        groups=int(meta["groups"]),
        gain=float(meta["gain"]),
        chosen=meta["chosen"] is True,
        centres=centres,
        seen=seen,
        curve=curve,
        **arrays,
    )


def _timestamp(moment: Any) -> Any:
    """A text, or a date of numpy's, as pandas has it."""
    import pandas as pd  # slow to import: paid by the first such label

    return pd.Timestamp(moment)


DATES: dict[str, Callable[[str], Any]] = {
    "date": date.fromisoformat,
    "datetime": datetime.fromisoformat,
    "Timestamp": _timestamp,
}
"""The types of dates that labels and edges of bins may have, by name, and how they are read again."""


def _label(label: Any) -> Any:
    """A label as JSON; tuples become {"tuple": [...]}, bins {"bin": [...]} and dates {"date": "..."}, so that they come back as such.

    NaN stays NaN. What JSON has no word for otherwise becomes a text.
    """
    if isinstance(label, tuple):
        return {"tuple": [_label(member) for member in label]}
    if isinstance(label, Bin):
        return {"bin": [str(label), _label(label.low), _label(label.high), label.rule]}
    if isinstance(label, np.datetime64):
        label = _timestamp(label)
    if (kind := type(label).__name__) in DATES:
        return {kind: label.isoformat()}
    return to_json(label, nonfinite=float)


def _labels(plain: Any) -> Any:
    if not isinstance(plain, dict):
        return plain
    ((kind, inside),) = plain.items()
    if kind == "tuple":
        return tuple(_labels(one) for one in inside)
    if kind == "bin":
        text, low, high, rule = inside
        return Bin(text, _labels(low), _labels(high), rule)
    return DATES[kind](inside)


def _distinct(name: str, labels: tuple[Any, ...]) -> Any:
    """Labels as JSON, if they are told apart there too: two of them may become the same text."""
    plain = _label(labels)
    if len(set(_labels(plain))) < len(labels):
        raise InvalidOptionError(f"{name} are not told apart in a file, where some become the same text. Rename them.")
    return plain
