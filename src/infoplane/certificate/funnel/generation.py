"""Column generation: posteriors that improve the funnel's linear programme, until none is left that matters, proven.

The programme's own prices lambda are priced: where g(q) = H(q) - beta H(Tq) - lambda.q < 0, q is a column to add. Descent and growth look
for such q first; `Pricing` finds what they missed, or the proof.
"""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...errors import ContradictionWarning
from ...formatting import counted
from ...information import Array
from ...kernels.funnel_proof.search import WORTH
from ...posterior.programme import Point, Programme
from ...runtime.budget import Budget
from ...status import Status
from .challenge import challenge
from .pricing import Pricing


class GenerationRules(NamedTuple):
    """How a proof proceeds, set by `benchmarks/bench_columns.py`."""

    piece: float = 0.1
    """Seconds, about, between two looks at the clock and at the caller."""
    first_floor: float = 0.1
    """Pricing is done to this tolerance first,"""
    stage: float = 30.0
    quick_stage: float = 1000.0
    quick_size: int = 300
    quick_floor: float = 1e-3
    """then to one so many times finer, and so on: an early bound, and early columns, cost little. Few stages do up to |X| rank(T) =
    300, and once a tolerance of 1e-3 has been proven."""
    resolved: float = 16.0
    """Tolerances are not made finer than so many times the rounding of a bound, which matters for a beta of 1e6 and more."""
    given: float = 3.0
    """What a search may spend on lower prices, in units of the floor: with what else is lost, a proof to tol/4 stays within 5/8 of
    tol."""
    few: int = 10
    """Where local descent brings fewer than one column for so many letters, posteriors are grown as well."""
    trace: float = 1e-9
    """A mass below this does not count as a letter in use."""
    grown: int = 64
    """Posteriors that are grown between two looks at the caller."""
    first_block: int = 64
    """Cells before the first look."""


RULES = GenerationRules()


NO_PROOF = (
    "the proof contradicts itself, and nothing of it counts. The encoder is as good as it says, but not certified. This is a defect of "
    "infoplane: please report it with the joint and the problem."
)


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
    programme: Programme, master: Callable[[], Point], tol: float, budget: Budget, known: float = -math.inf
) -> Outcome:
    """Add posteriors until none that matters has g < 0 by more than tol/4, proven; or until the budget is spent.

    Or until the mixture costs no more than a lower bound that is known without a search, within tol/2. Where Y is a function of X, g is
    flat at the best prices: no search would end, and the simple bound is exact.

    Before it says what it has proven, a local search over the whole simplex tries to contradict it (`challenge`).

    Whatever ends it, Ctrl-C included, the bound holds and the point is the best mixture of all columns met.
    """
    floor, lower, left, done = max(RULES.first_floor, tol / 4.0), -math.inf, 1, math.inf
    claim, mistakes = -math.inf, 0
    proof = point = master()
    small = len(programme.channel.T) * programme.channel.rank <= RULES.quick_size
    while not budget.spent:
        if point.value - known <= tol / 2.0:
            left = 0
            break
        budget.rounds_spent += 1
        budget.tell()
        # Half of what the bound may lose is spent on lambda, letter by letter, the other half on g.
        aim, low = point.lowered(programme.p_x, floor / 2.0), -floor / 2.0
        # Below the rounding of a bound nothing can be proven, whatever the search.
        finest = max(tol / 4.0, RULES.resolved * programme.channel.error(aim.lam, aim.beta)[0])
        used = _without_traces(point.used, programme.channel.rank + 1)
        new = _nearby(programme, aim, used, WORTH * low)
        if RULES.few * new.shape[1] < len(programme.p_x):
            new = np.hstack([new, _grown(programme, aim, used, WORTH * low, budget)])
        last = False
        if not new.shape[1]:
            aim, least, left, new, wrong = _priced(programme, aim, low, budget)
            mistakes += wrong
            bound = least + aim.dual - programme.rounding(aim.lam, aim.beta)
            if bound > lower:
                proof, lower, claim = aim, bound, least
            if not left:
                last = floor <= 1.5 * finest
                stage = RULES.quick_stage if small or floor <= RULES.quick_floor else RULES.stage
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
    if not said and lower > -math.inf and proof.beta > programme.channel.concave_up_to:
        said = _contradiction(programme, proof, claim)
        if said:
            following = master()
            point = following if following.solved else point
    if said:
        warnings.warn(f"{said}: {NO_PROOF}", ContradictionWarning, stacklevel=2)
        return Outcome(point, proof, -math.inf, max(left, 1), math.inf, said)
    return Outcome(point, proof, lower, left, done)


