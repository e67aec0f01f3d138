"""Rows of counts modelled: shrunk one by one, or as a mixture of multinomials, the bottleneck of a sample.

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

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..information import Array, IntArray
from ..joint.grouping import grouped
from ..joint.joint import Joint, Support


class DistinctRows(NamedTuple):
    """The different rows of a table of counts, in the order of their first appearance, and which of them each row is."""

    rows: Array  # (distinct, |Y|)
    times: Array  # (distinct,)   how many rows are this one
    place: IntArray  # (|X|,)     rows[place] is the table again

    @classmethod
    def of(cls, counts: Any) -> DistinctRows:
        """Of a dense table of whole numbers.

        Examples
        --------
        >>> found = DistinctRows.of(np.array([[1, 0], [2, 1], [1, 0]]))
        >>> found.rows.tolist(), found.times.tolist(), found.place.tolist()
        ([[1.0, 0.0], [2.0, 1.0]], [2.0, 1.0], [0, 1, 0])
        """
        table = np.ascontiguousarray(counts, dtype=float)
        numbers: dict[bytes, int] = {}
        place = np.array([numbers.setdefault(row.tobytes(), len(numbers)) for row in table], dtype=np.int64)
        first = np.unique(place, return_index=True)[1]
        return cls(table[first], np.bincount(place).astype(float), place)


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
        n, place = np.unique(seen, return_inverse=True)
        total += sign * float(np.bincount(place.ravel(), counts.times) @ (gammaln(n + a) - gammaln(a)))
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


@dataclass(frozen=True, eq=False)
class MultinomialMixture:
    """p(z) and q_z(y), and the log likelihood of the counts that they were fitted to (without the pseudo-counts' share)."""

    weights: Array  # (K,)
    centres: Array  # (K, |Y|)
    likelihood: float = np.nan

    def posterior(self, rows: Array) -> Array:
        """p(z|x), (rows, K), of categories with these counts; p(z) of one that was never seen."""
        return _softmax(rows @ np.log(self.centres).T + np.log(self.weights))[0]


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
    _, log_total = _softmax(counts.rows @ np.log(centres).T + np.log(weights))
    return MultinomialMixture(weights, centres, float(counts.times @ log_total))


def _step(counts: DistinctRows, theta: Array) -> tuple[Array, float]:
    """One EM step from theta = (log p(z), log q_z(y)), and the penalised log likelihood at theta."""
    log_p, log_q = theta[:, 0], theta[:, 1:]
    posterior, log_total = _softmax(counts.rows @ log_q.T + log_p)
    value = float(counts.times @ log_total + HALF * log_q.sum())
    posterior *= counts.times[:, None]
    p = posterior.sum(axis=0)
    q = posterior.T @ counts.rows + HALF
    return np.column_stack(
        [np.log(np.maximum(p / p.sum(), RULES.faint)), np.log(q / q.sum(axis=1, keepdims=True))]
    ), value


def _softmax(scores: Array) -> tuple[Array, Array]:
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
    return np.column_stack([log_p - _log_sum(log_p.T), log_q - _log_sum(log_q)])


def _log_sum(rows: Array) -> Array:
    top = rows.max(axis=1, keepdims=True)
    return np.asarray(top + np.log(np.exp(rows - top).sum(axis=1, keepdims=True)))


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
