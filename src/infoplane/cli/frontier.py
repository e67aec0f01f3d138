"""``infoplane frontier``: the best encoder for every parameter of a grid."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from ..errors import StoreWriteError
from ..formatting import counted, rounded
from ..frontier.frontier import Frontier
from ..frontier.geometry import is_enclosed
from ..information import Array, bits
from ..joint.task_joint import TaskJoint
from ..problem import NOTATIONS, MarkovLagrangian, ProblemFamily, bottleneck, is_bottleneck
from ..solution import Solution, Status
from ..solvers.job import Seed
from ..solvers.registry import runner_and_prover
from ..sweep.engine import CHUNK_SECONDS, EngineError
from ..sweep.grid import default_grid
from ..sweep.progress import bar, working
from ..sweep.sweep import sweep
from ..task_problem import TASK_GRID, family_on, task_funnel
from . import options, output
from .caps import frontier_of_caps
from .flags import (
    ARCHIVES,
    PAGES,
    PATH,
    PICTURES,
    Number,
    Numbers,
    Whole,
    as_json,
    option,
    several,
    switch,
    taken,
    written,
)
from .options import Source, joint_options, task_options
from .output import NOT_CONVERGED, CannotWrite, Interrupted, interruptible

if TYPE_CHECKING:
    from ..frontier.transitions import Transition

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


def _with_vega(_context: click.Context, _parameter: click.Parameter, report: Path | None) -> Path | None:
    """An error, before any work, if what a report needs is not installed."""
    if report is not None:
        from ..view.report.page import vega_library

        vega_library()
    return report


report_page = written("--report", PAGES, "One HTML page to look at offline: .html.", callback=_with_vega)

files = several(
    written("--out", ARCHIVES, "Every run, as .csv, .parquet, or .npz with encoders."),
    written("--plot", PICTURES, "Picture of the information plane: .png, .svg or .pdf."),
    report_page,
)
"""What ``frontier`` and ``resume`` write."""

EXPENDABLE = ("seconds", "iterations", "converged", "|Z|")
"""What a narrow terminal can do without, in this order."""


@click.command(cls=options.Listing)
@joint_options
@task_options
@options.family_of_problems
@options.one_solver
@options.plugin
@options.run_options
@options.certify
@option(
    "--points",
    Whole(min=2),
    "Add parameters to the grid until there are N, where the curve is long: they end evenly spaced along it.",
)
@option(
    "--max-leakage-bits",
    Numbers(least=0.0),
    "For --problem funnel, or with --keep and --hide: the most that is kept under each of these caps on what is told of the secret, with "
    "its proof, in place of a grid.",
    metavar="BITS,...",
)
@option(
    "--store",
    PATH,
    "Write every finished run to this file; the same command then continues where it was interrupted.",
)
@option(
    "--engine",
    str,
    "Where runs go: threads, dask (workers on this machine) or dask:ADDRESS.  [default: threads]",
    metavar="NAME",
)
@option("--chunk-seconds", Number(), "", default=CHUNK_SECONDS, hidden=True)
@files
@switch(
    "--transitions",
    "For bottleneck: locate the phase transitions by certified bisection, print them, and mark them in --plot.",
)
@options.notation
@options.threads
@as_json
@click.pass_context
def frontier(
    context: click.Context,
    /,
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    problem: str,
    grid: tuple[float, float, int] | None,
    grid_values: tuple[float, ...] | None,
    solver: str | None,
    certify: float | None,
    points: int | None,
    max_leakage_bits: tuple[float, ...] | None,
    store: Path | None,
    engine: str | None,
    chunk_seconds: float,
    out: Path | None,
    plot: Path | None,
    transitions: bool,
    report: Path | None,
    notation: str,
    as_json: bool,
    **rest: Any,
) -> None:
    r"""Solve --problem for a grid of parameters and show the best encoder of each: I(X;Z), I(Y;Z) and how it was found.

    JOINT is a built-in name (infoplane datasets lists them); a table of samples or counts, .csv or .parquet, with --x and
    --y; or the matrix p(x,y) itself, with --matrix.

    With --store, a command that was interrupted or killed continues when it is repeated; infoplane status shows how far
    it has come. Exit code 4 means that the best run of some parameter did not converge, or is not certified as --certify
    asks.

    \b
    Examples:
      infoplane frontier heart --plot plane.png
      infoplane frontier heart --problem funnel --grid 0.5:20:20 --solver pf-2v --out funnel.npz
      infoplane frontier heart --certify --transitions --plot plane.png
      infoplane frontier heart --points 40 --certify --store heart.db --report heart.html
      infoplane frontier adult.csv --x education,occupation --keep income --hide sex --grid 0.1:30:8 --plot plane.png
      infoplane frontier heart --problem funnel --max-leakage-bits 0,0.001,0.01,0.05 --plot caps.png
      infoplane frontier counts.csv --x word --y topic --count n --grid-values 0.1,0.2,0.5 --json
    """
    source, settings, fixed = Source.of(rest), options.make_run(rest), taken(rest, options.FIXED)
    if max_leakage_bits is not None:
        given = (source, keep, hide, problem, max_leakage_bits, certify, settings.clusters, options.proof_limits(rest))
        frontier_of_caps(context, *given, out, plot, as_json)
        return
    tasks = None
    if keep or hide:
        if problem != bottleneck.name or transitions:
            raise click.UsageError(
                "--keep and --hide are a problem of their own, swept along beta: leave out --problem, and --transitions, whose bisection "
                "is along a bottleneck's gamma."
            )
        problem = task_funnel.name.replace("_", "-")
        tasks, family, parameters, problems = task_sweep(source, keep, hide, grid, grid_values, points)
    else:
        family, parameters, problems = options.make_family(problem, fixed, grid, grid_values, notation)
    if transitions and not is_bottleneck(problems[0]):
        raise click.UsageError(f"--transitions belongs to --problem bottleneck, not to {problem}.")
    proof = options.make_proof(certify, rest)
    chosen = options.choose(solver, rest)
    solvers = runner_and_prover(chosen, problems, proof, along_a_path=True, capped=settings.clusters is not None)
    joint: Any = source.load() if tasks is None else tasks
    with interruptible() as interruption, output.one_line_warnings():
        if tasks is None:
            options.prepare(problems[0], interruption, *solvers)
        if parameters is None:
            points = points or options.PROBLEMS[problem].points or 0
            with working("range of the grid", lines=True) as heard:
                parameters = default_grid(joint, family, points, heard)
            output.note(f"{options.range_text(problem, parameters, notation)}, {points} points along the curve")
        with resumable(store), bar(points or len(parameters), problem, lines=True) as tell:
            found = sweep(
                joint,
                family,
                parameters,
                chosen,
                **vars(settings),
                engine=engine,
                store=store,
                points=points,
                progress=tell,
                chunk_seconds=chunk_seconds,
                **vars(proof),
            )
    changes = phase_transitions(found, parameters) if transitions else None
    present(found, source.title, problem, settings.rng, (out, plot, report), as_json, changes, notation)
    if not found.complete:
        kept = f"All finished runs are in {store}: repeat the same command to continue."
        output.note(
            f"Interrupted: {len(found.best_rows())} of {points or len(parameters)} parameters were finished. "
            f"{'Nothing is kept without --store.' if store is None else kept}"
        )
        context.exit(interruption.code)
    exit_unless_good(context, found, certify)


def task_sweep(
    source: Source,
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    grid: tuple[float, float, int] | None,
    values: tuple[float, ...] | None,
    points: int | None,
) -> tuple[TaskJoint, ProblemFamily, Array | None, list[MarkovLagrangian]]:
    """With --keep and --hide: the joint; the family with its own small gamma, its betas, and the problems there."""
    options.check_both(keep, hide)
    if grid is not None and values is not None:
        raise click.UsageError("give --grid or --grid-values, not both.")
    tasks = source.load(keep, hide)
    if grid is None and values is None and points is not None:  # a quarter of them; refinement places the others
        grid = TASK_GRID[0], TASK_GRID[-1], min(points, max(3, points // 4))
    betas = np.geomspace(*grid) if grid is not None else np.array(TASK_GRID if values is None else values)
    family = family_on(tasks.joint, task_funnel)
    return tasks, family, betas, [family(float(beta)) for beta in betas]


def present(
    found: Frontier,
    title: str,
    problem: str,
    seed: Seed,
    files: tuple[Path | None, Path | None, Path | None],
    as_json: bool,
    changes: Sequence[Transition] | None = None,
    notation: str = NOTATIONS[0],
) -> None:
    """Write the files that were asked for, --out, --plot and --report, and print a JSON object, or a table, with any transitions."""
    if found.runs:
        write(found, title, *files, changes or (), notation)
    if as_json:
        said = {} if changes is None else {"transitions": [transition_record(change) for change in changes]}
        output.print_json(record(found, problem, seed) | said)
    elif found.runs:
        output.print_table(as_table(found, f"{problem.replace('-', ' ')} frontier of {title}", notation), EXPENDABLE)
        for sentence in (found.held_back, found.reused):
            if sentence is not None:
                click.echo(sentence)
        for change in changes or ():
            output.say(f"transition: {change}")
        if is_enclosed(found.runs):
            output.say(f"enclosure: {found.enclosure()}")


def phase_transitions(found: Frontier, gammas: Array) -> list[Transition]:
    """The phase transitions between the smallest and the largest gamma of a grid; none of a sweep that was cut short."""
    from ..frontier.transitions import transitions

    return transitions(found.joint, float(gammas.min()), float(gammas.max())) if found.complete else []


def transition_record(change: Transition) -> dict[str, Any]:
    """What the JSON object says of a transition."""
    return {
        "gamma_low": change.low,
        "gamma_high": change.high,
        "clusters_below": change.clusters_below,
        "clusters_above": change.clusters_above,
        "found": change.found,
    }


@contextmanager
def resumable(store: Path | None) -> Iterator[None]:
    """With a store, lost workers end the command as Ctrl-C does, and a full disk with its own code: repeated, it continues."""
    try:
        yield
    except (EngineError, StoreWriteError) as error:
        if store is None or not error.resumable:
            raise
        end = CannotWrite if isinstance(error, StoreWriteError) else Interrupted
        raise end(f"{error} All runs finished before are in {store}.") from error


def write(
    found: Frontier,
    title: str,
    out: Path | None,
    plot: Path | None,
    report: Path | None = None,
    transitions: Sequence[Transition] = (),
    notation: str = NOTATIONS[0],
) -> None:
    """Write the files that were asked for."""
    family = found.runs[0].problem.family.replace("_", " ").capitalize()
    output.write_frontier(found, out)
    if plot is not None:
        from ..view.plot import plot_planes

        planes = [(f"{family} of {title}", found)]
        output.write(plot, partial(plot_planes, planes, transitions=transitions, notation=notation))
    output.write(report, partial(found.report, title=f"{family} frontier of {title}", notation=notation))


def exit_unless_good(context: click.Context, found: Frontier, certify: float | None) -> None:
    """Exit code 4 if the best encoder of some parameter is not stationary there, or has no proof although one was asked for."""
    best = [answer.run for answer in found.best_answers()]
    moving = [run for run in best if not run.status.converged]
    unproven = [] if certify is None else [run for run in best if run.status is not Status.CERTIFIED]
    if moving:
        output.note(
            f"Not converged: the best run of {len(moving)} of {len(best)} parameters. The first, {moving[0].parameter:.4g}: "
            f"{moving[0].message}."
        )
    elif unproven:
        worst = max(unproven, key=lambda run: math.inf if run.gap is None else run.gap)
        gap = "no lower bound" if worst.gap is None else f"a gap of {worst.gap:.1e} nats"
        output.note(
            f"Not certified: the best run of {len(unproven)} of {len(best)} parameters. The widest, {worst.parameter:.4g}, has {gap}; "
            f"{certify:g} was asked for."
        )
    if moving or unproven:
        context.exit(NOT_CONVERGED)


def as_table(found: Frontier, title: str, notation: str = NOTATIONS[0]) -> output.TextTable:
    """One row per parameter: its best encoder, how many of its runs converged, and the seconds of all."""
    solvers = dict.fromkeys(run.solver for run in found.runs)
    starts = max(run.start for run in found.runs) + 1
    runs = f"{counted(starts, 'start')} of {', '.join(solvers)}"
    written = found.runs[0].problem.record.notation(notation)
    names = [f"{name}\n[bits]" for name in found.runs[0].plane_names]
    made = output.TextTable(f"{title}: {runs}", (written.name, COLUMNS[1], *names, *COLUMNS[4:]), left=("best run", ""))
    pareto = [found.runs[row] for row in found.pareto_rows()]
    by_parameter: dict[float, list[Solution]] = {}
    for run in found.runs:
        by_parameter.setdefault(run.parameter, []).append(run)
    for answer in sorted(found.best_answers(), key=lambda answer: written.of(answer.run.parameter)):
        run, same = answer.run, by_parameter[answer.run.parameter]
        # Starts that end at the same point differ by rounding, and only one of them is in the Pareto set.
        remarks = ["Pareto"] if any(abs(one.ixz - run.ixz) + abs(one.iyz - run.iyz) < 1e-6 for one in pareto) else []
        remarks += [f"found at {written.of(answer.found_at):.4g}"] if answer.is_moved else []
        made.add_row(
            f"{written.of(run.parameter):.4g}",
            rounded(run.loss),
            *(rounded(bits(nats)) for nats in run.plane),
            str(run.clusters),
            run.status.name.lower().replace("_", " "),
            f"{run.iterations:,}",
            f"{sum(one.status.converged for one in same)}/{len(same)}",
            f"{sum(one.seconds for one in same):.2f}",
            ", ".join(remarks),
        )
    return made


def record(found: Frontier, problem: str, seed: Seed) -> dict[str, Any]:
    """The JSON object of ``frontier``: a record per run, and one per parameter of its best encoder, as `Frontier.best` has it.

    ``best`` and ``pareto`` hold numbers of runs; of an encoder that was found at another parameter, that of the run that found it.
    """
    best = found.best()
    return {
        "problem": problem,
        "complete": found.complete,
        "converged": len(best) > 0 and all(answer.run.status.converged for answer in found.best_answers()),
        "seed": seed,
        **output.joint_record(found.joint),
        "best": best.index.tolist(),
        "pareto": found.pareto_rows(),
        "enclosure_gap_bits": found.enclosure().gap_bits if is_enclosed(found.runs) else None,
        "answers": output.records(best),
        "runs": output.records(found.to_frame()),
    }
