"""The estimator in scikit-learn's world, and what it learns."""

import pickle
import re
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import sklearn
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, GroupKFold, KFold, ShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

import infoplane as ip

OUTPUTS = ("cluster", "posterior", "log_posterior", "soft")


EXCUSED = {
    "check_transformer_general": "categories of training rows are cross-fitted: fit_transform is not fit and transform",
    "check_transformer_data_not_an_array": "the same",
}
"""Checks that cannot hold, and why; one that holds after all is an error (xfail_strict)."""


@parametrize_with_checks(
    [ip.BottleneckEncoder(), ip.BottleneckEncoder(output="log_posterior", categorical_features="all")],
    expected_failed_checks=lambda estimator: EXCUSED if estimator.categorical_features == "all" else {},
)
def test_the_battery_of_scikit_learn(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=sklearn.exceptions.SkipTestWarning)
        check(estimator)


def made(rows=4000, jobs=60, seed=0):
    """Jobs of which half have y = 1 often; an age that matters above 50; a city that does not matter."""
    rng = np.random.default_rng(seed)
    job, age = rng.integers(0, jobs, rows), rng.integers(18, 80, rows).astype(float)
    p = 0.15 + 0.4 * (job < jobs // 2) + 0.3 * (age >= 50)
    y = np.where(rng.random(rows) < p, "yes", "no")
    city = pd.Categorical(rng.choice(["a", "b", "c"], rows))
    return pd.DataFrame({"job": [f"job {one}" for one in job], "age": age, "city": city}), y


def test_what_matters_is_found_and_what_does_not_is_one_group():
    X, y = made()
    encoder = ip.BottleneckEncoder(n_clusters=2).fit(X, y)
    job, age, city = encoder.features_
    assert (job.clusters, age.clusters, city.clusters) == (2, 2, 1)
    homes = encoder.mapping_.query("feature == 'job'").set_index("category").cluster
    wrong = sum(homes[f"job {one}"] != (one < 30) for one in range(60))
    assert wrong <= 1
    assert age.labels[0] == "under 50"


def test_shuffled_classes_leave_one_group():
    X, y = made()
    for seed in range(5):
        encoder = ip.BottleneckEncoder().fit(X, np.random.default_rng(seed).permutation(y))
        assert [one.clusters for one in encoder.features_] == [1, 1, 1]


def test_training_rows_are_encoded_by_the_other_folds():
    """A row's output does not depend on its own class: recomputed by hand for the posterior of one fold."""
    X, y = made(1000, 200)
    X = X[["job"]]
    splits = [*KFold(4, shuffle=True, random_state=1).split(X)]
    encoder = ip.BottleneckEncoder(output="log_posterior", cv=splits)
    got = encoder.fit_transform(X, y)
    (feature,) = encoder.features_
    train, held = splits[2]
    counts = pd.crosstab(X.job.iloc[train], y[train]).reindex(X.job.iloc[held], fill_value=0).to_numpy(float)
    np.testing.assert_allclose(got[held], np.log(feature.groups.denoising.conditional(counts)), atol=1e-12)
    assert not np.allclose(got, encoder.transform(X))


def test_numbers_need_no_folds():
    X, y = made()
    encoder = ip.BottleneckEncoder(output="posterior")
    np.testing.assert_array_equal(encoder.fit_transform(X[["age"]], y), encoder.transform(X[["age"]]))


@pytest.mark.parametrize(
    ("point", "holds"),
    [
        ({"n_clusters": 3}, lambda feature, _: feature.clusters == 3),
        ({"max_bits": 1.2}, lambda _, plane: plane[0] <= 1.2 * np.log(2)),
        ({"min_relevance": 0.8}, lambda feature, plane: plane[1] >= 0.8 * feature.joint.mutual_information),
        ({"min_relevance": 0.999}, lambda feature, plane: plane[1] >= 0.999 * feature.joint.mutual_information),
        ({"gamma": 0.05}, lambda feature, _: feature.clusters >= 2),
    ],
)
def test_operating_points_are_of_the_denoised_joint(point, holds):
    rng = np.random.default_rng(3)
    job = rng.integers(0, 80, 8000)
    y = (rng.random(8000) < 0.1 + 0.8 * (job % 8) / 8).astype(int)
    encoder = ip.BottleneckEncoder(**point, categorical_features="all").fit(job[:, None], y)
    (feature,) = encoder.features_
    W = np.eye(feature.clusters)[:, feature.table("cluster")[:-1, 0]]
    assert holds(feature, ip.information.plane_point(feature.joint, W))
    soft = clone(encoder).set_params(output="soft").fit(job[:, None], y).transform(job[:20, None])
    np.testing.assert_allclose(soft.sum(axis=1), 1.0, atol=1e-12)


@pytest.mark.parametrize("output", OUTPUTS)
def test_frames_in_and_out(output):
    X, y = made(1500)
    y = np.where(X.age > 70, "maybe", y)
    X.loc[:20, "job"] = None
    X.loc[30:40, "age"] = np.nan
    arrays = ip.BottleneckEncoder(output=output).fit(X, y)
    wanted = arrays.transform(X)
    names = [*arrays.get_feature_names_out()]
    assert wanted.shape == (1500, len(names))
    for frame in (pl.from_pandas(X), pa.Table.from_pandas(X)):
        np.testing.assert_allclose(
            ip.BottleneckEncoder(output=output).fit(frame, y).transform(frame), wanted, atol=1e-12
        )
    pandas = clone(arrays).set_output(transform="pandas")
    shown = pandas.fit(X, y).transform(X.set_index(X.index + 7))
    assert ([*shown.columns], shown.index[0]) == (names, 7)
    polars = clone(arrays).set_output(transform="polars").fit(X, y).transform(X)
    assert polars.columns == names
    if output == "cluster":
        assert all(isinstance(kind, pd.CategoricalDtype) for kind in shown.dtypes)
        assert all(isinstance(kind, pl.Enum) for kind in polars.dtypes)
        assert polars["job"].to_list() == shown.job.tolist() == [f"z{z}" for z in wanted[:, 0]]
    else:
        np.testing.assert_allclose(shown.to_numpy(), wanted)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(arrays)).transform(X), wanted)


