"""The denoised joint: what of p(y|x) the records support, letter by letter.

P~(x, y) = (n_x / n) p~(y|x),   p~(y|x) = sum_z p(z|x) q_z(y)                  (beta_x = n_x, below)

How many groups K? 2, 4, 8, 16, 32, until -log likelihood + (K|Y| - 1)/2 rises: AIC, with half a nat a parameter instead of one. Whether
any? Only if BIC, with log(|X|)/2 a parameter, prefers some K > 1 to one group: else p~(y|x) = p(y) and I(X;Y) = 0. Up to 32 letters all
are kept, each shrunk by itself, behind the same gate. What it gains is estimated without folds: the loss of a record, if its own count is
taken out of its letter's row and the groups stay, is -log p_-i(y|x) = log sum_z p(z|x) / q_z(y).

**Shrinkage** towards what all rows say together, pi, by a Dirichlet prior whose concentration the rows themselves choose:

    p(n_x | a) = Gamma(a) / Gamma(n_x + a) prod_y Gamma(n_xy + a pi_y) / Gamma(a pi_y)          (Dirichlet-multinomial)
    p(y|x)     = (n_xy + a pi_y) / (n_x + a),     a = argmax sum_x log p(n_x | a)               (empirical Bayes)

A category that was seen twice says about pi, one that was seen ten thousand times about its own counts. Reference: Minka (2000), Estimating
a Dirichlet distribution; the multinomial coefficients, which do not depend on a, are left out throughout.

**The bottleneck of a sample** has beta_x = n_x, letter by letter, which is EM for a mixture of multinomials:

    p(z|x) = p(z) exp(sum_y n_xy log q_z(y)) / normaliser,  p(z) <- mean_x p(z|x),  q_z(y) <- (sum_x p(z|x) n_xy + 1/2) / normaliser

The bottleneck's own equation is p(z|x) ~ p(z) exp(beta sum_y p(y|x) log q_z(y)), with one beta for all letters. Here a letter that was seen
n_x times has beta n_x: a rare one is spread over what is common, a frequent one speaks for itself. What EM maximises is the likelihood of
the counts under sum_z p(z) prod_y q_z(y)^n_xy, with half a pseudo-count in every q_z(y); SQUAREM makes its steps longer and never gives a
lower likelihood than plain steps. References: Laird (1978), JASA 73 (mixing distributions by maximum likelihood); Varadhan and Roland
(2008), Scand. J. Stat. 35 (SQUAREM).

Rows that are equal are computed once: of 44,000 rare categories, a few thousand differ.
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..checks import check_one_of, whole_number
from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import counted
from ..information import Array, Result
from ..joint.grouping import grouped
from ..joint.joint import Joint, Support
from ..joint.tables import LARGEST_TABLE, dense

if TYPE_CHECKING:
    import pandas as pd


class DistinctRows(NamedTuple):
    """The different rows of a table of counts, in the order of their first appearance."""

    rows: Array  # (distinct, |Y|)
    times: Array  # (distinct,)   how many rows are this one

    @classmethod
    def of(cls, counts: Any) -> DistinctRows:
        """Of a dense table of whole numbers.

        Examples
        --------
        >>> found = DistinctRows.of(np.array([[1, 0], [2, 1], [1, 0]]))
        >>> found.rows.tolist(), found.times.tolist()
        ([[1.0, 0.0], [2.0, 1.0]], [2.0, 1.0])
        """
        table = np.ascontiguousarray(counts, dtype=float)
        times = Counter(row.tobytes() for row in table)
        return cls(np.frombuffer(b"".join(times)).reshape(-1, table.shape[1]), np.array([*times.values()], dtype=float))


HALF = 0.5
"""Pseudo-count of every y in what all rows say together, and in each centre (Krichevsky and Trofimov 1981)."""


LEAST, MOST = 1e-2, 1e6
"""Between which the concentration a is looked for: a row of one record, or of a million, then decides alone or not at all."""


def overall(columns: Array) -> Array:
    """pi_y = (n_y + 1/2) / (n + |Y|/2), from the counts of each y."""
    return np.asarray((columns + HALF) / (columns + HALF).sum())


def log_likelihood(counts: DistinctRows, alpha: Array) -> float:
    """sum_x log p(n_x | alpha) in nats, alpha = a pi."""
    from scipy.special import gammaln  # its import takes longer than a small joint

    # The same few counts occur again and again: one logarithm for each that is different.
    total = 0.0
    for seen, a, sign in [
        *((counts.rows[:, y], float(alpha[y]), 1.0) for y in range(len(alpha))),
        (counts.rows.sum(axis=1), float(alpha.sum()), -1.0),
    ]:
        n, which = np.unique(seen, return_inverse=True)
        total += sign * float(np.bincount(which.ravel(), counts.times) @ (gammaln(n + a) - gammaln(a)))
    return total


def concentrated(counts: DistinctRows) -> Array:
    """alpha = a pi with the a of largest likelihood."""
    from scipy.optimize import minimize_scalar

    pi = overall(counts.times @ counts.rows)
    found = minimize_scalar(
        lambda log_a: -log_likelihood(counts, np.exp(log_a) * pi),
        bounds=(np.log(LEAST), np.log(MOST)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return np.asarray(np.exp(found.x) * pi)


def shrunk(rows: Array, alpha: Array) -> Array:
    """p(y|x) = (n_xy + alpha_y) / (n_x + a) of every row."""
    return np.asarray((rows + alpha) / (rows + alpha).sum(axis=1, keepdims=True))


class EMRules(NamedTuple):
    """When EM ends."""

    steps: int = 500
    """EM steps at most, so that the worst table takes seconds; the tables of benchmarks/sampling.py end long before."""
    rise: float = 1e-6
    """Relative rise of the likelihood, over a SQUAREM cycle, below which it has ended: stopping early is a little shrinkage more. On
    InstEval's students 1e-9 raises the likelihood of 8 groups by 8 nats of 115,848."""
    faint: float = 1e-12
    """Least p(z) inside EM, so that its logarithm is finite; groups below `DEAD` at the end are left out."""
    dead: float = 1e-9
    """P(z)."""


