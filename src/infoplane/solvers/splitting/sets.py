"""Where a block of a user's own pair may lie, and its argmin there: everywhere, in a box, or on the simplex column by column.

A block that has a gradient only is minimised by L-BFGS-B (everywhere, box), or on the simplex by spectral projected gradients: steps
u + t (P(u - xi g) - u), P the projection, 1/xi the curvature of the last step, t by back-tracking (Birgin, Martinez, Raydan 2000).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import numpy as np

from ...checks import number
from ...errors import InvalidOptionError
from ...information import Array

Place = Literal["simplex"] | tuple[float, float] | None
"""Everywhere (None), the box of all u with low <= u <= high, or columns that are non-negative and sum to one."""

Objective = Callable[[Array], tuple[float, Array]]


MEMORY = 10
"""Values above whose largest a step may not go: the M of Birgin, Martinez, Raydan."""


def checked_place(name: str, place: Place) -> Place:
    """The place itself, its numbers as floats; an error says what it may be."""
    if place is None or (isinstance(place, str) and place == "simplex"):
        return place
    if not isinstance(place, tuple) or len(place) != 2:
        raise InvalidOptionError(f"{name} must be 'simplex', a pair (low, high) or None, found {place!r}.")
    low = number(f"{name}[0]", place[0], "a number", finite=False)
    high = number(f"{name}[1]", place[1], f"a number above {low:g}", above=low, finite=False)
    return low, high


def on_simplex(u: Array) -> Array:
    """The nearest point whose columns are non-negative and sum to one; a vector is one column."""
    table = u.reshape(len(u), -1)
    ordered = -np.sort(-table, axis=0)
    excess = (np.cumsum(ordered, axis=0) - 1.0) / np.arange(1, len(table) + 1)[:, None]
    last = (ordered > excess).sum(axis=0) - 1
    return np.maximum(table - np.take_along_axis(excess, last[None], axis=0), 0.0).reshape(u.shape)


def projected(u: Array, place: Place) -> Array:
    """The nearest point of a place."""
    if place is None:
        return u
    return on_simplex(u) if place == "simplex" else np.clip(u, *place)


def minimise(objective: Objective, start: Array, place: Place) -> Array:
    """A local minimiser of an objective that returns (value, gradient), found from a start."""
    if place == "simplex":
        return _spectral(objective, on_simplex(start))
    from scipy.optimize import minimize  # slow to import, so only for a block without its own argmin

    def flat(u: Array) -> tuple[float, Array]:
        value, gradient = objective(u.reshape(start.shape))
        return value, gradient.ravel()

    found = minimize(
        flat,
        start.ravel(),
        jac=True,
        method="L-BFGS-B",
        bounds=None if place is None else [place] * start.size,
        options={"maxiter": 500, "ftol": 1e-16, "gtol": 1e-12},
    )
    return np.asarray(found.x).reshape(start.shape)


def _spectral(objective: Objective, u: Array) -> Array:
    """Spectral projected gradients from a point of the simplex; what is not finite ends them."""
    value, gradient = objective(u)
    lately, xi = [value], 1.0
    # Most steps on the simplex; those of smooth blocks take tens.
    for _ in range(2_000 if np.isfinite(value) and np.isfinite(gradient).all() else 0):
        direction = on_simplex(u - xi * gradient) - u
        # A move this small, times the step length if that is below 1, is rounding: it ends the steps.
        if np.abs(direction).max() <= 1e-13 * min(xi, 1.0):
            break
        slope, t = float((gradient * direction).sum()), 1.0
        while True:
            new = u + t * direction
            value, gradient_new = objective(new)
            if value <= max(lately) + 1e-4 * t * slope or t < 1e-12:
                break
            t *= 0.5
        if not (np.isfinite(value) and np.isfinite(gradient_new).all()):
            break
        moved, turned = new - u, gradient_new - gradient
        curvature = float((moved * turned).sum())
        xi = float(np.clip((moved * moved).sum() / curvature, 1e-10, 1e10)) if curvature > 0.0 else 1e3
        u, gradient, lately = new, gradient_new, [*lately[1 - MEMORY :], value]
    return u
