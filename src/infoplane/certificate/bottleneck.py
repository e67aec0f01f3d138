"""Lower bounds for the bottleneck that hold for every encoder.

With p(z) and posteriors q_z = p(x|z), gamma I(X;Z) - I(Y;Z) = gamma H(X) - H(Y) + sum_z p(z) f(q_z), f(q) = H(Tq) - gamma H(q), and
sum_z p(z) q_z = p_x. So if lambda.q + m <= f(q) for all q, every encoder has

    L(W)  >=  gamma H(X) - H(Y) + lambda.p_x + m.

lambda comes in closed form from a mixture of decoders (`posterior/form.py`), m from branch and bound over boxes of the Y-simplex
(compiled, see `kernels/bottleneck_proof`); where a box shows f(q) < lambda.q, that q becomes a new cluster and lambda is found again.

What always holds, whatever |Y| is, is contraction, and both ends of the curve:

    I(Y;Z) <= eta I(X;Z),   I(Y;Z) <= I(X;Y)   =>   gamma I(X;Z) - I(Y;Z) >= -max(0, 1 - gamma/eta) I(X;Y)

eta is Dobrushin's coefficient max_{x,x'} TV(p(y|x), p(y|x')), which bounds the strong data-processing constant of Kullback-Leibler
divergence from above (proof: docs/explanation/certificates.md). The squared maximal correlation bounds it from below: no use here.

Where Y has many letters, problems with few bound it: its letters are merged into groups Y' = g(Y). Y' is a function of Y, and
Y -> X -> Z. So I(X;Z) = I(Y';Z) + I(X;Z|Y') and I(Y;Z) = I(Y';Z) + I(Y;Z|Y'), and for any share 0 <= s <= gamma

    gamma I(X;Z) - I(Y;Z)  =  [(gamma - s) I(X;Z) - (1 - s) I(Y';Z)]  +  sum_y' p(y') [s I(X;Z|y') - I(Y;Z|y')]
                           >=  (1 - s) L*_{Y'}((gamma - s) / (1 - s))  +  sum_y' p(y') L*_{y'}(s),

where L*_{Y'} is the optimum of the bottleneck of X and Y', and L*_{y'} that of X and Y given Y' = y': chains like any other, with few
letters each. Both terms are concave in s; the best s is searched for with unproven values, and what is returned is proven at that s.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..formatting import counted
from ..information import Array, entr, entropy, mutual_information
from ..joint.joint import Joint, Support
from ..kernels.bottleneck_proof import envelope as kernel
from ..kernels.common import THIN, UNIT
from ..posterior.form import (
    Letters,
    Mixture,
    balance,
    climb,
    cover,
    dobrushin,
    dual_of,
    gamma_of,
    imbalance,
    lowest_posterior,
    peaks_above,
    posterior,
)
from ..problem import MarkovLagrangian, bottleneck
from ..runtime.budget import Budget


def contraction_bound(support: Support, problem: MarkovLagrangian) -> float:
    """-rho_zy max(0, 1 - gamma/eta) I(X;Y), rounded down: a lower bound of every encoder's loss, in nats."""
    gamma = -problem.rho_zx / problem.rho_zy
    n_x, n_y = support.P.shape
    off = imbalance(support, problem)
    if gamma >= 1.0:
        return -off
    eta = min(dobrushin(support.T) + 4.0 * (n_y + 4.0) * UNIT, 1.0)
    if gamma >= eta:
        return -off
    information = mutual_information(support.P)
    rounding = 4.0 * (n_x + n_y + 32.0) * UNIT * (information + 1.0)
    return -problem.rho_zy * (1.0 - gamma / eta) * (information + rounding) - off


