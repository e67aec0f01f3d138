"""The bottleneck of a sample: beta_x = n_x, letter by letter, which is EM for a mixture of multinomials.

p(z|x) = p(z) exp(sum_y n_xy log q_z(y)) / normaliser,      p(z) <- mean_x p(z|x),      q_z(y) <- (sum_x p(z|x) n_xy + 1/2) / normaliser

The bottleneck's own equation is p(z|x) ~ p(z) exp(beta sum_y p(y|x) log q_z(y)), with one beta for all letters. Here a letter that was seen
n_x times has beta n_x: a rare one is spread over what is common, a frequent one speaks for itself. What EM maximises is the likelihood of
the counts under sum_z p(z) prod_y q_z(y)^n_xy, with half a pseudo-count in every q_z(y); SQUAREM makes its steps longer and never gives a
lower likelihood than plain steps. Rows that are equal are computed once. References: Laird (1978), JASA 73 (mixing distributions by maximum
likelihood); Varadhan and Roland (2008), Scand. J. Stat. 35 (SQUAREM).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..information import Array
from ..joint.grouping import grouped
from ..joint.joint import Joint, Support
from .distinct import DistinctRows
from .shrinkage import HALF, shrunk


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
        scores = rows @ np.log(self.centres).T + np.log(self.weights)
        return _softmax(scores)[0]


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
    total: Array = top + np.log(np.exp(rows - top).sum(axis=1, keepdims=True))
    return total


def _apart(centres: Array, pi: Array) -> Array:
    """Centres twice as far from pi, and positive: the means of shrunk rows lie closer together than what the rows were drawn from."""
    drawn = np.maximum(pi + 2.0 * (centres - pi), 0.2 * np.minimum(centres, pi))
    spread: Array = drawn / drawn.sum(axis=1, keepdims=True)
    return spread


def _start(counts: DistinctRows, groups: int, alpha: Array) -> tuple[Array, Array]:
    """p(z) and q_z(y) of hard groups of the rows p(y|x) after shrinkage, each weighted by its records.

    Groups of the raw rows would be chosen for the extremes that few records show by chance.
    """
    mass = (counts.times * counts.rows.sum(axis=1))[:, None] * shrunk(counts.rows, alpha)
    labels = grouped(Support(Joint.from_counts(mass)), groups)
    K = int(labels.max()) + 1
    centres = np.stack([np.bincount(labels, column, K) for column in mass.T], axis=1)
    return np.bincount(labels, counts.times, K) / counts.times.sum(), centres / centres.sum(axis=1, keepdims=True)
