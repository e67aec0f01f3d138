"""The best release within a cap on the leakage: the largest I(X;Z) with I(Y;Z) <= eps, proven as far as the time allows.

Solvers first, then the proof. The linear programme over posteriors with the cap as one more row (`certificate/funnel/leakage.py`) says at
which beta its optimum leaks just eps: its multiplier. The default solver is run there, its clusters become columns, and the programme
is asked again, until beta stays where it is. Its optimum is at least as good as every run within the cap and as every time sharing of
two; column generation improves it and proves an upper bound.

With ``confidence`` the cap holds in the population that the records were drawn from: fixed-sequence testing along a path of releases.
The records are split in two. Releases W_1, W_2, ... are fitted on one half: the funnel's at caps r' <= r, each also with fewer clusters, in
the order of the bound that is to be expected of them; those that are bolder than another and say less stay out. On the other half, which
none of them has seen, they are tested in that order,

    reject "W_i leaks more than r"  if  its upper bound (`sampling.intervals`) is at most r,

and the first that does not pass ends it: the last that did is released. A true hypothesis is rejected wrongly only if the first true one of
the order is, so the error of the whole is that of one test, and nothing has to be divided among them. A constant release leaks nothing
and comes first. Everything about the order may depend on the half that fitted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypedDict, Unpack, overload

import numpy as np
from scipy import sparse

from ..certificate.funnel.leakage import CappedFunnel, capped_curve, first_programme, within
from ..certificate.funnel.privacy import MAX_BASES, ReleasedEncoder, private_encoder, private_release
from ..checks import cap_in_nats, listed
from ..encoder.encoder import compact
from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import Array, bits, plane_point
from ..joint.joint import Joint, Support, check_joint
from ..posterior.form import posteriors
from ..posterior.merge_path import agglomerative_bottleneck, merge_two
from ..posterior.programme import Programme
from ..problem import funnel
from ..runtime.budget import Budget, Limits, attended_alone
from ..sampling.intervals import LeakageBound, bound_of, checked_confidence, predicted_bound, relevance
from ..solvers.job import Job, Seed
from ..solvers.portfolio import default_encoder
from .geometry import judged


class PathRules(NamedTuple):
    """Which releases stand on the path that is tested."""

    shares: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95, 1.0)
    """Of the cap, what releases are fitted to: a test's bound lies above what a release leaks by a part that is large for few records."""
    fewer: tuple[int, ...] = (2, 3, 4, 6, 8, 12, 16, 24, 32)
    """Numbers of clusters to which each is merged, too: fewer clusters have less noise in their bound."""
    merged: int = 400
    """Clusters up to which that is done: the merging takes the square of them."""
    steps: int = 32
    """Most releases on the path, evenly taken from the candidates: of heart, 10,000 records at 0.01 bits kept 2.547 bits with 8, and
    2.583 with 32."""
    boldest: float = 1.5
    """Times the cap, the expected bound up to which a release is worth a test."""
    useful: float = 1e-3
    """Nats of I(X;Z) that each release on the path must have more than the one before."""


PATH = PathRules()


class PathRelease(NamedTuple):
    """One release on the path; nats."""

    encoder: Array
    max_iyz: float
    """The cap that it was fitted to, on the first half."""
    ixz: float
    """I(X;Z) on the first half."""
    predicted: float
    """The bound that was expected of it, by which the path is ordered."""
    bound: LeakageBound | None = None
    """What the second half says of it; None if the path ended before."""

    @property
    def clusters(self) -> int:
        """|Z|."""
        return len(self.encoder)


