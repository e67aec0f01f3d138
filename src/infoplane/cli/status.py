"""``infoplane status``: how far the sweep of a store has come."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import click

from ..formatting import counted, rounded
from ..storage.reader import StoreStatus, readable, store_status
from ..sweep.progress import duration
from . import printing
from .flags import PATH, as_json


@click.command()
@click.argument("store", type=PATH)
@as_json
def status(store: Path, as_json: bool) -> None:
    r"""Show how far the sweep in STORE has come, while it runs or afterwards; nothing is written.

    \b
    Example:
      infoplane frontier heart --grid 0.05:0.3:6 --store heart.db
      infoplane status heart.db
    """
    found = store_status(store)
    if as_json:
        facts = dataclasses.asdict(found)
        manifest = facts.pop("manifest")
        printing.print_json({**readable(manifest, manifest["grid"]), **facts, **_with_units(found)})
        return
    printing.print_facts(f"{store}", lines(found))


def _with_units(found: StoreStatus) -> dict[str, float | None]:
    """Numbers whose names in `StoreStatus` do not say their unit, or that follow from others."""
    return {
        "seconds_left": found.seconds_left,
        "best_loss_nats": found.best_loss,
        "runs_per_second": found.rate,
    }


def state(found: StoreStatus) -> str:
    """Whether it is complete, running or stopped."""
    if found.complete:
        return "complete"
    return "running" if found.running else "stopped; infoplane resume continues it"


def lines(found: StoreStatus) -> list[tuple[str, str]]:
    """The rows of the table: what each is, and its value."""
    made = found.manifest
    grid = made["grid"]
    points = "" if made["points"] is None else f", refined to {made['points']}"
    share = found.runs / found.total_runs
    facts = [
        ("state", state(found)),
        (
            "problem",
            f"{made['family'].replace('_', ' ')}, {counted(len(grid), 'parameter')} from {min(grid):g} to {max(grid):g}{points}",
        ),
        ("joint", f"{made['shape'][0]} x {made['shape'][1]}, sha256 {made['joint_sha256'][:16]}"),
        ("solver", f"{made['solver']}, {counted(made['starts'], 'start')}, seed {made['seed']}"),
        ("parameters", f"{found.parameters:,} of {found.total_parameters:,} done"),
        ("runs", f"{found.runs:,} of {found.total_runs:,} done ({share:.0%}), {found.under_way:,} under way"),
        ("converged", f"{found.converged:,} ({found.converged / max(found.runs, 1):.0%})"),
    ]
    if found.best_loss is not None and found.parameter is not None:
        facts.append(("latest", f"best loss {rounded(found.best_loss)} nats at {found.parameter:.4g}"))
    if found.seconds_left is not None and not found.complete:
        facts.append(("rate", f"{found.rate:.3g} runs/s, {duration(found.seconds_left)} left"))
    facts.append(("calls", f"{found.sessions}"))
    return facts
