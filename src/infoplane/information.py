"""Entropy, mutual information and divergence: the one place that knows 0 log 0 = 0.

Everything is in nats. An encoder is ``W[z, x] = p(z|x)``, columns summing to one. Marginals are plain arrays;
``P[x, y]`` may also be a ``scipy.sparse`` array.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse
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


def mutual_information(p_uv: Any) -> float:
    """I(U;V) = sum_u p(u) D(p(v|u) || p(v)) of a joint, dense or sparse; at least 0 even after rounding."""
    # One factor at a time: p(u) p(v) underflows to 0 for the smallest masses, which would make the divergence infinite.
    dense = isinstance(p_uv, np.ndarray)
    u, v, p = (*np.nonzero(p_uv), p_uv[p_uv != 0.0]) if dense else sparse.find(p_uv)
    p_u, p_v = p_uv.sum(axis=1)[u], p_uv.sum(axis=0)[v]
    return max(float((p_u * rel_entr(p / p_u, p_v)).sum()), 0.0)


class Entropies(NamedTuple):
    """H(Z), H(Z|X) and H(Z|Y) of an encoder, in nats."""

    z: float
    z_given_x: float
    z_given_y: float


def encoder_entropies(joint: Joint, encoder: Array) -> Entropies:
    """H(Z), H(Z|X) = sum_x p(x) H(p(z|x)) and H(Z|Y) = H(Z,Y) - H(Y), for Z drawn from the encoder."""
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
    """I(X;Z) and I(Y;Z) of p(z,x) = p(z|x) p(x) and p(z,y), each as a divergence so that rounding cannot cancel."""
    return PlanePoint(mutual_information(encoder * joint.p_x), mutual_information(encoder @ joint.p_xy))
