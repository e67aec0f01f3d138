"""The funnel as a linear programme over posteriors, solved by HiGHS, whose answer is not trusted.

    minimise  sum_k p_k (H(q_k) - beta H(Tq_k))    subject to  sum_k p_k q_k = p_x,  p >= 0

(beta given), or, with a cap on the leakage, sum_k p_k H(q_k) subject to sum_k p_k H(Tq_k) >= H(Y) - eps as well, whose multiplier is then
beta. Where a target U is kept, not X itself, H(q) is H(T_u q) everywhere. The columns q_k are those met so far (column generation meets
them). Any lambda with g(q) = H(q) - beta H(Tq) - lambda.q >= m for all q proves the lower bound lambda.p_x + m (+ beta (H(Y) - eps)).

Some minimiser of g lies on letters whose columns of T are linearly independent: for a fixed u = Tq only H(q) - lambda.q is left, which is
concave and so least at a vertex of {q >= 0, Tq = u}. So letters with equal columns count as one, that with the largest lambda, and at
most r = rank(T) <= |Y| of them are used at a time (`Channel`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from ..errors import InfoplaneError, InvalidJointError
from ..information import Array, IntArray, entr
from ..joint.joint import Support
from ..kernels.common import EPS, Integers
from ..kernels.funnel_proof.descent import descend_all
from ..kernels.funnel_proof.slot_bound import KEPT
from ..runtime.budget import Budget, Stopped
from .form import dobrushin

EQUAL = 1e-13
"""Columns of T that differ by less, and singular values below it, are taken for rounding; the bound pays for the difference."""

SLOTS_RANK, SLOTS_LETTERS = 4, 20
"""Slots are used up to this rank, from so many letters on (measured, docs/benchmarks/slots.md)."""

MEMORY = 2**29
"""Bytes that the waiting cells of one search may take; a cell that finds no room is given up, with the bound that it has."""


class ProgrammeRules(NamedTuple):
    """What HiGHS is asked for, how programmes are scaled, and what one search may hold, set by `benchmarks/bench_columns.py`."""

    tightest: float = 1e-10
    """HiGHS's smallest tolerances."""
    short: int = 20_000
    """Entries of a programme's matrix, stored or not, up to which nobody has to wait for HiGHS: milliseconds."""
    fewest_iterations: int = 10_000
    iterations_per_row: int = 8
    """Iterations that an attempt may take, at least and for every row: those that end take up to 7 per row."""
    most_cells: int = 1_000_000
    """Cells that may wait, whatever memory holds."""
    most_found: int = 256
    """Violating posteriors that one search may hand over."""
    plain_beta: float = 16.0
    """The slope that stands for the frontier's at a cap, should HiGHS give up."""
    smallest_unit: float = 1e-6
    """Smaller caps on the leakage, in nats, are not scaled up to 1: the row would outgrow the others."""
    most_letters: int = 25_000
    """Letters of X whose columns, single letters to begin with, fit into memory: 5 GB."""
    alike: float = 1e-6
    """Posteriors whose masses differ by less than this in all are one cluster: to join them costs about its square in nats."""
    lowest: float = 1e3
    """Most that a multiplier is lowered by, in units of beta: a multiple of what any letter can win."""


RULES = ProgrammeRules()


