"""``infoplane frontier``: the best encoder for every parameter of a grid; ``compare``: several solvers on the same problems."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from statistics import fmean, median
from typing import Any

import click
import numpy as np

from ..errors import InvalidOptionError, StoreWriteError
from ..formatting import counted, rounded
from ..frontier.frontier import Frontier
from ..frontier.geometry import is_enclosed
from ..frontier.transitions import Transition, transitions
from ..information import Array, bits
from ..joint.task_joint import TaskJoint
from ..problem import NOTATIONS, MarkovLagrangian, Notation, ProblemFamily, bottleneck, is_bottleneck
from ..solution import Solution, Status
from ..solve import runner_and_prover
from ..solvers.job import Seed
from ..solvers.registry import SOLVERS, resolve
from ..sweep.compare import bounded, candidates, compared, run_each
from ..sweep.engine import CHUNK_SECONDS, EngineError
from ..sweep.grid import default_grid, natural_range
from ..sweep.progress import bar, working
from ..sweep.sweep import sweep
from ..task_problem import TASK_GRID, family_on, task_funnel
from ..view.plot import plot_planes
from . import options, output
from .caps import frontier_of_caps
from .flags import Request, Whole, as_json, command, flag_of, numbers, option, several, switch, written
from .options import Source, joint_options, task_options

report_page = written("--report", "report", "One HTML page to look at offline: .html.")

files = several(
    written("--out", "archive", "Every run, as .csv, .parquet, or .npz with encoders."),
    written("--plot", "picture", "Picture of the information plane: .png, .svg or .pdf."),
    report_page,
)
"""What ``frontier`` and ``resume`` write."""


@command(cls=options.Listing)
@joint_options
@task_options
@options.family_of_problems
@options.one_solver
@option(
    "--points",
    Whole(min=2),
    "Add parameters to the grid until there are N, where the curve is long: they end evenly spaced along it.",
)
@option(
    "--max-leakage-bits BITS,...",
    numbers(least=0.0),
    "For --problem funnel, or with --keep and --hide: the most that is kept under each of these caps on what is told of the secret, with "
    "its proof, in place of a grid.",
)
@option(
    "--store", Path, "Write every finished run to this file; the same command then continues where it was interrupted."
)
@option(
    "--engine NAME", str, "Where runs go: threads, dask (workers on this machine) or dask:ADDRESS.  [default: threads]"
)
@option("--chunk-seconds", float, "", default=CHUNK_SECONDS, hidden=True)
@files
@switch(
    "--transitions",
    "For bottleneck: locate the phase transitions by certified bisection, print them, and mark them in --plot.",
)
@options.notation
@options.threads
@as_json
def frontier(asked: Request) -> None:
    """Solve --problem for a grid of parameters and show the best encoder of each: I(X;Z), I(Y;Z) and how it was found.

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
    source = Source.of(asked)
    if asked.max_leakage_bits is not None:
        frontier_of_caps(source, asked)
        return
    settings, proof, problem, points = options.make_run(asked), options.make_proof(asked), asked.problem, asked.points
    joint: Any = None
    if asked.keep or asked.hide:
        problem = task_funnel.name.replace("_", "-")
        joint, family, parameters, problems = task_sweep(source, asked)
    else:
        family, parameters, problems = options.make_family(asked)
    if asked.transitions and not is_bottleneck(problems[0]):
        raise click.UsageError(f"--transitions belongs to --problem bottleneck, not to {problem}.")
    chosen = options.choose(asked)
    solvers = runner_and_prover(chosen, problems, proof, along_a_path=True, capped=settings.clusters is not None)
    joint = source.load() if joint is None else joint
    with output.at_work():
        if not isinstance(joint, TaskJoint):
            options.prepare(problems[0], *solvers)
        if parameters is None:
            points = points or options.PROBLEMS[problem].points or 0
            with working("range of the grid", lines=True) as heard:
                parameters = default_grid(joint, family, points, heard)
            output.note(f"{options.range_text(asked, parameters)}, {points} points along the curve")
        total = points or len(parameters)
        with resumable(asked.store), bar(total, problem, lines=True) as tell:
            found = sweep(
                joint,
                family,
                parameters,
                chosen,
                **vars(settings),
                **asked.of("engine", "store", "chunk_seconds"),
                points=points,
                progress=tell,
                **vars(proof),
            )
    changes = None
    if asked.transitions:  # none are looked for in a sweep that was cut short
        ends = float(parameters.min()), float(parameters.max())
        changes = transitions(found.joint, *ends) if found.complete else []
    present(found, source.title, problem, settings.rng, asked, changes, asked.notation)
    if not found.complete:
        kept = f"All finished runs are in {asked.store}: repeat the same command to continue."
        said = "Nothing is kept without --store." if asked.store is None else kept
        output.end_interrupted(f"{len(found.best_rows())} of {total} parameters were finished. {said}")
    exit_unless_good(found, asked.certify)


