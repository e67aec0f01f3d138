"""The solvers by name: what `solver="ib-1"` and the command line's ``--solver`` mean."""

from __future__ import annotations

from .baselines.blahut_arimoto import BlahutArimoto
from .baselines.merging import Merging
from .errors import InvalidOptionError, UnsupportedProblemError
from .problem import MarkovLagrangian
from .solver import Solver
from .splitting.solver import DouglasRachford

SOLVERS: dict[str, Solver] = {
    "drs": DouglasRachford(),
    "ib-1": DouglasRachford("ib-1"),
    "ib-2": DouglasRachford("ib-2"),
    "ib-1v": DouglasRachford("ib-1v"),
    "pf-2": DouglasRachford("pf-2"),
    "pf-2v": DouglasRachford("pf-2v"),
    "admm-ib": DouglasRachford("ib-1", relaxation=1.0, proximal=1.0),
    "blahut-arimoto": BlahutArimoto(),
    "merging": Merging(),
}

DESCRIPTIONS: dict[str, str] = {
    "drs": "Douglas-Rachford splitting, formulation chosen by the problem (the default)",
    "ib-1": "Solver I for the bottleneck: p(z) against p(z|x)",
    "ib-2": "Solver II for the bottleneck: p(z|x) against (p(z), p(z|y))",
    "ib-1v": "variational bottleneck: p(z|x) against p(z), decoder q(y|z)",
    "pf-2": "Solver II for the funnel: p(z|y) against p(z|x)",
    "pf-2v": "variational funnel: p(z|x) against p(z), decoder q(x|z)",
    "admm-ib": "the earlier ADMM-IB (Huang, El Gamal 2021): ib-1 at relaxation 1 with a Bregman term",
    "blahut-arimoto": "the self-consistent equations of the bottleneck (Tishby et al. 1999)",
    "merging": "greedy merging: Merge-Two for the funnel, agglomerative bottleneck",
}


def resolve(solver: Solver | str | None, *problems: MarkovLagrangian) -> Solver:
    """A solver object from itself, a registered name, or None for the default; refused if it cannot solve the problems."""
    if isinstance(solver, str) and solver not in SOLVERS:
        raise InvalidOptionError(f"there is no solver {solver!r}; the names are {', '.join(SOLVERS)}.")
    chosen = SOLVERS["drs"] if solver is None else SOLVERS[solver] if isinstance(solver, str) else solver
    for problem in problems:
        if reason := chosen.refusal(problem):
            raise UnsupportedProblemError(reason)
    return chosen
