"""What no encoder with k clusters exceeds.

    I(Y;Z)  <=  gamma I(X;Z) - bound(gamma)  <=  gamma log k - bound(gamma)      for every gamma, as I(X;Z) <= H(Z) <= log k

where bound(gamma) is a proven lower bound of min gamma I(X;Z) - I(Y;Z). The right side is convex in gamma and falls as long as the optimum
at gamma has I(X;Z) > log k, so its minimum is bisected. Never above I(X;Y), H(Y) or log k.
"""

from __future__ import annotations

import math

from ..joint.joint import Joint
from ..problem import bottleneck
from ..solve import solve

SOLVES = 8
"""Slopes that are tried: each halves the logarithm of the range of gamma, which is a factor of `RANGE` to begin with."""

RANGE = 300.0
"""The frontier's slope at I(X;Z) = log k is below its mean slope up to there; by more than this factor in none of the tables tried."""


def plain_bound(joint: Joint, clusters: int) -> float:
    """What needs no search: the least of I(X;Y), H(Y) and log k, in nats."""
    return min(joint.mutual_information, joint.entropy_y, math.log(clusters))


def cluster_bound(joint: Joint, clusters: int, max_seconds: float) -> float:
    """The proven bound of I(Y;Z) over all encoders with so many clusters, in nats; the time is for all slopes together."""
    best, width = plain_bound(joint, clusters), math.log(clusters)
    if best <= 0.0 or clusters == 1:
        return max(best, 0.0) if clusters > 1 else 0.0
    high = min(best / width, 1.0)
    low = high / RANGE
    for _ in range(SOLVES):
        gamma = math.sqrt(low * high)
        found = solve(joint, bottleneck(gamma), certify=1e-5 * best, max_seconds=max_seconds / SOLVES, rng=0)
        if found.lower_bound is not None:
            best = min(best, gamma * width - found.lower_bound)
        # A share of log k: an optimum whose I(X;Z) is that near is the tangent that was looked for.
        if abs(found.ixz - width) < 1e-3 * width:
            break
        low, high = (gamma, high) if found.ixz > width else (low, gamma)
    return best
