"""Entropy, mutual information and divergence, with 0 log 0 = 0; and how much information chance alone would show.

Everything is in nats. An encoder is ``W[z, x] = p(z|x)``, columns summing to one. Marginals are plain arrays; ``P[x, y]`` may also be a
``scipy.sparse`` array.

Let N[x, y] be counts of n records with margins a_x and b_y. If x and y were independent, the records could as well be paired anew at
random, with the same margins; each cell is then hypergeometric, k ~ Hyp(n, a_x, b_y), and the plug-in information would be on average

    E I(X;Y) = sum_{x,y} E[(k / n) log(n k / (a_x b_y))]                                  (Vinh, Epps, Bailey 2010, JMLR 11, eq. 24a)

which does not vanish: it is about (|X| - 1) (|Y| - 1) / 2n nats for large counts (Miller 1955), and nearly H(Y) when every x is met once.
An I(X;Y) that is mostly this is a statement about the size of the sample, not about X and Y.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from scipy import sparse

if TYPE_CHECKING:
    from .joint.joint import Joint

Array = np.ndarray[tuple[int, ...], np.dtype[np.float64]]
IntArray = np.ndarray[tuple[int, ...], np.dtype[np.int64]]


class Result:
    """A record whose arrays are read-only, and are nobody else's; its subclasses are frozen dataclasses with ``eq=False``.

    A result cannot be changed, and is equal to itself only: it records one run, with the time that it took. Whoever means equal numbers
    compares those (``np.array_equal(a.encoder, b.encoder)``). A `Joint` is no record but a value: two are equal if their probabilities,
    labels and names are.
    """

    def __post_init__(self) -> None:
        self.__setstate__(vars(self).copy())

    def __setstate__(self, state: dict[str, Any]) -> None:
        # What was pickled comes back writable.
        kept = {name: read_only(value) if isinstance(value, np.ndarray) else value for name, value in state.items()}
        self.__dict__.update(kept)


def read_only(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array if nobody can write to it, else a copy to which nobody can."""
    owner = array if array.base is None else array.base
    if not array.flags.writeable and not (isinstance(owner, np.ndarray) and owner.flags.writeable):
        return array
    kept = array.copy(order="K")
    kept.flags.writeable = False
    return kept


BLOCK = 16_384
"""Entries of encoders that are processed at once: an eighth of a megabyte."""

NEAR = 1e-3
"""A divergence below it, in nats, is summed again by a formula in which nothing cancels: its own rounding is then below a 1e-13th of it."""

NATS_PER_BIT: float = float(np.log(2.0))


def bits(nats: float) -> float:
    """A number of nats, in bits."""
    return nats / NATS_PER_BIT


def log_or_zero(p: Array) -> Array:
    """log p, and 0 where p = 0."""
    return np.log(np.where(p > 0.0, p, 1.0))


def entr(p: Array) -> Array:
    """-p log p, entry by entry. (The same as scipy.special's, whose import takes longer than a small problem.)"""
    return np.asarray(-p * log_or_zero(p))


def rel_entr(p: Array, q: Array) -> Array:
    """p log(p / q), entry by entry; infinite where q = 0 < p."""
    with np.errstate(all="ignore"):
        plain: Array = p * np.log(p / q)
    if np.isfinite(plain).all():
        return plain
    seen = (p > 0.0) & (q > 0.0)
    with np.errstate(over="ignore", under="ignore"):
        ratio = np.divide(p, q, out=np.ones(seen.shape), where=seen)
    logs = log_or_zero(ratio)
    beyond = seen & ~((ratio > 0.0) & (ratio < np.inf))
    if beyond.any():  # the ratio overflows or underflows; its logarithm does not
        logs = np.where(beyond, np.log(np.where(beyond, p, 1.0)) - np.log(np.where(beyond, q, 1.0)), logs)
    return np.where(p > 0.0, np.where(seen, p * logs, np.inf), 0.0)


def entropy(p: Array) -> float:
    """H(p) = -sum p log p."""
    return float(entr(p).sum())


def divergence(p: Array, q: Array) -> float:
    """D(p || q) = sum p log(p / q), infinite where q = 0 < p."""
    return float(rel_entr(p, q).sum())


def small_divergences(p: Array, q: Array) -> Array:
    """D(p_i || q) = sum_j q_j ((1 + r) log(1 + r) - r), r = p_ij / q_j - 1, of every row: terms >= 0, of order r^2 where p_i is near q.

    p log(p / q) has both signs, and its sum is left with the rounding of its terms, 1e-17 and more. Here a term is off by 1e-16 |r| q: two
    distributions that differ by rounding only are 1e-32 nats apart.
    """
    away = p - q
    with np.errstate(all="ignore"):
        r = away / q
        near: Array = p * np.log1p(r) - away
    # A ratio far from 1, or of letters that only one of the two has: nothing cancels there.
    apart: Array = np.where(np.abs(r) < 1.0, near, rel_entr(p, q) - away).sum(axis=1)
    return apart


