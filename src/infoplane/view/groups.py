"""Which runs of a frontier a legend names together.

A reader knows which solvers were asked for, not which of a portfolio's ways ended lowest. All runs of one call that named one solver are
its own. Of several calls, runs of a solver that was asked for by name are its own, and runs that a search found in some other way are the
"best found". Systems that were brought along are "given". Where nothing is known of the call, runs go by the solver that they name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..frontier.frontier import Frontier

BEST, GIVEN = "best found", "given"
"""The runs of a search that has many ways, and systems from elsewhere."""


def groups(frontier: Frontier) -> list[str]:
    """What a legend calls each run, in the order of the runs."""
    asked = _asked(frontier.provenance)
    if len(asked) == 1 and "parts" not in frontier.provenance and asked & {run.solver for run in frontier.runs}:
        return [GIVEN if run.solver.startswith(f"{GIVEN}: ") else next(iter(asked)) for run in frontier.runs]
    return [_group(run.solver, asked) for run in frontier.runs]


def _group(solver: str, asked: set[str]) -> str:
    if solver.startswith(f"{GIVEN}: "):
        return GIVEN
    return solver if solver in asked or not asked else BEST


def _asked(provenance: dict[str, Any]) -> set[str]:
    """The solvers that the calls behind a frontier named."""
    return {
        str(call["solver"])
        for part in provenance.get("parts", [provenance])
        for call in (part, *part.get("solvers", ()))
        if isinstance(call, dict) and call.get("solver")
    }
