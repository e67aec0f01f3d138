"""The Gaussian bottleneck: its formulas against determinants, and the discrete solver on ever finer grids against it."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import norm

import infoplane as ip


def covariance(seed=0, n=6):
    A = np.random.default_rng(seed).normal(size=(n, n + 2))
    return A @ A.T


@pytest.mark.parametrize("seed", range(5))
def test_the_point_is_what_determinants_say_of_the_projection(seed):
    S = covariance(seed)
    found = ip.gaussian_bottleneck(covariance=S, x=[0, 1, 2], y=[3, 4, 5], gamma=0.1)
    A, noise = found.projection, np.eye(found.active)
    given_y = S[:3, :3] - S[:3, 3:] @ np.linalg.solve(S[3:, 3:], S[3:, :3])
    ixz = 0.5 * np.linalg.slogdet(A @ S[:3, :3] @ A.T + noise)[1]
    iyz = ixz - 0.5 * np.linalg.slogdet(A @ given_y @ A.T + noise)[1]
    assert (found.ixz, found.iyz) == pytest.approx((ixz, iyz), abs=1e-10)
    for _ in range(50):  # no other projection is better
        B = np.random.default_rng(_).normal(size=(3, 3)) * 10.0 ** np.random.default_rng(_).uniform(-1, 1)
        i = 0.5 * np.linalg.slogdet(B @ S[:3, :3] @ B.T + np.eye(3))[1]
        assert 0.1 * i - (i - 0.5 * np.linalg.slogdet(B @ given_y @ B.T + np.eye(3))[1]) >= found.loss - 1e-12
    assert found.onsets == pytest.approx(1.0 / found.correlations)
    assert ip.gaussian_bottleneck(covariance=S, x=[0, 1, 2], y=[3, 4, 5], gamma=1.0).loss == 0.0


def quantised(correlation, n):
    """Cells of n equally likely values of x by n of y; p(y|x) at the middle of a cell, which is enough for convergence."""
    edges = norm.ppf(np.linspace(0.0, 1.0, n + 1))
    middle = norm.ppf((np.arange(n) + 0.5) / n)
    width = np.sqrt(1.0 - correlation**2)
    T = np.diff(norm.cdf((edges[None] - correlation * middle[:, None]) / width), axis=1)
    return ip.Joint.from_conditional("uniform", T / T.sum(axis=1, keepdims=True))


def test_the_discrete_solver_on_finer_grids_converges_to_it():
    exact = ip.gaussian_bottleneck(covariance=[[1.0, 0.8], [0.8, 1.0]], x=[0], y=[1], gamma=0.32)
    apart = []
    for n in (8, 16, 32, 64):
        found = ip.solve(quantised(0.8, n), ip.bottleneck(0.32), "annealing", rng=0)
        apart.append([abs(found.loss - exact.loss), abs(found.iyz - exact.iyz)])
    apart = np.array(apart)
    # Cells of equal mass are wide in the tails: the error falls with their mass, by less than 1/n^2.
    assert (apart[1:, 0] < 0.6 * apart[:-1, 0]).all()
    assert (apart[-1] < [0.01, 0.03]).all()


def test_samples_and_their_ranks():
    rng = np.random.default_rng(1)
    z = rng.multivariate_normal([0, 0, 0], [[1, 0.3, 0.6], [0.3, 1, 0.5], [0.6, 0.5, 1]], size=4000)
    frame = pd.DataFrame(z, columns=["a", "b", "c"])
    plain = ip.gaussian_bottleneck(samples=frame, x=["a", "b"], y="c", beta=5)
    given = ip.gaussian_bottleneck(covariance=frame.cov(), x=["a", "b"], y=["c"], gamma=0.2)
    assert (plain.ixz, plain.x_names) == (pytest.approx(given.ixz, abs=1e-9), ("a", "b"))
    bent = pl.DataFrame({"a": np.exp(3 * z[:, 0]), "b": z[:, 1] ** 3, "c": np.tanh(z[:, 2])})
    ranks = ip.gaussian_bottleneck(samples=bent, x=["a", "b"], y="c", beta=5, copula=True)
    assert ranks.iyz == pytest.approx(plain.iyz, abs=0.01)
    assert ip.gaussian_bottleneck(samples=bent, x=["a", "b"], y="c", beta=5).iyz < 0.8 * plain.iyz
    table = plain.frontier([0.1, 0.2, 0.9])
    assert table.iyz_bits.tolist()[1] == pytest.approx(plain.iyz / np.log(2))
    assert table.directions.tolist() == [1, 1, 0]
    twice = frame.assign(d=frame.a)  # a column that repeats another adds nothing
    assert ip.gaussian_bottleneck(samples=twice, x=["a", "b", "d"], y="c", beta=5).ixz == pytest.approx(plain.ixz)
    numbered = ip.gaussian_bottleneck(samples=pd.DataFrame(z), x=[0, 1], y=[2], beta=5)  # columns without names
    assert (numbered.ixz, numbered.x_names) == (pytest.approx(plain.ixz, abs=1e-12), ("0", "1"))


def test_units_do_not_matter_and_rows_of_a_covariance_are_found_by_their_labels():
    z = np.random.default_rng(2).multivariate_normal(
        np.zeros(3), [[1, 0.3, 0.6], [0.3, 1, 0.5], [0.6, 0.5, 1]], size=100
    )
    frame = pd.DataFrame(z, columns=["a", "b", "c"])
    options = {"x": ["a", "b"], "y": "c", "gamma": 0.05}
    plain, units = ip.gaussian_bottleneck(samples=frame, **options), np.array([1e200, 1e-200, 1e180])
    far = ip.gaussian_bottleneck(samples=frame * units, **options)
    assert (far.iyz, far.ixz) == pytest.approx((plain.iyz, plain.ixz), abs=1e-12)
    same = far.projection * units[:2] / plain.projection
    assert np.abs(same) == pytest.approx(np.ones_like(same))
    turned = ip.gaussian_bottleneck(covariance=frame.cov().loc[["c", "a", "b"]], **options)
    assert turned.iyz == pytest.approx(plain.iyz, abs=1e-12)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"x": [0], "y": [1], "gamma": 0.2}, "found neither"),
        ({"covariance": np.eye(2), "x": [0], "y": [1]}, "give gamma, or beta"),
        ({"covariance": np.eye(2), "x": [0], "y": [0], "gamma": 0.2}, "found 0 in both"),
        ({"covariance": np.eye(2), "x": [0], "y": [7], "gamma": 0.2}, "no column 7"),
        ({"covariance": [[1, 2], [2, 1]], "x": [0], "y": [1], "gamma": 0.2}, "negative eigenvalue"),
        ({"covariance": [[1, 1], [1, 1]], "x": [0], "y": [1], "gamma": 0.2}, "function of Y"),
        ({"covariance": np.eye(2), "x": [0], "y": [1], "gamma": 0.2, "copula": True}, "give samples"),
        ({"covariance": np.zeros((0, 0)), "x": [0], "y": [1], "gamma": 0.2}, "found shape \\(0, 0\\)"),
        ({"covariance": pd.DataFrame(np.eye(3), columns=["a", "a", "b"]), "x": "a", "y": "b", "gamma": 0.2}, "several columns 'a'"),
        ({"covariance": np.eye(2), "x": [[0]], "y": [1], "gamma": 0.2}, "no column \\[0\\]"),
        ({"samples": pd.DataFrame(np.eye(3), columns=["a", "a", "b"]), "x": "a", "y": "b", "gamma": 0.2}, "must have distinct names"),
        ({"samples": pd.DataFrame({"a": ["u"], "b": [1]}), "x": "a", "y": "b", "gamma": 0.2}, "column 'a'"),
        ({"samples": pd.DataFrame({"a": [1.0, np.nan, 2], "b": [1, 2, 3]}), "x": "a", "y": "b", "gamma": 0.2}, "row 1 of column 'a'"),
    ],
)  # fmt: skip
def test_what_is_refused(options, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        ip.gaussian_bottleneck(**options)