def _contradiction(programme: Programme, proof: Point, claim: float) -> str:
    """A sentence, if a local search over the whole simplex finds a posterior below the claim, which becomes a column; else ""."""
    found = challenge(programme.channel, programme.p_x, proof.lam, proof.beta, programme.Q)
    if not found.value < claim - programme.channel.error(proof.lam, proof.beta)[0]:
        return ""
    programme.add(found.posterior[:, None])
    return f"g >= {claim:.3e} was claimed, and a posterior with {found.value:.3e} is there"


def _nearby(programme: Programme, aim: Point, used: Array, below: float) -> Array:
    """Local minima of g near the columns in use, those with g < below."""
    if aim.beta <= programme.channel.concave_up_to:
        return used[:, :0]
    Q, values = programme.channel.descend(aim.lam, aim.beta, used)
    return Q[:, values < below]


def _without_traces(Q: Array, most: int) -> Array:
    """The columns on their largest letters only, at most so many: an encoder's clusters hold traces of all, and Newton's step is cubic."""
    smallest = np.partition(Q, -most, axis=0)[-most] if len(Q) > most else np.zeros(Q.shape[1])
    kept: Array = np.where((smallest <= Q) & (RULES.trace < Q), Q, 0.0)
    kept /= kept.sum(axis=0)
    return kept


def _grown(programme: Programme, aim: Point, used: Array, below: float, budget: Budget) -> Array:
    """Posteriors grown from single letters and from the columns in use, those with g < below."""
    channel = programme.channel
    grown = [used[:, :0]]
    if aim.beta > channel.concave_up_to:
        seeds = channel.seeds(aim.lam, used)
        for first in range(0, len(seeds), RULES.grown):
            Q, values = channel.grow(aim.lam, aim.beta, seeds[first : first + RULES.grown])
            grown.append(Q[:, values < below])
            if budget.spent:
                break
    return np.hstack(grown)


def _priced(programme: Programme, aim: Point, floor: float, budget: Budget) -> tuple[Point, float, int, Array, int]:
    """Prices, the least g proven for them, cells left open, posteriors well on the way to the floor, and claims that did not hold."""
    channel, lam, beta = programme.channel, aim.lam, aim.beta
    if beta <= channel.concave_up_to:
        low = float(programme.reduced(lam, beta)[: len(lam)].min()) - channel.error(lam, beta)[0]
        return aim, low, 0, programme.Q[:, :0], 0
    if budget.spent:
        return aim, -math.inf, 1, programme.Q[:, :0], 0
    search = Pricing(channel, lam, beta, floor, programme.p_x, -RULES.given * floor)
    on, before, block = search.left > 0, budget.cells_spent, RULES.first_block
    budget.cells_spent = before + search.cells
    while on and not budget.spent and (room := budget.cells - budget.cells_spent) > 1:
        began = time.perf_counter()
        on = search.advance(int(min(block, room)))
        budget.cells_spent = before + search.cells
        block = _next_block(block, time.perf_counter() - began)
        budget.tell()
    prices = aim.priced(search.prices, programme.p_x)
    return prices, search.least(), search.left, search.violating(), search.mistakes


def _next_block(block: int, seconds: float) -> int:
    """Cells to bound before the next look: as many as take about `RULES.piece` seconds."""
    if seconds > 2.0 * RULES.piece:
        return max(block // 2, 2)
    return 2 * block if seconds < 0.5 * RULES.piece else block
