"""What encoders tell of Y on records that they were not made from: the curve from which a parameter is chosen.

    gain = mean over held-out records (x, y) of  sum_z W[z, x] log(q(y|z) / p(y))

W, q(y|z) and p(y) from the other parts of the records, q and p with half a pseudo-count for each y. But for what p(y) itself is off, it is
on average at most I(Y;Z) of W in the population (less how far q is off), and it falls again where W begins to fit noise. A table's own
I(Y;Z) never falls, and its knee has the same shape whether there is information or not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InvalidOptionError
from ..information import NATS_PER_BIT, Array
from ..joint.joint import Joint
from .folds import PARTS, parts_of
from .shrinkage import HALF

HOW = f"Held out: {PARTS} parts of the {{records:,}} records in turn, encoders and p(y|z) from the others; bits a record over p(y)."
"""What a sentence about such a choice ends with."""


class HeldOut(NamedTuple):
    """What the encoders of one parameter, or of one number of groups, tell of Y on records that they have not seen.

    ``gain_bits`` is the mean over the parts, ``error_bits`` its standard error. Of a funnel the gain is I(Y;Z) there, without its bias.
    """

    parameter: float
    gain_bits: float
    error_bits: float

    @property
    def tells(self) -> bool:
        """Whether it is above its standard error."""
        return self.gain_bits > self.error_bits


def has_parts(joint: Joint) -> bool:
    """Whether the joint is made of records, two for each part at least."""
    return joint.records is not None and joint.records >= 2 * PARTS


def without_each_part(joint: Joint, rng: int, measured: Callable[[Joint, Any], Sequence[Any]]) -> list[Sequence[Any]]:
    """Part by part, what ``measured`` says of the joint without a part, denoised if this one is, and of the part's counts."""
    if not has_parts(joint):
        raise InvalidOptionError(
            f"held-out records choose for a joint made of {2 * PARTS} records or more; this one "
            + ("was made of probabilities or weights." if joint.records is None else f"has {joint.records}.")
        )
    found = []
    for part in parts_of(joint.counts, PARTS, np.random.default_rng(rng)):
        rest = Joint.from_counts(joint.counts - part)
        if (made := joint.denoising) is not None:
            rest = rest.denoised(groups=None if made.chosen else made.groups)
        found.append(measured(rest, part))
    return found


def gain_of(W: Array, rest: Any, part: Any) -> float:
    """Mean over the records of a part of sum_z W[z, x] log(q(y|z) / p(y)), with q and p from the rest; nats."""
    n_y = np.asarray(rest.sum(axis=0)).ravel()
    seen = n_y > 0
    q = np.asarray(W @ rest)[:, seen] + HALF
    p = n_y[seen] + HALF
    scores = np.log(q / q.sum(axis=1, keepdims=True)) - np.log(p / p.sum())
    told = np.asarray(W @ part)[:, seen]
    return float((told * scores).sum() / part.sum())


def curve_of(parameters: Sequence[float], gains: Sequence[Sequence[float]]) -> tuple[HeldOut, ...]:
    """From a row of gains for each part, in nats: the mean over the parts and its standard error."""
    table = np.array(gains) / NATS_PER_BIT
    errors = table.std(axis=0, ddof=1) / np.sqrt(PARTS)
    return tuple(HeldOut(*one) for one in zip(parameters, table.mean(axis=0).tolist(), errors.tolist(), strict=True))
