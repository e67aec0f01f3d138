"""A joint from its two factors: p(x, y) = p(x) p(y|x), with every row of p(y|x) a distribution.

The prior is an array, in the order of x; a Series or a mapping, matched by the labels of x; or the word ``"uniform"``. Nothing is
normalised silently: what does not sum to 1 is refused, by its place.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from ..checks import SUM_TOLERANCE
from ..errors import InvalidJointError
from ..information import Array
from .labels import aligned, checked_labels, own_labels
from .tables import Table, check_amounts, checked_table

AXES = ("xy", "yx")
"""Which axis of a conditional is which: a row for each x, or a row for each y as in `Joint.p_y_given_x`."""


def checked_prior(prior: Any, x_labels: tuple[Hashable, ...], role: str = "prior") -> Array:
    """p(x) of these letters: finite, >= 0, sum 1; or ``"uniform"``. What has labels, a Series or a mapping, is put in order by them."""
    letters = len(x_labels)
    if isinstance(prior, str):
        if prior != "uniform":
            raise InvalidJointError(f'{role} must be a list of probabilities or "uniform"; found {prior!r}.')
        return np.full(letters, 1.0 / letters)
    if hasattr(prior, "columns"):
        raise InvalidJointError(
            f"{role} must be one column; found a frame. Take that of the probabilities, with the labels of x as index."
        )
    own = own_labels(prior)
    try:
        p = np.array(list(prior.values()) if isinstance(prior, Mapping) else prior, dtype=float)
    except (TypeError, ValueError, OverflowError) as error:
        raise InvalidJointError(f'{role} must be a list of probabilities or "uniform"; found {error}.') from None
    if own is not None and p.ndim == 1:
        try:
            p = p[aligned(own, x_labels, "the joint")]
        except InvalidJointError as error:
            raise InvalidJointError(
                f"{role}: {error} For probabilities in the order of the joint take an array."
            ) from None
    if p.shape != (letters,):
        raise InvalidJointError(f"{role} must have one probability for each of {letters} x; found shape {p.shape}.")
    check_amounts(p, role, lambda x: f"x = {x} (counting from 0)")
    if abs(p.sum() - 1.0) > SUM_TOLERANCE:
        raise InvalidJointError(
            f"{role} must sum to 1 within {SUM_TOLERANCE:g}; found the sum {p.sum():.12g}. Divide weights by their sum."
        )
    normalised: Array = p / p.sum()
    return normalised


def rows_for_x(conditional: Any, axes: str) -> Any:
    """A conditional p(y|x) turned so that each x has a row; arrays, frames and sparse tables all know ``.T``."""
    if axes not in AXES:
        raise InvalidJointError(
            f'axes must be "xy" (a row for each x) or "yx" (a row for each y, as Joint.p_y_given_x has); found {axes!r}.'
        )
    if axes == "xy":
        return conditional
    return conditional.T if hasattr(conditional, "T") else np.asarray(conditional).T


def joint_table(prior: Any, conditional: Any, axes: str, x_labels: list[Hashable] | None = None) -> Table:
    """P[x, y] = prior[x] conditional[x, y]; the conditional has a row for each x by now, ``axes`` is how it came."""
    T = checked_table(conditional, "p(y|x)")
    line = "row" if axes == "xy" else "column"
    mass = np.asarray(T.sum(axis=1)).ravel()
    wrong = np.abs(mass - 1.0) > SUM_TOLERANCE
    if wrong.any():
        x = int(wrong.argmax())
        other = np.abs(np.asarray(T.sum(axis=0)).ravel() - 1.0) <= SUM_TOLERANCE
        turned = f' The {"columns" if line == "row" else "rows"} do: say axes="{axes[::-1]}".' if other.all() else ""
        raise InvalidJointError(
            f"p(y|x) must sum to 1 over y for every x, within {SUM_TOLERANCE:g}; found the sum {mass[x]:.12g} in {line} {x} (counting "
            f"from 0).{turned or ' Divide it by its sum, or use Joint.from_counts for counts.'}"
        )
    p_x = checked_prior(prior, checked_labels(x_labels, T.shape[0], ("x",), "x_labels"))
    if isinstance(T, np.ndarray):
        return T * (p_x / mass)[:, None]
    return sparse.csr_array(sparse.diags_array(p_x / mass) @ T)


def reweighted(P: Table, p_x: Array, prior: Any, x_labels: tuple[Any, ...]) -> Table:
    """P with another prior of x and the same p(y|x), which must be known wherever the prior is positive."""
    new = checked_prior(prior, x_labels)
    unknown = (new > 0.0) & (p_x == 0.0)
    if unknown.any():
        x = int(unknown.argmax())
        raise InvalidJointError(
            f"the prior must be 0 where the joint says nothing about p(y|x); found {new[x]:g} at x = {x_labels[x]!r}, whose mass was 0."
        )
    ratio = new / np.where(p_x > 0.0, p_x, 1.0)
    return P * ratio[:, None] if isinstance(P, np.ndarray) else sparse.csr_array(sparse.diags_array(ratio) @ P)
