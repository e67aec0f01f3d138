"""Column generation: posteriors that improve the funnel's linear programme, until none is left that matters, proven.

    L = a (beta I(Y;Z) - I(X;Z)) = a (beta H(Y) - H(X) + sum_z p(z) f(q_z)),   f(q) = H(q) - beta H(Tq),   q_z = p(x|z)

Any lambda with f(q) - lambda.q >= m on the whole simplex proves min sum p(z) f(q_z) >= lambda.p_x + m. The programme's own lambda is tried:
where g(q) = f(q) - lambda.q < 0, q is a column to add. Local searches look for such q first; a branch and bound finds what they
missed, or the proof. Which posteriors there are, and how to search them, a `Finder` says: all of the simplex (`FreePosteriors`), or those
that a cap on every cluster allows (`allowed.py`).

On the whole simplex g is concave up to a beta that T decides, and then least at a single letter: nothing is searched. Beyond it, at most
r = rank(T) letters of different columns are used at a time (docs/explanation/exact_funnel.md). `kernels/funnel_proof` searches these, by
slots where r is small and letters are many, by boxes else; here is what makes its answer safe.
"""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ...errors import InvalidOptionError
from ...formatting import counted
from ...information import Array, entr
from ...joint.joint import Joint, Support
from ...joint.tables import dense
from ...kernels.common import EPS
from ...kernels.funnel_proof.boxes import PosteriorBoxes, advance_boxes
from ...kernels.funnel_proof.capped_boxes import CappedBoxes
from ...kernels.funnel_proof.search import CELLS, FLOOR, FOUND, LEAST, LOST, MISTAKES, RANK, WAITING, WORTH
from ...kernels.funnel_proof.slot_bound import Slots
from ...kernels.funnel_proof.slots import advance_slots
from ...posterior.form import constant, scaled
from ...posterior.merge_path import agglomerative_bottleneck
from ...posterior.programme import Channel, Point, Programme
from ...problem import MarkovLagrangian
from ...runtime.budget import Budget, Limits
from ...solution import Status
from ..challenge import challenge, disproven

if TYPE_CHECKING:
    from .allowed import KeptSearch

PIECE = 0.1
"""Seconds, about, between two looks at the clock and at the caller."""


GIVEN = 3.0
"""What a search may spend on lower multipliers, in units of the floor: with what else is lost, a proof to tol/4 stays within 5/8 of tol."""


