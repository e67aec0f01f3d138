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
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple, TypeVar

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, entr
from ...joint.support import Support
from ...kernels.funnel_proof.search import WORTH
from ..certificate import Limits
from .pricing import EPS, Channel, Pricing

Result = TypeVar("Result")

PIECE = 0.1
"""Seconds, about, between two looks at the clock and at the caller."""

FIRST_FLOOR = 0.1
"""Pricing is done to this tolerance first,"""

STAGE, QUICK_STAGE, QUICK_SIZE = 30.0, 1000.0, 300
"""then to one so many times finer, and so on: an early bound, and early columns, cost little; |X| rank(T) up to which few stages do."""

RESOLVED = 16.0
"""Tolerances are not made finer than so many times the rounding of a bound, which matters for a beta of 1e6 and more."""

FEW = 10
"""Where local descent brings fewer than one column for so many letters, posteriors are grown as well."""

GROWN = 64
"""Posteriors that are grown between two looks at the caller."""

TIGHTEST = 1e-10
"""HiGHS's smallest tolerances."""

Method = Literal["highs", "highs-ds", "highs-ipm"]

ATTEMPTS: tuple[tuple[Method, float], ...] = (
    ("highs", TIGHTEST),
    ("highs", 1e-8),
    ("highs-ipm", 1e-8),
    ("highs-ds", 1e-7),
)
"""Method and tolerance of each attempt at a linear programme."""

FIRST_BLOCK = 64
"""Cells before the first look."""

PLAIN_BETA = 16.0
"""The slope that stands for the frontier's at a cap, should HiGHS give up."""

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
    solved: bool = True
    """Whether HiGHS found an optimum; if not, the release is a plain one, and the prices hold all the same."""

    def lowered(self, p_x: Array, by: float) -> Point:
        """With every lambda_x lowered by the same cost p_x: lambda.p_x falls by `by`.

        What a posterior on rare letters could win is little, however low its g: here it hardly counts.
        """
        fall = by / (len(p_x) * p_x)
        return replace(self, lam=self.lam - fall, dual=self.dual - by)


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
    """Cells of the last search that were left open; 1 if none was begun."""
    floor: float = math.inf
    """The tolerance that was proven."""


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

    def trim(self, point: Point) -> Point:
        """Once there are many columns, keep the first ones and those of least reduced cost; the point on what is left."""
        first = len(self.p_x) + 1
        if self.Q.shape[1] <= 6 * first + 500:
            return point
        cost = self.reduced(point.lam, point.beta)[first:]
        cost[point.weights[first:] > 0.0] = -np.inf
        order = np.argsort(cost, kind="stable")
        keep = np.append(np.arange(first), first + np.sort(order[: 3 * first + 250]))
        self.Q, self.H_q, self.H_u = np.ascontiguousarray(self.Q[:, keep]), self.H_q[keep], self.H_u[keep]
        return replace(point, weights=point.weights[keep])

    def reduced(self, lam: Array, beta: float) -> Array:
        """G at every column."""
        costs: Array = self.H_q - beta * self.H_u - lam @ self.Q
        return costs

    def at_beta(self, beta: float) -> Point:
        """The programme for a given beta."""
        costs = self.H_q - beta * self.H_u
        try:
            found = linear_programme(self.Q, costs, self.p_x)
        except InfoplaneError:
            return self._plain(beta, 0.0)
        return self._point(found.weights, found.lam, costs, beta, 0.0)

    def at_leakage(self, eps: float) -> Point:
        """The programme with I(Y;Z) <= eps."""
        # As sum_k p_k D(Tq_k || p_y) <= eps, in units of eps: nothing cancels, and beta times HiGHS's tolerance stays small. Asked for a
        # little less than eps, that tolerance does not lead above the cap, where it would cost more to come back from.
        unit = max(eps, SMALLEST_UNIT)
        log_p_y = np.log(self.p_y)
        leakage = -self.H_u - log_p_y @ (self.T @ self.Q)
        cap = (-leakage / unit, -eps / unit + min(3.0 * TIGHTEST, 0.5 * eps / unit))
        try:
            found = linear_programme(self.Q, self.H_q, self.p_x, cap)
        except InfoplaneError:
            return self._plain(PLAIN_BETA, self.H_y - eps)
        beta = found.dual / unit
        lam = found.lam + beta * (log_p_y @ self.T)
        return self._point(found.weights, lam, self.H_q - beta * self.H_u, beta, beta * (self.H_y - eps))

    def _plain(self, beta: float, allowance: float) -> Point:
        """What is known without a linear programme: the release that says nothing, or Z = X if that may be and is better, and prices."""
        n, costs = len(self.p_x), self.H_q - beta * self.H_u
        weights = np.zeros(len(costs))
        if allowance == 0.0 and costs[:n] @ self.p_x < costs[n]:
            weights[:n] = self.p_x
        else:
            weights[n] = 1.0
        return replace(self._point(weights, costs[:n], costs, beta, beta * allowance), solved=False)

    def _point(self, weights: Array, lam: Array, costs: Array, beta: float, constant: float) -> Point:
        lam = repaired(lam, self.Q, costs, self.p_x)
        return Point(weights, lam, beta, math.fsum(lam * self.p_x) + constant)

    def rounding(self, lam: Array, beta: float) -> float:
        """What the dual value, and the entropies that turn it into a loss, may be off by."""
        n, m = len(self.p_x), len(self.T)
        return (n + m + 16) * EPS * (1.0 + math.log(n) + beta * (1.0 + math.log(m)) + float(np.abs(lam).max()))


