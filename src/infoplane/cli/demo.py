"""``infoplane demo``: both problems on built-in data, with a picture."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click

from ..datasets import heart
from ..frontier.frontier import Frontier
from ..information import bits
from ..problem import FAMILIES
from ..solvers.annealing import Annealing
from ..solvers.base import Solver
from ..solvers.pooling import Pooling
from ..sweep.progress import bar
from ..sweep.sweep import sweep
from . import output, printing
from .exit_codes import interruptible
from .flags import PATH, PICTURES, check_target, made_directory, option, switch
from .frontier import EXPENDABLE, as_table

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
    printing.note(f"{joint}")
    planes: list[tuple[str, Frontier]] = []
    complete = True
    with interruptible() as interruption, printing.one_line_warnings():
        for part in QUICK if quick else FULL:
            family = FAMILIES[part.problem]
            output.prepare(family.member(), interruption, part.solver)
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
                printing.print_table(as_table(found, f"{part.problem} frontier of heart"), EXPENDABLE)
                planes.append((TITLES[part.problem], found))
            complete = found.complete
            if not complete:
                break
    if planes:
        draw(planes, target)
        printing.say(f"wrote {target}")
    if not complete:
        printing.note("Interrupted: the rest of the demo was not run.")
        context.exit(interruption.code)
    printing.say(f"{time.perf_counter() - began:.0f} s in all.\n\n{NEXT}")


def draw(planes: list[tuple[str, Frontier]], target: Path) -> None:
    """Both planes, and one point of each in words."""
    from ..view.drawing import save_figure
    from ..view.plot import plot_planes

    figure = plot_planes(
        planes, xlabel="I(X;Z): told of the risk factors  [bits]", ylabel="I(Y;Z): told of sex and death  [bits]"
    )
    for ax, (_, found) in zip(figure.axes, planes, strict=True):
        best, joint = [answer.run for answer in found.best_answers()], found.joint
        if found.hides_y:
            run = max(
                (run for run in best if run.iyz <= joint.mutual_information / 10), key=lambda run: run.ixz, default=None
            )
        else:
            run = min(
                (run for run in best if run.iyz >= joint.mutual_information / 2), key=lambda run: run.ixz, default=None
            )
        if run is not None:
            what = "released values" if found.hides_y else "groups"
            said = (
                f"{run.clusters} {what}:\n{run.ixz / joint.entropy_x:.0%} of the risk factors,\n"
                f"{run.iyz / joint.mutual_information:.0%} of what they tell"
            )
            place = (0.05, 0.35) if found.hides_y else (0.42, 0.3)
            ax.annotate(
                said,
                (bits(run.ixz), bits(run.iyz)),
                xytext=place,
                textcoords="axes fraction",
                arrowprops={"arrowstyle": "->", "color": "#333333", "shrinkB": 5},
            )
    save_figure(figure, target)
