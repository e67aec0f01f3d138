"""Where runs begin. Random encoders are the paper's start; a near-identity one was measured to miss fewer optima."""

from __future__ import annotations

import reprlib
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...checks import whole_number
from ...encoder.encoder import check_encoder
from ...errors import InvalidOptionError
from ...information import Array, IntArray
from ...joint.grouping import grouped
from ...joint.joint import Support
from ...problem import family_of
from ..job import Seed

if TYPE_CHECKING:
    from ...joint.joint import Joint
    from ...problem import MarkovLagrangian


class StartSizes(NamedTuple):
    """How large starts are, and may be."""

    first_clusters: int = 64
    """Clusters that a start has by default if X has more letters: solvers that find |Z| themselves grow it from there."""
    clusters_a_y: int = 4
    """... or so many for each letter of Y, as long as a start has no more than `start_entries` entries."""
    start_entries: int = 4_000_000
    encoder_bytes: int = 2**28
    """Memory that one encoder may take by default, 8 bytes for each of |Z| |X| entries: |Z| grows up to |X|, or to what fits in here
    (1,031 clusters for 32,537 letters). Up to thirteen encoders are held at a time, so that all stays below 4 GB. ``clusters`` asks
    for more."""
    starts_bytes: int = 2**32
    """Memory that all starts of a call may take together: beyond it they are refused, since solvers hold several times as much."""


SIZES = StartSizes()


KINDS = ("mixed", "random", "identity", "spread")
"""One near-identity and the others random; all random (the paper's); the near-identity one; anything between the two."""


def random_encoder(clusters: int, letters: int, rng: np.random.Generator) -> Array:
    """Unif(0,1) entries, columns normalised: the paper's start (Section V)."""
    W: Array = rng.random((clusters, letters))
    W /= W.sum(axis=0)
    return W


def near_identity(clusters: int, letters: int, groups: IntArray | None = None, shared: float = 0.05) -> Array:
    """0.95 I + 0.05/|Z|; with fewer clusters than letters, letters share clusters by group, or in turn."""
    W = np.full((clusters, letters), shared / clusters)
    W[np.arange(letters) % clusters if groups is None else groups, np.arange(letters)] += 1.0 - shared
    return W


def between(clusters: int, letters: int, rng: np.random.Generator, groups: IntArray | None = None) -> Array:
    """A share t of I and 1 - t of a random encoder, t uniform in (0, 1): a funnel's clusters hold few letters each."""
    W = random_encoder(clusters, letters, rng)
    t = rng.random()
    W *= 1.0 - t
    W[np.arange(letters) % clusters if groups is None else groups, np.arange(letters)] += t
    return W


def default_init(problem: MarkovLagrangian) -> str:
    """The kind of starts that the problem's family asks for."""
    return family_of(problem).init or ("spread" if problem.rho_zy < 0.0 else "mixed")


