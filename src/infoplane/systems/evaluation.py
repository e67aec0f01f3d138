"""How much an encoder tells of X and of Y on records that it has not seen, with intervals for their population (`sampling/intervals.py`).

`evaluate` applies an encoder as it is: nothing is fitted. Its x are found by their labels. A record whose x the encoder does not know is
given p(z), as a letter without records is; how many there are is part of the answer.

`Solution.interval` has only the records that the solution was made from. They are dealt into parts; for each, the same problem is solved on
all the others, and that encoder is judged by the part; all parts give the mean and its error. What is estimated is the population's
value for encoders made in this way from all but one part of the records: slightly less than that of the solution, which was made from all.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ..checks import whole_number
from ..encoder.encoder import made_from
from ..errors import InvalidOptionError
from ..formatting import counted, label_text
from ..information import Array, Result, bits
from ..joint.joint import Joint
from ..joint.tables import MISSING, by_column, positions
from ..sampling.denoising import counts_of
from ..sampling.held_out import parts_of, without
from ..sampling.intervals import CONFIDENCE, InformationInterval, checked_confidence, complexity, interval_of, relevance
from ..solve import solve
from .given import read_system

if TYPE_CHECKING:
    import pandas as pd

    from ..solution import Solution


@dataclass(frozen=True, eq=False)
class HeldOutEvaluation(Result):
    """I(X;Z) and I(Y;Z) of an encoder on records that it has not seen; nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> old, new = ip.Joint.from_counts([[90, 10], [20, 80]]), ip.Joint.from_counts([[40, 9], [11, 40]])
    >>> found = ip.evaluate(ip.solve(old, ip.bottleneck(0.1), rng=0), new)
    >>> found.records, found.iyz.low < found.iyz.value < found.iyz.high
    (100, True)
    """

    ixz: InformationInterval
    """I(X;Z) on these records, corrected, with its interval."""
    iyz: InformationInterval
    """I(Y;Z), the same."""
    records: int
    """How many there are."""
    unseen: tuple[Hashable, ...]
    """Letters of X that the encoder does not know."""
    unseen_records: int
    """How many of the records have one of them."""
    confidence: float
    """Of both intervals."""

    def __str__(self) -> str:
        share = f"{100 * self.confidence:g}%"
        said = f"I(Y;Z) {self.iyz}; I(X;Z) {self.ixz}; {share} intervals from {counted(self.records, 'record')}"
        if not self.unseen:
            return said
        return (
            f"{said}, of which {self.unseen_records:,} have one of {counted(len(self.unseen), 'letter')} of x that the encoder does not "
            f"know, such as {label_text(self.unseen[0], 40)}: they got p(z)"
        )

    def to_frame(self) -> pd.DataFrame:
        """One row, in bits: the plug-in, the corrected value, and the ends of the interval."""
        import pandas as pd

        row: dict[str, Any] = {"records": self.records, "unseen_records": self.unseen_records}
        for name, found in (("ixz", self.ixz), ("iyz", self.iyz)):
            for part, value in zip(("", "corrected_", "low_", "high_"), found, strict=True):
                row[f"{name}_{part}bits"] = bits(value)
        return pd.DataFrame([{**row, "confidence": self.confidence}])


def evaluate(encoder: Any, data: Any, *, confidence: float = CONFIDENCE) -> HeldOutEvaluation:
    """I(X;Z) and I(Y;Z) of a fixed encoder, on records that it was not made from.

    Parameters
    ----------
    encoder
        A `Solution`, or another result with an ``encoder``; or a system as `infoplane.efficiency` takes it, by its labels of x if any.
    data
        A `Joint` made of records; or, for a `Solution`, a frame of rows with the columns that it was made of, which are put into the same
        bins.
    confidence
        Of the intervals, between 0.5 and 1. They are asymptotic (`infoplane.sampling.intervals`).

    Returns
    -------
    HeldOutEvaluation
        For each of the two the plug-in, the value without its bias, and an interval; how many records have an x that the encoder does
        not know. ``to_frame()`` has it in bits.

    Examples
    --------
    >>> import infoplane as ip
    >>> rng, heart = np.random.default_rng(0), ip.datasets.heart()
    >>> old, new = (ip.Joint.from_counts(rng.multinomial(n, heart.p_xy.ravel()).reshape(heart.shape)) for n in (500, 2000))
    >>> solution = ip.solve(old, ip.bottleneck(0.2), rng=0)
    >>> found = ip.evaluate(solution, new)
    >>> found.iyz.low < found.iyz.corrected < found.iyz.value < solution.iyz
    True
    """
    confidence = checked_confidence(confidence)
    made = getattr(encoder, "joint", None)
    made = made if isinstance(made, Joint) else None
    joint = data if isinstance(data, Joint) else _rows(made, data)
    counts = counts_of(joint, "an interval")
    if made_from(joint, encoder):
        raise InvalidOptionError(
            "these are the records that the encoder was made from: it fits their noise, and no interval from them holds (95% intervals "
            "held in as few as half of the samples). Give records that it has not seen, or call solution.interval(), which cross-fits."
        )
    W, known = _columns(encoder, made, joint)
    n_x = np.asarray(counts.sum(axis=1)).ravel()
    return HeldOutEvaluation(
        ixz=interval_of([complexity(W, n_x)], confidence),
        iyz=interval_of([relevance(W, counts)], confidence),
        records=int(n_x.sum()),
        unseen=tuple(joint.x_labels[x] for x in np.flatnonzero(~known & (n_x > 0))),
        unseen_records=int(n_x[~known].sum()),
        confidence=confidence,
    )


def _rows(made: Joint | None, data: Any) -> Joint:
    """Rows of a frame as the table of the columns that a solution was made of."""
    if made is None:
        raise InvalidOptionError(
            "rows can be evaluated for a Solution only, which knows its columns; give a Joint of them (Joint.from_frame, from_samples)."
        )
    labels = by_column(made.x_labels, made.x_names) | by_column(made.y_labels, made.y_names)
    lacks = any(MISSING in values for values in labels.values())
    missing: Literal["category", "error"] = "category" if lacks else "error"
    return Joint.from_frame(data, list(made.x_names), list(made.y_names), bins=made.bins, missing=missing)


def _columns(encoder: Any, made: Joint | None, joint: Joint) -> tuple[Array, Any]:
    """The encoder with a column for each x of the joint, and which of these it knows; the others have p(z)."""
    if made is not None:
        W, labels, p_z = np.asarray(encoder.encoder, dtype=float), made.x_labels, np.asarray(encoder.encoder) @ made.p_x
    else:
        system = read_system(encoder, joint, match=False)
        W, labels, p_z = system.encoder, system.x_labels or joint.x_labels, None
    columns = positions(joint.x_labels, labels)
    known = columns >= 0
    if not known.any():
        raise InvalidOptionError(
            f"no x of these records is one that the encoder knows: they have {label_text(joint.x_labels[0], 40)}, it has "
            f"{label_text(labels[0], 40)}."
        )
    matched = W[:, columns]
    if p_z is None:
        weights = joint.p_x * known
        p_z = matched @ (weights / weights.sum()) if weights.sum() > 0 else W.mean(axis=1)
    matched[:, ~known] = p_z[:, None]
    return matched, known


@dataclass(frozen=True, eq=False)
class CrossFitted(Result):
    """I(X;Z) and I(Y;Z) in the population of encoders made as a solution was, by cross-fitting; nats.

    ``value`` of either is the mean of the parts' plug-ins, each of few records: `corrected` is the one to read.
    """

    ixz: InformationInterval
    iyz: InformationInterval
    records: int
    parts: int
    confidence: float

    def __str__(self) -> str:
        low, high, middle = bits(self.iyz.low), bits(self.iyz.high), bits(self.iyz.corrected)
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
    kept, told = [], []
    for part in parts_of(counts, parts, generator):
        rest = without(solution.joint, part)
        W = solve(rest, solution.problem, clusters=solution.cluster_cap, rng=generator).encoder
        kept.append(complexity(W, np.asarray(part.sum(axis=1)).ravel()))
        told.append(relevance(W, part))
    ixz, iyz = interval_of(kept, confidence), interval_of(told, confidence)
    return CrossFitted(ixz, iyz, int(counts.sum()), parts, confidence)
