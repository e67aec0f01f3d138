"""How alike two encoders of the same X are: the generalised normalised information distance (gNID).

    gNID(W, V) = 1 - I(W;V) / max(I(W;W'), I(V;V')),    p(w, v) = sum_x p(x) W[w, x] V[v, x]

W' is an independent copy of W given x: p(w, w') = sum_x p(x) W[w, x] W[w', x]. For hard maps I(W;W') = H(W), and this is the normalised
information distance of two partitions (Vinh, Epps, Bailey, JMLR 2010); the generalisation to soft ones is of Zaslavsky, Kemp, Regier,
Tishby, *Efficient compression in color naming and its evolution*, PNAS 115 (2018), supporting information.
"""

from __future__ import annotations

import numpy as np

from .encoder import check_encoder
from .information import Array, mutual_information
from .joint.joint import Joint

NOTHING = 1e-12
"""Nats below which an encoder says nothing of itself: two of those are alike."""


def gnid(joint: Joint, W: Array, V: Array) -> float:
    """gNID of two encoders: 0 if they say the same of X whatever their z are called, near 1 if they have nothing in common.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> joint = ip.datasets.paper_uniform()
    >>> round(gnid(joint, np.eye(3), np.eye(3)[[1, 2, 0]]), 12)
    0.0
    """
    W, V = check_encoder(joint, W), check_encoder(joint, V)
    own = max(_shared(joint, W, W), _shared(joint, V, V))
    if own <= NOTHING:
        return 0.0
    return float(np.clip(1.0 - _shared(joint, W, V) / own, 0.0, 1.0))


def _shared(joint: Joint, W: Array, V: Array) -> float:
    """I(W;V), both drawn from x independently of each other."""
    return mutual_information(W * joint.p_x @ V.T)
