"""``infoplane datasets``: the built-in joints."""

from __future__ import annotations

import click

from .. import datasets as built_in
from ..information import bits
from . import printing
from .flags import as_json


@click.command()
@as_json
def datasets(as_json: bool) -> None:
    r"""List the built-in joints: their names can be given as JOINT to the other commands.

    \b
    Example:
      infoplane datasets
    """
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
