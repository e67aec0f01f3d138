"""Scikit-learn transformers of frames: columns as few groups that keep what predicts a class, or as one column that hides a secret.

    `BottleneckEncoder`     X (columns) -> letters x -> p~(y|x), what the records support -> clusters z of the denoised joint
                                                                          -> z, p(y|z), log p~(y|x) or p(z|x)
    `PrivacyFunnelRelease`  X (columns) -> letter x of a row -> z drawn from p(z|x), that of `release_mechanism` with y as the secret S

Frames of pandas, polars and pyarrow, and arrays, become pandas columns; what comes out is what ``set_output`` asks for.

`BottleneckEncoder.fit_transform` is for training rows. A row's own class is among the counts of its category, and a model downstream would
read it from there. So the assignment of a row is computed from the counts of the other folds (cross-fitting): centres, p(z) and cluster
numbers are those of all rows, and a rare category may be in another cluster in another fold. The cuts of a column of numbers need no folds.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import narwhals as nw
import numpy as np
import pandas as pd

from ..checks import check_flag, check_one_of, whole_number
from ..encoder.encoder import UNSEEN_RULES
from ..encoder.letters import CategoryLetters, IntervalLetters, RowLetters, group_names
from ..errors import InvalidOptionError, MissingExtraError
from ..formatting import alternatives, label_text
from ..frontier.leakage import MAX_SECONDS
from ..frontier.release import release_mechanism
from ..information import Array, IntArray
from ..joint.joint import Joint
from .encoded_feature import OUTPUTS, EncodedFeature, OperatingPoint, cross_counts, interval_edges

try:
    import sklearn
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.model_selection import StratifiedKFold, check_cv
    from sklearn.utils import check_array, check_consistent_length, check_random_state
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data
except ImportError as error:
    raise MissingExtraError(
        'BottleneckEncoder and PrivacyFunnelRelease need scikit-learn 1.6: pip install "infoplane[sklearn]".'
    ) from error

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class FrameTransformer(TransformerMixin, BaseEstimator):
    """A transformer of columns that hold categories, text, numbers or nothing, by classes y."""

    def __sklearn_tags__(self) -> Any:
        """Categories, text and missing values are taken; y is needed."""
        tags = super().__sklearn_tags__()
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = True
        tags.target_tags.required = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def _columns(self, X: Any, *, reset: bool) -> list[pd.Series[Any]]:
        """The columns as pandas series, of a frame or of an array; names and number are checked, or remembered."""
        try:
            frame = nw.from_native(X, eager_only=True, pass_through=True)
        except nw.exceptions.DuplicateError as error:
            raise ValueError(f"columns of X must have distinct names. {' '.join(str(error).split())}.") from None
        if not isinstance(frame, nw.DataFrame):
            table = pd.DataFrame(check_array(X, dtype=None, ensure_all_finite=False, estimator=self)).infer_objects()
        validate_data(self, X, reset=reset, skip_check_array=True)
        if isinstance(frame, nw.DataFrame):
            if 0 in frame.shape:
                raise ValueError(f"X must have rows and columns; found the shape {frame.shape}.")
            if not frame.implementation.is_pandas():
                return [_as_pandas(column) for column in frame.iter_columns()]
            table = frame.to_native()
        return [table.iloc[:, at] for at in range(table.shape[1])]

    def _names_in(self, input_features: Any) -> list[str]:
        known = getattr(self, "feature_names_in_", None)
        if input_features is not None:
            given = [str(one) for one in input_features]
            if known is not None and [*known] != given:
                raise ValueError("input_features is not equal to feature_names_in_")
            if len(given) != self.n_features_in_:
                raise ValueError(
                    f"input_features should have length equal to number of features ({self.n_features_in_}), got {len(given)}"
                )
            return given
        return [f"x{at}" for at in range(self.n_features_in_)] if known is None else [str(one) for one in known]

    def _classes_of(self, y: Any, what: str) -> tuple[Any, str]:
        """Classes, one a row, and whether they are two or several; what is continuous is refused. ``what`` y is for, if there is none."""
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None: {what}.")
        y = column_or_1d(y, warn=True)
        if pd.isna(y).any():
            raise ValueError("y must have a class for every row; found missing values. Drop those rows.")
        kind = type_of_target(y, input_name="y")
        if kind not in ("binary", "multiclass"):
            raise ValueError(
                f"y must have classes; found a target of type {kind!r} (Unknown label type: {kind}). Cut a continuous target into classes "
                "first, with pandas.qcut or KBinsDiscretizer; to encode for a regression use scikit-learn's TargetEncoder."
            )
        return y, kind

    def _groups(self, columns: Mapping[str, tuple[IntArray, int]], X: Any) -> Any:
        """Columns of groups, and how many there are: their numbers, or categories where frames are asked for; -1 is nothing."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", sklearn.get_config()["transform_output"])
        if config not in ("pandas", "polars"):
            return np.column_stack([codes for codes, _ in columns.values()])
        if config == "pandas":
            made = {name: pd.Categorical.from_codes(z, pd.Index(group_names(k))) for name, (z, k) in columns.items()}
            return pd.DataFrame(made, index=X.index if isinstance(X, pd.DataFrame) else None)
        import polars as pl

        # The code -1 takes the last, which is nothing.
        return pl.DataFrame(
            {
                name: pl.Series([*group_names(k), None])[z].cast(pl.Enum(group_names(k)))
                for name, (z, k) in columns.items()
            }
        )


