"""What records say of a frontier, by sweeps that leave some of them out: a band for the population's, and which parameter to take.

*The band* is a jackknife that leaves out one of ten groups of the records.

    I*(r) = min over gamma of  gamma r + F(gamma),   F(gamma) = max over W of  I(Y;Z) - gamma I(X;Z)              (the lines of a sweep)
    centre 10 G - 9 mean G_(-g),   half-width the wider of  t_9 s.e.  and  z sd(psi - gamma KL(W_x || p_z)) / sqrt(n)

G is I*(r) of the table, G_(-g) that of the table without group g: ten sweeps over the same gammas. The table's own frontier lies above the
population's, the more so the fewer the records, and the jackknife takes that off to first order. The second width is the delta
method's, at the optimum W of the gamma that bounds I*(r). Below `LEAST` records a letter the first order is not enough: refused.

*The parameter* follows from what held-out records say of the encoders of each (`sampling/held_out.py`). Of a bottleneck, the one whose
encoders tell most of Y there. Of a funnel, whose leakage there is what counts, the boldest within a cap: from the most cautious on, until
the first whose upper end (95%, `sampling/intervals.py`) lies above it. That is a choice, not a guarantee: the encoder that is released is
made from all the records; `funnel_at_leakage` with ``confidence`` tests the one it returns.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InvalidOptionError, UnsupportedProblemError
from ..formatting import counted
from ..frontier.frontier import Frontier
from ..frontier.geometry import Line, supporting_line
from ..frontier.summary import Suggestion
from ..information import NATS_PER_BIT, Array, Result, bits, rel_entr
from ..joint.joint import Joint
from ..joint.tables import dense
from ..problem import Notation, bottleneck, is_bottleneck
from ..sampling.denoising import counts_of
from ..sampling.held_out import HOW, PARTS, HeldOut, curve_of, gain_of, parts_of, without_each_part
from ..sampling.intervals import checked_confidence, interval_of, relevance
from ..solution import Solution
from .sweep import sweep

if TYPE_CHECKING:
    import pandas as pd

    from ..frontier.geometry import BestAnswer

GROUPS = 10
"""Ten sweeps; more would narrow t_9 by a few per cent."""

LEAST = 12
"""Records per letter of X below which the coverage falls (docs/benchmarks/coverage.md)."""


@dataclass(frozen=True, eq=False)
class Bands(Result):
    """The population's frontier at the rates of a sweep's best runs, in bits: about ``centre_bits``, and from low to high."""

    ixz_bits: Array
    iyz_bits: Array
    """Of the table's own frontier."""
    centre_bits: Array
    low_bits: Array
    high_bits: Array
    records: int
    confidence: float

    def __str__(self) -> str:
        widest = float((self.high_bits - self.low_bits).max())
        return (
            f"the population's frontier at {counted(len(self.ixz_bits), 'rate')}, {100 * self.confidence:g}% at each of them, from "
            f"{counted(self.records, 'record')}: up to {widest:.3g} bits wide, up to {float((self.iyz_bits - self.centre_bits).max()):.3g} "
            "below the table's"
        )

    def to_frame(self) -> pd.DataFrame:
        """A row per rate."""
        import pandas as pd

        return pd.DataFrame(
            {
                "ixz_bits": self.ixz_bits,
                "iyz_bits": self.iyz_bits,
                "iyz_centre_bits": self.centre_bits,
                "iyz_low_bits": self.low_bits,
                "iyz_high_bits": self.high_bits,
            }
        )


