"""The paper's thresholds of the penalty c for its formulations, Theorems 4-6; and the factor of the automatic choice.

Theorems 4-6 put the constants of the bottleneck and the funnel into Theorems 1-3 (`thresholds`). Theorem 5 is true, because what it leans
on is the descent theorem (`descent`); Theorem 4 leans on Theorem 1, which is false, and Theorem 6 on a bound that does not hold, so that
their numbers are given as printed only. All are large, because one scalar c must suit rows whose masses differ by orders of magnitude. The
automatic penalty gives each row its own, c_i = kappa times the curvature of that row's entropy: then sigma = L, the descent theorem asks
for kappa > 1 in Solver I and for kappa > 2/(2 - alpha) in Solver II, and `automatic_factor` is that, with a margin.
"""

from __future__ import annotations

import math
import warnings
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ...checks import check_flag, check_one_of, number
from ...encoder.encoder import check_encoder
from ...errors import InvalidOptionError, PenaltyWarning
from ...information import Array
from ...joint.joint import Joint, check_joint
from ...problem import MarkovLagrangian, check_problem
from .formulations import Formulation, choose
from .thresholds import REFUTED_1, Threshold, printed_1, printed_3, theorem_2

if TYPE_CHECKING:
    from ...joint.joint import Joint


class PenaltyFactors(NamedTuple):
    """Multiples of the curvature, set by `benchmarks/convergence.py`."""

    margin: float = 1.25
    """kappa as a multiple of 2/(2 - alpha), what the descent theorem asks for in Solver II, and of 2/alpha >= 1 in ib-1, where it asks
    for 1. The penalty is reset below 0.85 of its target, and 0.85 * 1.25 > 1. (2/alpha is from the paper's Theorem 1, which is false; kept,
    because with it every start in docs/reference/convergence.md converges, and kappa = 1.25 at every alpha was not measured.)"""
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


REFUTED = {
    "ib-1": ("Theorem 4", f"It applies Theorem 1. {REFUTED_1}"),
    "pf-2": (
        "Theorem 6",
        "It takes |q - q'| <= 2 |log eps| |Bq - Bq'| for a consequence of G being Lipschitz, while encoders with one p(z|y) differ at will "
        "(docs/explanation/theory.md). Nothing is proven of pf-2; pf-1, the same blocks in Solver I's order, has theorem_threshold.",
    ),
}
"""Why the paper's theorem for a formulation is none."""


def penalty_threshold(
    joint: Joint,
    problem: MarkovLagrangian,
    encoder: Array,
    *,
    formulation: str = "auto",
    relaxation: float = 1.0,
    omega_G: Literal["lemma", "theorem", "inequality"] = "lemma",
    printed: bool = False,
) -> Threshold:
    """The paper's threshold of c for a formulation, with the eps-infimal measures of an encoder.

    eps_z, eps_{z|x}, eps_{z|y} are the smallest masses of p(z), p(z|x), p(z|y). Theorem 5 is for ib-2 and the variational formulations
    (whose G is a multiple of H(Z)); it holds. Theorem 4 (ib-1) and Theorem 6 (pf-2) do not, and asking for them is an error that says why,
    unless ``printed``. `theorem_threshold` gives what is proven, for every formulation but pf-2, and is never larger.

    Parameters
    ----------
    joint, problem, encoder, formulation, relaxation
        What is solved, at which masses, by which splitting, and alpha.
    omega_G
        Which of the paper's forms of Theorem 4's constant: ``"lemma"``, 2 N_z N_x zeta / eps_{z|x} - gamma, as derived; ``"theorem"``,
        the same with eps_z, as the theorem lists it; ``"inequality"``, 2 N_z N_x / eps_{z|x}, as its bound on c prints it.
    printed
        Whether to compute what Theorems 4 and 6 print although it is false, with a `PenaltyWarning`.

    Examples
    --------
    >>> import numpy as np, infoplane as ip
    >>> t = ip.penalty_threshold(ip.datasets.paper_uniform(), ip.bottleneck(0.2), np.full((3, 3), 1 / 3), formulation="ib-1v")
    >>> t.theorem, round(t.c, 6)
    ('Theorem 5', 1.2)
    """
    check_joint(joint)
    check_problem(problem)
    relaxation = number("relaxation", relaxation, "a finite number")
    check_one_of("omega_G", omega_G, ("lemma", "theorem", "inequality"))
    check_flag("printed", printed)
    split = choose(problem, formulation)
    if split.theorem is None:
        raise InvalidOptionError(
            f"the paper has no theorem for {split.name}; theorem_threshold gives what is proven for it."
        )
    if split.name in REFUTED:
        theorem, why = REFUTED[split.name]
        if not printed:
            raise InvalidOptionError(
                f"{theorem} does not hold for {split.name}. {why} printed=True gives the printed number."
            )
        warnings.warn(f"{theorem} as printed is not true. {why}", PenaltyWarning, stacklevel=2)
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
        return Threshold(printed_1(relaxation, **constants), "Theorem 4 as printed", constants)
    if split.name == "pf-2":
        singular = np.linalg.svd(K, compute_uv=False)
        constants = {
            "sigma_G": 2.0 * n_z * (abs(problem.rho_z) + n_x) / eps["zx"],
            "M_q": 2.0 * abs(math.log(eps["zx"])),
            "L_q": 1.0 / eps["zx"],
            "lambda_B": float(singular.max()),
            "mu_BB": float(singular[singular > 1e-12].min() ** 2),
        }
        return Threshold(printed_3(relaxation, **constants), "Theorem 6 as printed", constants)
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