RULES = EMRules()


class MultinomialMixture(NamedTuple):
    """p(z) and q_z(y), and the log likelihood of the counts that they were fitted to (without the pseudo-counts' share)."""

    weights: Array  # (K,)
    centres: Array  # (K, |Y|)
    likelihood: float = math.nan


def posterior(rows: Array, weights: Array, centres: Array) -> Array:
    """p(z|x), (rows, K), of categories with these counts; p(z) of one that was never seen."""
    return softmax(rows @ np.log(centres).T + np.log(weights))[0]


def fitted(counts: DistinctRows, groups: int, alpha: Array) -> MultinomialMixture:
    """EM from hard groups of the rows after shrinkage by alpha, and from the same drawn apart; there may be fewer in the end."""
    weights, centres = _start(counts, groups, alpha)
    found = [_climbed(counts, weights, one) for one in (centres, _apart(centres, alpha / alpha.sum()))]
    return max(found, key=lambda one: one.likelihood + HALF * float(np.log(one.centres).sum()))


def _climbed(counts: DistinctRows, weights: Array, centres: Array) -> MultinomialMixture:
    """EM steps until the likelihood rises no more."""
    theta = np.column_stack([np.log(weights), np.log(centres)])
    once, _ = _step(counts, theta)
    last, steps = -np.inf, 1
    while steps < RULES.steps:
        twice, value = _step(counts, once)
        steps += 2
        if value - last < RULES.rise * abs(value):
            break
        last = value
        r, v = once - theta, twice - 2.0 * once + theta
        # The longest SQUAREM step, in EM steps.
        length = min(max(float(np.linalg.norm(r)) / max(float(np.linalg.norm(v)), 1e-150), 1.0), 64.0)
        far = _normalised(theta + 2.0 * length * r + length**2 * v)
        beyond, ahead = _step(counts, far)
        theta, once = (far, beyond) if ahead >= value else (once, twice)
    alive = once[:, 0] > np.log(RULES.dead)
    weights, centres = np.exp(once[alive, 0]), np.exp(once[alive, 1:])
    weights /= weights.sum()
    _, log_total = softmax(counts.rows @ np.log(centres).T + np.log(weights))
    return MultinomialMixture(weights, centres, float(counts.times @ log_total))


