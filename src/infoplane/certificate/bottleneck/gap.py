"""How far an encoder is from the best bottleneck there is: the proof, begun from the encoder's own decoders."""

from __future__ import annotations

import numpy as np

from ...encoder.encoder import check_encoder
from ...information import Array
from ...joint.joint import Joint, Support
from ...posterior.mixture import Mixture, climb, cover, posterior
from ...problem import MarkovLagrangian
from ...runtime.work import Budget
from ..certificate import Certificate, Limits
from .coarsening import prove
from .proof import Proof


def certify_bottleneck(
    joint: Joint, problem: MarkovLagrangian, encoder: Array, limits: Limits, budget: Budget | None = None
) -> Certificate:
    """How far an encoder is from the global optimum of rho_zy (gamma I(X;Z) - I(Y;Z)), proven; see `certify`."""
    W, budget = check_encoder(joint, encoder), budget or limits.budget()
    support = Support(joint)
    mixture = Mixture.of(support, W[:, support.x])
    proof = Proof(support, problem, mixture, limits.tol, budget)
    lam = mixture.multipliers(support, proof.gamma)
    peaks, heights = climb(support, proof.gamma, lam, np.vstack([mixture.decoders, cover(support)]))
    if heights.max() > proof.tol:
        proof.violation = posterior(support, proof.gamma, lam, peaks[heights.argmax()])
    prove(proof)
    loss = problem.value(joint, W)
    proof.challenge(W[:, support.x], loss)
    gap = loss - proof.lower_bound
    return Certificate(
        problem=problem,
        loss=loss,
        lower_bound=proof.lower_bound,
        tol=limits.tol,
        cells=budget.cells_spent,
        multipliers=None if proof.multipliers is None else support.spread(proof.multipliers),
        left=0 if proof.complete else proof.partition.left,
        seconds=budget.seconds_spent,
        limit=proof.limit,
        posterior=None if gap <= limits.tol or proof.violation is None else support.spread(proof.violation),
    )
