"""Is there any information at all? A permutation test of I(Y;Z) = 0.

If z and y are independent, every way to pair the records' z with their y is equally likely. The p-value is the share of random pairings,
the given one among them, that show as much information or more:

    p = (1 + #{pairings with I >= I^}) / (1 + pairings)                                  (Phipson and Smyth 2010, SAGMB 9)

It is valid at every sample size: under independence P(p <= a) <= a. A soft encoder sends record i to z with weight W[z, x_i]:
pairings are of x with y, and I is that of W N.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..checks import whole_number
from ..encoder.encoder import check_encoder
from ..errors import InvalidOptionError
from ..formatting import counted
from ..information import bits, mutual_information
from ..joint.joint import Joint
from .estimators import checked_counts, filled

PAIRINGS = 999
"""Of a test: the least p-value is then 0.001."""


class PermutationTest(NamedTuple):
    """Whether records show information that independence would not; nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.permutation_test(ip.datasets.heart(), rng=0)
    >>> found.p_value < 0.05, found.records
    (True, 299)
    """

    p_value: float
    """Share of pairings, the records' own included, that show as much information."""
    information: float
    """As the records show it."""
    expected: float
    """Mean over the random pairings: what independence alone shows."""
    pairings: int
    """Random ones drawn."""
    records: int
    """How many there are."""

    def __str__(self) -> str:
        return (
            f"p = {self.p_value:.3g}: {counted(self.records, 'record')} show {bits(self.information):.4g} bits, and "
            f"{bits(self.expected):.4g} on average over {self.pairings:,} random pairings"
        )


def permutation_test(
    counts: Any, encoder: Any = None, *, pairings: int = PAIRINGS, rng: int | np.random.Generator | None = None
) -> PermutationTest:
    """The p-value of I(X;Y) = 0, or with an encoder that of I(Y;Z) = 0, by pairing the records at random.

    Parameters
    ----------
    counts
        A 2-D table of whole numbers, dense or ``scipy.sparse``, or a `Joint` made of records.
    encoder
        p(z|x) with a column for each x, or a result that has one, made from **other** records. One that was made from these would always
        find something.
    pairings
        How many random pairings.
    rng
        Seed or numpy Generator.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.permutation_test([[30, 10], [12, 28]], rng=0).p_value
    0.001
    >>> ip.permutation_test([[20, 21], [22, 20]], rng=0).p_value > 0.5
    True
    """
    pairings = whole_number("pairings", pairings)
    table, W = filled(checked_counts(counts)), None
    if encoder is not None:
        _refuse_own(encoder, counts)
        W = check_encoder(Joint.from_counts(table), getattr(encoder, "encoder", encoder))
        if np.isin(W, (0.0, 1.0)).all():  # z takes the place of x: a smaller table
            table, W = (W @ table).astype(np.int64), None
    n_x, n_y = table.sum(axis=1), table.sum(axis=0)
    records = int(n_x.sum())

    def shown(one: Any) -> float:
        return mutual_information((one if W is None else W @ one) / records)

    given = shown(table)
    generator = np.random.default_rng(rng)
    x, y = np.repeat(np.arange(len(n_x)), n_x), np.repeat(np.arange(len(n_y)), n_y)
    found = []
    for _ in range(pairings):
        at = x * len(n_y) + generator.permutation(y)
        found.append(shown(np.bincount(at, minlength=len(n_x) * len(n_y)).reshape(len(n_x), len(n_y))))
    # Nats by which a pairing may be below the given one and still count as showing as much.
    as_much = int((np.array(found) >= given - 1e-12).sum())
    return PermutationTest((1 + as_much) / (1 + pairings), given, float(np.mean(found)), pairings, records)


def _refuse_own(encoder: Any, counts: Any) -> None:
    made = getattr(encoder, "joint", None)
    if isinstance(made, Joint) and isinstance(counts, Joint) and made.counts is not None and made == counts:
        raise InvalidOptionError(
            "the encoder was made from these records, and always shows information in them: test it on others, or test I(X;Y) without it."
        )