def _step(counts: DistinctRows, theta: Array) -> tuple[Array, float]:
    """One EM step from theta = (log p(z), log q_z(y)), and the penalised log likelihood at theta."""
    log_p, log_q = theta[:, 0], theta[:, 1:]
    posterior, log_total = softmax(counts.rows @ log_q.T + log_p)
    value = float(counts.times @ log_total + HALF * log_q.sum())
    posterior *= counts.times[:, None]
    p = posterior.sum(axis=0)
    q = posterior.T @ counts.rows + HALF
    log_p = np.log(np.maximum(p / p.sum(), RULES.faint))
    return np.column_stack([log_p, np.log(q / q.sum(axis=1, keepdims=True))]), value


def softmax(scores: Array) -> tuple[Array, Array]:
    """exp(scores) over its sum, row by row, and the logarithm of that sum; the scores are overwritten."""
    top = scores.max(axis=1, keepdims=True)
    scores -= top
    np.exp(scores, out=scores)
    total = scores.sum(axis=1, keepdims=True)
    scores /= total
    return scores, (top + np.log(total))[:, 0]


def _normalised(theta: Array) -> Array:
    """Logarithms whose exponentials sum to 1 again, over z and over y, none of them below the least that EM itself gives."""
    log_p, log_q = np.maximum(theta[:, :1], np.log(RULES.faint)), theta[:, 1:]
    return np.column_stack([log_p - softmax(log_p.T.copy())[1], log_q - softmax(log_q.copy())[1][:, None]])


def _apart(centres: Array, pi: Array) -> Array:
    """Centres twice as far from pi, and positive: the means of shrunk rows lie closer together than what the rows were drawn from."""
    drawn = np.maximum(pi + 2.0 * (centres - pi), 0.2 * np.minimum(centres, pi))
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _start(counts: DistinctRows, groups: int, alpha: Array) -> tuple[Array, Array]:
    """p(z) and q_z(y) of hard groups of the rows p(y|x) after shrinkage, each weighted by its records.

    Groups of the raw rows would be chosen for the extremes that few records show by chance.
    """
    mass = (counts.times * counts.rows.sum(axis=1))[:, None] * shrunk(counts.rows, alpha)
    labels = grouped(Support(Joint.from_counts(mass)), groups)
    K = int(labels.max()) + 1
    centres = np.stack([np.bincount(labels, column, K) for column in mass.T], axis=1)
    return np.bincount(labels, counts.times, K) / counts.times.sum(), centres / centres.sum(axis=1, keepdims=True)


LADDER = (2, 4, 8, 16, 32)
"""Numbers of groups that are tried. 64 or 128 would gain 1% more on one table of benchmarks/sampling.py, 0.2% on another (--most 128)."""

PENALTY = 0.5
"""Nats for each parameter of the criterion; AIC has 1. A mixture is singular: groups that coincide are parameters that fit nothing, and one
group too many raises the likelihood by less than AIC takes off (Watanabe 2009, Algebraic Geometry and Statistical Learning Theory). Of the
best held-out gain on COMPAS' charges 1 keeps 94% and 0.5 keeps 97% (docs/benchmarks/sampling.md); on the other tables it hardly matters."""

FEW = 32
"""Letters up to which all are kept: a mixture has nothing to pool there (education x occupation of Adult: docs/benchmarks/sampling.md)."""

MIXTURE, SHRINKAGE, CONSTANT = "mixture", "shrinkage", "constant"


class Candidate(NamedTuple):
    """One number of groups that was tried: log likelihood, criterion (`PENALTY`) and BIC in nats; held-out gain, nats a record."""

    groups: int
    log_likelihood: float
    criterion: float
    bic: float
    gain: float


