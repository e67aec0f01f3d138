"""The best release within a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, proven as far as the time allows.

Solvers first, then the proof. The linear programme over posteriors with the cap as one more row (`certificate/funnel/leakage.py`) says at
which beta its optimum leaks just eps: its dual value. The default solver is run there, its clusters become columns, and the programme
is asked again, until beta stays where it is. Its optimum is at least as good as every run within the cap and as every time sharing of
two; column generation improves it and proves an upper bound.

With ``confidence`` the cap is about the population that the records were drawn from: see `confident`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import overload

import numpy as np

from ..certificate.certificate import Limits
from ..certificate.funnel.leakage import CappedFunnel, capped_curve, first_programme, within
from ..certificate.funnel.privacy import MAX_BASES, private_encoder, private_release
from ..checks import cap_in_nats, listed
from ..information import Array
from ..joint.joint import Joint, Support, check_joint
from ..posterior.form import posteriors
from ..posterior.programme import Programme
from ..problem import funnel
from ..runtime.budget import Budget
from ..runtime.threads import attended_alone
from ..sampling.leakage import checked_confidence
from ..solvers.job import Job, Seed
from ..solvers.shared.fallback import default_encoder
from .confident import PATH, ConfidentFunnel, confident_funnel, halves, path_of

MAX_SECONDS = 60.0
"""Time for one cap, unless the caller says otherwise."""

HIDING, SOLVING = 0.2, 0.4
"""Shares of the time: the vertices of perfect privacy may take the first, if there are no more candidates than `MAX_BASES`; they and the
solvers together the second. The proof has the larger part, since it improves the release, too."""


@overload
def funnel_at_leakage(
    joint: Joint,
    max_iyz: float,
    *,
    confidence: None = None,
    rng: Seed = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> CappedFunnel: ...


@overload
def funnel_at_leakage(
    joint: Joint,
    max_iyz: float,
    *,
    confidence: float,
    rng: Seed = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> ConfidentFunnel: ...


def funnel_at_leakage(
    joint: Joint,
    max_iyz: float,
    *,
    confidence: float | None = None,
    rng: Seed = None,
    tol: float = 1e-6,
    max_cells: int = 20_000_000,
    max_seconds: float = MAX_SECONDS,
) -> CappedFunnel | ConfidentFunnel:
    """The largest I(X;Z) with I(Y;Z) <= max_iyz that can be found, with an upper bound that says how far it can be from the best.

    That is about **this table**. With ``confidence`` the cap is about the population that its records were drawn from.

    Parameters
    ----------
    joint
        p(x, y).
    max_iyz
        The cap on the leakage in **nats**, 0 or more. It is never exceeded but by rounding: I(Y;Z) is computed to about 1e-30 nats, and the
        release of `perfect_privacy` is within every cap. No answer has a smaller I(X;Z) than that release, if its candidate bases can be
        gone through in a fifth of the time.
    confidence
        Such as 0.95, for a joint of records: releases are fitted on half of them, along a path from cautious to bold, and tested on the
        other half, in that order; the last before the first that fails is returned, and leaks more than the cap in the population in 5 of
        100 samples at most (asymptotic; measured in docs/explanation/leakage.md). If none passes it is constant, and says which cap the
        records can support. Nothing is proven optimal then, and ``tol`` and ``max_cells`` play no part.
    rng
        For the split: a seed or a generator.
    tol
        Gap in nats that counts as certified.
    max_cells, max_seconds
        When to stop: solvers have up to two fifths of the time, the proof the rest. The answer is valid whenever it ends, and Ctrl-C
        returns the best release so far with the bound so far.

    Returns
    -------
    CappedFunnel
        Answers like a `Solution` (``encoder``, ``ixz``, ``iyz``, ``encoder_frame()``, ``status``, ...), with ``upper_bound`` and ``gap``;
        of a table of records ``leakage_bound`` is what it may leak in the population.
    ConfidentFunnel
        With ``confidence``: answers like a `Solution`, too, with ``leakage_bound``, ``least_cap``, and the ``path`` and the two halves of
        the records (``fitted_on``, ``tested_on``).

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.funnel_at_leakage(ip.datasets.paper_uniform(), max_iyz=0.01)
    >>> found.certified, round(found.ixz, 5), found.iyz <= 0.01
    (True, 0.05754, True)
    """
    if confidence is None:
        return funnel_curve(joint, [max_iyz], tol=tol, max_cells=max_cells, max_seconds=max_seconds)[0]
    check_joint(joint)
    cap, sure = cap_in_nats("max_iyz", max_iyz), checked_confidence(confidence)
    fit, test = halves(joint, np.random.default_rng(rng))
    limits = Limits(tol, max_cells, max_seconds)
    return attended_alone(lambda budget: _confident(joint, fit, test, cap, sure, limits.budget(budget)))


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

    Examples
    --------
    >>> import infoplane as ip
    >>> [round(one.ixz, 4) for one in ip.funnel_curve(ip.datasets.paper_uniform(), [0.05, 0.1])]
    [0.2747, 0.5029]
    """
    caps = [cap_in_nats("max_iyz", eps) for eps in listed("leakages", leakages, "caps in nats")]
    check_joint(joint)
    limits = Limits(tol, max_cells, max_seconds)
    return attended_alone(lambda budget: _curve(Support(joint), caps, limits, budget)) if caps else []


