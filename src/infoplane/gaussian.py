"""The bottleneck of jointly Gaussian X and Y in closed form (Chechik, Globerson, Tishby, Weiss, JMLR 6, 2005).

Let c_1 >= c_2 >= ... be the squared canonical correlations of X and Y, and w_i the directions of X with unit variance that have them
(in that paper lambda_i = 1 - c_i). The best Z is a noisy projection, Z_i = a_i w_i.(X - mean) + N(0, 1) for the c_i > gamma, with

    a_i^2 = (c_i / gamma - 1) / (1 - c_i),
    I(X;Z) = 1/2 sum log((1/gamma - 1) c_i / (1 - c_i)),      I(Y;Z) = I(X;Z) - 1/2 sum log(c_i / gamma).

Direction i sets in at gamma = c_i, that is beta = 1/(1 - lambda_i). There is no Gaussian funnel: without a constraint on Z it could keep
all of X, which is infinitely much.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import check_flag, listed, number, real_array
from .errors import InvalidOptionError
from .information import Array, Result, bits
from .problem import gamma_from

if TYPE_CHECKING:
    import pandas as pd

NO_VARIANCE = 1e-12
"""Directions of X or Y with less than this share of the largest variance, each variable in units of its own deviation, are left out."""


@dataclass(frozen=True, eq=False)
class GaussianBottleneck(Result):
    """The optimum at one gamma, and what the whole frontier follows from; nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.gaussian_bottleneck(covariance=[[1.0, 0.8], [0.8, 1.0]], x=[0], y=[1], gamma=0.32)
    >>> found.active, found.projection.round(4).tolist()
    (1, [[1.6667]])
    """

    gamma: float
    """Of the Lagrangian gamma I(X;Z) - I(Y;Z)."""
    correlations: Array = field(repr=False)
    """c_i, the squared canonical correlations, largest first: direction i sets in at gamma = c_i."""
    directions: Array = field(repr=False)
    """w_i as rows, each of unit variance: one number per x column."""
    x_names: tuple[str, ...]
    """Names of the x columns."""
    copula: bool = False
    """Whether columns were turned into normal scores of their ranks first: the projection acts on those."""

    @property
    def active(self) -> int:
        """How many directions Z has: those with c_i > gamma."""
        return int(np.count_nonzero(self.correlations > self.gamma))

    @property
    def projection(self) -> Array:
        """a_i w_i as rows: Z = projection (x - mean) + independent standard normal noise."""
        c = self.correlations[: self.active]
        scale: Array = np.sqrt((c / self.gamma - 1.0) / (1.0 - c))
        return scale[:, None] * self.directions[: self.active]

    @property
    def ixz(self) -> float:
        """I(X;Z)."""
        return _point(self.correlations, self.gamma)[0]

    @property
    def iyz(self) -> float:
        """I(Y;Z)."""
        return _point(self.correlations, self.gamma)[1]

    @property
    def loss(self) -> float:
        """gamma I(X;Z) - I(Y;Z), the least there is."""
        return self.gamma * self.ixz - self.iyz

    @property
    def mutual_information(self) -> float:
        """I(X;Y) = -1/2 sum log(1 - c_i)."""
        return float(-0.5 * np.log1p(-self.correlations).sum())

    @property
    def onsets(self) -> Array:
        """beta = 1/c_i = 1/(1 - lambda_i) from which direction i is kept; infinite where c_i = 0."""
        with np.errstate(divide="ignore"):
            return np.asarray(1.0 / self.correlations)

    def frontier(self, gammas: Sequence[float] | Array) -> pd.DataFrame:
        """The frontier at any gammas as a pandas frame: ``gamma``, ``beta``, ``ixz_bits``, ``iyz_bits``, ``directions``."""
        import pandas as pd

        values = [_checked(gamma) for gamma in listed("gammas", gammas, "numbers in (0, 1]")]
        points = [_point(self.correlations, gamma) for gamma in values]
        return pd.DataFrame(
            {
                "gamma": values,
                "beta": [1.0 / gamma for gamma in values],
                "ixz_bits": [bits(ixz) for ixz, _ in points],
                "iyz_bits": [bits(iyz) for _, iyz in points],
                "directions": [int((self.correlations > gamma).sum()) for gamma in values],
            }
        )


def gaussian_bottleneck(
    *,
    x: Sequence[Any] | str,
    y: Sequence[Any] | str,
    covariance: Any = None,
    samples: Any = None,
    gamma: float | None = None,
    beta: float | None = None,
    copula: bool = False,
) -> GaussianBottleneck:
    """The information bottleneck of Gaussian X and Y: a noisy projection, its point on the plane and the whole frontier, in closed form.

    Parameters
    ----------
    x, y
        The columns that X and Y are made of, by name; or by number, from 0, for a covariance without names.
    covariance
        The covariance of all columns: a square array, or a pandas frame whose columns are the names.
    samples
        A frame of numbers, of pandas, polars or pyarrow, one row per sample, of which the covariance is taken instead.
    gamma, beta
        gamma I(X;Z) - I(Y;Z) is minimised, 0 < gamma <= 1; or beta = 1/gamma.
    copula
        With samples: put every column's ranks r in its place, as normal scores Phi^-1(r / (n + 1)). The bottleneck of variables that are
        Gaussian after an increasing function of each (Rey, Roth 2012), whatever these are; outliers do not count.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.gaussian_bottleneck(covariance=[[1.0, 0.8], [0.8, 1.0]], x=[0], y=[1], gamma=0.32)
    >>> round(found.ixz, 6), round(found.iyz, 6), found.onsets.round(4).tolist()
    (0.664568, 0.317994, [1.5625])
    """
    check_flag("copula", copula)
    wanted = _checked(gamma_from(gamma, beta))
    if (covariance is None) == (samples is None):
        raise InvalidOptionError(
            f"give a covariance or samples, one of them; found {'neither' if samples is None else 'both'}."
        )
    if covariance is not None and copula:
        raise InvalidOptionError("copula takes the ranks of samples, and a covariance has none: give samples.")
    x_names, y_names = _columns("x", x), _columns("y", y)
    if both := [name for name in x_names if name in y_names]:
        raise InvalidOptionError(f"a column is part of X or of Y; found {both[0]!r} in both.")
    names = [*x_names, *y_names]
    S, units = (
        _from_samples(samples, names, copula) if covariance is None else (_from_covariance(covariance, names), 1.0)
    )
    c, directions = _canonical(S, len(x_names), units)
    # A squared correlation this near to 1 is 1: that direction of X is a function of Y, and the information infinite.
    if c.size and c[0] > 1.0 - 1e-12:
        raise InvalidOptionError(
            "a direction of X is a function of Y (canonical correlation 1), about which Z can say infinitely much: leave out columns "
            "that are sums of others, or add the noise of the measurement to the covariance."
        )
    return GaussianBottleneck(wanted, c, directions, tuple(map(str, x_names)), copula)


def _checked(gamma: float) -> float:
    return number("gamma", gamma, "in (0, 1]", above=0.0, most=1.0)


def _point(c: Array, gamma: float) -> tuple[float, float]:
    """I(X;Z) and I(Y;Z) of the optimum."""
    c = c[c > gamma]
    ixz = 0.5 * float(np.log((1.0 / gamma - 1.0) * c / (1.0 - c)).sum())
    return ixz, ixz - 0.5 * float(np.log(c / gamma).sum())


def _columns(role: str, given: Any) -> list[Any]:
    names = [given] if isinstance(given, str) else listed(role, given, "columns")
    if not names or any(name in names[:before] for before, name in enumerate(names)):
        raise InvalidOptionError(f"{role} must list one or more columns, each once; found {names!r}.")
    return names


def _from_covariance(covariance: Any, names: list[Any]) -> Array:
    """The rows and columns asked for, of a symmetric matrix."""
    known = [*covariance.columns] if hasattr(covariance, "columns") else None
    if known is not None and sorted(map(repr, known)) == sorted(map(repr, getattr(covariance, "index", ()))):
        covariance = covariance.loc[known]  # its rows by their labels
    S = real_array("covariance", covariance)
    if (
        S.ndim != 2
        or S.shape[0] != S.shape[1]
        or S.size == 0
        or not np.isfinite(S).all()
        or np.abs(S - S.T).max() > 1e-9 * np.abs(S).max()
    ):
        raise InvalidOptionError(
            f"a covariance must be a square, symmetric table of finite numbers; found shape {S.shape}."
        )
    known = [*range(len(S))] if known is None else known
    for name in names:
        if known.count(name) != 1:
            found = "several columns" if name in known else "no column"
            raise InvalidOptionError(f"the covariance has {found} {name!r}; it has {', '.join(map(str, known))}.")
    rows = [known.index(name) for name in names]
    return np.asarray(S[np.ix_(rows, rows)])


def _from_samples(samples: Any, names: list[Any], copula: bool) -> tuple[Array, Array]:
    """The covariance of columns of a frame, or of the normal scores of their ranks, and the units that they are measured in there."""
    import narwhals as nw

    try:
        frame = nw.from_native(samples, eager_only=True)
    except TypeError:
        raise InvalidOptionError(
            f"samples must be a frame of pandas, polars or pyarrow; found a value of type {type(samples).__name__}."
        ) from None
    except nw.exceptions.NarwhalsError as error:
        found = " ".join(str(error).split())
        raise InvalidOptionError(f"columns of samples must have distinct names. {found}. Rename them first.") from None
    for name in names:
        if name not in frame.columns:
            raise InvalidOptionError(
                f"samples have no column {name!r}; they have {', '.join(map(str, frame.columns))}."
            )
        if not frame.get_column(name).dtype.is_numeric():
            kind = frame.get_column(name).dtype
            raise InvalidOptionError(f"samples must be numbers; found {kind} in column {name!r}.")
    values = np.column_stack([np.asarray(frame.get_column(name).to_numpy(), dtype=float) for name in names])
    if not np.isfinite(values).all():
        row, column = np.argwhere(~np.isfinite(values))[0]
        raise InvalidOptionError(
            f"samples must be finite; found {values[row, column]} in row {row} of column {names[column]!r}. Drop such rows."
        )
    if len(values) <= len(names):
        raise InvalidOptionError(
            f"a covariance of {len(names)} columns needs more rows than that; found {len(values)}."
        )
    if copula:
        values = _normal_scores(values)
    # The square of 1e200 has no place in floating point.
    units = np.abs(values).max(axis=0)
    units[units == 0.0] = 1.0
    return np.atleast_2d(np.cov(values / units, rowvar=False)), units


def _normal_scores(values: Array) -> Array:
    """Phi^-1(r / (n + 1)), r the ranks of each column; equal values share the mean of theirs."""
    from scipy.special import ndtri
    from scipy.stats import rankdata

    return np.asarray(ndtri(rankdata(values, axis=0) / (len(values) + 1.0)))


def _canonical(S: Array, n_x: int, units: Array | float) -> tuple[Array, Array]:
    """Squared canonical correlations, largest first, and directions of X of unit variance, by whitening both sides.

    S is the covariance of the columns divided by ``units``.
    """
    deviations = np.sqrt(np.maximum(np.diag(S), 0.0))
    scale = np.where(deviations > 0.0, deviations, 1.0)
    R = S / np.outer(scale, scale)
    if float(np.linalg.eigvalsh(R).min()) < -1e-9:
        raise InvalidOptionError(
            "a covariance must have no negative eigenvalue; these columns' has one. Take it from complete rows."
        )
    white_x, white_y = _whitening(R[:n_x, :n_x]), _whitening(R[n_x:, n_x:])
    left, singular, _ = np.linalg.svd(white_x @ R[:n_x, n_x:] @ white_y.T, full_matrices=False)
    c = np.minimum(singular, 1.0) ** 2
    return c, np.ascontiguousarray((left.T @ white_x) / (scale * units)[:n_x])


def _whitening(R: Array) -> Array:
    """Rows that make a covariance the identity, on the directions that have variance."""
    values, vectors = np.linalg.eigh(R)
    kept = values > NO_VARIANCE * max(float(values.max()), NO_VARIANCE)
    return np.asarray((vectors[:, kept] / np.sqrt(values[kept])).T)
