"""Traces of runs that kept none: a sweep that says how it was made can be run again, start by start, to the bit.

Start i of the j-th parameter depends on the seed, j and i only. A replay counts only if it ends as the run itself did, after the
same number of iterations and at the same loss; otherwise it is another run, and its trace is not shown. A run of an annealed path is
replayed from the encoder of the parameter before it, and counts if it ends at the same loss.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..errors import InfoplaneError
from ..frontier.frontier import Frontier
from ..information import Array
from ..joint.support import Support
from ..solution import Run, Solution, Trace, finished
from ..solve import block_length
from ..solvers.base import Solver
from ..solvers.fixed_point.accelerated import Accelerated
from ..solvers.registry import SOLVERS
from ..solvers.starts import KINDS, make_starts
from ..solvers.stopping import Stopping
from ..threads import all_cores, one_blas_thread

MOST = 100
"""Runs of one frontier that are replayed."""

MOST_WORK = 5e9
"""Encoder entries x iterations of all runs that are replayed; each takes some 10 ns."""

ANNEALED = "annealing"
"""The one solver that follows a path and can be replayed along it."""


@dataclass(frozen=True)
class Recipe:
    """How a run was made: a part of the provenance, its solver rebuilt, and the parameter's place in the grid."""

    part: dict[str, Any]
    solver: Solver
    place: int

    def starts(self, support: Support) -> Array:
        """All starts of the place."""
        seed = np.random.SeedSequence(self.part["seed"], spawn_key=(*self.part.get("spawn_key", ()), self.place))
        return make_starts(support.joint, self.part["clusters"], self.part["starts"], seed, self.part["init"])


def replay_best(frontier: Frontier) -> tuple[dict[int, Trace], list[str]]:
    """Traces by row, of best runs that have none; and a sentence on those that are missing."""
    best = frontier.best_rows()
    wanted = [row for row in best if frontier.runs[row].trace is None]
    parts = frontier.provenance.get("parts", [frontier.provenance])
    recipes = {row: found for row in wanted if (found := _recipes(frontier.runs[row], parts))}
    work = {row: frontier.runs[row].iterations * frontier.runs[row].encoder.size for row in recipes}
    affordable, spent = [], 0
    for row in sorted(work, key=lambda row: work[row])[:MOST]:
        spent += work[row]
        if spent <= MOST_WORK:
            affordable.append(row)
    if not affordable:
        return {}, []
    support = Support(frontier.joint)
    before = dict(zip(best[1:], best, strict=False))

    def trace(row: int) -> Trace | None:
        neighbour = frontier.runs[before[row]] if row in before else None
        tried = (_replay(support, frontier.runs[row], recipe, neighbour) for recipe in recipes[row])
        return next((found for found in tried if found is not None), None)

    with one_blas_thread(), all_cores() as pool:
        ended = pool.map(trace, affordable)
        traces = {row: found for row, found in zip(affordable, ended, strict=True) if found is not None}
    return traces, [
        f"Traces come from {len(traces)} of {len(wanted)} best runs, run once more from the same start to the same end; an annealed "
        "one starts from the encoder of the parameter before it."
    ]


def _recipes(run: Solution, parts: list[dict[str, Any]]) -> list[Recipe]:
    """The ways in which a run may have been made."""
    found = []
    for part in parts:
        solver, grid = _solver(part), part.get("grid", [])
        if solver is not None and run.parameter in grid and part.get("init") in (None, *KINDS):
            found.append(Recipe(part, solver, grid.index(run.parameter)))
    return found


def _solver(part: dict[str, Any]) -> Solver | None:
    """The solver of a provenance, if it is one that can be run again at one parameter."""
    solver = SOLVERS.get(part.get("solver", ""))
    if solver is None or not is_dataclass(solver) or (solver.deterministic and solver.name != ANNEALED):
        return None
    known = {field.name for field in fields(solver)}
    return replace(solver, **{name: value for name, value in part.get("options", {}).items() if name in known})


def _replay(support: Support, run: Solution, recipe: Recipe, before: Solution | None) -> Trace | None:
    """The trace of a run that ends as it did; None if none does."""
    solver = recipe.solver
    try:
        W, stopping = recipe.starts(support), Stopping(tol=recipe.part["tol"], max_iter=recipe.part["max_iter"])
        if solver.name == ANNEALED:
            W = (W[0] if before is None else before.encoder[:, support.x])[None]
            again = _ended(Accelerated(), support, run, W, stopping)
            iterations = run.iterations
        elif hasattr(solver, "follow"):  # all starts of a parameter together make one run
            again = _ended(solver, support, run, W, stopping)
            iterations = sum(one.iterations for one in again)
        else:
            again = _ended(solver, support, run, W[run.start][None], stopping)
            iterations = again[0].iterations
    except (InfoplaneError, LookupError, TypeError, ValueError):  # a recipe that somebody else wrote
        return None
    losses = [finished(support, run.problem, one, seconds=0.0).loss for one in again]
    lowest = int(np.argmin(losses))
    near = 1e-9 if solver.name == ANNEALED else 1e-12
    same = iterations == run.iterations and abs(losses[lowest] - run.loss) <= near
    return again[lowest].trace if same else None


def _ended(solver: Solver, support: Support, run: Solution, W: Array, stopping: Stopping) -> list[Run]:
    batch = solver.begin(support, [run.problem] * len(W), np.ascontiguousarray(W), stopping, True)
    while batch.advance(block_length(W)):
        pass
    return batch.runs()