def mutual_information(p_uv: Any) -> float:
    """I(U;V) = sum_u p(u) D(p(v|u) || p(v)) of a joint, dense or sparse; at least 0 even after rounding."""
    if isinstance(p_uv, np.ndarray):
        return float(_information([p_uv], np.ones(p_uv.shape[1]), p_uv.sum(axis=0))[0])
    u, v, p = sparse.find(p_uv)
    p_u, p_v = p_uv.sum(axis=1)[u], p_uv.sum(axis=0)[v]
    return max(float((p_u * rel_entr(p / p_u, p_v)).sum()), 0.0)


def _information(tables: Sequence[Array], weights: Array, p_v: Array) -> Array:
    """I(U;V) of p(u,v) = table[u, v] weights[v] for each table, at least 0.

    One factor at a time: p(u) p(v) underflows to 0 for the smallest masses, which would make the divergence infinite.
    """

    def of_rows(rows: Array) -> Array:
        p = rows * weights
        p_u: Array = p.sum(axis=1)
        p /= np.where(p_u > 0.0, p_u, 1.0)[:, None]
        apart: Array = rel_entr(p, p_v).sum(axis=1)
        if (near := apart < NEAR).any():
            apart[near] = small_divergences(p[near], p_v)
        p_u *= apart
        return p_u

    return np.maximum(sum_rows(tables, of_rows), 0.0)


def sum_rows(tables: Sequence[Array], of_rows: Callable[[Array], Array]) -> Array:
    """For each table, the sum over its rows of what ``of_rows`` returns, which must depend on the row alone.

    About `BLOCK` entries are processed at once: a large encoder is never copied whole, and many small ones are faster together. The sum of
    a table does not depend on the other tables, to the last bit.
    """
    totals = np.zeros(len(tables))
    for rows, owners in _stacks(tables):
        totals += np.bincount(owners, of_rows(rows), len(tables))
    return totals


def _stacks(tables: Sequence[Array]) -> Iterator[tuple[Array, list[int]]]:
    """The rows of all tables, about `BLOCK` entries at a time, and the table that each row belongs to."""
    stack: list[Array] = []
    owners: list[int] = []
    size = 0
    for number, table in enumerate(tables):
        step = max(1, BLOCK // max(table.shape[1], 1))
        for first in range(0, len(table), step):
            rows = table[first : first + step]
            if stack and size + rows.size > BLOCK:
                yield np.concatenate(stack), owners
                stack, owners, size = [], [], 0
            stack.append(rows)
            owners += [number] * len(rows)
            size += rows.size
    if stack:
        yield stack[0] if len(stack) == 1 else np.concatenate(stack), owners


class Entropies(NamedTuple):
    """H(Z), H(Z|X) and H(Z|Y) of an encoder, in nats."""

    z: float
    z_given_x: float
    z_given_y: float


def encoder_entropies(joint: Joint, encoders: Sequence[Array], weights: Array | None = None) -> list[Entropies]:
    """H(Z), H(Z|X) = sum_x p(x) H(p(z|x)) and H(Z|Y) = H(Z,Y) - H(Y), for Z drawn from each encoder.

    With weights w_y of the letters of Y the last is sum_y w_y p(y) H(Z|Y = y).
    """
    h_z = sum_rows(encoders, lambda rows: entr((rows * joint.p_x).sum(axis=1)))
    h_zx = sum_rows(encoders, lambda rows: (entr(rows) * joint.p_x).sum(axis=1))
    p_zy = [W @ joint.p_xy for W in encoders]
    if weights is None:
        h_zy = sum_rows(p_zy, lambda rows: entr(rows).sum(axis=1)) - entropy(joint.p_y)
    else:
        h_zy = sum_rows(p_zy, lambda rows: entr(rows) @ weights) - float(weights @ entr(joint.p_y))
    return [Entropies(*values) for values in zip(h_z.tolist(), h_zx.tolist(), h_zy.tolist(), strict=True)]


class PlanePoint(NamedTuple):
    """Where an encoder lies on the information plane: I(X;Z) and I(Y;Z), in nats."""

    ixz: float
    iyz: float


def plane_points(joint: Joint, encoders: Sequence[Array]) -> list[PlanePoint]:
    """I(X;Z) and I(Y;Z) of p(z,x) = p(z|x) p(x) and p(z,y), each as a divergence so that rounding cannot cancel."""
    ixz = _information(encoders, joint.p_x, joint.p_x)
    iyz = _information([W @ joint.p_xy for W in encoders], np.ones(len(joint.p_y)), joint.p_y)
    return [PlanePoint(*point) for point in zip(ixz.tolist(), iyz.tolist(), strict=True)]


def plane_point(joint: Joint, encoder: Array) -> PlanePoint:
    """I(X;Z) and I(Y;Z) of one encoder."""
    return plane_points(joint, [encoder])[0]


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
