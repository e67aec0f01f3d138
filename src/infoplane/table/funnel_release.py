"""`PrivacyFunnelRelease`: columns of a table as one released column that hides a secret; a scikit-learn transformer.

X (columns) -> letter x of a row -> z drawn from p(z|x), that of `release_mechanism` with y as the secret S
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, Self

import numpy as np
import pandas as pd

from ..checks import check_one_of
from ..encoder.encoder import UNSEEN_RULES
from ..frontier.leakage import MAX_SECONDS
from ..frontier.release import release_mechanism
from ..joint.joint import Joint
from .frame_transformer import FrameTransformer, is_number

# isort: split
# After frame_transformer, which says what to install where scikit-learn is missing.
from sklearn.utils import check_consistent_length, check_random_state
from sklearn.utils.validation import check_is_fitted


class PrivacyFunnelRelease(FrameTransformer):
    """Release columns as one value a row that keeps as much of them as caps on what it tells about a secret allow.

    Parameters
    ----------
    max_leakage : float, optional
        Cap in **nats** on the average, I(S;Z). One of this and the next caps is needed.
    max_lift : float, optional
        Cap in **nats** on log p(s|z)/p(s), for every released value and every value of the secret.
    two_sided : bool
        Whether -log p(s|z)/p(s) is capped too.
    min_group : float, optional
        Least expected number of training rows for every released value.
    bins : int or dict
        Columns of numbers are put into so many bins of about equal mass; or a rule for each column that needs one, by name, as in
        `Joint.from_frame`, where every value of the other columns stands for itself.
    unseen : {"error", "marginal", "suppress"}
        Rows, or combinations of values, that `fit` has not met: refused, drawn from p(z), or released as nothing (-1 in an array).
    random_state : int, RandomState or None
        Seed of the search and of the draws. None draws anew each time; a number makes equal calls equal, if the search ends by itself
        before ``max_seconds``: one that the clock ends may end elsewhere the next time.
    max_seconds : float
        When the search ends at the latest; the caps hold in any case.

    Attributes
    ----------
    release_ : Release
        The mechanism with its certificate: utility, gap, lifts, `audit` takes it.
    feature_names_in_, n_features_in_
        As in scikit-learn.

    Notes
    -----
    **Every call of `transform` is a release**: two of the same record may tell together what each hides alone. For rows that come again use
    ``release_.transform`` with ids and a key. A draw depends on the place of a row, not only on its values. All promises are about p(x, s)
    of the training rows.

    Examples
    --------
    >>> import pandas as pd
    >>> import infoplane as ip
    >>> people = pd.DataFrame({"job": list("aabbccdd") * 50, "sex": list("fmfmffmm") * 50})
    >>> step = ip.PrivacyFunnelRelease(max_leakage=0.05, random_state=0).set_output(transform="pandas")
    >>> step.fit_transform(people[["job"]], people.sex).columns.tolist(), bool(step.release_.isz <= 0.05)
    (['z'], True)
    """

    def __init__(
        self,
        max_leakage: float | None = None,
        *,
        max_lift: float | None = None,
        two_sided: bool = True,
        min_group: float | None = None,
        bins: int | Mapping[str, Any] = 4,
        unseen: Literal["error", "marginal", "suppress"] = "error",
        random_state: Any = None,
        max_seconds: float = MAX_SECONDS,
    ) -> None:
        self.max_leakage = max_leakage
        self.max_lift = max_lift
        self.two_sided = two_sided
        self.min_group = min_group
        self.bins = bins
        self.unseen = unseen
        self.random_state = random_state
        self.max_seconds = max_seconds

    def fit(self, X: Any, y: Any) -> Self:
        """Find the release of largest I(X;Z); y is the secret."""
        check_one_of("unseen", self.unseen, UNSEEN_RULES)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None: it is the secret to hide."
            )
        frame = self._frame(X, reset=True)
        secret, _ = self._classes_of(y)
        check_consistent_length(frame, secret)
        names = [*frame.columns]
        bins = (
            self.bins
            if isinstance(self.bins, Mapping)
            else {name: self.bins for name in names if is_number(frame[name])}
        )
        called = "y" + "_" * max(map(len, names))  # longer than any column's name
        frame[called] = secret
        joint = Joint.from_frame(frame, names, called, bins=bins, missing="category")
        self.release_ = release_mechanism(
            joint,
            self.max_leakage,
            self.max_lift,
            self.two_sided,
            self.min_group,
            rng=self._seed(),
            max_seconds=self.max_seconds,
        )
        return self

    def transform(self, X: Any) -> Any:
        """A released value for each row, drawn: one column ``z`` of numbers, or of categories where frames are asked for."""
        check_is_fitted(self)
        found = self.release_.transform(self._frame(X, reset=False), rng=self._seed(), unseen=self.unseen)
        codes = found.fillna(-1).to_numpy(dtype=np.int64)
        return self._groups({"z": (codes, [f"z{z}" for z in range(self.release_.clusters)])}, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """One name, ``z``."""
        check_is_fitted(self)
        self._names_in(input_features)
        return np.array(["z"], dtype=object)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        columns = self._columns(X, reset=reset)
        return pd.DataFrame(
            {name: column.reset_index(drop=True) for name, column in zip(self._names_in(None), columns, strict=True)}
        )

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
