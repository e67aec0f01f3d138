"""What the default solver finds, as a fallback of searches that a limit, or the user, may cut short: no answer is worse.

The default's effort is bounded by work (`portfolio`); on a table of 100,000 letters that may be more than a limit on seconds allows.
"""

from __future__ import annotations

from ...information import Array
from ...runtime.budget import ITERATIONS
from ..job import Job
from ..portfolio import Portfolio
from .starts import default_clusters, default_init, make_starts, most_clusters, seed_sequence

STARTS = 16
"""The default solver's starts, as `solve` has them."""

PATIENCE = 2.0
"""Seconds that it has whatever the limit of a search is: most joints take less, so that no limit makes their answers worse."""

SHARE = 0.5
"""Of a limit on seconds that is the default's; the proof has the rest."""

LEAST = 0.1
"""Share of the seconds that a proof has whatever the default took before it."""


def default_encoder(job: Job, seconds: float, patience: float = PATIENCE, starts: int = STARTS) -> Array:
    """The encoder that `solve` finds by default, from its own starts and seed 0, whatever the job's are.

    The best by then, if the budget is stopped, or after half of so many seconds; but ``patience`` is what it has at least.
    """
    solver, support = Portfolio(), job.support
    # A cap that memory sets is for what grows; starts begin with fewer.
    rows = job.most if job.most < most_clusters(job.letters) else default_clusters(job.letters, len(support.p_y))
    useful = solver.useful_starts(support, job.problem, rows, starts)
    W = make_starts(support.joint, rows, useful, seed_sequence(0), default_init(job.problem))
    budget = job.budget.part(iterations=ITERATIONS, seconds=max(SHARE * seconds, patience))
    found = solver.run(job.but(starts=W, record=False, budget=budget))
    return job.best_run(found).encoder