def test_columns_of_text_categories_and_objects_are_looked_up_alike():
    X, y = made()
    encoder = ip.BottleneckEncoder().fit(X[["job"]], y)
    wanted = encoder.transform(X[["job"]])
    for kind in (object, "category", "string"):
        np.testing.assert_array_equal(encoder.transform(X[["job"]].astype(kind)), wanted)
    np.testing.assert_array_equal(
        ip.BottleneckEncoder().fit(X[["job"]].astype("category"), y).transform(X[["job"]]), wanted
    )


def test_unknown_and_missing_values():
    X, y = made()
    other = X.head(3).assign(job=["never met", None, "job 1"])
    encoder = ip.BottleneckEncoder(output="posterior").fit(X, y)
    found, share = encoder.transform(other)[:, 0], (y == "yes").mean()
    assert found[0] == found[1] != found[2]
    assert abs(found[0] - share) < 0.2
    with pytest.raises(
        ValueError, match=r"column 'job' has 2 values that were not met in fit, the first 'never met' in row 0"
    ):
        clone(encoder).set_params(handle_unknown="error").fit(X, y).transform(other)
    with pytest.warns(UserWarning, match="encoded as what p"):
        clone(encoder).set_params(handle_unknown="warn").fit(X, y).transform(other)
    with_missing = X.assign(job=X.job.where(X.index % 10 > 0))
    frame = ip.BottleneckEncoder().fit(with_missing, y).mapping_
    assert frame[(frame.feature == "job") & (frame.category == "missing")]["count"].tolist() == [400]


