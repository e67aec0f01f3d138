"""Encoders W[z, x] = p(z|x): whether a matrix is one, and which of its clusters coincide.

Two clusters coincide if their posteriors p(x|z) agree to `SAME_POSTERIOR` in total variation. For the Lagrangians with a posterior form
merging clusters of equal posterior changes nothing.
"""

from __future__ import annotations

import reprlib

import numpy as np

from ..checks import SUM_TOLERANCE
from ..errors import InvalidEncoderError
from ..information import Array
from ..joint.joint import Joint, check_joint

SMALLEST_MASS = 1e-6
"""p(z) above which a cluster counts: one record in a million. Runs that end before a cluster is quite empty leave less in it."""

SAME_POSTERIOR = 1e-2
"""Total variation within which posteriors count as equal: far above what a stationarity of 1e-8 leaves between equal clusters, far below
the distance of different ones."""


def check_encoder(joint: Joint, encoder: Array) -> Array:
    """The encoder as a float array, or an error that names the first column that is not a distribution over z."""
    check_joint(joint)
    if hasattr(encoder, "columns"):
        raise InvalidEncoderError(
            "an encoder must be an array W[z, x] = p(z|x); found a frame, whose rows would be taken for z. Give frame.to_numpy().T, with "
            "the x in the joint's order."
        )
    try:
        W = np.asarray(encoder, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InvalidEncoderError(
            f"an encoder must be a table of numbers, W[z, x] = p(z|x); found {reprlib.repr(encoder)}."
        ) from None
    if W.ndim != 2 or W.shape[1] != joint.shape[0] or W.shape[0] == 0:
        raise InvalidEncoderError(
            f"an encoder must have shape (|Z|, |X|) = (any, {joint.shape[0]}), found {W.shape}; W[z, x] = p(z|x)."
        )
    bad = ~np.isfinite(W) | (W < 0)
    if bad.any():
        z, x = (int(i) for i in np.argwhere(bad)[0])
        raise InvalidEncoderError(f"an encoder holds probabilities, found {W[z, x]} at z = {z}, x = {x}.")
    error = np.abs(W.sum(axis=0) - 1.0)
    if error.max() > SUM_TOLERANCE:
        x = int(error.argmax())
        raise InvalidEncoderError(
            f"each column of an encoder must sum to 1; column x = {x} sums to {W[:, x].sum():.12g}. "
            "If rows sum to 1 instead, pass its transpose."
        )
    return W


def distinct_clusters(W: Array, p_x: Array, smallest: float = SMALLEST_MASS) -> list[list[int]]:
    """The clusters of mass p(z) > ``smallest`` that differ, largest first, each followed by those that coincide with it.

    No set of letters has masses under two posteriors that are farther apart than their total variation: eight sets, drawn once, tell nearly
    all pairs apart, and only the others are looked at letter by letter.
    """
    p_z = W @ p_x
    alive = [int(z) for z in np.argsort(-p_z, kind="stable") if p_z[z] > smallest]
    posteriors = W * p_x / np.where(p_z > smallest, p_z, 1.0)[:, None]
    masses = posteriors @ np.random.default_rng(0).integers(0, 2, (W.shape[1], 8)).astype(float)
    groups: list[list[int]] = []
    for z in alive:
        heads = np.array([group[0] for group in groups], dtype=np.int64)
        near = np.flatnonzero(np.abs(masses[heads] - masses[z]).max(axis=1) <= SAME_POSTERIOR + 1e-9)
        distance = 0.5 * np.abs(posteriors[heads[near]] - posteriors[z]).sum(axis=1)
        if len(near) and distance.min() <= SAME_POSTERIOR:
            groups[int(near[np.argmin(distance)])].append(z)
        else:
            groups.append([z])
    return groups


def compact(W: Array, p_x: Array) -> Array:
    """The encoder with coinciding clusters merged and empty ones left out, so that mixtures of mixtures do not grow."""
    groups = distinct_clusters(W, p_x, smallest=0.0)
    merged = np.array([W[group].sum(axis=0) for group in groups])
    # A letter of zero mass may have had all its weight in clusters of zero mass, which are gone: it gets p(z).
    p_z = merged @ p_x
    merged[:, p_x == 0.0] = (p_z / p_z.sum())[:, None]
    merged /= merged.sum(axis=0)
    return merged
