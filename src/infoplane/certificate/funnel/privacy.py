"""Perfect privacy, the largest I(X;Z) with I(Y;Z) = 0, exactly; and the answer to any funnel with a constraint.

I(Y;Z) = 0 means that every posterior q_z has Tq_z = p_y. I(X;Z) = H(X) - sum_z p(z) H(q_z) with H concave, so the best q_z are vertices
of the polytope {q >= 0, Tq = p_y}, each on letters with linearly independent columns of T: finitely many, and the release is

    minimise  sum_k p_k H(q_k)    subject to  sum_k p_k q_k = p_x,  p >= 0,    q_k the vertices:

one linear programme. A vertex on letters whose columns are nearly dependent is known to a few digits only: what it may be off by is part
of the bound (`Vertices.least`). p_x itself lies in the polytope and has no zeros, so the polytope is larger than {p_x} exactly when T has
a null vector, rank(T) < |X|: then, and only then, some Z with I(X;Z) > 0 has I(Y;Z) = 0 (Berger and Yeung 1989, Rassouli and Gündüz 2020).
"""

from __future__ import annotations

import itertools
import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ...checks import whole_number
from ...encoder.encoder import EncoderView
from ...errors import InfoplaneError, InvalidOptionError
from ...formatting import counted
from ...information import Array, IntArray, bits, entr
from ...joint.joint import Support, check_joint
from ...kernels.common import EPS
from ...posterior.programme import EQUAL, encoder_of, linear_programme, repaired
from ...problem import MarkovLagrangian
from ...runtime.budget import Budget, Stopped
from ...sampling.intervals import LeakageBound, leakage_bound
from ...solution import Residuals, Run, Solution, Status, finished
from .generation import simple_bound, simple_rounding

if TYPE_CHECKING:
    from ...joint.joint import Joint


@dataclass(frozen=True, eq=False)
class ReleasedEncoder(EncoderView):
    """An encoder that answers a question about a release; it is equal to itself only."""

    solution: Solution
    """The encoder as a solution of an unconstrained problem."""

    @property
    def joint(self) -> Joint:
        """p(x, y)."""
        return self.solution.joint

    @property
    def encoder(self) -> Array:
        """p(z|x) as (|Z|, |X|)."""
        return self.solution.encoder

    @property
    def status(self) -> Status:
        """How the search ended; CERTIFIED if a gap of at most the tolerance was proven."""
        return self.solution.status

    @property
    def converged(self) -> bool:
        """Whether the status is CERTIFIED or STATIONARY."""
        return self.solution.converged

    @property
    def solver(self) -> str:
        """What found it."""
        return self.solution.solver

    @property
    def iterations(self) -> int:
        """Linear programmes solved."""
        return self.solution.iterations

    @property
    def seconds(self) -> float:
        """Time that it took."""
        return self.solution.seconds

    @property
    def residuals(self) -> Residuals:
        """As in `Solution`."""
        return self.solution.residuals


@dataclass(frozen=True, eq=False)
class ConstrainedFunnel(ReleasedEncoder):
    """An encoder that satisfies the constraint on this table, and a bound that no other such encoder exceeds; nats."""

    upper_bound: float
    """No encoder that satisfies the constraint has a larger I(X;Z)."""
    tol: float
    """Gap that counts as certified."""

    @property
    def utility(self) -> float:
        """What is maximised: I(X;Z)."""
        return self.ixz

    @property
    def gap(self) -> float:
        """upper_bound - utility: the encoder is at most this far from the best one, of any number of clusters."""
        return self.upper_bound - self.utility

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    @cached_property
    def leakage_bound(self) -> LeakageBound | None:
        """What the release may leak in the population, at 95%; None unless the joint is a table of records. See `infoplane.leakage_bound`.

        It was made from these records, and hides what chance put there: no sample supports a cap of 0.
        """
        return None if self.joint.counts is None else leakage_bound(self, self.joint)

    @property
    def about(self) -> str:
        """What the constraint is about, for whoever reads one line: this table and, if it is one of records, not the population."""
        bound = self.leakage_bound
        return "" if bound is None else f"About this table, not the population. {bound}"


