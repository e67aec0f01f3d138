"""What a figure of the paper is here: which pieces it needs, how it is drawn, what stands in its table, what is claimed of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .methods import KINDS
from .pieces import Certified, Piece, Sweep
from .points import Points
from .runs import SEPARATOR, Runs, varied
from .settings import Scale
from .verdict import Claim, Evidence, Finding

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Row = Mapping[str, Any]

WAYS: Mapping[str, str] = {str(kind): words for kind, words in KINDS.items()}
"""The ways that most claims are asked for: the paper's, exact steps at its c, exact steps with the automatic penalty."""


@dataclass(frozen=True)
class Figure:
    """One figure, or one row of the paper's evaluation."""

    name: str
    title: str
    paper: str
    """What the paper says it shows."""
    pieces: Callable[[Scale], Sequence[Piece]]
    draw: Callable[[Runs], Drawing]
    table: Callable[[Runs], Sequence[Row]]
    claims: tuple[Claim, ...]


def with_other_settings(sweeps: Sequence[Sweep], scale: Scale, trials: int, *, penalties: bool = False) -> list[Sweep]:
    """Gradient sweeps again under other open settings: first steps, starts and, where c is open, c."""
    if not scale.sensitivity:
        return []
    found = []
    for sweep in sweeps:
        method = sweep.method
        if method.kind != "gradient":
            continue
        base = replace(sweep, trials=min(trials, sweep.trials))
        for step in (1.0, 0.1, 0.001):
            other = replace(method, first_step=step)
            found.append(replace(base, name=varied(sweep.name, f"first step {step:g}"), method=other))
        for factor in (0.25, 4.0) if penalties else ():
            other = replace(method, penalty=factor * method.penalty)
            found.append(replace(base, name=varied(sweep.name, f"{factor:g} times c"), method=other))
        found.append(replace(base, name=varied(sweep.name, "near-deterministic starts"), init="near-deterministic"))
    return found


def backed(finding: Finding, runs: Runs, *names: str) -> Finding:
    """The finding with the calls that repeat the runs it rests on."""
    calls = [(name, getattr(runs.piece(name), "call", None)) for name in names]
    return replace(finding, evidence=tuple(Evidence(name, call()) for name, call in calls if call is not None))


def plane_table(runs: Runs) -> list[Row]:
    """The best converged run of every parameter and method, beside what was proven there."""
    certified = {piece.joint: runs.points(name) for name, piece in runs.pieces.items() if isinstance(piece, Certified)}
    rows: list[Row] = []
    for name, piece in runs.pieces.items():
        if not isinstance(piece, Sweep) or SEPARATOR in name:
            continue
        points = runs.points(name)
        for parameter in np.unique(points.parameter):
            rows.append(_row(name, points.where(points.parameter == parameter), certified[piece.joint]))
    return rows


def _row(name: str, here: Points, certified: Points) -> Row:
    parameter = here.parameter[0]
    proven = certified.where(np.isclose(certified.parameter, parameter))
    bound = float(proven.lower_bound[0]) if len(proven) else np.nan
    row: dict[str, Any] = {
        "runs": name,
        "parameter": parameter,
        "trials": len(here),
        "converged": float(here.converged.mean()),
        "stationary": float(here.stationary.mean()),
        "median_iterations": float(np.median(here.iterations)),
    }
    ended = here.ended()
    best = ended.best() if len(ended) else None
    for column in ("ixz", "iyz", "loss"):
        row[f"{column}_bits"] = float(getattr(best, column)[0]) if best is not None else np.nan
    row["lower_bound_bits"] = bound
    row["gap_bits"] = row["loss_bits"] - bound
    return row
