"""The descent theorem: the augmented Lagrangian of a splitting falls in every iteration once c exceeds a threshold of one block alone.

Let the block that the dual variable follows (F in Solver I with A = I, G in Solver II with B = I) be L-smooth with curvature at least
sigma, and let the other block and its map be **arbitrary**, its step any point that does not raise L_c. With d the change of the first,

    L_c(k+1) - L_c(k)  <=  -kappa |d|^2,    kappa = c (2 - alpha) / (2 alpha) + sigma/2 - L^2 / (c alpha),

sigma > 0 for a strongly convex block and sigma = -omega for an omega-weakly convex one (if also c > omega). The same holds row by row for a
separable block and one penalty per row. Proof: docs/explanation/theory.md, which also sharpens it: for sigma > 0 and alpha <= 2 every c > L
will do. `theorem_threshold` gives the smallest c, for a formulation or, by `thresholds`, from constants of your own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...checks import number
from ...encoder.encoder import check_encoder
from ...errors import InvalidOptionError
from ...information import Array
from ...problem import MarkovLagrangian
from .formulations import Formulation, choose
from .thresholds import Threshold, of_constants, over_relaxed_threshold

if TYPE_CHECKING:
    from ...joint.joint import Joint


def descent(alpha: float, c: Array | float, sigma: Array | float, L: Array | float) -> Array:
    """kappa of the descent theorem, for every row at once: L_c falls by at least kappa d^2."""
    c, sigma, L = np.asarray(c, dtype=float), np.asarray(sigma, dtype=float), np.asarray(L, dtype=float)
    return np.asarray(c * (2.0 - alpha) / (2.0 * alpha) + 0.5 * sigma - L * L / (c * alpha))


def curvatures(h: Array, before: Array, after: Array) -> tuple[Array, Array]:
    """(sigma, L) of every row: the extremes of the curvature of h_j H(v_j), which is -h_j/v, on the segment that the row moved.

    Where a row is concave, h > 0, which Solver II allows, sigma is minus the largest size of its curvature.
    """
    low, high = np.minimum(before, after), np.maximum(before, after)
    with np.errstate(divide="ignore", invalid="ignore"):
        L = np.where(h == 0.0, 0.0, np.abs(h) / low)
        sigma = np.where(h <= 0.0, np.abs(h) / high, -L)
    return sigma, L


def theorem_threshold(
    of: Joint | str,
    problem: MarkovLagrangian | None = None,
    encoder: Array | None = None,
    *,
    formulation: str = "auto",
    relaxation: float = 1.0,
    **constants: float,
) -> Threshold:
    """The smallest penalty c above which the augmented Lagrangian provably falls in every iteration: the descent theorem.

    Parameters
    ----------
    of
        A joint, followed by the problem and an encoder: the threshold of a formulation, with the curvatures at the masses of that encoder;
        valid as long as no mass of the followed block falls below its smallest. Or, for a pair of your own, the name of a theorem,
        followed by its constants: ``"descent"`` or, sharper and for alpha up to 4, ``"over-relaxed"`` (sigma, L); the paper's, mended,
        ``"2"`` (sigma_G, L_q, mu_B) and ``"3"`` (sigma_G, L_q, M_q, mu_BB); ``"jia"`` (sigma_G, L_q, mu_B). The paper's Theorem 1 is false,
        and ``"1"`` says so; ``"printed-1"`` (L_p, sigma_F, omega_G, mu_A), ``"printed-2"`` and ``"printed-3"`` give what is printed, with a
        `PenaltyWarning`. docs/explanation/theory.md says what each assumes.
    problem, encoder, formulation
        What to solve, where, and how it is split.
    relaxation
        alpha.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> joint, W = ip.datasets.paper_uniform(), np.full((3, 3), 1 / 3)
    >>> t = ip.theorem_threshold(joint, ip.funnel(4.0), W, formulation="pf-1")
    >>> t.theorem, round(t.c, 3), {name: round(value, 3) for name, value in t.constants.items()}
    ('the descent theorem', 5.52, {'sigma': 0.967, 'L': 5.52})
    >>> ip.theorem_threshold("2", sigma_G=1.0, L_q=1.0, relaxation=1.0).c
    2.0
    """
    alpha = number("relaxation", relaxation, "in (0, 4)", above=0.0, below=4.0)
    if isinstance(of, str):
        return of_constants(of, alpha, constants)
    if constants:
        raise InvalidOptionError(
            f"{', '.join(constants)}: constants go with a theorem's name, as in theorem_threshold('2', sigma_G=1.0, L_q=1.0)."
        )
    if problem is None or encoder is None:
        raise InvalidOptionError("give a problem and an encoder after the joint.")
    return formulation_threshold(of, problem, encoder, choose(problem, formulation), alpha)


def formulation_threshold(
    joint: Joint, problem: MarkovLagrangian, encoder: Array, split: Formulation, alpha: float
) -> Threshold:
    """The descent theorem's threshold of a formulation, with the curvatures at the masses of an encoder."""
    if not split.descends:
        raise InvalidOptionError(
            f"the descent theorem does not cover {split.name}: its dual variable follows a block whose map is not the identity. "
            "Nothing is proven of it."
        )
    seen_x, seen_y = joint.support()
    P = (joint.p_xy.toarray() if joint.is_sparse else joint.p_xy)[np.ix_(seen_x, seen_y)]
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    v = check_encoder(joint, encoder)[:, seen_x] @ split.constraint(p_x, P / p_y)
    if v.min() <= 0.0:
        raise InvalidOptionError("a cluster of the encoder is empty; the theorem needs every mass to be positive.")
    h = split.share(problem, p_y).h
    smallest, one = v.min(axis=0), np.ones(len(h))
    sigma, L = curvatures(h, smallest, one)
    found = {"sigma": float(sigma.min()), "L": float(L.max())}
    c = over_relaxed_threshold(alpha, **found) if found["L"] > 0.0 else 0.0
    return Threshold(c, "the descent theorem", found)
