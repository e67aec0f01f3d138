"""`certify`: how far an encoder is from the global optimum, proven.

When rho_z + rho_zx + rho_zy = 0 the Lagrangian is a constant plus the lower convex envelope, at p(x), of one function of the posterior
p(x|z), and every affine function below that function proves a bound: `bottleneck/` for the bottleneck, `funnel/` for the funnel, `tasks/`
where one target is kept and another hidden. Where the sum is positive, as of the deterministic and the generalised bottleneck, the problem
less its multiple of H(Z|X) >= 0 has that form, and its bound holds for both; it is met by deterministic encoders only.
"""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial

import numpy as np

from ..encoder.encoder import check_encoder
from ..errors import UnsupportedProblemError
from ..information import Array
from ..joint.joint import Joint, Support
from ..joint.task_joint import TaskJoint
from ..posterior.form import imbalance, own_multipliers, posteriors, scaled
from ..posterior.mixture import Mixture, climb, cover, posterior
from ..posterior.programme import Programme
from ..posterior.task_columns import TaskColumns
from ..posterior.task_form import TaskForm
from ..problem import (
    MarkovLagrangian,
    as_joint,
    check_problem,
    has_posterior_form,
    is_bottleneck,
    is_funnel,
    is_task,
    posterior_form_below,
)
from ..runtime.budget import Budget
from ..runtime.threads import attended, one_blas_thread
from ..task_problem import TaskLagrangian
from .bottleneck.coarsening import prove
from .bottleneck.proof import Proof
from .certificate import Certificate, Limits
from .challenge import upheld
from .funnel.gap import proven_bound
from .tasks.boxes import Asked, box_bound, search_boxes
from .tasks.columns import MOST_LETTERS, generate, generate_columns, seeded


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


def certify_funnel(
    joint: Joint, problem: MarkovLagrangian, encoder: Array, limits: Limits, budget: Budget | None = None
) -> Certificate:
    """Prove how far an encoder is from the optimum of a funnel (any positive multiple, nats).

    The encoder's own posteriors begin the linear programme. If it can be improved by more than tol, the posterior reported is the one,
    among those of the best release found, that lowers the loss fastest: f(q) - lambda.q < 0 for the encoder's own lambda.
    """
    scale, beta = scaled(problem)
    W, budget = check_encoder(joint, encoder), budget or limits.budget()
    support = Support(joint)
    programme = Programme(support, budget)
    programme.add(posteriors(support, W[:, support.x]))
    outcome, bound = proven_bound(support, beta, programme, limits.tol / scale, budget)
    bound = scale * bound - imbalance(support, problem)
    loss = problem.value(joint, W)
    posterior = None
    if loss - bound > limits.tol:
        used = outcome.point.used
        fall = programme.costs(used, beta) - own_multipliers(support, W[:, support.x], beta) @ used
        if fall.min() < 0.0:
            posterior = support.spread(used[:, fall.argmin()])
    return Certificate(
        problem=problem,
        loss=loss,
        lower_bound=bound,
        tol=limits.tol,
        cells=budget.cells_spent,
        left=outcome.left,
        seconds=budget.seconds_spent,
        posterior=posterior,
        multipliers=support.spread(scale * outcome.proof.lam),
        limit=outcome.contradiction,
    )


