"""``infoplane apply``: other rows through a mechanism that was written by ``encode`` or by a release."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from ..formatting import counted
from ..solution import UNSEEN_RULES
from ..storage.mechanism import read_mechanism
from . import output, printing
from .encode import in_place
from .flags import PATH, TABLES, option, written
from .numerals import Whole
from .release import DRAWN_ANEW, keyed, read_key, warn_of_second
from .tables import read_frame
from .typed_files import check_column, located


@click.command()
@click.argument("model", type=PATH)
@click.argument("rows")
@written("--out", TABLES, "ROWS with their groups, .csv or .parquet.", required=True)
@option("--seed", Whole(min=0), "Of a random mechanism; without it every call draws anew.")
@keyed
@option(
    "--unseen",
    click.Choice(UNSEEN_RULES),
    "Values never met: refused by their number, drawn as MODEL says of those, or left empty.  [default: error for a release]",
)
@output.escape_formulas
def apply(
    model: Path,
    rows: str,
    out: Path,
    seed: int | None,
    id_column: str | None,
    key_file: Path | None,
    unseen: Literal["error", "marginal", "suppress"] | None,
) -> None:
    r"""Put ROWS through MODEL: its columns are replaced by their groups; of a release nothing but the released values is written.

    MODEL is a .json of infoplane encode (--model) or infoplane release (--mechanism). It is data, checked before it is used, and nothing in
    it is run. Values that it has never met become what it says of those; how many there were is said.

    \b
    Examples:
      infoplane datasets heart --out heart.csv
      infoplane encode heart.csv --columns risk_factors --target outcome --out encoded.csv --model groups.json
      infoplane apply groups.json heart.csv --out again.csv
      infoplane apply groups.json new.csv --out new_encoded.csv
      infoplane apply m.json new.csv --id person --key-file key --out new_released.csv
    """
    key = read_key(id_column, key_file)
    mechanism = read_mechanism(model)
    frame = read_frame(located(rows))
    if id_column is not None:
        check_column(frame.columns.tolist(), id_column)
    ids = None if id_column is None else frame[id_column].tolist()
    is_release = mechanism.kind == "release"
    made = mechanism.apply(frame, rng=seed, ids=ids, key=key, unseen=unseen or ("error" if is_release else "marginal"))
    for name, count in mechanism.unknown(frame).items():
        printing.note(f"{name}: {counted(count, 'row')} of {len(frame):,} with values that were never met")
    said = f": {counted(len(made), 'row')}"
    if is_release:
        # Other columns of the rows, the secret among them, were never part of what the release promises.
        made = made.astype(object)
        if len(mechanism.features) == 1 and (words := mechanism.features[0].descriptions):
            made["stands_for"] = made.iloc[:, 0].map(dict(zip(mechanism.features[0].clusters, words, strict=True)))
        warn_of_second(made, out)
        output.write_table(made, out, said)
        if key is None:
            printing.note(DRAWN_ANEW)
    else:
        used = list(dict.fromkeys(name for feature in mechanism.features for name in feature.columns))
        output.write_table(in_place(frame, used, made), out, said)