MAX_BASES = 2_000_000
"""Candidate bases that are gone through by default."""

TOL = 1e-6
"""Gap in nats that counts as certified."""


class PrivacyRules(NamedTuple):
    """How perfect privacy is looked for."""

    chunk: int = 5_000
    """Bases that are solved at a time: a tenth of a second."""
    direct: int = 6
    """Vertices for each letter up to which one linear programme has them all; of more, column generation takes what it needs: on
    1,038 x 2 letters, with 200,000 vertices, it was measured to take less than a fiftieth of the memory."""
    each: int = 2
    """Vertices for each letter, and each position in a basis, that join in one round of it."""
    negative: float = 1e-11
    """Reduced costs that count as 0, in nats."""
    inside: float = 1e-11
    """Coordinates of a vertex, in units of what they can be at most, that count as 0."""


RULES = PrivacyRules()


@dataclass(frozen=True, eq=False)
class PerfectPrivacy(ConstrainedFunnel):
    """The encoder of largest I(X;Z) among those with I(Y;Z) = 0; nats.

    ``solution`` is the encoder as a solution of -I(X;Z), whose lower bound is valid for encoders with I(Y;Z) = 0 only.
    """

    rank: int
    """Of T = p(y|x), on letters of positive mass."""
    letters: int
    """|X|, on letters of positive mass."""
    bases: int
    """Sets of `rank` letters: candidates for a vertex."""
    vertices: int
    """Vertices of {q >= 0, Tq = p_y}."""

    @property
    def trivial(self) -> bool:
        """Whether I(Y;Z) = 0 only if I(X;Z) = 0: rank(T) = |X|."""
        return self.rank == self.letters

    def __str__(self) -> str:
        if self.trivial:
            return (
                f"only the trivial release hides Y perfectly: the {self.letters} distributions p(y|x) are linearly independent (rank "
                f"{self.rank}), so p(y|z) = p(y) forces p(x|z) = p(x)."
            )
        about = f"{self.about}.\n" if self.about else ""
        return (
            f"{about}I(X;Z) {bits(self.utility):.6f} bits with I(Y;Z) {bits(self.iyz):.1e} bits, at most "
            f"{bits(self.gap):.1e} bits below the optimum: rank {self.rank} < |X| = {self.letters}; "
            f"{self.vertices:,} vertices among {self.bases:,} candidate bases, {counted(self.clusters, 'cluster')}"
        )


def perfect_privacy(joint: Joint, *, max_bases: int = MAX_BASES) -> PerfectPrivacy:
    """The largest I(X;Z) with I(Y;Z) = 0, by one linear programme over the vertices of {q >= 0, Tq = p_y}.

    Parameters
    ----------
    joint
        p(x, y).
    max_bases
        Largest number of candidate bases, C(|X|, rank), to go through; if there are more, nothing is begun.

    Returns
    -------
    PerfectPrivacy
        Answers like a `Solution` (``encoder``, ``ixz``, ``iyz``, ``encoder_frame()``, ``status``, ...), with ``upper_bound`` and ``gap``.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.perfect_privacy(ip.Joint.from_counts([[2, 1], [1, 2], [1, 1], [2, 2]]))
    >>> found.trivial, found.vertices, round(found.utility, 6)
    (False, 3, 1.011404)
    >>> ip.perfect_privacy(ip.datasets.paper_uniform()).trivial
    True
    """
    began = time.perf_counter()
    check_joint(joint)
    max_bases = whole_number("max_bases", max_bases)
    support = Support(joint)
    n, polytope = len(support.p_x), Polytope(support)
    if polytope.bases > max_bases:
        raise InvalidOptionError(
            f"perfect privacy goes through all sets of rank(T) = {polytope.rank} of {n} letters, {polytope.bases:.3g} of them, more than "
            f"max_bases = {max_bases:,}. Group letters of X or of Y, raise max_bases, or take funnel_at_leakage with a small cap."
        )
    return _proven(support, polytope, polytope.release(Budget()), began)


