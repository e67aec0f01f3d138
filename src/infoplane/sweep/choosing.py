"""Which parameter to take: the one whose encoders tell most of Y on records that they were not made from.

    gain(gamma) = mean over held-out records (x, y) of  sum_z W[z, x] log(q(y|z) / p(y))

W, q(y|z) and p(y) from the other parts of the records, q and p with half a pseudo-count for each y. But for what p(y) itself is off, it is
on average at most I(Y;Z) of W in the population (less how far q is off), and it falls again where W begins to fit noise. A table's own
I(Y;Z) never falls, and its knee has the same shape whether there is information or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..formatting import counted
from ..frontier.knee import Suggestion, suggest
from ..information import Array, bits
from ..joint.joint import Joint
from ..problem import named_family
from ..sampling.folds import PARTS, parts_of
from ..sampling.shrinkage import HALF
from .sweep import sweep

if TYPE_CHECKING:
    from ..frontier.frontier import Frontier
    from ..frontier.reuse import BestAnswer


class HeldOut(NamedTuple):
    """What the encoders of one parameter tell of Y on records that they have not seen: the mean over the parts, and its standard error."""

    parameter: float
    gain_bits: float
    error_bits: float


@dataclass(frozen=True)
class Choice(Suggestion):
    """A suggestion with the parameter that held-out records prefer; ``print`` it to read it."""

    row: int | None = None
    """Of the run that found the best encoder at that parameter; None if no parameter gains anything."""
    parameter: float | None = None
    curve: tuple[HeldOut, ...] = ()
    """Of every parameter."""


def chosen(frontier: Frontier, notation: str, rng: int) -> Choice:
    """See `Frontier.suggest`."""
    plain = suggest(frontier, notation)
    best = frontier.best_answers()
    fields = vars(plain)
    if not best or (plain.knee is None and plain.noise):
        return Choice(**fields)
    curve = _curve(frontier, best, rng)
    top = max(curve, key=lambda one: one.gain_bits)
    written = named_family(best[0].run.problem).notation(notation)
    how = (
        f"Held out: {counted(PARTS, 'part')} of the {frontier.joint.records:,} records in turn, encoders and p(y|z) from the others; "
        "bits a record over p(y)."
    )
    if top.gain_bits <= top.error_bits:
        said = (
            f"No parameter is suggested: on held-out records none tells of Y more than chance does; the best, {written.symbol} = "
            f"{written.of(top.parameter):.4g}, has {top.gain_bits:.4f} bits (s.e. {top.error_bits:.4f}). {how}"
        )
        return Choice(**fields | {"knee": None, "sentences": (said, *plain.sentences[1:])}, curve=tuple(curve))
    answer = next(one for one in best if one.run.parameter == top.parameter)
    said = (
        f"Held-out records prefer {written.symbol} = {written.of(top.parameter):.4g}: {top.gain_bits:.4f} bits of Y (s.e. "
        f"{top.error_bits:.4f}), where the table says {bits(answer.run.iyz):.4f} at I(X;Z) = {bits(answer.run.ixz):.4f} bits (run "
        f"{answer.row}). {how}"
    )
    sentences = (said, *plain.sentences)
    return Choice(**fields | {"sentences": sentences}, row=answer.row, parameter=top.parameter, curve=tuple(curve))


def _curve(frontier: Frontier, best: list[BestAnswer], rng: int) -> list[HeldOut]:
    """The gain of every parameter, part by part."""
    counts, made = frontier.joint.counts, frontier.joint.denoising
    problems = {answer.run.parameter: answer.run.problem for answer in best}
    caps = {answer.run.cluster_cap for answer in best}
    clusters = caps.pop() if len(caps) == 1 else None
    gains = []
    for part in parts_of(counts, PARTS, np.random.default_rng(rng)):
        rest = Joint.from_counts(counts - part)
        if made is not None:
            rest = rest.denoised(groups=None if made.chosen else made.groups)
        found = sweep(rest, problems.__getitem__, list(problems), clusters=clusters, starts=4, rng=rng)
        gains.append([_gain(answer.run.encoder, counts - part, part) for answer in found.best_answers()])
    table = np.array(gains) / np.log(2.0)
    errors = table.std(axis=0, ddof=1) / np.sqrt(PARTS)
    return [HeldOut(*one) for one in zip(sorted(problems), table.mean(axis=0).tolist(), errors.tolist(), strict=True)]


def _gain(W: Array, rest: Any, part: Any) -> float:
    """Mean over the records of a part of sum_z W[z, x] log(q(y|z) / p(y)), with q and p from the rest."""
    n_y = np.asarray(rest.sum(axis=0)).ravel()
    seen = n_y > 0
    q = np.asarray(W @ rest)[:, seen] + HALF
    p = n_y[seen] + HALF
    scores = np.log(q / q.sum(axis=1, keepdims=True)) - np.log(p / p.sum())
    told = np.asarray(W @ part)[:, seen]
    return float((told * scores).sum() / part.sum())