def default_clusters(letters: int, outcomes: int = 0) -> int:
    """Rows of a start: |X|, which suffices for the Lagrangian, or `SIZES.first_clusters`, or `SIZES.clusters_a_y` for each outcome y."""
    return min(letters, max(SIZES.first_clusters, min(SIZES.clusters_a_y * outcomes, SIZES.start_entries // letters)))


def most_clusters(letters: int, clusters: int | None = None, init: str | Array | None = None) -> int:
    """The cap on |Z|: what the user asked for, by number or by the rows of ``init``; else |X|, or what `SIZES.encoder_bytes` hold."""
    given = None if init is None or isinstance(init, str) else _stack(init).shape
    rows = None if given is None or len(given) < 2 else int(given[-2])
    if clusters is not None:
        most = whole_number("clusters", clusters)
        if rows is not None and rows > most:
            raise InvalidOptionError(f"init has {rows} clusters, more than clusters = {most}; leave clusters out.")
        return most
    if rows is not None:
        return rows
    return min(letters, max(SIZES.first_clusters, SIZES.encoder_bytes // (8 * letters)))


def make_starts(
    joint: Joint,
    clusters: int | None,
    starts: int,
    seed: np.random.SeedSequence,
    init: str | Array | None,
    first_only: bool = False,
) -> Array:
    """(starts, |Z|, |X|): the encoders that runs begin from, on the letters of positive mass.

    Start i depends on the seed and on i only, not on how many there are; those after the first are made unless ``first_only``.
    """
    starts = whole_number("starts", starts)
    seen, outcomes = joint.support()
    letters = int(seen.sum())
    if init is not None and not isinstance(init, str):
        return _given(joint, seen, init)[: 1 if first_only else None]
    kind = "mixed" if init is None else init
    if kind not in KINDS:
        raise InvalidOptionError(f"init must be an encoder or one of {', '.join(KINDS)}; found {init!r}.")
    clusters = (
        default_clusters(letters, int(outcomes.sum())) if clusters is None else whole_number("clusters", clusters)
    )
    made = 1 if first_only or kind == "identity" else starts
    if 8 * made * clusters * letters > SIZES.starts_bytes:
        raise InvalidOptionError(
            f"{made:,} starts of {clusters:,} clusters and {letters:,} letters would take {8 * made * clusters * letters / 2**30:,.0f} GB, "
            f"more than {SIZES.starts_bytes // 2**30}: ask for fewer starts or clusters."
        )
    groups = None if kind == "random" or clusters >= letters else _groups(joint, clusters)
    if kind == "identity":
        return near_identity(clusters, letters, groups)[None]
    W = np.empty((made, clusters, letters))
    for start, child in enumerate(seed.spawn(made)):
        rng = np.random.default_rng(child)
        if kind == "mixed" and start == 0:
            W[start] = near_identity(clusters, letters, groups)
        elif kind == "spread":
            W[start] = between(clusters, letters, rng, groups)
        else:
            W[start] = random_encoder(clusters, letters, rng)
    return W


@lru_cache(maxsize=4)
def _groups(joint: Joint, clusters: int) -> IntArray:
    """The letters in groups, found once for all starts and parameters of a joint."""
    return grouped(Support(joint), clusters)


def _given(joint: Joint, seen: np.ndarray[tuple[int, ...], np.dtype[np.bool_]], init: Array) -> Array:
    """Encoders that the user brings: one (|Z|, |X|), or a stack of them."""
    stack = _stack(init)
    if stack.ndim == 2:
        stack = stack[None]
    if stack.ndim != 3 or stack.shape[0] == 0:
        raise InvalidOptionError(f"init must have shape (|Z|, |X|) or (starts, |Z|, |X|), found {stack.shape}.")
    for encoder in stack:
        check_encoder(joint, encoder)
    return np.ascontiguousarray(stack[:, :, seen])


def _stack(init: object) -> Array:
    """What the user brings as encoders, as numbers."""
    if hasattr(init, "columns"):
        raise InvalidOptionError(
            "init must be an array W[z, x] = p(z|x); found a frame, whose rows would be taken for z. Give frame.to_numpy().T."
        )
    try:
        given = np.asarray(init)
        if given.dtype.kind in "biuf":
            return np.array(given, dtype=float)
    except ValueError:  # rows of different lengths
        pass
    raise InvalidOptionError(f"init must be an encoder or one of {', '.join(KINDS)}; found {reprlib.repr(init)}.")


def seed_sequence(rng: Seed) -> np.random.SeedSequence:
    """One root for all randomness of a call, from whatever the user gave as rng."""
    if isinstance(rng, np.random.SeedSequence):
        return rng
    if isinstance(rng, np.random.Generator):
        return np.random.SeedSequence(rng.integers(0, 2**63, size=4).tolist())
    if rng is not None and (isinstance(rng, bool) or not isinstance(rng, (int, np.integer)) or rng < 0):
        raise InvalidOptionError(f"rng must be None, a non-negative whole number or a numpy Generator; found {rng!r}.")
    return np.random.SeedSequence(None if rng is None else int(rng))
