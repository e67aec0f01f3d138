"""``infoplane demo``: both problems on built-in data, with a picture; ``infoplane datasets``: what is built in."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import click
import numpy as np

from .. import datasets as built_in
from ..datasets import heart
from ..formatting import filled
from ..frontier.frontier import Frontier
from ..information import bits
from ..problem import FAMILIES
from ..solvers.annealing import Annealing
from ..solvers.pooling import Pooling
from ..sweep.progress import bar
from ..sweep.sweep import sweep
from ..view.drawing import save_figure
from ..view.plot import plot_planes
from . import options, output
from .flags import Request, as_json, check_target, command, made_directory, option, switch, written
from .frontier import print_runs


@command()
@click.argument("name", required=False)
@written("--out", "table", "The records of NAME, one row each, .csv or .parquet.")
@as_json
def datasets(asked: Request) -> None:
    """List the built-in joints: their names can be given as JOINT to the other commands. Or write the records of one.

    \b
    Examples:
      infoplane datasets
      infoplane datasets heart --out heart.csv
    """
    if asked.name is not None or asked.out is not None:
        write_records(asked.name, asked.out)
        return
    found: list[dict[str, Any]] = []
    for data in built_in.REGISTRY.values():
        joint = data.load()
        amounts = {"hx": joint.entropy_x, "hy": joint.entropy_y, "ixy": joint.mutual_information}
        in_bits = {f"{name}_bits": bits(nats) for name, nats in amounts.items()}
        found.append({"name": data.name, "title": data.title, "source": data.source, "shape": joint.shape, **in_bits})
    if asked.as_json:
        output.print_json({"datasets": found})
        return
    columns = {
        "name": "{name}",
        "|X| x |Y|": "{shape[0]} x {shape[1]}",
        "H(X)": "{hx_bits:.5f}",
        "H(Y)": "{hy_bits:.5f}",
        "I(X;Y)": "{ixy_bits:.5f}",
        "what": "{title}\n{source}",
    }
    output.print_table("Built-in joints, in bits", filled(columns, found), left=("name", "what"))


def write_records(name: str | None, out: Path | None) -> None:
    """The records behind a built-in joint as a table, to try on it what needs a table."""
    if name is None or out is None:
        raise click.UsageError("NAME and --out go together, as in infoplane datasets heart --out heart.csv.")
    joint = built_in.load(name)
    if joint.counts is None:
        raise click.UsageError(f"{name} is made of probabilities, not of records; heart has records.")
    import pandas as pd

    x, y = np.nonzero(joint.counts)
    labels = [joint.x_labels[i] for i in x], [joint.y_labels[j] for j in y]
    pairs = pd.DataFrame(dict(zip((*joint.x_names, *joint.y_names), labels, strict=True)))
    output.write_table(pairs.loc[pairs.index.repeat(joint.counts[x, y])], out, f": {joint.records} records")


PICTURE = "infoplane-heart.png"

NEXT = """Go on with:
  infoplane solve heart --gamma 0.2                                     one encoder
  infoplane frontier heart --problem funnel --out funnel.npz            every run of the full grid, with encoders
  infoplane compare heart --solver ib-1,blahut-arimoto --grid 0.1:1:8   solvers side by side
  infoplane frontier YOUR.csv --x COLUMNS --y COLUMNS --plot plane.png  your own data"""


TITLES = {
    "bottleneck": "Bottleneck: fewer groups of patients that still tell sex and death",
    "funnel": "Funnel: risk factors released, sex and death hidden",
}


FULL: dict[str, dict[str, Any]] = {
    "bottleneck": {"points": 16, "starts": 16, "max_iter": 20_000},
    "funnel": {"points": 12, "starts": 8, "max_iter": 20_000},
}
QUICK: dict[str, dict[str, Any]] = {name: {"points": 6, "starts": 4, "max_iter": 5_000} for name in FULL}
"""The demo's two frontiers; the iteration limit keeps them short, and the table says which runs reached it."""

SOLVERS = {"bottleneck": Annealing(), "funnel": Pooling(splitting=0)}
"""The default solvers of a sweep; for the funnel without splitting iterations, whose kernels take long to compile."""


@command()
@option("--out", Path, f"Directory for {PICTURE}  [default: the current one]", default=Path(), show_default=False)
@switch("--quick", "A coarser grid and fewer starts: a few seconds.")
def demo(asked: Request) -> None:
    """Bottleneck and funnel frontiers of the built-in heart data: two tables and a picture of both information planes.

    X is which of four risk factors a heart failure patient has, Y is sex and death. The bottleneck compresses X and
    keeps what predicts Y; the funnel releases X and hides Y.

    \b
    Example:
      infoplane demo --out pictures
    """
    target = asked.out / PICTURE
    made_directory(asked.out)
    check_target(target, "--out", "picture")
    began = time.perf_counter()
    joint = heart()
    output.note(f"{joint}")
    planes: list[tuple[str, Frontier]] = []
    complete = True
    with output.at_work():
        for problem, limits in (QUICK if asked.quick else FULL).items():
            family, solver = FAMILIES[problem], SOLVERS[problem]
            options.prepare(family.member(), solver)
            with bar(limits["points"], problem) as tell:
                found = sweep(joint, family, None, solver, **limits, rng=0, progress=tell)
            if found.runs:
                print_runs(found, f"{problem} frontier of heart")
                planes.append((TITLES[problem], found))
            if not (complete := found.complete):
                break
    if planes:
        draw(planes, target)
        output.say(f"wrote {target}")
    if not complete:
        output.end_interrupted("the rest of the demo was not run.")
    output.say(f"{time.perf_counter() - began:.0f} s in all.\n\n{NEXT}")


def draw(planes: list[tuple[str, Frontier]], target: Path) -> None:
    """Both planes, and one point of each in words."""
    figure = plot_planes(
        planes, xlabel="I(X;Z): told of the risk factors  [bits]", ylabel="I(Y;Z): told of sex and death  [bits]"
    )
    for ax, (_, found) in zip(figure.axes, planes, strict=True):
        best, hides = [answer.run for answer in found.best_answers()], found.hides_y
        if hides and (legend := ax.get_legend()) is not None:
            legend.set_loc((0.02, 0.6))  # below the name of the bound, and above what is said of a point
        told = {run: run.iyz / found.joint.mutual_information for run in best}
        good = [run for run in best if (told[run] <= 0.1 if hides else told[run] >= 0.5)]
        if good:
            run = (max if hides else min)(good, key=lambda run: run.ixz)
            said = (
                f"{run.clusters} {'released values' if hides else 'groups'}:\n{run.ixz / found.joint.entropy_x:.0%} of the risk factors,\n"
                f"{told[run]:.0%} of what they tell"
            )
            ax.annotate(
                said,
                (bits(run.ixz), bits(run.iyz)),
                xytext=(0.05, 0.35) if hides else (0.42, 0.4),
                textcoords="axes fraction",
                arrowprops={"arrowstyle": "->", "color": "#333333", "shrinkB": 5},
            )
    save_figure(figure, target)