def is_number(column: pd.Series[Any]) -> bool:
    """Whether a column holds numbers; truth values are categories."""
    return pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_bool_dtype(column.dtype)


def _as_pandas(column: nw.Series[Any]) -> pd.Series[Any]:
    """A column of polars or pyarrow; dictionaries and enumerations as text."""
    if isinstance(column.dtype, (nw.Categorical, nw.Enum)):
        column = column.cast(nw.String)
    if column.dtype.is_numeric():
        return pd.Series(column.cast(nw.Float64).to_numpy() if column.is_null().any() else column.to_numpy())
    return pd.Series(column.to_list(), dtype=object)


class BottleneckEncoder(FrameTransformer):
    """Encode categorical and numeric columns as few groups that keep what predicts a class.

    Parameters
    ----------
    n_clusters : int, optional
        The most groups of a feature. With it, or none of the next three, groups are a hard map.
    gamma : float, optional
        The bottleneck's trade-off instead: least gamma I(X;Z) - I(Y;Z).
    max_bits : float, optional
        The most bits H(Z) that a group's number takes, instead.
    min_relevance : float, optional
        The share of I(X;Y) to keep, from 0 to 1, with as few groups as that takes, 32 at most, instead. All of these are of the denoised
        joint: of what the records support, see `Joint.denoised`. With none there are twice the groups of the denoising, 32 at most.
    output : {"cluster", "posterior", "log_posterior", "soft"}
        ``"cluster"``: the group's number, one column a feature; with ``set_output`` a categorical column (pandas) or an Enum (polars),
        which histogram boosting takes as it is. ``"posterior"``: p(y|z) of the group, for trees; of two classes, that of the second.
        ``"log_posterior"``: log p~(y|x) for each class, for linear models. ``"soft"``: p(z|x) of the denoising's groups, or with
        ``gamma`` of the bottleneck's.
    cv : int, splitter or iterable
        Folds of `fit_transform`; a whole number is that many stratified folds of shuffled rows, always the same.
    categorical_features : {"auto", "all"} or list
        Which columns are categories, by name or position; the others are numbers, cut into intervals. ``"auto"``: all that are not numbers.
    product : bool
        Whether all columns are one feature together; numbers are cut first.
    target_type : {"auto", "binary", "multiclass"}
        What y must be.
    handle_unknown : {"prior", "warn", "error"}
        What becomes of a category that was not met in `fit`: what p(y) says, the same with a warning, or an error.
    min_count : int
        Categories with fewer rows are one, called ``other``.

    Attributes
    ----------
    classes_ : array
        The classes.
    features_ : list of EncodedFeature
        What was learned of each feature.
    cross_fitted_ : list of arrays
        After `fit_transform`: for each feature the number of rows of each group and class, groups as they were cross-fitted.
    mapping_ : DataFrame
        A row for each category: feature, category, count, cluster, p(y|z), and whether it is typical of the cluster.
    feature_names_in_, n_features_in_
        As in scikit-learn.

    Notes
    -----
    Missing values are a category of their own, beside ``n_clusters`` intervals of numbers too, or one not met. Weights (``sample_weight``)
    count records: a row of weight 2 counts as two. ``sample_weight``, and ``groups`` for the splitter, are requested by ``set_fit_request``
    where metadata is routed. A continuous y is refused: cut it first.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> import infoplane as ip
    >>> rng = np.random.default_rng(0)
    >>> job = rng.integers(0, 200, 5000)
    >>> y = rng.random(5000) < np.where(job < 100, 0.2, 0.6)
    >>> X = pd.DataFrame({"job": [f"job {one}" for one in job]})
    >>> encoder = ip.BottleneckEncoder(n_clusters=2).set_output(transform="pandas")
    >>> Z = encoder.fit_transform(X, y)
    >>> Z.job.cat.categories.tolist(), encoder.mapping_.shape
    (['z0', 'z1'], (200, 7))
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        *,
        gamma: float | None = None,
        max_bits: float | None = None,
        min_relevance: float | None = None,
        output: str = "cluster",
        cv: Any = 5,
        categorical_features: Any = "auto",
        product: bool = False,
        target_type: str = "auto",
        handle_unknown: str = "prior",
        min_count: int = 1,
    ) -> None:
        self.n_clusters = n_clusters
        self.gamma = gamma
        self.max_bits = max_bits
        self.min_relevance = min_relevance
        self.output = output
        self.cv = cv
        self.categorical_features = categorical_features
        self.product = product
        self.target_type = target_type
        self.handle_unknown = handle_unknown
        self.min_count = min_count

    def fit(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> Self:  # noqa: ARG002
        """Learn the groups of every feature; for training rows themselves use `fit_transform`. ``groups`` are for `fit_transform`."""
        self._fit(X, y, sample_weight)
        if hasattr(self, "cross_fitted_"):
            del self.cross_fitted_
        return self

    def fit_transform(self, X: Any, y: Any = None, sample_weight: Any = None, groups: Any = None) -> Any:
        """Fit, and encode the training rows, each by the counts of the other folds."""
        codes, classes, weights = self._fit(X, y, sample_weight)
        fold = self._folds(X, y, groups)
        outcomes = len(self.classes_)
        blocks, self.cross_fitted_ = [], []
        for feature, letters in zip(self.features_, codes, strict=True):
            table, clusters = feature.tables(self.output)
            block, z = table[letters], clusters[letters]
            if feature.groups is not None:
                for number in range(int(fold.max()) + 1):
                    held = fold == number
                    own = cross_counts(letters[held], classes[held], weights[held], (len(feature.counts), outcomes))
                    table, clusters = feature.tables(self.output, np.maximum(feature.counts - own, 0.0))
                    block[held], z[held] = table[letters[held]], clusters[letters[held]]
            self.cross_fitted_.append(cross_counts(z, classes, weights, (feature.clusters, outcomes)))
            blocks.append(block)
        return self._container(blocks, X)

    def transform(self, X: Any) -> Any:
        """Encode rows by the counts of all training rows."""
        check_is_fitted(self)
        columns = self._columns(X, reset=False)
        blocks = []
        for feature in self.features_:
            codes = feature.codes([columns[at] for at in feature.columns])
            if self.handle_unknown != "prior":
                self._say_unknown(feature, codes, columns)
            blocks.append(feature.table(self.output)[codes])
        return self._container(blocks, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """The names of the columns that come out: the feature's, with the class or the group where there are several."""
        check_is_fitted(self)
        names = self._names_in(input_features)
        shown = [f"_{label_text(self.classes_[y])}" for y in self._shown_classes]
        found: list[str] = []
        for feature in self.features_:
            numbers = [f"_z{z}" for z in range(feature.width)] if self.output == "soft" else shown
            name = "*".join(names[at] for at in feature.columns)
            found += [f"{name}{end}" for end in ([""] if self.output == "cluster" else numbers)]
        return np.array(found, dtype=object)

    @property
    def mapping_(self) -> pd.DataFrame:
        """A row for each category of each feature, by cluster and count: what a person reads."""
        check_is_fitted(self)
        return pd.concat([feature.mapping(self.classes_.tolist()) for feature in self.features_], ignore_index=True)

    def plot(self, feature: int | str = 0, ax: Axes | None = None) -> Axes:
        """The trade-off of a feature, H(Z) and I(Y;Z) for each number of groups, and the point chosen; needs the extra [plot].

        After `fit_transform` with the 95% interval of its I(Y;Z) in the population, from the cross-fitted rows.
        """
        from ..view.pictures import plot_feature

        check_is_fitted(self)
        names = [one.name for one in self.features_]
        if isinstance(feature, str) and feature not in names:
            raise InvalidOptionError(f"feature must be {alternatives(feature, names)}; found {feature!r}.")
        at = names.index(feature) if isinstance(feature, str) else feature
        cross_fitted = getattr(self, "cross_fitted_", None)
        return plot_feature(self.features_[at], None if cross_fitted is None else cross_fitted[at], ax)

    def _fit(self, X: Any, y: Any, sample_weight: Any) -> tuple[list[IntArray], IntArray, Array]:
        """Learn; the letters and classes (-1: of weight 0 and otherwise unmet) of the rows, and their weights."""
        check_one_of("output", self.output, OUTPUTS)
        check_one_of("handle_unknown", self.handle_unknown, ("prior", "warn", "error"))
        check_one_of("target_type", self.target_type, ("auto", "binary", "multiclass"))
        check_flag("product", self.product)
        least = whole_number("min_count", self.min_count)
        point = OperatingPoint(self.n_clusters, self.gamma, self.max_bits, self.min_relevance)
        columns = self._columns(X, reset=True)
        y, kind = self._classes_of(y, "groups keep what predicts it")
        if self.target_type == "binary" and kind != "binary":
            raise ValueError(f"target_type is 'binary'; found {len(np.unique(y))} classes.")
        check_consistent_length(columns[0], y)
        weights = _weights(sample_weight, len(y))
        met = weights > 0.0
        self.classes_ = np.unique(y[met])
        classes = np.clip(np.searchsorted(self.classes_, y), 0, len(self.classes_) - 1)
        both = zip(columns, self._are_categories(columns), strict=True)
        parts = [self._letters(column, kind, classes, weights, point) for column, kind in both]
        names, outcomes = self._names_in(None), len(self.classes_)
        every = range(len(columns))
        self.features_, rows = [], []
        for at in [tuple(every)] if self.product else [(one,) for one in every]:
            letters, codes = RowLetters.of(*zip(*(parts[one] for one in at), strict=True))
            name = "*".join(names[one] for one in at)
            counted = (codes, classes, weights)
            self.features_.append(EncodedFeature.of(name, at, letters, counted, outcomes, point, least))
            rows.append(self.features_[-1].rows[codes])
        return rows, classes, weights

    def _letters(
        self, column: pd.Series[Any], is_category: bool, classes: IntArray, weights: Array, point: OperatingPoint
    ) -> tuple[CategoryLetters | IntervalLetters, IntArray]:
        if is_category:
            return CategoryLetters.of(column)
        values = column.to_numpy(dtype=float, na_value=np.nan)
        here = ~np.isnan(values) & (weights > 0.0)
        edges = interval_edges(values[here], classes[here], weights[here], len(self.classes_), point)
        letters = IntervalLetters(edges, bool(np.isnan(values).any()))
        return letters, letters.codes(column)

    def _folds(self, X: Any, y: Any, groups: Any) -> IntArray:
        """The fold of every row."""
        y = column_or_1d(y)
        most = int(np.unique(y, return_counts=True)[1].max())
        whole = isinstance(self.cv, (int, np.integer)) and not isinstance(self.cv, bool)
        if whole and whole_number("cv", self.cv) < 2:
            raise ValueError(f"cv must be at least 2 folds; found {self.cv}.")
        if whole and most < 2:
            return np.arange(len(y), dtype=np.int64) % max(min(int(self.cv), len(y)), 1)
        cv = check_cv(self.cv, y, classifier=True)
        if whole:
            cv = StratifiedKFold(min(self.cv, most), shuffle=True, random_state=0)
        fold, times = np.zeros((2, len(y)), dtype=np.int64)
        with warnings.catch_warnings():
            # A class with fewer rows than folds is in some of them only: nothing to be warned of here.
            warnings.filterwarnings("ignore", "The least populated class", UserWarning)
            for number, (_, held) in enumerate(cv.split(np.empty((len(y), 1)) if whole else X, y, groups)):
                fold[held] = number
                times[held] += 1
        if (times != 1).any():
            raise ValueError("cv must hold out every row exactly once; use folds that do not overlap, such as KFold.")
        return fold

    def _are_categories(self, columns: list[pd.Series[Any]]) -> list[bool]:
        """Which columns are categories."""
        chosen, names = self.categorical_features, self._names_in(None)
        if isinstance(chosen, str):
            check_one_of("categorical_features", chosen, ("auto", "all"))
            return [chosen == "all" or not is_number(column) for column in columns]
        wanted = set()
        for one in chosen:
            known = one in names if isinstance(one, str) else 0 <= one < len(names)
            if not known:
                raise InvalidOptionError(
                    f"categorical_features must be columns, {alternatives(str(one), names)}; found {one!r}."
                )
            wanted.add(names.index(one) if isinstance(one, str) else int(one))
        for at, column in enumerate(columns):
            if at not in wanted and not is_number(column):
                raise InvalidOptionError(
                    f"column {names[at]!r} is not among categorical_features, and holds {column.dtype}, no numbers: add it, or convert it."
                )
        return [at in wanted for at in range(len(columns))]

    def _say_unknown(self, feature: EncodedFeature, codes: IntArray, columns: Sequence[pd.Series[Any]]) -> None:
        unknown = np.flatnonzero(codes < 0)
        if len(unknown) == 0:
            return
        row = int(unknown[0])
        value = ", ".join(repr(columns[at].iloc[row]) for at in feature.columns)
        said = f"column {feature.name!r} has {len(unknown):,} values that were not met in fit, the first {value} in row {row}"
        if self.handle_unknown == "error":
            raise ValueError(
                f"Found unknown categories: {said}. handle_unknown='prior' encodes them as what p(y) says."
            )
        warnings.warn(f"{said}: encoded as what p(y) says.", UserWarning, stacklevel=3)

    @property
    def _shown_classes(self) -> range:
        """Of two classes the posterior of one says all."""
        n = len(self.classes_)
        return range(1, 2) if n == 2 and self.output == "posterior" else range(n)

    def _container(self, blocks: list[Array], X: Any) -> Any:
        """All features side by side; groups as categories, where frames are asked for."""
        if self.output in ("posterior", "log_posterior"):
            return np.hstack([block[:, [*self._shown_classes]] for block in blocks])
        if self.output == "soft":
            return np.hstack(blocks)
        columns = {
            name: (block[:, 0].astype(np.int64), feature.clusters)
            for name, block, feature in zip(self.get_feature_names_out(), blocks, self.features_, strict=True)
        }
        return self._groups(columns, X)