class Finder(ABC):
    """The posteriors there are, and how they are searched."""

    programme: Programme
    channel: Channel
    few: bool
    """Whether they are few enough for large stages."""

    def error(self, aim: Point) -> float:
        """Rounding of a bound."""
        return self.channel.error(aim.lam, aim.beta)[0]

    def without_search(self, aim: Point) -> float | None:  # noqa: ARG002
        """The least g where no search is needed; else None."""
        return None

    @abstractmethod
    def columns(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Posteriors with g < below that local searches meet, from the columns in use."""

    @abstractmethod
    def search(self, aim: Point, floor: float) -> CellSearch | KeptSearch:
        """A search for posteriors with g < floor."""

    @abstractmethod
    def challenge(self, proof: Point, claim: float) -> tuple[Array, float] | None:
        """A posterior with g below what was claimed, up to rounding, and its g; None if local search over all of them meets none."""


@dataclass(frozen=True)
class Outcome:
    """How a generation ended."""

    point: Point
    proof: Point
    """The point whose multipliers prove the bound."""
    lower: float
    """Proven lower bound of the programme over all posteriors."""
    left: int
    """Cells of the last search that were left open; 1 if none was begun."""
    floor: float = math.inf
    """The tolerance that was proven."""
    contradiction: str = ""
    """A sentence, if the proof contradicts itself or a posterior that was met: then nothing counts as proven."""


def cut_short(budget: Budget) -> Status:
    """How a run ends that its budget cut short."""
    return Status.INTERRUPTED if budget.stopped else Status.ITERATION_LIMIT


def generate(
    programme: Programme,
    finder: Finder,
    master: Callable[[], Point],
    tol: float,
    budget: Budget,
    known: float = -math.inf,
) -> Outcome:
    """Add posteriors until none that matters has g < 0 by more than tol/4, proven; or until the budget is spent.

    Or until the mixture costs no more than a lower bound that is known without a search, within tol/2. Where Y is a function of X, g is
    flat at the best multipliers: no search would end, and the simple bound is exact.

    Before it says what it has proven, a local search over all posteriors tries to contradict it (`Finder.challenge`).

    Whatever ends it, Ctrl-C included, the bound holds and the point is the best mixture of all columns met.
    """
    # The first search is done to a tolerance of 0.1.
    floor, lower, left, done = max(0.1, tol / 4.0), -math.inf, 1, math.inf
    claim, mistakes = -math.inf, 0
    proof = point = master()
    while not budget.spent:
        if point.value - known <= tol / 2.0:
            left = 0
            break
        budget.rounds_spent += 1
        budget.tell()
        # Half of what the bound may lose is spent on lambda, letter by letter, the other half on g.
        aim, low = point.lowered(programme.p_x, floor / 2.0), -floor / 2.0
        # Below the rounding of a bound nothing can be proven, whatever the search.
        # Sixteen times that rounding is where tolerances end, which matters for a beta of 1e6 and more.
        finest = max(tol / 4.0, 16.0 * finder.error(aim))
        new = finder.columns(aim, point.used, WORTH * low, budget)
        last = False
        if not new.shape[1]:
            aim, least, left, new, wrong = _searched(programme, finder, aim, low, budget)
            mistakes += wrong
            bound = least + aim.dual - programme.rounding(aim.lam, aim.beta)
            if bound > lower:
                proof, lower, claim = aim, bound, least
            if not left:
                last = floor <= 1.5 * finest
                # Then to one 30 times finer, and so on: an early bound, and early columns, cost little. Larger stages do where
                # posteriors are few, and once a tolerance of 1e-3 has been proven.
                stage = 1000.0 if finder.few or floor <= 1e-3 else 30.0
                done, floor = floor, max(floor / stage, finest)
            if last or not new.shape[1]:
                if last or left:
                    break
                left = 1
                continue
        programme.add(new)
        following = master()
        if not following.solved:
            break
        point = programme.trim(following)
    said = f"{counted(mistakes, 'claim')} of the search did not hold when computed once more" if mistakes else ""
    if not said and lower > -math.inf and (found := finder.challenge(proof, claim)) is not None:
        said = f"g >= {claim:.3e} was claimed, and a posterior with {found[1]:.3e} is there"
        programme.add(found[0][:, None])
        following = master()
        point = following if following.solved else point
    if said:
        return Outcome(point, proof, -math.inf, max(left, 1), math.inf, disproven(said))
    return Outcome(point, proof, lower, left, done)


def _searched(
    programme: Programme, finder: Finder, aim: Point, floor: float, budget: Budget
) -> tuple[Point, float, int, Array, int]:
    """A search for posteriors with g < floor, as far as the budget goes.

    The point with the multipliers of the search, the least g proven for them, cells left open, posteriors well on the way to the floor, and
    claims that did not hold when they were computed once more.
    """
    none = programme.Q[:, :0]
    if (least := finder.without_search(aim)) is not None:
        return aim, least, 0, none, 0
    if budget.spent:
        return aim, -math.inf, 1, none, 0
    search = finder.search(aim, floor)
    # Cells before the first look; then as many as take about `PIECE` seconds.
    on, before, block = search.left > 0, budget.cells_spent, 64
    budget.cells_spent = before + search.cells
    while on and not budget.spent and (most := budget.cells - budget.cells_spent) > 1:
        began = time.perf_counter()
        on = search.advance(int(min(block, most)))
        budget.cells_spent = before + search.cells
        seconds = time.perf_counter() - began
        block = max(block // 2, 2) if seconds > 2.0 * PIECE else 2 * block if seconds < 0.5 * PIECE else block
        budget.tell()
    return (
        aim.with_multipliers(search.multipliers, programme.p_x),
        search.least(),
        search.left,
        search.violating(),
        search.mistakes,
    )


class CellSearch:
    """A compiled search over cells of posteriors, on letters of different columns: what it has proven and met, wherever it stands."""

    def __init__(self, channel: Channel, lam: Array, beta: float, floor: float, budget: float, rank: int) -> None:
        self.channel, self.lam = channel, lam
        self.gathered, self.letter = channel.gather(lam)
        lowest = -2.0 * (1.0 + float(np.abs(lam).max()))
        absolute, relative = channel.error(np.append(lam, lowest), beta)
        self.number = np.array([beta, floor, absolute, relative, lowest, budget, 0.0, math.inf])
        self.tally = np.zeros(8, np.int64)
        self.tally[RANK] = rank

    def begin(self, search: PosteriorBoxes | Slots | CappedBoxes, kernel: Callable[..., bool]) -> None:
        """Bound the first cell; the kernel is what advances the search."""
        self.search, self.kernel = search, kernel
        search.table[:] = 0  # the arrays are as the search before this one left them
        self.advance(0)

    def advance(self, cells: int) -> bool:
        """Bound at most so many cells, in pairs; False once none waits, or enough violations have been met."""
        return bool(self.kernel(self.search, cells))

    @property
    def cells(self) -> int:
        """Cells bounded."""
        return int(self.tally[CELLS])

    @property
    def left(self) -> int:
        """Cells that wait, or were given up."""
        return int(self.tally[WAITING] + self.tally[LOST])

    @property
    def mistakes(self) -> int:
        """Claims of the search that did not hold when they were computed once more; none of them has closed or shrunk a cell."""
        return int(self.tally[MISTAKES])

    def least(self) -> float:
        """Proven: g(q) >= this for every q that there is, wherever the search stands."""
        low = min(float(self.number[LEAST]), float(self.number[FLOOR]))
        return min(low, float(self.search.key[self.search.heap[0]])) if self.tally[WAITING] else low

    @property
    def multipliers(self) -> Array:
        """The lambda that `least` is about: lam, lower where the budget was spent."""
        return np.minimum(self.lam, self.gathered[self.channel.group])

    def violating(self) -> Array:
        """Posteriors (|X|, k), local minima of g well on the way to the floor, on different letters."""
        count = int(self.tally[FOUND])
        Q = np.zeros((self.channel.letters, count))
        Q[self.letter] = self.search.found[:count].T
        return Q


class FreeSearch(CellSearch):
    """One search for posteriors with g(q) < floor, or a proof that there are none; beta > 1.

    Parameters
    ----------
    channel, lam, beta
        g(q) = H(q) - beta H(Tq) - lam.q.
    floor
        How low g may go; negative, as g is 0 at the posteriors in use.
    p_x, budget
        Letters' masses, and how much of lam.p_x the search may give away: a posterior that is met below the floor then costs it a lower
        multiplier of one letter, and it goes on. What it proves is about `multipliers`, not about lam.
    """

    def __init__(
        self, channel: Channel, lam: Array, beta: float, floor: float, p_x: Array | None = None, budget: float = 0.0
    ) -> None:
        if not beta > 1.0:
            raise InvalidOptionError(f"this search is for beta > 1, where g is not concave; found beta = {beta!r}.")
        super().__init__(channel, lam, beta, floor, budget, channel.rank)
        p = np.ones(len(self.gathered)) if p_x is None else np.bincount(channel.group, p_x)
        given = (channel.T, self.gathered, p, self.number, self.tally, *channel.arrays)
        if channel.by_slots:
            self.begin(Slots(*given), advance_slots)  # type: ignore[arg-type]
        else:
            self.begin(PosteriorBoxes(*given), advance_boxes)  # type: ignore[arg-type]


GROWN = 64
"""Posteriors that are grown between two looks at the caller."""


class FreePosteriors(Finder):
    """The whole simplex of X."""

    def __init__(self, programme: Programme) -> None:
        self.programme, self.channel = programme, programme.channel
        # Up to |X| rank(T) = 300 large stages do (docs/benchmarks/slots.md).
        self.few = len(self.channel.T) * self.channel.rank <= 300

    def columns(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Local minima of g near the columns in use; where they are few, posteriors grown letter by letter as well."""
        if aim.beta <= self.channel.concave_up_to:
            return used[:, :0]
        used = without_dust(used, self.channel.rank + 1)
        Q, values = self.channel.descend(aim.lam, aim.beta, used)
        new = Q[:, values < below]
        # Where local descent brings fewer than one column for ten letters, posteriors are grown as well.
        if 10 * new.shape[1] < len(self.programme.p_x):
            new = np.hstack([new, self._grown(aim, used, below, budget)])
        return new

    def _grown(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Posteriors grown from single letters and from the columns in use, those with g < below."""
        grown = [used[:, :0]]
        seeds = self.channel.seeds(aim.lam, used)
        for first in range(0, len(seeds), GROWN):
            Q, values = self.channel.grow(aim.lam, aim.beta, seeds[first : first + GROWN])
            grown.append(Q[:, values < below])
            if budget.spent:
                break
        return np.hstack(grown)

    def without_search(self, aim: Point) -> float | None:
        """The least g of the single letters, where g is concave."""
        if aim.beta > self.channel.concave_up_to:
            return None
        return float(self.programme.reduced(aim.lam, aim.beta)[: len(aim.lam)].min()) - self.error(aim)

    def search(self, aim: Point, floor: float) -> FreeSearch:
        """By slots or boxes."""
        return FreeSearch(self.channel, aim.lam, aim.beta, floor, self.programme.p_x, -GIVEN * floor)

    def challenge(self, proof: Point, claim: float) -> tuple[Array, float] | None:
        """By the map of `challenge`, from all columns."""
        if proof.beta <= self.channel.concave_up_to:
            return None
        found = challenge(self.channel, self.programme.p_x, proof.lam, proof.beta, self.programme.Q)
        return found if found[1] < claim - self.error(proof) else None


def without_dust(Q: Array, most: int) -> Array:
    """The columns on their largest letters only, at most so many: an encoder's clusters hold dust of all, and Newton's step is cubic."""
    smallest = np.partition(Q, -most, axis=0)[-most] if len(Q) > most else np.zeros(Q.shape[1])
    # A mass below this does not count as a letter in use.
    kept: Array = np.where((smallest <= Q) & (Q > 1e-9), Q, 0.0)
    kept /= kept.sum(axis=0)
    return kept


class GapRules(NamedTuple):
    """How a gap is looked for, set by `benchmarks/bench_columns.py`."""

    coarse: int = 3
    """Letters y of the coarser problem: few enough for its search to end."""
    easy_rank: int = 4
    """Up to this rank of T, or"""
    easy_size: int = 300
    """up to so many letters x times this rank, searches were measured to end (docs/explanation/exact_funnel.md)."""


RULES = GapRules()


def simple_bound(support: Support, beta: float) -> float:
    """Beta I(Y;Z) - I(X;Z) >= min(0, beta - 1) I(X;Y) - H(X|Y), with nothing to search.

    I(X;Z) = I(Y;Z) + I(X;Z|Y) <= I(Y;Z) + H(X|Y), and 0 <= I(Y;Z) <= I(X;Y).
    """
    H_x, H_y, H_xy = (float(entr(p).sum()) for p in (support.p_x, support.p_y, support.P))
    bound = min(0.0, beta - 1.0) * (H_x + H_y - H_xy) - (H_xy - H_y)
    return bound - simple_rounding(support, beta)


def simple_rounding(support: Support, beta: float) -> float:
    """What entropies of the joint, weighted by 1 and beta, may be off by."""
    return (support.P.size + 16) * EPS * (1.0 + beta) * (1.0 + math.log(support.P.size))


def coarser(joint: Joint, letters: int) -> Joint:
    """The joint with Y merged to so many letters, greedily, at the smallest loss of I(X;Y).

    Y' is a function of Y, so that I(Y';Z) <= I(Y;Z) for every encoder, and a lower bound of beta I(Y';Z) - I(X;Z) is one of
    beta I(Y;Z) - I(X;Z).
    """
    P = dense(joint.p_xy)
    labels = agglomerative_bottleneck(Joint.from_counts(P.T)).labels_at(letters)
    merged = np.zeros((P.shape[0], letters))
    for y, label in enumerate(labels):
        if label >= 0:
            merged[:, label] += P[:, y]
    return Joint.from_matrix(merged)


def proven_bound(
    support: Support, beta: float, programme: Programme, tol: float, budget: Budget
) -> tuple[Outcome, float]:
    """Column generation for beta, and the best lower bound of beta I(Y;Z) - I(X;Z) that was met on the way.

    With more than `RULES.coarse` letters y, the last quarter of the limits is kept for a bound by a coarser Y, should the search end before
    it has proven anything to its first tolerance.
    """
    coarse = len(support.p_y) > RULES.coarse
    share = 0.75 if coarse else 1.0
    first = budget.part(cells=math.ceil(share * budget.cells), seconds=share * budget.seconds)
    simple = simple_bound(support, beta)
    known = simple - constant(support, beta)
    outcome = generate(programme, FreePosteriors(programme), lambda: programme.at_beta(beta), tol, first, known)
    budget.cells_spent, budget.rounds_spent = first.cells_spent, first.rounds_spent
    bound = max(outcome.lower + constant(support, beta), simple)
    if coarse and outcome.left and outcome.floor == math.inf and not (budget.stopped or outcome.contradiction):
        small = Support(coarser(Joint.from_counts(support.P), RULES.coarse))
        rough = Programme(small, budget)
        rough.add(outcome.point.used)
        rougher = generate(rough, FreePosteriors(rough), lambda: rough.at_beta(beta), tol, budget)
        bound = max(bound, rougher.lower + constant(small, beta) - simple_rounding(support, beta))
    return outcome, bound


def forecast(support: Support, problem: MarkovLagrangian, limits: Limits) -> str | None:
    """A sentence if a proof may not end within the limits, with what it would have to go through; or None."""
    channel = Channel(support.T)
    if (
        scaled(problem).beta <= channel.concave_up_to
        or channel.rank <= RULES.easy_rank
        or len(channel.T) * channel.rank <= RULES.easy_size
    ):
        return None
    return (
        f"the exact funnel searches posteriors on up to {channel.rank} of {len(channel.T)} letters: within max_cells = "
        f"{limits.max_cells:,} and max_seconds = {limits.max_seconds:g} it may end with a proven bound and a gap above {limits.tol:.0e} "
        "nats, without a certificate."
    )