def bands(
    frontier: Frontier, confidence: float, rng: int, store: str | os.PathLike[str] | None, options: dict[str, Any]
) -> Bands:
    """See `Frontier.bands`."""
    from scipy.special import stdtrit  # Student's t; its import takes longer than a small sweep

    confidence = checked_confidence(confidence)
    counts = _counts(frontier)
    best = [answer.run for answer in frontier.best_answers()]
    gammas = sorted({float(run.parameter) for run in best})
    # Nats of I(X;Z) below which a run is the constant encoder, of which nothing needs to be said.
    rates = np.unique(np.array([run.ixz for run in best if run.ixz > 1e-6]))
    if not rates.size:
        raise InvalidOptionError(
            "bands need runs that tell something of X; all of these are constant: add smaller gammas."
        )
    own, bounding = _curve(best, rates, frontier.joint)
    if store is not None:
        Path(store).mkdir(parents=True, exist_ok=True)
    left_out = []
    for group, part in enumerate(parts_of(counts, GROUPS, np.random.default_rng(rng))):
        where = None if store is None else Path(store, f"group-{group}.db")
        rest = Joint.from_counts(counts - part)
        made = sweep(rest, bottleneck, gammas, rng=rng, store=where, **{"starts": 4, **options})
        if not made.complete:
            raise KeyboardInterrupt
        left_out.append(_curve([answer.run for answer in made.best_answers()], rates, rest)[0])
    without = np.array(left_out)
    centre = GROUPS * own - (GROUPS - 1) * without.mean(axis=0)
    error = np.sqrt((GROUPS - 1) / GROUPS * ((without - without.mean(axis=0)) ** 2).sum(axis=0))
    records = int(counts.sum())
    plain = np.array([_spread(frontier.joint, best[at]) for at in bounding]) / math.sqrt(records)
    level = 0.5 + 0.5 * confidence
    reach = np.maximum(float(stdtrit(GROUPS - 1, level)) * error, NormalDist().inv_cdf(level) * plain)
    low, middle, high = (np.maximum(one, 0.0) / NATS_PER_BIT for one in (centre - reach, centre, centre + reach))
    return Bands(rates / NATS_PER_BIT, own / NATS_PER_BIT, middle, low, high, records, confidence)


def _counts(frontier: Frontier) -> Any:
    """The counts that bands are made from, checked."""
    counts = counts_of(frontier.joint, "a band for the population's frontier")
    if frontier.joint.denoising is not None:
        raise InvalidOptionError(
            "bands are for the frontier of a table of records, whose bias they take off; of a denoised joint use Solution.interval."
        )
    if not frontier.runs or not all(is_bottleneck(run.problem) for run in frontier.runs):
        raise UnsupportedProblemError(
            "bands are for the frontier of the bottleneck: for a funnel see infoplane.leakage_bound."
        )
    letters, records = int((np.asarray(counts.sum(axis=1)) > 0).sum()), int(counts.sum())
    if records < LEAST * letters:
        raise InvalidOptionError(
            f"bands need {LEAST} records per letter of X: {LEAST * letters:,} for {letters:,} letters; found {records:,}. Group letters "
            "(bins, or fewer columns), or denoise the joint and call interval() of a solution."
        )
    return counts


def _curve(best: list[Solution], rates: Array, joint: Joint) -> tuple[Array, list[int]]:
    """I*(r) = min over the runs' lines gamma r + F(gamma), and F(0) = I(X;Y), at each rate; and which run has the lowest line."""
    lines: list[Line] = [supporting_line(run.problem, run.loss) for run in best]
    heights = np.array([line.slope * rates + line.height for line in lines])
    return np.minimum(heights.min(axis=0), joint.mutual_information), heights.argmin(axis=0).tolist()


def _spread(joint: Joint, run: Solution) -> float:
    """sd of psi(x, y) - gamma KL(W_x || p_z) over the records, at a run's encoder."""
    W, P = run.encoder, joint.counts / joint.counts.sum()
    q = np.asarray(W @ P)
    p_z, p_y = q.sum(axis=1), q.sum(axis=0)
    logs = np.log(np.divide(q, p_z[:, None] * p_y, out=np.ones_like(q), where=q > 0.0))
    alive = p_z > 0.0
    apart = rel_entr(W[alive], p_z[alive, None]).sum(axis=0)
    P = dense(P)
    psi = W.T @ logs - supporting_line(run.problem, 0.0).slope * apart[:, None]
    psi = np.where(P > 0.0, psi, 0.0)
    mean = float((P * psi).sum())
    return math.sqrt(max(float((P * psi**2).sum()) - mean**2, 0.0))


TWO_SIDED = 0.9
"""Confidence of an interval whose upper end is a one-sided bound of 95%."""


