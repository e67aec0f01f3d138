"""Traces of runs that kept none: a sweep that says how it was made can be run again, start by start, to the bit.

Start i of the j-th parameter depends on the seed, j and i only. A replay counts only if it ends as the run itself did, after the
same number of iterations and at the same loss; otherwise it is another run, and its trace is not shown.
"""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from typing import Any

import numpy as np

from ..errors import InfoplaneError
from ..frontier import Frontier
from ..registry import SOLVERS
from ..solution import Solution, Trace
from ..solve import block_length
from ..solver import Solver, Support, finished
from ..starts import KINDS, make_starts
from ..stopping import Stopping
from ..threads import all_cores, one_blas_thread

MOST = 100
"""Runs of one frontier that are replayed."""

MOST_SECONDS = 60.0
"""What the replayed runs may have taken together, the first time."""


def replay_best(frontier: Frontier) -> tuple[dict[int, Trace], list[str]]:
    """Traces by row, of best runs that have none; and a sentence on those that are missing."""
    wanted = [row for row in frontier.best_rows() if frontier.runs[row].trace is None]
    parts = frontier.provenance.get("parts", [frontier.provenance])
    recipes = {row: found for row in wanted if (found := _recipes(frontier.runs[row], parts))}
    affordable, spent = [], 0.0
    for row in sorted(recipes, key=lambda row: frontier.runs[row].seconds)[:MOST]:
        spent += frontier.runs[row].seconds
        if spent <= MOST_SECONDS:
            affordable.append(row)
    if not affordable:
        return {}, []
    support = Support(frontier.joint)
    with one_blas_thread(), all_cores() as pool:
        ended = pool.map(lambda row: _first(support, frontier.runs[row], recipes[row]), affordable)
        traces = {row: trace for row, trace in zip(affordable, ended, strict=True) if trace is not None}
    return traces, [
        f"Traces come from {len(traces)} of {len(wanted)} best runs, run once more from the same start to the same end."
    ]


def _recipes(run: Solution, parts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The parts of the provenance that may have made a run, each with its solver rebuilt and the parameter's place in the grid."""
    found = []
    for part in parts:
        solver, grid = _solver(part), part.get("grid", [])
        if solver is not None and run.parameter in grid and part.get("init") in (None, *KINDS):
            found.append({**part, "solver": solver, "place": grid.index(run.parameter)})
    return found


def _solver(part: dict[str, Any]) -> Solver | None:
    """The solver of a provenance, if it is one that starts from starts."""
    solver = SOLVERS.get(part.get("solver", ""))
    if solver is None or solver.deterministic or not is_dataclass(solver):
        return None
    known = {field.name for field in fields(solver)}
    changed = {name: value for name, value in part.get("options", {}).items() if name in known}
    return replace(solver, **changed)


def _first(support: Support, run: Solution, recipes: list[dict[str, Any]]) -> Trace | None:
    return next((trace for recipe in recipes if (trace := _replay(support, run, recipe)) is not None), None)


def _replay(support: Support, run: Solution, recipe: dict[str, Any]) -> Trace | None:
    try:
        seed = np.random.SeedSequence(recipe["seed"], spawn_key=(*recipe.get("spawn_key", ()), recipe["place"]))
        W = make_starts(support.joint, recipe["clusters"], recipe["starts"], seed, recipe["init"])[run.start]
        stopping = Stopping(tol=recipe["tol"], max_iter=recipe["max_iter"])
        batch = recipe["solver"].begin(support, [run.problem], W[None], stopping, True)
        while batch.advance(block_length(W)):
            pass
    except (InfoplaneError, LookupError, TypeError, ValueError):  # a recipe that somebody else wrote
        return None
    again = batch.runs()[0]
    same = again.iterations == run.iterations and (
        abs(finished(support, run.problem, again, seconds=0.0).loss - run.loss) <= 1e-12
    )
    return again.trace if same else None