def _proven(support: Support, polytope: Polytope, released: Released, began: float) -> PerfectPrivacy:
    """The best release on all vertices, with what its multipliers prove of every other."""
    rounding = simple_rounding(support, 1.0)
    upper = float(entr(support.p_x).sum()) - math.fsum(released.lam * support.p_x) - released.least + rounding
    upper = min(upper, rounding - simple_bound(support, 1.0))
    problem = MarkovLagrangian(-1.0, 1.0, 0.0, "perfect privacy")
    run = Run(
        encoder=encoder_of(released.Q, released.weights),
        status=Status.STALLED,  # unless the bound proves more, below
        iterations=1,
        residuals=Residuals(0.0, 0.0, 0.0),
        found_by="columns",
    )
    solution = finished(support, problem, run, seconds=time.perf_counter() - began).bounded(-upper, TOL)
    return PerfectPrivacy(solution, upper, TOL, polytope.rank, len(support.p_x), polytope.bases, polytope.vertices)


def private_release(support: Support, budget: Budget) -> PerfectPrivacy | None:
    """Perfect privacy with its proof; None if it is trivial, or if its candidate bases cannot all be gone through within the budget."""
    began, polytope = time.perf_counter(), Polytope(support)
    if polytope.rank == len(support.p_x) or polytope.bases > MAX_BASES:
        return None
    try:
        released = polytope.release(budget)
    except (InfoplaneError, Stopped):
        return None
    return None if budget.over else _proven(support, polytope, released, began)


def private_encoder(support: Support, max_bases: int, budget: Budget | None = None) -> Array | None:
    """The encoder of perfect privacy, where a funnel of large beta ends; None if it is trivial, or has more candidate bases than that.

    Within a budget it is the best release on the vertices met by its end; None if nobody waits for that, too.
    """
    polytope = Polytope(support)
    if polytope.rank == len(support.p_x) or polytope.bases > max_bases:
        return None
    try:
        released = polytope.release(budget or Budget())
    except (InfoplaneError, Stopped):
        return None
    return encoder_of(released.Q, released.weights)


class Released(NamedTuple):
    """The best release on the vertices that were met."""

    Q: Array
    """p_x and vertices, as columns."""
    weights: Array
    lam: Array
    """Its multipliers,"""
    least: float
    """and what H(q) - lambda.q is nowhere below, on any vertex."""


class Polytope:
    """{q >= 0, Tq = p_y}."""

    def __init__(self, support: Support) -> None:
        self.p_x = support.p_x
        # Tq = p_y reads sum_x p(x|y) q_x / p(x) = 1 for every y; columns are scaled to a largest entry of 1, for letters of small mass.
        self.unit = support.K.max(axis=1)
        self.N = support.K.T / self.unit
        self.left, sigma, _ = np.linalg.svd(self.N, full_matrices=False)
        self.rank = int((sigma > EQUAL * sigma[0]).sum())
        """Of T."""
        self.bases = math.comb(len(self.p_x), self.rank)
        """Sets of so many letters: candidates for a vertex."""
        self.vertices = 1
        """Those that a release has met."""

    def release(self, budget: Budget) -> Released:
        """The best release on p_x and the vertices met within the budget."""
        # p_x is not a vertex unless it is the only one; with it among the columns the programme always has a solution.
        first = (self.p_x / self.p_x.sum())[:, None]
        if self.rank == len(self.p_x):
            return _mixture(first, self.p_x, budget)
        vertices, doubtful = self.met(budget)
        found = _generated(first, vertices, self.p_x, budget)
        least = min(found.least, vertices.least(found.lam), doubtful.least(found.lam))
        return found._replace(least=least)

    def found(self, budget: Budget) -> Vertices:
        """The vertices that are met within the budget."""
        return self.met(budget)[0]

    def met(self, budget: Budget) -> tuple[Vertices, Vertices]:
        """The vertices that are met within the budget; and what may be one, or lie outside, for all that rounding leaves of it."""
        basis = self.left[:, : self.rank].T
        # Each of |Y| equations is right to a few roundings, their sums with the basis to |Y| of them.
        rounding = 4.0 * (len(self.N) + 8) * math.sqrt(len(self.N)) * EPS
        found = _vertices(basis @ self.N, basis @ np.ones(len(self.N)), rounding, budget)
        units = self.p_x / self.unit
        vertices, doubtful = (one.in_units(units) for one in found)
        self.vertices = max(len(vertices.letters), 1)
        return vertices, doubtful


