"""The paper's thresholds of the penalty c: Theorems 1-6 as functions; and the factor of the automatic choice.

Th. 1, Solver I,  alpha <= 2:  c > max{ omega_G, (L_p + sigma_F) / (alpha mu_A^2) }
Th. 2, Solver II, alpha < 2:   c > [alpha sigma_G + sqrt(alpha^2 sigma_G^2 + 8 (2-alpha) L_q^2 mu_B^4)] / [(4-2 alpha) mu_B^2]
Th. 3, Solver II, alpha < 2:   c > M_q [M_q alpha sigma_G + sqrt((M_q alpha sigma_G)^2 + 8 (2-alpha) (L_q lambda_B)^2 mu_BB)] / (4-2 alpha)

Theorems 4-6 put in the constants of the bottleneck and the funnel (`penalty_threshold`); the paper's misprints are corrected. Not all
of their premises hold (docs/theory.md), so that these are the paper's thresholds and no guarantee; what is proven is in `descent`. They
are also large, because one scalar c must suit rows whose masses differ by orders of magnitude. The automatic penalty gives each its own,
c_i = kappa times the curvature of that row's entropy: then sigma = L in Theorem 2, whose root is (4 - alpha) exactly, and it asks for
kappa > 2/(2 - alpha), as the descent theorem does; Theorem 1 asks for kappa > 2/alpha, the descent theorem for kappa > 1 only.
`automatic_factor` is that, with a margin.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ...checks import check_one_of, number
from ...encoder.encoder import check_encoder
from ...errors import InvalidOptionError
from ...information import Array
from ...joint.joint import Joint, check_joint
from ...problem import MarkovLagrangian, check_problem
from ...results import Result
from .formulations import Formulation, choose

if TYPE_CHECKING:
    from ...joint.joint import Joint


class PenaltyFactors(NamedTuple):
    """Multiples of the curvature, set by `benchmarks/convergence.py`."""

    margin: float = 1.25
    """kappa as a multiple of the theorem's smallest. The penalty is reset below 0.85 of its target, and 0.85 * 1.25 > 1."""
    funnel_one_factor: float = 1.6
    """kappa of pf-1. The descent theorem asks for kappa > 1; 1.6 leaves a row room to lose a quarter of its mass in one iteration,
    0.85 * 1.6 a sixth. Measured, 1.25 is faster by half and ends in slightly worse optima."""
    funnel_factor: float = 2.5
    """kappa of pf-2, whose constraint rows carry the convex block: measured, the same for alpha = 1 and 1.618."""
    largest_factor: float = 25.0
    """kappa near alpha = 2, where Theorem 2 asks for more without bound and covers alpha = 2 not at all."""


FACTORS = PenaltyFactors()


SETTLED = 5_000
"""Iterations after which the automatic penalty is never lowered where the descent theorem applies: it then changes finitely often."""


def theorem_1(alpha: float, *, L_p: float, sigma_F: float, omega_G: float, mu_A: float = 1.0) -> float:
    """The paper's threshold, Theorem 1: F sigma_F-strongly convex and L_p-smooth, G omega_G-restricted weakly convex, A > 0."""
    _covered(alpha, 0.0 < alpha <= 2.0, "Theorem 1 covers 0 < alpha <= 2")
    return max(omega_G, (L_p + sigma_F) / (alpha * mu_A**2))


def theorem_2(alpha: float, *, sigma_G: float, L_q: float, mu_B: float = 1.0) -> float:
    """The paper's threshold, Theorem 2: F convex, G sigma_G-weakly convex and L_q-smooth, B > 0."""
    _covered(alpha, 0.0 < alpha < 2.0, "Theorem 2 covers 0 < alpha < 2")
    root = math.sqrt((alpha * sigma_G) ** 2 + 8.0 * (2.0 - alpha) * L_q**2 * mu_B**4)
    return (alpha * sigma_G + root) / ((4.0 - 2.0 * alpha) * mu_B**2)


def theorem_3(alpha: float, *, sigma_G: float, L_q: float, M_q: float, lambda_B: float, mu_BB: float) -> float:
    """The paper's threshold, Theorem 3: as Theorem 2 with G M_q-Lipschitz, A > 0 and B of full row rank only."""
    _covered(alpha, 0.0 < alpha < 2.0, "Theorem 3 covers 0 < alpha < 2")
    root = math.sqrt((M_q * alpha * sigma_G) ** 2 + 8.0 * (2.0 - alpha) * L_q**2 * lambda_B**2 * mu_BB)
    return M_q * (M_q * alpha * sigma_G + root) / (4.0 - 2.0 * alpha)


def _covered(alpha: float, ok: bool, what: str) -> None:
    if not ok:
        raise InvalidOptionError(f"{what}; found alpha = {alpha!r}.")


@dataclass(frozen=True, eq=False)
class Threshold(Result):
    """The smallest penalty that a theorem asks for, its name, and the constants from which it was computed."""

    c: float
    theorem: str
    constants: dict[str, float]


