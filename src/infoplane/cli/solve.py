"""``infoplane solve``: one encoder."""

from __future__ import annotations

from typing import Any

import click

from ..encoder.encoder import by_mass, predicted
from ..formatting import SHOWN_ROWS, counted, label_text
from ..frontier.frontier import Frontier
from ..frontier.leakage import ConfidentFunnel
from ..information import bits
from ..joint.joint import Joint
from ..joint.task_joint import TaskJoint
from ..problem import MarkovLagrangian, bottleneck, family_of, funnel
from ..solution import Solution, Status
from ..solve import runner_and_prover
from ..solve import solve as run
from ..solvers.base import Solver
from ..solvers.job import ProofOptions, Seed
from ..sweep.progress import working
from ..task_problem import TaskLagrangian, side_information_bottleneck, task_funnel
from . import caps, options, output
from .flags import BITS, Request, as_json, command, flag_of, option, switch, written
from .options import Source, joint_options, task_options


@command(cls=options.Listing)
@joint_options
@task_options
@switch(
    "--side-information",
    "With --keep and --hide: the bottleneck with side information (Chechik, Tishby 2002), at --gamma, --beta the weight of I(S;Z).",
)
@options.one_problem
@options.one_solver
@option(
    "--max-leakage-bits BITS",
    BITS,
    "For the funnel, instead of --beta: the largest I(X;Z) whose I(Y;Z) is at most this, with a bound on what is missed.",
)
@option(
    "--confidence SHARE",
    float,
    "With --max-leakage-bits: the cap holds in the population the records were drawn from, with this confidence, such as 0.95. Half of the "
    "records, drawn by --seed, are kept back to test it.",
)
@written(
    "--out",
    "archive",
    "The encoder: .csv or .parquet with one row per x and one column per cluster, or .npz with labels and p(x,y). infoplane efficiency "
    "reads it as a system.",
)
@written(
    "--labels",
    "table",
    "The cluster of every x, the one with the largest p(z|x): .csv or .parquet with the columns of X and the column cluster.",
)
@output.escape_formulas
@options.threads
@as_json
def solve(asked: Request) -> None:
    """Find one encoder p(z|x) for JOINT that minimises --problem: the best of several runs.

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
    source, settings = Source.of(asked), options.make_run(asked)
    (check_tasks if asked.keep or asked.hide else check_target)(asked)
    capped: caps.Capped | None = None
    if asked.max_leakage_bits is not None:
        joint = source.load(asked.keep, asked.hide)
        with output.at_work(awaits_an_answer=True):
            capped = caps.solve_one(joint, asked)
        found = capped.solution
    else:
        joint, wanted, chosen, proof = posed(source, asked)
        with output.at_work(awaits_an_answer=True):
            if isinstance(joint, Joint):
                solvers = runner_and_prover(chosen, [wanted], proof, capped=settings.clusters is not None)
                options.prepare(wanted, *solvers)
            with working("solving", lines=True) as tell:
                found = run(joint, wanted, chosen, **vars(settings), callback=tell, **vars(proof))
    write(found, asked)
    if asked.as_json:
        told = record(found, settings.rng)
        if capped is not None:  # what the numbers are about comes first
            told = {"about": capped.about or None} | told | caps.record(capped, asked.max_leakage_bits)
        output.print_json(told)
    else:
        notation = "beta" if asked.beta is not None and not (asked.keep or asked.hide) else "gamma"
        show(found, source.title, notation, capped)
    if output.interruption().seen or (capped is None and found.status is Status.INTERRUPTED):
        what = "encoder found by then" if capped is None else "release found by then, within the cap"
        output.end_interrupted(f"this is the best {what}.")
    if (missed := shortfall(found, capped, asked.certify)) is not None:
        output.end(output.NOT_CONVERGED, missed)


def check_tasks(asked: Request) -> None:
    """What --keep and --hide go with: --beta and perhaps --gamma, or --max-leakage-bits alone."""
    if asked.problem != bottleneck.name or asked.confidence is not None:
        raise click.UsageError("--keep and --hide are a problem of their own: leave out --problem and --confidence.")
    options.check_both(asked)
    given = asked.given(*options.PROBLEM_OPTIONS, "solver").keys()
    good = {"beta"} <= given <= {"beta", "gamma", "solver"} if asked.max_leakage_bits is None else not given
    if not good:
        raise click.UsageError(
            "with --keep and --hide give --beta, and --gamma if it is not to be the joint's own small one; or --max-leakage-bits alone."
        )
    if asked.side_information and asked.gamma is None:
        raise click.UsageError("--side-information needs --gamma, the weight of I(X;Z), and --beta, that of I(S;Z).")


def check_target(asked: Request) -> None:
    """What goes with one target: --max-leakage-bits with the funnel only, --confidence with that."""
    if asked.side_information:
        raise click.UsageError("--side-information goes with --keep and --hide.")
    wrong, is_capped = asked.given(*options.PROBLEM_OPTIONS, "solver"), asked.max_leakage_bits is not None
    if is_capped and (asked.problem != funnel.name or wrong):
        found = ", ".join([f"found --problem {asked.problem}", *map(flag_of, wrong)])
        raise click.UsageError(
            f"--max-leakage-bits goes with --problem funnel and takes the place of --beta and --solver; {found}."
        )
    if is_capped and asked.confidence is not None and asked.certify is not None:
        raise click.UsageError("--confidence is about the population, --certify about this table: give one of them.")
    if asked.confidence is not None and not is_capped:
        raise click.UsageError("--confidence goes with --problem funnel and --max-leakage-bits.")


def posed(source: Source, asked: Request) -> tuple[Joint | TaskJoint, MarkovLagrangian, Solver | None, ProofOptions]:
    """The joint, its Lagrangian, solver and proof; what cannot be solved or proven is refused, if possible before data is read."""
    joint: Any = None
    if asked.keep or asked.hide:
        joint = source.load(asked.keep, asked.hide)
        named = task_funnel(asked.beta, asked.gamma)
        if asked.side_information:
            named = side_information_bottleneck(asked.gamma, asked.beta)
        wanted = named.on(joint.joint)
    else:
        wanted = options.make_problem(asked)
    proof, chosen = options.make_proof(asked), options.choose(asked)
    runner_and_prover(chosen, [wanted], proof)
    return source.load() if joint is None else joint, wanted, chosen, proof


def write(found: Solution, asked: Request) -> None:
    """The files that were asked for: the encoder, one row per x or as `Frontier.load` reads it, and the cluster of every x."""
    if asked.out is not None and asked.out.suffix.lower() == ".npz":
        output.write_frontier(Frontier(found.joint, [found]), asked.out)
    elif asked.out is not None:
        output.write_table(found.encoder_frame().reset_index(), asked.out)
    if asked.labels is not None:
        name = next(name for name in ("cluster", "z", "word") if name not in found.joint.x_names)
        output.write_table(found.labels().rename(name).reset_index(), asked.labels)


def shortfall(found: Solution, capped: caps.Capped | None, certify: float | None) -> str | None:
    """What an answer that is not as good as was asked for lacks, in a sentence."""
    if isinstance(capped, ConfidentFunnel):
        return None if capped.chosen else output.ONLY_CONSTANT
    if capped is None and not found.converged:
        return f"Not converged: {found.message}."
    if certify is None or (found.status is Status.CERTIFIED if capped is None else capped.certified):
        return None
    if capped is not None:
        return f"Not certified: the gap is {capped.gap:.1e} nats, {certify:g} was asked for."
    held = f"best found with {counted(found.clusters, 'cluster')}, the cap; without one " if found.at_cap else ""
    return f"Not certified: {held}the optimum may be {found.gap:.1e} nats lower, and {certify:g} was asked for."


def record(found: Solution, seed: Seed) -> dict[str, Any]:
    """The JSON object of ``solve``; the encoder has one row per cluster and one column per x."""
    told = ("iyz_bits",) if found.problem.single_target else ("iuz_bits", "isz_bits")
    return {
        "problem": problem_record(found.problem),
        "status": found.status.name,
        **output.named(found, "solver", "message", "converged", "loss_nats", "ixz_bits", *told),
        **output.named(found, "lower_bound_nats", "gap_nats", "iterations", "seconds", "start"),
        **output.named(found, "clusters", "cluster_cap", "at_cap", "died"),
        "residuals": found.residuals._asdict(),
        "seed": seed,
        "starts": [{"status": one.status.name, **output.named(one, "loss_nats", "iterations")} for one in found.starts],
        **output.joint_record(found.joint),
        "point_caution": found.caution,
        "encoder": found.encoder,
    }


def problem_record(problem: MarkovLagrangian) -> dict[str, Any]:
    """Family, parameter and the three coefficients."""
    if isinstance(problem, TaskLagrangian):
        weights = {"gamma": problem.settled_gamma, "keep": problem.keep, "hide": problem.hide}
    else:
        weights = dict(zip(("rho_z", "rho_zx", "rho_zy"), problem.rho, strict=True))
    return {"family": problem.family, "parameter": problem.parameter, **weights}


def show(found: Solution, title: str, notation: str, capped: caps.Capped | None) -> None:
    """Print the numbers, and the letters of each cluster; under a cap what it is about, first, in place of any caution."""
    about, parameter = "" if capped is None else capped.about, ""
    if about:
        output.say(f"{about}.")
    if found.problem.parameter is not None:  # as the user wrote it
        written = family_of(found.problem).notation(notation)
        parameter = f" at {written.name} {written.of(found.problem.parameter):g}"
    facts = [("loss", f"{found.loss:z.9f} nats")]
    if found.lower_bound is not None:
        facts.append(("proven", f"the optimum is at least {found.lower_bound:z.9f}; gap {found.gap:.1e} nats"))
    facts += [
        *_informations(found),
        ("status", found.message),
        ("residuals", ", ".join(f"{name} {size:.1e}" for name, size in found.residuals._asdict().items())),
        ("found by", f"{found.solver}, start {found.start}, {counted(found.iterations, 'iteration')}"),
    ]
    if found.starts:
        converged = sum(one.status.converged for one in found.starts)
        facts.append(("starts", f"{converged} of {len(found.starts)} converged, {found.seconds:.2f} s in all"))
    else:
        facts.append(("time", f"{found.seconds:.2f} s"))
    if found.caution is not None and not about:
        facts.append(("caution", found.caution))
    output.print_facts(f"{found.problem.family.replace('_', ' ')}{parameter} of {title}", facts)
    print_clusters(found)
    if capped is not None and (last := str(capped).splitlines()[-1]) not in about:
        output.say(last)


def _informations(found: Solution) -> list[tuple[str, str]]:
    """What is said of X; of Y, or of what is kept and of what is hidden; and the most that could be."""
    joint = found.joint
    rows = [("I(X;Z)", found.ixz, "H(X)", joint.entropy_x)]
    if found.problem.single_target:
        rows.append(("I(Y;Z)", found.iyz, "I(X;Y)", joint.mutual_information))
    else:
        both = TaskJoint.of(joint)
        rows.append(("kept, I(U;Z)", found.iuz, "I(U;X)", both.keep.mutual_information))
        rows.append(("told, I(S;Z)", found.isz, "I(S;X)", both.hide.mutual_information))
    return [(name, f"{bits(nats):z.9f} bits of {most} = {bits(whole):.6f}") for name, nats, most, whole in rows]


def print_clusters(found: Solution) -> None:
    """The clusters by mass: what each predicts, and which letters are typical of it."""
    joint, columns = found.joint, ("z", "p(z)", "p(y|z)", "most typical x, with p(z|x)")
    died = f", {found.died} died" if found.died else ""
    if found.at_cap:
        died += "; as many as allowed, more may have a lower loss"
    order = ", largest first" if found.clusters > 1 else ""
    rows = []
    for one in by_mass(joint, found.encoder, 4, SHOWN_ROWS):
        shown = [f"{label_text(joint.x_labels[x], 40)} {found.encoder[one.z, x]:.2f}" for x in one.typical]
        if one.letters > len(shown):
            shown.append(f"{one.letters - len(shown):,} more")
        mass = f"{one.mass:.4f}" if one.mass >= 5e-5 else f"{one.mass:.0e}"
        rows.append((str(one.z), mass, predicted(one, joint.y_labels, 3), "; ".join(shown)))
    if found.clusters > SHOWN_ROWS:
        more = counted(found.clusters - SHOWN_ROWS, "smaller one")
        rows.append(("...", "", "", f"{more}; --json and --out have all"))
    cells = [dict(zip(columns, row, strict=True)) for row in rows]
    output.print_table(f"{counted(found.clusters, 'cluster')}{order}{died}", cells, left=columns[2:])
