"""Entropy, mutual information and divergence: the one place that knows 0 log 0 = 0.

Everything is in nats. An encoder is ``W[z, x] = p(z|x)``, columns summing to one. Marginals and joints are plain arrays;
``P[x, y]`` may be a ``scipy.sparse`` array wherever it only multiplies.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import entr, rel_entr

if TYPE_CHECKING:
    from .joint import Joint

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

NATS_PER_BIT: float = float(np.log(2.0))


def bits(nats: float) -> float:
    """A number of nats, in bits."""
    return nats / NATS_PER_BIT


def entropy(p: Array) -> float:
    """H(p) = -sum p log p."""
    return float(entr(p).sum())


def divergence(p: Array, q: Array) -> float:
    """D(p || q) = sum p log(p / q), infinite where q = 0 < p."""
    return float(rel_entr(p, q).sum())


def mutual_information(p_uv: Array) -> float:
    """I(U;V) = D(p(u,v) || p(u) p(v)) of a dense joint; at least 0 even after rounding."""
    return max(divergence(p_uv, p_uv.sum(axis=1, keepdims=True) * p_uv.sum(axis=0, keepdims=True)), 0.0)


class Entropies(NamedTuple):
    """H(Z), H(Z|X) and H(Z|Y) of an encoder, in nats."""

    z: float
    z_given_x: float
    z_given_y: float


def encoder_entropies(joint: Joint, encoder: Array) -> Entropies:
    """H(Z), H(Z|X) = H(Z,X) - H(X) and H(Z|Y) = H(Z,Y) - H(Y), for Z drawn from the encoder."""
    p_zy = encoder @ joint.p_xy
    return Entropies(
        z=entropy(encoder @ joint.p_x),
        z_given_x=float((entr(encoder).sum(axis=0) * joint.p_x).sum()),
        z_given_y=entropy(p_zy) - entropy(joint.p_y),
    )


class PlanePoint(NamedTuple):
    """Where an encoder lies on the information plane: I(X;Z) and I(Y;Z), in nats."""

    ixz: float
    iyz: float


def plane_point(joint: Joint, encoder: Array) -> PlanePoint:
    """I(X;Z) = sum_x p(x) D(p(z|x) || p(z)) and I(Y;Z), each as a divergence so that rounding cannot cancel."""
    p_z = encoder @ joint.p_x
    # An x of zero mass may use a cluster that nothing else uses: it weighs nothing, so it is left out of the sum.
    seen = joint.p_x > 0
    ixz = float((rel_entr(encoder[:, seen], p_z[:, None]).sum(axis=0) * joint.p_x[seen]).sum())
    return PlanePoint(max(ixz, 0.0), mutual_information(encoder @ joint.p_xy))
