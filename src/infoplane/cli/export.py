"""``infoplane export``: the runs of a store as a table or an archive."""

from __future__ import annotations

from pathlib import Path

import click

from ..formatting import counted
from ..storage.reader import read_store, store_status
from . import output, printing
from .flags import ARCHIVES, PATH, written


@click.command()
@click.argument("store", type=PATH)
@written(
    "--out",
    ARCHIVES,
    "Every run of the finished parameters, as .csv, .parquet, or .npz with the encoders and traces of the best.",
    required=True,
)
def export(store: Path, out: Path) -> None:
    r"""Write the runs of STORE to a file; of a sweep that is not complete, those of the parameters that are.

    \b
    Examples:
      infoplane frontier heart --grid 0.05:0.3:6 --store heart.db
      infoplane export heart.db --out frontier.csv
      infoplane export heart.db --out frontier.npz
    """
    found = read_store(store)
    said = f": {counted(len(found), 'run')} of {counted(len(found.best_rows()), 'parameter')}"
    output.write_frontier(found, out, said)
    if found.reused is not None:
        printing.note(f"{found.reused} The file has every run as it ended; Frontier.best() puts them together.")
    if not found.complete:
        left = store_status(store)
        printing.note(f"The sweep is not complete: {left.runs:,} of {left.total_runs:,} runs are done.")
