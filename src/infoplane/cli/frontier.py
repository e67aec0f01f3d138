"""``infoplane frontier``: the whole trade-off."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..frontier import Frontier
from ..information import bits
from ..progress import bar
from ..registry import resolve
from ..sweep import sweep
from . import options, output
from .exits import INTERRUPTED, NOT_CONVERGED, interruptible
from .inputs import Source, joint_options

if TYPE_CHECKING:
    from rich.table import Table

COLUMNS = (
    "parameter",
    "loss\n[nats]",
    "I(X;Z)\n[bits]",
    "I(Y;Z)\n[bits]",
    "|Z|",
    "best run",
    "iterations",
    "converged",
    "seconds",
    "",
)


@click.command(epilog=options.SOLVER_LIST)
@joint_options
@options.family_of_problems
@options.one_solver
@options.run_options
@click.option("--out", type=click.Path(path_type=Path), help="Every run, as .csv, .parquet, or .npz with encoders.")
@click.option("--plot", type=click.Path(path_type=Path), help="Picture of the information plane: .png, .svg or .pdf.")
@options.as_json
@click.pass_context
def frontier(
    context: click.Context,
    /,
    source: Source,
    problem: str,
    a: float | None,
    grid: tuple[float, float, int] | None,
    grid_values: tuple[float, ...] | None,
    solver: str | None,
    clusters: int | None,
    starts: int,
    seed: int,
    max_iter: int,
    tol: float,
    init: str,
    out: Path | None,
    plot: Path | None,
    as_json: bool,
    **rest: Any,
) -> None:
    r"""Sweep a grid of parameters of JOINT and show where the best encoders lie on the information plane.

    JOINT is a built-in name (infoplane datasets), a table (.csv or .parquet, with --x and --y), or with --matrix p(x,y)
    itself. Exit code 4 means that the best run of some parameter did not converge.

    \b
    Examples:
      infoplane frontier heart --plot plane.png
      infoplane frontier heart --problem funnel --grid 0.5:20:20 --solver pf-2v --out funnel.npz
      infoplane frontier counts.csv --x word --y topic --count n --grid-values 0.1,0.2,0.5 --json
    """
    family, parameters = options.make_family(problem, a, grid, grid_values)
    problems = [family(float(parameter)) for parameter in parameters]
    chosen = resolve(options.configured(solver or "drs", rest), *problems)
    output.check_target(out, "--out", (".csv", ".parquet", ".npz"))
    output.check_picture(plot)
    joint = source.load()
    with interruptible() as interruption, output.one_line_warnings():
        output.prepare(chosen, problems[0], interruption)
        with bar(len(parameters), problem) as tell:
            found = sweep(
                joint,
                family,
                parameters,
                chosen,
                clusters=clusters,
                starts=starts,
                rng=seed,
                max_iter=max_iter,
                tol=tol,
                init=init,
                progress=tell,
            )
    if found.runs:
        write(found, source, out, plot)
    if as_json:
        output.print_json(record(found, problem, seed))
    elif found.runs:
        output.console().print(as_table(found, f"{problem.replace('-', ' ')} frontier of {source.title}"))
    if not found.complete:
        output.note(f"Interrupted: {len(found.best_rows())} of {len(parameters)} parameters were finished.")
        context.exit(INTERRUPTED)
    exit_unless_converged(context, found)


def write(found: Frontier, source: Source, out: Path | None, plot: Path | None) -> None:
    """The files that were asked for."""
    if out is not None:
        output.write_frontier(found, out)
        output.note(f"wrote {out}")
    if plot is not None:
        from ..plot import plot_planes

        family = found.runs[0].problem.family.replace("_", " ").capitalize()
        plot_planes([(f"{family} of {source.title}", found)], plot)
        output.note(f"wrote {plot}")


def exit_unless_converged(context: click.Context, found: Frontier) -> None:
    """Exit code 4 if the best run of some parameter did not converge."""
    best = [found.runs[row] for row in found.best_rows()]
    open_ends = [run for run in best if not run.status.converged]
    if open_ends:
        first = open_ends[0]
        output.note(
            f"Not converged: the best run of {len(open_ends)} of {len(best)} parameters. The first, "
            f"{first.parameter:.4g}: {first.status.value}."
        )
        context.exit(NOT_CONVERGED)


def as_table(found: Frontier, title: str) -> Table:
    """A row a parameter: its best run, and how many of its runs converged in how many seconds."""
    solvers = dict.fromkeys(run.solver for run in found.runs)
    starts = max(run.start for run in found.runs) + 1
    runs = f"{starts} start{'s' if starts > 1 else ''} of {', '.join(solvers)}"
    made = output.table(f"{title}: {runs}", COLUMNS, left=("best run", ""))
    pareto = [found.runs[row] for row in found.pareto_rows()]
    for row in found.best_rows():
        run = found.runs[row]
        same = [one for one in found.runs if one.parameter == run.parameter]
        made.add_row(
            f"{run.parameter:.4g}",
            output.rounded(run.loss),
            output.rounded(bits(run.ixz)),
            output.rounded(bits(run.iyz)),
            str(len(run.encoder)),
            run.status.name.lower().replace("_", " "),
            f"{run.iterations:,}",
            f"{sum(one.status.converged for one in same)}/{len(same)}",
            f"{sum(one.seconds for one in same):.2f}",
            # Starts that end at the same point differ by rounding, and only one of them is in the Pareto set.
            "Pareto" if any(abs(one.ixz - run.ixz) + abs(one.iyz - run.iyz) < 1e-6 for one in pareto) else "",
        )
    return made


def record(found: Frontier, problem: str, seed: int) -> dict[str, Any]:
    """The JSON object of ``frontier``: a record a run; ``best`` and ``pareto`` are numbers of runs."""
    best = found.best_rows()
    return {
        "problem": problem,
        "complete": found.complete,
        "converged": bool(best) and all(found.runs[row].status.converged for row in best),
        "seed": seed,
        **output.joint_record(found.joint),
        "best": best,
        "pareto": found.pareto_rows(),
        "runs": output.run_records(found, list(range(len(found)))),
    }
