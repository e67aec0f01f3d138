"""How much information a table of counts shows, by estimators under the names that the literature has for them; and whether there is any.

I(X;Y) = H(X) + H(Y) - H(X,Y), each entropy estimated from counts n_i of n records in m cells of which k were met:

- ``"plug-in"``: p_i = n_i / n. Too large on average; the maximum likelihood.
- ``"miller-madow"``: H^ + (k - 1) / 2n for each. Miller (1955), Note on the bias of information estimates.
- ``"grassberger"``: log n - (1/n) sum n_i G(n_i), G(n) = psi(n) + (-1)^n (psi((n+1)/2) - psi(n/2)) / 2. Grassberger (2003), arXiv:
  physics/0307138.
- ``"chao-shen"``: -sum p~_i log p~_i / (1 - (1 - p~_i)^n), p~_i = C p_i, C = 1 - f_1/n the coverage, f_1 the cells met once. Chao and Shen
  (2003), Environmental and Ecological Statistics 10.
- ``"shrinkage"``: the plug-in of p_i = l t_i + (1 - l) n_i/n, t uniform, l = (1 - sum (n_i/n)^2) / ((n - 1) sum (t_i - n_i/n)^2) in [0, 1].
  Hausser and Strimmer (2009), JMLR 10. All cells of the table count, empty ones too; marginals are those of the shrunk table.

None of them is below 0 here. None gives an interval: `evaluate` does, for an encoder; and none makes a table of noise say nothing:
`Joint.denoised` does.

**A permutation test** of I(Y;Z) = 0: if z and y are independent, every way to pair the records' z with their y is equally likely. The
p-value is the share of random pairings, the given one among them, that show as much information or more:

    p = (1 + #{pairings with I >= I^}) / (1 + pairings)                                  (Phipson and Smyth 2010, SAGMB 9)

It is valid at every sample size: under independence P(p <= a) <= a. A soft encoder sends record i to z with weight W[z, x_i]:
pairings are of x with y, and I is that of W N.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ..checks import check_one_of, whole_number
from ..encoder.encoder import check_encoder, encoder_for, made_from
from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import counted
from ..information import Array, bits, entropy, mutual_information
from ..joint.joint import Joint
from ..joint.tables import LARGEST_TABLE, checked_table, dense, whole_counts
from .denoising import counts_of


def estimate_information(counts: Any, method: str = "miller-madow") -> float:
    """I(X;Y) in nats from a table of counts, by a named estimator.

    Parameters
    ----------
    counts
        A 2-D table of whole numbers, dense or ``scipy.sparse``, or a `Joint` made of records.
    method
        ``"plug-in"``, ``"miller-madow"``, ``"grassberger"``, ``"chao-shen"`` or ``"shrinkage"`` (James-Stein); formulas and references are
        in `infoplane.sampling.estimators`.

    Examples
    --------
    >>> import infoplane as ip
    >>> table = [[6, 1, 2], [2, 7, 1]]
    >>> [round(ip.estimate_information(table, method), 4) for method in ("plug-in", "miller-madow", "shrinkage")]
    [0.1958, 0.1432, 0.0658]
    """
    check_one_of("method", method, (PLUG_IN, *ENTROPIES, SHRUNK))
    table = checked_counts(counts)
    if method == PLUG_IN:
        return mutual_information(table / table.sum())
    if method == SHRUNK:
        return mutual_information(_james_stein(table))
    estimate = ENTROPIES[method]
    rows, columns = (np.asarray(table.sum(axis=axis), dtype=float).ravel() for axis in (1, 0))
    cells = np.asarray(table if isinstance(table, np.ndarray) else table.data, dtype=float).ravel()
    return max(sum(estimate(part[part > 0]) for part in (rows, columns)) - estimate(cells[cells > 0]), 0.0)


def checked_counts(counts: Any) -> Any:
    """A table of whole numbers; of a joint, its own."""
    if isinstance(counts, Joint):
        return counts_of(counts, "an estimate of information")
    table = whole_counts(checked_table(counts, "counts"))
    if table is None:
        raise InvalidJointError("counts of records must be whole numbers; found others. Weights are no records.")
    return table


def filled(table: Any) -> Any:
    """A dense table; refused beyond `LARGEST_TABLE`."""
    if not isinstance(table, np.ndarray) and math.prod(table.shape) > LARGEST_TABLE:
        raise InvalidJointError(
            f"this needs every cell of the table, at most {LARGEST_TABLE:,}; its shape is {table.shape}."
        )
    return dense(table)


def _miller_madow(n_i: Array) -> float:
    n = n_i.sum()
    return entropy(n_i / n) + float((len(n_i) - 1) / (2.0 * n))


def _grassberger(n_i: Array) -> float:
    from scipy.special import digamma  # its import takes longer than a small table

    n = n_i.sum()
    sign = np.where(n_i % 2 == 0, 1.0, -1.0)
    G = digamma(n_i) + 0.5 * sign * (digamma(0.5 * (n_i + 1.0)) - digamma(0.5 * n_i))
    return float(np.log(n) - (n_i * G).sum() / n)


def _chao_shen(n_i: Array) -> float:
    n = n_i.sum()
    once = int((n_i == 1.0).sum())
    # Every record alone: the coverage would be 0, and the estimate infinite; one record less is Chao and Shen's own convention.
    coverage = 1.0 - min(once, n - 1.0) / n
    p = coverage * n_i / n
    met = -np.expm1(n * np.log1p(-p)) if (p < 1.0).all() else np.ones_like(p)
    return float(-(p * np.log(p) / met).sum())


def _james_stein(table: Any) -> Array:
    """The table of probabilities, shrunk towards the uniform one."""
    p = filled(table) / table.sum()
    n, target = int(table.sum()), 1.0 / p.size
    apart = (n - 1.0) * float(((target - p) ** 2).sum())
    share = 1.0 if apart <= 0.0 else min(max((1.0 - float((p * p).sum())) / apart, 0.0), 1.0)
    shrunk: Array = share * target + (1.0 - share) * p
    return shrunk


PLUG_IN, SHRUNK = "plug-in", "shrinkage"

ENTROPIES: dict[str, Callable[[Array], float]] = {
    "miller-madow": _miller_madow,
    "grassberger": _grassberger,
    "chao-shen": _chao_shen,
}
"""Estimators of one entropy, of which I(X;Y) takes three."""

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
    from scipy.stats import random_table  # its import takes longer than a small test

    pairings = whole_number("pairings", pairings)
    table, W = filled(checked_counts(counts)), None
    if encoder is not None:
        if isinstance(counts, Joint) and made_from(counts, encoder):
            raise InvalidOptionError(
                "the encoder was made from these records, and always shows information in them: test it on others, or test I(X;Y) "
                "without it."
            )
        if isinstance(counts, Joint):
            W = encoder_for(counts, encoder)
        else:
            W = check_encoder(Joint.from_counts(table), getattr(encoder, "encoder", encoder))
        if np.isin(W, (0.0, 1.0)).all():  # z takes the place of x: a smaller table
            table, W = (W @ table).astype(np.int64), None
    n_x, n_y = table.sum(axis=1), table.sum(axis=0)
    records = int(n_x.sum())

    def shown(one: Any) -> float:
        return mutual_information((one if W is None else W @ one) / records)

    given = shown(table)
    generator, paired = np.random.default_rng(rng), random_table(n_x, n_y)
    found = [shown(paired.rvs(random_state=generator)) for _ in range(pairings)]
    # Nats by which a pairing may be below the given one and still count as showing as much.
    as_much = int((np.array(found) >= given - 1e-12).sum())
    return PermutationTest((1 + as_much) / (1 + pairings), given, float(np.mean(found)), pairings, records)
