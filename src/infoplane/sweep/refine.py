"""Points spaced evenly along the curve: parameters are inserted where neighbouring best runs lie far apart on the plane.

The distance of neighbours is their chord's length on the plane of I(X;Z) and I(Y;Z), each scaled to its range. A round cuts the
longest chords, by as many equal ratios of the parameter as there are pieces; the next one measures anew. At a jump of the curve, where
no parameter leads in between, cutting ends once the parameters are close.
"""

from __future__ import annotations

import numpy as np

from ..information import Array

FINEST = 1 / 64
"""Smallest distance of two parameters, as a share of what it would be if all were spaced geometrically."""


def inserted(parameters: Array, plane: Array, points: int) -> list[float]:
    """The parameters of the next round, in ascending order; none once there are ``points``, or no chord can be cut.

    ``parameters`` ascend; ``plane`` (n, 2) has the best run of each.
    """
    room = points - len(parameters)
    if room <= 0 or not parameters[-1] > parameters[0]:
        return []
    span = np.ptp(plane, axis=0)
    chords = np.linalg.norm(np.diff(plane / np.where(span > 0.0, span, 1.0), axis=0), axis=1)
    place = np.log(parameters) if parameters[0] > 0.0 else parameters
    gaps = np.diff(place)
    finest = FINEST * (place[-1] - place[0]) / (points - 1)
    pieces = np.ones(len(chords))
    for _ in range(min(room, max(len(parameters) // 2, 1))):
        left = np.where(gaps / (pieces + 1) >= finest, chords / pieces, 0.0)
        longest = int(left.argmax())
        if left[longest] == 0.0:
            break
        pieces[longest] += 1
    found: list[float] = []
    for at, count in enumerate(pieces.astype(int)):
        low, high = parameters[at : at + 2]
        share = np.arange(1, count) / count
        found += (low * (high / low) ** share if parameters[0] > 0.0 else low + share * (high - low)).tolist()
    return found
