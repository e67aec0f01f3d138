"""A block of a user's own pair: what it must bring, where it may lie, its argmin, and how far from stationary a point is for it.

F, with its linear map L, takes part in two ways, both in a proximal problem of given x, s and c > 0:

    argmin_u  F(u) - <s, Lu> + (c/2) |Lu - x|^2   =   argmin_u  F(u) + (c/2) |Lu - target|^2,   target = x + s/c

A block that has a gradient only is minimised by L-BFGS-B (everywhere, in a box), or on the simplex, column by column, by spectral projected
gradients: steps u + t (P(u - xi g) - u), P the projection, 1/xi the curvature of the last step, t by back-tracking (Birgin, Martinez,
Raydan 2000).

A point u is stationary for F and a dual variable s (-nu for F, +nu for G) if 0 is in dF(u) - L's, L' the transpose. That is measured:

- of a block with a gradient, as g = F'(u) - L's in its largest entry; in a box or on the simplex as |u - P(u - g)|;
- of a block with its own argmin, whose set only it knows, by that argmin: how far it moves u (times c), and whether points that it gives
  for targets nearby are lower than u. By a right argmin none is. The slope from one to its opposite, sqrt(n) |h(w+) - h(w-)| / |w+ - w-|
  with h(w) = F(w) - <s, Lw> + (c/2) |Lw - Lu|^2 and random directions, estimates |g|, to the rounding of ``value``. Directions in
  which the argmin does not move are those in which its set, or a kink, holds it: there nothing is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, Protocol

import numpy as np
from numpy.linalg import norm

from ...checks import number, real_array
from ...errors import InvalidOptionError
from ...information import Array

ROUNDING = 32 * np.finfo(float).eps
"""What sums of ``value`` are taken to be wrong by, against their terms."""


class Block(Protocol):
    """F or G of `douglas_rachford`: any object with ``value`` and one of two further methods; it need not inherit from this class.

    - ``value(u)``: F(u), a finite number where u is the block's own argmin.
    - ``argmin(target, c, start)``: the u that minimises ``value(u) + (c/2) |Lu - target|^2``. L is the block's matrix (A for F, B for G)
      or the identity; c a positive array that can be multiplied with Lu, one number unless ``penalty`` has one for every row; ``start`` the
      present u. It keeps to the block's set, if it has one, by itself. Or, without ``argmin``:
    - ``gradient(u)``: the gradient of ``value``, by which that minimiser is found, everywhere, in a box or on the simplex (``p_in``,
      ``q_in``).

    A run is STATIONARY only if the block's own ``value`` or ``gradient`` says so: an ``argmin`` that minimises something else is found out,
    wherever it moves at all (one that always returns the same point may be the only point of its set).

    Examples
    --------
    F(p) = |p - 3|^2 / 2 by its argmin, which makes (p - 3) + c (p - target) vanish, and the same function by its gradient:

    >>> import numpy as np, infoplane as ip
    >>> class Near:
    ...     def value(self, p): return 0.5 * float(((p - 3) ** 2).sum())
    ...     def argmin(self, target, c, start): return (3 + c * target) / (1 + c)
    >>> class Smooth:
    ...     def value(self, q): return 0.5 * float(((q - 3) ** 2).sum())
    ...     def gradient(self, q): return q - 3
    >>> s = ip.douglas_rachford(Near(), Smooth(), p0=np.zeros(2), q0=np.zeros(2))
    >>> s.status.name, np.round(s.p, 6)
    ('STATIONARY', array([3., 3.]))

    One that returns its target minimises nothing, and is told so:

    >>> class Wrong(Near):
    ...     def argmin(self, target, c, start): return target
    >>> s = ip.douglas_rachford(Wrong(), Wrong(), p0=np.zeros(2), q0=np.zeros(2))
    >>> s.status.name, s.message[:45]
    ('STALLED', 'stalled: F and G are lower beside the iterate')
    """

    def value(self, u: Array, /) -> float:
        """F(u)."""


class BoundBlock:
    """A block with its name, its matrix (None is the identity) and its domain; what it returns is checked."""

    def __init__(self, name: str, block: Block, matrix: Any, domain: Domain) -> None:
        self.name, self.block, self.matrix, self.domain = name, block, matrix, domain
        self.own: Any = getattr(block, "argmin", None)
        self.slope: Any = getattr(block, "gradient", None)
        if isinstance(block, type):
            raise InvalidOptionError(
                f"{name} must be an object; found the class {block.__name__}: give {block.__name__}()."
            )
        if self.own is not None and domain is not None:
            raise InvalidOptionError(
                f"{type(block).__name__} has its own argmin, which must keep to its set by itself: leave p_in and q_in out for it."
            )
        if self.own is None and self.slope is None:
            raise InvalidOptionError(
                f"{type(block).__name__} must have a method argmin(target, c, start) or gradient(u)."
            )

    def map(self, _data: Any, u: Array) -> Array:
        """Lu."""
        return u if self.matrix is None else np.asarray(self.matrix @ u)

    def back(self, rows: Array) -> Array:
        """L' rows, the map applied backwards."""
        return rows if self.matrix is None else np.asarray(self.matrix.T @ rows)

    def value(self, u: Array) -> float:
        """F(u), which must be finite."""
        return float(self._checked("value", self.block.value(u), ()))

    def gradient(self, u: Array) -> Array:
        """F'(u), which must be finite."""
        return self._checked("gradient", self.slope(u), u.shape)

    def argmin(self, _data: Any, x: Array, s: Array, c: Array, u: Array) -> Array:
        """The minimiser of F(w) - <s, Lw> + (c/2) |Lw - x|^2, started at the present u."""
        target = x + s / c
        if self.own is not None:
            return self._checked("argmin", self.own(target, c, u), u.shape)

        def objective(w: Array) -> tuple[float, Array]:
            miss = self.map(None, w) - target
            return self.block.value(w) + 0.5 * float((c * miss * miss).sum()), self.slope(w) + self.back(c * miss)

        # A point that is tried may lie outside of where F is finite; the one that is found may not.
        with np.errstate(all="ignore"):
            found = self._checked("argmin", minimise(objective, u, self.domain), u.shape)
        self.gradient(found)
        return found

    def away(self, u: Array, s: Array, c: Array) -> float:
        """How far u is from stationary: 0 in dF(u) - L's, measured as the module's docstring says."""
        if self.own is None:
            g = self.gradient(u) - self.back(s)
            return float(np.abs(u - projected(u - g, self.domain)).max(initial=0.0))
        Lu = self.map(None, u)
        moved = c * (self.map(None, self.argmin(None, Lu, s, c, u)) - Lu)
        return max(float(np.abs(moved).max(initial=0.0)), *self._slopes(u, Lu, s, c))

    def _slopes(self, u: Array, Lu: Array, s: Array, c: Array) -> list[float]:
        """Estimates of |g| by targets nearby, one for each direction."""

        def h(w: Array) -> tuple[float, float]:
            """h(w), and the size of its terms."""
            step = self.map(None, w) - Lu
            terms = self.value(w), -float((s * step).sum()), 0.5 * float((c * step * step).sum())
            return sum(terms), sum(map(abs, terms))

        rng, here, found = np.random.default_rng(0), h(u), []
        # How far targets nearby are, against the largest entry of Lu or 1: h(w+) - h(w-) of order 1 then has a slope that is right to
        # 1e-11.
        far = 1e-5 * max(1.0, float(np.abs(Lu).max(initial=0.0)))
        # Random directions in which a block's own argmin is tried: that all three show less than a tenth of a gradient has a chance of
        # 0.05%.
        for _ in range(3):
            shift = far * rng.standard_normal(Lu.shape)
            ahead, behind = (self.argmin(None, Lu + side, s, c, u) for side in (shift, -shift))
            above, below = h(ahead), h(behind)
            rounding = ROUNDING * (here[1] + above[1] + below[1])
            steps = [(here[0] - there[0], float(norm(w - u))) for there, w in ((above, ahead), (below, behind))]
            # Where the argmin moves as far one way as the other, the slope shows more than that neither end is lower. The paths bend by
            # a share of their length, which h's curvature turns into a difference that is no slope.
            across, bend = float(norm(ahead - behind)), float(norm(ahead + behind - 2.0 * u))
            if bend < 0.1 * across:
                curved = 2.0 * bend / across * abs(above[0] + below[0] - 2.0 * here[0])
                steps.append((abs(above[0] - below[0]) - curved, across))
            slopes = [(fall - rounding) / length for fall, length in steps if length > 0.0]
            found.append(max([0.0, *slopes]) * float(np.sqrt(u.size)))
        return found

    def _checked(self, method: str, given: Any, shape: tuple[int, ...]) -> Array:
        """What a method of the block has returned, as finite numbers of the right shape, or an error that names the method."""
        where = f"{self.name}.{method} ({type(self.block).__name__})"
        array = real_array(f"what {where} returns", given)
        if array.shape != shape:
            raise InvalidOptionError(
                f"{where} must return {'a number' if shape == () else f'an array of shape {shape}'}, found one of shape {array.shape}."
            )
        if not np.isfinite(array).all():
            raise InvalidOptionError(
                f"{where} must return finite numbers, found {array[~np.isfinite(array)].flat[0]}. If iterates grew before, a larger "
                "penalty may hold them."
            )
        return array


