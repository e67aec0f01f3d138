"""`PrivacyFunnelRelease`: scikit-learn's battery, the caps on what is drawn, frames of any kind, and what was never met."""

import math
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

import infoplane as ip
from infoplane.errors import InfoplaneError

EXCUSED = {
    "check_methods_subset_invariance": "a draw belongs to the place of a row: others are drawn for a part of the rows",
    "check_methods_sample_order_invariance": "the same",
}
"""Checks that cannot hold, and why; one that holds after all is an error (xfail_strict)."""


@parametrize_with_checks(
    [ip.PrivacyFunnelRelease(max_lift=0.3, unseen="marginal", random_state=0, bins=2)],
    expected_failed_checks=lambda _: EXCUSED,
)
def test_the_battery_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=sklearn.exceptions.SkipTestWarning)
        check(estimator)


def made(rows=4000, seed=0):
    """Jobs and ages that tell of a sex."""
    rng = np.random.default_rng(seed)
    sex = rng.integers(0, 2, rows)
    job = rng.integers(0, 4, rows) + sex
    age = rng.normal(40, 10, rows) + 5 * sex
    return pd.DataFrame({"job": [f"job {one}" for one in job], "age": age}), np.where(sex, "f", "m")


def drawn_bits(z, secret):
    """I(S;Z) of what was drawn, by counting."""
    J = pd.crosstab(z, secret).to_numpy() / len(z)
    p = J.sum(axis=1, keepdims=True) * J.sum(axis=0)
    return float((J[J > 0] * np.log2(J[J > 0] / p[J > 0])).sum())


def test_what_is_drawn_keeps_the_caps_and_the_whole_table_does_not():
    X, sex = made()
    step = ip.PrivacyFunnelRelease(0.02 * math.log(2), max_lift=0.3 * math.log(2), random_state=0)
    z = step.fit_transform(X, sex)
    assert (z.shape, z.dtype) == ((len(X), 1), np.int64)
    # Counted from draws I(S;Z) is too large by about (|Z| - 1)(|S| - 1)/2n nats.
    assert drawn_bits(z[:, 0], sex) < 0.02 + 3 * step.release_.clusters / len(X)
    assert drawn_bits(X.job, sex) > 0.1
    assert step.release_.isz <= 0.02 * math.log(2) * (1 + 1e-9)
    assert step.release_.worst_lift.nats <= 0.3 * math.log(2) * (1 + 1e-9)


def test_a_seed_repeats_the_draws_and_none_draws_anew():
    X, sex = made(500)
    step = ip.PrivacyFunnelRelease(0.05, random_state=3).fit(X, sex)
    assert (step.transform(X) == step.transform(X)).all()
    assert (clone(step).fit(X, sex).transform(X) == step.transform(X)).all()
    step.set_params(random_state=None)
    assert (step.transform(X) != step.transform(X)).any()


def test_frames_of_pandas_and_polars_keep_index_and_have_categories():
    X, sex = made(300)
    X.index = X.index[::-1]
    step = ip.PrivacyFunnelRelease(0.05, random_state=0)
    plain = step.fit_transform(X, sex)[:, 0]
    framed = step.set_output(transform="pandas").fit_transform(X, pd.Series(sex))
    assert framed.index.equals(X.index)
    assert framed.z.cat.codes.tolist() == plain.tolist()
    polar = step.set_output(transform="polars").fit_transform(pl.from_pandas(X), sex)
    assert polar["z"].to_list() == framed.z.tolist()
    assert step.get_feature_names_out().tolist() == ["z"]
    assert step.feature_names_in_.tolist() == ["job", "age"]


def test_what_was_never_met_is_refused_drawn_or_left_out():
    X, sex = made(300)
    other = X.head(20).assign(job=["unheard of"] * 3 + X.job[3:20].tolist())
    step = ip.PrivacyFunnelRelease(0.05, random_state=0).fit(X, sex)
    with pytest.raises(InfoplaneError, match="3") as refused:
        step.transform(other)
    assert "unheard" not in str(refused.value)
    for frames in ("default", "pandas", "polars"):
        step.set_output(transform=frames)
        assert len(step.set_params(unseen="marginal").transform(other)) == 20
        found = step.set_params(unseen="suppress").transform(other)
        empty = found[:, 0] < 0 if frames == "default" else pd.Series(found["z"].to_list()).isna()
        assert np.flatnonzero(empty).tolist() == [0, 1, 2]


def test_missing_values_bins_by_name_and_a_column_called_y():
    X, sex = made(400)
    X = X.rename(columns={"job": "y"})
    X.loc[:30, "age"] = np.nan
    step = ip.PrivacyFunnelRelease(0.05, bins={"age": [40]}, random_state=0).fit(X, sex)
    assert dict(step.release_.joint.bins) == {"age": (40,)}
    assert {str(label[1]) for label in step.release_.joint.x_labels} >= {"missing"}
    assert step.transform(X).min() >= 0


def test_it_is_a_step_of_a_pipeline():
    X, sex = made(600)
    rich = X.age > 45
    step = ip.PrivacyFunnelRelease(0.05, unseen="marginal", random_state=0)
    z = step.fit(X, sex).transform(X)
    model = make_pipeline(OneHotEncoder(), LogisticRegression()).fit(z, rich)
    assert model.score(z, rich) > 0.6


def test_a_release_without_a_cap_and_a_wrong_rule_are_refused():
    X, sex = made(50)
    with pytest.raises(InfoplaneError, match="needs a cap"):
        ip.PrivacyFunnelRelease().fit(X, sex)
    with pytest.raises(InfoplaneError, match="unseen"):
        ip.PrivacyFunnelRelease(0.1, unseen="guess").fit(X, sex)
