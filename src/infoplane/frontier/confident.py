"""A cap on the leakage that holds in the population: fixed-sequence testing along a path of releases, from cautious to bold.

The records are split in two. Releases W_1, W_2, ... are fitted on one half: the funnel's at caps r' <= r, each also with fewer clusters, in
the order of the bound that is to be expected of them; those that are bolder than another and say less stay out. On the other half, which
none of them has seen, they are tested in that order,

    reject "W_i leaks more than r"  if  its upper bound (`sampling.leakage`) is at most r,

and the first that does not pass ends it: the last that did is released. A true hypothesis is rejected wrongly only if the first true one of
the order is, so the error of the whole is that of one test, and nothing has to be divided among them. A constant release leaks nothing
and comes first. Everything about the order may depend on the half that fitted.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..certificate.funnel.constrained import ReleasedEncoder
from ..encoder.encoder import compact
from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import Array, bits, plane_point
from ..joint.joint import Joint
from ..posterior.merge_path import agglomerative_bottleneck, merge_two
from ..problem import funnel
from ..sampling.intervals import relevance
from ..sampling.leakage import LeakageBound, bound_of, predicted_bound
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


def path_of(
    fit: Joint, private: Array | None, releases: Iterable[tuple[float, Array]], cap: float, confidence: float
) -> list[PathRelease]:
    """From the constant release to the boldest, by the bound to be expected; each says more of X than those before.

    The first after the constant one is the most cautious of those that were made to hide all, perfect privacy's and the partitions of
    Merge-Two, whatever the cap: it says which cap the records can support.
    """

    def steps(eps: float, encoders: Iterable[Array]) -> list[PathRelease]:
        shown = ((W, relevance(W, fit.counts)) for W in encoders)
        return [PathRelease(W, eps, plane_point(fit, W).ixz, predicted_bound(found, confidence)) for W, found in shown]

    cautious = steps(0.0, [*_partitions(fit), *([] if private is None else _coarser(private, fit.p_x))])
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


def _partitions(fit: Joint) -> Iterator[Array]:
    """Hard groups of letters that leak little: Merge-Two's, of few groups."""
    letters = int(np.count_nonzero(fit.p_x))
    if letters <= PATH.merged:
        merges = merge_two(fit)
        yield from (merges.encoder_at(k) for k in PATH.fewer if k < letters)


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
    """The path with the bounds of the other half up to the first above the cap, and the place of the last that passed."""
    path = list(path)
    for place, step in enumerate(path):
        bound = bound_of(step.encoder, test.counts, confidence, test.y_labels)
        path[place] = step._replace(bound=bound)
        if bound.bound > cap:
            return path, place - 1
    return path, len(path) - 1


def confident_funnel(
    joint: Joint,
    fit: Joint,
    test: Joint,
    cap: float,
    confidence: float,
    path: list[PathRelease],
    beta: float,
    seconds: float,
) -> ConfidentFunnel:
    """Test a path, and release the last that passed."""
    path, chosen = in_order(path, test, cap, confidence)
    solution = judged(
        joint,
        funnel(beta),
        path[chosen].encoder,
        "fixed-sequence",
        iterations=chosen,
        seconds=seconds,
        parameter=beta,
        advice="tested for what it leaks, and not claimed to be optimal",
    )
    return ConfidentFunnel(solution, cap, confidence, tuple(path), chosen, fit, test)
