"""Where a sweep inserts parameters: evenly along the curve, or, with proven bounds, where the curve is least well enclosed.

*Evenly.* The distance of neighbours is their chord's length on the plane of I(X;Z) and I(Y;Z), each scaled to its range. A round cuts
the longest chords, by as many equal ratios of the parameter as there are pieces; the next one measures anew. At a jump of the curve, where
no parameter leads in between, cutting ends once the parameters are close.

*Enclosed.* Between two neighbours the frontier lies in a triangle: above the chord of their runs, below the two lines that their bounds
prove (`frontier/enclosure.py`). Its height is what is not known there. A round inserts, in the highest triangles, the parameter whose
line is parallel to the chord: it cuts off the corner, so that heights fall by about a factor of four per round, and on a straight piece of
the frontier it closes the triangle at once. It ends once no height is above what the proofs themselves leave open.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ..frontier.enclosure import Line
from ..information import Array

FINEST = 1 / 64
"""Smallest distance of two parameters, as a share of what it would be if all were spaced geometrically: a jump of the curve would take
all of the points otherwise."""


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


def enclosing(parameters: Array, plane: Array, lines: Sequence[Line], points: int, tol: float) -> list[float]:
    """The parameters of the next round, in ascending order; none once there are ``points``, or no height is above ``tol`` nats.

    ``parameters`` ascend and are positive; ``plane`` (n, 2) has I(X;Z) and v of the best run of each, ``lines`` what was proven there.
    """
    room = points - len(parameters)
    if room <= 0 or not parameters[-1] > parameters[0]:
        return []
    finest = FINEST * math.log(parameters[-1] / parameters[0]) / (points - 1)
    heights: list[tuple[float, float]] = []
    for at in range(len(parameters) - 1):
        low, high = parameters[at : at + 2]
        if math.log(high / low) >= 2.0 * finest:
            heights.append(_corner(low, high, plane[at], plane[at + 1], lines[at], lines[at + 1]))
    highest = sorted(heights, reverse=True)[: min(room, max(len(parameters) // 2, 1))]
    return sorted(parameter for height, parameter in highest if height > tol)


def _corner(low: float, high: float, one: Array, other: Array, first: Line, second: Line) -> tuple[float, float]:
    """How high the corner of two lines is above the chord of two runs; and the parameter, between the two, of the chord's slope."""
    steps = other - one
    chord = float(steps[1] / steps[0]) if steps[0] != 0.0 else math.nan
    meet = (second.height - first.height) / (first.slope - second.slope)
    ends = sorted([float(one[0]), float(other[0])])
    meet = min(max(meet, ends[0]), ends[1])
    height = min(line.slope * meet + line.height for line in (first, second)) - (
        float(one[1]) + (chord * (meet - float(one[0])) if steps[0] != 0.0 else max(float(steps[1]), 0.0))
    )
    share = (
        math.log(chord / first.slope) / math.log(second.slope / first.slope) if chord / first.slope > 0.0 else math.nan
    )
    # Bounds that are not tight may ask for a parameter outside: the middle is as good then.
    return height, low * (high / low) ** (share if 0.05 < share < 0.95 else 0.5)
