"""Nothing of a secret: the largest I(U;Z) with I(S;Z) = 0, over posteriors with T_s q = p_s.

    minimise  sum_k p_k H(T_u q_k)    subject to  sum_k p_k q_k = p_x,  p >= 0,    q_k in {q >= 0, T_s q = p_s}

H(T_u q) - lambda.q is concave, so that vertices of that polytope suffice, and any lambda proves

    keep I(U;Z) <= keep H(U) - lambda.p_x - min over vertices of (keep H(T_u q) - lambda.q).

Of a binary secret they are letters with p(s|x) = p(s), and pairs of letters on either side of it, q = (d_y e_x + d_x e_y) / (d_x + d_y),
d = |p(s|x) - p(s)|: in units of p(x) d the programme is a transport problem, with cost (1/d_x + 1/d_y) H(T_u q). Of any other secret
all vertices are gone through if they are few (`certificate/funnel/privacy`), else those that linear programmes lead to, since the tangent
of H at T_u q lies above it, and the bound is proven by boxes of u whose multipliers a hold T_s q at p_s (`boxes`).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from ...errors import InfoplaneError
from ...information import Array, entr
from ...joint.joint import Joint, Support
from ...joint.tables import dense
from ...kernels.common import UNIT
from ...posterior.programme import encoder_of, linear_programme, repaired
from ...posterior.task_form import TaskColumns, TaskForm, edges, lowest_apart
from ...runtime.budget import Budget, Stopped
from ..challenge import disproven
from ..funnel.privacy import Polytope
from .boxes import Asked, box_bound, search_boxes


class PrivateEffort(NamedTuple):
    """How hard releases that tell nothing are looked for."""

    most_pairs: int = 16_000_000
    """Pairs of letters whose costs are in memory, for a binary secret: 128 MB a table."""
    transports: int = 60
    """Most times that columns are added to its transport."""
    partners: int = 4
    """Cheapest partners of every letter, on the other side, to begin with."""
    new_pairs: int = 6_000
    """Columns that a round of it adds, at most."""
    most_bases: int = 50_000
    """Candidate bases up to which all vertices are gone through: some seconds."""
    late: float = 0.5
    """Share of the time after which every round proves what it can, though posteriors are missing still."""
    rounds: int = 200
    """Programmes over the present columns."""
    first_floor: float = 1e-2
    """Nats to which the first search proves; later ones prove more."""
    beginnings: int = 60
    """Posteriors from which programmes look for lower ones in a round: a few milliseconds each."""
    taken_apart: int = 2
    """Times that p_x is taken apart, vertex by vertex, to begin with."""
    new: int = 200
    """Columns that a round adds, at most."""
    tangents: int = 6
    """Programmes from one beginning, each with the tangent at the answer of the last."""


EFFORT = PrivateEffort()


class PrivateRelease(NamedTuple):
    """An encoder with I(S;Z) = 0 and a bound that none exceeds; nats."""

    encoder: Array
    """Of the classes."""
    upper: float
    """Of I(U;Z)."""
    lam: Array
    posteriors: Any
    """Of which it is a mixture, before those that say the same were joined, of a binary secret sparse: columns for every cap."""
    rounds: int


class Sides:
    """The letters on the two sides of p(s), and those on it; a letter that rounding leaves undecided is on both sides."""

    def __init__(self, form: TaskForm) -> None:
        s = form.T_s[-1]
        away = s - float(s @ form.p_x)
        self.off = 8.0 * (len(form.p_x) + len(form.T_s) + 24.0) * UNIT
        """More than what rounding does to a distance."""
        self.above, self.below = np.flatnonzero(away > -self.off), np.flatnonzero(away < self.off)
        self.on = np.flatnonzero(np.abs(away) <= self.off)
        self.d = np.abs(away)


def private_release(form: TaskForm, tol: float, budget: Budget) -> PrivateRelease:
    """The release, and its bound; S has two letters."""
    sides = Sides(form)
    x, y = sides.above, sides.below
    d_x, d_y = sides.d[x][:, None], sides.d[y][None]
    total = np.maximum(d_x + d_y, 1e-300)
    t = d_x / total
    # t is off by no more than this; the cost is concave in t, so that its least value nearby is at an end.
    wide = np.minimum(2.0 * sides.off / total, 1.0)
    costs = _entropies(form, x, y, t)
    ends = [np.clip(t - wide, 0.0, 1.0), np.clip(t + wide, 0.0, 1.0)]
    least_costs = [_entropies(form, x, y, end) for end in ends]
    n, on = len(form.p_x), sides.on
    columns = TaskColumns(form, edges(n, on, on, np.zeros(len(on))))
    usable = (d_x > sides.off) & (d_y > sides.off)
    chosen = _first(costs / np.where(usable, d_x * d_y, 1.0) * total, usable, form, sides)
    best: tuple[float, Array] = (math.inf, np.zeros(len(form.p_x)))
    h_u, h_s = (math.fsum(entr(T @ form.p_x).tolist()) for T in (form.T_u, form.T_s))
    known = np.zeros(costs.shape, dtype=bool)
    for rounds in range(1, EFFORT.transports + 1):  # noqa: B007
        rows, others = np.nonzero(chosen & ~known)
        columns.add(edges(n, x[rows], y[others], t[rows, others]))
        known |= chosen
        found = columns.solve()
        # The programme's costs are less by hide H(S), the same for all.
        lam = found.lam + form.hide * h_s
        reduced = np.minimum(
            *(
                form.keep * h - (1.0 - end) * lam[x][:, None] - end * lam[y][None]
                for h, end in zip(least_costs, ends, strict=True)
            )
        )
        single = form.keep * entr(form.T_u[:, on]).sum(axis=0) - lam[on]
        least = min(float(reduced.min(initial=math.inf)), float(single.min(initial=math.inf)))
        upper = _upper(form, h_u, lam, least)
        best = min(best, (upper, lam), key=lambda one: one[0])
        value = h_u - float(found.weights @ entr(form.T_u @ columns.Q).sum(axis=0))
        if best[0] - value <= tol or budget.over:
            break
        violated = np.where(usable & ~known, reduced, math.inf)
        count = min(EFFORT.new_pairs, int((violated < 0.0).sum()))
        if not count:
            break
        chosen = violated <= np.partition(violated.ravel(), count - 1)[count - 1]
    used = columns.Q[:, np.flatnonzero(found.weights > 0.0)]
    return PrivateRelease(columns.encoder(found), *best, used, rounds)


def _upper(form: TaskForm, h_u: float, lam: Array, least: float) -> float:
    """The bound of I(U;Z), rounded up."""
    size = form.keep * (h_u + 1.0) * len(form.T_u) + float(np.abs(lam).max()) + abs(least)
    off = 8.0 * (len(form.whole.p_x) + len(form.T_u) + 400.0) * UNIT * size
    return (form.keep * h_u - math.fsum((lam * form.p_x).tolist()) - least + off) / form.keep


def _entropies(form: TaskForm, x: Any, y: Any, t: Array) -> Array:
    """H(T_u q) of every pair."""
    found = np.zeros(t.shape)
    for row in form.T_u:
        found += entr((1.0 - t) * row[x][:, None] + t * row[y][None])
    return found


def _first(costs: Array, usable: Array, form: TaskForm, sides: Sides) -> Array:
    """Pairs to begin with: the cheapest partners of every letter, and a feasible plan in the order of the first letter of U."""
    chosen = np.zeros(costs.shape, dtype=bool)
    if not costs.size:
        return chosen
    order = np.where(usable, costs, math.inf)
    few = min(EFFORT.partners, *costs.shape)
    chosen[np.argsort(order, axis=0)[:few], np.arange(costs.shape[1])] = True
    chosen[np.arange(costs.shape[0])[:, None], np.argsort(order, axis=1)[:, :few]] = True
    # That plan gives each letter what its mass reaches of the other side, both in this order: a pair for every end of a mass.
    x, y = (side[np.argsort(form.T_u[0, side], kind="stable")] for side in (sides.above, sides.below))
    ends = [np.cumsum((form.p_x * sides.d)[side]) for side in (x, y)]
    i, j = (np.minimum(np.searchsorted(end, np.concatenate(ends)), len(end) - 1) for end in ends)
    chosen[np.searchsorted(sides.above, x[i]), np.searchsorted(sides.below, y[j])] = True
    return np.asarray(chosen & usable)


class Silent:
    """Posteriors that tell nothing of S, and the lowest of them."""

    def __init__(self, form: TaskForm, budget: Budget) -> None:
        self.form, self.T = form, form.T_u
        polytope = Polytope(Support(Joint.from_counts((form.T_s * form.p_x).T)))
        basis = polytope.left[:, : polytope.rank].T
        # In units of what each letter can have at most, as there.
        self.unit = polytope.p_x / polytope.unit
        self.A, self.b = basis @ polytope.N, basis @ np.ones(len(polytope.N))
        self.vertices: Array | None = None
        if polytope.bases <= EFFORT.most_bases:
            found = polytope.found(budget)
            self.vertices = found.columns(np.arange(len(found.letters)), len(form.p_x))
        self.rng = np.random.default_rng(0)

    def vertex(self, slope: Array) -> Array | None:
        """A vertex with the least slope.q."""
        from scipy.optimize import linprog

        found = linprog(
            slope * self.unit, A_eq=self.A, b_eq=self.b, method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        ).x  # fmt: skip
        if found is None:
            return None
        on = np.flatnonzero(found > 1e-10)
        masses = np.linalg.lstsq(self.A[:, on], self.b, rcond=None)[0]  # HiGHS is right to ten digits, this to all
        if not masses.min() >= 0.0 or np.abs(self.A[:, on] @ masses - self.b).max() > 1e-13:
            return None
        q = np.zeros(len(slope))
        q[on] = masses * self.unit[on]
        return np.asarray(q / q.sum())

    def lowered(self, lam: Array, u: Array) -> Array | None:
        """A vertex with low H(T_u q) - lambda.q, from the tangent at u on; None if no programme is solved, or all vertices are known."""
        best, q = math.inf, None
        for _ in range(EFFORT.tangents if self.vertices is None else 0):
            one = self.vertex(-self.form.keep * (np.log(np.maximum(u, 1e-9)) @ self.T) - lam)
            if one is None:
                break
            u, value = self.T @ one, float(self.form.f(one) - lam @ one)
            if value >= best - 1e-12:
                break
            best, q = value, one
        return q

    def first(self) -> Array:
        """p_x, and vertices that it is made of: taken off one by one, each of which uses a letter up."""
        p_x = self.form.p_x / self.form.p_x.sum()
        found = [p_x]
        for _ in range(EFFORT.taken_apart if self.vertices is None else 0):
            rest = p_x.copy()
            while (rest > 0.0).any():
                x = self.rng.choice(np.flatnonzero(rest > 0.0))
                slope = -np.log(np.maximum(self.T[:, x], 1e-3)) @ self.T
                slope = np.where(rest > 0.0, slope - slope.min(), 1e6)
                slope[x] -= 20.0
                q = self.vertex(slope)
                if q is None or (q[rest == 0.0] > 0.0).any():
                    break
                on = q > 0.0
                found.append(q)
                rest[on] -= (rest[on] / q[on]).min() * q[on]
                rest[rest < 1e-13] = 0.0
        return np.column_stack(found)

    def missing(self, lam: Array, Q: Array, below: float) -> Array:
        """Vertices with keep H(T_u q) - lambda.q below, lowest first; from the columns of Q, and anywhere, unless all are known."""
        V = self.vertices
        if V is None:
            chosen = self.rng.permutation(Q.shape[1])[: EFFORT.beginnings]
            begun = [*(self.T @ Q[:, chosen]).T, *self.rng.dirichlet(np.ones(len(self.T)), EFFORT.beginnings // 4)]
            ends = [q for u in begun if (q := self.lowered(lam, u)) is not None]
            V = np.column_stack([np.empty((len(lam), 0)), *ends])
        return lowest_apart(V, self.form.f(V) - lam @ V, EFFORT.new, below)


def private_columns(form: TaskForm, tol: float, budget: Budget) -> PrivateRelease:
    """The release, and its bound, as far as the budget goes; a constant Z has both at worst."""
    hidden = form.at(0.0)
    silent = Silent(hidden, budget)
    Q = silent.first()
    h_u = math.fsum(entr(form.T_u @ form.p_x).tolist())
    centred = Asked(hidden, np.zeros(len(form.p_x)), private=True).secret[0]
    floor, upper = EFFORT.first_floor if silent.vertices is None else 0.4 * tol, math.inf
    weights: Array = np.ones(1)
    best: Array = np.zeros(len(form.p_x))
    for rounds in range(1, EFFORT.rounds + 1):  # noqa: B007
        costs = hidden.f(Q)
        try:
            found = linear_programme(Q, costs, form.p_x, budget=budget)
        except (InfoplaneError, Stopped):
            break
        weights = found.weights
        # lambda is free up to a.(T_s - p_s): the flattest is easiest to prove.
        root = np.sqrt(form.p_x)
        lam = found.lam - np.linalg.lstsq((centred * root).T, found.lam * root, rcond=None)[0] @ centred
        lam = repaired(lam, Q, costs, form.p_x)
        value = form.keep * h_u - float(weights @ costs)
        new = silent.missing(lam, Q[:, weights > 0.0], -0.25 * floor)
        late = budget.seconds_spent > EFFORT.late * budget.seconds
        if not new.shape[1] or late:
            # Lowered until nothing that was met lies below.
            low = lam + float((hidden.f(new) - lam @ new).min(initial=0.0))
            asked = Asked(hidden, low, private=True)
            searched = search_boxes(asked, floor, budget, lambda q: silent.lowered(lam, form.T_u @ q), late)  # noqa: B023
            bound = -box_bound(hidden, low, searched.least)
            if bound < upper:
                upper, best = bound, low
            new = np.column_stack([new, *searched.violating])
            if upper - value <= tol or budget.over or (not new.shape[1] and (searched.left or floor <= 0.4 * tol)):
                break
            floor = max(min(floor / (1.0 if new.shape[1] else 30.0), (upper - value) / 50.0), 0.4 * tol)
        Q, weights = np.column_stack([Q, new]), np.append(weights, np.zeros(new.shape[1]))
    return upheld_release(silent, PrivateRelease(encoder_of(Q, weights), upper / form.keep, best, Q, rounds))


def upheld_release(silent: Silent, release: PrivateRelease) -> PrivateRelease:
    """The release; without a bound if a posterior that tells nothing contradicts it."""
    form, lam = silent.form, release.lam
    claim = form.keep * (float(entr(form.T_u @ form.p_x).sum()) - release.upper) - float(lam @ form.p_x)
    below = claim - 1e-12 * (1.0 + float(np.abs(lam).max()))
    if not math.isfinite(claim) or not silent.missing(lam, dense(release.posteriors), below).shape[1]:
        return release
    disproven(f"keep H(T_u q) - lambda.q >= {claim:.3e} was claimed, and a posterior below it tells nothing")
    return release._replace(upper=math.inf)


def private_posteriors(form: TaskForm, tol: float, budget: Budget) -> PrivateRelease | None:
    """The release of a binary secret, by transport, if there are not too many pairs; else None."""
    sides = Sides(form)
    if len(form.T_s) > 2 or len(sides.above) * len(sides.below) > EFFORT.most_pairs:
        return None
    try:
        return upheld_release(Silent(form.at(0.0), budget.part(seconds=math.inf)), private_release(form, tol, budget))
    except (InfoplaneError, Stopped):
        return None
