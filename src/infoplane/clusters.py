"""What the clusters of an encoder hold: how much mass, which y they predict, which x are typical of them.

p(x|z) = p(z|x) p(x) / p(z).  A letter x is the more typical of z, the more it adds to

    D(p(x|z) || p(x)) = sum_x p(x|z) log(p(x|z) / p(x))

so that it is both frequent in z and rarer elsewhere; a letter that is as frequent everywhere adds nothing, however frequent it is.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .formatting import label_text
from .information import Array, rel_entr

if TYPE_CHECKING:
    from .joint.joint import Joint

SEEN = 0.005
"""A letter with p(z|x) below this is not counted as one of the cluster's."""


NEGLIGIBLE = 1e-4
"""Nats of D(p(x|z) || p(x)): a letter that adds less is not typical."""


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
    """p(y|z)."""


def by_mass(joint: Joint, encoder: Array, letters: int, most: int | None = None) -> Iterator[Cluster]:
    """The clusters, largest p(z) first, or the ``most`` largest; each with so many typical letters."""
    p_z = encoder @ joint.p_x
    for z in np.argsort(-p_z, kind="stable")[:most].tolist():
        mass = max(float(p_z[z]), np.finfo(float).tiny)
        p_x = encoder[z] * joint.p_x / mass
        yield Cluster(
            z,
            float(p_z[z]),
            int(np.count_nonzero(encoder[z] >= SEEN)),
            typical(p_x, joint.p_x, letters),
            (encoder[z] @ joint.p_xy) / mass,
        )


def typical(posterior: Array, p_x: Array, most: int) -> tuple[int, ...]:
    """The letters that add most to D(p(x|z) || p(x)), at most so many; those that add nothing are left out, if any adds something."""
    added = rel_entr(posterior, np.where(p_x > 0.0, p_x, 1.0))
    # Rounded, so that letters of equal weight keep the order of the alphabet; where nothing is added, by frequency.
    order = np.lexsort((-posterior.round(12), -added.round(12)))
    kept = posterior > 0.0
    if (added > NEGLIGIBLE).any():  # letters that are as frequent elsewhere say nothing about this cluster
        kept &= added > NEGLIGIBLE
    return tuple(int(x) for x in order[kept[order]][:most])


def predicted(cluster: Cluster, y_labels: tuple[Hashable, ...], most: int) -> str:
    """p(y|z) in words, the largest first: ``ham 0.94, spam 0.06``."""
    order = [int(y) for y in np.argsort(-cluster.p_y, kind="stable")[:most] if cluster.p_y[y] >= SEEN]
    return ", ".join(f"{label_text(y_labels[y], 24)} {cluster.p_y[y]:.2f}" for y in order)
