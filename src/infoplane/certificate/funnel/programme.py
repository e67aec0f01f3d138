"""The funnel as a linear programme over posteriors, and column generation, which solves it.

    minimise  sum_k p_k (H(q_k) - beta H(Tq_k))    subject to  sum_k p_k q_k = p_x,  p >= 0

(beta given), or, with a cap on the leakage, sum_k p_k H(q_k) subject to sum_k p_k H(Tq_k) >= H(Y) - eps as well, whose dual value is then
beta. The columns q_k are those met so far. Any lambda with g(q) = H(q) - beta H(Tq) - lambda.q >= m for all q proves the lower bound
lambda.p_x + m (+ beta (H(Y) - eps)), so the programme's own lambda is priced: `Pricing` returns posteriors to add, or the proof.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, entr
from ...joint.support import Support
from ..certificate import Limits
from .pricing import EPS, Channel, Pricing

Result = TypeVar("Result")

BLOCK = 10_000
"""Nodes between two looks at the clock and at the caller."""

FIRST_FLOOR = 0.1
"""Pricing is done to this tolerance first, then to a hundredth of it, and so on: an early bound, and early columns, cost little."""

TIGHTEST = 1e-10
"""HiGHS's smallest tolerances."""

SMALLEST_UNIT = 1e-6
"""Smaller caps on the leakage, in nats, are not scaled up to 1: the row would outgrow the others."""


@dataclass(frozen=True)
class Point:
    """What the programme over the present columns says."""

    weights: Array = field(repr=False)
    """p_k."""
    lam: Array = field(repr=False)
    beta: float
    dual: float
    """Lambda.p_x (+ beta (H(Y) - eps)): the lower bound, up to the least g."""


@dataclass
class Meter:
    """What may still be spent."""

    limits: Limits
    max_rounds: int = 1_000_000
    cells: int = 0
    rounds: int = 0
    began: float = field(default_factory=time.perf_counter)

    @property
    def spent(self) -> bool:
        """Whether any limit has been reached."""
        return (
            self.cells >= self.limits.max_cells
            or self.rounds >= self.max_rounds
            or self.seconds >= self.limits.max_seconds
        )

    @property
    def seconds(self) -> float:
        """Time since the beginning."""
        return time.perf_counter() - self.began


@dataclass(frozen=True)
class Outcome:
    """How a generation ended."""

    point: Point
    proof: Point
    """The point whose dual proves the bound."""
    lower: float
    """Proven lower bound of the programme over all posteriors."""
    left: int
    """Nodes of the last search that were left open."""


class Programme:
    """Columns q_k with H(q_k) and H(Tq_k), kept from one parameter to the next."""

    def __init__(self, support: Support) -> None:
        self.p_x, self.p_y, self.T = support.p_x, support.p_y, support.T
        self.channel = Channel(support.T)
        self.H_y = float(entr(support.p_y).sum())
        self.Q: Array = np.empty((len(self.p_x), 0))
        self.H_q: Array = np.empty(0)
        self.H_u: Array = np.empty(0)
        # Single letters make Z = X, p_x itself the release that says nothing: every cap can be met.
        self.add(np.column_stack([np.eye(len(self.p_x)), self.p_x / self.p_x.sum()]))

    def add(self, Q: Array) -> None:
        """More columns; each is normalised."""
        Q = np.maximum(Q, 0.0)
        Q = Q / Q.sum(axis=0)
        self.Q = np.column_stack([self.Q, Q])
        self.H_q = np.append(self.H_q, entr(Q).sum(axis=0))
        self.H_u = np.append(self.H_u, entr(self.T @ Q).sum(axis=0))

    def trim(self, point: Point) -> None:
        """Once there are many columns, keep the first ones and those of least reduced cost."""
        first = len(self.p_x) + 1
        if self.Q.shape[1] <= 40 * first + 1000:
            return
        order = np.argsort(self.reduced(point.lam, point.beta)[first:], kind="stable")
        keep = np.append(np.arange(first), first + np.sort(order[: 10 * first + 250]))
        self.Q, self.H_q, self.H_u = np.ascontiguousarray(self.Q[:, keep]), self.H_q[keep], self.H_u[keep]

    def reduced(self, lam: Array, beta: float) -> Array:
        """G at every column."""
        costs: Array = self.H_q - beta * self.H_u - lam @ self.Q
        return costs

    def at_beta(self, beta: float) -> Point:
        """The programme for a given beta."""
        costs = self.H_q - beta * self.H_u
        weights, lam, _ = linear_programme(self.Q, costs, self.p_x)
        return self._point(weights, lam, costs, beta, 0.0)

    def at_leakage(self, eps: float) -> Point:
        """The programme with I(Y;Z) <= eps."""
        # As sum_k p_k D(Tq_k || p_y) <= eps, in units of eps: nothing cancels, and beta times HiGHS's tolerance stays small. Asked for a
        # little less than eps, that tolerance does not lead above the cap, where it would cost more to come back from.
        unit = max(eps, SMALLEST_UNIT)
        log_p_y = np.log(self.p_y)
        leakage = -self.H_u - log_p_y @ (self.T @ self.Q)
        cap = (-leakage / unit, -eps / unit + min(3.0 * TIGHTEST, 0.5 * eps / unit))
        weights, lam, dual = linear_programme(self.Q, self.H_q, self.p_x, cap)
        beta = dual / unit
        lam = lam + beta * (log_p_y @ self.T)
        return self._point(weights, lam, self.H_q - beta * self.H_u, beta, beta * (self.H_y - eps))

    def _point(self, weights: Array, lam: Array, costs: Array, beta: float, constant: float) -> Point:
        lam = repaired(lam, self.Q, costs, self.p_x)
        return Point(weights, lam, beta, math.fsum(lam * self.p_x) + constant)

    def rounding(self, lam: Array, beta: float) -> float:
        """What the dual value, and the entropies that turn it into a loss, may be off by."""
        n, m = len(self.p_x), len(self.T)
        return (n + m + 16) * EPS * (1.0 + math.log(n) + beta * (1.0 + math.log(m)) + float(np.abs(lam).max()))


