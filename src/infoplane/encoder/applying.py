"""Applying an encoder to records: which letter x each of them is, and the z that it becomes, drawn from p(z|x).

    z = min {k : p(z <= k | x) > u},   u uniform in [0, 1)

u is drawn anew, or follows from the record's id and a secret key by a keyed hash (BLAKE2b of the standard library): then the same record
always gets the same z. Releases that are drawn anew for the same record do not compose, docs/howto/release.md.

Every distinct value of a column, in the joint's bins, is looked up once, so that a million rows take no loop. A row that holds what the
joint has never met is -1. Errors count such rows and name their column, never a value: it may be one person's.
"""

from __future__ import annotations

import hashlib
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import alternatives
from ..information import Array, IntArray
from ..joint.frames import Column
from ..joint.tables import MISSING, is_missing

if TYPE_CHECKING:
    from ..joint.joint import Joint

UNSEEN = -1
"""The letter of what was never met."""


def letters_of_rows(joint: Joint, frame: Any, *, refuse_unseen: bool = False) -> IntArray:
    """The letter of every row of a frame in memory that has the joint's columns of x; -1 for what was never met, or an error."""
    import pandas as pd

    rows = in_memory(frame)
    labels: Any = joint.x_labels if len(joint.x_names) > 1 else [(label,) for label in joint.x_labels]
    alphabets = [{v: i for i, v in enumerate(dict.fromkeys(column))} for column in zip(*labels, strict=True)]
    codes = [
        _codes(_column(rows, name, joint.bins.get(name)), alphabet)
        for name, alphabet in zip(joint.x_names, alphabets, strict=True)
    ]
    letters = codes[0]
    if len(codes) > 1:
        known = [[place[v] for place, v in zip(alphabets, label, strict=True)] for label in labels]
        letters = pd.MultiIndex.from_arrays([*np.array(known).T]).get_indexer(pd.MultiIndex.from_arrays(codes))
    if refuse_unseen:
        _refuse_unseen(joint, letters, codes)
    return letters


def letters_of_labels(joint: Joint, labels: Any, *, refuse_unseen: bool = False) -> IntArray:
    """The letter of each label, as ``joint.x_labels`` has them; -1 for what was never met, or an error."""
    if hasattr(labels, "columns"):
        raise InvalidJointError(
            "labels must be one sequence; found a frame. transform(frame) takes rows with columns of x."
        )
    if isinstance(labels, str | bytes | Mapping) or not hasattr(labels, "__len__"):
        raise InvalidJointError(
            f"labels must be a sequence with a label of x for each record; found {type(labels).__name__}."
        )
    if not isinstance(labels, np.ndarray) and not hasattr(labels, "dtype"):
        boxed = np.empty(len(labels), dtype=object)
        boxed[:] = [*labels]
        labels = boxed
    letters = _codes(labels, {label: x for x, label in enumerate(joint.x_labels)})
    if refuse_unseen:
        _refuse_unseen(joint, letters)
    return letters


def _refuse_unseen(joint: Joint, letters: IntArray, columns: Sequence[IntArray] = ()) -> None:
    """An error if some record was never met: how many, and in which column, never what it holds."""
    count = int((letters < 0).sum())
    if not count:
        return
    names = ", ".join(map(repr, joint.x_names))
    where = f"x ({names})" if not columns else f"the columns {names}, whose values were met, but not together"
    for name, codes in zip(joint.x_names, columns, strict=False):
        if own := int((codes < 0).sum()):
            where, count = f"column {name!r}", own
            break
    raise InvalidJointError(
        f"every record must have a value of x that the joint has met; found {count:,} of {len(letters):,} without, in {where}. "
        "unseen='marginal' draws z for them from p(z), unseen='suppress' leaves them out."
    )


def in_memory(frame: Any) -> nw.DataFrame[Any]:
    """The frame as narwhals has it, if its rows are in memory."""
    rows = nw.from_native(frame, pass_through=True)
    if not isinstance(rows, nw.DataFrame):
        raise InvalidJointError(
            f"rows must be a frame in memory, of pandas, polars or pyarrow; found {type(frame).__name__}. Collect it first."
        )
    return rows


def column_of(frame: Any, name: str) -> Any:
    """A column of a frame in memory, as pandas has it."""
    return _column(in_memory(frame), name, None)


def _column(rows: nw.DataFrame[Any], name: str, rule: Any) -> Any:
    """The values of a column, or the labels of their bins, as pandas has them."""
    if name not in rows.columns:
        raise InvalidJointError(f"rows must have the column {name!r}; expected {alternatives(name, rows.columns)}.")
    if rule is None:
        return rows[name].to_native() if rows.implementation.is_pandas() else rows[name].to_pandas()
    column = Column.of(rows, name, "value", rule)
    codes = rows.select(column.read()).select(column.code())["value"].to_numpy()
    met, place = np.unique(codes, return_inverse=True)
    labels = np.empty(len(met), dtype=object)
    labels[:] = [column.label(code) for code in met]
    return labels[place]


