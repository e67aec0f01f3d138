"""What a release Z tells about a secret S: measures of leakage, each with its formula and its reference, and an attacker who learns.

Letters: J[z, s] = p(z, s) of the clusters and secret values of positive mass. p_s is the prior. Everything is in nats or a plain number;
`audit` shows bits. The attacker learns from half of the records, released values with their secrets, and guesses the secrets of the others:

    share right on k of n unseen records;    interval [B(a/2; k, n - k + 1), B(1 - a/2; k + 1, n - k)],  B quantiles of the beta law

(Clopper, Pearson 1934). It is what somebody with such a table and a common learner does: less than the best guess that there is, beyond
the noise of a finite number of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from threadpoolctl import threadpool_limits

from ..checks import extra, number
from ..errors import InvalidOptionError
from ..information import Array, entr
from ..runtime.budget import cores


class Guess(NamedTuple):
    """What the best guess of an adversary gains, without Z and with it."""

    before: float
    after: float

    @property
    def leakage(self) -> float:
        """log(after / before), nats; 0 if nothing is to be gained either way."""
        return float(np.log(self.after / self.before)) if self.before > 0.0 else 0.0


def bayes_vulnerability(J: Array) -> Guess:
    """max_s p(s) before, sum_z max_s p(z,s) after: how often the best guess is right  (Smith 2009)."""
    before = float(J.sum(axis=0).max())
    # Less is rounding: the guess from before still stands.
    return Guess(before, max(float(J.max(axis=1).sum()), before))


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


FEWEST = 20
"""Records that an attack needs: half of fewer teach and show nothing."""


@dataclass(frozen=True)
class HeldOutAttack:
    """How often an attacker was right on records that he had not seen.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.HeldOutAttack(right=90, tested=100, prior_right=52, low=0.82, high=0.95, confidence=0.95)
    >>> found.share, found.prior_share
    (0.9, 0.52)
    """

    right: int
    """Records guessed right,"""
    tested: int
    """of so many."""
    prior_right: int
    """Those that the commonest secret of the first half is right for."""
    low: float
    """The share guessed right in the population is at least this,"""
    high: float
    """and at most this,"""
    confidence: float
    """in so many of all samples; Clopper and Pearson's interval."""

    @property
    def share(self) -> float:
        """The share guessed right."""
        return self.right / self.tested

    @property
    def prior_share(self) -> float:
        """The share that is guessed right without the release."""
        return self.prior_right / self.tested

    def __str__(self) -> str:
        return (
            f"An attacker who learned from other records guesses {self.share:.2%} of {self.tested:,} unseen ones right "
            f"({self.low:.2%} to {self.high:.2%} with {self.confidence:.0%} confidence); without the release {self.prior_share:.2%}"
        )


def held_out_attack(
    released: Any, secret: Any, *, confidence: float = 0.95, rng: int | np.random.Generator | None = None
) -> HeldOutAttack:
    """Attack a released table by boosted trees, fitted on half of its records and tested on the others; needs the extra [sklearn].

    Parameters
    ----------
    released
        The released values: a pandas frame or Series, a row for each record. Numbers are taken as such, everything else as categories.
    secret
        The secret of each record, in the same order.
    confidence
        Of the interval.
    rng
        Seed of the split and of the learner.

    Examples
    --------
    >>> import pandas as pd
    >>> import infoplane as ip
    >>> found = ip.held_out_attack(pd.Series(["a", "b"] * 200), [0, 1] * 200, rng=0)  # the secret itself
    >>> found.share, found.tested
    (1.0, 200)
    """
    import pandas as pd

    ensemble = extra("sklearn.ensemble", "an attack needs scikit-learn 1.6", "sklearn")
    sure = number("confidence", confidence, "a share between 0 and 1", above=0.0, below=1.0)
    frame = released.to_frame() if isinstance(released, pd.Series) else pd.DataFrame(released)
    hidden, _ = pd.factorize(pd.Series([*secret], dtype=object), use_na_sentinel=False)
    if len(hidden) != len(frame) or len(frame) < FEWEST:
        raise InvalidOptionError(
            f"an attack needs a secret for each released record, and {FEWEST} records at least; found {len(frame):,} and {len(hidden):,}."
        )
    random = np.random.default_rng(rng)
    order = random.permutation(len(hidden))
    learned, unseen = order[: len(order) // 2], order[len(order) // 2 :]
    prior = int((hidden[unseen] == np.bincount(hidden[learned]).argmax()).sum())
    features, kinds = zip(*(_feature(frame.iloc[:, at]) for at in range(frame.shape[1])), strict=True)
    table = np.column_stack(features)
    if len(np.unique(hidden[learned])) < 2:
        right = prior
    else:
        seed = int(random.integers(2**31))
        learner = ensemble.HistGradientBoostingClassifier(categorical_features=list(kinds), random_state=seed)
        # OpenMP would start a thread for every core of the machine, and they would wait for each other on those that there are.
        with threadpool_limits(cores(), user_api="openmp"):
            right = int((learner.fit(table[learned], hidden[learned]).predict(table[unseen]) == hidden[unseen]).sum())
    low, high = clopper_pearson(right, len(unseen), sure)
    return HeldOutAttack(right, len(unseen), prior, low, high, sure)


def clopper_pearson(right: int, tested: int, confidence: float) -> tuple[float, float]:
    """The interval of a share of which ``right`` of ``tested`` were seen."""
    from scipy import stats  # its import takes longer than all the measures

    tail = 0.5 * (1.0 - confidence)
    low = 0.0 if right == 0 else float(stats.beta.ppf(tail, right, tested - right + 1))
    high = 1.0 if right == tested else float(stats.beta.ppf(1.0 - tail, right + 1, tested - right))
    return low, high


def _feature(column: Any) -> tuple[Array, bool]:
    """A column as numbers, and whether they number categories."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype):
        return column.to_numpy(dtype=float, na_value=np.nan), False
    codes, _ = pd.factorize(column, use_na_sentinel=False)
    rank = np.argsort(np.argsort(-np.bincount(codes), kind="stable"), kind="stable")
    # Values of a released column that are told apart: scikit-learn's boosting takes 255. Rarer ones are one.
    return np.minimum(rank[codes], 250).astype(float), True
