"""Sensitivity: the paper's way of running again, under other values of the settings that the paper leaves open."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .scale import Scale
from .sweeps import Sweep

QUARTER = "a quarter of the iteration limit"
"""Needs no runs of its own: those that took longer count as divergent."""

SEPARATOR = " | "
"""Between a piece's name and the setting that is varied in it."""


def varied(name: str, setting: str) -> str:
    """The name of a piece that is run under another setting."""
    return f"{name}{SEPARATOR}{setting}"


def with_other_settings(sweeps: Sequence[Sweep], scale: Scale, trials: int, *, penalties: bool = False) -> list[Sweep]:
    """The gradient sweeps again under other first steps, other starts and, where the paper does not give c, other c."""
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