class Vertices(NamedTuple):
    """Many posteriors on few letters each: a row of `letters` are those of a vertex, that of `masses` what it has there."""

    letters: IntArray
    masses: Array
    off: Array
    """What each mass may be off by."""

    def in_units(self, units: Array) -> Vertices:
        """Of masses in units of each letter, as distributions."""
        masses, off = self.masses * units[self.letters], self.off * units[self.letters]
        total = masses.sum(axis=1, keepdims=True)
        masses = masses / total
        return Vertices(self.letters, masses, (off + masses * off.sum(axis=1, keepdims=True)) / total)

    def of(self, which: Any) -> Vertices:
        """Some of them."""
        return Vertices(self.letters[which], self.masses[which], self.off[which])

    def columns(self, chosen: IntArray, n: int) -> Array:
        """Some of them as columns over n letters."""
        Q = np.zeros((n, len(chosen)))
        np.add.at(Q, (self.letters[chosen], np.arange(len(chosen))[:, None]), self.masses[chosen])
        return Q

    def reduced(self, lam: Array) -> Array:
        """H(q) - lambda.q of each."""
        costs: Array = entr(self.masses).sum(axis=1) - (lam[self.letters] * self.masses).sum(axis=1)
        return costs

    def least(self, lam: Array) -> float:
        """The least H(q) - lambda.q of the true vertices, 0 at most: |h(t) - h(m)| <= off (1 - log max(m - off, off)) if |t - m| <= off,
        h(t) = -t log t.
        """
        near = np.clip(self.masses - self.off, self.off, 1.0)
        slopes = 1.0 + np.abs(lam[self.letters]) - np.log(np.where(near > 0.0, near, 1.0))
        return float((self.reduced(lam) - (self.off * slopes).sum(axis=1)).min(initial=0.0))


def _mixture(Q: Array, p_x: Array, budget: Budget) -> Released:
    """The cheapest mixture of columns."""
    costs = entr(Q).sum(axis=0)
    weights, lam, _ = linear_programme(Q, costs, p_x, budget=budget.part(seconds=math.inf))
    return Released(Q, weights, repaired(lam, Q, costs, p_x), 0.0)


def _generated(first: Array, vertices: Vertices, p_x: Array, budget: Budget) -> Released:
    """The cheapest mixture of a first column and the vertices: of many, those of least reduced cost join until none is below 0."""
    n, count = len(p_x), len(vertices.letters)
    if count <= RULES.direct * n:
        return _mixture(np.hstack([first, vertices.columns(np.arange(count), n)]), p_x, budget)
    inside = np.zeros(count, dtype=bool)
    new, Q = _greedy(vertices, p_x), first
    while True:
        inside[new] = True
        Q = np.hstack([Q, vertices.columns(new, n)])
        found = _mixture(Q, p_x, budget)
        new = _cheapest(vertices, np.where(inside, 0.0, vertices.reduced(found.lam)), n)
        if budget.over or not len(new):
            return found


