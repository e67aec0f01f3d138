"""``--max-leakage-bits``: the most that a release keeps under a cap on what it tells, with its proof; ``frontier`` has a curve of them.

The curve rises like a square root from a cap of 0, where the slope beta is infinite: caps show its beginning, a grid of beta does not.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import click
from click.core import ParameterSource

from ..certificate.funnel.leakage import CappedFunnel
from ..datasets import paper_uniform
from ..frontier.leakage import ConfidentFunnel, funnel_at_leakage, funnel_curve
from ..frontier.task_leakage import CappedTask, task_at_leakage, task_curve
from ..information import NATS_PER_BIT, bits
from ..joint.joint import Joint
from ..joint.task_joint import TaskJoint
from ..problem import funnel
from ..runtime.budget import Limits
from ..solvers.job import RunOptions
from ..sweep.progress import working
from ..view.drawing import save_figure
from ..view.pictures import plot_caps
from . import output
from .flags import flag_of
from .options import Source, check_both
from .output import NOT_CONVERGED, Interruption, interruptible

if TYPE_CHECKING:
    import pandas as pd

Capped: TypeAlias = CappedFunnel | ConfidentFunnel | CappedTask

NO_CAPS = ("grid", "grid_values", "points", "store", "engine", "transitions", "report", "solver")
"""Options of a sweep that have no meaning under caps."""


def solve_one(
    joint: Joint | TaskJoint,
    cap: float,
    confidence: float | None,
    certify: float | None,
    settings: RunOptions,
    limits: dict[str, Any],
    interruption: Interruption,
) -> Capped:
    """The most informative release whose leakage is at most the cap, in bits: in this table or, with confidence, in the population."""
    nats, tol = cap * NATS_PER_BIT, certify or Limits.tol
    if isinstance(joint, TaskJoint):
        with working("solving", lines=True):
            return task_at_leakage(joint, nats, clusters=settings.clusters, tol=tol, **limits)
    funnel_at_leakage(paper_uniform(), 0.01, max_seconds=1.0)  # compiles, so that the limits are all for the answer
    interruption.check()
    found: Capped
    with working("solving and testing" if confidence else "solving and proving", lines=True):
        if confidence is None:
            found = funnel_at_leakage(joint, nats, tol=tol, **limits)
        else:
            found = funnel_at_leakage(joint, nats, confidence=confidence, rng=settings.rng, **limits)
    return found


def record(found: Capped, cap: float | None) -> dict[str, Any]:
    """What the JSON object of a capped release has beside that of its encoder."""
    held = found.leakage_bound
    bound = {"leakage_bound_bits": None if held is None else bits(held.bound)}
    if isinstance(found, CappedTask):
        proven = {"upper_bound_iuz_bits": bits(found.upper_bound), "gap_bits": bits(found.gap)}
        return {"max_isz_bits": bits(found.max_isz), **proven, **bound}
    said = {
        "max_iyz_bits": cap,
        **bound,
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


def frontier_of_caps(
    context: click.Context,
    source: Source,
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    problem: str,
    caps: tuple[float, ...],
    certify: float | None,
    clusters: int | None,
    limits: dict[str, Any],
    out: Path | None,
    plot: Path | None,
    as_json: bool,
) -> None:
    """Print, write and draw the best release under each cap."""
    if wrong := [name for name in NO_CAPS if context.get_parameter_source(name) is ParameterSource.COMMANDLINE]:
        raise click.UsageError(
            f"--max-leakage-bits takes the place of a grid of parameters: leave out {', '.join(map(flag_of, wrong))}."
        )
    check_both(keep, hide)
    if not keep and (problem != funnel.name or clusters is not None):
        raise click.UsageError(
            "--max-leakage-bits goes with --problem funnel, or with --keep and --hide and then --clusters."
        )
    if out is not None and out.suffix == ".npz":
        raise click.UsageError("--out has a row for each cap: .csv or .parquet; found .npz.")
    nats, tol = [cap * NATS_PER_BIT for cap in caps], certify or Limits.tol
    joint = source.load(keep, hide)
    found: list[Any]
    with (
        interruptible(awaits_an_answer=True) as interruption,
        output.one_line_warnings(),
        working("solving and proving", lines=True),
    ):
        if keep:
            found = list(task_curve(joint, nats, clusters=clusters, tol=tol, **limits))
        else:
            found = list(funnel_curve(joint, nats, tol=tol, **limits))
    frame = as_frame(found, caps)
    output.write_table(frame, out)
    output.write(plot, lambda path: save_figure(plot_caps(frame, source.title), path))
    if as_json:
        output.print_json({"caps": frame.to_dict("records")})
    else:
        show(frame, source.title)
    if interruption.seen:
        output.note("Interrupted: these are the best releases found by then, each within its cap.")
        context.exit(interruption.code)
    if certify is not None and not frame.certified.all():
        output.note(
            f"Not certified: {int((~frame.certified).sum())} of {len(frame)} caps; {tol:g} nats were asked for."
        )
        context.exit(NOT_CONVERGED)


def as_frame(found: list[Any], caps: tuple[float, ...]) -> pd.DataFrame:
    """A row for each cap, in bits; what is kept comes second."""
    import pandas as pd

    def row(cap: float, one: Any) -> dict[str, Any]:
        kept, told = ("iuz", "isz") if isinstance(one, CappedTask) else ("ixz", "iyz")
        return {
            "max_leakage_bits": cap,
            f"{kept}_bits": bits(getattr(one, kept)),
            f"{told}_bits": bits(getattr(one, told)),
            "upper_bound_bits": bits(one.upper_bound),
            "population_bits": math.nan if one.leakage_bound is None else bits(one.leakage_bound.bound),
            "clusters": one.clusters,
            "beta": one.beta,
            "certified": one.certified,
        }

    return pd.DataFrame([row(cap, one) for cap, one in zip(caps, found, strict=True)])


def show(frame: pd.DataFrame, title: str) -> None:
    """The table."""
    kept, told = (f"I({name[1].upper()};Z)" for name in frame.columns[1:3])
    sampled, population = bool(frame.population_bits.notna().all()), f"population: {told}\nat most"
    made = output.TextTable(
        f"The most that a release of {title} keeps under each cap",
        (
            "cap\n[bits]",
            f"{kept}\n[bits]",
            f"{told}\n[bits]",
            f"proven: {kept}\nat most",
            population,
            "|Z|",
            "beta",
            "certified",
        ),
        left=("certified",),
        hidden=() if sampled else (population,),
    )
    for row in frame.itertuples(index=False):
        numbers = [f"{number:.6f}" for number in row[:5]]
        made.add_row(*numbers, str(row.clusters), f"{row.beta:.4g}", "yes" if row.certified else "no")
    output.print_table(made)
    if sampled:
        output.say(
            "Caps and proofs are about this table; in the population the releases may tell as much as that column says (95%)."
        )
