"""An attacker who learns from half of the records, released values with their secrets, and guesses the secrets of the other half.

    share right on k of n unseen records;    interval [B(a/2; k, n - k + 1), B(1 - a/2; k + 1, n - k)],  B quantiles of the beta law

(Clopper, Pearson 1934). It is what somebody with such a table and a common learner does: less than the best guess that there is, beyond
the noise of a finite number of records.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import stats
from threadpoolctl import threadpool_limits

from ..checks import number
from ..errors import InvalidOptionError, MissingExtraError
from ..runtime.work import cores

if TYPE_CHECKING:
    from ..information import Array

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

    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError as error:
        raise MissingExtraError('an attack needs scikit-learn 1.6: pip install "infoplane[sklearn]".') from error
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
        learner = HistGradientBoostingClassifier(
            categorical_features=list(kinds), random_state=int(random.integers(2**31))
        )
        # OpenMP would start a thread for every core of the machine, and they would wait for each other on those that there are.
        with threadpool_limits(cores(), user_api="openmp"):
            right = int((learner.fit(table[learned], hidden[learned]).predict(table[unseen]) == hidden[unseen]).sum())
    low, high = clopper_pearson(right, len(unseen), sure)
    return HeldOutAttack(right, len(unseen), prior, low, high, sure)


def clopper_pearson(right: int, tested: int, confidence: float) -> tuple[float, float]:
    """The interval of a share of which ``right`` of ``tested`` were seen."""
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