class ColumnMixture(NamedTuple):
    """An optimal basis of a linear programme over posteriors."""

    weights: Array
    """p_k."""
    lam: Array
    """Dual values of the equations."""
    dual: float
    """Dual value of the row `cap`."""


def linear_programme(Q: Array, costs: Array, p_x: Array, cap: tuple[Array, float] | None = None) -> ColumnMixture:
    """Minimise costs.p subject to Qp = p_x, p >= 0 and, for cap = (row, least), row.p >= least."""
    from scipy.optimize import linprog  # slow to import: paid by the first programme

    # In units of what a column can carry at most, and of p_x, every entry is an encoder's: in [0, 1], however small a letter. Costs of
    # 10^5 and more, from a large beta, would outgrow HiGHS's absolute tolerances: in units of the largest.
    with np.errstate(divide="ignore"):
        most = (p_x[:, None] / Q).min(axis=0)
    scaled = costs * most
    unit = max(float(np.abs(scaled).max()), 1.0)
    row = {} if cap is None else {"A_ub": -(cap[0] * most)[None], "b_ub": [-cap[1]]}
    for method, tolerance in ATTEMPTS:
        found = linprog(
            scaled / unit,
            A_eq=Q * most / p_x[:, None],
            b_eq=np.ones(len(p_x)),
            **row,
            method=method,
            options={"primal_feasibility_tolerance": tolerance, "dual_feasibility_tolerance": tolerance},
        )
        if found.x is not None and found.eqlin.marginals is not None and np.isfinite(found.eqlin.marginals).all():
            dual = 0.0 if cap is None else max(-unit * float(found.ineqlin.marginals[0]), 0.0)
            return ColumnMixture(np.maximum(found.x, 0.0) * most, unit * found.eqlin.marginals / p_x, dual)
    raise InfoplaneError(
        f"HiGHS did not solve the linear programme over {len(most)} posteriors, by {len(ATTEMPTS)} ways: {found.message} Masses p(x) here "
        f"go from {p_x.min():.1e} to {p_x.max():.1e} and costs to {np.abs(costs).max():.1e}: group rare letters, or take a smaller beta or "
        "a larger cap."
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
    """Add posteriors until none that matters has g < 0 by more than tol/4, proven; or until the meter says stop.

    Yields after every bounded piece of work. Whatever ends it, the bound holds and the point is the best mixture of all columns met.
    """
    floor, lower, left, done = max(FIRST_FLOOR, tol / 4.0), -math.inf, 1, math.inf
    proof = point = master()
    stage = QUICK_STAGE if len(programme.channel.T) * programme.channel.rank <= QUICK_SIZE else STAGE
    while not meter.spent:
        meter.rounds += 1
        # Half of what the bound may lose is spent on lambda, letter by letter, the other half on g.
        aim, low = point.lowered(programme.p_x, floor / 2.0), -floor / 2.0
        # Below the rounding of a bound nothing can be proven, whatever the search.
        finest = max(tol / 4.0, RESOLVED * programme.channel.error(aim.lam, aim.beta)[0])
        used = programme.Q[:, point.weights > 0.0]
        new = _nearby(programme, aim, used, WORTH * low)
        yield
        if FEW * new.shape[1] < len(programme.p_x):
            new = np.hstack([new, (yield from _grown(programme, aim, used, WORTH * low, meter))])
        if not new.shape[1]:
            least, left, new = yield from _priced(programme, aim, low, meter)
            least += aim.dual - programme.rounding(aim.lam, aim.beta)
            proof, lower = (aim, least) if least > lower else (proof, lower)
            if not new.shape[1]:
                if left or floor <= 1.5 * finest:
                    break
                done, floor, left = floor, max(floor / stage, finest), 1
                continue
        programme.add(new)
        following = master()
        if not following.solved:
            more = programme.Q.shape[1] - len(point.weights)
            point = replace(point, weights=np.append(point.weights, np.zeros(more)))
            break
        point = programme.trim(following)
    return Outcome(point, proof, lower, left, done)


def _nearby(programme: Programme, aim: Point, used: Array, below: float) -> Array:
    """Local minima of g near the columns in use, those with g < below."""
    if aim.beta <= programme.channel.concave_up_to:
        return used[:, :0]
    Q, values = programme.channel.descend(aim.lam, aim.beta, used)
    return Q[:, values < below]


def _grown(programme: Programme, aim: Point, used: Array, below: float, meter: Meter) -> Generator[None, None, Array]:
    """Posteriors grown from single letters and from the columns in use, those with g < below."""
    channel = programme.channel
    grown = [used[:, :0]]
    if aim.beta > channel.concave_up_to:
        seeds = channel.seeds(aim.lam, used)
        for first in range(0, len(seeds), GROWN):
            Q, values = channel.grow(aim.lam, aim.beta, seeds[first : first + GROWN])
            grown.append(Q[:, values < below])
            yield
            if meter.spent:
                break
    return np.hstack(grown)


def _priced(
    programme: Programme, aim: Point, floor: float, meter: Meter
) -> Generator[None, None, tuple[float, int, Array]]:
    """The least g that is proven, cells left open, and posteriors well on the way to the floor."""
    channel, lam, beta = programme.channel, aim.lam, aim.beta
    if beta <= channel.concave_up_to:
        low = float(programme.reduced(lam, beta)[: len(lam)].min()) - channel.error(lam, beta)[0]
        return low, 0, programme.Q[:, :0]
    if meter.spent:
        return -math.inf, 1, programme.Q[:, :0]
    search = Pricing(channel, lam, beta, floor)
    on, before, block = search.left > 0, meter.cells, FIRST_BLOCK
    meter.cells = before + search.cells
    while on and not meter.spent and (room := meter.limits.max_cells - meter.cells) > 1:
        began = time.perf_counter()
        on = search.advance(min(block, room))
        meter.cells = before + search.cells
        block = _next_block(block, time.perf_counter() - began)
        yield
    return search.least(), search.left, search.violating()


def _next_block(block: int, seconds: float) -> int:
    """Cells to bound before the next look: as many as take about `PIECE` seconds."""
    if seconds > 2.0 * PIECE:
        return max(block // 2, 2)
    return 2 * block if seconds < 0.5 * PIECE else block