@dataclass(frozen=True, eq=False)
class Denoising(Result):
    """How a joint was denoised, and what puts other counts through the same.

    Attributes
    ----------
    how
        ``"mixture"``: letters share `groups` centres. ``"shrinkage"``: every letter keeps a row of its own, shrunk towards p(y).
        ``"constant"``: the records support no difference between letters; I(X;Y) = 0.
    groups
        K of the mixture; as many as letters with records for shrinkage; 1 if constant.
    gain
        Held-out gain over p(y), in nats per record, leave-one-out with the groups kept: up to a fifth more than five folds show.
    chosen
        Whether `groups` was chosen from the records, not given.
    prior
        p(y) of all records, with half a record more for each y; over the letters of Y that were seen.
    weights, centres
        p(z), and q_z(y) over the letters of Y that were seen; of the mixture, or of its one group if constant, or empty for shrinkage.
    concentration
        alpha_y = a pi_y, the pseudo-counts of shrinkage.
    seen
        Which letters of Y have records.
    curve
        Every number of groups that was tried (`Candidate`), one group first; for shrinkage its one alternative.

    Examples
    --------
    >>> import infoplane as ip
    >>> made = ip.datasets.heart().denoised()
    >>> made.denoising.how, made.denoising.groups
    ('shrinkage', 16)
    """

    how: str
    groups: int
    gain: float
    chosen: bool
    prior: Array
    weights: Array
    centres: Array
    concentration: Array
    seen: NDArray[np.bool_]
    curve: tuple[Candidate, ...]

    @property
    def summary(self) -> str:
        """A word or two on how."""
        return "letters shrunk" if self.how == SHRINKAGE else counted(self.groups, "group")

    def __str__(self) -> str:
        what = {
            MIXTURE: f"{counted(self.groups, 'group')} of letters, {'chosen by likelihood' if self.chosen else 'as asked for'}",
            SHRINKAGE: f"{counted(self.groups, 'letter')}, each shrunk towards p(y) as if by {self.concentration.sum():.3g} records",
            CONSTANT: "one group"
            + (": the records support no difference between letters" if self.chosen else ", as asked for"),
        }[self.how]
        return f"{what}; held-out gain {1e3 * self.gain:.3g} millinats a record"

    def conditional(self, counts: Any) -> Array:
        """p~(y|x) of letters with these counts of each y, (rows, |Y|); p(y) where there are none.

        Examples
        --------
        >>> import numpy as np, infoplane as ip
        >>> joint = ip.Joint.from_counts([[80, 20], [30, 70]]).denoised()
        >>> joint.denoising.conditional([[0, 0], [800, 200]]).round(2).tolist()
        [[0.55, 0.45], [0.8, 0.2]]
        """
        rows = self._rows(counts)
        if self.how == SHRINKAGE:
            found = shrunk(rows, self.concentration)
        else:
            found = posterior(rows, self.weights, self.centres) @ self.centres
            found[rows.sum(axis=1) == 0.0] = self.prior
        full = np.zeros((len(rows), len(self.seen)))
        full[:, self.seen] = found
        return full

    def posterior(self, counts: Any) -> Array:
        """p(z|x) of the mixture's groups, (K, rows), for letters with these counts of each y."""
        if self.how == SHRINKAGE:
            raise InvalidOptionError(
                "p(z|x) of a denoising belongs to a mixture; here every letter is kept, since there are few: use conditional."
            )
        return np.ascontiguousarray(posterior(self._rows(counts), self.weights, self.centres).T)

    def _rows(self, counts: Any) -> Array:
        rows = np.asarray(counts, dtype=float)
        if rows.ndim != 2 or rows.shape[1] != len(self.seen):
            raise InvalidOptionError(
                f"counts must have a row per letter and {len(self.seen)} columns, one for each y; found shape {rows.shape}."
            )
        kept: Array = rows[:, self.seen]
        return kept

    def to_frame(self) -> pd.DataFrame:
        """`curve` as a pandas frame, in nats."""
        import pandas as pd

        columns = ["groups", "log_likelihood_nats", "criterion_nats", "bic_nats", "gain_nats"]
        return pd.DataFrame.from_records(self.curve, columns=columns)


def denoised(joint: Joint, groups: int | None = None) -> Joint:
    """See `Joint.denoised`."""
    counts = counts_of(joint, "denoising")
    if math.prod(joint.shape) > LARGEST_TABLE:
        raise InvalidJointError(
            f"a denoised joint is a dense table of at most {LARGEST_TABLE:,} cells; found {joint.shape[0]:,} x {joint.shape[1]:,}. "
            "Group rare letters first."
        )
    table = dense(counts)
    found = fit(table, groups)
    n_x = table.sum(axis=1)
    P = found.conditional(table) * (n_x / n_x.sum())[:, None]
    return joint._drawn(P / P.sum(), joint.counts, found)


