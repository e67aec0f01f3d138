"""``infoplane resume``: go on with the sweep of a store."""

from __future__ import annotations

from pathlib import Path

import click

from ..storage.reader import store_status
from ..sweep.progress import bar
from ..sweep.sweep import resume as go_on
from . import options, printing
from .exit_codes import interruptible
from .flags import PATH, as_json, option
from .frontier import exit_unless_good, files, present, record, resumable
from .inputs import Source
from .plugins import plugin


@click.command()
@click.argument("store", type=PATH)
@plugin
@option("--engine", str, "Where runs go, as in infoplane frontier.  [default: threads]", metavar="NAME")
@files
@options.threads
@as_json
@click.pass_context
def resume(
    context: click.Context,
    /,
    store: Path,
    engine: str | None,
    out: Path | None,
    plot: Path | None,
    report: Path | None,
    as_json: bool,
) -> None:
    r"""Go on with the sweep in STORE until it is complete, and show it as infoplane frontier does.

    Data, problem, grid, solver, options and seed are those of the command that began it; the store has recorded them.

    \b
    Example:
      infoplane frontier heart --grid 0.05:0.3:6 --store heart.db
      infoplane resume heart.db --report heart.html
    """
    before = store_status(store)
    problem = before.manifest["family"].replace("_", "-")
    printing.note(f"{before.runs:,} of {before.total_runs:,} runs were done before.")
    with (
        interruptible() as interruption,
        printing.one_line_warnings(),
        resumable(store),
        bar(before.total_parameters, problem, lines=True) as tell,
    ):
        found = go_on(store, engine=engine, progress=tell)
    source = Source(str(store))
    told = record(found, problem, before.manifest["seed"]) if as_json else None
    present(found, source, problem, told, (out, plot, report))
    if not found.complete:
        printing.note(f"Interrupted: all finished runs are in {store}; the same command goes on.")
        context.exit(interruption.code)
    exit_unless_good(context, found, before.manifest["certify_nats"])