def certify_task(
    joint: Joint, problem: TaskLagrangian, encoder: Array, limits: Limits, budget: Budget | None = None
) -> Certificate:
    """How far an encoder is from the global optimum of gamma I(X;Z) - keep I(U;Z) + hide I(S;Z), proven; see `certify`.

    At gamma > 0 the bound is that of the encoder's own multipliers, which is tight if it is optimal; where it is not, ``posterior``
    shows it.
    """
    W, budget = check_encoder(joint, encoder), budget or limits.budget()
    support = Support(joint)
    form = TaskForm(support, problem)
    own, loss = form.condensed(W[:, support.x]), problem.value(joint, W)
    Q, posterior, left = form.posteriors(own), None, 0
    if form.gamma == 0.0:
        if len(form.T_s) <= 2 and len(form.p_x) <= MOST_LETTERS:
            outcome = generate(form, seeded(form, posteriors=Q), 0.9 * limits.tol, budget)
        else:
            columns = TaskColumns(form, np.column_stack([Q, np.eye(len(form.p_x))]))
            outcome = generate_columns(form, columns, 0.9 * limits.tol, budget)
        lower, lam, said = outcome.lower, outcome.lam, outcome.contradiction
    else:
        asked = Asked(form, form.multipliers(own))
        found = search_boxes(asked, 0.4 * limits.tol, budget)
        said = upheld(asked, found.least, Q)
        lam, left = asked.lam, found.left
        lower = -math.inf if said else box_bound(form, lam, found.least)
        if found.violating and loss - lower > limits.tol:
            posterior = support.spread((found.violating[0] / form.p_x)[form.classes] * support.p_x)
    return Certificate(
        problem=problem,
        loss=loss,
        lower_bound=lower,
        tol=limits.tol,
        cells=budget.cells_spent,
        multipliers=support.spread(form.letters.spread(lam, form.gamma)),
        left=left,
        seconds=budget.seconds_spent,
        limit="" if loss - lower <= limits.tol else said or "its limits, or an encoder that is not optimal",
        posterior=posterior,
    )


def certify(
    joint: Joint | TaskJoint,
    problem: MarkovLagrangian,
    encoder: Array,
    *,
    tol: float = Limits.tol,
    max_cells: int = Limits.max_cells,
    max_seconds: float = Limits.max_seconds,
) -> Certificate:
    """A proven lower bound of min L, and with it how far L(encoder) is from the global optimum.

    Parameters
    ----------
    joint, problem, encoder
        p(x, y); a bottleneck or a funnel, or any multiple of one, or a Lagrangian that has one below it (`posterior_form_below`), such as
        a deterministic bottleneck: its bound holds, and is in general not tight; p(z|x) as (|Z|, |X|).
    tol
        Gap in nats that counts as certified; the search ends once it is reached.
    max_cells, max_seconds
        When to give up, as Ctrl-C does. The bound returned holds all the same; it is only not as high as it might be.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
    >>> s = ip.solve(joint, problem, "blahut-arimoto", starts=4, rng=0, tol=1e-12)
    >>> ip.certify(joint, problem, s.encoder).certified
    True
    """
    check_problem(problem)
    joint = as_joint(joint, tasks=is_task(problem))
    problem = problem.on(joint)
    W = check_encoder(joint, encoder)
    limits = Limits(tol, max_cells, max_seconds)
    if isinstance(problem, TaskLagrangian):
        own = limits.budget()
        with one_blas_thread():
            return attended([partial(certify_task, joint, problem, W, limits, own)], own)[0]
    bounded = posterior_form_below(problem)
    if not (is_bottleneck(bounded) or is_funnel(bounded)):
        raise UnsupportedProblemError(no_certificate(problem))
    proof, budget = certify_bottleneck if is_bottleneck(bounded) else certify_funnel, limits.budget()
    with one_blas_thread():
        found = attended([partial(proof, joint, bounded, W, limits, budget)], budget)[0]
    if has_posterior_form(problem):
        return found
    # What improves on the encoder below need not improve on it here.
    return replace(found, problem=problem, loss=problem.value(joint, W), posterior=None)


def no_certificate(problem: MarkovLagrangian) -> str:
    """Why a problem has none."""
    rho_z, rho_zx, rho_zy = problem.rho
    found = f"found rho_z = {rho_z:g}, rho_zx = {rho_zx:g}, rho_zy = {rho_zy:g}, with sum {sum(problem.rho):g}."
    if sum(problem.rho) < 0.0 and not has_posterior_form(problem):
        return (
            "a global certificate needs rho_z + rho_zx + rho_zy >= 0: below that the loss falls without limit as Z gets more letters that "
            f"say nothing of X; {found}"
        )
    return (
        "a global certificate needs a bottleneck or a funnel, or one of them plus a positive multiple of H(Z|X): "
        f"rho_z + rho_zx + rho_zy >= 0, and rho_z + rho_zy and rho_zy of equal signs; {found}"
    )
