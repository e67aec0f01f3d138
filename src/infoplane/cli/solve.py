"""``infoplane solve``: one encoder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..encoder.encoder import by_mass, predicted
from ..formatting import SHOWN_ROWS, counted, label_text, rounded
from ..frontier.frontier import Frontier
from ..frontier.leakage import ConfidentFunnel
from ..information import bits
from ..joint.joint import Joint
from ..joint.task_joint import TaskJoint
from ..problem import MarkovLagrangian, bottleneck, family_of, funnel
from ..solution import Solution, Status
from ..solve import solve as run
from ..solvers.base import Solver
from ..solvers.job import ProofOptions, Seed
from ..solvers.registry import runner_and_prover
from ..sweep.progress import working
from ..task_problem import TaskLagrangian, side_information_bottleneck, task_funnel
from . import caps, options, output
from .flags import ARCHIVES, TABLES, Number, as_json, flag_of, option, switch, taken, written
from .options import Source, joint_options, task_options
from .output import NOT_CONVERGED, interruptible


@click.command(cls=options.Listing)
@joint_options
@task_options
@switch(
    "--side-information",
    "With --keep and --hide: the bottleneck with side information (Chechik, Tishby 2002), at --gamma, --beta the weight of I(S;Z).",
)
@options.one_problem
@options.one_solver
@options.plugin
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
    source, settings, given = Source.of(rest), options.make_run(rest), taken(rest, options.PROBLEM_OPTIONS)
    notation = "beta" if given["beta"] is not None and not (keep or hide) else "gamma"
    is_capped = max_leakage_bits is not None
    if keep or hide:
        check_tasks(keep, hide, problem, given, side_information, is_capped, confidence, solver)
    else:
        check_target(problem, given, side_information, is_capped, confidence, certify, solver)
    capped: caps.Capped | None = None
    if max_leakage_bits is not None:
        joint = source.load(keep, hide)
        with interruptible(awaits_an_answer=True) as interruption, output.one_line_warnings():
            limits = options.proof_limits(rest)
            capped = caps.solve_one(joint, max_leakage_bits, confidence, certify, settings, limits, interruption)
        found = capped.solution
    else:
        joint, wanted, chosen, proof = posed(
            source, keep, hide, problem, given, side_information, solver, certify, rest
        )
        with interruptible(awaits_an_answer=True) as interruption, output.one_line_warnings():
            if isinstance(joint, Joint):
                solvers = runner_and_prover(chosen, [wanted], proof, capped=settings.clusters is not None)
                options.prepare(wanted, interruption, *solvers)
            with working("solving", lines=True) as tell:
                found = run(joint, wanted, chosen, **vars(settings), callback=tell, **vars(proof))
    write(found, out, labels)
    if as_json:
        told = record(found, settings.rng)
        # What the numbers are about comes first.
        output.print_json(
            told if capped is None else {"about": capped.about or None} | told | caps.record(capped, max_leakage_bits)
        )
    else:
        show(found, source.title, notation, capped)
    if interruption.seen or (capped is None and found.status is Status.INTERRUPTED):
        what = "encoder found by then" if capped is None else "release found by then, within the cap"
        output.note(f"Interrupted: this is the best {what}.")
        context.exit(interruption.code)
    if (missed := shortfall(found, capped, certify)) is not None:
        output.note(missed)
        context.exit(NOT_CONVERGED)


def check_tasks(
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    problem: str,
    given: dict[str, Any],
    side_information: bool,
    is_capped: bool,
    confidence: float | None,
    solver: str | None,
) -> None:
    """What --keep and --hide go with: --beta and perhaps --gamma, or --max-leakage-bits alone."""
    if problem != bottleneck.name or confidence is not None:
        raise click.UsageError("--keep and --hide are a problem of their own: leave out --problem and --confidence.")
    options.check_both(keep, hide)
    others = {name for name, value in given.items() if value is not None} - (set() if is_capped else {"beta", "gamma"})
    if others or (given["beta"] is None) is not is_capped or (is_capped and solver is not None):
        raise click.UsageError(
            "with --keep and --hide give --beta, and --gamma if it is not to be the joint's own small one; or --max-leakage-bits alone."
        )
    if side_information and given["gamma"] is None:
        raise click.UsageError(
            "--side-information needs --gamma, the price of I(X;Z), and --beta, the weight of I(S;Z)."
        )


def check_target(
    problem: str,
    given: dict[str, Any],
    side_information: bool,
    is_capped: bool,
    confidence: float | None,
    certify: float | None,
    solver: str | None,
) -> None:
    """What goes with one target: --max-leakage-bits with the funnel only, --confidence with that."""
    if side_information:
        raise click.UsageError("--side-information goes with --keep and --hide.")
    wrong = [flag_of(name) for name, value in {**given, "solver": solver}.items() if value is not None]
    if is_capped and (problem != funnel.name or wrong):
        found = ", ".join([f"found --problem {problem}", *wrong])
        raise click.UsageError(
            f"--max-leakage-bits goes with --problem funnel and takes the place of --beta and --solver; {found}."
        )
    if is_capped and confidence is not None and certify is not None:
        raise click.UsageError("--confidence is about the population, --certify about this table: give one of them.")
    if confidence is not None and not is_capped:
        raise click.UsageError("--confidence goes with --problem funnel and --max-leakage-bits.")


def posed(
    source: Source,
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    problem: str,
    given: dict[str, Any],
    side_information: bool,
    solver: str | None,
    certify: float | None,
    rest: dict[str, Any],
) -> tuple[Joint | TaskJoint, MarkovLagrangian, Solver | None, ProofOptions]:
    """The joint, its Lagrangian, solver and proof; what cannot be solved or proven is refused, if possible before data is read."""
    tasks = source.load(keep, hide) if keep or hide else None
    if tasks is None:
        wanted = options.make_problem(problem, given)
    else:
        beta, gamma = given["beta"], given["gamma"]
        named = side_information_bottleneck(gamma, beta) if side_information else task_funnel(beta, gamma)
        wanted = named.on(tasks.joint)
    proof = options.make_proof(certify, rest)
    chosen = options.choose(solver, rest)
    runner_and_prover(chosen, [wanted], proof)
    return source.load() if tasks is None else tasks, wanted, chosen, proof


def write(found: Solution, out: Path | None, labels: Path | None) -> None:
    """The files that were asked for: the encoder, one row per x or as `Frontier.load` reads it, and the cluster of every x."""
    if out is not None and out.suffix.lower() == ".npz":
        output.write_frontier(Frontier(found.joint, [found]), out)
    elif out is not None:
        output.write_table(found.encoder_frame().reset_index(), out)
    if labels is not None:
        name = next(name for name in ("cluster", "z", "word") if name not in found.joint.x_names)
        output.write_table(found.labels().rename(name).reset_index(), labels)


def shortfall(found: Solution, capped: caps.Capped | None, certify: float | None) -> str | None:
    """What an answer that is not as good as was asked for lacks, in a sentence."""
    if isinstance(capped, ConfidentFunnel):
        return None if capped.chosen else "Nothing but a constant release passes with this confidence."
    if capped is not None:
        if certify is None or capped.certified:
            return None
        return f"Not certified: the gap is {capped.gap:.1e} nats, {certify:g} was asked for."
    if not found.converged:
        return f"Not converged: {found.message}."
    if certify is None or found.status is Status.CERTIFIED:
        return None
    held = f"best found with {counted(found.clusters, 'cluster')}, the cap; without one " if found.at_cap else ""
    return f"Not certified: {held}the optimum may be {found.gap:.1e} nats lower, and {certify:g} was asked for."


def record(found: Solution, seed: Seed) -> dict[str, Any]:
    """The JSON object of ``solve``; the encoder has one row per cluster and one column per x."""
    return {
        "problem": problem_record(found.problem),
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


def problem_record(problem: MarkovLagrangian) -> dict[str, Any]:
    """Family, parameter and the three coefficients."""
    if isinstance(problem, TaskLagrangian):
        weights = {"gamma": problem.price, "keep": problem.keep, "hide": problem.hide}
    else:
        weights = dict(zip(("rho_z", "rho_zx", "rho_zy"), problem.rho, strict=True))
    return {"family": problem.family, "parameter": problem.parameter, **weights}


def show(found: Solution, title: str, notation: str, capped: caps.Capped | None) -> None:
    """Print the numbers, and the letters of each cluster; under a cap what it is about, first, in place of any caution."""
    about = "" if capped is None else capped.about
    if about:
        output.say(f"{about}.")
    parameter = ""
    if found.problem.parameter is not None:  # as the user wrote it
        written = family_of(found.problem).notation(notation)
        parameter = f" at {written.name} {written.of(found.problem.parameter):g}"
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
        *(() if found.caution is None or about else (("caution", found.caution),)),
    ]
    output.print_facts(f"{found.problem.family.replace('_', ' ')}{parameter} of {title}", facts)
    output.print_table(cluster_table(found))
    if capped is not None and (last := str(capped).splitlines()[-1]) not in about:
        output.say(last)


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
