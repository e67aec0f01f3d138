"""The two recursions for a user's own pair of functions: minimise F(p) + G(q) subject to Ap = Bq.

The theory asks for F convex and G weakly convex with linear A, B; nothing here is about entropies. A block is any object with
``value(u)`` and either ``argmin(target, c, start)``, the minimiser of its value plus (c/2) ||L u - target||^2 with L its own map, or
``gradient(u)``, in which case that minimiser is found by `sets.minimise`, on the whole space, in a box or on the simplex.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from scipy import sparse

from ...checks import check_one_of, number, real_array
from ...errors import InvalidOptionError
from ...information import Array
from ...kernels.splitting.douglas_rachford import solver_one, solver_two
from ...options import RunOptions
from ...results import Result
from ...solution import Exponent, Rate, fit_exponent, fit_rate
from ...status import Residuals, Status, judge
from .descent import over_relaxed
from .sets import Place, checked_place, minimise


class Block(Protocol):
    """F or G: its value, and either its proximal minimiser or its gradient (see the module's docstring)."""

    def value(self, u: Array, /) -> float:
        """F(u)."""


@dataclass(frozen=True, eq=False)
class PairSolution(Result):
    """The last iterate, with F(p) + G(q) there as ``objective``.

    ``losses``, ``augmented`` and ``gradients`` are F + G, L_c and |grad L_c| at every iteration.
    """

    p: Array
    q: Array
    nu: Array
    objective: float
    status: Status
    iterations: int
    residuals: Residuals
    losses: Array
    augmented: Array
    gradients: Array

    @property
    def converged(self) -> bool:
        """Whether primal and dual residual are below tol."""
        return self.status.converged

    def rate(self, floor: float = 1e-12) -> Rate:
        """The linear rate of the tail of L_c."""
        return fit_rate(self.augmented, floor)

    def exponent(self, floor: float = 1e-12) -> Exponent:
        """The local exponent of the Lojasiewicz inequality: the slope of log |grad L_c| against log (L_c - L*) over the tail.

        The gradient follows from the iterates, since each argmin makes the derivative in its own block vanish as it is taken.
        """
        return fit_exponent(self.augmented, self.gradients, floor)


def douglas_rachford(
    F: Block,
    G: Block,
    A: Array | None = None,
    B: Array | None = None,
    *,
    order: Literal["I", "II"] = "I",
    penalty: float | Array = 1.0,
    relaxation: float = 1.0,
    p0: Array,
    q0: Array,
    p_in: Place = None,
    q_in: Place = None,
    curvature: tuple[float, float] | None = None,
    max_iter: int = 10_000,
    tol: float = 1e-8,
    callback: Callable[[int, Array, Array], object] | None = None,
) -> PairSolution:
    """Minimise F(p) + G(q) subject to Ap = Bq by Solver I or Solver II of the paper.

    Parameters
    ----------
    F, G
        The blocks (see `Block`); F convex and G weakly convex is what the theorems cover.
    A, B
        Matrices of the constraint; None is the identity.
    order
        ``"I"`` or ``"II"``: which block the dual variable follows.
    penalty, relaxation
        c, a number or one per row of the constraint; alpha in (0, 2], or below 4 with a ``curvature`` that allows it.
    p0, q0
        Where to begin; never modified.
    p_in, q_in
        Where a block may lie: ``"simplex"`` (columns that are non-negative and sum to one), a box ``(low, high)``, or None, everywhere. For
        blocks with a gradient; one with its own ``argmin`` knows its set itself.
    curvature
        (sigma, L), the smallest and the largest curvature of the block that the dual variable follows: F in order I, G in order II, its map
        the identity. Needed where alpha > 2, which Themelis and Patrinos (2020) cover for strongly convex blocks and a range of c:
        `theorem_threshold("over-relaxed", ...)`.
    max_iter, tol
        Iteration limit; primal ||Ap - Bq|| and dual c ||B(q - q_old)|| residual (largest entry) that count as converged.
    callback
        Called with (iteration, p, q); a true result stops.

    Examples
    --------
    Soft thresholding as a splitting, min |p| + (q - 3)^2 / 2 with p = q:

    >>> import numpy as np, infoplane as ip
    >>> class L1:
    ...     def value(self, p): return float(np.abs(p).sum())
    ...     def argmin(self, target, c, start): return np.sign(target) * np.maximum(np.abs(target) - 1 / c, 0)
    >>> class Square:
    ...     def value(self, q): return 0.5 * float(((q - 3) ** 2).sum())
    ...     def gradient(self, q): return q - 3
    >>> s = ip.douglas_rachford(L1(), Square(), p0=np.zeros(1), q0=np.zeros(1), order="II")
    >>> s.converged, np.round(s.p, 6)
    (True, array([2.]))
    """
    options = RunOptions(tol=tol, max_iter=max_iter)
    check_one_of("order", order, ("I", "II"))
    c = real_array("penalty", penalty)
    if not np.all((c > 0) & np.isfinite(c)):
        raise InvalidOptionError(f"penalty must be positive, found {penalty!r}.")
    relaxation = _relaxation(relaxation, c, curvature, order, A if order == "I" else B)
    p, q = real_array("p0", p0), real_array("q0", q0)
    A, B = _matrix("A", A, p), _matrix("B", B, q)
    apply_A, apply_B = _linear_map(A), _linear_map(B)
    nu = np.zeros_like(apply_A(None, p))
    if apply_B(None, q).shape != nu.shape:
        raise InvalidOptionError(f"Ap0 has shape {nu.shape} and Bq0 {apply_B(None, q).shape}; they must agree.")
    recursion = solver_one if order == "I" else solver_two
    step_p = _argmin(F, A, apply_A, checked_place("p_in", p_in))
    step_q = _argmin(G, B, apply_B, checked_place("q_in", q_in))
    iterate = recursion(step_p, step_q, apply_A, apply_B)
    losses, augmented, gradients = [], [], []
    residuals, status = Residuals(np.inf, np.inf, 0.0), Status.ITERATION_LIMIT
    for iteration in range(1, options.max_iter + 1):
        q_old, nu_old = q, nu
        p, q, nu = iterate(None, p, q, nu, c, relaxation)
        gap = apply_A(None, p) - apply_B(None, q)
        moved = apply_B(None, q) - apply_B(None, q_old)
        residuals = Residuals(float(np.abs(gap).max()), float((c * np.abs(moved)).max()), 0.0)
        losses.append(F.value(p) + G.value(q))
        augmented.append(losses[-1] + float((nu * gap).sum() + 0.5 * (c * gap * gap).sum()))
        slopes = (
            [gap, _back(A, c * gap)] if order == "I" else [gap, _back(A, nu - nu_old - c * moved), _back(B, c * gap)]
        )
        gradients.append(float(np.sqrt(sum(float((slope * slope).sum()) for slope in slopes))))
        status = judge(residuals, options.tol, Status.ITERATION_LIMIT)
        if status is Status.STATIONARY:
            break
        if callback is not None and callback(iteration, p, q):
            status = judge(residuals, options.tol, Status.INTERRUPTED)
            break
    traces = (np.array(values) for values in (losses, augmented, gradients))
    return PairSolution(p, q, nu, losses[-1], status, len(losses), residuals, *traces)


def _relaxation(
    alpha: float, c: Array, curvature: tuple[float, float] | None, order: str, followed: Array | None
) -> float:
    """alpha itself; above 2 only where a theorem covers it."""
    alpha = number(
        "relaxation", alpha, lambda value: 0.0 < value < 4.0, "in (0, 2], or below 4 with a curvature that allows it"
    )
    if alpha <= 2.0:
        return alpha
    block, its_map = ("F", "A") if order == "I" else ("G", "B")
    if curvature is None or followed is not None:
        raise InvalidOptionError(
            f"relaxation above 2 is covered where {its_map} is the identity and {block} is strongly convex: leave {its_map} out and give "
            f"curvature=(sigma, L) of {block}; found relaxation = {alpha:g}."
        )
    low, high = over_relaxed(alpha, sigma=float(curvature[0]), L=float(curvature[1]))
    if not np.all((c > low) & (c < high)):
        raise InvalidOptionError(
            f"with relaxation {alpha:g} and this curvature the penalty must lie between {low:.6g} and {high:.6g}; found {c}."
        )
    return alpha


def _back(matrix: Array | None, rows: Array) -> Array:
    """L' rows, the map of a block applied backwards."""
    return rows if matrix is None else matrix.T @ rows


def _matrix(name: str, given: Array | None, block: Array) -> Array | None:
    """A matrix that a block can be multiplied by, or None for the identity."""
    if given is None or sparse.issparse(given):
        return given
    matrix = real_array(name, given)
    if matrix.ndim != 2 or block.ndim == 0 or matrix.shape[1] != len(block):
        raise InvalidOptionError(
            f"{name} must be a matrix with as many columns as its block has rows, or None; found shapes {matrix.shape} and {block.shape}."
        )
    return matrix


def _linear_map(matrix: Array | None) -> Callable[[Any, Array], Array]:
    if matrix is None:
        return lambda _data, u: u
    return lambda _data, u: matrix @ u


def _argmin(
    block: Block, matrix: Array | None, apply: Callable[[Any, Array], Array], place: Place
) -> Callable[..., Array]:
    """Argmin of value(u) - <s, Lu> + (c/2) ||Lu - x||^2, which is value(u) + (c/2) ||Lu - target||^2 with target = x + s/c."""
    own = getattr(block, "argmin", None)
    if own is not None:
        if place is not None:
            raise InvalidOptionError(
                f"{type(block).__name__} has its own argmin, which must keep to its set by itself: leave p_in and q_in out for it."
            )
        return lambda _data, x, s, c, u: own(x + s / c, c, u)
    gradient = getattr(block, "gradient", None)
    if gradient is None:
        raise InvalidOptionError(f"{type(block).__name__} must have a method argmin(target, c, start) or gradient(u).")

    def search(_data: Any, x: Array, s: Array, c: Array, u: Array) -> Array:
        def objective(w: Array) -> tuple[float, Array]:
            miss = apply(None, w) - x - s / c
            return block.value(w) + 0.5 * float((c * miss * miss).sum()), gradient(w) + _back(matrix, c * miss)

        return minimise(objective, u, place)

    return search
