"""An interval for a solution from the records that it was made from: each part of them is judged by an encoder made without it.

The records are dealt into parts. For each, the same problem is solved on all the others, and I(X;Z), I(Y;Z) of that encoder are measured on
the part (`sampling/intervals.py`); the parts together give the mean and its error. What is estimated is the population's value for encoders
made in this way from all but one part of the records: slightly less than that of the solution, which was made from all.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import whole_number
from ..errors import InvalidOptionError
from ..formatting import counted
from ..joint.joint import Joint
from ..results import Result
from ..sampling.denoising import counts_of
from ..sampling.folds import parts_of
from ..sampling.intervals import InformationInterval, complexity, interval_of, relevance
from ..sampling.leakage import checked_confidence
from ..solve import solve

if TYPE_CHECKING:
    from ..information import Array
    from ..solution import Solution


@dataclass(frozen=True, eq=False)
class CrossFitted(Result):
    """I(X;Z) and I(Y;Z) in the population of encoders made as a solution was, by cross-fitting; nats."""

    ixz: InformationInterval
    """``value`` is the mean of the parts' plug-ins, each of few records: `corrected` is the one to read."""
    iyz: InformationInterval
    records: int
    parts: int
    confidence: float

    def __str__(self) -> str:
        low, high, middle = (one / np.log(2.0) for one in (self.iyz.low, self.iyz.high, self.iyz.corrected))
        return (
            f"I(Y;Z) in the population is {low:.4g} to {high:.4g} bits with {100 * self.confidence:g}% confidence, about {middle:.4g}: "
            f"{counted(self.records, 'record')}, cross-fitted in {self.parts} parts"
        )


def cross_fitted(solution: Solution, parts: int, rng: int | np.random.Generator, confidence: float) -> CrossFitted:
    """See `Solution.interval`."""
    counts = counts_of(solution.joint, "an interval")
    confidence = checked_confidence(confidence)
    if (parts := whole_number("parts", parts)) < 2:
        raise InvalidOptionError(f"parts must be a whole number, at least 2; found {parts}.")
    generator = np.random.default_rng(rng)
    told, kept = [], []
    for part in parts_of(counts, parts, generator):
        W = _encoder_without(solution, counts - part, generator)
        told.append(relevance(W, part))
        kept.append(complexity(W, np.asarray(part.sum(axis=1)).ravel()))
    return CrossFitted(
        interval_of(kept, confidence), interval_of(told, confidence), int(counts.sum()), parts, confidence
    )


def _encoder_without(solution: Solution, counts: Any, rng: np.random.Generator) -> Array:
    """What the solution would be, had only these records been there."""
    rest = Joint.from_counts(counts)
    if (made := solution.joint.denoising) is not None:
        rest = rest.denoised(groups=None if made.chosen else made.groups)
    return solve(rest, solution.problem, clusters=solution.cluster_cap, rng=rng).encoder
