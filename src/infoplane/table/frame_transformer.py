"""What transformers of frames share: columns of any frame or array in, groups as categories out, classes as y.

Frames of pandas, polars and pyarrow, and arrays, become pandas columns; what comes out is what ``set_output`` asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from ..errors import MissingExtraError
from ..information import IntArray

try:
    import sklearn
    from sklearn.base import BaseEstimator, TransformerMixin
    from sklearn.utils import check_array
    from sklearn.utils.multiclass import type_of_target
    from sklearn.utils.validation import column_or_1d, validate_data
except ImportError as error:
    raise MissingExtraError(
        'BottleneckEncoder and PrivacyFunnelRelease need scikit-learn 1.6: pip install "infoplane[sklearn]".'
    ) from error


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
        frame = nw.from_native(X, eager_only=True, pass_through=True)
        if not isinstance(frame, nw.DataFrame):
            array = check_array(X, dtype=None, ensure_all_finite=False, estimator=self)
            validate_data(self, X, reset=reset, skip_check_array=True)
            table = pd.DataFrame(array)
            table = table.infer_objects() if array.dtype == object else table
            return [table.iloc[:, at] for at in range(table.shape[1])]
        validate_data(self, X, reset=reset, skip_check_array=True)
        if 0 in frame.shape:
            raise ValueError(f"X must have rows and columns; found the shape {frame.shape}.")
        if frame.implementation.is_pandas():
            native = frame.to_native()
            return [native.iloc[:, at] for at in range(native.shape[1])]
        return [_as_pandas(column) for column in frame.iter_columns()]

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

    def _classes_of(self, y: Any) -> tuple[Any, str]:
        """Classes, one a row, and whether they are two or several; what is continuous is refused."""
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

    def _groups(self, columns: Mapping[str, tuple[IntArray, Sequence[str]]], X: Any) -> Any:
        """Columns of codes and what they are called: the codes, or categories where frames are asked for; -1 is nothing."""
        config = getattr(self, "_sklearn_output_config", {}).get("transform", sklearn.get_config()["transform_output"])
        if config not in ("pandas", "polars"):
            return np.column_stack([codes for codes, _ in columns.values()])
        if config == "pandas":
            index = X.index if isinstance(X, pd.DataFrame) else None
            return pd.DataFrame(
                {name: pd.Categorical.from_codes(codes, pd.Index(which)) for name, (codes, which) in columns.items()},
                index=index,
            )
        import polars as pl

        # The code -1 takes the last, which is nothing.
        return pl.DataFrame(
            {name: pl.Series([*which, None])[codes].cast(pl.Enum(which)) for name, (codes, which) in columns.items()}
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