def chosen(frontier: Frontier, plain: Suggestion, notation: str, rng: int, max_iyz: float | None) -> Suggestion:
    """What the curve alone suggests, with the parameter that held-out records prefer; see `Frontier.suggest`."""
    best, hides_y = frontier.best_answers(), frontier.hides_y
    if not best or (plain.knee is None and plain.noise):
        return plain
    written = best[0].run.problem.record.notation(notation)
    curve, at, said = _within(frontier, best, written, rng, max_iyz) if hides_y else _most(frontier, best, written, rng)
    found = replace(plain, sentences=(said, *plain.sentences), curve=curve)
    if at is not None:
        return replace(found, row=best[at].row, parameter=best[at].run.parameter)
    # Nor is the knee of a curve that tells nothing.
    return found if hides_y else replace(found, knee=None, sentences=(said, *plain.sentences[1:]))


Chosen = tuple[tuple[HeldOut, ...], int | None, str]
"""The curve, which of its parameters is chosen, if one is, and a sentence."""


def _most(frontier: Frontier, best: list[BestAnswer], written: Notation, rng: int) -> Chosen:
    """The largest of a bottleneck's gains, if it tells anything."""
    how = HOW.format(records=frontier.joint.records)
    curve = curve_of([answer.run.parameter for answer in best], _measured(frontier, best, rng, gain_of))
    at = int(np.argmax([one.gain_bits for one in curve]))
    top, (row, run, _) = curve[at], best[at]
    named = f"{written.symbol} = {written.of(top.parameter):.4g}"
    if not top.tells:
        return curve, None, (
            f"No parameter is suggested: on held-out records none tells of Y more than chance does; the best, {named}, has "
            f"{top.gain_bits:.4f} bits (s.e. {top.error_bits:.4f}). {how}"
        )  # fmt: skip
    return curve, at, (
        f"Held-out records prefer {named}: {top.gain_bits:.4f} bits of Y (s.e. {top.error_bits:.4f}), where the table says "
        f"{bits(run.iyz):.4f} at I(X;Z) = {bits(run.ixz):.4f} bits (run {row}). {how}"
    )  # fmt: skip


def _within(frontier: Frontier, best: list[BestAnswer], written: Notation, rng: int, max_iyz: float | None) -> Chosen:
    """The boldest whose leakage is within the cap, if there is one; the curve is a funnel's leakage."""
    parts = zip(*_measured(frontier, best, rng, lambda W, _rest, part: relevance(W, part)), strict=True)
    found = [interval_of(list(one), TWO_SIDED) for one in parts]
    z = NormalDist().inv_cdf(0.5 + 0.5 * TWO_SIDED)
    curve = tuple(
        HeldOut(answer.run.parameter, bits(one.corrected), bits((one.high - one.corrected) / z))
        for answer, one in zip(best, found, strict=True)
    )
    how = f"Held out: {PARTS} parts of the {frontier.joint.records:,} records in turn, encoders from the others; without its bias."
    if max_iyz is None:
        said = f"What held-out records say of the leakage at each {written.symbol} is the curve; say max_iyz to choose. {how}"
        return curve, None, said
    cap, at = f"{bits(max_iyz):.4g} bits", None
    for bolder in np.argsort([answer.run.ixz for answer in best], kind="stable"):
        if found[bolder].high > max_iyz:
            break
        at = int(bolder)
    if at is None:
        least = min(bits(one.high) for one in found)
        said = (
            f"No parameter is within {cap} on held-out records: the least that they show of one is {least:.4g}. {how}"
        )
        return curve, None, said
    row, run, _ = best[at]
    return curve, at, (
        f"Held-out records show at most {bits(found[at].high):.4g} <= {cap} at {written.symbol} = {written.of(run.parameter):.4g}, the "
        f"boldest, where the table says {bits(run.iyz):.4g} at I(X;Z) = {bits(run.ixz):.4f} bits (run {row}). {how}"
    )  # fmt: skip


def _measured(frontier: Frontier, best: list[BestAnswer], rng: int, of: Any) -> list[list[Any]]:
    """Part by part and parameter by parameter, ``of(W, rest, part)`` of the encoders that are made from the rest."""
    problems = {answer.run.parameter: answer.run.problem for answer in best}
    caps = {answer.run.cluster_cap for answer in best}
    clusters = caps.pop() if len(caps) == 1 else None

    def measured(rest: Joint, part: Any) -> list[Any]:
        found = sweep(rest, problems.__getitem__, list(problems), clusters=clusters, starts=4, rng=rng)
        return [of(answer.run.encoder, rest.counts, part) for answer in found.best_answers()]

    return [list(row) for row in without_each_part(frontier.joint, rng, measured)]
