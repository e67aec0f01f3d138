"""When letters of X are grouped in branch and bound, and the room for it (`kernels/bottleneck_proof/groups`)."""

from __future__ import annotations

import numpy as np

from ...information import Array
from ...kernels.bottleneck_proof.groups import Groups

MANY_LETTERS, FEW_ROWS = 2_000, 6
"""Groups pay from so many letters of X on, up to so many of Y (docs/certificates.md, "Many letters")."""

GROUPS = 96
"""Groups that all letters make."""

SLOPES = 512
"""Slopes for which there may be groups."""

RAREST = 1e-6
"""Entries of a decoder that count as no less."""


def pays(T: Array) -> bool:
    """Whether there are enough letters of X, and few enough of Y."""
    return T.shape[1] >= MANY_LETTERS and T.shape[0] <= FEW_ROWS


def room_for(decoders: Array) -> Groups:
    """Groups to be made at the slopes -log u of decoders, one a row, and at others."""
    given, n_y = decoders[:SLOPES].shape
    slopes = np.zeros((SLOPES, n_y))
    slopes[:given] = -np.log(np.maximum(decoders[:SLOPES], RAREST))
    mean, low, high, h_low, h_high, above, below = np.empty((7, SLOPES, n_y, GROUPS))
    return Groups(
        slopes=slopes,
        lam=np.empty((SLOPES, GROUPS)),
        mean=mean,
        low=low,
        high=high,
        h_low=h_low,
        h_high=h_high,
        above=above,
        below=below,
        spread=np.empty((SLOPES, n_y, n_y, GROUPS)),
        largest=np.empty(SLOPES),
        counts=np.array([0, given]),
    )
