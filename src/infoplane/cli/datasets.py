"""``infoplane datasets``: the built-in joints."""

from __future__ import annotations

from pathlib import Path

import click
import numpy as np

from .. import datasets as built_in
from ..information import bits
from . import output, printing
from .flags import TABLES, as_json, written


@click.command()
@click.argument("name", required=False)
@written("--out", TABLES, "The records of NAME, one row each, .csv or .parquet.")
@as_json
def datasets(name: str | None, out: Path | None, as_json: bool) -> None:
    r"""List the built-in joints: their names can be given as JOINT to the other commands. Or write the records of one.

    \b
    Examples:
      infoplane datasets
      infoplane datasets heart --out heart.csv
    """
    if name is not None or out is not None:
        write_records(name, out)
        return
    loaded = [(data, data.load()) for data in built_in.REGISTRY.values()]
    if as_json:
        printing.print_json(
            {
                "datasets": [
                    {
                        "name": data.name,
                        "title": data.title,
                        "source": data.source,
                        "shape": joint.shape,
                        "hx_bits": bits(joint.entropy_x),
                        "hy_bits": bits(joint.entropy_y),
                        "ixy_bits": bits(joint.mutual_information),
                    }
                    for data, joint in loaded
                ]
            }
        )
        return
    made = printing.TextTable(
        "Built-in joints, in bits", ("name", "|X| x |Y|", "H(X)", "H(Y)", "I(X;Y)", "what"), left=("name", "what")
    )
    for data, joint in loaded:
        numbers = (f"{bits(value):.5f}" for value in (joint.entropy_x, joint.entropy_y, joint.mutual_information))
        made.add_row(data.name, f"{joint.shape[0]} x {joint.shape[1]}", *numbers, f"{data.title}\n{data.source}")
    printing.print_table(made)


def write_records(name: str | None, out: Path | None) -> None:
    """The records behind a built-in joint as a table, to try on it what needs a table."""
    if name is None or out is None:
        raise click.UsageError("NAME and --out go together, as in infoplane datasets heart --out heart.csv.")
    joint = built_in.load(name)
    if joint.counts is None:
        raise click.UsageError(f"{name} is made of probabilities, not of records; heart has records.")
    import pandas as pd

    x, y = np.nonzero(joint.counts)
    pairs = pd.DataFrame(
        {joint.x_names[0]: [joint.x_labels[i] for i in x], joint.y_names[0]: [joint.y_labels[j] for j in y]}
    )
    output.write_table(pairs.loc[pairs.index.repeat(joint.counts[x, y])], out, f": {joint.records} records")
