"""Column generation: posteriors that improve the funnel's linear programme, until none is left that matters, proven.

The programme's own prices lambda are priced: where g(q) = H(q) - beta H(Tq) - lambda.q < 0, q is a column to add. Local searches look
for such q first; a branch and bound finds what they missed, or the proof. Which posteriors there are, and how to search them, a `Finder`
says: all of the simplex (`free.py`), or those that a cap on every cluster allows (`allowed.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from ...formatting import counted
from ...information import Array
from ...kernels.funnel_proof.search import WORTH
from ...posterior.programme import Point, Programme
from ...runtime.budget import Budget
from ...solution import Status
from ..challenge import disproven

PIECE = 0.1
"""Seconds, about, between two looks at the clock and at the caller."""


GIVEN = 3.0
"""What a search may spend on lower prices, in units of the floor: with what else is lost, a proof to tol/4 stays within 5/8 of tol."""


class Priced(NamedTuple):
    """What a search over posteriors ended with."""

    prices: Point
    """The point with the prices that were searched,"""
    least: float
    """the least g proven for them,"""
    left: int
    """cells left open,"""
    found: Array
    """posteriors (|X|, k) well on the way to the floor,"""
    mistakes: int
    """and claims that did not hold when they were computed once more."""


class PosteriorSearch(Protocol):
    """A branch and bound over posteriors, advanced in blocks of cells."""

    @property
    def cells(self) -> int:
        """Cells bounded."""

    @property
    def left(self) -> int:
        """Cells that wait, or were given up."""

    @property
    def mistakes(self) -> int:
        """Claims that did not hold when they were computed once more."""

    @property
    def prices(self) -> Array:
        """The lambda that `least` is about."""

    def advance(self, cells: int) -> bool:
        """Bound at most so many cells; False once there is no more to do."""

    def least(self) -> float:
        """Proven: g(q) >= this for every posterior there is."""

    def violating(self) -> Array:
        """Posteriors (|X|, k) well on the way to the floor."""


class Finder(Protocol):
    """The posteriors there are, and how they are searched."""

    few: bool
    """Whether they are few enough for large stages."""

    def error(self, aim: Point) -> float:
        """Rounding of a bound."""

    def columns(self, aim: Point, used: Array, below: float, budget: Budget) -> Array:
        """Posteriors with g < below that local searches meet, from the columns in use."""

    def without_search(self, aim: Point) -> float | None:
        """The least g where no search is needed; else None."""

    def search(self, aim: Point, floor: float) -> PosteriorSearch:
        """A search for posteriors with g < floor."""

    def challenge(self, proof: Point, claim: float) -> tuple[Array, float] | None:
        """A posterior with g below what was claimed, up to rounding, and its g; None if local search over all of them meets none."""


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
    flat at the best prices: no search would end, and the simple bound is exact.

    Before it says what it has proven, a local search over all posteriors tries to contradict it (`Finder.challenge`).

    Whatever ends it, Ctrl-C included, the bound holds and the point is the best mixture of all columns met.
    """
    # Pricing is done to a tolerance of 0.1 first.
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
            aim, least, left, new, wrong = _priced(programme, finder, aim, low, budget)
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


def _priced(programme: Programme, finder: Finder, aim: Point, floor: float, budget: Budget) -> Priced:
    """PosteriorSearch for posteriors with g < floor, as far as the budget goes."""
    none = programme.Q[:, :0]
    if (least := finder.without_search(aim)) is not None:
        return Priced(aim, least, 0, none, 0)
    if budget.spent:
        return Priced(aim, -math.inf, 1, none, 0)
    search = finder.search(aim, floor)
    # Cells before the first look.
    on, before, block = search.left > 0, budget.cells_spent, 64
    budget.cells_spent = before + search.cells
    while on and not budget.spent and (room := budget.cells - budget.cells_spent) > 1:
        began = time.perf_counter()
        on = search.advance(int(min(block, room)))
        budget.cells_spent = before + search.cells
        block = _next_block(block, time.perf_counter() - began)
        budget.tell()
    prices = aim.priced(search.prices, programme.p_x)
    return Priced(prices, search.least(), search.left, search.violating(), search.mistakes)


def _next_block(block: int, seconds: float) -> int:
    """Cells to bound before the next look: as many as take about `PIECE` seconds."""
    if seconds > 2.0 * PIECE:
        return max(block // 2, 2)
    return 2 * block if seconds < 0.5 * PIECE else block
