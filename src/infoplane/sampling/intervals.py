"""I(X;Z) and I(Y;Z) in the population, for an encoder W that was fixed before n records were looked at: plug-in, bias, variance, interval.

    q = W P^,   psi(x, y) = sum_z W[z, x] log(q(z, y) / (p(z) p(y))),   I^ = mean of psi over the records
    df = (|Y| - 1) (sum_z (W.W p^_x)_z / p_z - 1),    E I^ - I = df / 2n,    Var I^ = Var psi / n + |df| / 2n^2

    I^ - df/2n  +-  z sqrt(Var I^),   clipped at 0                                                                (95%: z = 1.96)

with |Y| the letters seen, W.W the squares entry by entry. A hard W has df = (|Z| - 1) (|Y| - 1), Miller's and Wilks' number; a soft one
has less, since its noise is not that of the records. Of I(X;Z), psi(x) = KL(W_x || p_z) and df = -(sum_z (W.W p^_x)_z / p_z - 1), as the
plug-in H(Z) is too small. The first term of the variance is the delta method's; the second is the spread of a chi-square with |df| degrees,
which is all that is left where psi vanishes: at independence, and of I(X;Z) where p(z) is uniform. To first order in 1/n. Coverage is
measured in docs/benchmarks/coverage.md, beside that of a percentile bootstrap, which fails since every resampled table is as much too
informative again. On the records that W was made from none of this holds.

**How much a release leaks, at most**: an upper confidence bound of I(Y;Z). *From records that the encoder has not seen*, 2n I^ is near a
non-central chi-square with df = 2n E0 degrees of freedom (E0: what independence alone would show) and non-centrality 2n I while I is small,
and normal once it is not. The bound is the larger of

    lambda / 2n  with  P(chi2_df(lambda) <= 2n I^) = 1 - confidence
    max(I^ - E0, 0) + z sqrt(Var psi / n + E0 / n),    z the normal quantile

It is asymptotic, and was measured to hold (docs/explanation/leakage.md). A release that is nearly constant has log(1/(1 - confidence)) / n,
at 95% three divided by the number of records. Values of Y with fewer than ten records, or none, break it, and are taken as one (with the
least of the others, if they are too few together). What telling them apart could add is at most P(pool) H(Y|pool), by the chain rule:

    I(Y;Z) <= I(pooled Y;Z) + P(pool) H(Y|pool),   rare masses at their upper limits (Poisson, a fifth of the error),

and the bound has that added.

*From the records that it was made from* the same cannot be said: a funnel hides what chance put into its table, and I^ is at its cap
whatever the population is like. But the population is the table plus noise, q = W P^ + W (P - P^), which W was not made to hide: its
leakage is spread about I^ + E0 as the plug-in of a fixed encoder is spread about its own truth, and the bound is

    the larger of  F^-1(confidence) / 2n,  F of chi2_df(2n I^),   and   I^ + E0 + z sqrt(Var psi / n + E0 / n).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..checks import number
from ..encoder.encoder import encoder_for, made_from
from ..errors import InvalidOptionError
from ..formatting import counted, label_text
from ..information import Array, IntArray, bits, expected_information, mutual_information, rel_entr
from ..joint.joint import Joint, check_joint


class SampledInformation(NamedTuple):
    """I(Y;Z), or I(X;Z), as n records show it; nats."""

    records: int
    value: float
    """The plug-in I^."""
    variance: float
    """Var psi."""
    degrees: float
    """df: I^ is df / 2n too large on average."""
    expected: float = math.nan
    """Of I(Y;Z), what independence alone would show, on average: of a hard encoder exactly, with these counts; else df / 2n."""

    @property
    def centre(self) -> float:
        """Without its bias; may be below 0."""
        return self.value - self.degrees / (2.0 * self.records)

    @property
    def squared_error(self) -> float:
        """Var I^."""
        return self.variance / self.records + abs(self.degrees) / (2.0 * self.records**2)


def relevance(W: Array, counts: Any) -> SampledInformation:
    """I^(Y;Z) of the encoder W[z, x] = p(z|x) from counts N[x, y], dense or ``scipy.sparse``, of records that did not shape W.

    Examples
    --------
    >>> found = relevance(np.eye(2), np.array([[30, 10], [10, 30]]))
    >>> found.records, round(found.value, 4), found.degrees
    (80, 0.1308, 1.0)
    """
    n = int(counts.sum())
    cells = sparse.coo_array(counts)
    share = cells.data / n
    n_x, n_y = (np.asarray(counts.sum(axis=axis)).ravel() for axis in (1, 0))
    q: Array = np.asarray(W @ counts) / n
    p_z, p_y = W @ n_x / n, n_y / n
    logs = np.log(np.divide(q, p_z[:, None] * p_y, out=np.ones_like(q), where=q > 0.0))
    value = mutual_information(q)
    # Products of a cell and a cluster that are held at once.
    square, step = 0.0, max(1_000_000 // len(W), 1)
    for first in range(0, len(share), step):
        at = slice(first, first + step)
        psi = (W[:, cells.row[at]] * logs[:, cells.col[at]]).sum(axis=0)
        square += float(share[at] @ (psi - value) ** 2)
    degrees = max(float((np.count_nonzero(n_y) - 1) * _spread(W, n_x / n, p_z)), 0.0)
    expected = degrees / (2 * n)
    if np.isin(W, (0.0, 1.0)).all():
        expected = expected_information((W @ n_x).astype(np.int64), n_y.astype(np.int64))
    return SampledInformation(n, value, square, degrees, expected)


def _spread(W: Array, p_x: Array, p_z: Array) -> float:
    """sum_z (W.W p_x)_z / p_z - 1."""
    alive = p_z > 0.0
    return float(((W * W) @ p_x)[alive] @ (1.0 / p_z[alive])) - 1.0


class InformationInterval(NamedTuple):
    """An information in the population, as records show it; nats."""

    value: float
    """The plug-in: of the table of these records."""
    corrected: float
    """The same without its bias to first order, at least 0."""
    low: float
    high: float

    def __str__(self) -> str:
        value, corrected, low, high = (bits(one) for one in self)
        return f"{corrected:.4g} bits, {low:.4g} to {high:.4g} (the table itself says {value:.4g})"


def complexity(W: Array, n_x: Array) -> SampledInformation:
    """I(X;Z) from the number of records of each x.

    Examples
    --------
    >>> bool(complexity(np.eye(2), np.array([50, 50])).centre > np.log(2.0))  # the plug-in entropy is too small on average
    True
    """
    n = int(n_x.sum())
    p_x = n_x / n
    p_z = W @ p_x
    alive = p_z > 0.0
    psi = np.where(p_x > 0.0, rel_entr(W[alive], p_z[alive, None]).sum(axis=0), 0.0)
    value = float(p_x @ psi)
    return SampledInformation(n, value, float(p_x @ (psi - value) ** 2), -_spread(W, p_x, p_z))


def interval_of(shown: Sequence[SampledInformation], confidence: float) -> InformationInterval:
    """From one set of records, or from several parts of them, each with an encoder that has not seen it: weighted by their records."""
    shares = np.array([one.records for one in shown]) / sum(one.records for one in shown)
    value = float(shares @ [one.value for one in shown])
    middle = max(float(shares @ [one.centre for one in shown]), 0.0)
    error = math.sqrt(float(shares**2 @ [one.squared_error for one in shown]))
    reach = NormalDist().inv_cdf(0.5 + 0.5 * confidence) * error
    return InformationInterval(value, middle, max(middle - reach, 0.0), middle + reach)


CONFIDENCE = 0.95
"""Of the bound, unless the caller says otherwise."""


class LeakageRules(NamedTuple):
    """What the bound takes together, and what it leaves out."""

    rare: int = 10
    """Records of a value of Y below which it is taken together with others: with five, the bound held in .35 to .62 of the samples."""
    smallest_degrees: float = 1e-9
    """Degrees of freedom that stand for none: the chi-square is then 0 or, with probability 1 - exp(-lambda/2), is not."""
    rare_share: float = 0.2
    """Of the error, what the masses of the rare values may take: their part is small, and exact."""


RULES = LeakageRules()


@dataclass(frozen=True)
class LeakageBound:
    """What n records say of an encoder's I(Y;Z) in the population they were drawn from; nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint = ip.datasets.heart()
    >>> found = ip.leakage_bound(ip.merge_two(joint).encoder_at(2), joint)
    >>> found.iyz < found.bound, found.records
    (True, 299)
    """

    bound: float
    """I(Y;Z) is at most this, in so many of a hundred samples as `confidence` says; asymptotic."""
    iyz: float
    """I(Y;Z) in these records."""
    expected: float
    """What these records would show on average of a release that leaks nothing."""
    records: int
    """How many there are."""
    confidence: float
    """Such as 0.95."""
    seen: bool = False
    """Whether the encoder was made from these records; the bound is then I(Y;Z) plus what their noise can add, and not less."""
    pooled: tuple[Hashable, ...] = field(default=())
    """Values of Y that were taken as one, as some of them have fewer than ten records; () if none were."""
    pooled_part: float = 0.0
    """Of the bound, what telling these values apart could add."""

    def __str__(self) -> str:
        seen, shown = bits(self.iyz), f"{counted(self.records, 'record')} that the encoder"
        said = (
            f"{shown} was made from show {seen:.4g} bits, and {bits(self.iyz + self.expected):.4g} are to be expected of others"
            if self.seen
            else f"{shown} has not seen show {seen:.4g} bits, and would show {bits(self.expected):.4g} if it leaked nothing"
        )
        said = (
            f"I(Y;Z) in the population is at most {bits(self.bound):.4g} bits with {100 * self.confidence:g}% confidence (asymptotic): "
            f"{said}"
        )
        if not self.pooled:
            return said
        names = ", ".join(label_text(label, 30) for label in self.pooled[:3])
        more = f" and {len(self.pooled) - 3:,} more" if len(self.pooled) > 3 else ""
        return (
            f"{said}; {names}{more} were taken as one value, as some have fewer than {RULES.rare} records, and "
            f"{bits(self.pooled_part):.4g} bits of the bound are for telling them apart"
        )


def leakage_bound(encoder: Any, joint: Joint, *, confidence: float = CONFIDENCE) -> LeakageBound:
    """An upper bound of I(Y;Z) in the population that the records were drawn from.

    Parameters
    ----------
    encoder
        W[z, x] = p(z|x) with a column for each x of the joint, or a result that has an ``encoder`` (a `Solution`, a `CappedFunnel`, ...),
        whose columns are then found by its labels. The records should be **others** than it was made from. A result that was made from
        this very table gets a bound that allows for it (``seen``), and is larger; of a bare array nobody knows.
    joint
        A table of records (`Joint.counts`): of samples, rows or whole-number counts.
    confidence
        Between 0.5 and 1.

    Returns
    -------
    LeakageBound
        ``bound`` in nats; ``print`` it for a sentence. It is asymptotic. Values of Y with fewer than 10 records are taken as one, and what
        telling them apart could add is in the bound.

    Examples
    --------
    >>> import infoplane as ip
    >>> heart, rng = ip.datasets.heart(), np.random.default_rng(0)
    >>> old, new = (ip.Joint.from_counts(rng.multinomial(n, heart.p_xy.ravel()).reshape(heart.shape)) for n in (2000, 20000))
    >>> release = ip.funnel_at_leakage(old, max_iyz=0.01)
    >>> found = ip.leakage_bound(release, new)
    >>> release.iyz < 0.01 < found.iyz < found.bound
    True
    """
    check_joint(joint)
    confidence = checked_confidence(confidence)
    if joint.counts is None:
        raise InvalidOptionError(
            "a bound for the population needs the records: a joint from samples, rows or whole-number counts. This one was made of "
            "probabilities or weights."
        )
    if joint.counts.sum() < 2:
        raise InvalidOptionError(f"a bound for the population needs records; found {int(joint.counts.sum())}.")
    seen = made_from(joint, encoder)
    return bound_of(encoder_for(joint, encoder), joint.counts, confidence, joint.y_labels, seen=seen)


def checked_confidence(value: float) -> float:
    """A confidence, or an error that says what one is."""
    return number("confidence", value, "a number from 0.5 to below 1, such as 0.95", least=0.5, below=1.0)


def bound_of(
    W: Array, counts: Any, confidence: float, y_labels: tuple[Hashable, ...], *, seen: bool = False
) -> LeakageBound:
    """The bound for checked arguments; ``counts`` N[x, y], dense or sparse, at least one record; ``seen`` if W was made from them."""
    n_y = np.asarray(counts.sum(axis=0)).ravel().astype(np.int64)
    n, error = int(n_y.sum()), 1.0 - confidence
    pool = _pool(n_y)
    part = 0.0
    if len(pool):
        part = _told_apart(n_y[pool], n, RULES.rare_share * error)
        error *= 1.0 - RULES.rare_share
        counts = _pooled(counts, pool)
    found = relevance(W, counts)
    says = np.ptp(W, axis=1).max() > 0.0  # a release that is the same for every x leaks nothing, whatever the records
    most = min(
        part + _upper(found, error, seen=seen), math.log(len(W))
    )  # whatever the records, I(Y;Z) <= H(Z) <= log |Z|
    return LeakageBound(
        bound=most if says else 0.0,
        iyz=found.value,
        expected=found.expected,
        records=n,
        confidence=confidence,
        seen=seen,
        pooled=tuple(y_labels[y] for y in pool),
        pooled_part=min(part, most),
    )


def _upper(found: SampledInformation, error: float, *, seen: bool = False) -> float:
    """The larger of the two bounds at the top of this module: for records that the encoder has not seen, or that it was made from."""
    from scipy.special import chndtr, chndtrinc, chndtrix, ndtri  # as in `information`

    n = found.records
    statistic, degrees = 2.0 * n * found.value, max(2.0 * n * found.expected, RULES.smallest_degrees)
    if seen:
        skewed, centre = float(chndtrix(1.0 - error, degrees, statistic)), found.value + found.expected
    else:
        skewed = float(chndtrinc(statistic, degrees, error)) if chndtr(statistic, degrees, 0.0) > error else 0.0
        centre = max(found.value - found.expected, 0.0)
    margin = float(ndtri(1.0 - error)) * math.sqrt((found.variance + found.expected) / n)
    return max(skewed / (2.0 * n), centre + margin)


def predicted_bound(found: SampledInformation, confidence: float) -> float:
    """What to expect of the bound from as many fresh records, for an encoder made from these: they will show I^ + 2 E0.

    Once E0 for what its own records do not show, once for the noise of the others.
    """
    return _upper(found._replace(value=found.value + 2.0 * found.expected), 1.0 - confidence)


def _pool(n_y: IntArray) -> IntArray:
    """The values of Y with too few records, if any, and of the others, smallest first, as many as it takes to have enough together."""
    order = np.argsort(n_y, kind="stable")
    if not (rare := int(np.count_nonzero(n_y[order] < RULES.rare))):
        return order[:0]
    enough = int(np.searchsorted(np.cumsum(n_y[order]), RULES.rare)) + 1
    return np.sort(order[: max(rare, enough)])


def _told_apart(n_y: IntArray, n: int, error: float) -> float:
    """P(pool) H(Y|pool) = sum_y p_y log(P / p_y), P = sum_y p_y, which grows with every p_y: each at its upper limit."""
    from scipy.special import gammaincinv

    p = gammaincinv(n_y + 1.0, 1.0 - error / len(n_y)) / n
    return float((p * np.log(p.sum() / p)).sum())


def _pooled(counts: Any, pool: IntArray) -> Any:
    """The counts with the columns of a pool taken as one, which comes last."""
    rest = np.setdiff1d(np.arange(counts.shape[1]), pool)
    one = np.asarray(counts[:, pool].sum(axis=1)).reshape(-1, 1)
    if isinstance(counts, np.ndarray):
        return np.hstack([counts[:, rest], one])
    return sparse.hstack([counts[:, rest], sparse.csr_array(one)], format="csr")
