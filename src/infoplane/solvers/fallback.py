"""What the default solver finds, as a fallback of searches that a limit, or the user, may cut short: no answer is worse.

The default's effort is bounded by work (`portfolio`), so that it may run whatever the limits of a search are.
"""

from __future__ import annotations

from ..information import Array
from ..runtime.budget import ITERATIONS
from .job import Job
from .portfolio import Portfolio
from .starts import default_clusters, default_init, make_starts, seed_sequence

STARTS = 16
"""The default solver's starts, as `solve` has them."""


def default_encoder(job: Job) -> Array:
    """The encoder that `solve` finds by default, from its own starts and seed 0; if the budget is stopped, the best by then."""
    solver, support = Portfolio(), job.support
    rows = job.most if job.capped else default_clusters(job.letters, len(support.p_y))
    useful = solver.useful_starts(support, job.problem, rows, STARTS)
    starts = make_starts(support.joint, rows, useful, seed_sequence(0), default_init(job.problem))
    found = solver.run(job.but(starts=starts, record=False, budget=job.budget.part(iterations=ITERATIONS)))
    return job.best_run(found).encoder