def linear_programme(
    Q: Array, costs: Array, p_x: Array, cap: tuple[Array, float] | None = None
) -> tuple[Array, Array, float]:
    """Minimise costs.p subject to Qp = p_x, p >= 0 and, for cap = (row, least), row.p >= least: p, lambda, and the row's dual value."""
    from scipy.optimize import linprog  # slow to import: paid by the first programme

    # In units of what a column can carry at most, and of p_x, every entry is an encoder's: in [0, 1], however small a letter.
    with np.errstate(divide="ignore"):
        most = (p_x[:, None] / Q).min(axis=0)
    row = {} if cap is None else {"A_ub": -(cap[0] * most)[None], "b_ub": [-cap[1]]}
    for tolerance in (TIGHTEST, 1e-8):
        found = linprog(
            costs * most,
            A_eq=Q * most / p_x[:, None],
            b_eq=np.ones(len(p_x)),
            **row,
            method="highs",
            options={"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance},
        )
        if found.x is not None and found.eqlin.marginals is not None:
            dual = 0.0 if cap is None else max(-float(found.ineqlin.marginals[0]), 0.0)
            return np.maximum(found.x, 0.0) * most, found.eqlin.marginals / p_x, dual
    raise InfoplaneError(
        f"HiGHS did not solve the linear programme over {len(most)} posteriors: {found.message} Letters of tiny mass make it hard: "
        "group them."
    )


def repaired(lam: Array, Q: Array, costs: Array, p_x: Array) -> Array:
    """HiGHS's lambda, lowered where that costs least until no column has costs < lambda.q."""
    lam = lam.copy()
    for k in np.flatnonzero(costs - lam @ Q < 0.0):
        short = costs[k] - lam @ Q[:, k]
        if short < 0.0:
            with np.errstate(divide="ignore"):
                x = int((p_x / Q[:, k]).argmin())
            lam[x] += short / Q[x, k]
    return lam


def encoder_of(Q: Array, weights: Array) -> Array:
    """p(z|x) = p_k q_k(x) / p(x); posteriors that agree to 1e-6 are one cluster."""
    kept = np.flatnonzero(weights > 0.0)
    clusters: list[tuple[Array, Array]] = []
    for q, weight in zip(Q.T[kept], weights[kept], strict=True):
        for known, joint in clusters:
            if np.abs(known - q).max() < 1e-6:
                joint += weight * q
                break
        else:
            clusters.append((q, weight * q))
    W = np.array([joint for _, joint in clusters])
    encoder: Array = W / W.sum(axis=0)
    return encoder


def finish(steps: Generator[None, None, Result]) -> Result:
    """Run a piece of work to its end."""
    while True:
        try:
            next(steps)
        except StopIteration as ended:
            return ended.value  # type: ignore[no-any-return]


def generate(
    programme: Programme, master: Callable[[], Point], tol: float, meter: Meter
) -> Generator[None, None, Outcome]:
    """Add posteriors until none has g < -tol/4, proven; or until the meter says stop. Yields after every bounded piece of work."""
    floor, lower, left = max(FIRST_FLOOR, tol / 4.0), -math.inf, 0
    proof = point = master()
    while True:
        meter.rounds += 1
        new = _nearby(programme, point, floor / 10.0)
        if not new.shape[1]:
            low, left, new = yield from _priced(programme, point, floor, meter)
            low += point.dual - programme.rounding(point.lam, point.beta)
            proof, lower = (point, low) if low > lower else (proof, lower)
            if not new.shape[1]:
                if left or floor <= tol / 4.0:
                    break
                floor = max(floor / 100.0, tol / 4.0)
                continue
            moved, values = programme.channel.descend(point.lam, point.beta, new)
            new = moved[:, np.argsort(values, kind="stable")]
        programme.trim(point)
        programme.add(new)
        point = master()
        if meter.spent:
            break
        yield
    return Outcome(point, proof, lower, left)


def _nearby(programme: Programme, point: Point, tol: float) -> Array:
    """Local minima of g near the columns in use, those below -tol."""
    if point.beta <= programme.channel.concave_up_to:
        return programme.Q[:, :0]
    Q, values = programme.channel.descend(point.lam, point.beta, programme.Q[:, point.weights > 0.0])
    return Q[:, values < -tol]


def _priced(
    programme: Programme, point: Point, floor: float, meter: Meter
) -> Generator[None, None, tuple[float, int, Array]]:
    """The least g that is proven, nodes left open, and posteriors well on the way to -floor."""
    channel, lam, beta = programme.channel, point.lam, point.beta
    if beta <= channel.concave_up_to:
        low = float(programme.reduced(lam, beta)[: len(lam)].min()) - channel.error(lam, beta)[0]
        return low, 0, programme.Q[:, :0]
    search = Pricing(channel, lam, beta, -floor)
    on, before = True, meter.cells
    while on and not meter.spent:
        on = search.advance(min(BLOCK, meter.limits.max_cells - meter.cells))
        meter.cells = before + search.cells
        yield
    return search.least(), search.left, search.violating()
