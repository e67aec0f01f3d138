"""``infoplane compare``: several solvers on the same problems, side by side."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import click
import numpy as np

from ..errors import InvalidOptionError
from ..formatting import counted, rounded
from ..frontier.frontier import Frontier
from ..problem import Notation
from ..solvers.registry import SOLVERS, resolve, runner_and_prover
from ..sweep.compare import bounded, candidates, compared, run_each
from ..sweep.grid import natural_range
from ..sweep.progress import bar, working
from . import options, output
from .flags import PICTURES, as_json, flag_of, taken, written
from .frontier import exit_unless_good, write
from .options import Source, joint_options
from .output import interruptible

GAP = "gap to bound\n[nats]"
COLUMNS = (
    "parameter",
    "solver",
    "best loss\n[nats]",
    "above lowest\n[nats]",
    GAP,
    "I(X;Z)\n[bits]",
    "I(Y;Z)\n[bits]",
    "converged",
    "iterations",
    "seconds",
    "",
)
EXPENDABLE = ("iterations", "converged", "seconds", "I(X;Z)\n[bits]", "I(Y;Z)\n[bits]")
"""What a narrow terminal can do without, in this order."""


@click.command(cls=options.Listing)
@joint_options
@options.family_of_problems
@options.several_solvers
@options.plugin
@options.run_options
@options.certify
@written("--plot", PICTURES, "Picture of all on one plane: .png, .svg or .pdf.")
@options.notation
@options.threads
@as_json
@click.pass_context
def compare(
    context: click.Context,
    /,
    problem: str,
    grid: tuple[float, float, int] | None,
    grid_values: tuple[float, ...] | None,
    solvers: tuple[tuple[str, ...], ...],
    certify: float | None,
    plot: Path | None,
    notation: str,
    as_json: bool,
    **rest: Any,
) -> None:
    r"""Run several solvers on the same parameters and starts of JOINT, and compare loss, convergence and time.

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
    source, settings, fixed = Source.of(rest), options.make_run(rest), taken(rest, options.FIXED)
    family, parameters, problems = options.make_family(problem, fixed, grid, grid_values, notation)
    names = list(dict.fromkeys(name for group in solvers for name in group)) or candidates(problems)
    proof = options.make_proof(certify, rest)
    chosen = {name: resolve(_configured(name, names, rest), *problems) for name in names}
    if certify is not None:
        prover, _ = runner_and_prover(None, problems, proof)
        chosen[prover.name] = prover
    names = list(chosen)
    joint = source.load()
    with interruptible() as interruption, output.one_line_warnings():
        if parameters is None:
            with working("range of the grid", lines=True) as heard:
                parameters = np.geomspace(*natural_range(joint, family, heard), options.PROBLEMS[problem].points or 0)
            output.note(
                f"{options.range_text(problem, parameters, notation)}, {len(parameters)} points spaced geometrically"
            )
        options.prepare(problems[0], interruption, *chosen.values())
        found = run_each(joint, family, parameters, chosen, settings, partial(bar, lines=True))
    if certify is not None:
        found = bounded(found, certify)
    together = Frontier(
        joint, [run for one in found.values() for run in one.runs], complete=all(one.complete for one in found.values())
    )
    rows = compared(found)
    if together.runs:
        write(together, source.title, None, plot, notation=notation)
    if as_json:
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
        output.print_table(as_table(rows, title, options.PROBLEMS[problem].notation(notation)), EXPENDABLE)
    if not together.complete:
        output.note(f"Interrupted: {len(found)} of {len(names)} solvers were begun.")
        context.exit(interruption.code)
    exit_unless_good(context, together, certify)


def _configured(name: str, names: list[str], given: dict[str, Any]) -> Any:
    """A solver with those of the options that it has; an option that none of the solvers has is refused."""
    for key, value in given.items():
        if value is not None and not any(options.has_option(SOLVERS[one], key) for one in names):
            raise InvalidOptionError(f"none of {', '.join(names)} has an option {flag_of(key)}.")
    return options.configured(
        name, {key: value for key, value in given.items() if options.has_option(SOLVERS[name], key)}
    )


def as_table(rows: list[dict[str, Any]], title: str, written: Notation) -> output.TextTable:
    """The records, and at the end one row per solver over all parameters; a column of gaps if any was proven."""
    hidden = () if any(row["gap_nats"] is not None for row in rows) else (GAP,)
    made = output.TextTable(title, (written.name, *COLUMNS[1:]), left=("solver", ""), hidden=hidden)
    rows = sorted(rows, key=lambda row: written.of(row["parameter"]))
    for index, row in enumerate(rows):
        last = index + 1 == len(rows) or rows[index + 1]["parameter"] != row["parameter"]
        made.add_row(
            f"{written.of(row['parameter']):.4g}",
            row["solver"],
            rounded(row["loss_nats"]),
            f"{row['above_lowest_nats']:.1e}",
            _gap(row["gap_nats"]),
            rounded(row["ixz_bits"]),
            rounded(row["iyz_bits"]),
            f"{row['share_converged']:.0%}",
            f"{row['median_iterations']:,.0f}",
            f"{row['seconds']:.2f}",
            "*" if row["winner"] else "",
            end_section=last,
        )
    for name in dict.fromkeys(row["solver"] for row in rows):
        own = [row for row in rows if row["solver"] == name]
        made.add_row(
            "all",
            name,
            "",
            f"{max(row['above_lowest_nats'] for row in own):.1e}",
            _gap(_widest([row["gap_nats"] for row in own])),
            "",
            "",
            f"{sum(row['share_converged'] for row in own) / len(own):.0%}",
            f"{median(row['median_iterations'] for row in own):,.0f}",
            f"{sum(row['seconds'] for row in own):.2f}",
            f"{sum(row['winner'] for row in own)}*",
        )
    return made


def _widest(gaps: list[float | None]) -> float | None:
    """The largest gap, None if one is unknown."""
    known = [gap for gap in gaps if gap is not None]
    return max(known) if len(known) == len(gaps) else None


def _gap(gap: float | None) -> str:
    return "" if gap is None else f"{gap:.1e}"