class Channel:
    """T = p(y|x) as the search sees it: one row per letter, equal rows once, and how many letters a posterior needs."""

    def __init__(self, T: Array) -> None:
        rows = np.ascontiguousarray(T.T)
        self.letters = rows.shape[0]
        _, first, member = np.unique(np.round(rows, 13), axis=0, return_index=True, return_inverse=True)
        order = np.argsort(first)
        self.first: Integers = first[order]
        self.group: Integers = np.argsort(order)[member.ravel()]
        self.T: Array = np.ascontiguousarray(rows[self.first])
        self.full: Array = rows
        apart = float(np.abs(rows - self.T[self.group]).max())
        sigma = np.linalg.svd(self.T, compute_uv=False)
        self.rank = max(int((sigma > EQUAL).sum()), 1)
        if self.rank < len(sigma):
            apart += float(sigma[self.rank] + 16.0 * EPS * sigma[0])
        self.apart = apart

    @cached_property
    def concave_up_to(self) -> float:
        """A beta, at least 1, up to which g is concave and so least at a single letter: 1 over Dobrushin's coefficient."""
        return 1.0 / min(dobrushin(self.T.T) + 4.0 * (self.T.shape[1] + 4) * EPS, 1.0)

    @property
    def by_slots(self) -> bool:
        """Whether a search goes by slots, not by boxes."""
        return self.rank <= SLOTS_RANK and len(self.T) >= SLOTS_LETTERS

    def gather(self, lam: Array) -> tuple[Array, Integers]:
        """The largest lambda among letters of equal columns, and whose it is."""
        order = np.lexsort((lam, self.group))
        last = order[np.searchsorted(self.group[order], np.arange(len(self.T)), side="right") - 1]
        return lam[last], last

    def error(self, lam: Array, beta: float) -> tuple[float, float]:
        """Rounding of a bound: absolute, and relative to beta T.log v (derived in docs/explanation/exact_funnel.md, "Floating point").

        T is within |Y| + 1 roundings of p(x,y)/p(x), a sum over y adds |Y| + 2, and v sums to 1 within |Y| + 2 + log |Y|. Where nearly
        equal columns, or a nearly singular T, are taken for exactly so, H(Tq) moves by at most |Y| eta(d), twice, with d the largest entry
        of the difference and eta(d) = -d log d.
        """
        m = self.T.shape[1]
        relative = (4 * m + 32) * EPS
        size = 1.0 + float(np.abs(lam).max()) + beta * (1.0 + math.log(m))
        moved = -self.apart * math.log(self.apart) if self.apart > 0.0 else 0.0
        return relative * size + 2.0 * beta * m * moved, relative

    @cached_property
    def arrays(self) -> tuple[Array, ...]:
        """Where the cells of a search wait, and what it finds; one search at a time."""
        n, r = len(self.T), self.rank
        each = n * r + 16 * r * (1 + KEPT) + 64 if self.by_slots else 24 * n + 40
        cells = max(min(MEMORY // each, RULES.most_cells), 2)
        # np.empty: pages that no cell ever reaches are never touched.
        whole = np.int64
        ranges: tuple[Array, ...]
        if self.by_slots:
            ranges = (
                np.empty((cells, r)),
                np.empty((cells, r)),
                np.empty((cells, r, n), np.uint8),
                np.empty((cells, r, KEPT), whole),
                np.empty((cells, r, KEPT)),
                np.empty(cells, whole),
                np.empty((cells, 2), whole),
            )
        else:
            ranges = (np.empty((cells, n)), np.empty((cells, n)), np.empty((cells, n)), np.empty(cells, whole))
        found, table = np.empty((RULES.most_found, n)), np.zeros(2**14, whole)
        return (np.arange(cells), np.empty(cells), *ranges, np.empty((cells, 2)), found, table)

    def descend(self, lam: Array, beta: float, Q: Array) -> tuple[Array, Array]:
        """Local minima of g from the columns of Q (|X|, k), and their values."""
        moved = np.ascontiguousarray(Q.T)
        values = descend_all(self.full, lam, beta, 0, moved)
        return moved.T, values

    def seeds(self, lam: Array, Q: Array) -> Array:
        """Where growth begins, a row each: every single letter, and the columns of Q less their rarest letter."""
        _, letter = self.gather(lam)
        rows = Q[letter].T
        rows = rows[(rows > 0.0).sum(axis=1) > 1]
        rarest = np.where(rows > 0.0, rows, np.inf).argmin(axis=1)
        rows[np.arange(len(rows)), rarest] = 0.0
        return np.vstack([np.eye(len(self.T)), rows / rows.sum(axis=1, keepdims=True)])

    def grow(self, lam: Array, beta: float, seeds: Array) -> tuple[Array, Array]:
        """Posteriors grown from seeds, each set of letters once, and their values."""
        gathered, letter = self.gather(lam)
        grown = np.ascontiguousarray(seeds)
        values = descend_all(self.T, gathered, beta, self.rank, grown)
        _, distinct = np.unique(grown > 0.0, axis=0, return_index=True)
        Q = np.zeros((self.letters, len(distinct)))
        Q[letter] = grown[distinct].T
        return Q, values[distinct]


Method = Literal["highs", "highs-ds", "highs-ipm"]

ATTEMPTS: tuple[tuple[Method, float], ...] = (
    ("highs", RULES.tightest),
    ("highs", 1e-8),
    ("highs-ipm", 1e-8),
    ("highs-ds", 1e-7),
)
"""Method and tolerance of each attempt at a linear programme."""


LARGEST = 1e300
"""Largest multiplier of a letter: any multiplier proves a bound, and one that is infinite proves nothing."""


class ColumnMixture(NamedTuple):
    """An optimal basis of a linear programme over posteriors."""

    weights: Array
    """p_k."""
    lam: Array
    """Multipliers of the equations."""
    of_cap: float
    """Multiplier of the row `cap`."""


def shares(Q: Any, p_x: Array) -> tuple[Any, Array]:
    """Columns, dense or sparse, in units of what each can carry at most, and of p_x; and what it can carry.

    Every entry is an encoder's then: in [0, 1], however small a letter.
    """
    with np.errstate(divide="ignore", over="ignore"):  # a letter that a column has next to nothing of does not limit it
        if isinstance(Q, np.ndarray):
            most = (p_x[:, None] / Q).min(axis=0)
            return Q * most / p_x[:, None], most
        A, mass = Q.copy(), p_x[Q.indices]
        most = np.minimum.reduceat(mass / A.data, A.indptr[:-1])
    A.data *= np.repeat(most, np.diff(A.indptr))
    A.data /= mass
    return A, most


def linear_programme(
    Q: Any,
    costs: Array,
    p_x: Array,
    cap: tuple[Array, float] | None = None,
    budget: Budget | None = None,
    least_unit: float = 1.0,
) -> ColumnMixture:
    """Minimise costs.p subject to Qp = p_x, p >= 0 and, for cap = (row, least), row.p >= least."""
    A, most = shares(Q, p_x)
    row = None if cap is None else (cap[0] * most, cap[1])
    scaled = costs * most
    # Costs of 10^5 and more, from a large beta, would outgrow HiGHS's absolute tolerances: in units of the largest.
    found = solved(scaled, A, max(float(np.abs(scaled).max()), least_unit), row, budget=budget)
    if found is None:
        raise InfoplaneError(
            f"HiGHS did not solve the linear programme over {len(most)} posteriors, by {len(ATTEMPTS)} ways. Masses p(x) here go from "
            f"{p_x.min():.1e} to {p_x.max():.1e} and costs to {np.abs(costs).max():.1e}: group rare letters, or take a smaller beta or a "
            "larger cap."
        )
    with np.errstate(over="ignore"):  # a letter of 5e-324
        lam = np.clip(found.lam / p_x, -LARGEST, LARGEST)
    return ColumnMixture(found.weights * most, lam, found.of_cap)


def solved(
    costs: Array,
    A: Any,
    unit: float = 1.0,
    row: tuple[Array, float] | None = None,
    attempts: Sequence[tuple[Method, float]] = ATTEMPTS,
    budget: Budget | None = None,
) -> ColumnMixture | None:
    """Minimise costs.p subject to Ap = 1, p >= 0 and row.p >= least, A in [0, 1], dense or sparse; None if all attempts fail.

    HiGHS sees the costs in the unit given. An attempt that cycles is given up after so many iterations, not seconds, so that the same
    programme has the same answer. A budget that is over ends the waiting for HiGHS with `Stopped`, unless the programme is a
    short one.
    """
    from scipy.optimize import linprog  # slow to import: paid by the first programme

    beside = {} if row is None else {"A_ub": -row[0][None], "b_ub": [-row[1]]}
    iterations = max(RULES.fewest_iterations, RULES.iterations_per_row * A.shape[0])
    for method, tolerance in attempts:
        work = partial(
            linprog,
            costs / unit,
            A_eq=A,
            b_eq=np.ones(A.shape[0]),
            **beside,
            method=method,
            options={
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
                "maxiter": iterations,
            },
        )
        found = budget.awaited(work) if budget is not None and A.size > RULES.short else work()
        if found.x is not None and found.eqlin.marginals is not None and np.isfinite(found.eqlin.marginals).all():
            of_cap = 0.0 if row is None else max(-unit * float(found.ineqlin.marginals[0]), 0.0)
            return ColumnMixture(np.maximum(found.x, 0.0), unit * found.eqlin.marginals, of_cap)
    return None


def repaired(lam: Array, Q: Array, costs: Array, p_x: Array) -> Array:
    """HiGHS's lambda, lowered where that costs least until no column has costs < lambda.q."""
    lam = lam.copy()
    for k in np.flatnonzero(costs - lam @ Q < 0.0):
        short = costs[k] - lam @ Q[:, k]
        if short < 0.0:
            with np.errstate(divide="ignore", over="ignore"):
                x = int((p_x / Q[:, k]).argmin())
                lam[x] = max(lam[x] + short / Q[x, k], -LARGEST)
    return lam


def check_letters(support: Support) -> None:
    """Refuse a joint whose columns would not fit into memory."""
    if len(support.p_x) > RULES.most_letters:
        raise InvalidJointError(
            f"a linear programme over posteriors has a column for every letter of X, {RULES.most_letters:,} letters at most; found "
            f"{len(support.p_x):,} of positive mass. Group rare letters of X, or solve without a certificate."
        )


@dataclass(frozen=True)
class Point:
    """What the programme over the present columns says."""

    Q: Array = field(repr=False)
    """The columns q_k,"""
    weights: Array = field(repr=False)
    """and p_k."""
    lam: Array = field(repr=False)
    beta: float
    dual: float
    """Lambda.p_x (+ beta (H(Y) - eps)): the lower bound, up to the least g."""
    value: float
    """What the mixture costs: the programme's upper bound."""
    solved: bool = True
    """Whether HiGHS found an optimum, and the user waited for it; if not, the release is a plain one; the multipliers hold all the same."""

    @property
    def encoder(self) -> Array:
        """p(z|x) of the mixture."""
        return encoder_of(self.Q, self.weights)

    @property
    def used(self) -> Array:
        """The columns with mass."""
        return self.Q[:, self.weights > 0.0]

    def lowered(self, p_x: Array, by: float) -> Point:
        """With every lambda_x lowered by the same cost p_x: lambda.p_x falls by `by`.

        What a posterior on rare letters could win is little, however low its g: here it hardly counts. The multiplier of the rarest is not
        lowered beyond `RULES.lowest`, or rounding, relative to the largest multiplier, would be all that is left.
        """
        rarest = by / (len(p_x) * RULES.lowest * max(self.beta, 1.0))
        return self.with_multipliers(self.lam - by / (len(p_x) * np.maximum(p_x, rarest)), p_x)

    def with_multipliers(self, lam: Array, p_x: Array) -> Point:
        """With other multipliers."""
        return replace(self, lam=lam, dual=self.dual + math.fsum((lam - self.lam) * p_x))


class Programme:
    """Columns q_k with H(q_k) and H(Tq_k), kept from one parameter to the next."""

    def __init__(
        self,
        support: Support,
        budget: Budget | None = None,
        letters: NDArray[np.bool_] | None = None,
        kept: Array | None = None,
    ) -> None:
        check_letters(support)
        self.kept = kept
        """T_u = p(u|x), a row per u, if that is what is kept; None if it is X."""
        self.patience = (budget or Budget()).part(seconds=math.inf)
        """Of the budget only whether it was stopped: HiGHS is waited for beyond a limit on seconds, since what it finds counts."""
        self.p_x, self.p_y, self.T = support.p_x, support.p_y, support.T
        self.channel = Channel(support.T)
        self.H_y = float(entr(support.p_y).sum())
        self.Q: Array = np.empty((len(self.p_x), 0))
        self.H_q: Array = np.empty(0)
        self.H_u: Array = np.empty(0)
        # Single letters, those that may be released, make Z = X; p_x itself is the release that says nothing: every cap can be met.
        single = np.eye(len(self.p_x)) if letters is None else np.eye(len(self.p_x))[:, letters]
        self.first = single.shape[1] + 1
        """Columns that are never dropped; the last of them is p_x."""
        self.add(np.column_stack([single, self.p_x / self.p_x.sum()]))

    def add(self, Q: Array) -> None:
        """More columns; each is normalised."""
        Q = np.maximum(Q, 0.0)
        Q = Q / Q.sum(axis=0)
        H_q, H_u = (np.append(self.H_q, self.uncertainty(Q)), np.append(self.H_u, entr(self.T @ Q).sum(axis=0)))
        self.Q, self.H_q, self.H_u = np.column_stack([self.Q, Q]), H_q, H_u

    def uncertainty(self, Q: Array) -> Array:
        """H(q), or H(T_u q), of any columns."""
        found: Array = entr(Q if self.kept is None else self.kept @ Q).sum(axis=0)
        return found

    def trim(self, point: Point) -> Point:
        """Once there are many columns, keep the first ones and those of least reduced cost; the point on what is left."""
        first, most = self.first, len(self.p_x) + 1
        if self.Q.shape[1] <= 6 * most + 500:
            return point
        cost = self.reduced(point.lam, point.beta)[first:]
        cost[point.weights[first:] > 0.0] = -np.inf
        order = np.argsort(cost, kind="stable")
        keep = np.append(np.arange(first), first + np.sort(order[: 3 * most + 250]))
        self.Q, self.H_q, self.H_u = np.ascontiguousarray(self.Q[:, keep]), self.H_q[keep], self.H_u[keep]
        return replace(point, Q=self.Q, weights=point.weights[keep])

    def costs(self, Q: Array, beta: float) -> Array:
        """H(q) - beta H(Tq) of any columns."""
        costs: Array = self.uncertainty(Q) - beta * entr(self.T @ Q).sum(axis=0)
        return costs

    def reduced(self, lam: Array, beta: float) -> Array:
        """G at every column."""
        costs: Array = self.H_q - beta * self.H_u - lam @ self.Q
        return costs

    def at_beta(self, beta: float) -> Point:
        """The programme for a given beta; a plain point if the user does not wait for it."""
        costs = self.H_q - beta * self.H_u
        try:
            found = linear_programme(self.Q, costs, self.p_x, budget=self.patience)
        except (InfoplaneError, Stopped):
            return self._plain(beta)
        return self._point(found.weights, found.lam, costs, beta)

    def at_leakage(self, eps: float) -> Point:
        """The programme with I(Y;Z) <= eps; a plain point if the user does not wait for it."""
        log_p_y = np.log(self.p_y)
        cap, unit = leakage_row(-self.H_u - log_p_y @ (self.T @ self.Q), eps)
        try:
            found = linear_programme(self.Q, self.H_q, self.p_x, cap, self.patience)
        except (InfoplaneError, Stopped):
            return self._plain(RULES.plain_beta, self.H_y - eps)
        beta = found.of_cap / unit
        lam = found.lam + beta * (log_p_y @ self.T)
        return self._point(found.weights, lam, self.H_q - beta * self.H_u, beta, self.H_y - eps)

    def _plain(self, beta: float, allowance: float | None = None) -> Point:
        """What is known without a linear programme: the release that says nothing, or Z = X if that may be and is better; multipliers."""
        n, costs = len(self.p_x), self.H_q - beta * self.H_u
        weights, says_nothing = np.zeros(len(costs)), self.first - 1
        if allowance is None and says_nothing == n and costs[:n] @ self.p_x < costs[n]:
            weights[:n] = self.p_x
        else:
            weights[says_nothing] = 1.0
        lam = -beta * entr(self.T).sum(axis=0)  # of single letters, whose H is 0
        if self.kept is not None:
            lam = lam + entr(self.kept).sum(axis=0)
        return replace(self._point(weights, lam, costs, beta, allowance), solved=False)

    def _point(self, weights: Array, lam: Array, costs: Array, beta: float, allowance: float | None = None) -> Point:
        """Weights and multipliers of the programme for beta; or with a cap, whose multiplier is beta, and the allowance H(Y) - eps."""
        lam = repaired(lam, self.Q, costs, self.p_x)
        value = math.fsum(weights * (costs if allowance is None else self.H_q))
        return Point(self.Q, weights, lam, beta, math.fsum(lam * self.p_x) + beta * (allowance or 0.0), value)

    def rounding(self, lam: Array, beta: float) -> float:
        """What the dual value, and the entropies that turn it into a loss, may be off by."""
        n, m = len(self.p_x), len(self.T)
        return (n + m + 16) * EPS * (1.0 + math.log(n) + beta * (1.0 + math.log(m)) + float(np.abs(lam).max()))


def leakage_row(leakage: Array, eps: float) -> tuple[tuple[Array, float], float]:
    """The row sum_k p_k D(Tq_k || p_y) <= eps, as HiGHS gets it, and its unit.

    In units of eps nothing cancels, and beta times HiGHS's tolerance stays small. Asked for a little less than eps, that tolerance does
    not lead above the cap, where it would cost more to come back from.
    """
    unit = max(eps, RULES.smallest_unit)
    return (-leakage / unit, -eps / unit + min(3.0 * RULES.tightest, 0.5 * eps / unit)), unit


def encoder_of(Q: Array, weights: Array) -> Array:
    """p(z|x) = p_k q_k(x) / p(x); posteriors that are `RULES.alike` are one cluster."""
    kept = np.flatnonzero(weights > 0.0)
    owner = alike(Q[:, kept])
    W: Array = np.ascontiguousarray((Q[:, kept] * weights[kept]).T)
    if owner.max() + 1 < len(kept):
        W = np.asarray(sparse.csr_array((np.ones(len(kept)), (owner, np.arange(len(kept))))) @ W)
    W /= W.sum(axis=0)
    return W


def alike(Q: Array) -> IntArray:
    """The cluster 0, 1, 2, ... of each column, numbered as they appear: sum_x |q - q'| < `RULES.alike` to the first of its cluster.

    Columns that are alike have projections u.q, 0 <= u <= 1, that are as near: sorted by them, each is compared with a few before it.
    """
    at = np.random.default_rng(0).random(len(Q)) @ Q
    first = np.arange(len(at))
    known: list[int] = []
    """The first of every cluster so far, in the order of the projections; those that are too far away are dropped."""
    for k in np.argsort(at, kind="stable"):
        known = [other for other in known if at[other] > at[k] - RULES.alike]
        near = (other for other in known if _distance(Q[:, other], Q[:, k]) < RULES.alike)
        first[k] = next(near, k)
        if first[k] == k:
            known.append(int(k))
    # A cluster is named by the earliest of its columns.
    earliest = np.full(len(at), len(at))
    np.minimum.at(earliest, first, np.arange(len(at)))
    return np.unique(earliest[first], return_inverse=True)[1]


def _distance(q: Array, other: Array) -> float:
    """sum_x |q - q'|."""
    return float(np.abs(q - other).sum())
