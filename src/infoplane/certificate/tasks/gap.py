"""How far an encoder is from the best one that keeps U and hides S: its own multipliers, and boxes; edges where they are exact."""

from __future__ import annotations

import math

import numpy as np

from ...encoder.encoder import check_encoder
from ...information import Array
from ...joint.joint import Joint, Support
from ...posterior.task_columns import TaskColumns
from ...posterior.task_form import TaskForm
from ...runtime.work import Budget
from ...task_problem import TaskLagrangian
from ..certificate import Certificate, Limits
from .boxes import Asked, box_bound, search_boxes
from .challenge import upheld
from .columns import generate_columns
from .edges import MOST_LETTERS, generate, seeded


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
