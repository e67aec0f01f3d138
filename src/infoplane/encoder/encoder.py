"""Encoders W[z, x] = p(z|x): whether a matrix is one, and which of its clusters coincide.

Two clusters coincide if their posteriors p(x|z) agree to `SAME_POSTERIOR` in total variation. For the Lagrangians with a posterior form
merging clusters of equal posterior changes nothing.

What the clusters of an encoder hold: how much mass, which y they predict, which x are typical of them.

p(x|z) = p(z|x) p(x) / p(z).  A letter x is the more typical of z, the more it adds to what z says of y,

    D(p(y|z) || p(y)) = sum_x p(x|z) sum_y p(y|x) log(p(y|z) / p(y))
                      = sum_x p(x|z) (D(p(y|x) || p(y)) - D(p(y|x) || p(y|z)))

so that it is frequent in z, differs from the average as z does, and does not differ from z. A letter whose p(y|x) is average adds nothing,
however frequent it is; one that speaks against z adds less than nothing. Of a cluster that says nothing of y, as a funnel's may, those x
are typical that add most to D(p(x|z) || p(x)): frequent in z and rarer elsewhere.
"""

from __future__ import annotations

import reprlib
from collections.abc import Hashable, Iterator
from typing import NamedTuple

import numpy as np

from ..checks import SUM_TOLERANCE
from ..errors import InvalidEncoderError
from ..formatting import label_text
from ..information import Array, rel_entr
from ..joint.joint import Joint, check_joint
from ..joint.mixing import target_weights

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


SEEN = 0.005
"""A letter with p(z|x) below this is not counted as one of the cluster's: tables and pictures show two digits of it, 0.00."""

NEGLIGIBLE = 1e-4
"""Nats that a letter adds to a divergence: one that adds less is not typical. No digit that is shown of a divergence would change."""


class Cluster(NamedTuple):
    """One cluster."""

    z: int
    """Its row of the encoder."""
    mass: float
    """p(z)."""
    letters: int
    """How many x have p(z|x) >= `SEEN`."""
    typical: tuple[int, ...]
    """The x that are most typical, by index, the most typical first."""
    p_y: Array
    """p(y|z); of a joint that mixes several targets, of each target on its own."""


def by_mass(joint: Joint, encoder: Array, letters: int, most: int | None = None) -> Iterator[Cluster]:
    """The clusters, largest p(z) first, or the ``most`` largest; each with so many typical letters."""
    p_z, weights = encoder @ joint.p_x, target_weights(joint)
    for z in np.argsort(-p_z, kind="stable")[:most].tolist():
        mass = max(float(p_z[z]), np.finfo(float).tiny)
        yield Cluster(
            z,
            float(p_z[z]),
            int(np.count_nonzero(encoder[z] >= SEEN)),
            typical(joint, encoder[z], letters),
            (encoder[z] @ joint.p_xy) / mass / weights,
        )


def typical(joint: Joint, row: Array, most: int) -> tuple[int, ...]:
    """The letters that are most typical of a cluster, at most so many; ``row`` is its p(z|x). Those that add nothing are left out.

    Where no letter adds anything (a single cluster for all), the most frequent are typical.
    """
    posterior = _posterior(joint, row)
    said = told(joint, row) / max(float(row @ joint.p_x), np.finfo(float).tiny)
    return _first(said if said.sum() > NEGLIGIBLE else _set_apart(joint, posterior), posterior, most)


def cluster_names(joint: Joint, encoder: Array, letters: int = 3) -> list[str]:
    """What each cluster stands for, whatever Y is: the x that set it apart, those that add most to D(p(x|z) || p(x)), and how many more.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.Joint.from_counts([[8, 1], [9, 1], [1, 9]], x_labels=["cook", "clerk", "judge"])
    >>> cluster_names(joint, ip.partition(joint, clusters=2).encoder)
    ['clerk; cook', 'judge']
    """
    said = []
    for row in encoder:
        posterior = _posterior(joint, row)
        first = _first(_set_apart(joint, posterior), posterior, letters)
        more = int(np.count_nonzero(row >= SEEN)) - len(first)
        shown = [label_text(joint.x_labels[x], 40) for x in first]
        said.append("; ".join([*shown, f"{more:,} more"] if more > 0 else shown))
    return said


def _posterior(joint: Joint, row: Array) -> Array:
    """p(x|z) of a cluster, whose p(z|x) is ``row``."""
    found: Array = row * joint.p_x / max(float(row @ joint.p_x), np.finfo(float).tiny)
    return found


def _set_apart(joint: Joint, posterior: Array) -> Array:
    """What each x adds to D(p(x|z) || p(x))."""
    return rel_entr(posterior, np.where(joint.p_x > 0.0, joint.p_x, 1.0))


def _first(added: Array, posterior: Array, most: int) -> tuple[int, ...]:
    """The letters that add most, at most so many, and none that adds nothing beside some that do."""
    # Rounded, so that letters of equal weight keep the order of the alphabet; where nothing is added, by frequency.
    order = np.lexsort((-posterior.round(12), -added.round(12)))
    kept = posterior > 0.0
    if (added > NEGLIGIBLE).any():
        kept &= added > NEGLIGIBLE
    return tuple(int(x) for x in order[kept[order]][:most])


def told(joint: Joint, row: Array) -> Array:
    """What each x adds to p(z) D(p(y|z) || p(y)), the cluster's share of I(Y;Z); ``row`` is the cluster's p(z|x), nats."""
    p_zy = row @ joint.p_xy
    seen = p_zy > 0.0
    ratio = np.zeros(len(p_zy))
    ratio[seen] = np.log(p_zy[seen] / joint.p_y[seen] / p_zy.sum())
    added: Array = row * (joint.p_xy @ ratio)
    return added


def predicted(cluster: Cluster, y_labels: tuple[Hashable, ...], most: int) -> str:
    """p(y|z) in words, the largest first: ``ham 0.94, spam 0.06``; of several targets, ``keep income: low 0.62; hide sex: f 0.58``."""
    if cluster.p_y.sum() > 1.5:  # each target has a p(y|z) of its own, and stands first in its labels
        parts: dict[Hashable, dict[int, Hashable]] = {}
        for y, label in enumerate(y_labels):
            assert isinstance(label, tuple)
            parts.setdefault(label[0], {})[y] = label[1:]
        return "; ".join(f"{label_text(name, 24)}: {_largest(cluster.p_y, part, most)}" for name, part in parts.items())
    return _largest(cluster.p_y, dict(enumerate(y_labels)), most)


def _largest(p_y: Array, labels: dict[int, Hashable], most: int) -> str:
    order = [y for y in sorted(labels, key=lambda y: -p_y[y])[:most] if p_y[y] >= SEEN]
    return ", ".join(f"{label_text(labels[y], 24)} {p_y[y]:.2f}" for y in order)
