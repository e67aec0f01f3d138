"""A preconditioner of the bottleneck's Newton step: few functions of y for every cluster, on which I - T' is inverted exactly.

What converges slowly is how clusters share the letters between them: mass that goes from one to its neighbour, and decoders that move as
a whole. In every cluster the constant, and the functions phi_i of y that are best predicted from x (`LocalFunctions`), span these. With V
their basis, orthonormal in <d, e> = sum q d C e,

    V* (I - T') V = D + G G',    D = I - sum_x p(x) W[z, x] a a'  (a block a cluster),    G[(z, i), x] = sqrt(p(x)) W[z, x] a[(z, i), x],
    a[(z, i), x] = sum_y p(y|x) (C V)[(z, i), y],

so that clusters are coupled by a matrix of rank |X| (Woodbury). The preconditioner is 1 + V ((D + G G')^-1 - 1) V*.
"""

from __future__ import annotations

import numpy as np

from ...information import Array
from ...joint.support import Support

TINY = 1e-300
FUNCTIONS = 4
"""Functions of y beside the constant. On colours 3 take conjugate gradients from 85 products to 13 (88 clusters) and from 57 to 23 (293);
16 to 9 and 10, and cost more than that saves."""

RIDGE = 1e-3
"""Least eigenvalue of a block of D: that of the constant is 0, and a cluster that should split has one below."""


class LocalFunctions:
    """phi_i(y), the leading singular functions of p(x, y) / (p(x) p(y)) after the constant, and E[phi_i | x]."""

    def __init__(self, support: Support) -> None:
        root = np.sqrt(support.p_y)
        scaled = support.P / np.sqrt(support.p_x)[:, None] / root
        _, vectors = np.linalg.eigh(scaled.T @ scaled)
        self.of_y: Array = np.ascontiguousarray(vectors[:, -2 : -2 - FUNCTIONS : -1].T / root)
        self.of_x: Array = self.of_y @ support.T


class CoarseSpace:
    """The preconditioner at one point: q(z, y) and the encoder W that it implies."""

    def __init__(self, support: Support, gamma: float, q: Array, W: Array, local: LocalFunctions) -> None:
        self.clusters = len(q)
        mass = q.sum(axis=1)
        phi, few = local.of_y, len(local.of_y)
        mean = q @ phi.T / mass[:, None]
        products = (phi[:, None] * phi[None]).reshape(few * few, phi.shape[1])
        gram = (q @ products.T).reshape(self.clusters, few, few) - mass[:, None, None] * mean[:, :, None] * mean[
            :, None
        ]
        spread, axes = np.linalg.eigh(gram / gamma)
        spread = np.maximum(spread, 1e-9 * mass[:, None])
        turn = np.swapaxes(axes / np.sqrt(spread)[:, None], 1, 2)  # rows: orthonormal combinations of phi - mean
        constant = 1.0 / np.sqrt(mass)[:, None, None]
        self.V = np.empty((self.clusters, few + 1, q.shape[1]))
        self.V[:, :1] = constant
        np.matmul(turn, phi, out=self.V[:, 1:])
        self.V[:, 1:] -= turn @ mean[:, :, None]
        a = np.empty((self.clusters, few + 1, W.shape[1]))
        a[:, :1] = constant
        np.matmul(turn, local.of_x, out=a[:, 1:])
        a[:, 1:] -= turn @ mean[:, :, None]
        a[:, 1:] /= gamma
        self.G = a * (np.sqrt(support.p_x) * W)[:, None]
        D = np.eye(few + 1) - np.matmul(self.G / np.maximum(W, TINY)[:, None], np.swapaxes(self.G, 1, 2))
        value, vectors = np.linalg.eigh(D)
        self.D_inverse = (vectors / np.maximum(value, RIDGE)[:, None]) @ np.swapaxes(vectors, 1, 2)
        self.D_G = (self.D_inverse @ self.G).reshape(-1, W.shape[1])
        self.G = self.G.reshape(-1, W.shape[1])
        self.middle = np.linalg.inv(np.eye(W.shape[1]) + self.G.T @ self.D_G)

    def corrected(self, r: Array, C_r: Array) -> Array:
        """The preconditioner applied to r, with q C r given."""
        c = (self.V @ C_r[:, :, None])[:, :, 0]
        D_c = (self.D_inverse @ c[:, :, None])[:, :, 0].ravel()
        y = D_c - self.D_G @ (self.middle @ (D_c @ self.G))
        out: Array = ((y.reshape(c.shape) - c)[:, None] @ self.V)[:, 0]
        out += r
        return out