def test_rare_categories_are_one_called_other():
    X, y = made()
    X.loc[:4, "job"] = [f"rare {at}" for at in range(5)]
    mapping = ip.BottleneckEncoder(min_count=10).fit(X[["job"]], y).mapping_
    assert mapping.set_index("category")["count"]["other"] == 5
    assert len(mapping) == 61


def test_columns_together_are_one_feature():
    """Neither column says anything of an exclusive or; both together say all."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 2000))
    X, y = pd.DataFrame({"a": np.array(["n", "y"])[a], "b": np.array(["n", "y"])[b]}), a ^ b
    alone, together = (ip.BottleneckEncoder(product=product).fit(X, y) for product in (False, True))
    assert [one.clusters for one in alone.features_] == [1, 1]
    assert together.get_feature_names_out().tolist() == ["a*b"]
    # Four letters, each kept, shrunk towards p(y): the posterior decides.
    posterior = together.set_params(output="posterior").transform(X)[:, 0]
    assert ((posterior > 0.5) == y).all()
    assert together.transform(pd.DataFrame({"a": ["new"], "b": ["y"]}))[0, 0] == pytest.approx(0.5, abs=0.5)


def test_weights_count_rows():
    X, y = made(800, 20)
    weights = np.random.default_rng(0).integers(0, 3, len(y))
    repeated = ip.BottleneckEncoder(output="posterior").fit(X.loc[X.index.repeat(weights)], np.repeat(y, weights))
    weighted = ip.BottleneckEncoder(output="posterior").fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(weighted.transform(X), repeated.transform(X), atol=1e-9)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("letters", [8, 50])
def test_weights_may_be_fractions(letters):
    """Classes of less than one record in all, or of a few hundred: an estimate of the gain that is a number, and no warning."""
    X, y = made(800, letters)
    for scale in (0.5, 4.0, 400.0):
        weights = np.where(y == "yes", 0.2, 1.0) * scale / len(y)
        (feature, *_) = ip.BottleneckEncoder().fit(X, y, sample_weight=weights).features_
        assert np.isfinite([one.gain for one in feature.groups.denoising.curve]).all()


def test_frames_and_rows_that_are_refused():
    X, y = made(200)
    with pytest.raises(ValueError, match=r"columns of X must have distinct names.*'job'"):
        ip.BottleneckEncoder().fit(pd.concat([X, X[["job"]]], axis=1), y)
    with pytest.raises(ValueError, match="labels must be hashable"):
        ip.BottleneckEncoder().fit(X.assign(job=[[1]] * 200), y)
    encoder = ip.BottleneckEncoder().fit(X, y)
    dates = pd.date_range("2020-01-01", periods=200)
    for column in (["34", *["secret"] * 199], dates, [3, *dates[1:]]):
        with pytest.raises(ValueError, match=r"column 'age' must hold numbers; found (199|200) values of 200") as found:
            encoder.transform(X.assign(age=column))
        assert "secret" not in str(found.value)


def test_in_pipelines_grid_search_and_with_routed_metadata():
    X, y = made(1200, 20)
    trees = make_pipeline(
        ip.BottleneckEncoder().set_output(transform="pandas"),
        HistGradientBoostingClassifier(max_iter=5, categorical_features="from_dtype", random_state=0),
    )
    assert trees.fit(X, y).score(X, y) > 0.65
    linear = make_pipeline(
        make_column_transformer((ip.BottleneckEncoder(output="log_posterior"), ["job", "age"])), LogisticRegression()
    )
    name = "columntransformer__bottleneckencoder__n_clusters"
    search = GridSearchCV(linear, {name: [2, 4]}, cv=2).fit(X, y)
    assert search.best_score_ > 0.6
    with sklearn.config_context(enable_metadata_routing=True):
        encoder = ip.BottleneckEncoder(output="posterior", cv=GroupKFold(3)).set_fit_request(
            groups=True, sample_weight=True
        )
        model = make_pipeline(encoder, LogisticRegression().set_fit_request(sample_weight=True))
        model.fit(X, y, groups=np.arange(len(y)) % 7, sample_weight=np.ones(len(y)))
        assert model.score(X, y) > 0.65


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"output": "codes"}, "output must be 'cluster'"),
        ({"n_clusters": 2, "gamma": 0.1}, "give one of n_clusters, gamma, max_bits and min_relevance"),
        ({"n_clusters": 0}, "n_clusters must be a positive whole number"),
        ({"gamma": 2.0}, "gamma must be a number above 0"),
        ({"max_bits": -1}, "max_bits must be a positive number"),
        ({"min_relevance": 2}, "min_relevance must be a number from 0 to 1"),
        ({"handle_unknown": "ignore"}, "handle_unknown must be"),
        ({"min_count": 0}, "min_count must be a positive whole number"),
        ({"product": "yes"}, "product must be True or False"),
        ({"target_type": "continuous"}, "target_type must be 'auto'"),
        ({"cv": 1}, "cv must be at least 2 folds"),
        ({"cv": ShuffleSplit(3)}, "cv must hold out every row exactly once"),
        ({"categorical_features": ["jobs"]}, "categorical_features must be columns, one of 'job', 'age', 'city'"),
        ({"categorical_features": ["city"]}, "column 'job' is not among categorical_features"),
    ],
)
def test_what_is_refused(options, said):
    X, y = made(200)
    with pytest.raises(ValueError, match=said):
        ip.BottleneckEncoder(**options).fit_transform(X, y)


def test_targets_and_weights_that_are_refused():
    X, y = made(200)
    encoder = ip.BottleneckEncoder()
    with pytest.raises(ValueError, match=r"Cut a continuous target into classes first, with pandas.qcut"):
        encoder.fit(X, X.age + 0.5)
    with pytest.raises(ValueError, match="a class for every row; found missing"):
        encoder.fit(X, [None, *y[1:]])
    with pytest.raises(ValueError, match="target_type is 'binary'; found 3 classes"):
        ip.BottleneckEncoder(target_type="binary").fit(X, np.arange(200) % 3)
    for weights in (np.zeros(200), np.full(200, -1.0), np.full(200, np.nan), np.ones(3)):
        with pytest.raises(ValueError, match="sample_weight must"):
            encoder.fit(X, y, sample_weight=weights)


def test_tables_that_would_fill_the_memory_are_refused(monkeypatch):
    monkeypatch.setattr("infoplane.table.encoded_feature.LARGEST_TABLE", 100)
    X, y = made(300)
    with pytest.raises(ValueError, match="at most 100 cells; 'job' has 60 categories, and there are 2 classes"):
        ip.BottleneckEncoder().fit(X, y)


def test_the_picture_has_the_curve_the_point_and_the_band():
    X, y = made(1500)
    encoder = ip.BottleneckEncoder()
    encoder.fit_transform(X, y)
    drawn = encoder.plot("job")
    assert [one.get_label() for one in drawn.lines] == [
        "best for each k",
        "I(X;Y), denoised",
        f"{encoder.features_[0].clusters} groups",
        "95%, cross-fitted rows",
    ]
    low, high = drawn.lines[-1].get_ydata()
    assert 0.0 < low < high
    assert sum(counts.sum() for counts in encoder.cross_fitted_) == 3 * 1500
    assert len(encoder.fit(X, y).plot(0).lines) == 3
    with pytest.raises(ValueError, match="feature must be one of 'job', 'age', 'city'"):
        encoder.plot("jobs")


def test_without_scikit_learn_the_error_names_the_extra(monkeypatch):
    monkeypatch.delitem(sys.modules, "infoplane.table.transformers")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    said = 'BottleneckEncoder and PrivacyFunnelRelease need scikit-learn 1.6: pip install "infoplane[sklearn]".'
    with pytest.raises(ip.MissingExtraError, match=f"^{re.escape(said)}$"):
        ip.BottleneckEncoder  # noqa: B018
