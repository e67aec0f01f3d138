"""The two recursions for a user's own pair of functions: minimise F(p) + G(q) subject to Ap = Bq.

The theory asks for F convex and G weakly convex with linear A, B; nothing here is about entropies. What a block must bring, and how far
from stationary a point is for it, is in `block`. A run has converged once

    |Ap - Bq|,   c |B(q - q_old)|   and   0 in dF(p) + A'nu, 0 in dG(q) - B'nu

hold to tol; the last two, which take more than an iteration does, are measured once the others hold, and at the end.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy import sparse

from ...checks import check_callable, check_one_of, number, numbers, positive_number, real_array
from ...errors import InvalidOptionError
from ...information import Array, Result
from ...kernels.splitting.advance import solver_one, solver_two
from ...runtime.budget import Budget, one_blas_thread, stopped_by_control_c
from ...solution import Exponent, Rate, Residuals, Status, fit_exponent, fit_rate, judge
from ..job import RunOptions
from .block import Block, BoundBlock, Domain, checked_domain
from .thresholds import over_relaxed

STILL = 10
"""Iterations in which nothing moves, to rounding, after which a run that is not stationary has stalled."""


@dataclass(frozen=True, eq=False)
class PairSolution(Result):
    """The last iterate, with F(p) + G(q) there as ``objective``.

    ``residuals`` are |Ap - Bq|, c |B(q - q_old)| and how far the blocks are from stationary (`Block`), each in its largest entry.
    ``losses``, ``augmented`` and ``gradients`` are F + G, L_c and |grad L_c| at every iteration.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> class Near:
    ...     def __init__(self, at): self.at = at
    ...     def value(self, p): return 0.5 * float(((p - self.at) ** 2).sum())
    ...     def gradient(self, p): return p - self.at
    >>> s = ip.douglas_rachford(Near(1.0), Near(3.0), p0=np.zeros(1), q0=np.zeros(1))
    >>> s.converged, s.p.round(6), round(s.objective, 6)
    (True, array([2.]), 1.0)
    """

    p: Array
    """The first block."""
    q: Array
    """The second block."""
    nu: Array
    """The dual variable of Ap = Bq."""
    objective: float
    """F(p) + G(q)."""
    status: Status
    """How it ended."""
    iterations: int
    """How many there were."""
    residuals: Residuals
    """Primal, dual, stationarity."""
    losses: Array
    """F + G at every iteration."""
    augmented: Array
    """L_c at every iteration."""
    gradients: Array
    """|grad L_c| at every iteration."""

    message: str
    """How it ended, and what to do about it."""

    @property
    def converged(self) -> bool:
        """Whether all three residuals are at most tol."""
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
    p_in: Domain = None,
    q_in: Domain = None,
    curvature: tuple[float, float] | None = None,
    max_iter: int = 10_000,
    max_seconds: float | None = None,
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
    max_iter, max_seconds, tol
        Limits; and residuals that count as converged: ||Ap - Bq||, c ||B(q - q_old)||, and how far either block is from stationary, by its
        gradient or by its own argmin and value (`Block`), each in its largest entry.
    callback
        Called with (iteration, p, q); a true result stops, as Ctrl-C does, and the last iterate is returned.

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
    seconds = np.inf if max_seconds is None else positive_number("max_seconds", max_seconds, finite=False)
    check_one_of("order", order, ("I", "II"))
    if callback is not None:
        check_callable("callback", callback)
    c = real_array("penalty", penalty)
    if not np.all((c > 0) & np.isfinite(c)):
        raise InvalidOptionError(f"penalty must be positive, found {penalty!r}.")
    relaxation = _relaxation(relaxation, c, curvature, order, A if order == "I" else B)
    p, q = _start("p0", p0), _start("q0", q0)
    first = BoundBlock("F", F, _matrix("A", A, p), checked_domain("p_in", p_in))
    second = BoundBlock("G", G, _matrix("B", B, q), checked_domain("q_in", q_in))
    shapes = first.map(None, p).shape, second.map(None, q).shape
    if shapes[0] != shapes[1]:
        raise InvalidOptionError(f"Ap0 has shape {shapes[0]} and Bq0 {shapes[1]}; they must agree.")
    c = _by_row(c, shapes[0])
    run = _PairRun(first, second, order, c, relaxation, p, q, np.zeros(shapes[0]))
    budget = Budget(iterations=options.max_iter, seconds=seconds)
    # A search by gradients takes thousands of products of short vectors, which a BLAS with threads makes ten times slower.
    searching = one_blas_thread() if first.own is None or second.own is None else nullcontext()
    with stopped_by_control_c(budget), searching:
        while not (run.ended(options.tol) or budget.spent):
            run.step()
            budget.rounds_spent += 1
            if callback is not None and callback(budget.rounds_spent, run.p, run.q):
                budget.stop()
        return run.solution(options.tol, Status.INTERRUPTED if budget.stopped else Status.ITERATION_LIMIT)


class _PairRun:
    """Where a run stands, and what each of its iterations measured."""

    def __init__(
        self, F: BoundBlock, G: BoundBlock, order: str, c: Array, alpha: float, p: Array, q: Array, nu: Array
    ) -> None:
        self.F, self.G, self.order, self.c, self.alpha = F, G, order, c, alpha
        self.p, self.q, self.nu = p, q, nu
        recursion = solver_one if order == "I" else solver_two
        self.iterate = recursion(F.argmin, G.argmin, F.map, G.map)
        self.primal = self.dual = np.inf
        self.losses: list[float] = []
        self.augmented: list[float] = []
        self.gradients: list[float] = []
        self.still = 0
        self.next_look = self.looks = 1

    def step(self) -> None:
        """One iteration, and what it measures."""
        F, G, c = self.F, self.G, self.c
        before = self.p, self.q, self.nu
        self.p, self.q, self.nu = self.iterate(None, *before, c, self.alpha)
        gap = F.map(None, self.p) - G.map(None, self.q)
        moved = G.map(None, self.q) - G.map(None, before[1])
        self.primal, self.dual = float(np.abs(gap).max()), float((c * np.abs(moved)).max())
        self.losses.append(F.value(self.p) + G.value(self.q))
        self.augmented.append(self.losses[-1] + float((self.nu * gap).sum() + 0.5 * (c * gap * gap).sum()))
        slopes = (
            [gap, F.back(c * gap)]
            if self.order == "I"
            else [gap, F.back(self.nu - before[2] - c * moved), G.back(c * gap)]
        )
        self.gradients.append(float(np.sqrt(sum(float((slope * slope).sum()) for slope in slopes))))
        now = self.p, self.q, self.nu  # at rest if they move by rounding only
        rests = all(np.allclose(new, old, rtol=1e-15, atol=1e-16) for new, old in zip(now, before, strict=True))
        self.still = self.still + 1 if rests else 0

    def away(self) -> tuple[float, float]:
        """How far either block is from stationary."""
        return self.F.away(self.p, -self.nu, self.c), self.G.away(self.q, self.nu, self.c)

    def ended(self, tol: float) -> bool:
        """Whether all residuals are at most tol, or nothing moves any more.

        The blocks are asked when the other residuals hold; if they say no, after 1, 2, 4, ... more iterations again.
        """
        if self.still >= STILL:
            return True
        if max(self.primal, self.dual) > tol or len(self.losses) < self.next_look:
            return False
        self.next_look, self.looks = len(self.losses) + self.looks, 2 * self.looks
        return max(self.away()) <= tol

    def solution(self, tol: float, otherwise: Status) -> PairSolution:
        """The run as it stands."""
        away = self.away() if self.losses else (np.inf, np.inf)
        residuals = Residuals(self.primal, self.dual, max(away))
        status = judge(residuals, tol, Status.STALLED if self.still >= STILL else otherwise)
        message = status.value
        if status is Status.STALLED:
            message = "stalled: nothing moves any more, away from a stationary point: try another penalty or start"
            if wrong := [name for name, far in zip("FG", away, strict=True) if far > tol]:
                are = "F and G are" if len(wrong) == 2 else f"{wrong[0]} is"
                message = (
                    f"stalled: {are} lower beside the iterate, with a slope of {max(away):.2g}, and nothing moves: see that argmin(target, "
                    "c, start) minimises value(u) + (c/2) |Lu - target|^2, or that gradient is that of value"
                )
        return PairSolution(
            p=self.p,
            q=self.q,
            nu=self.nu,
            objective=self.losses[-1] if self.losses else self.F.value(self.p) + self.G.value(self.q),
            status=status,
            iterations=len(self.losses),
            residuals=residuals,
            losses=np.array(self.losses),
            augmented=np.array(self.augmented),
            gradients=np.array(self.gradients),
            message=message,
        )


def _by_row(c: Array, shape: tuple[int, ...]) -> Array:
    """One number, or one for every row of Ap - Bq, in a shape in which it can be multiplied with it."""
    if c.shape not in ((), shape[:1], shape):
        raise InvalidOptionError(
            f"penalty must be one number, or one for every row of Ap, of shape {shape}; found shape {c.shape}."
        )
    return c.reshape(c.shape + (1,) * (len(shape) - c.ndim)) if c.ndim else c


def _relaxation(
    alpha: float, c: Array, curvature: tuple[float, float] | None, order: str, followed: Array | None
) -> float:
    """alpha itself; above 2 only where a theorem covers it."""
    alpha = number("relaxation", alpha, "in (0, 2], or below 4 with a curvature that allows it", above=0.0, below=4.0)
    if alpha <= 2.0:
        return alpha
    block, its_map = ("F", "A") if order == "I" else ("G", "B")
    if curvature is None or followed is not None:
        raise InvalidOptionError(
            f"relaxation above 2 is covered where {its_map} is the identity and {block} is strongly convex: leave {its_map} out and give "
            f"curvature=(sigma, L) of {block}; found relaxation = {alpha:g}."
        )
    if len(given := numbers("curvature", curvature)) != 2:
        raise InvalidOptionError(f"curvature must be two numbers, (sigma, L); found {curvature!r}.")
    low, high = over_relaxed(alpha, sigma=float(given[0]), L=float(given[1]))
    if not np.all((c > low) & (c < high)):
        raise InvalidOptionError(
            f"with relaxation {alpha:g} and this curvature the penalty must lie between {low:.6g} and {high:.6g}; found {c}."
        )
    return alpha


def _start(name: str, given: Any) -> Array:
    """Where a block begins: finite real numbers."""
    start = real_array(name, given)
    if start.size == 0:
        raise InvalidOptionError(f"{name} must have one entry or more; found shape {start.shape}.")
    if not np.isfinite(start).all():
        raise InvalidOptionError(f"{name} must be finite; found {start[~np.isfinite(start)].flat[0]}.")
    return start


def _matrix(name: str, given: Any, block: Array) -> Any:
    """A matrix, sparse or not, that a block can be multiplied by, or None for the identity."""
    if given is None:
        return None
    sparse_and_real = bool(sparse.issparse(given)) and given.dtype.kind in "biuf"
    matrix = given if sparse_and_real else real_array(name, given)
    if matrix.ndim != 2 or block.ndim == 0 or matrix.shape[1] != len(block):
        raise InvalidOptionError(
            f"{name} must be a matrix with as many columns as its block has rows, or None; found shapes {matrix.shape} and {block.shape}."
        )
    return matrix