def task_sweep(source: Source, asked: Request) -> tuple[TaskJoint, ProblemFamily, Array | None, list[MarkovLagrangian]]:
    """With --keep and --hide, a problem of its own: the joint; the family with its own small gamma, its betas, and the problems there."""
    if asked.problem != bottleneck.name or asked.transitions:
        raise click.UsageError(
            "--keep and --hide are a problem of their own, swept along beta: leave out --problem, and --transitions, whose bisection "
            "is along a bottleneck's gamma."
        )
    options.check_both(asked)
    betas, points = options.given_grid(asked), asked.points
    tasks = source.load(asked.keep, asked.hide)
    if betas is None and points is not None:  # a quarter of them; refinement adds the others
        betas = np.geomspace(TASK_GRID[0], TASK_GRID[-1], min(points, max(3, points // 4)))
    elif betas is None:
        betas = np.array(TASK_GRID)
    family = family_on(tasks.joint, task_funnel)
    return tasks, family, betas, [family(float(beta)) for beta in betas]


def present(
    found: Frontier,
    title: str,
    problem: str,
    seed: Seed,
    asked: Request,
    changes: Sequence[Transition] | None = None,
    notation: str = NOTATIONS[0],
) -> None:
    """Write the files that were asked for, --out, --plot and --report, and print a JSON object, or a table, with any transitions."""
    if found.runs:
        output.write_frontier(found, asked.out)
        draw(found, title, asked.plot, notation, changes or ())
        named = f"{family_said(found)} frontier of {title}"
        output.write(asked.report, partial(found.report, title=named, notation=notation))
    if asked.as_json:
        told = record(found, problem, seed)
        if changes is not None:
            shown = ("clusters_below", "clusters_above", "found")
            told["transitions"] = [
                {"gamma_low": change.low, "gamma_high": change.high, **output.named(change, *shown)}
                for change in changes
            ]
        output.print_json(told)
    elif found.runs:
        print_runs(found, f"{problem.replace('-', ' ')} frontier of {title}", notation)
        for sentence in (found.held_back, found.reused):
            if sentence is not None:
                output.say(sentence)
        for change in changes or ():
            output.say(f"transition: {change}")
        if is_enclosed(found.runs):
            output.say(f"enclosure: {found.enclosure()}")


def draw(found: Frontier, title: str, path: Path | None, notation: str, changes: Sequence[Transition] = ()) -> None:
    """The information plane as a picture, if one was asked for."""
    if path is not None:
        planes = [(f"{family_said(found)} of {title}", found)]
        output.write(path, partial(plot_planes, planes, transitions=changes, notation=notation))


def family_said(found: Frontier) -> str:
    """The family of the first run, at the beginning of a title."""
    return found.runs[0].problem.family.replace("_", " ").capitalize()


@contextmanager
def resumable(store: Path | None) -> Iterator[None]:
    """With a store, lost workers end the command as Ctrl-C does, and a full disk with its own code: repeated, it continues."""
    try:
        yield
    except (EngineError, StoreWriteError) as error:
        if store is None or not error.resumable:
            raise
        code = output.CANNOT_WRITE if isinstance(error, StoreWriteError) else output.INTERRUPTED
        raise output.Ended(f"{error} All runs finished before are in {store}.", code) from error


def exit_unless_good(found: Frontier, certify: float | None) -> None:
    """Exit code 4 if the best encoder of some parameter is not stationary there, or has no proof although one was asked for."""
    best = [answer.run for answer in found.best_answers()]
    if moving := [run for run in best if not run.status.converged]:
        output.end(
            output.NOT_CONVERGED,
            f"Not converged: the best run of {len(moving)} of {len(best)} parameters. The first, {moving[0].parameter:.4g}: "
            f"{moving[0].message}.",
        )
    if certify is not None and (unproven := [run for run in best if run.status is not Status.CERTIFIED]):
        worst = max(unproven, key=lambda run: math.inf if run.gap is None else run.gap)
        gap = "no lower bound" if worst.gap is None else f"a gap of {worst.gap:.1e} nats"
        output.end(
            output.NOT_CONVERGED,
            f"Not certified: the best run of {len(unproven)} of {len(best)} parameters. The widest, {worst.parameter:.4g}, has {gap}; "
            f"{certify:g} was asked for.",
        )


def print_runs(found: Frontier, title: str, notation: str = NOTATIONS[0]) -> None:
    """One row per parameter: its best encoder, how many of its runs converged, and the seconds of all."""
    solvers = dict.fromkeys(run.solver for run in found.runs)
    starts = max(run.start for run in found.runs) + 1
    written = found.runs[0].problem.record.notation(notation)
    pareto = [found.runs[row] for row in found.pareto_rows()]
    by_parameter: dict[float, list[Solution]] = {}
    for run in found.runs:
        by_parameter.setdefault(run.parameter, []).append(run)
    rows = []
    for answer in sorted(found.best_answers(), key=lambda answer: written.of(answer.run.parameter)):
        run, same = answer.run, by_parameter[answer.run.parameter]
        # Starts that end at the same point differ by rounding, and only one of them is in the Pareto set.
        remarks = ["Pareto"] if any(abs(one.ixz - run.ixz) + abs(one.iyz - run.iyz) < 1e-6 for one in pareto) else []
        remarks += [f"found at {written.of(answer.found_at):.4g}"] if answer.is_moved else []
        cells = {
            written.name: f"{written.of(run.parameter):.4g}",
            "loss\n[nats]": rounded(run.loss),
            **{f"{name}\n[bits]": rounded(bits(nats)) for name, nats in zip(run.plane_names, run.plane, strict=True)},
            "|Z|": str(run.clusters),
            "best run": run.status.name.lower().replace("_", " "),
            "iterations": f"{run.iterations:,}",
            "converged": f"{sum(one.status.converged for one in same)}/{len(same)}",
            "seconds": f"{sum(one.seconds for one in same):.2f}",
            "": ", ".join(remarks),
        }
        rows.append(cells)
    title = f"{title}: {counted(starts, 'start')} of {', '.join(solvers)}"
    output.print_table(title, rows, left=("best run", ""), expendable=("seconds", "iterations", "converged", "|Z|"))


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


GAP = "gap to bound\n[nats]"

COMPARED: dict[str, tuple[str, Callable[[Any], str], Callable[[Any], float] | None]] = {
    "best loss\n[nats]": ("loss_nats", rounded, None),
    "above lowest\n[nats]": ("above_lowest_nats", "{:.1e}".format, max),
    GAP: ("gap_nats", "{:.1e}".format, max),
    "I(X;Z)\n[bits]": ("ixz_bits", rounded, None),
    "I(Y;Z)\n[bits]": ("iyz_bits", rounded, None),
    "converged": ("share_converged", "{:.0%}".format, fmean),
    "iterations": ("median_iterations", "{:,.0f}".format, median),
    "seconds": ("seconds", "{:.2f}".format, sum),
}
"""Columns of a comparison: what each shows, how that is written, and what of it is said over all parameters."""

EXPENDABLE = ("iterations", "converged", "seconds", "I(X;Z)\n[bits]", "I(Y;Z)\n[bits]")
"""What a narrow terminal can do without, in this order."""


@command(cls=options.Listing)
@joint_options
@options.family_of_problems
@options.several_solvers
@written("--plot", "picture", "Picture of all on one plane: .png, .svg or .pdf.")
@options.notation
@options.threads
@as_json
def compare(asked: Request) -> None:
    """Run several solvers on the same parameters and starts of JOINT, and compare loss, convergence and time.

    JOINT is given as in infoplane solve. An option such as --penalty goes to every solver that has it. A star marks the
    lowest loss of a parameter, and all losses within 1e-9 nats of it. With --certify the solver that proves optima takes
    part, and the gap of every solver to the proven bound is shown.

    Exit code 4 means that for some parameter no solver's best run converged, or the lowest loss is not certified as
    --certify asks.

    \b
    Examples:
      infoplane compare heart --solver ib-1,ib-2,blahut-arimoto --grid 0.1:1:8
      infoplane compare paper_uniform --problem funnel --solver pf-2v --solver merging --plot planes.png
      infoplane compare heart --plugin mysolvers:Mine --solver mine,accelerated
    """
    source, settings, problem = Source.of(asked), options.make_run(asked), asked.problem
    family, parameters, problems = options.make_family(asked)
    names = list(dict.fromkeys(name for group in asked.solvers for name in group)) or candidates(problems)
    given = options.solver_options(asked)
    chosen = {name: resolve(_configured(name, names, given), *problems) for name in names}
    if asked.certify is not None:
        prover, _ = runner_and_prover(None, problems, options.make_proof(asked))
        chosen[prover.name] = prover
    names = list(chosen)
    joint = source.load()
    with output.at_work():
        if parameters is None:
            with working("range of the grid", lines=True) as heard:
                parameters = np.geomspace(*natural_range(joint, family, heard), options.PROBLEMS[problem].points or 0)
            output.note(f"{options.range_text(asked, parameters)}, {len(parameters)} points spaced geometrically")
        options.prepare(problems[0], *chosen.values())
        found = run_each(joint, family, parameters, chosen, settings, partial(bar, lines=True))
    if asked.certify is not None:
        found = bounded(found, asked.certify)
    together = Frontier(
        joint, [run for one in found.values() for run in one.runs], complete=all(one.complete for one in found.values())
    )
    rows = compared(found)
    if together.runs:
        draw(together, source.title, asked.plot, asked.notation)
    if asked.as_json:
        output.print_json(
            {
                "problem": problem,
                "solvers": names,
                "complete": together.complete,
                "seed": settings.rng,
                "starts": settings.starts,
                **output.joint_record(joint),
                "comparison": rows,
            }
        )
    elif rows:
        title = f"{problem.replace('-', ' ')} of {source.title}: {counted(len(names), 'solver')}"
        print_comparison(rows, title, options.PROBLEMS[problem].notation(asked.notation))
    if not together.complete:
        output.end_interrupted(f"{len(found)} of {len(names)} solvers were begun.")
    exit_unless_good(together, asked.certify)


def _configured(name: str, names: list[str], given: dict[str, Any]) -> Any:
    """A solver with those of the options that it has; an option that none of the solvers has is refused."""
    for key in given:
        if not any(options.has_option(SOLVERS[one], key) for one in names):
            raise InvalidOptionError(f"none of {', '.join(names)} has an option {flag_of(key)}.")
    own = {key: value for key, value in given.items() if options.has_option(SOLVERS[name], key)}
    return options.configured(name, own)


def print_comparison(records: list[dict[str, Any]], title: str, written: Notation) -> None:
    """The records, and at the end one row per solver over all parameters; a column of gaps if any was proven."""
    columns = dict(COMPARED)
    if all(row["gap_nats"] is None for row in records):
        del columns[GAP]
    rows, sections = [], []
    for parameter in sorted({row["parameter"] for row in records}, key=written.of):
        same = [row for row in records if row["parameter"] == parameter]
        for row in same:
            cells = {name: "" if row[key] is None else text_of(row[key]) for name, (key, text_of, _) in columns.items()}
            first = {written.name: f"{written.of(parameter):.4g}", "solver": row["solver"]}
            rows.append(first | cells | {"": "*" if row["winner"] else ""})
        sections.append(len(rows) - 1)
    for solver in dict.fromkeys(row["solver"] for row in records):
        own = [row for row in records if row["solver"] == solver]
        cells = {}
        for name, (key, text_of, over_all) in columns.items():
            values = [row[key] for row in own]
            cells[name] = "" if over_all is None or None in values else text_of(over_all(values))
        rows.append({written.name: "all", "solver": solver, **cells, "": f"{sum(row['winner'] for row in own)}*"})
    output.print_table(title, rows, left=("solver", ""), expendable=EXPENDABLE, sections=sections)
