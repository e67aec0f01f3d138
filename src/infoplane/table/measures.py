"""What a release Z tells about a secret S: measures of leakage, each with its formula, its reference and its direction.

Letters: J[z, s] = p(z, s) of the clusters and secret values of positive mass. p_s is the prior. Everything is in nats or a plain number;
`audit` shows bits.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..information import Array, entr


class Guess(NamedTuple):
    """What the best guess of an adversary gains, without Z and with it."""

    before: float
    after: float

    @property
    def leakage(self) -> float:
        """log(after / before), nats; 0 if nothing is to be gained either way."""
        return float(np.log(self.after / self.before)) if self.before > 0.0 else 0.0


def mutual_information(J: Array) -> float:
    """I(S;Z) = sum p(z,s) log p(z,s) / (p(z) p(s))  (Shannon 1948)."""
    return float(entr(J.sum(axis=1)).sum() + entr(J.sum(axis=0)).sum() - entr(J).sum())


def bayes_vulnerability(J: Array) -> Guess:
    """max_s p(s) before, sum_z max_s p(z,s) after: how often the best guess is right  (Smith 2009)."""
    before = float(J.sum(axis=0).max())
    return Guess(
        before, max(float(J.max(axis=1).sum()), before)
    )  # less is rounding: the guess from before still stands


def gain_vulnerability(J: Array, gain: Array) -> Guess:
    """max_w sum_s p(s) g(w,s) before, sum_z max_w sum_s p(z,s) g(w,s) after  (Alvim et al. 2012)."""
    return Guess(float((gain @ J.sum(axis=0)).max()), float((J @ gain.T).max(axis=1).sum()))


def bayes_security(J: Array) -> float:
    """(1 - V(S|Z)) / (1 - V(S)): the share of the error that is left to the best guess; 1 if there was none  (Cherubin et al. 2019)."""
    guess = bayes_vulnerability(J)
    return (1.0 - guess.after) / (1.0 - guess.before) if guess.before < 1.0 else 1.0


def min_bayes_security(J: Array) -> float:
    """1 - max over s, s' of TV(p(z|s), p(z|s')): Bayes security for the prior that is worst  (Chatzikokolakis et al. 2023)."""
    given = J / J.sum(axis=0)
    apart = np.abs(given[:, :, None] - given[:, None, :]).sum(axis=0)
    return 1.0 - 0.5 * float(apart.max())


def lifts(J: Array) -> Array:
    """log p(s|z)/p(s), a row per released value; -inf where s is ruled out."""
    with np.errstate(divide="ignore"):
        table: Array = np.log(J / J.sum(axis=1, keepdims=True)) - np.log(J.sum(axis=0))
    return table


def pointwise_maximal_leakage(J: Array) -> Array:
    """max_s log p(s|z)/p(s) of every released value  (Saeidian et al. 2023)."""
    worst: Array = lifts(J).max(axis=1)
    return worst


def local_information_privacy(J: Array) -> float:
    """max |log p(s|z)/p(s)|; inf if a value rules a secret out  (Jiang et al. 2021)."""
    return float(np.abs(lifts(J)).max())


def local_differential_privacy(J: Array) -> float:
    """max log p(z|s)/p(z|s'); inf if a value rules a secret out  (Kasiviswanathan et al. 2011)."""
    with np.errstate(divide="ignore", invalid="ignore"):
        logs = np.log(J / J.sum(axis=0))
        spread = logs.max(axis=1) - logs.min(axis=1)
    return float(spread.max())


def maximal_leakage(J: Array) -> float:
    """log sum_z max_s p(z|s): what any adversary may gain in guessing any function of S  (Issa, Wagner, Kamath 2020)."""
    return float(np.log((J / J.sum(axis=0)).max(axis=1).sum()))


def distinct_diversity(J: Array) -> int:
    """The least number of secret values that one released value leaves possible  (l-diversity, Machanavajjhala et al. 2007)."""
    return int((J > 0.0).sum(axis=1).min())


def entropy_diversity(J: Array) -> float:
    """min_z exp H(S|z): the same, counting rare ones for less."""
    return float(np.exp(entr(J / J.sum(axis=1, keepdims=True)).sum(axis=1).min()))


def closeness(J: Array) -> Array:
    """TV(p(s|z), p(s)) of every released value: t-closeness, secrets equally far apart  (Li, Li, Venkatasubramanian 2007)."""
    apart: Array = 0.5 * np.abs(J / J.sum(axis=1, keepdims=True) - J.sum(axis=0)).sum(axis=1)
    return apart


def quantile(values: Array, weights: Array, share: float) -> float:
    """The least of some values that so much of the weight does not exceed."""
    order = np.argsort(values, kind="stable")
    reached = np.cumsum(weights[order])
    place = int(np.searchsorted(reached, share * reached[-1] * (1.0 - 1e-12)))
    return float(values[order[min(place, len(values) - 1)]])
