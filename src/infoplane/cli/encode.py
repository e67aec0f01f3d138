"""``infoplane encode``: columns of a table as few groups that keep what predicts another column; ``apply``: other rows through them."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from ..encoder.encoder import UNSEEN_RULES
from ..errors import InvalidJointError, InvalidOptionError
from ..formatting import counted, label_text
from ..information import bits
from ..storage.mechanism import read_mechanism, write_mechanism
from ..table.encoded_feature import OUTPUTS
from ..table.mechanism import Mechanism
from ..view.pages import encoding_page
from . import output
from .flags import COUNT, Request, as_json, columns, command, option, switch, written
from .release import keyed, read_key, write_released
from .tables import full_column, read_frame


@command()
@click.argument("table")
@columns("--columns", "Columns to encode, separated by commas.", required=True)
@option("--target COL", str, "The column whose values the groups shall predict.", required=True)
@columns("--numbers", "Those of --columns that are numbers: they are cut into intervals.")
@option("--clusters", COUNT, "The most groups of a column.  [default: what the records support]")
@option("--gamma", float, "Instead: the bottleneck's trade-off.")
@option("--max-bits B", float, "Instead: the most bits H(Z) of a group's number.")
@option("--min-relevance SHARE", float, "Instead: the share of I(X;Y) to keep, with fewest groups.")
@option("--output", click.Choice(OUTPUTS), "What a column becomes.", name="kind", default="cluster")
@switch("--product", "Encode all --columns together, as one.")
@option("--min-count", COUNT, "Categories with fewer rows are one, called other.", default=1)
@written("--out", "table", "The table with encoded columns, .csv or .parquet.", required=True)
@written("--model", "model", "The groups as .json, for infoplane apply; nothing in it is run.")
@written("--mapping", "table", "Every category with its group and p(y|z), as .csv or .parquet.")
@written("--report", "page", "What the groups hold, as one .html page.")
@output.escape_formulas
@as_json
def encode(asked: Request) -> None:
    """Put the values of columns of TABLE into few groups that keep what predicts --target.

    TABLE is .csv (also .gz), .parquet, .feather, .xlsx, .jsonl or sqlite:///file.db?table, a row a record. In --out every row is encoded
    by the other rows: its own target has no part in its group, so that a model may be trained on it. New rows are encoded by infoplane
    apply.

    \b
    Examples:
      infoplane datasets heart --out heart.csv
      infoplane encode heart.csv --columns risk_factors --target outcome --out encoded.csv --model groups.json
      infoplane encode people.csv --columns job,age --numbers age --target income --clusters 8 --out encoded.parquet
      infoplane apply groups.json new.csv --out new_encoded.csv
    """
    from ..table.transformers import BottleneckEncoder

    table, columns, target = asked.table, asked.columns, asked.target
    for name in asked.numbers:
        if name not in columns:
            raise InvalidOptionError(f"--numbers must be among --columns; found {name!r}.")
    if target in columns:
        raise InvalidOptionError(f"--target {target!r} is among --columns: it would predict itself.")
    frame = read_frame(table, (*columns, target), dict.fromkeys(asked.numbers, ()))
    wanted = full_column(frame, target, table).astype(str).to_numpy()
    categories = [name for name in columns if name not in asked.numbers]
    points = asked.of("gamma", "max_bits", "min_relevance", "product", "min_count")
    encoder = BottleneckEncoder(asked.clusters, **points, output=asked.kind, categorical_features=categories)
    encoder.set_output(transform="pandas")
    try:
        encoded = encoder.fit_transform(frame[list(columns)], wanted)
    except ValueError as error:  # scikit-learn's, of rows that cannot be encoded
        raise error if isinstance(error, InvalidOptionError) else InvalidJointError(f"{table}: {error}") from error
    made = in_place(frame, list(columns), encoded)
    output.write_table(made, asked.out, f": {counted(len(made), 'row')}, each encoded by the others")
    mechanism = Mechanism.of_encoder(encoder, target)
    output.write(asked.model, partial(write_mechanism, mechanism))
    output.write_table(encoder.mapping_.assign(category=encoder.mapping_.category.map(label_text)), asked.mapping)
    output.write_page(asked.report, lambda: encoding_page(encoder, target))
    if asked.as_json:
        output.print_json(record(encoder, target, len(frame)))
    else:
        show(encoder, target)


def in_place(frame: Any, columns: list[str], encoded: Any) -> Any:
    """The table with the encoded columns where the first of them was."""
    import pandas as pd

    at = int(frame.columns.get_loc(columns[0]))
    before = [name for name in frame.columns[:at] if name not in columns]
    after = [name for name in frame.columns[at:] if name not in columns]
    return pd.concat([frame[before], encoded, frame[after]], axis=1)


def record(encoder: Any, target: str, rows: int) -> dict[str, Any]:
    """What ``--json`` prints."""
    classes = encoder.classes_.tolist()
    return {
        "target": target,
        "classes": classes,
        "rows": rows,
        "features": [
            {
                "name": one.name,
                "categories": len(one.counts),
                "clusters": one.clusters,
                "ixy_bits": bits(one.joint.mutual_information),
                "iyz_bits": bits(one.iyz),
                "p_y_given_z": one.centres.tolist(),
                "descriptions": one.descriptions(classes),
            }
            for one in encoder.features_
        ],
    }


def show(encoder: Any, target: str) -> None:
    """A table on stdout: each group of each feature in a line."""
    rows = [
        {"column": one.name if z == 0 else "", "group": f"z{z}", "what it holds": text}
        for one in encoder.features_
        for z, text in enumerate(one.descriptions(encoder.classes_.tolist()))
    ]
    output.print_table(f"Groups that keep what predicts {target}", rows, left=("column", "what it holds"))


@command()
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("rows")
@written("--out", "table", "ROWS with their groups, .csv or .parquet.", required=True)
@option("--seed", int, "Of a random mechanism; without it every call draws anew.")
@keyed
@option(
    "--unseen",
    click.Choice(UNSEEN_RULES),
    "Values never met: refused by their number, drawn as MODEL says of those, or left empty.  [default: error for a release]",
)
@output.escape_formulas
def apply(asked: Request) -> None:
    """Put ROWS through MODEL: its columns are replaced by their groups; of a release nothing but the released values is written.

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
    key, mechanism = read_key(asked), read_mechanism(asked.model)
    frame = read_frame(asked.rows)
    ids = None if asked.id_column is None else full_column(frame, asked.id_column, asked.rows).tolist()
    is_release = mechanism.kind == "release"
    unseen: Any = asked.unseen or ("error" if is_release else "marginal")
    made = mechanism.apply(frame, rng=asked.seed, ids=ids, key=key, unseen=unseen)
    for name, count in mechanism.unknown(frame).items():
        output.note(f"{name}: {counted(count, 'row')} of {len(frame):,} with values that were never met")
    said = f": {counted(len(made), 'row')}"
    if is_release:
        # Other columns of the rows, the secret among them, were never part of what the release promises.
        made = made.astype(object)
        if len(mechanism.features) == 1 and (words := mechanism.features[0].descriptions):
            made["stands_for"] = made.iloc[:, 0].map(dict(zip(mechanism.features[0].clusters, words, strict=True)))
        write_released(made, asked.out, said, key)
    else:
        used = list(dict.fromkeys(name for feature in mechanism.features for name in feature.columns))
        output.write_table(in_place(frame, used, made), asked.out, said)
