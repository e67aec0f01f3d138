"""The best intervals of letters in a row, exactly: letters that cannot be told apart joined, one dynamic programme, its cuts.

Two y: some best map of X to k clusters has intervals of p(y|x) as its clusters (Kurkoski, Yagi 2014), so letters in that order, cut at the
best places, are the optimum over all maps.

A rising order: p(y|z) shall rise from one interval to the next. Neighbours that violate it are pooled first (isotonic regression), and no
best cut is lost. *Proof.* In a pool the first letters have no less of y than the whole, on average, and the last no more. With D the
Kullback-Leibler divergence, rising levels a_1 <= ... <= a_r within the pool, and m its mean,

    sum_i D(x_i, a_i) >= const + sum_i D(m, a_i)

since D(x, a) is affine in x up to a term without a, with a slope that falls in a, and summation by parts meets suffix sums of x - m, none
positive. So the level among a_1, ..., a_r that is nearest to m serves the whole pool as well, without a cut in it. After pooling every cut
is a rising one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...information import Array, IntArray, entr
from ...kernels.intervals import cut_line, cut_sorted


@dataclass(frozen=True)
class Cuts:
    """The best intervals for every number of them up to a largest; ``place[x]`` is where letter x stands in the row."""

    place: IntArray
    lost: Array
    """H(Y|Z) of k intervals, in nats, at index k; infinite where no k intervals are heavy enough."""
    last_cut: IntArray

    def best(self, most: int) -> int:
        """The number of intervals, at most so many, that keeps most; the fewest, if several do."""
        return 1 + int(self.lost[1 : most + 1].argmin())

    def labels(self, intervals: int) -> IntArray:
        """The interval 0, 1, ... of every letter, from left to right."""
        end = self.last_cut.shape[1] - 1
        cuts = []
        for k in range(intervals, 1, -1):
            end = int(self.last_cut[k, end])
            cuts.append(end)
        return np.searchsorted(cuts[::-1], self.place, side="right").astype(np.int64)


def sorted_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Two y: the letters by p(y|x), those of equal p(y|x) together; without ``least`` the best of all maps to k clusters."""
    share = P[:, 1] / P.sum(axis=1)
    _, place = np.unique(share, return_inverse=True)
    return _two_outcomes(P, place.astype(np.int64), most, least)


def rising_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Two y: the letters in their row, p(y|z) rising; without ``least`` the best of all such intervals."""
    pools: list[tuple[float, float, int]] = []
    for a, b in P.tolist():
        letters = 1
        while pools and pools[-1][1] * (a + b) >= b * (pools[-1][0] + pools[-1][1]):
            before = pools.pop()
            a, b, letters = a + before[0], b + before[1], letters + before[2]
        pools.append((a, b, letters))
    place = np.repeat(np.arange(len(pools)), [letters for *_, letters in pools])
    return _two_outcomes(P, place.astype(np.int64), most, least)


def line_cuts(P: Array, most: int, least: float = 0.0) -> Cuts:
    """Any y: the letters in their row."""
    n = len(P)
    # All k of a place lie together here.
    F, last_cut = np.full((n + 1, min(most, n) + 1), np.inf), np.zeros((n + 1, min(most, n) + 1), dtype=np.int64)
    cut_line(np.ascontiguousarray(P, dtype=float), least, F, last_cut)
    return Cuts(np.arange(n), F[n], last_cut.T)


def _two_outcomes(P: Array, place: IntArray, most: int, least: float) -> Cuts:
    n = int(place.max()) + 1
    first, second = (np.concatenate([[0.0], np.cumsum(np.bincount(place, P[:, y], n))]) for y in (0, 1))
    F, last_cut = np.full((min(most, n) + 1, n + 1), np.inf), np.zeros((min(most, n) + 1, n + 1), dtype=np.int64)
    cut_sorted(first, second, least, F, last_cut)
    return Cuts(place, F[:, n], last_cut)


def prebins(p_x: Array, bins: int) -> IntArray:
    """Letters of a row in bins of about equal mass, at most so many, numbered from 0 without gaps: floor(bins (mass to the left + p/2))."""
    middles = (np.cumsum(p_x) - 0.5 * p_x) / p_x.sum()
    places = np.minimum((bins * middles).astype(np.int64), bins - 1)
    return np.unique(places, return_inverse=True)[1].astype(np.int64)


def lost_in(q: Array, P: Array, bins: IntArray) -> Array:
    """p(b) I(X;Y | b) of every bin: what is not told of Y by those who know the bin only; q(b, y) are its masses."""
    within = np.bincount(bins, lost_by(P), len(q))
    return np.maximum(lost_by(q) - within, 0.0)


def lost_by(q: Array) -> Array:
    """p(z) H(Y|z) of every row of q(z, y)."""
    lost: Array = entr(q).sum(axis=1) - entr(q.sum(axis=1))
    return lost