def _curve(support: Support, caps: Sequence[float], limits: Limits, budget: Budget) -> list[CappedFunnel]:
    """One answer per cap: perfect privacy, the solvers' clusters, and then column generation, each with its share of the time.

    A cap of 0 is perfect privacy, and its answer is that one's, exactly, wherever its bases can be gone through.
    """
    exact = private_release(support, budget.part(seconds=HIDING * limits.max_seconds)) if 0.0 in caps else None
    if exact is not None and exact.gap <= limits.tol:
        nothing = CappedFunnel(exact.solution, exact.upper_bound, limits.tol, 0.0, math.inf, 0, 0)
        others = [eps for eps in caps if eps > 0.0]
        found = iter(_curve(support, others, limits, budget) if others else [])
        return [next(found) if eps > 0.0 else nothing for eps in caps]
    whole = budget.part(seconds=limits.max_seconds * len(caps))
    programme, private = _columns(support, caps, whole, SOLVING)
    seconds = max(limits.max_seconds - whole.seconds_spent / len(caps), 0.1 * limits.max_seconds)
    # At a cap of 0 every beta from some size on is a dual value, and huge ones prove little: the line of a faint cap holds there too.
    beside = [1e-12] if min(caps) < 1e-12 else []
    answers = capped_curve(support, programme, [*caps, *beside], replace(limits, max_seconds=seconds), budget, private)
    return answers[: len(caps)]


def _columns(support: Support, caps: Sequence[float], whole: Budget, solving: float) -> tuple[Programme, Array | None]:
    """The programme with the clusters of perfect privacy, and of solvers in that share of the time; and perfect privacy's encoder."""
    programme = first_programme(support, whole)
    private = private_encoder(support, MAX_BASES, whole.part(seconds=HIDING * whole.seconds))
    if private is not None:
        programme.add(posteriors(support, private))
    order = sorted(set(caps), reverse=True)
    _seed(programme, support, order, whole.part(seconds=solving * whole.seconds - whole.seconds_spent))
    return programme, private


def _confident(joint: Joint, fit: Joint, test: Joint, cap: float, confidence: float, budget: Budget) -> ConfidentFunnel:
    """Fit a path on one half, test it on the other; nothing is proven of a release, so that solvers have all the time."""
    support = Support(fit)
    programme, private = _columns(support, [cap], budget, 0.5)
    nothing = np.ones((1, len(support.p_x))) if private is None else private
    points = [(share * cap, programme.at_leakage(share * cap)) for share in PATH.shares]
    releases = [(eps, support.lift(within(support, point.encoder, eps, nothing))) for eps, point in points]
    beta = min(max(points[-1][1].beta, 1.0), 1e6)
    path = path_of(fit, None if private is None else support.lift(private), releases, cap, confidence)
    return confident_funnel(joint, fit, test, cap, confidence, path, beta, budget.seconds_spent)


def _seed(programme: Programme, support: Support, caps: Sequence[float], budget: Budget) -> None:
    """Clusters of the default solver at the betas of the caps, as columns, within a budget."""
    ran: list[float] = []
    for eps in caps:
        for _ in range(4):  # the beta of the programme moves little after that
            if budget.over:
                return
            beta = min(max(programme.at_leakage(eps).beta, 1.05), 1e6)  # below, nothing is hidden; above, all is
            if any(1.0 / 1.2 < beta / other < 1.2 for other in ran):  # one run serves for both
                break
            job = Job(support, funnel(beta), np.ones((1, 1, len(support.p_x))), budget=budget)
            programme.add(posteriors(support, default_encoder(job, budget.seconds_left, patience=0.0, starts=8)))
            ran.append(beta)
