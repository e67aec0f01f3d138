"""Commands on files of answers: ``status``, ``resume`` and ``export`` of a store, and ``verify`` of what was found."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import click

from infoplane_verify import CheckVerdict, RunCheck, passed, sentence

from ..formatting import counted, rounded
from ..storage.archive import verify as check
from ..storage.store import StoreStatus, read_store, readable, store_status
from ..sweep.progress import bar, duration
from ..sweep.sweep import resume as go_on
from . import options, output
from .flags import COUNT, Request, as_json, command, option, written
from .frontier import exit_unless_good, files, present, resumable

STORE = click.argument("store", type=click.Path(path_type=Path))


@command()
@STORE
@as_json
def status(asked: Request) -> None:
    """Show how far the sweep in STORE has come, while it runs or afterwards; nothing is written.

    \b
    Example:
      infoplane frontier heart --grid 0.05:0.3:6 --store heart.db
      infoplane status heart.db
    """
    found = store_status(asked.store)
    if asked.as_json:
        facts = dataclasses.asdict(found)
        manifest = facts.pop("manifest")
        # Numbers whose names in `StoreStatus` do not say their unit, or that follow from others.
        units = {"seconds_left": found.seconds_left, "best_loss_nats": found.best_loss, "runs_per_second": found.rate}
        output.print_json({**readable(manifest, manifest["grid"]), **facts, **units})
        return
    output.print_facts(f"{asked.store}", lines(found))


def lines(found: StoreStatus) -> list[tuple[str, str]]:
    """The rows of the table: what each is, and its value."""
    made = found.manifest
    grid = made["grid"]
    points = "" if made["points"] is None else f", refined to {made['points']}"
    share, family = found.runs / found.total_runs, made["family"].replace("_", " ")
    state = "running" if found.running else "stopped; infoplane resume continues it"
    facts = [
        ("state", "complete" if found.complete else state),
        ("problem", f"{family}, {counted(len(grid), 'parameter')} from {min(grid):g} to {max(grid):g}{points}"),
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


@command()
@STORE
@options.plugin
@option("--engine NAME", str, "Where runs go, as in infoplane frontier.  [default: threads]")
@files
@options.threads
@as_json
def resume(asked: Request) -> None:
    """Go on with the sweep in STORE until it is complete, and show it as infoplane frontier does.

    Data, problem, grid, solver, options and seed are those of the command that began it; the store has recorded them.

    \b
    Example:
      infoplane frontier heart --grid 0.05:0.3:6 --store heart.db
      infoplane resume heart.db --report heart.html
    """
    before = store_status(asked.store)
    problem = before.manifest["family"].replace("_", "-")
    output.note(f"{before.runs:,} of {before.total_runs:,} runs were done before.")
    with (
        output.at_work(),
        resumable(asked.store),
        bar(before.total_parameters, problem, lines=True) as tell,
    ):
        found = go_on(asked.store, engine=asked.engine, progress=tell)
    present(found, options.Source(str(asked.store)).title, problem, before.manifest["seed"], asked)
    if not found.complete:
        output.end_interrupted(f"all finished runs are in {asked.store}; the same command goes on.")
    exit_unless_good(found, before.manifest["certify_nats"])


@command()
@STORE
@written(
    "--out",
    "archive",
    "Every run of the finished parameters, as .csv, .parquet, or .npz with the encoders and traces of the best.",
    required=True,
)
def export(asked: Request) -> None:
    """Write the runs of STORE to a file; of a sweep that is not complete, those of the parameters that are.

    \b
    Examples:
      infoplane frontier heart --grid 0.05:0.3:6 --store heart.db
      infoplane export heart.db --out frontier.csv
      infoplane export heart.db --out frontier.npz
    """
    found = read_store(asked.store)
    said = f": {counted(len(found), 'run')} of {counted(len(found.best_rows()), 'parameter')}"
    output.write_frontier(found, asked.out, said)
    if found.reused is not None:
        output.note(f"{found.reused} The file has every run as it ended; Frontier.best() puts them together.")
    if not found.complete:
        left = store_status(asked.store)
        output.note(f"The sweep is not complete: {left.runs:,} of {left.total_runs:,} runs are done.")


@command()
@click.argument("answer", type=click.Path(path_type=Path))
@option("--gap NATS", float, "What counts as certified: the largest distance of a loss to its bound.", default=1e-6)
@option("--max-cells", COUNT, "Cells that one proof may take.", default=1_000_000)
@option("--max-seconds", float, "Seconds that one proof may take.", default=60.0)
@as_json
def verify(asked: Request) -> None:
    """Check ANSWER, an .npz file of solve or frontier with --out: recompute every number and prove every bound again.

    The checker shares no code with the solvers and proofs that made the file, and uses NumPy only; it needs p(x,y), the
    encoder, the bound and the multipliers that the file has. A bound is VERIFIED, PROVEN TO a weaker one within the
    limits, or REFUTED, with what contradicts it. Exit code 4 means that not all that is claimed was verified, 3 that the
    file is no file of answers. The same check without infoplane: python -m infoplane_verify ANSWER.

    \b
    Examples:
      infoplane solve heart --gamma 0.2 --certify --out answer.npz
      infoplane verify answer.npz
    """
    found = check(asked.answer, **asked.of("gap", "max_cells", "max_seconds"))
    good = passed(found)
    if asked.as_json:
        output.print_json({"verified": good, "findings": [finding_record(one) for one in found]})
    else:
        for one in found:
            output.say(sentence(one))
        left_out = sum(one.verdict is CheckVerdict.LEFT_OUT for one in found)
        others = f"; {left_out} without an encoder left out" if left_out else ""
        output.say(f"{sum(one.verdict.good for one in found)} of {counted(len(found), 'run')} verified{others}")
    if not good:
        click.get_current_context().exit(output.NOT_CONVERGED)


def finding_record(one: RunCheck) -> dict[str, Any]:
    """A finding for JSON."""
    plain = output.named(one, "run", "family", "parameter", "rho", "reason", "cells", "seconds", "posterior")
    numbers = ("loss_nats", "ixz_bits", "iyz_bits", "iuz_bits", "isz_bits")
    bounds = ("claimed_bound_nats", "proven_bound_nats", "gap_nats")
    work = {"cells_left": one.left, "cells_in_50_digits": one.digits_checked}
    return {**plain, "verdict": one.verdict.name, **output.named(one, *numbers, *bounds), **work}
