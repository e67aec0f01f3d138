"""Entropy, mutual information and divergence: the one place that knows 0 log 0 = 0.

Everything is in nats. An encoder is ``W[z, x] = p(z|x)``, columns summing to one. Marginals are plain arrays;
``P[x, y]`` may also be a ``scipy.sparse`` array.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from .joint import Joint

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]

BLOCK = 65_536
"""Entries of an encoder that are looked at together: half a megabyte of room."""

NATS_PER_BIT: float = float(np.log(2.0))


def bits(nats: float) -> float:
    """A number of nats, in bits."""
    return nats / NATS_PER_BIT


def entr(p: Array) -> Array:
    """-p log p, entry by entry. (The same as scipy.special's, whose import takes longer than a small problem.)"""
    return np.asarray(-p * np.log(np.where(p > 0.0, p, 1.0)))


def rel_entr(p: Array, q: Array) -> Array:
    """P log(p / q), entry by entry; infinite where q = 0 < p."""
    with np.errstate(all="ignore"):
        plain: Array = p * np.log(p / q)
    if np.isfinite(plain).all():
        return plain
    seen = (p > 0.0) & (q > 0.0)
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.divide(p, q, out=np.ones(seen.shape), where=seen)
    logs = np.log(np.where(ratio > 0.0, ratio, 1.0))
    beyond = seen & ~((ratio > 0.0) & (ratio < np.inf))
    if beyond.any():  # the ratio is too large, or too small, for a number; its logarithm is not
        logs = np.where(beyond, np.log(np.where(beyond, p, 1.0)) - np.log(np.where(beyond, q, 1.0)), logs)
    return np.where(p > 0.0, np.where(seen, p * logs, np.inf), 0.0)


def entropy(p: Array) -> float:
    """H(p) = -sum p log p."""
    return float(entr(p).sum())


def divergence(p: Array, q: Array) -> float:
    """D(p || q) = sum p log(p / q), infinite where q = 0 < p."""
    return float(rel_entr(p, q).sum())


def mutual_information(p_uv: Any) -> float:
    """I(U;V) = sum_u p(u) D(p(v|u) || p(v)) of a joint, dense or sparse; at least 0 even after rounding."""
    if isinstance(p_uv, np.ndarray):
        return _information_of_rows(p_uv, np.ones(p_uv.shape[1]), p_uv.sum(axis=0))
    u, v, p = sparse.find(p_uv)
    p_u, p_v = p_uv.sum(axis=1)[u], p_uv.sum(axis=0)[v]
    return max(float((p_u * rel_entr(p / p_u, p_v)).sum()), 0.0)


def _information_of_rows(table: Array, weights: Array, p_v: Array) -> float:
    """I(U;V) of p(u,v) = table[u, v] weights[v], some rows at a time: a large encoder is not to be copied.

    One factor at a time, too: p(u) p(v) underflows to 0 for the smallest masses, which would make the divergence infinite.
    """
    total = 0.0
    for rows in row_blocks(table):
        p = rows * weights
        p_u = p.sum(axis=1)
        p /= np.where(p_u > 0.0, p_u, 1.0)[:, None]
        total += float(p_u @ rel_entr(p, p_v).sum(axis=1))
    return max(total, 0.0)


def row_blocks(table: Array) -> Iterator[Array]:
    """The rows, as many at a time as have about `BLOCK` entries."""
    step = max(1, BLOCK // max(table.shape[1], 1))
    for first in range(0, len(table), step):
        yield table[first : first + step]


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
        z_given_x=float(sum(entr(rows).sum(axis=0) @ joint.p_x for rows in row_blocks(encoder))),
        z_given_y=entropy(p_zy) - entropy(joint.p_y),
    )


class PlanePoint(NamedTuple):
    """Where an encoder lies on the information plane: I(X;Z) and I(Y;Z), in nats."""

    ixz: float
    iyz: float


def plane_point(joint: Joint, encoder: Array) -> PlanePoint:
    """I(X;Z) and I(Y;Z) of p(z,x) = p(z|x) p(x) and p(z,y), each as a divergence so that rounding cannot cancel."""
    return PlanePoint(_information_of_rows(encoder, joint.p_x, joint.p_x), mutual_information(encoder @ joint.p_xy))
