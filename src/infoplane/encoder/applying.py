"""Draws of z for records from p(z|x), given the letter x of each (`encoder.letters`).

    z = min {k : p(z <= k | x) > u},   u uniform in [0, 1)

u is drawn anew, or follows from the record's id and a secret key by a keyed hash (BLAKE2b of the standard library): then the same record
always gets the same z. Releases that are drawn anew for the same record do not compose, docs/howto/release.md.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..checks import listed
from ..errors import InvalidOptionError
from ..information import Array, IntArray
from .letters import UNSEEN

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
    ids = listed("ids", ids, "ids, one for each record")
    if len(ids) != count:
        raise InvalidOptionError(f"ids must have one entry for each of the {count:,} records; found {len(ids):,}.")
    return keyed_uniforms(ids, key)


def drawn(
    W: Array,
    letters: IntArray,
    rng: np.random.Generator,
    ids: Sequence[Any] | None,
    key: bytes | None,
    *,
    suppress: bool,
) -> IntArray:
    """z for letters of the columns of p(z|x), of which the last is that of what was never met, -1; ``suppress`` leaves it at -1."""
    z = Draw(W)(letters, uniforms(len(letters), rng, ids, key))
    return np.where(letters < 0, UNSEEN, z) if suppress else z
