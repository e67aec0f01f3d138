"""How much information independence alone would show in a table of counts.

Counts N[x, y] of n records with margins a_x and b_y. If x and y were independent, the records could as well be paired anew at random,
with the same margins; each cell is then hypergeometric, k ~ Hyp(n, a_x, b_y), and the plug-in information would be on average

    E I(X;Y) = sum_{x,y} E[(k / n) log(n k / (a_x b_y))]                                  (Vinh, Epps, Bailey 2010, JMLR 11, eq. 24a)

which does not vanish: it is about (|X| - 1) (|Y| - 1) / 2n nats for large counts (Miller 1955), and nearly H(Y) when every x is met once.
An I(X;Y) that is mostly this is a statement about the size of the sample, not about X and Y.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..information import IntArray

LogFactorial = Callable[[Any], Any]

LARGE_MEAN = 400.0
"""Expected count from which a cell's term is taken to second order: the next term is below 1/LARGE_MEAN of it."""

PIECE = 1_000_000
"""Terms of the sum that are held at once."""


TABULATED = 20_000_000
"""Records up to which log n! is kept as a table."""


def largest_expected_information(rows: IntArray, columns: IntArray) -> float:
    """An upper bound of `expected_information` in nats: log(1 + (|X| - 1) (|Y| - 1) / (n - 1)).

    I(X;Y) <= log(1 + chi^2 / n) for every table, Pearson's chi^2 is (|X| - 1) (|Y| - 1) n / (n - 1) on average over the pairings, and
    the logarithm is concave.
    """
    n = int(rows.sum())
    degrees = float((np.count_nonzero(rows) - 1) * (np.count_nonzero(columns) - 1))
    return float(np.log1p(degrees / max(n - 1, 1)))


def expected_information(rows: IntArray, columns: IntArray) -> float:
    """E I(X;Y) in nats over random pairings of records with the given counts of each x and of each y, which have the same sum.

    Cells with the same margins have the same term, so the work grows with the number of different counts, not of letters.

    Examples
    --------
    >>> round(expected_information(np.array([1, 1, 1, 1]), np.array([2, 2])), 6)  # every x once: H(Y), whatever y is
    0.693147
    """
    n = int(rows.sum())
    a, a_times = np.unique(rows[rows > 0], return_counts=True)
    b, b_times = np.unique(columns[columns > 0], return_counts=True)
    log_factorial = _log_factorials(n)
    total = 0.0
    for b_j, times in zip(b.tolist(), b_times.tolist(), strict=True):
        mean = a * (b_j / n)
        large = mean >= LARGE_MEAN
        # k log(k / mean) is (k - mean)^2 / (2 mean) to second order; the variance is mean (1 - a/n) (1 - b/n) n / (n - 1).
        spread = (1.0 - a / n) * (1.0 - b_j / n) * (n / max(n - 1, 1))
        total += times * float((a_times * spread / (2.0 * n))[large].sum())
        total += times * _small(a[~large], a_times[~large], b_j, n, log_factorial)
    return total


def _log_factorials(n: int) -> LogFactorial:
    """From k to log k!, for k up to n."""
    if n <= TABULATED:
        return np.concatenate([[0.0], np.cumsum(np.log(np.arange(1, n + 1)))]).__getitem__
    from scipy.special import gammaln  # its import takes longer than a small table

    return lambda k: np.asarray(gammaln(np.asarray(k) + 1.0))


def _small(a: IntArray, times: IntArray, b: int, n: int, log_factorial: LogFactorial) -> float:
    """The sum over a of times_a E[(k / n) log(n k / (a b))], k ~ Hyp(n, a, b), term by term over the k that have any weight."""
    mean = a * (b / n)
    width = 12.0 * np.sqrt(mean) + 40.0  # the tails beyond weigh less than 1e-16
    first = np.maximum(np.maximum(a + b - n, 1), np.floor(mean - width)).astype(np.int64)
    last = np.minimum(np.minimum(a, b), np.ceil(mean + width)).astype(np.int64)
    lengths = np.maximum(last - first + 1, 0)
    total, start = 0.0, 0
    while start < len(a):
        stop = start + max(int(np.searchsorted(np.cumsum(lengths[start:]), PIECE)), 1)
        piece = slice(start, stop)
        start = stop
        count = lengths[piece]
        who = np.repeat(np.arange(len(count)), count)
        k = np.arange(int(count.sum())) - np.repeat(np.cumsum(count) - count, count) + first[piece][who]
        own = a[piece][who]
        weight = (
            log_factorial(own)
            - log_factorial(k)
            - log_factorial(own - k)
            + log_factorial(n - own)
            - log_factorial(b - k)
            - log_factorial(n - own - b + k)
            - log_factorial(n)
            + log_factorial(b)
            + log_factorial(n - b)
        )
        total += float((times[piece][who] * np.exp(weight) * (k / n) * np.log(k * (n / (own * float(b))))).sum())
    return total