def _greedy(vertices: Vertices, p_x: Array) -> IntArray:
    """Vertices that make up p_x, those of least H first, and for every letter a few others: without them multipliers are useless.

    What is left of p_x leaks as little as p_x, so that all of it is used if all vertices are there.
    """
    left, chosen = p_x.copy(), []
    costs = entr(vertices.masses).sum(axis=1)
    for k in np.argsort(costs, kind="stable"):
        on, q = vertices.letters[k], vertices.masses[k]
        weight = min(left[x] / mass for x, mass in zip(on, q, strict=True) if mass > 0.0)
        if weight > 0.0:
            chosen.append(k)
            left[on] = np.maximum(left[on] - weight * q, 0.0)
            emptied = on[left[on] <= RULES.inside * p_x[on]]
            left[emptied] = 0.0
    return np.unique(
        np.concatenate([chosen, _cheapest(vertices, costs - costs.max() - 1.0, len(p_x))]).astype(np.int64)
    )


def _cheapest(vertices: Vertices, reduced: Array, n: int) -> IntArray:
    """For every letter the few vertices on it of least reduced cost, those below 0."""
    order = np.flatnonzero(reduced < -RULES.negative)
    order = order[np.argsort(reduced[order], kind="stable")]
    on = vertices.letters[order]
    chosen = []
    for column in on.T:
        # The rank of each vertex among those with the same letter here, cheapest first.
        by_letter = np.argsort(column, kind="stable")
        ends = np.searchsorted(column[by_letter], np.arange(n))
        rank = np.empty(len(column), dtype=np.int64)
        rank[by_letter] = np.arange(len(column)) - ends[column[by_letter]]
        chosen.append(order[rank < RULES.each])
    return np.unique(np.concatenate(chosen)) if chosen else order


def _vertices(A: Array, b: Array, rounding: float, budget: Budget) -> tuple[Vertices, Vertices]:
    """The vertices of {s >= 0, As = b} that are met within a budget; and bases whose s may be one, or lie outside of it.

    Errors of A, b and As = b are errors of s that are larger by 1 / sigma, the least singular value of the basis.
    """
    rank, n = A.shape
    candidates = itertools.combinations(range(n), rank)
    seen: set[tuple[int, ...]] = set()
    none = Vertices(np.empty((0, rank), dtype=np.int64), np.empty((0, rank)), np.empty((0, rank)))
    found, doubtful = [none], [none]
    while chunk := list(itertools.islice(candidates, RULES.chunk)):
        basis = np.array(chunk)
        square = A[:, basis].transpose(1, 0, 2)
        singular = np.linalg.svd(square, compute_uv=False)
        regular = singular[:, -1] > EQUAL * singular[:, 0]
        basis, square, sigma = basis[regular], square[regular], singular[regular, -1:]
        q = np.linalg.solve(square, np.broadcast_to(b[:, None], (*square.shape[:2], 1)))[..., 0]
        missed = np.linalg.norm(np.matmul(square, q[..., None])[..., 0] - b, axis=1)[:, None]
        off = (missed + rounding * (1.0 + np.abs(q).sum(axis=1, keepdims=True))) / sigma
        kept = np.where(q > RULES.inside, q, 0.0)
        all_met = Vertices(basis, kept, off + np.abs(q - kept))
        inside = (q >= -RULES.inside).all(axis=1)
        doubtful.append(all_met.of(~inside & (q >= -off).all(axis=1) & (kept > 0.0).any(axis=1)))
        # A degenerate vertex belongs to several bases; the letters where it is positive identify it.
        names = {k: tuple(basis[k][kept[k] > 0.0].tolist()) for k in np.flatnonzero(inside)}
        first = {name: k for k, name in reversed(names.items()) if name not in seen}
        seen.update(first)
        found.append(all_met.of(sorted(first.values())))
        if budget.over:
            break
    vertices, others = (Vertices(*map(np.vstack, zip(*some, strict=True))) for some in (found, doubtful))
    return vertices, others
