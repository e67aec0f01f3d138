"""``infoplane efficiency``: how far given systems are from the frontier."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np

from ..formatting import alternatives, counted, filled, label_text
from ..frontier.frontier import Frontier
from ..joint.joint import Joint
from ..problem import Notation
from ..sweep.progress import working
from ..systems.curve import KnownCurve
from ..systems.efficiency import MAX_SOLVES, TOL, Placements, place
from ..systems.given import read_systems, systems_of
from ..systems.measures import capacity_prior
from ..view.plot import plot_planes
from . import options, output
from .flags import Request, as_json, command, option, written
from .frontier import report_page
from .options import CAPACITY, Source, joint_options
from .tables import header_of, read_encoder

NAMES = {
    "system": ("system", "language"),
    "item": ("x", "item"),
    "word": ("z", "word", "cluster"),
    "weight": ("count", "weight", "p"),
}
"""Columns of SYSTEMS that are found by these names unless an option says otherwise."""

DISTANCES = [name for name, family in options.PROBLEMS.items() if family.has_posterior_form]


@command()
@joint_options
@click.argument("systems", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@option("--problem", click.Choice(DISTANCES), "Which frontier.", default=DISTANCES[0])
@option("--system COL", str, "Column of SYSTEMS with the system's name  [default: system or language, if there]")
@option(
    "--item COL",
    str,
    "Column with the item x, as often as X has columns  [default: the names of X, else x or item]",
    multiple=True,
)
@option("--word COL", str, "Column with the word z  [default: z, word or cluster]")
@option(
    "--weight COL", str, "Column with counts or probabilities  [default: count, weight or p, if there; else 1 a row]"
)
@option("--max-solves", int, "Most parameters solved for a system.", default=MAX_SOLVES)
@option("--accuracy NATS", float, "To which epsilon is found.", default=TOL)
@option(
    "--bootstrap",
    int,
    "Experiments drawn anew from the counts of namings, for 95% intervals and a test of optimality; 200 will do  [default: none]",
    default=0,
    show_default=False,
)
@option("--seed", int, "Seed of these experiments.", default=0)
@options.certify
@written("--out", "table", "The table, as .csv or .parquet.")
@written("--plot", "picture", "Picture of the systems over the frontier: .png, .svg or .pdf.")
@report_page
@output.escape_formulas
@options.notation
@options.threads
@as_json
def efficiency(asked: Request) -> None:
    """How far is each system from the frontier of JOINT: its I(X;Z), I(Y;Z), the trade-off that it comes closest to, and the loss there.

    SYSTEMS is a table, .csv, .tsv or .parquet, with one row per naming: whose it is, the item x, the word z, and how many
    such namings the row stands for. Hard systems have one row per item. A column of probabilities p(z|x) is a weight, too.
    What infoplane solve writes is a system as it is: --labels clusters.csv, --out encoder.csv, encoder.parquet or encoder.npz.

    epsilon is what the best encoder with the same I(X;Z) says more of Y (for funnel, what it leaks less). It is
    proven of this very encoder from "proven from" on and, with --certify, up to "proven to": no confidence interval.
    Those are of --bootstrap, from counts of namings: "optimal, p" is how often a subject on the frontier shows as much
    epsilon as this one, by chance.

    \b
    Examples:
      infoplane solve heart --gamma 0.2 --labels groups.csv
      infoplane efficiency heart groups.csv
      infoplane efficiency colours naming.csv --prior capacity --plot systems.png
      infoplane efficiency heart encoder.csv
      infoplane efficiency heart trials.csv --bootstrap 200 --notation beta
      infoplane efficiency heart groups.csv --system who --item risk_factors --word group --certify
    """
    source, problem = Source.of(asked), asked.problem
    by_capacity, is_counted = source.prior == CAPACITY, asked.bootstrap > 0
    joint = (replace(source, prior=None) if by_capacity else source).load()
    named = namings(joint, asked, counts=is_counted)
    if by_capacity:
        joint = joint.with_prior(capacity_prior(named, counts=is_counted))
    read = read_systems(joint, named, counts=is_counted)
    family, limits = options.PROBLEMS[problem], {"tol": asked.accuracy, "max_solves": asked.max_solves}
    with output.at_work(), working("placing systems", lines=True):
        placed = place(KnownCurve(joint, family), read, **limits, proof=options.make_proof(asked))
        if is_counted:
            placed = placed.with_noise(asked.bootstrap, np.random.default_rng(asked.seed))
    write(placed, source.title, asked)
    if asked.as_json:
        rows = placed.to_frame().drop(columns="optimum").to_dict("records")
        output.print_json(
            {"problem": problem, "prior": source.prior_said(joint), **output.joint_record(joint), "systems": rows}
        )
    else:
        title = f"{problem} efficiency on {source.title}; p(x): {source.prior_said(joint)}"
        show(placed, title, family.notation(asked.notation))
    exit_unless_proven(placed, asked.certify)


def namings(joint: Joint, asked: Request, *, counts: bool) -> dict[str, Any]:
    """Every system of a table of namings, or of a file that ``solve --out`` wrote, as a frame of p(z|x), or of counts."""
    path, item, roles = asked.systems, asked.item, asked.of("system", "word", "weight")
    is_archive = path.suffix.lower() == ".npz"
    header = [] if is_archive else header_of(path)
    shares = [*joint.x_names, *(f"z{z}" for z in range(len(header) - len(joint.x_names)))]
    if is_archive or (header == shares and not any((*roles.values(), *item))):
        if counts:
            raise click.UsageError(f"--bootstrap needs counts of namings; {path.name} holds an encoder, p(z|x).")
        return encoders_in(path, joint)
    items = item or (joint.x_names if all(name in header for name in joint.x_names) else _first("item", header))
    if not items:
        raise click.UsageError(f"{path.name}: name the column of items with --item, {alternatives('item', header)}.")
    others = [name for name in header if name not in items]
    chosen = {role: given or next(iter(_first(role, others)), None) for role, given in roles.items()}
    if chosen["word"] is None:
        raise click.UsageError(f"{path.name}: name the column of words with --word, {alternatives('word', header)}.")
    by = () if chosen["system"] is None else (chosen["system"],)
    table = Source(str(path), (*by, *items), (chosen["word"],), chosen["weight"]).read()
    return systems_of(table, bool(by), counts, path.stem)


def encoders_in(path: Path, joint: Joint) -> dict[str, Any]:
    """The encoders of a file that ``solve --out`` wrote, or the best ones of a frontier."""
    if path.suffix.lower() != ".npz":
        return {path.stem: read_encoder(path, joint)}
    best = [answer.run for answer in Frontier.load(path).best_answers()]
    return {path.stem if len(best) == 1 else f"{path.stem} {one.parameter:g}": one.encoder_frame() for one in best}


def _first(role: str, header: list[str]) -> tuple[str, ...]:
    """The column that has the role by its name, if there is one."""
    return tuple(name for name in NAMES[role] if name in header)[:1]


def show(placed: Placements, title: str, written: Notation) -> None:
    """One row per system; bits."""
    records = placed.to_frame().to_dict("records")
    for record, one in zip(records, placed.placed, strict=True):
        record["system"] = label_text(record["system"], 30)
        if one.noise is not None:
            record["low"], record["high"] = sorted(map(written.of, one.noise.parameter))
    columns = {
        "system": "{system}",
        "|Z|": "{clusters}",
        "I(X;Z)\n[bits]": "{ixz_bits:.4f}",
        "I(Y;Z)\n[bits]": "{iyz_bits:.4f}",
        written.name: f"{{{written.name}:.4g}}",
        f"{written.name}\n95%": "{low:.4g} to {high:.4g}",
        "epsilon\n[bits]": "{epsilon_bits:z.6f}",
        "epsilon\n95%": "{epsilon_ci_low_bits:.4f} to {epsilon_ci_high_bits:.4f}",
        "optimal,\np": "{on_bound_p:.3f}",
        "proven from\n[bits]": "{epsilon_proven_low_bits:z.6f}",
        "proven to\n[bits]": "{epsilon_proven_high_bits:z.6f}",
        "gNID": "{gnid:.3f}",
        "solves": "{solves}",
    }
    interval = f"{written.name}\n95%"
    left_out = [] if any(math.isfinite(one.high) for one in placed.placed) else ["proven to\n[bits]"]
    left_out += [interval, "epsilon\n95%", "optimal,\np"] if all(one.noise is None for one in placed.placed) else []
    columns = {name: text for name, text in columns.items() if name not in left_out}
    expendable = ("solves", "|Z|", "gNID", "proven from\n[bits]", "I(X;Z)\n[bits]", "I(Y;Z)\n[bits]", interval)
    output.print_table(title, filled(columns, records), left=("system",), expendable=expendable)


def write(placed: Placements, title: str, asked: Request) -> None:
    """Write the files that were asked for."""
    frame, notation = placed.to_frame(), asked.notation
    output.write_table(frame.drop(columns="optimum"), asked.out)
    planes = [(f"{placed.curve.family.title.capitalize()} of {title}", placed.frontier)]
    output.write(asked.plot, partial(plot_planes, planes, systems=frame, notation=notation))
    whole = f"{planes[0][0]} with {counted(len(frame), 'given system')}"
    output.write(asked.report, lambda path: placed.with_systems().report(path, title=whole, notation=notation))


def exit_unless_proven(placed: Placements, certify: float | None) -> None:
    """Exit code 4 if epsilon was not found to the accuracy asked for, or a proof was asked for and has not reached its gap."""
    loose = [one for one in placed.placed if certify is not None and not one.high - one.epsilon <= certify]
    if loose:
        worst = max(loose, key=lambda one: one.high - one.epsilon)
        output.end(
            output.NOT_CONVERGED,
            f"Not certified: epsilon of {len(loose)} of {len(placed.placed)} systems. The widest, {worst.system.name}, may be "
            f"{worst.high - worst.epsilon:.1e} nats more; {certify:g} was asked for.",
        )
