"""Which parameter to take: what held-out records say of the encoders of each (`sampling/held_out.py`).

Of a bottleneck, the one whose encoders tell most of Y there. Of a funnel, whose leakage there is what counts, the boldest within a cap:
from the most cautious on, until the first whose upper end (95%, `sampling/intervals.py`) lies above it. That is a choice, not a
guarantee: the encoder that is released is made from all the records; `funnel_at_leakage` with ``confidence`` tests the one it returns.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ..frontier.knee import Suggestion
from ..information import bits
from ..joint.joint import Joint
from ..problem import Notation, named_family
from ..sampling.held_out import HOW, PARTS, HeldOut, curve_of, gain_of, without_each_part
from ..sampling.intervals import interval_of, relevance
from .sweep import sweep

if TYPE_CHECKING:
    from ..frontier.frontier import Frontier
    from ..frontier.geometry import BestAnswer

TWO_SIDED = 0.9
"""Confidence of an interval whose upper end is a one-sided bound of 95%."""


@dataclass(frozen=True)
class Choice(Suggestion):
    """A suggestion with the parameter that held-out records prefer; ``print`` it to read it."""

    row: int | None = None
    """Of the run that found the best encoder at that parameter; None if no parameter gains anything, or none is within the cap."""
    parameter: float | None = None
    curve: tuple[HeldOut, ...] = ()
    """Of every parameter."""


def chosen(frontier: Frontier, plain: Suggestion, notation: str, rng: int, max_iyz: float | None) -> Choice:
    """What the curve alone suggests, with the parameter that held-out records prefer; see `Frontier.suggest`."""
    best = frontier.best_answers()
    fields = vars(plain)
    if not best or (plain.knee is None and plain.noise):
        return Choice(**fields)
    written = named_family(best[0].run.problem).notation(notation)
    if frontier.hides_y:
        curve, place, said = _within(frontier, best, written, rng, max_iyz)
    else:
        curve, place, said = _most(frontier, best, written, rng)
    if place is None:
        knee = plain.knee if frontier.hides_y else None
        kept = plain.sentences if frontier.hides_y else plain.sentences[1:]
        return Choice(**fields | {"knee": knee, "sentences": (said, *kept)}, curve=curve)
    answer = best[place]
    sentences = (said, *plain.sentences)
    return Choice(**fields | {"sentences": sentences}, row=answer.row, parameter=answer.run.parameter, curve=curve)


def _most(
    frontier: Frontier, best: list[BestAnswer], written: Notation, rng: int
) -> tuple[tuple[HeldOut, ...], int | None, str]:
    """The curve of a bottleneck's gains, the place of the largest, if it tells anything, and a sentence."""
    how = HOW.format(records=frontier.joint.records)
    gains = _measured(frontier, best, rng, gain_of)
    curve = curve_of([answer.run.parameter for answer in best], gains)
    place = int(np.argmax([one.gain_bits for one in curve]))
    top, run = curve[place], best[place].run
    named = f"{written.symbol} = {written.of(top.parameter):.4g}"
    if not top.tells:
        return (
            curve,
            None,
            f"No parameter is suggested: on held-out records none tells of Y more than chance does; the best, {named}, has "
            f"{top.gain_bits:.4f} bits (s.e. {top.error_bits:.4f}). {how}",
        )
    return (
        curve,
        place,
        f"Held-out records prefer {named}: {top.gain_bits:.4f} bits of Y (s.e. {top.error_bits:.4f}), where the table says "
        f"{bits(run.iyz):.4f} at I(X;Z) = {bits(run.ixz):.4f} bits (run {best[place].row}). {how}",
    )


def _within(
    frontier: Frontier, best: list[BestAnswer], written: Notation, rng: int, max_iyz: float | None
) -> tuple[tuple[HeldOut, ...], int | None, str]:
    """The curve of a funnel's leakage, the place of the boldest within the cap, if there is one, and a sentence."""
    parts = list(zip(*_measured(frontier, best, rng, lambda W, _rest, part: relevance(W, part)), strict=True))
    found = [interval_of(list(one), TWO_SIDED) for one in parts]
    reach = [one.high - one.corrected for one in found]
    z = NormalDist().inv_cdf(0.5 + 0.5 * TWO_SIDED)
    curve = tuple(
        HeldOut(answer.run.parameter, bits(one.corrected), bits(wide / z))
        for answer, one, wide in zip(best, found, reach, strict=True)
    )
    how = f"Held out: {PARTS} parts of the {frontier.joint.records:,} records in turn, encoders from the others; without its bias."
    if max_iyz is None:
        return (
            curve,
            None,
            f"What held-out records say of the leakage at each {written.symbol} is the curve; say max_iyz to choose. {how}",
        )
    cap, place = f"{bits(max_iyz):.4g} bits", None
    for at in np.argsort([answer.run.ixz for answer in best], kind="stable"):
        if found[at].high > max_iyz:
            break
        place = int(at)
    if place is None:
        least = min(bits(one.high) for one in found)
        return (
            curve,
            None,
            f"No parameter is within {cap} on held-out records: the least that they show of one is {least:.4g}. {how}",
        )
    run = best[place].run
    return (
        curve,
        place,
        f"Held-out records show at most {bits(found[place].high):.4g} <= {cap} at {written.symbol} = {written.of(run.parameter):.4g}, the "
        f"boldest, where the table says {bits(run.iyz):.4g} at I(X;Z) = {bits(run.ixz):.4f} bits (run {best[place].row}). {how}",
    )


def _measured(frontier: Frontier, best: list[BestAnswer], rng: int, of: Any) -> list[list[Any]]:
    """Part by part and parameter by parameter, ``of(W, rest, part)`` of the encoders that are made from the rest."""
    problems = {answer.run.parameter: answer.run.problem for answer in best}
    caps = {answer.run.cluster_cap for answer in best}
    clusters = caps.pop() if len(caps) == 1 else None

    def measured(rest: Joint, part: Any) -> list[Any]:
        found = sweep(rest, problems.__getitem__, list(problems), clusters=clusters, starts=4, rng=rng)
        return [of(answer.run.encoder, rest.counts, part) for answer in found.best_answers()]

    return [list(row) for row in without_each_part(frontier.joint, rng, measured)]