def penalty_threshold(
    joint: Joint,
    problem: MarkovLagrangian,
    encoder: Array,
    *,
    formulation: str = "auto",
    relaxation: float = 1.0,
    omega_G: Literal["lemma", "theorem", "inequality"] = "lemma",
) -> Threshold:
    """The paper's threshold of c for a formulation, with the eps-infimal measures of an encoder.

    eps_z, eps_{z|x}, eps_{z|y} are the smallest masses of p(z), p(z|x), p(z|y). Theorem 4 for ib-1, Theorem 5 for ib-2 and the
    variational formulations (whose G is a multiple of H(Z)), Theorem 6 for pf-2. Not all premises of these theorems hold (docs/theory.md);
    `theorem_threshold` gives what is proven, for every formulation but pf-2.

    Parameters
    ----------
    joint, problem, encoder, formulation, relaxation
        What is solved, at which masses, by which splitting, and alpha.
    omega_G
        Which of the paper's forms of Theorem 4's constant: ``"lemma"``, 2 N_z N_x zeta / eps_{z|x} - gamma, as derived; ``"theorem"``,
        the same with eps_z, as the theorem lists it; ``"inequality"``, 2 N_z N_x / eps_{z|x}, as its bound on c prints it.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> t = ip.penalty_threshold(ip.datasets.paper_uniform(), ip.bottleneck(0.2), np.full((3, 3), 1 / 3), formulation="ib-1v")
    >>> t.theorem, round(t.c, 6)
    ('Theorem 5', 1.2)
    """
    check_joint(joint)
    check_problem(problem)
    relaxation = number("relaxation", relaxation, lambda _: True, "a finite number")
    check_one_of("omega_G", omega_G, ("lemma", "theorem", "inequality"))
    split = choose(problem, formulation)
    if split.theorem is None:
        raise InvalidOptionError(
            f"the paper has no theorem for {split.name}; theorem_threshold gives what is proven for it."
        )
    seen_x, seen_y = joint.support()
    W = check_encoder(joint, encoder)[:, seen_x]
    p_xy = joint.p_xy.toarray() if joint.is_sparse else joint.p_xy
    P = p_xy[np.ix_(seen_x, seen_y)]
    p_x, p_y = P.sum(axis=1), P.sum(axis=0)
    K = P / p_y
    n_z, n_x, n_y = W.shape[0], len(p_x), len(p_y)
    eps = {"z": float((W @ p_x).min()), "zx": float(W.min()), "zy": float((W @ K).min())}
    if min(eps.values()) <= 0:
        raise InvalidOptionError("the encoder has an empty entry; the theorems need every mass to be positive.")
    if split.name == "ib-1":
        T = P / p_x[:, None]
        zeta = float((np.ptp(T, axis=0) ** 2 / p_y).sum())
        forms = {
            "lemma": 2.0 * n_z * n_x * zeta / eps["zx"] + problem.rho_zx,
            "theorem": 2.0 * n_z * n_x * zeta / eps["z"] + problem.rho_zx,
            "inequality": 2.0 * n_z * n_x / eps["zx"],
        }
        constants = {"L_p": 1.0 / eps["z"], "sigma_F": -problem.rho_z, "omega_G": forms[omega_G]}
        return Threshold(theorem_1(relaxation, **constants), "Theorem 4", constants)
    if split.name == "pf-2":
        singular = np.linalg.svd(K, compute_uv=False)
        constants = {
            "sigma_G": 2.0 * n_z * (abs(problem.rho_z) + n_x) / eps["zx"],
            "M_q": 2.0 * abs(math.log(eps["zx"])),
            "L_q": 1.0 / eps["zx"],
            # For B = K' the proof's mu_BB is ||(B B')^-1 B||^2, that is 1 over the smallest singular value squared.
            "lambda_B": float(singular.max()),
            "mu_BB": float(singular[singular > 1e-12].min() ** -2.0),
        }
        return Threshold(theorem_3(relaxation, **constants), "Theorem 6", constants)
    if split.name == "ib-2":
        constants = {"sigma_G": 2.0 * n_z * n_y / eps["zy"], "L_q": 1.0 / min(eps["z"], eps["zy"])}
    else:
        curvature = abs(float(split.share(problem, p_y).h[0])) / eps["z"]
        constants = {"sigma_G": curvature, "L_q": curvature}
    return Threshold(theorem_2(relaxation, **constants), "Theorem 5", constants)


def automatic_factor(formulation: Formulation, alpha: float) -> float:
    """kappa: 1.25 x 2/alpha for ib-1, 1.6 for pf-1, 1.25 x 2/(2 - alpha) for Solver II with B = I, a measured 2.5 for pf-2."""
    if formulation.theorem is None:
        return FACTORS.funnel_one_factor
    if formulation.theorem == 1:
        return FACTORS.margin * 2.0 / alpha
    if formulation.theorem == 3:
        return FACTORS.funnel_factor
    return min(FACTORS.margin * 2.0 / (2.0 - alpha), FACTORS.largest_factor) if alpha < 2.0 else FACTORS.largest_factor
