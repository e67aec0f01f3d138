"""The best release within a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, proven as far as the time allows.

Solvers first, then the proof. The default solver is run at betas on both sides of the one whose optimum leaks just eps: as the frontier
is convex, doubling finds a beta beyond it, and bisection in log beta comes close. The clusters of all these runs are the first columns
of the linear programme with the cap as one more row (`certificate/funnel/leakage.py`), whose optimum is at least as good as every run
within the cap and as every time sharing of two; column generation improves it and proves an upper bound.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence

import numpy as np

from ..certificate.certificate import Limits
from ..certificate.funnel.leakage import CappedFunnel, capped_curve
from ..checks import number
from ..information import Array
from ..joint.joint import Joint
from ..joint.support import Support
from ..problem import funnel
from ..solve import Progress, solve
from ..threads import one_blas_thread

MAX_SECONDS = 60.0
"""Time for one cap, unless the caller says otherwise."""

SOLVING = 0.4
"""Share of the time that solvers may take before the proof."""

FIRST_BETA, GROWTH, LARGEST_BETA = 2.0, 4.0, 1e6
"""Betas on the way to one whose optimum is within the cap."""

BISECTIONS = 6
"""Betas between one that leaks too much and one that does not."""


def funnel_at_leakage(
    joint: Joint,
    max_iyz: float,
    *,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> CappedFunnel:
    """The largest I(X;Z) with I(Y;Z) <= max_iyz that can be found, with an upper bound that says how far it can be from the best.

    Parameters
    ----------
    joint
        p(x, y).
    max_iyz
        The cap on the leakage in **nats**, positive, and never exceeded; for 0 see `perfect_privacy`.
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop: solvers have up to two fifths of the time, the proof the rest. The answer is valid whenever it ends.

    Returns
    -------
    CappedFunnel
        Answers like a `Solution` (``encoder``, ``ixz``, ``iyz``, ``encoder_frame()``, ``status``, ...), with ``upper_bound`` and ``gap``.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.funnel_at_leakage(ip.datasets.paper_uniform(), max_iyz=0.01)
    >>> found.certified, round(found.ixz, 5), found.iyz <= 0.01
    (True, 0.05754, True)
    """
    return funnel_curve(joint, [max_iyz], tol=tol, max_cells=max_cells, max_seconds=max_seconds)[0]


def funnel_curve(
    joint: Joint,
    leakages: Iterable[float],
    *,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> list[CappedFunnel]:
    """`funnel_at_leakage` for many caps in nats; one answer per cap, in the order given.

    The caps share the runs of the solvers and the columns of one linear programme. ``max_cells`` and ``max_seconds`` are for each cap.
    """
    caps = [
        number(
            "max_iyz",
            eps,
            lambda nats: nats > 0.0,
            "a positive number of nats (for no leakage at all use perfect_privacy)",
        )
        for eps in leakages
    ]
    limits = Limits(tol, max_cells, max_seconds)
    if not caps:
        return []
    support = Support(joint)
    began = time.perf_counter()
    budget = SOLVING * limits.max_seconds * len(caps)
    seeds = _seeds(joint, sorted(set(caps), reverse=True), began + budget)
    spent = (time.perf_counter() - began) / len(caps)
    left = Limits(tol, max_cells, max(limits.max_seconds - spent, 0.1 * limits.max_seconds))
    with one_blas_thread():
        return capped_curve(support, caps, left, [np.ascontiguousarray(W[:, support.x]) for W in seeds])


def _seeds(joint: Joint, caps: Sequence[float], deadline: float) -> list[Array]:
    """Encoders of the default solver at betas around those whose optima leak as much as the caps; none after the deadline."""
    leaks: dict[float, float] = {}
    encoders: list[Array] = []

    def leak_at(beta: float) -> float:
        if beta not in leaks:
            found = solve(joint, funnel(beta), starts=8, rng=0, callback=over)
            leaks[beta] = found.iyz
            encoders.append(found.encoder)
        return leaks[beta]

    def over(_progress: Progress | None = None) -> bool:
        return time.perf_counter() > deadline

    for eps in caps:
        low, high = max((b for b in leaks if leaks[b] > eps), default=1.0), FIRST_BETA
        while not over() and high < LARGEST_BETA and (high <= low or leak_at(high) > eps):
            low, high = max(low, high), GROWTH * high
        for _ in range(BISECTIONS):
            if over():
                return encoders
            middle = math.sqrt(low * high)
            low, high = (middle, high) if leak_at(middle) > eps else (low, middle)
    return encoders
