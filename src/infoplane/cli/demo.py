"""``infoplane demo``: both problems on built-in data, with a picture."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path

import click

from ..datasets import heart
from ..frontier.frontier import Frontier
from ..problem import FAMILIES
from ..solvers.annealing import Annealing
from ..solvers.base import Solver
from ..solvers.pooling import Pooling
from ..sweep.progress import bar
from ..sweep.sweep import sweep
from . import output
from .exit_codes import interruptible
from .frontier import EXPENDABLE, as_table

PICTURE = "infoplane-heart.png"

NEXT = """Go on with:
  infoplane solve heart --gamma 0.2                                     one encoder
  infoplane frontier heart --problem funnel --out funnel.npz            every run of the full grid, with encoders
  infoplane compare heart --solver ib-1,blahut-arimoto --grid 0.1:1:8   solvers side by side
  infoplane frontier YOUR.csv --x COLUMNS --y COLUMNS --plot plane.png  your own data"""


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
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    default=Path(),
    help=f"Directory for {PICTURE}  [default: the current one]",
)
@click.option("--quick", is_flag=True, help="A coarser grid and fewer starts: a few seconds.")
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
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise click.UsageError(f"--out: {out} cannot be made a directory: {error.strerror}.") from error
    output.check_picture(target, "--out")
    began = time.perf_counter()
    joint = heart()
    output.note(f"{joint}")
    planes: list[tuple[str, Frontier]] = []
    complete = True
    with interruptible() as interruption, output.one_line_warnings():
        for part in QUICK if quick else FULL:
            family = FAMILIES[part.problem]
            output.prepare(part.solver, family.member(), interruption)
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
                solvers = ", ".join(dict.fromkeys(run.solver for run in found.runs))
                output.print_table(as_table(found, f"{part.problem} frontier of heart"), EXPENDABLE)
                planes.append((f"Heart data, {part.problem}: {solvers}", found))
            complete = found.complete
            if not complete:
                break
    if planes:
        from ..view.plot import plot_planes

        plot_planes(planes, target)
        output.say(f"wrote {target}")
    if not complete:
        output.note("Interrupted: the rest of the demo was not run.")
        context.exit(interruption.code)
    output.say(f"{time.perf_counter() - began:.0f} s in all.\n\n{NEXT}")
