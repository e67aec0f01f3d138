"""How alike two encoders of the same X are: the generalised normalised information distance (gNID).

    gNID(W, V) = 1 - I(W;V) / max(I(W;W'), I(V;V')),    p(w, v) = sum_x p(x) W[w, x] V[v, x]

W' is an independent copy of W given x: p(w, w') = sum_x p(x) W[w, x] W[w', x]. For hard maps I(W;W') = H(W), and this is the normalised
information distance of two partitions (Vinh, Epps, Bailey, JMLR 2010); the generalisation to soft ones is of Zaslavsky, Kemp, Regier,
Tishby, *Efficient compression in color naming and its evolution*, PNAS 115 (2018), supporting information.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np

from ..information import Array, mutual_information
from ..joint.joint import Joint, check_joint
from .given import read_system


def gnid(joint: Joint, W: Any, V: Any, *, counts: bool = False, axes: Literal["zx", "xz"] | None = None) -> float:
    """gNID of two encoders: 0 if they say the same of X whatever their z are called, near 1 if they have nothing in common.

    Parameters
    ----------
    joint
        p(x, y), of which p(x) counts here.
    W, V
        Systems as `infoplane.efficiency` takes them: arrays (|Z|, |X|) whose columns sum to 1; frames with a row per x; hard labels, in
        order or by label; a `Solution`.
    counts, axes
        As in `infoplane.efficiency`: whether tables hold counts, and which axis of an array is which.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> joint = ip.datasets.paper_uniform()
    >>> round(gnid(joint, np.eye(3), ["b", "c", "a"]), 12)
    0.0
    """
    check_joint(joint)
    W, V = (read_system(given, joint, counts, axes, name).encoder for given, name in ((W, "W"), (V, "V")))
    own = max(_shared(joint, W, W), _shared(joint, V, V))
    if own <= 1e-12:  # rounding: neither says anything, and two of those are alike
        return 0.0
    return float(np.clip(1.0 - _shared(joint, W, V) / own, 0.0, 1.0))


def _shared(joint: Joint, W: Array, V: Array) -> float:
    """I(W;V), both drawn from x independently of each other."""
    return mutual_information(W * joint.p_x @ V.T)
