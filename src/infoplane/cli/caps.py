"""``infoplane frontier --max-leakage-bits R,...``: the most that a release keeps under each cap on what it tells, with its proof.

The curve rises like a square root from a cap of 0, where the slope beta is infinite: caps show its beginning, a grid of beta does not.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..certificate.certificate import Limits
from ..frontier.leakage import funnel_curve
from ..frontier.task_leakage import task_curve
from ..information import NATS_PER_BIT, bits
from ..problem import funnel
from ..sweep.progress import working
from ..view.drawing import save_figure
from ..view.pictures import plot_caps
from . import output
from .exit_codes import NOT_CONVERGED, interruptible
from .inputs import Source

if TYPE_CHECKING:
    import pandas as pd


class CapsRequest(NamedTuple):
    """What ``frontier`` was asked for with --max-leakage-bits."""

    source: Source
    keep: tuple[str, ...]
    hide: tuple[str, ...]
    problem: str
    caps: tuple[float, ...]
    certify: float | None
    clusters: int | None
    limits: dict[str, Any]
    out: Path | None
    plot: Path | None


def frontier_of_caps(context: click.Context, asked: CapsRequest, as_json: bool) -> None:
    """Print, write and draw the best release under each cap."""
    with_tasks = bool(asked.keep or asked.hide)
    if with_tasks and not (asked.keep and asked.hide):
        raise click.UsageError("--keep and --hide go together: columns to keep, and columns to hide.")
    if not with_tasks and (asked.problem != funnel.name or asked.clusters is not None):
        raise click.UsageError(
            "--max-leakage-bits goes with --problem funnel, or with --keep and --hide and then --clusters."
        )
    if asked.out is not None and asked.out.suffix == ".npz":
        raise click.UsageError("--out has a row for each cap: .csv or .parquet; found .npz.")
    nats, tol = [cap * NATS_PER_BIT for cap in asked.caps], asked.certify or Limits.tol
    joint: Any = asked.source.load_tasks(asked.keep, asked.hide) if with_tasks else asked.source.load()
    found: list[Any]
    with (
        interruptible(awaits_an_answer=True) as interruption,
        output.one_line_warnings(),
        working("solving and proving", lines=True),
    ):
        if with_tasks:
            found = list(task_curve(joint, nats, clusters=asked.clusters, tol=tol, **asked.limits))
        else:
            found = list(funnel_curve(joint, nats, tol=tol, **asked.limits))
        interrupted = interruption.seen
    frame = as_frame(found, asked.caps, with_tasks)
    if asked.out is not None:
        output.write_table(frame, asked.out)
    if asked.plot is not None:
        save_figure(plot_caps(frame, asked.source.title), asked.plot)
        output.note(f"wrote {asked.plot}")
    if as_json:
        output.print_json({"caps": frame.to_dict("records")})
    else:
        show(frame, asked.source.title)
    if interrupted:
        output.note("Interrupted: these are the best releases found by then, each within its cap.")
        context.exit(interruption.code)
    if asked.certify is not None and not frame.certified.all():
        output.note(
            f"Not certified: {int((~frame.certified).sum())} of {len(frame)} caps; {tol:g} nats were asked for."
        )
        context.exit(NOT_CONVERGED)


def as_frame(found: list[Any], caps: tuple[float, ...], with_tasks: bool) -> pd.DataFrame:
    """A row for each cap, in bits; what is kept comes second."""
    import pandas as pd

    kept, told = ("iuz", "isz") if with_tasks else ("ixz", "iyz")
    rows = [
        {
            "max_leakage_bits": cap,
            f"{kept}_bits": bits(getattr(one, kept)),
            f"{told}_bits": bits(getattr(one, told)),
            "upper_bound_bits": bits(one.upper_bound),
            "population_bits": math.nan if one.leakage_bound is None else bits(one.leakage_bound.bound),
            "clusters": one.clusters,
            "beta": one.beta,
            "certified": one.certified,
        }
        for cap, one in zip(caps, found, strict=True)
    ]
    return pd.DataFrame(rows)


def show(frame: pd.DataFrame, title: str) -> None:
    """The table."""
    kept, told = (f"I({name[1].upper()};Z)" for name in frame.columns[1:3])
    sampled = bool(frame.population_bits.notna().all())
    made = output.TextTable(
        f"The most that a release of {title} keeps under each cap",
        (
            "cap\n[bits]",
            f"{kept}\n[bits]",
            f"{told}\n[bits]",
            f"proven: {kept}\nat most",
            *([f"population: {told}\nat most"] if sampled else []),
            "|Z|",
            "beta",
            "certified",
        ),
        left=("certified",),
    )
    for row in frame.itertuples(index=False):
        numbers = (f"{number:.6f}" for number in (row.max_leakage_bits, *row[1:4]))
        population = [f"{row.population_bits:.6f}"] if sampled else []
        made.add_row(*numbers, *population, str(row.clusters), f"{row.beta:.4g}", "yes" if row.certified else "no")
    output.print_table(made)
    if sampled:
        output.say(
            "Caps and proofs are about this table; in the population the releases may tell as much as that column says (95%)."
        )
