"""``infoplane demo``: both problems on built-in data, with a picture; ``infoplane datasets``: what is built in."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click
import numpy as np

from .. import datasets as built_in
from ..datasets import heart
from ..frontier.frontier import Frontier
from ..information import bits
from ..problem import FAMILIES
from ..solvers.annealing import Annealing
from ..solvers.base import Solver
from ..solvers.pooling import Pooling
from ..sweep.progress import bar
from ..sweep.sweep import sweep
from ..view.drawing import save_figure
from ..view.plot import plot_planes
from . import options, output
from .flags import PATH, PICTURES, TABLES, as_json, check_target, made_directory, option, switch, written
from .frontier import EXPENDABLE, as_table
from .output import interruptible


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
        output.print_json(
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
    made = output.TextTable(
        "Built-in joints, in bits", ("name", "|X| x |Y|", "H(X)", "H(Y)", "I(X;Y)", "what"), left=("name", "what")
    )
    for data, joint in loaded:
        numbers = (f"{bits(value):.5f}" for value in (joint.entropy_x, joint.entropy_y, joint.mutual_information))
        made.add_row(data.name, f"{joint.shape[0]} x {joint.shape[1]}", *numbers, f"{data.title}\n{data.source}")
    output.print_table(made)


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


@dataclass(frozen=True)
class DemoSweep:
    """One of the demo's two frontiers; the iteration limit keeps it short, and the table says which runs reached it."""

    problem: str
    points: int
    starts: int
    max_iter: int

    @property
    def solver(self) -> Solver:
        """The default solver of a sweep; for the funnel without splitting iterations, whose kernels take long to compile."""
        return Pooling(splitting=0) if self.problem == "funnel" else Annealing()


FULL = (DemoSweep("bottleneck", 16, 16, 20_000), DemoSweep("funnel", 12, 8, 20_000))
QUICK = (DemoSweep("bottleneck", 6, 4, 5_000), DemoSweep("funnel", 6, 4, 5_000))


@click.command()
@option("--out", PATH, f"Directory for {PICTURE}  [default: the current one]", default=Path(), show_default=False)
@switch("--quick", "A coarser grid and fewer starts: a few seconds.")
@click.pass_context
def demo(context: click.Context, /, out: Path, quick: bool) -> None:
    r"""Bottleneck and funnel frontiers of the built-in heart data: two tables and a picture of both information planes.

    X is which of four risk factors a heart failure patient has, Y is sex and death. The bottleneck compresses X and
    keeps what predicts Y; the funnel releases X and hides Y.

    \b
    Example:
      infoplane demo --out pictures
    """
    target = out / PICTURE
    made_directory(out)
    check_target(target, "--out", PICTURES)
    began = time.perf_counter()
    joint = heart()
    output.note(f"{joint}")
    planes: list[tuple[str, Frontier]] = []
    complete = True
    with interruptible() as interruption, output.one_line_warnings():
        for part in QUICK if quick else FULL:
            family = FAMILIES[part.problem]
            options.prepare(family.member(), interruption, part.solver)
            with bar(part.points, part.problem) as tell:
                found = sweep(
                    joint,
                    family,
                    None,
                    part.solver,
                    points=part.points,
                    starts=part.starts,
                    max_iter=part.max_iter,
                    rng=0,
                    progress=tell,
                )
            if found.runs:
                output.print_table(as_table(found, f"{part.problem} frontier of heart"), EXPENDABLE)
                planes.append((TITLES[part.problem], found))
            if not (complete := found.complete):
                break
    if planes:
        draw(planes, target)
        output.say(f"wrote {target}")
    if not complete:
        output.note("Interrupted: the rest of the demo was not run.")
        context.exit(interruption.code)
    output.say(f"{time.perf_counter() - began:.0f} s in all.\n\n{NEXT}")


def draw(planes: list[tuple[str, Frontier]], target: Path) -> None:
    """Both planes, and one point of each in words."""
    figure = plot_planes(
        planes, xlabel="I(X;Z): told of the risk factors  [bits]", ylabel="I(Y;Z): told of sex and death  [bits]"
    )
    for ax, (_, found) in zip(figure.axes, planes, strict=True):
        best, hides = [answer.run for answer in found.best_answers()], found.hides_y
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
                xytext=(0.05, 0.35) if hides else (0.42, 0.3),
                textcoords="axes fraction",
                arrowprops={"arrowstyle": "->", "color": "#333333", "shrinkB": 5},
            )
    save_figure(figure, target)