class OpenBoxes:
    """Boxes that hold every Tq whose value may lie below a target, for one lambda; arrays grow as boxes are cut."""

    def __init__(self, T: Array) -> None:
        n_y = T.shape[0]
        # Entries of T are quotients, right to |Y| units; letters with equal columns were merged.
        off = 4.0 * (n_y + 24.0) * UNIT
        self.boxes = kernel.Boxes(
            low=(T.min(axis=1) * (1.0 - off))[None].copy(),
            high=np.clip(T.max(axis=1) * (1.0 + off), THIN, 1.0)[None].copy(),
            multipliers=np.zeros((1, 2 * n_y), dtype=np.float32),
            bounds=np.full(1, -np.inf),
            letters=np.zeros(1, dtype=np.int16),
            points=np.zeros(1),
            heap=np.zeros(1, dtype=np.int64),
            spare=np.zeros(1, dtype=np.int64),
            counts=np.zeros(5, dtype=np.int64),
            levels=np.full(2, np.inf),
            lowest=np.full(n_y, 1.0 / n_y),
        )

    @property
    def left(self) -> int:
        """Boxes that are still open."""
        return int(self.boxes.counts[kernel.OPEN])

    @property
    def cuts(self) -> int:
        """Boxes that were ever cut in two."""
        return int(self.boxes.counts[kernel.CUTS])

    @property
    def disputed(self) -> int:
        """Claims of the search that a second computation did not confirm."""
        return int(self.boxes.counts[kernel.DISPUTED])

    @property
    def least(self) -> float:
        """Proven lower bound of f(q) - lambda.q over all q, once the first box has been weighed."""
        lowest = float(self.boxes.levels[kernel.CLOSED])
        return min(lowest, float(self.boxes.bounds[self.boxes.heap[0]])) if self.left else lowest

    @property
    def met(self) -> float:
        """The lowest value of f(q) - lambda.q met."""
        return float(self.boxes.levels[kernel.LOWEST])

    def grow(self, cuts: int) -> None:
        """Room for so many cuts more."""
        rows = max(int(self.boxes.counts[kernel.ROWS]), 1)
        if len(self.boxes.bounds) - self.boxes.counts[kernel.ROWS] >= cuts:
            return
        longer = {}
        for name in ("low", "high", "multipliers", "bounds", "letters", "points", "heap", "spare"):
            used = getattr(self.boxes, name)[:rows]
            longer[name] = np.concatenate([used, np.empty((rows // 2 + cuts, *used.shape[1:]), used.dtype)])
        self.boxes = self.boxes._replace(**longer)


class ProofRules(NamedTuple):
    """How a proof proceeds, set by `benchmarks/bench_certificate.py`."""

    finest: float = 1e-12
    """Nats that rounding lets one prove; a finer tolerance is tried for at this one."""
    first_height: float = 1e-3
    """Nats of the peaks that are expected before any is met: the first weights are found to a hundredth of it."""
    rounds: int = 60
    """Rounds of Newton's method on the mixture before branch and bound looks at what they have missed."""
    escapes: int = 40
    """Times that branch and bound may send the mixture back."""
    rounded: float = 1e-10
    """Nats by which rounding of its loss may put an encoder below its bound: a sum of 100,000 letters is right to less."""
    memory: int = 1_000_000_000
    """Bytes that the boxes may take."""
    cells_at_two: float = 49.0
    cells_a_letter: float = 1.59
    cells_a_letter_hard: float = 2.75
    """Geometric means over smooth and peaked joints and gammas from 0.05 to 0.4, and the hardest growth
    (docs/benchmarks/certificate.md)."""
    most_letters: int = 64
    """Letters of Y beyond which no box is looked at: Newton's method on 2 |Y| multipliers would take seconds for one, to no avail."""
    piece: int = 400_000
    """Entries of T, times cuts, that a piece of branch and bound may look at: some tens of milliseconds."""


RULES = ProofRules()


def assured(support: Support, problem: MarkovLagrangian, lam: Array, least: float) -> float:
    """rho_zy (gamma H(X) - H(Y) + lambda.p_x + least) for a proven least f(q) - lambda.q, rounded down by a bound of the rounding in it.

    That bound is derived in docs/explanation/certificates.md.
    """
    gamma, (n_x, n_y) = gamma_of(problem), support.P.shape
    h_x, h_y, products = entropy(support.p_x), support.h_y, (lam * support.p_x).tolist()
    of_entropies = (n_x + n_y + 24.0) * (gamma * h_x + gamma + h_y + 1.0)
    of_products = (n_y + 16.0) * math.fsum(map(abs, products))
    error = 2.0 * UNIT * (of_entropies + of_products + 4.0 * abs(least))
    total = math.fsum([gamma * h_x, -h_y, *products, least])
    return problem.rho_zy * (total - error) - imbalance(support, problem)


class Proof:
    """The search for a lower bound; what is proven so far holds at any moment.

    It begins from a mixture, that of an encoder for instance, and ends with the mixture of a global optimum unless limits end it.
    """

    def __init__(
        self, support: Support, problem: MarkovLagrangian, mixture: Mixture, tol: float, budget: Budget
    ) -> None:
        self.whole, self.problem, self.mixture, self.asked, self.budget = support, problem, mixture, tol, budget
        self.letters = Letters(support)
        self.support = self.letters.support
        """With letters of equal p(y|x) merged: what the work is done on."""
        self.gamma = gamma_of(problem)
        self.tol = max(tol / problem.rho_zy, RULES.finest)
        self.open_boxes = OpenBoxes(support.T)
        self.lower_bound = contraction_bound(support, problem)
        self.multipliers: Array | None = None
        """What branch and bound has proven its best bound with, in the problem's scale."""
        self.directly = -math.inf
        """That bound."""
        self.rounds = 0
        self.complete = False
        """Whether the bound was proven to the tolerance, not ended by a limit."""
        self.claim: tuple[Array, float] | None = None
        """The multipliers lambda of that bound, and the least f(q) - lambda.q that is claimed for them."""
        self.refuted = ""
        """Why what branch and bound has claimed is not believed; "" if nothing speaks against it."""
        self.violation: Array | None = None
        """A posterior that no cluster had when it was met and that improves on them."""

    @property
    def spent(self) -> bool:
        """Whether a limit has been reached, or the user has asked for an end."""
        return self.budget.spent or self.budget.cells_spent >= self.most_cells

    @property
    def most_cells(self) -> int:
        """The limit on cells, or what fits into memory."""
        of_one = 24 * self.support.p_y.size + 42
        return int(min(self.budget.cells, RULES.memory // of_one))

    @property
    def limit(self) -> str:
        """What ended the search before its end; "" if nothing did."""
        letters, budget = self.support.p_y.size, self.budget
        if self.refuted:
            return self.refuted
        if self.complete:
            return ""
        if letters > RULES.most_letters:
            return f"|Y| = {letters}: beyond {RULES.most_letters} letters only groups of them are searched"
        if budget.stopped:
            return "the user"
        if budget.seconds_left <= 0.0:
            return f"max_seconds = {budget.seconds:g}"
        if budget.cells_spent >= self.most_cells:
            return "memory" if self.most_cells < budget.cells else f"max_cells = {budget.cells:,}"
        return "rounding"

    def value(self) -> float:
        """J(mixture) - H(Y), in the problem's scale: no less than the optimum, no less than the loss of the mixture's encoder."""
        lam = self.mixture.multipliers(self.support, self.gamma)
        J = self.gamma * entropy(self.support.p_x) + float(lam @ self.support.p_x)
        return self.problem.rho_zy * (J - self.support.h_y)

    def estimate(self) -> None:
        """The mixture without proof: climbs from a cover of the simplex, no branch and bound."""
        deque(self._improve(cover(self.support)), maxlen=0)

    def search(self) -> None:
        """Mixture and branch and bound in turn, until the bound is proven or the budget is spent."""
        deque(self.pieces(), maxlen=0)

    def pieces(self) -> Iterator[None]:
        """The search, piece by piece: between two of them whoever asks may do something else (`prove`)."""
        if self.lower_bound >= -self.asked:  # a constant Z has L = 0
            self.mixture = Mixture(np.ones(1), self.whole.p_y[None])
            self.complete = True
            return
        new = cover(self.support)
        for _ in range(RULES.escapes):
            lam, height = yield from self._improve(new)
            if self.support.p_y.size > RULES.most_letters or self.budget.stopped:
                return
            escape = yield from self._branch(lam, min(-self.tol / 2.0, -2.0 * height))
            if escape is None:
                return
            if self.violation is None:
                self.violation = posterior(self.whole, self.gamma, self.letters.spread(lam, self.gamma), escape)
            new = escape[None]

    def _improve(self, starts: Array) -> Generator[None, None, tuple[Array, float]]:
        """Balance the mixture, add the peaks that its multipliers leave, and again; the multipliers, and the height of what is left."""
        support, gamma, tol = self.support, self.gamma, self.tol / 8.0
        new, height = starts[:0], RULES.first_height
        for _ in range(RULES.rounds):
            # Better weights than the last peaks ask for would not lead to other ones.
            close = 0.1 * max(tol, 0.1 * height) / gamma
            self.mixture = balance(support, gamma, self.mixture.joined(new), close, self.budget)
            lam = self.mixture.multipliers(support, gamma)
            new, height = peaks_above(support, gamma, lam, np.vstack([self.mixture.decoders, starts]), 0.5 * tol)
            starts = starts[:0]
            self.rounds += 1
            self.budget.tell()
            yield
            if height <= tol or self.spent:
                break
        return lam, height

    def _branch(self, lam: Array, target: float) -> Generator[None, None, Array | None]:
        """Branch and bound for one lambda; ends with a decoder that violates it, or with None once proven or at a limit."""
        open_boxes = self.open_boxes = OpenBoxes(self.support.T)
        dual = dual_of(self.support, self.gamma, lam)
        most = max(2, RULES.piece // (self.support.T.size + 200))
        whole = self.letters.spread(lam, self.gamma)
        cuts = 0
        while True:
            open_boxes.grow(cuts + 1)
            before = open_boxes.cuts
            kernel.search(dual, open_boxes.boxes, target, cuts)
            self.budget.cells_spent += open_boxes.cuts - before
            if open_boxes.disputed:
                self._retract(
                    f"{counted(open_boxes.disputed, 'claim')} of the search that a second computation did not confirm"
                )
                return None
            least = open_boxes.least - self.letters.rounding(self.gamma)
            bound = assured(self.whole, self.problem, whole, least)
            if bound > self.directly:
                self.directly, self.multipliers = bound, self.problem.rho_zy * whole
                self.claim = whole, least
            self.lower_bound = max(self.lower_bound, bound)
            if open_boxes.met < target / 2.0:
                peaks, heights = climb(self.support, self.gamma, lam, open_boxes.boxes.lowest[None].copy())
                if heights[0] > -target / 4.0:
                    return np.asarray(peaks[0])
            self.budget.tell()
            yield
            if not open_boxes.left:
                break
            if self.spent:
                return None
            cuts = min(max(2 * cuts, 2), most, self.most_cells - self.budget.cells_spent)
        self.complete = target >= -self.tol / 2.0
        return None

    def _retract(self, why: str) -> None:
        """Branch and bound has claimed something that is not so: none of its bounds stands, and the proof says why."""
        self.refuted, self.complete = why, False
        self.lower_bound = contraction_bound(self.whole, self.problem)
        self.directly, self.multipliers, self.claim = -math.inf, None, None

    def challenge(self, encoder: Array, loss: float) -> None:
        """If a loss is to be called certified: a local search over all posteriors, and one below what was claimed refutes the proof.

        It begins from the clusters of the encoder and of the mixture and from a cover of the simplex, needs nothing but the multipliers,
        and looks at letters as they are, not merged. An encoder below its own bound refutes it, too.
        """
        if loss - self.lower_bound > self.asked:
            return
        if loss < self.lower_bound - RULES.rounded:
            self._retract(f"an encoder with a loss {self.lower_bound - loss:.3g} nats below the bound")
        if self.claim is None:
            return
        lam, least = self.claim
        starts = np.vstack([Mixture.of(self.whole, encoder).decoders, self.mixture.decoders, cover(self.whole)])
        q, value = lowest_posterior(self.whole, self.gamma, lam, starts)
        n_x, n_y = self.whole.P.shape
        terms = float(np.abs(lam).max()) + self.gamma * math.log(n_x) + math.log(n_y) + 2.0
        if not value >= least - 4.0 * (n_x + n_y + 32.0) * UNIT * terms:
            self._retract(f"a posterior with f(q) - lambda.q = {value:.3g}, below the {least:.3g} that was claimed")
            self.violation = q


def estimate_cells(letters: int, hard: bool = False) -> float:
    """Cells that a proof to 1e-6 nats takes for so many letters of Y, to an order of magnitude: in the median, or for a hard joint.

    The growth that `benchmarks/bench_certificate.py` measures on random joints with 20 letters of X. One problem may take ten times as
    many, or none; gammas in the middle take most, a finer tolerance little more. Infinite, if no float is as large.
    """
    try:
        return float(
            RULES.cells_at_two * (RULES.cells_a_letter_hard if hard else RULES.cells_a_letter) ** (letters - 2)
        )
    except OverflowError:
        return math.inf


class CoarseningEffort(NamedTuple):
    """When letters of Y are grouped, and how long groups are searched, set by `benchmarks/bench_certificate.py`."""

    groups: int = 4
    widest: int = 24
    """Letters that Y' has, unless a group would have more than so many."""
    looks: int = 10
    """Steps of the search for the share s."""
    rough: float = 1e-5
    """Nats to which an estimate is made."""
    few: int = 1_000
    """Cells below which it is not worth beginning."""
    long: int = 200_000_000
    """Entries of T, times cells, of the direct search after which the coarsened bound is worth its time."""


EFFORT = CoarseningEffort()


def prove(proof: Proof) -> None:
    """The direct proof; once it is long, or half of a limit is spent, with the coarsened bound beside it.

    The highest of all bounds stands in ``proof.lower_bound``.
    """
    budget, due = proof.budget, len(proof.support.p_y) > EFFORT.groups  # else Y' would be Y
    long = EFFORT.long // (proof.support.T.size + 200)

    def beside(share: float = 0.5) -> None:
        """The coarsened bound, once, in a share of what is left."""
        nonlocal due
        cells = proof.most_cells - budget.cells_spent
        many = 2 * budget.cells_spent >= min(proof.most_cells, 2 * long)
        halfway = many or budget.seconds_spent >= 0.5 * budget.seconds
        if not due or proof.refuted or budget.stopped or not (halfway or share > 0.5):
            return
        due = False
        if cells >= EFFORT.few and budget.seconds_spent < 0.9 * budget.seconds:
            rest = budget.part(cells=cells // 2, seconds=share * budget.seconds_left)
            bound = coarsened_bound(proof.whole, proof.gamma, proof.tol, rest)
            bound = proof.problem.rho_zy * bound - imbalance(proof.whole, proof.problem)
            proof.lower_bound = max(proof.lower_bound, bound)
            budget.cells_spent += rest.cells_spent

    for _ in proof.pieces():
        beside()
    if not proof.complete:  # all of what is left, if the direct search has given up
        beside(0.95)


def groups_of(P: Array, groups: int | None = None) -> list[list[int]]:
    """Letters of Y merged greedily, the pair that costs I(X;Y) least first; no group much larger than the average.

    `EFFORT.groups` of them, or as many as it takes for none to be much larger than `EFFORT.widest`. Columns a, b of P, masses A, B, cost
    H(a + b) - H(a) - H(b) - H(A + B) + H(A) + H(B), H the sum of -t log t.
    """
    n_y = P.shape[1]
    groups = max(EFFORT.groups, math.ceil(n_y / EFFORT.widest)) if groups is None else groups
    most = math.ceil(n_y / groups) + 1
    columns = np.ascontiguousarray(P.T)
    found = [[y] for y in range(n_y)]
    costs = np.full((n_y, n_y), np.inf)
    for y in range(n_y):
        costs[y, :y] = _costs(columns[y], columns[:y])
    left = n_y
    while left > groups and costs.min() < np.inf:
        i, j = (int(place) for place in np.unravel_index(costs.argmin(), costs.shape))  # j < i
        found[j], found[i] = found[j] + found[i], []
        columns[j] += columns[i]
        left -= 1
        fits = np.array([0 < len(one) <= most - len(found[j]) for one in found])
        fits[j] = False
        costs[[i, j]], costs[:, [i, j]] = np.inf, np.inf
        others = np.flatnonzero(fits)
        costs[np.maximum(others, j), np.minimum(others, j)] = _costs(columns[j], columns[others])
    return [sorted(group) for group in found if group]


def _costs(one: Array, others: Array) -> Array:
    """The fall of I(X;Y) when a letter becomes one with each of some others."""
    rows = entr(one + others).sum(axis=1) - entr(one).sum() - entr(others).sum(axis=1)
    mass, masses = one.sum(), others.sum(axis=1)
    return np.asarray(rows - entr(mass + masses) + entr(np.asarray(mass)) + entr(masses))


@dataclass
class _Part:
    """One of the small problems: weight (L* at its own gamma)."""

    weight: float
    support: Support
    known: Mixture

    @classmethod
    def of(cls, table: Array) -> _Part:
        support = Support(Joint.from_counts(table))
        return cls(float(table.sum()), support, Mixture(np.ones(1), support.p_y[None]))

    def value(self, gamma: float, budget: Budget, tol: float | None = None) -> float:
        """L*(gamma), within a budget: an estimate from above; with a tolerance, a lower bound of it."""
        if gamma <= 0.0 or gamma >= 1.0:
            return -mutual_information(self.support.P) if gamma <= 0.0 else 0.0
        proof = Proof(self.support, bottleneck(gamma), self.known, tol or EFFORT.rough, budget)
        if tol is not None:
            proof.search()
            return proof.lower_bound
        proof.estimate()
        self.known = proof.mixture
        return min(proof.value(), 0.0)


def coarsened_bound(
    support: Support, gamma: float, tol: float, budget: Budget, groups: list[list[int]] | None = None
) -> float:
    """A lower bound of gamma I(X;Z) - I(Y;Z) over all encoders, by way of groups of Y's letters."""

    def left() -> float:
        return max(budget.seconds_left, 1e-3)

    P = support.P
    groups = groups_of(P) if groups is None else groups
    merged = _Part.of(np.column_stack([P[:, group].sum(axis=1) for group in groups]))
    within = [_Part.of(P[:, group]) for group in groups if len(group) > 1]
    look = 0.5 * left() / ((EFFORT.looks + 3) * (len(within) + 1))

    def value(s: float) -> float:
        total = (1.0 - s) * merged.value((gamma - s) / (1.0 - s), budget.part(seconds=look))
        return total + sum(part.weight * part.value(s, budget.part(seconds=look)) for part in within)

    low, high = 0.0, min(gamma, 1.0 - 1e-6)
    ratio = (math.sqrt(5.0) - 1.0) / 2.0
    one, two = high - ratio * (high - low), low + ratio * (high - low)
    at_one, at_two = value(one), value(two)
    for _ in range(EFFORT.looks):
        if left() < 0.5 * budget.seconds:
            break
        if at_one >= at_two:
            high, two, at_two = two, one, at_one
            one = high - ratio * (high - low)
            at_one = value(one)
        else:
            low, one, at_one = one, two, at_two
            two = low + ratio * (high - low)
            at_two = value(two)
    s = max([(at_one, one), (at_two, two), (value(0.0), 0.0)])[1]
    half, parts = max(budget.cells // 2, 1), max(len(within), 1)

    def proven(part: _Part, gamma: float, cells: float, seconds: float) -> float:
        share = budget.part(cells=cells, seconds=seconds)
        bound = part.value(gamma, share, tol)
        budget.cells_spent += share.cells_spent
        return bound

    total = (1.0 - s) * proven(merged, (gamma - s) / (1.0 - s), half, 0.5 * left())
    for number, part in enumerate(within):
        total += part.weight * proven(part, s, max(half // parts, 1), left() / (parts - number))
    n_x, n_y = P.shape
    # Sums, quotients and the tables of the parts are rounded, each entry by at most (|X| + |Y|) units relatively.
    return total - 16.0 * (n_x + n_y) * UNIT * (2.0 + math.log(n_x) + math.log(n_y))