def fit(counts: Any, groups: int | None = None) -> Denoising:
    """The denoising of a dense table of counts N[x, y], chosen as said above, or with as many groups as are given."""
    seen = counts.sum(axis=0) > 0
    rows = DistinctRows.of(counts[counts.sum(axis=1) > 0][:, seen])
    letters, outcomes = int(rows.times.sum()), rows.rows.shape[1]
    pi = overall(rows.times @ rows.rows)
    alpha = concentrated(rows)
    one = MultinomialMixture(np.ones(1), pi[None], float(rows.times @ (rows.rows @ np.log(pi))))

    def judged(groups: int, value: float, free: int, losses: Array | None) -> Candidate:
        gain = 0.0 if losses is None else _gain(rows, pi, losses)
        return Candidate(groups, value, PENALTY * free - value, 0.5 * free * math.log(letters) - value, gain)

    def tried(model: MultinomialMixture) -> Candidate:
        K, losses = len(model.weights), None if model is one else _loss_of_mixture(rows.rows, model)
        return judged(K, model.likelihood, K * outcomes - 1, losses)  # p(z) and q_z(y), each of which sums to 1

    def made(how: str, model: MultinomialMixture, gain: float = 0.0, chosen: bool = True) -> Denoising:
        number = letters if how == SHRINKAGE else len(model.weights)
        return Denoising(how, number, gain, chosen, pi, model.weights, model.centres, alpha, seen, tuple(curve))

    curve = [tried(one)]
    if groups is not None:
        if (asked := whole_number("groups", groups)) == 1:
            return made(CONSTANT, one, chosen=False)
        model = fitted(rows, asked, alpha)
        curve.append(tried(model))
        return made(MIXTURE, model, curve[1].gain, chosen=False)
    if letters <= FEW:  # pi and a are free
        curve.append(judged(letters, log_likelihood(rows, alpha), outcomes, _loss_of_shrinkage(rows.rows, alpha)))
        if curve[1].bic >= curve[0].bic:
            return made(CONSTANT, one)
        return made(SHRINKAGE, MultinomialMixture(np.empty(0), np.empty((0, outcomes))), curve[1].gain)
    best, gain = one, 0.0
    for K in LADDER:
        if len(rows.rows) <= K:
            break
        model = fitted(rows, K, alpha)
        curve.append(tried(model))
        if curve[-1].criterion >= curve[-2].criterion:
            break
        best, gain = model, curve[-1].gain
    if best is one or min(curve, key=lambda candidate: candidate.bic).groups == 1:
        return made(CONSTANT, one)
    return made(MIXTURE, best, gain)


def _gain(rows: DistinctRows, pi: Array, losses: Array) -> float:
    """Mean over records of log p_-i(y|x) - log p_-i(y), from the losses -log p_-i(y|x) of a record in each cell."""
    columns = rows.times @ rows.rows
    n, taken = columns.sum(), np.minimum(columns, 1.0)
    without = np.log((columns - taken + HALF) / (n - taken + HALF * len(pi)))
    cells = rows.times[:, None] * rows.rows
    return float((-(cells * losses).sum() - columns @ without) / n)


def _loss_of_mixture(rows: Array, model: MultinomialMixture) -> Array:
    """log sum_z p(z|x) / q_z(y): taking a record of y out of a row divides each z's likelihood by q_z(y)."""
    return np.asarray(np.log(posterior(rows, model.weights, model.centres) @ (1.0 / model.centres)))


def _loss_of_shrinkage(rows: Array, alpha: Array) -> Array:
    """-log (n_xy - 1 + alpha_y) / (n_x - 1 + a); a cell of less weight than a record's is taken out whole, an empty one does not count."""
    taken = np.minimum(rows, 1.0)
    total = rows.sum(axis=1, keepdims=True) - taken + alpha.sum()
    return np.asarray(np.log(total) - np.log(rows - taken + alpha))


def counts_of(joint: Joint, what: str) -> Any:
    """The joint's counts; an `InvalidJointError` that says what needs them, if it was not made of records."""
    if joint.counts is None:
        raise InvalidJointError(
            f"{what} needs counts of records, and this joint has probabilities or weights only: make it with Joint.from_samples, "
            "from_frame or from_counts of whole numbers."
        )
    return joint.counts


def sampled(joint: Joint, sample: str) -> Joint:
    """The joint that ``sample=`` asks for: ``"table"``, as it is, or ``"denoised"``."""
    check_one_of("sample", sample, ("table", "denoised"))
    return joint if sample == "table" or joint.denoising is not None else denoised(joint)
