"""``infoplane compare-releases``: several releases of one table on one plane, and which to take."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import click

from ..errors import InvalidOptionError
from ..formatting import label_text
from ..frontier.release import release_mechanism
from ..joint.joint import Joint
from ..joint.task_joint import TaskJoint
from ..storage.mechanism import read_mechanism
from ..sweep.progress import working
from ..table.compare_releases import compare_releases as compared
from ..table.mechanism import Mechanism
from ..view.drawing import save_figure
from . import output
from .flags import BITS, COLUMNS, Request, as_json, bins, columns, command, complete_rows, numbers, option, written
from .release import about_the_table, nats_of, read_joint
from .tables import read_frame


@command()
@click.argument("data")
@click.argument("mechanisms", nargs=-1)
@columns("--x", "Columns to release, by commas.", name="columns", required=True)
@columns("--hide", "Columns that are the secret, by commas.", required=True)
@columns("--keep", "Utility is what Z tells of these columns, by commas, not of --x itself.")
@bins
@complete_rows
@option("--max-leakage-bits BITS,...", numbers(least=0.0), "Our best release for each of these caps on I(S;Z).")
@option("--max-lift-bits BITS", BITS, "Cap on log p(s|z)/p(s) of our releases, both sides.")
@option("--drop", COLUMNS, "The release of --x without these columns; may be repeated.", multiple=True)
@option(
    "--levels COL:N,...|COL:TABLE",
    str,
    "Coarser and coarser groups of a column: numbers of bins, such as age:8,4,2, or a table whose first column has the values and the next "
    "ones their group at each level, such as job:jobs.csv; every combination of levels is a release; may be repeated.",
    multiple=True,
)
@option("--merge N,...", numbers(), "Values merged to so many by Merge-Two.")
@written("--out", "table", "A row for each release, .csv or .parquet.")
@written("--plot", "picture", "Utility against leakage and against the worst lift: .png, .svg or .pdf.")
@option("--seed", int, "Of our search.", default=0)
@option("--max-seconds", float, "Of each search.", default=60.0)
@output.escape_formulas
@as_json
def compare_releases(asked: Request) -> None:
    r"""Put releases of DATA on one plane: what each keeps of --x, what it tells of --hide on average and at worst, and which to take.

    MECHANISMS are .json files of infoplane release; a column that one of them cuts into bins is cut in the same way here, unless --bin says
    otherwise. Beside them: our best releases under caps, columns left out, values in coarser groups, and values merged.

    \b
    Examples:
      infoplane datasets heart --out heart.csv
      infoplane compare-releases heart.csv --x risk_factors --hide outcome --max-leakage-bits 0.001,0.01 --merge 4,8 --plot plane.png
      infoplane compare-releases people.csv m.json --x age,job --hide sex --drop age --levels age:8,4,2 --levels job:jobs.csv
    """
    read = {path: read_mechanism(path) for path in asked.mechanisms}
    _, joint = read_joint(asked, {**_edges(read, asked.columns), **asked.bins})
    of_x = joint.hide if isinstance(joint, TaskJoint) else joint
    caps, lift = asked.max_leakage_bits or (), nats_of(asked.max_lift_bits)
    search = partial(release_mechanism, joint, max_lift=lift, rng=asked.seed, max_seconds=asked.max_seconds)
    releases: dict[str, Any] = dict(read)
    with output.one_line_warnings(), working("solving and proving", lines=True):
        for cap in caps or (() if lift is None else (None,)):
            both = (("I(S;Z)", cap), ("lift", asked.max_lift_bits))
            said = ", ".join(f"{what} {number:g}" for what, number in both if number is not None)
            releases[f"best, {said}"] = search(max_leakage=nats_of(cap))
        found = compared(
            joint,
            releases,
            dropped=asked.drop,
            levels=dict(_levels(of_x, one) for one in asked.levels),
            merged=[int(k) if k.is_integer() else k for k in asked.merge or ()],
        )
    frame = found.to_frame()
    advice = [found.advice(nats_of(cap), lift) for cap in caps] or [found.advice(max_lift=lift)]
    output.write_table(frame, asked.out)
    output.write(asked.plot, lambda path: save_figure(found.plot(), path))
    if asked.as_json:
        output.print_json({"releases": frame.to_dict("records"), "advice": advice})
        return
    kept = f"I({found.kept};Z)\n[bits]"
    made = output.TextTable(
        f"Releases of {', '.join(asked.columns)}, hiding {', '.join(asked.hide)}",
        ("release", kept, "I(S;Z)\n[bits]", "worst lift\n[bits]", "smallest\ngroup", "dominated by"),
        left=("release", "dominated by"),
    )
    for row in frame.itertuples(index=False):
        made.add_row(row[0], *(f"{number:.4f}" for number in row[1:4]), f"{row[4]:.3g}", row[6])
    output.print_table(made)
    for sentence in (*advice, about_the_table("not the population, for which infoplane audit gives a bound")):
        output.say(sentence)


def _edges(read: Mapping[str, Mechanism], columns: tuple[str, ...]) -> dict[str, tuple[float, ...]]:
    """How mechanisms cut columns into bins: all their edges, so that each of them is a map of the letters."""
    found: dict[str, set[float]] = {}
    for feature in (feature for one in read.values() for feature in one.features):
        for name in columns:
            found.setdefault(name, set()).update(feature.edges.get(name, ()))
    return {name: tuple(sorted(edges)) for name, edges in found.items() if edges}


def _levels(joint: Joint, asked: str) -> tuple[str, list[Any]]:
    """COL:8,4,2 or COL:TABLE as `compare_releases` takes it; values are found by their text."""
    name = next((name for name in joint.x_names if asked.startswith(f"{name}:")), None)
    if name is None:
        raise click.UsageError(
            f"--levels needs a column of --x ({', '.join(joint.x_names)}), a colon, and numbers of bins or a table; found {asked!r}."
        )
    rest = asked.removeprefix(f"{name}:")
    if all(part.strip().isdecimal() for part in rest.split(",")):
        return name, [int(part) for part in rest.split(",")]
    table = read_frame(rest)
    if table.shape[1] < 2:
        raise InvalidOptionError(
            f"--levels: {rest} must have a column of values and one for each level; found one column."
        )
    at = joint.x_names.index(name)
    values = [label[at] if len(joint.x_names) > 1 else label for label in joint.x_labels]  # type: ignore[index]
    found = []
    for level in table.columns[1:]:
        groups = dict(zip(map(label_text, table.iloc[:, 0]), table[level], strict=True))
        found.append({value: groups[label_text(value)] for value in values if label_text(value) in groups})
    return name, found
