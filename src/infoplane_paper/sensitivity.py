"""Sensitivity: the authors' way of running again, under other values of the settings that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from .methods import SMOOTHED
from .piece import Piece
from .references import Merges, Private, Starts
from .scale import Scale
from .sweeps import Certified, Sweep

QUARTER = "a quarter of the iteration limit"
"""Needs no runs of its own: those that took longer count as divergent."""

SEPARATOR = " | "
"""Between a piece's name and the setting that is varied in it."""

SMOOTHING = "smoothing on probabilities"

SCRIPTS_ORDER = "the order of the published scripts"
"""The variational formulations in the order of Solver I."""


def varied(name: str, setting: str) -> str:
    """The name of a piece that is run under another setting."""
    return f"{name}{SEPARATOR}{setting}"


def with_other_settings(
    pieces: Sequence[Piece], scale: Scale, trials: int, *, penalties: bool = False, clusters: Sequence[int] = ()
) -> list[Piece]:
    """The gradient sweeps among the pieces again under other settings; on the heart data also the references, smoothed in the other way.

    ``penalties``: the paper does not give c, so it is varied too. ``clusters``: other numbers of clusters.
    """
    if not scale.sensitivity:
        return []
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Sweep) and piece.method.kind == "gradient":
            found += _others(replace(piece, trials=min(trials, piece.trials)), penalties, clusters)
        elif isinstance(piece, Certified | Merges | Private | Starts) and piece.joint == "heart":
            found.append(replace(piece, name=varied(piece.name, SMOOTHING), joint=SMOOTHED))
    return found


def _others(sweep: Sweep, penalties: bool, clusters: Sequence[int]) -> Iterator[Sweep]:
    name, method = sweep.name, sweep.method
    for step in (1.0, 0.001):
        yield replace(sweep, name=varied(name, f"first step {step:g}"), method=replace(method, first_step=step))
    for factor in (0.25, 4.0) if penalties else ():
        yield replace(
            sweep, name=varied(name, f"{factor:g} times c"), method=replace(method, penalty=factor * method.penalty)
        )
    yield replace(sweep, name=varied(name, "near-deterministic starts"), init="near-deterministic")
    for count in clusters:
        yield replace(sweep, name=varied(name, f"|Z| = {count}"), clusters=count)
    if method.solver.endswith("v"):
        yield replace(sweep, name=varied(name, SCRIPTS_ORDER), method=replace(method, order="I"))
    if sweep.joint == "heart":
        yield replace(sweep, name=varied(name, SMOOTHING), joint=SMOOTHED)
