"""What is left of a table's I(Y;Z) on other records: what chance shows at a point, and what held-out parts of the records show.

**Chance.** Of a bottleneck I(Y;Z) is what was searched for: in a table whose y had been dealt out anew the same search would find, on
average, at most E I(X;Y) of `information`, as I(Y;Z) <= I(X;Y). Of a funnel it is what was hidden: the population is the table plus
noise that the encoder was not made to hide, and leaks about I(Y;Z) + E0, E0 = df / 2n of this encoder (`intervals`).

**Held out.** The curve from which a parameter is chosen,

    gain = mean over held-out records (x, y) of  sum_z W[z, x] log(q(y|z) / p(y))

W, q(y|z) and p(y) from the other parts of the records, q and p with half a pseudo-count for each y. But for what p(y) itself is off, it is
on average at most I(Y;Z) of W in the population (less how far q is off), and it falls again where W begins to fit noise. A table's own
I(Y;Z) never falls, and its knee has the same shape whether there is information or not.

**Parts** need no list of the records: part g of the n_y records with outcome y is drawn without replacement from what those before left,
multivariate hypergeometric over the letters x, which is the same as shuffling the records and dealing them out, stratified by y.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import NATS_PER_BIT, Array, bits
from ..joint.joint import MOSTLY_SAMPLING, Joint
from .denoising import HALF
from .intervals import relevance

PARTS = 5
"""Of the records, where encoders are held against records that they have not seen: each is made from four fifths of them. Measured with
five in docs/benchmarks/coverage.md."""

LEAST_RECORDS = 2 * PARTS
"""Two in each part."""


def parts_of(counts: Any, parts: int, rng: np.random.Generator) -> list[Any]:
    """So many tables of counts, dense or ``csr_array`` as the given one is, which sum to it; their sizes differ by at most one record.

    Examples
    --------
    >>> table = np.array([[5, 1], [2, 8]])
    >>> found = parts_of(table, 4, np.random.default_rng(0))
    >>> [int(part.sum()) for part in found], (sum(found) == table).all()
    ([4, 4, 4, 4], np.True_)
    """
    cells = sparse.csc_array(counts)
    records = int(cells.sum())
    if records < 2 * parts:
        raise InvalidOptionError(
            f"{parts} parts need {2 * parts:,} records at least, two in each; these are {records:,}."
        )
    drawn = np.zeros((parts, cells.nnz), dtype=np.int64)
    turn = 0  # which part the next record goes to: the parts take turns, whatever its y
    for first, last in zip(cells.indptr[:-1], cells.indptr[1:], strict=True):
        left = cells.data[first:last].astype(np.int64)
        n_y = int(left.sum())
        sizes = np.bincount((turn + np.arange(n_y % parts)) % parts, minlength=parts) + n_y // parts
        turn = (turn + n_y) % parts
        for part in range(parts - 1):
            taken = rng.multivariate_hypergeometric(left, int(sizes[part]), method="marginals")
            drawn[part, first:last] = taken
            left = left - taken
        drawn[parts - 1, first:last] = left
    tables = [sparse.csc_array((one, cells.indices, cells.indptr), shape=cells.shape) for one in drawn]
    return [one.tocsr() if sparse.issparse(counts) else one.toarray() for one in tables]


def chance_of(joint: Joint, hidden_by: Array | None) -> float | None:
    """Nats of I(Y;Z) that chance shows at this point; None unless the joint is a table of records as they are.

    ``hidden_by`` is the encoder W[z, x] if it is a funnel's; of a bottleneck none is needed, and a stored one is not read for it.

    Examples
    --------
    >>> import numpy as np
    >>> from infoplane import datasets
    >>> heart = datasets.heart()
    >>> round(chance_of(heart, None), 3), round(chance_of(heart, np.full((2, 16), 0.5)), 3)
    (0.083, 0.0)
    """
    if joint.counts is None or joint.denoising is not None:
        return None
    return joint.expected_information if hidden_by is None else relevance(hidden_by, joint.counts).expected


def caution_of(joint: Joint, iyz: float, hidden_by: Array | None) -> str | None:
    """A sentence, if half of I(Y;Z) or more is what chance shows (bottleneck), or is added to it in the population (funnel); else None."""
    chance = chance_of(joint, hidden_by)
    # Nats of which nothing is to be said: a bottleneck that keeps nothing claims nothing, and a constant release leaks nothing.
    if chance is None or chance < MOSTLY_SAMPLING * iyz or max(iyz, 0.0 if hidden_by is None else chance) < 1e-9:
        return None
    n = counted(joint.records or 0, "record")
    if hidden_by is not None:
        return (
            f"I(Y;Z) is {bits(iyz):.3g} bits in this table and about {bits(iyz + chance):.3g} in the population: {n} do not show how "
            "little a release leaks (leakage_bound, funnel_at_leakage with confidence)"
        )
    return (
        f"I(Y;Z) is {bits(iyz):.3g} bits, of which up to {bits(chance):.3g} are what a search finds by chance in {n}: denoise, group "
        "letters, or take more records"
    )


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


def without_each_part(joint: Joint, rng: int, measured: Callable[[Joint, Any], Sequence[Any]]) -> list[Sequence[Any]]:
    """Part by part, what ``measured`` says of the joint without a part, denoised if this one is, and of the part's counts."""
    if (joint.records or 0) < LEAST_RECORDS:
        raise InvalidOptionError(
            f"held-out records choose for a joint made of {LEAST_RECORDS} records or more; this one "
            + ("was made of probabilities or weights." if joint.records is None else f"has {joint.records}.")
        )
    parts = parts_of(joint.counts, PARTS, np.random.default_rng(rng))
    return [measured(without(joint, part), part) for part in parts]


def without(joint: Joint, part: Any) -> Joint:
    """The joint of all records but those of a part, denoised if this one is."""
    rest, made = Joint.from_counts(joint.counts - part), joint.denoising
    return rest if made is None else rest.denoised(groups=None if made.chosen else made.groups)


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