def _weights(given: Any, rows: int) -> Array:
    """A weight for each row: finite, not negative, and not all 0."""
    if given is None:
        return np.ones(rows)
    weights = np.asarray(given, dtype=float)
    if weights.shape != (rows,):
        raise ValueError(
            f"sample_weight must have one number for each of {rows} rows; found the shape {weights.shape}."
        )
    if not np.isfinite(weights).all() or (weights < 0.0).any():
        raise ValueError("sample_weight must be finite and not negative.")
    if not weights.any():
        raise ValueError("sample_weight must be above 0 for some rows; found only zeros.")
    return weights


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
    ``release_.transform`` with ids and a key. A draw depends on which row it is for, not only on its values. All promises are about p(x, s)
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
        frame = self._frame(X, reset=True)
        secret, _ = self._classes_of(y, "it is the secret to hide")
        check_consistent_length(frame, secret)
        names = [*frame.columns]
        bins = self.bins
        if not isinstance(bins, Mapping):
            bins = {name: self.bins for name in names if is_number(frame[name])}
        called = "y" + "_" * max(map(len, names))  # longer than any column's name
        frame[called] = secret
        joint = Joint.from_frame(frame, names, called, bins=bins, missing="category")
        caps = (self.max_leakage, self.max_lift, self.two_sided, self.min_group)
        self.release_ = release_mechanism(joint, *caps, rng=self._seed(), max_seconds=self.max_seconds)
        return self

    def transform(self, X: Any) -> Any:
        """A released value for each row, drawn: one column ``z`` of numbers, or of categories where frames are asked for."""
        check_is_fitted(self)
        found = self.release_.transform(self._frame(X, reset=False), rng=self._seed(), unseen=self.unseen)
        codes = found.fillna(-1).to_numpy(dtype=np.int64)
        return self._groups({"z": (codes, self.release_.clusters)}, X)

    def get_feature_names_out(self, input_features: Any = None) -> Any:
        """One name, ``z``."""
        check_is_fitted(self)
        self._names_in(input_features)
        return np.array(["z"], dtype=object)

    def _frame(self, X: Any, *, reset: bool) -> pd.DataFrame:
        columns = [column.reset_index(drop=True) for column in self._columns(X, reset=reset)]
        return pd.DataFrame(dict(zip(self._names_in(None), columns, strict=True)))

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
