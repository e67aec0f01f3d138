"""``infoplane solve``: one encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import click

from ..certificate.certificate import Limits
from ..certificate.funnel.leakage import CappedFunnel
from ..datasets import paper_uniform
from ..encoder.encoder import by_mass, predicted
from ..formatting import SHOWN_ROWS, counted, label_text, rounded
from ..frontier.confident import ConfidentFunnel
from ..frontier.leakage import funnel_at_leakage
from ..information import NATS_PER_BIT, bits
from ..joint.task_joint import TaskJoint
from ..problem import NOTATIONS, MarkovLagrangian, bottleneck, family_of, funnel
from ..results import Status
from ..solution import Solution
from ..solve import solve as run
from ..solvers.job import RunOptions, Seed
from ..solvers.registry import runner_and_prover
from ..sweep.progress import working
from . import options, output
from .exit_codes import NOT_CONVERGED, interruptible
from .flags import ARCHIVES, TABLES, Number, as_json, flag_of, option, switch, written
from .inputs import Source, joint_options, task_options
from .options import plugin
from .task_solve import TaskRequest, solve_tasks


@click.command(epilog=options.LISTS)
@joint_options
@task_options
@switch(
    "--side-information",
    "With --keep and --hide: the bottleneck with side information (Chechik, Tishby 2002), at --gamma, --beta the weight of I(S;Z).",
)
@options.one_problem
@options.one_solver
@plugin
@options.run_options
@options.certify
@option(
    "--max-leakage-bits",
    Number(least=0.0),
    "For the funnel, instead of --beta: the largest I(X;Z) whose I(Y;Z) is at most this, with a bound on what is missed.",
    metavar="BITS",
)
@option(
    "--confidence",
    Number(),
    "With --max-leakage-bits: the cap holds in the population the records were drawn from, with this confidence, such as 0.95. Half of the "
    "records, drawn by --seed, are kept back to test it.",
    metavar="SHARE",
)
@written(
    "--out",
    ARCHIVES,
    "The encoder: .csv or .parquet with one row per x and one column per cluster, or .npz with labels and p(x,y). infoplane efficiency "
    "reads it as a system.",
)
@written(
    "--labels",
    TABLES,
    "The cluster of every x, the one with the largest p(z|x): .csv or .parquet with the columns of X and the column cluster.",
)
@output.escape_formulas
@options.threads
@as_json
@click.pass_context
def solve(
    context: click.Context,
    /,
    source: Source,
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    side_information: bool,
    problem: str,
    solver: str | None,
    certify: float | None,
    max_leakage_bits: float | None,
    confidence: float | None,
    out: Path | None,
    labels: Path | None,
    as_json: bool,
    **rest: Any,
) -> None:
    r"""Find one encoder p(z|x) for JOINT that minimises --problem: the best of several runs.

    JOINT is a built-in name (infoplane datasets lists them); a table of samples or counts, .csv, .parquet, .feather,
    .xlsx, .jsonl or sqlite:///file.db?table, with --x and --y; a table of counts with labels in its first column and row; or the
    matrix p(x,y) itself, with --matrix. Texts may have commas, semicolons or tabs, may be compressed (.gz), and - is standard
    input. NA and null are labels like any other; an empty cell is an error unless --missing says otherwise.

    Exit code 4 means that the answer is printed but did not converge, is not certified as --certify asks, or is constant because no
    other release passes with --confidence.

    \b
    Examples:
      infoplane solve heart --gamma 0.2
      infoplane solve heart --gamma 0.2 --certify --out encoder.csv --labels clusters.csv
      infoplane solve heart --problem funnel --beta 3.5 --solver pf-2v --json
      infoplane solve heart --problem funnel --max-leakage-bits 0.01
      infoplane solve people.csv --x age,job --y ill --problem funnel --max-leakage-bits 0.01 --confidence 0.95
      infoplane solve adult.csv --x education,occupation --keep income --hide sex --count count --max-leakage-bits 0.01
      infoplane solve patients.csv --x age,drug --y outcome --gamma 0.3
      infoplane solve p_xy.npy --matrix --problem lagrangian --rho -0.8,-0.2,1
    """
    settings = options.make_run(rest)
    if keep or hide:
        if problem != bottleneck.name or confidence is not None:
            raise click.UsageError(
                "--keep and --hide are a problem of their own: leave out --problem and --confidence."
            )
        asked = TaskRequest(source, keep, hide, max_leakage_bits, certify, solver, out, labels, side_information)
        tasks(context, asked, settings, rest, as_json)
        return
    if side_information:
        raise click.UsageError("--side-information goes with --keep and --hide.")
    if max_leakage_bits is not None:
        target = Cap(max_leakage_bits, confidence, certify)
        capped(context, source, problem, target, out, labels, as_json, rest, solver, settings.rng)
        return
    if confidence is not None:
        raise click.UsageError("--confidence goes with --problem funnel and --max-leakage-bits.")
    notation = "gamma" if rest["beta"] is None else "beta"
    wanted = options.make_problem(problem, options.taken(rest, options.PROBLEM_OPTIONS))
    proof = options.make_proof(certify, rest)
    chosen = options.choose(solver, rest)
    runner_and_prover(chosen, [wanted], proof)  # what cannot be solved or proven is refused before data is read
    joint = source.load()
    with interruptible(awaits_an_answer=True) as interruption, output.one_line_warnings():
        solvers = runner_and_prover(chosen, [wanted], proof, capped=settings.clusters is not None)
        output.prepare(wanted, interruption, *solvers)
        with working("solving", lines=True) as tell:
            found = run(
                joint,
                wanted,
                chosen,
                **vars(settings),
                callback=tell,
                **vars(proof),
            )
        interrupted = interruption.seen
    output.write_solution(found, out, labels)
    if as_json:
        output.print_json(record(found, settings.rng))
    else:
        show(found, source.title, notation)
    if interrupted or found.status is Status.INTERRUPTED:
        output.note("Interrupted: this is the best encoder found by then.")
        context.exit(interruption.code)
    if not found.converged:
        output.note(f"Not converged: {found.message}.")
        context.exit(NOT_CONVERGED)
    if certify is not None and found.status is not Status.CERTIFIED:
        held = f"best found with {counted(found.clusters, 'cluster')}, the cap; without one " if found.at_cap else ""
        output.note(
            f"Not certified: {held}the optimum may be {found.gap:.1e} nats lower, and {certify:g} was asked for."
        )
        context.exit(NOT_CONVERGED)


def tasks(
    context: click.Context, asked: TaskRequest, settings: RunOptions, rest: dict[str, Any], as_json: bool
) -> None:
    """``--keep`` and ``--hide``: one target kept, another hidden, at --beta or within --max-leakage-bits."""
    found, cap, interrupted = solve_tasks(asked, settings, rest)
    output.write_solution(found, asked.out, asked.labels)
    if as_json:
        told = record(found, settings.rng)
        if cap is not None:
            held = cap.leakage_bound
            told = {"about": cap.about or None} | told | {
                "max_isz_bits": bits(cap.max_isz), "upper_bound_iuz_bits": bits(cap.upper_bound), "gap_bits": bits(cap.gap),
                "leakage_bound_bits": None if held is None else bits(held.bound),
            }  # fmt: skip
        output.print_json(told)
    else:
        if cap is not None and cap.about:
            output.say(f"{cap.about}.")
        show(found, asked.source.title)
        if cap is not None:
            output.say(str(cap).splitlines()[-1])
    if interrupted is not None:
        output.note("Interrupted: this is the best encoder found by then.")
        context.exit(interrupted)
    certified = found.status is Status.CERTIFIED if cap is None else cap.certified
    if not (certified if asked.certify is not None else found.converged or cap is not None):
        output.note(f"Not {'converged' if asked.certify is None else 'certified'}: {found.message}.")
        context.exit(NOT_CONVERGED)


class Cap(NamedTuple):
    """What ``--max-leakage-bits`` is asked for with."""

    bits: float
    confidence: float | None
    certify: float | None


def capped(
    context: click.Context,
    source: Source,
    problem: str,
    cap: Cap,
    out: Path | None,
    labels: Path | None,
    as_json: bool,
    rest: dict[str, Any],
    solver: str | None,
    seed: Seed,
) -> None:
    """``--max-leakage-bits``: the most informative release whose leakage is at most the cap."""
    given = [flag_of(name) for name in options.PROBLEM_OPTIONS if rest[name] is not None]
    given += [] if solver is None else ["--solver"]
    if problem != funnel.name or given:
        raise click.UsageError(
            f"--max-leakage-bits goes with --problem funnel and takes the place of --beta and --solver; found --problem {problem}"
            + "".join(f", {name}" for name in given)
            + "."
        )
    if cap.confidence is not None and cap.certify is not None:
        raise click.UsageError("--confidence is about the population, --certify about this table: give one of them.")
    limits = {name: rest[name] for name in options.PROOF_LIMITS if rest[name] is not None}
    joint = source.load()
    with interruptible(awaits_an_answer=True) as interruption, output.one_line_warnings():
        funnel_at_leakage(paper_uniform(), 0.01, max_seconds=1.0)  # compiles, so that the limits are all for the answer
        interruption.check()
        nats = cap.bits * NATS_PER_BIT
        found: CappedFunnel | ConfidentFunnel
        with working("solving and testing" if cap.confidence else "solving and proving", lines=True):
            if cap.confidence is None:
                found = funnel_at_leakage(joint, nats, tol=cap.certify or Limits.tol, **limits)
            else:
                found = funnel_at_leakage(joint, nats, confidence=cap.confidence, rng=seed, **limits)
        interrupted = interruption.seen
    answer = found.solution
    output.write_solution(answer, out, labels)
    if as_json:
        # What the numbers are about comes first.
        output.print_json({"about": found.about or None} | record(answer, seed) | capped_record(found, cap.bits))
    else:
        if found.about:
            output.say(f"{found.about}.")
        show(answer, source.title, warned=bool(found.about))
        if (last := str(found).splitlines()[-1]) not in found.about:
            output.say(last)
    if interrupted:
        output.note("Interrupted: this is the best release found by then, within the cap.")
        context.exit(interruption.code)
    if isinstance(found, ConfidentFunnel):
        if not found.chosen:
            output.note("Nothing but a constant release passes with this confidence.")
            context.exit(NOT_CONVERGED)
    elif cap.certify is not None and not found.certified:
        output.note(f"Not certified: the gap is {found.gap:.1e} nats, {cap.certify:g} was asked for.")
        context.exit(NOT_CONVERGED)


def capped_record(found: CappedFunnel | ConfidentFunnel, cap: float) -> dict[str, Any]:
    """What the JSON object of a capped release has beside that of its encoder."""
    held = found.leakage_bound
    said = {
        "max_iyz_bits": cap,
        "leakage_bound_bits": None if held is None else bits(held.bound),
        "leakage_bound_pooled": None if held is None else list(held.pooled),
        "leakage_bound_made_from_these_records": None if held is None else held.seen,
    }
    if isinstance(found, CappedFunnel):
        return said | {"upper_bound_ixz_bits": bits(found.upper_bound), "gap_bits": bits(found.gap)}
    return said | {
        "confidence": found.confidence,
        "least_cap_bits": None if found.least_cap is None else bits(found.least_cap),
        "fitted_records": found.fitted_on.records,
        "tested_records": found.tested_on.records,
        "chosen": found.chosen,
        "path": [
            {
                "max_iyz_bits": bits(step.max_iyz),
                "clusters": step.clusters,
                "ixz_bits": bits(step.ixz),
                "predicted_bound_bits": bits(step.predicted),
                "bound_bits": None if step.bound is None else bits(step.bound.bound),
            }
            for step in found.path
        ],
    }


def record(found: Solution, seed: Seed) -> dict[str, Any]:
    """The JSON object of ``solve``; the encoder has one row per cluster and one column per x."""
    return {
        "problem": output.problem_record(found.problem),
        "solver": found.solver,
        "status": found.status.name,
        "message": found.message,
        "converged": found.converged,
        "loss_nats": found.loss,
        "ixz_bits": bits(found.ixz),
        **(
            {"iyz_bits": bits(found.iyz)}
            if found.problem.single_target
            else {"iuz_bits": bits(found.iuz), "isz_bits": bits(found.isz)}
        ),
        "lower_bound_nats": found.lower_bound,
        "gap_nats": found.gap,
        "iterations": found.iterations,
        "seconds": found.seconds,
        "residuals": found.residuals._asdict(),
        "clusters": found.clusters,
        "cluster_cap": found.cluster_cap,
        "at_cap": found.at_cap,
        "died": found.died,
        "seed": seed,
        "start": found.start,
        "starts": [
            {"loss_nats": one.loss, "status": one.status.name, "iterations": one.iterations} for one in found.starts
        ],
        **output.joint_record(found.joint),
        "point_caution": found.caution,
        "encoder": found.encoder,
    }


def parameter_of(problem: MarkovLagrangian, notation: str) -> str:
    """The parameter with its name, " at beta 3.5", as the user wrote it; nothing if it has none."""
    if problem.parameter is None:
        return ""
    written = family_of(problem).notation(notation)
    return f" at {written.name} {written.of(problem.parameter):g}"


def show(found: Solution, title: str, notation: str = NOTATIONS[0], *, warned: bool = False) -> None:
    """Print the numbers, and the letters of each cluster; the caution, unless the reader was ``warned``."""
    parameter = parameter_of(found.problem, notation)
    converged = sum(one.status.converged for one in found.starts)
    residuals = found.residuals
    facts = [
        ("loss", f"{rounded(found.loss, 9)} nats"),
        *(
            ()
            if found.lower_bound is None
            else (("proven", f"the optimum is at least {rounded(found.lower_bound, 9)}; gap {found.gap:.1e} nats"),)
        ),
        ("I(X;Z)", f"{rounded(bits(found.ixz), 9)} bits of H(X) = {bits(found.joint.entropy_x):.6f}"),
        *_of_y(found),
        ("status", found.message),
        (
            "residuals",
            f"primal {residuals.primal:.1e}, dual {residuals.dual:.1e}, stationarity {residuals.stationarity:.1e}",
        ),
        ("found by", f"{found.solver}, start {found.start}, {counted(found.iterations, 'iteration')}"),
        (
            ("starts", f"{converged} of {len(found.starts)} converged, {found.seconds:.2f} s in all")
            if found.starts
            else ("time", f"{found.seconds:.2f} s")
        ),
        *(() if found.caution is None or warned else (("caution", found.caution),)),
    ]
    output.print_facts(f"{found.problem.family.replace('_', ' ')}{parameter} of {title}", facts)
    output.print_table(cluster_table(found))


def _of_y(found: Solution) -> list[tuple[str, str]]:
    """What is said of Y, or of what is kept and of what is hidden."""
    if found.problem.single_target:
        return [
            ("I(Y;Z)", f"{rounded(bits(found.iyz), 9)} bits of I(X;Y) = {bits(found.joint.mutual_information):.6f}")
        ]
    both = TaskJoint.of(found.joint)
    return [
        ("kept, I(U;Z)", f"{rounded(bits(found.iuz), 9)} bits of I(U;X) = {bits(both.keep.mutual_information):.6f}"),
        ("told, I(S;Z)", f"{rounded(bits(found.isz), 9)} bits of I(S;X) = {bits(both.hide.mutual_information):.6f}"),
    ]


def cluster_table(found: Solution) -> output.TextTable:
    """The clusters by mass: what each predicts, and which letters are typical of it."""
    joint, columns = found.joint, ("z", "p(z)", "p(y|z)", "most typical x, with p(z|x)")
    died = f", {found.died} died" if found.died else ""
    if found.at_cap:
        died += "; as many as allowed, more may have a lower loss"
    order = ", largest first" if found.clusters > 1 else ""
    made = output.TextTable(f"{counted(found.clusters, 'cluster')}{order}{died}", columns, left=columns[2:])
    for one in by_mass(joint, found.encoder, 4, SHOWN_ROWS):
        shown = [f"{label_text(joint.x_labels[x], 40)} {found.encoder[one.z, x]:.2f}" for x in one.typical]
        more = max(one.letters - len(shown), 0)
        text = "; ".join(shown) + (f"; {more:,} more" if more else "")
        made.add_row(
            str(one.z),
            f"{one.mass:.4f}" if one.mass >= 5e-5 else f"{one.mass:.0e}",
            predicted(one, joint.y_labels, 3),
            text,
        )
    if found.clusters > SHOWN_ROWS:
        made.add_row("...", "", "", f"{counted(found.clusters - SHOWN_ROWS, 'smaller one')}; --json and --out have all")
    return made