Domain = Literal["simplex"] | tuple[float, float] | None
"""Everywhere (None), the box of all u with low <= u <= high, or columns that are non-negative and sum to one."""

Objective = Callable[[Array], tuple[float, Array]]

MEMORY = 10
"""Values above whose largest a step may not go: the M of Birgin, Martinez, Raydan."""


def checked_domain(name: str, domain: Domain) -> Domain:
    """The domain itself, its numbers as floats; an error says what it may be."""
    if domain is None or (isinstance(domain, str) and domain == "simplex"):
        return domain
    if not isinstance(domain, tuple) or len(domain) != 2:
        raise InvalidOptionError(f"{name} must be 'simplex', a pair (low, high) or None, found {domain!r}.")
    low = number(f"{name}[0]", domain[0], "a number", finite=False)
    high = number(f"{name}[1]", domain[1], f"a number above {low:g}", above=low, finite=False)
    return low, high


def on_simplex(u: Array) -> Array:
    """The nearest point whose columns are non-negative and sum to one; a vector is one column."""
    table = u.reshape(len(u), -1)
    ordered = -np.sort(-table, axis=0)
    excess = (np.cumsum(ordered, axis=0) - 1.0) / np.arange(1, len(table) + 1)[:, None]
    last = (ordered > excess).sum(axis=0) - 1
    return np.maximum(table - np.take_along_axis(excess, last[None], axis=0), 0.0).reshape(u.shape)


def projected(u: Array, domain: Domain) -> Array:
    """The nearest point of a domain."""
    if domain is None:
        return u
    return on_simplex(u) if domain == "simplex" else np.clip(u, *domain)


def minimise(objective: Objective, start: Array, domain: Domain) -> Array:
    """A local minimiser of an objective that returns (value, gradient), found from a start."""
    if domain == "simplex":
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
        bounds=None if domain is None else [domain] * start.size,
        options={"maxiter": 500, "ftol": 1e-16, "gtol": 1e-12},  # to rounding
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
            # A ten-thousandth of the fall that the slope promises will do, as is usual; steps below 1e-12 change nothing.
            if value <= max(lately) + 1e-4 * t * slope or t < 1e-12:
                break
            t *= 0.5
        if not (np.isfinite(value) and np.isfinite(gradient_new).all()):
            break
        moved, turned = new - u, gradient_new - gradient
        curvature = float((moved * turned).sum())
        # The method asks for any two bounds of xi; without curvature a step is long.
        xi = float(np.clip((moved * moved).sum() / curvature, 1e-10, 1e10)) if curvature > 0.0 else 1e3
        u, gradient, lately = new, gradient_new, [*lately[1 - MEMORY :], value]
    return u