def _codes(values: Any, places: Mapping[Hashable, int]) -> IntArray:
    """The place of each value; every distinct one is looked up once."""
    import pandas as pd

    try:
        codes, distinct = pd.factorize(values, use_na_sentinel=False)
    except TypeError as error:
        raise InvalidJointError(f"labels must be hashable; found an {error}. Turn lists into tuples.") from None
    found = [places.get(MISSING if is_missing(value) else value, UNSEEN) for value in distinct.tolist()]
    return np.array(found, dtype=np.int64)[codes]


SHORTEST_KEY = 16
"""Bytes of a secret key, at least: 128 bits are not guessed."""

LONGEST_KEY = 64
"""Bytes that BLAKE2b takes as a key, at most."""


class Draw:
    """p(z <= k | x) of the clusters with p(z|x) > 0, letter after letter, and a guide to them: where to begin for u in [i/K, (i + 1)/K)."""

    def __init__(self, W: Array) -> None:
        letters, self.clusters = np.nonzero(W.T > 0.0)
        self.first: IntArray = np.searchsorted(letters, np.arange(W.shape[1]))
        self.count: IntArray = np.bincount(letters, minlength=W.shape[1])
        running = np.cumsum(W.T[letters, self.clusters])
        before = np.concatenate([[0.0], running])[self.first]
        self.reached: Array = running - np.repeat(before, self.count)
        # Rounding leaves nobody without a cluster: the last one reaches beyond every u.
        self.reached[self.first + self.count - 1] = np.inf
        start = np.repeat(self.first, self.count)
        self.guide = self._passed(start.copy(), (np.arange(len(start)) - start) / np.repeat(self.count, self.count))

    def __call__(self, x: IntArray, u: Array) -> IntArray:
        """The cluster of each record, given its letter and its u."""
        count = self.count[x]
        bucket = np.minimum((u * count).astype(np.int64), count - 1)
        return self.clusters[self._passed(self.guide[self.first[x] + bucket], u)]

    def _passed(self, at: IntArray, u: Array) -> IntArray:
        """Move each on, in place, past the clusters that do not reach its u."""
        late = np.flatnonzero(self.reached[at] <= u)
        while late.size:
            at[late] += 1
            late = late[self.reached[at[late]] <= u[late]]
        return at


def keyed_uniforms(ids: Iterable[Any], key: bytes) -> Array:
    """u in [0, 1) for each id: the first 53 bits of its keyed hash. An id counts by its text."""
    check_key(key)
    started = hashlib.blake2b(key=key, digest_size=8)

    def digest(one: Any) -> bytes:
        hashed = started.copy()
        hashed.update(str(one).encode())
        return hashed.digest()

    words = np.frombuffer(b"".join([digest(one) for one in ids]), dtype="<u8")
    return np.asarray((words >> np.uint64(11)) * 2.0**-53, dtype=float)


def check_key(key: object) -> None:
    """Refuse a key that is no secret."""
    if not isinstance(key, (bytes, bytearray)) or not SHORTEST_KEY <= len(key) <= LONGEST_KEY:
        found = f"{len(key)} bytes" if isinstance(key, (bytes, bytearray)) else f"a value of type {type(key).__name__}"
        raise InvalidOptionError(
            f"a secret key must be {SHORTEST_KEY} to {LONGEST_KEY} random bytes; found {found}. secrets.token_bytes(32) makes one: keep it "
            "apart from what is released."
        )


def second_key(key: bytes) -> bytes:
    """Another key that follows from a key: for a second draw of a record that is independent of the first."""
    check_key(key)
    return hashlib.blake2b(b"second draw", key=key, digest_size=32).digest()


def uniforms(count: int, rng: np.random.Generator, ids: Sequence[Any] | None, key: bytes | None) -> Array:
    """A u for each of so many records: drawn anew, or by id and key."""
    if (ids is None) != (key is None):
        raise InvalidOptionError(
            "ids and key go together: the draws of a record repeat if both are given; found one of them."
        )
    if ids is None or key is None:
        return rng.random(count)
    if len(ids) != count:
        raise InvalidOptionError(f"ids must have one entry for each of the {count:,} records; found {len(ids):,}.")
    return keyed_uniforms(ids, key)


def drawn(
    encoder: Array,
    p_z: Array,
    letters: IntArray,
    rng: int | np.random.Generator | None,
    ids: Sequence[Any] | None,
    key: bytes | None,
    *,
    suppress: bool,
) -> IntArray:
    """z for letters, of which -1 was never met: drawn from p(z), or -1."""
    u = uniforms(len(letters), np.random.default_rng(rng), ids, key)
    z = Draw(np.column_stack([encoder, p_z]))(np.where(letters < 0, encoder.shape[1], letters), u)
    return np.where(letters < 0, UNSEEN, z) if suppress else z
