"""`certify`: how far an encoder is from the global optimum, proven.

When rho_z + rho_zx + rho_zy = 0 the Lagrangian is a constant plus the lower convex envelope, at p(x), of one function of the posterior
p(x|z), and every affine function below that function proves a bound: `bottleneck/` for the bottleneck, `funnel/` for the funnel. Where
the sum is positive, as of the deterministic and the generalised bottleneck, the problem less its multiple of H(Z|X) >= 0 has that form,
and its bound holds for both; it is met by deterministic encoders only.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from ..encoder.encoder import check_encoder
from ..errors import UnsupportedProblemError
from ..information import Array
from ..joint.task_joint import TaskJoint
from ..problem import (
    MarkovLagrangian,
    as_joint,
    check_problem,
    has_posterior_form,
    is_bottleneck,
    is_funnel,
    posterior_form_below,
)
from ..runtime.work import attended, one_blas_thread
from ..task_problem import TaskLagrangian, is_task
from .bottleneck.gap import certify_bottleneck
from .certificate import Certificate, Limits
from .funnel.gap import certify_funnel
from .tasks.gap import certify_task

if TYPE_CHECKING:
    from ..joint.joint import Joint


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
