"""The two recursions for a user's own pair of functions: minimise F(p) + G(q) subject to Ap = Bq.

The theory asks for F convex and G weakly convex with linear A, B; nothing here is about entropies. A block is any object with
``value(u)`` and either ``argmin(target, c, start)``, the minimiser of its value plus (c/2) ||L u - target||^2 with L its own map, or
``gradient(u)``, in which case that minimiser is found by L-BFGS.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np

from ...checks import number
from ...errors import InvalidOptionError
from ...information import Array
from ...kernels.splitting.douglas_rachford import solver_one, solver_two
from ...solution import Rate, fit_rate
from ...status import Residuals, Status
from ..stopping import Stopping


class Block(Protocol):
    """F or G: its value, and either its proximal minimiser or its gradient (see the module's docstring)."""

    def value(self, u: Array, /) -> float:
        """F(u)."""


@dataclass(frozen=True)
class PairSolution:
    """The last iterate. ``objective`` is F(p) + G(q) there, ``losses`` its value at every iteration, ``augmented`` that of L_c."""

    p: Array
    q: Array
    nu: Array
    objective: float
    status: Status
    iterations: int
    residuals: Residuals
    losses: Array
    augmented: Array

    @property
    def converged(self) -> bool:
        """Whether primal and dual residual are below tol."""
        return self.status.converged

    def rate(self, floor: float = 1e-12) -> Rate:
        """The linear rate of the tail of L_c."""
        return fit_rate(self.augmented, floor)


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
        c, a number or one per row of the constraint; alpha in (0, 2].
    p0, q0
        Where to begin; never modified.
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
    stopping = Stopping(tol=tol, max_iter=max_iter)
    if order not in ("I", "II"):
        raise InvalidOptionError(f"order must be 'I' or 'II', found {order!r}.")
    relaxation = number("relaxation", relaxation, lambda alpha: 0.0 < alpha <= 2.0, "in (0, 2]")
    c = np.array(penalty, dtype=float)
    if not np.all((c > 0) & np.isfinite(c)):
        raise InvalidOptionError(f"penalty must be positive, found {penalty!r}.")
    apply_A, apply_B = _linear_map(A), _linear_map(B)
    p, q = np.array(p0, dtype=float), np.array(q0, dtype=float)
    nu = np.zeros_like(apply_A(None, p))
    if apply_B(None, q).shape != nu.shape:
        raise InvalidOptionError(f"Ap0 has shape {nu.shape} and Bq0 {apply_B(None, q).shape}; they must agree.")
    recursion = solver_one if order == "I" else solver_two
    iterate = recursion(_argmin(F, A, apply_A), _argmin(G, B, apply_B), apply_A, apply_B)
    losses, augmented = [], []
    residuals, status = Residuals(np.inf, np.inf, 0.0), Status.ITERATION_LIMIT
    for iteration in range(1, stopping.max_iter + 1):
        q_old = q
        p, q, nu = iterate(None, p, q, nu, c, relaxation)
        gap = apply_A(None, p) - apply_B(None, q)
        moved = apply_B(None, q) - apply_B(None, q_old)
        residuals = Residuals(float(np.abs(gap).max()), float((c * np.abs(moved)).max()), 0.0)
        losses.append(F.value(p) + G.value(q))
        augmented.append(losses[-1] + float((nu * gap).sum() + 0.5 * (c * gap * gap).sum()))
        status = stopping.judge(residuals, Status.ITERATION_LIMIT)
        if status is Status.STATIONARY:
            break
        if callback is not None and callback(iteration, p, q):
            status = stopping.judge(residuals, Status.INTERRUPTED)
            break
    return PairSolution(p, q, nu, losses[-1], status, len(losses), residuals, np.array(losses), np.array(augmented))


def _linear_map(matrix: Array | None) -> Callable[[Any, Array], Array]:
    if matrix is None:
        return lambda _data, u: u
    return lambda _data, u: matrix @ u


def _argmin(block: Block, matrix: Array | None, apply: Callable[[Any, Array], Array]) -> Callable[..., Array]:
    """Argmin of value(u) - <s, Lu> + (c/2) ||Lu - x||^2, which is value(u) + (c/2) ||Lu - target||^2 with target = x + s/c."""
    own = getattr(block, "argmin", None)
    if own is not None:
        return lambda _data, x, s, c, u: own(x + s / c, c, u)
    gradient = getattr(block, "gradient", None)
    if gradient is None:
        raise InvalidOptionError(f"{type(block).__name__} must have a method argmin(target, c, start) or gradient(u).")
    from scipy.optimize import minimize  # slow to import, so only for a block without its own argmin

    def search(_data: Any, x: Array, s: Array, c: Array, u: Array) -> Array:
        def objective(flat: Array) -> tuple[float, Array]:
            w = flat.reshape(u.shape)
            miss = apply(None, w) - x - s / c
            slope = c * miss if matrix is None else matrix.T @ (c * miss)
            return block.value(w) + 0.5 * float((c * miss * miss).sum()), (gradient(w) + slope).ravel()

        found = minimize(
            objective, u.ravel(), jac=True, method="L-BFGS-B", options={"maxiter": 500, "ftol": 1e-16, "gtol": 1e-12}
        )
        return np.asarray(found.x).reshape(u.shape)

    return search