@dataclass(frozen=True, eq=False)
class ConfidentFunnel(ReleasedEncoder):
    """A release whose I(Y;Z) in the population is at most ``max_iyz``, with ``confidence``; nats. Nothing is claimed to be optimal.

    ``ixz`` and ``iyz`` are those of all the records.
    """

    max_iyz: float
    """The cap."""
    confidence: float
    path: tuple[PathRelease, ...] = field(repr=False)
    """The releases in the order of their tests, the constant one first."""
    chosen: int
    """Which of them this is: the last before the first that did not pass."""
    fitted_on: Joint = field(repr=False)
    """The records that the path was made from,"""
    tested_on: Joint = field(repr=False)
    """and those that it was tested on."""

    @property
    def leakage_bound(self) -> LeakageBound:
        """What the second half of the records says of its leakage; at most the cap."""
        bound = self.path[self.chosen].bound
        assert bound is not None
        return bound

    @property
    def least_cap(self) -> float | None:
        """The smallest cap for which the first release of the path that says anything would have passed; None if there is none."""
        return self.path[1].bound.bound if len(self.path) > 1 and self.path[1].bound is not None else None

    @property
    def about(self) -> str:
        """What the cap is about, for whoever reads one line."""
        return f"About the population. {self.leakage_bound}" if self.chosen else f"About the population. {self}"

    def __str__(self) -> str:
        records = f"{self.fitted_on.records or 0:,} records fitted, {self.tested_on.records or 0:,} others tested"
        cap, sure = f"{bits(self.max_iyz):.6g} bits", f"{100 * self.confidence:g}% confidence"
        if self.chosen:
            return (
                f"I(Y;Z) in the population is at most {bits(self.leakage_bound.bound):.4g} <= {cap} with {sure} (asymptotic): I(X;Z) "
                f"{bits(self.ixz):.6f} bits, {counted(self.clusters, 'cluster')}; release {self.chosen} of {len(self.path) - 1} on a path "
                f"from cautious to bold, {records}"
            )
        said = f"{counted(self.joint.records or 0, 'record')} cannot support {cap} with {sure}: the release is constant"
        if self.least_cap is None:
            return f"{said}, as nothing else hides Y at all; {records}"
        share = self.max_iyz / self.least_cap
        return (
            f"{said}. The least cap that they can is {bits(self.least_cap):.4g} bits, with I(X;Z) {bits(self.path[1].ixz):.4g} bits; or "
            f"take more records, or release path[1] for {share:.2g} of them, drawn at random, and nothing for the others; {records}"
        )


