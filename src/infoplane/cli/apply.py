"""``infoplane apply``: other rows through a mechanism that was written by ``encode`` or by a release."""

from __future__ import annotations

from pathlib import Path

import click

from ..formatting import counted
from ..storage.mechanism import read_mechanism
from . import output
from .csv_files import escape_formulas
from .encode import TABLES, in_place
from .numerals import Whole
from .tables import read_frame
from .typed_files import located


@click.command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("rows")
@click.option("--out", type=click.Path(path_type=Path), required=True, help="ROWS with their groups, .csv or .parquet.")
@click.option("--seed", type=Whole(min=0), help="Of a random mechanism; without it every call draws anew.")
@escape_formulas
def apply(model: Path, rows: str, out: Path, seed: int | None) -> None:
    r"""Put ROWS through MODEL: its columns are replaced by their groups.

    MODEL is a .json of infoplane encode (--model) or infoplane release (--mechanism). It is data, checked before it is used, and nothing in
    it is run. Values that it has never met become what it says of those; how many there were is said.

    \b
    Example:
      infoplane apply groups.json new.csv --out new_encoded.csv
    """
    output.check_target(out, "--out", TABLES)
    mechanism = read_mechanism(model)
    frame = read_frame(located(rows))
    made = mechanism.apply(frame, rng=seed)
    for name, count in mechanism.unknown(frame).items():
        output.note(f"{name}: {counted(count, 'row')} of {len(frame):,} with values that were never met")
    used = list(dict.fromkeys(name for feature in mechanism.features for name in feature.columns))
    output.write_table(in_place(frame, used, made), out)
    output.note(f"wrote {out}: {counted(len(made), 'row')}")