def halves(joint: Joint, rng: np.random.Generator) -> tuple[Joint, Joint]:
    """Half of the records, drawn without replacement, to fit, and the others, to test."""
    if joint.counts is None:
        raise InvalidOptionError(
            "a cap with confidence is about the population, and needs the records: a joint from samples, rows or whole-number counts. "
            "This one was made of probabilities or weights; without confidence the cap is about it as it is."
        )
    cells = sparse.coo_array(joint.counts)
    n = int(cells.data.sum())
    if n < 4:
        raise InvalidOptionError(f"a cap with confidence needs records to fit and others to test; found {n}.")
    first = rng.multivariate_hypergeometric(cells.data.astype(np.int64), n // 2, method="marginals")

    def table(counts: Any) -> Joint:
        made: Any = sparse.csr_array((counts, (cells.row, cells.col)), shape=joint.shape)
        names = joint.x_labels, joint.y_labels, joint.x_names, joint.y_names
        return Joint.from_counts(made if joint.is_sparse else made.toarray(), 0.0, *names)

    return table(first), table(cells.data - first)


def cautious_to_bold(
    fit: Joint, private: Array | None, releases: Iterable[tuple[float, Array]], cap: float, confidence: float
) -> list[PathRelease]:
    """From the constant release to the boldest, by the bound to be expected; each says more of X than those before.

    The first after the constant one is the most cautious of those that were made to hide all, perfect privacy's and the partitions of
    Merge-Two, whatever the cap: it says which cap the records can support.
    """

    def steps(eps: float, encoders: Iterable[Array]) -> list[PathRelease]:
        shown = ((W, relevance(W, fit.counts)) for W in encoders)
        return [PathRelease(W, eps, plane_point(fit, W).ixz, predicted_bound(found, confidence)) for W, found in shown]

    letters = int(np.count_nonzero(fit.p_x))
    few = [k for k in PATH.fewer if k < letters <= PATH.merged]
    partitions = map(merge_two(fit).encoder_at, few) if few else ()
    cautious = steps(0.0, [*partitions, *([] if private is None else _coarser(private, fit.p_x))])
    bolder = [step for eps, W in releases for step in steps(eps, _coarser(W, fit.p_x))]
    path = [PathRelease(np.ones((1, fit.shape[0])), 0.0, 0.0, 0.0)]
    useful = [step for step in cautious if step.ixz > PATH.useful]
    if useful:
        path.append(min(useful, key=lambda one: one.predicted))
    for step in sorted([*useful, *bolder], key=lambda one: (one.predicted, -one.ixz)):
        if path[-1].predicted <= step.predicted <= PATH.boldest * cap and step.ixz > path[-1].ixz + PATH.useful:
            path.append(step)
    if len(path) > PATH.steps:
        kept = np.unique(np.linspace(1, len(path) - 1, PATH.steps).round().astype(int))
        path = [path[0], *(path[at] for at in kept)]
    return path


def _coarser(W: Array, p_x: Array) -> Iterator[Array]:
    """A release, and the same with fewer clusters: those are merged whose p(x|z) are most alike, which costs the least I(X;Z)."""
    W = compact(W, p_x)
    yield W
    if 2 < len(W) <= PATH.merged:
        merges = agglomerative_bottleneck(Joint.from_counts(W * p_x))
        for k in PATH.fewer:
            if k < len(W):
                yield merges.encoder_at(k) @ W


def in_order(path: list[PathRelease], test: Joint, cap: float, confidence: float) -> tuple[list[PathRelease], int]:
    """The path with the bounds of the other half up to the first above the cap, and which of it is the last that passed."""
    path = list(path)
    for at, step in enumerate(path):
        bound = bound_of(step.encoder, test.counts, confidence, test.y_labels)
        path[at] = step._replace(bound=bound)
        if bound.bound > cap:
            return path, at - 1
    return path, len(path) - 1


MAX_SECONDS = 60.0
"""Time for one cap, unless the caller says otherwise."""

HIDING, SOLVING = 0.2, 0.4
"""Shares of the time: the vertices of perfect privacy may take the first, if there are no more candidates than `MAX_BASES`; they and the
solvers together the second. The proof has the larger part, since it improves the release, too."""


class SearchOptions(TypedDict, total=False):
    """What is said of a search for a release in the population and in the table alike; see `funnel_at_leakage`."""

    rng: Seed
    tol: float
    max_cells: int
    max_seconds: float


@overload
def funnel_at_leakage(
    joint: Joint, max_iyz: float, *, confidence: None = None, **search: Unpack[SearchOptions]
) -> CappedFunnel: ...


@overload
def funnel_at_leakage(
    joint: Joint, max_iyz: float, *, confidence: float, **search: Unpack[SearchOptions]
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
    rest = rest_of(limits, whole.seconds_spent / len(caps))
    # At a cap of 0 every beta from some size on is a multiplier, and huge ones prove little: the line of a faint cap holds there too.
    beside = [1e-12] if min(caps) < 1e-12 else []
    return capped_curve(support, programme, [*caps, *beside], rest, budget, private)[: len(caps)]


def rest_of(limits: Limits, spent: float) -> Limits:
    """The limits of a cap once so many seconds of its time were spent on what all caps share; a tenth is left to it whatever that took."""
    return replace(limits, max_seconds=max(limits.max_seconds - spent, 0.1 * limits.max_seconds))


def _columns(support: Support, caps: Sequence[float], whole: Budget, solving: float) -> tuple[Programme, Array | None]:
    """The programme with the clusters of perfect privacy, and of solvers in that share of the time; and perfect privacy's encoder."""
    programme = first_programme(support, whole)
    private = private_encoder(support, MAX_BASES, whole.part(seconds=HIDING * whole.seconds))
    if private is not None:
        programme.add(posteriors(support, private))
    # Clusters of the default solver at the betas of the caps.
    solvers = whole.part(seconds=solving * whole.seconds - whole.seconds_spent)
    ran: list[float] = []
    for eps in sorted(set(caps), reverse=True):
        for _ in range(4):  # the beta of the programme moves little after that
            if solvers.over:
                return programme, private
            beta = min(max(programme.at_leakage(eps).beta, 1.05), 1e6)  # below, nothing is hidden; above, all is
            if any(1.0 / 1.2 < beta / other < 1.2 for other in ran):  # one run serves for both
                break
            job = Job(support, funnel(beta), np.ones((1, 1, len(support.p_x))), budget=solvers)
            programme.add(posteriors(support, default_encoder(job, solvers.seconds_left, patience=0.0, starts=8)))
            ran.append(beta)
    return programme, private


def _confident(joint: Joint, fit: Joint, test: Joint, cap: float, confidence: float, budget: Budget) -> ConfidentFunnel:
    """Fit a path on one half, test it on the other; nothing is proven of a release, so that solvers have all the time."""
    support = Support(fit)
    programme, private = _columns(support, [cap], budget, 0.5)
    nothing = np.ones((1, len(support.p_x))) if private is None else private
    points = [(share * cap, programme.at_leakage(share * cap)) for share in PATH.shares]
    releases = [(eps, support.lift(within(support, point.encoder, eps, nothing))) for eps, point in points]
    path = cautious_to_bold(fit, None if private is None else support.lift(private), releases, cap, confidence)
    path, chosen = in_order(path, test, cap, confidence)
    beta = min(max(points[-1][1].beta, 1.0), 1e6)
    solution = judged(
        joint,
        funnel(beta),
        path[chosen].encoder,
        "fixed-sequence",
        iterations=chosen,
        seconds=budget.seconds_spent,
        parameter=beta,
        advice="tested for what it leaks, and not claimed to be optimal",
    )
    return ConfidentFunnel(solution, cap, confidence, tuple(path), chosen, fit, test)
