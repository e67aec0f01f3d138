"""``--max-leakage-bits``: the most that a release keeps under a cap on what it tells, with its proof; ``frontier`` has a curve of them.

The curve rises like a square root from a cap of 0, where the slope beta is infinite: caps show its beginning, a grid of beta does not.
"""

from __future__ import annotations

import math
from functools import partial
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
from ..sweep.progress import working
from ..view.drawing import save_figure
from ..view.pictures import plot_caps
from . import options, output
from .flags import Request, flag_of

if TYPE_CHECKING:
    import pandas as pd

Capped: TypeAlias = CappedFunnel | ConfidentFunnel | CappedTask

NO_CAPS = ("grid", "grid_values", "points", "store", "engine", "transitions", "report", "solver")
"""Options of a sweep that have no meaning under caps."""


def solve_one(joint: Joint | TaskJoint, asked: Request) -> Capped:
    """The most informative release whose leakage is at most the cap: in this table or, with confidence, in the population."""
    nats, tol, confidence = asked.max_leakage_bits * NATS_PER_BIT, asked.certify or Limits.tol, asked.confidence
    limits = options.proof_limits(asked)
    if isinstance(joint, TaskJoint):
        with working("solving", lines=True):
            return task_at_leakage(joint, nats, clusters=asked.clusters, tol=tol, **limits)
    funnel_at_leakage(paper_uniform(), 0.01, max_seconds=1.0)  # compiles, so that the limits are all for the answer
    output.interruption().check()
    found: Capped
    with working("solving and testing" if confidence else "solving and proving", lines=True):
        if confidence is None:
            found = funnel_at_leakage(joint, nats, tol=tol, **limits)
        else:
            found = funnel_at_leakage(joint, nats, confidence=confidence, rng=asked.seed, **limits)
    return found


def record(found: Capped, cap: float | None) -> dict[str, Any]:
    """What the JSON object of a capped release has beside that of its encoder."""
    held = found.leakage_bound
    bound = {"leakage_bound_bits": None if held is None else bits(held.bound)}
    if isinstance(found, CappedTask):
        proven = {"upper_bound_iuz_bits": bits(found.upper_bound)}
        return output.named(found, "max_isz_bits", "gap_bits") | proven | bound
    said = {
        "max_iyz_bits": cap,
        **bound,
        "leakage_bound_pooled": None if held is None else list(held.pooled),
        "leakage_bound_made_from_these_records": None if held is None else held.seen,
    }
    if isinstance(found, CappedFunnel):
        return said | {"upper_bound_ixz_bits": bits(found.upper_bound), "gap_bits": bits(found.gap)}
    return said | {
        **output.named(found, "confidence", "least_cap_bits", "chosen"),
        "fitted_records": found.fitted_on.records,
        "tested_records": found.tested_on.records,
        "path": [
            {
                **output.named(step, "max_iyz_bits", "clusters", "ixz_bits"),
                "predicted_bound_bits": bits(step.predicted),
                "bound_bits": None if step.bound is None else bits(step.bound.bound),
            }
            for step in found.path
        ],
    }


def frontier_of_caps(source: options.Source, asked: Request) -> None:
    """Print, write and draw the best release under each cap."""
    given = click.get_current_context().get_parameter_source
    if wrong := [name for name in NO_CAPS if given(name) is ParameterSource.COMMANDLINE]:
        raise click.UsageError(
            f"--max-leakage-bits takes the place of a grid of parameters: leave out {', '.join(map(flag_of, wrong))}."
        )
    options.check_both(asked)
    if not asked.keep and (asked.problem != funnel.name or asked.clusters is not None):
        raise click.UsageError(
            "--max-leakage-bits goes with --problem funnel, or with --keep and --hide and then --clusters."
        )
    if asked.out is not None and asked.out.suffix == ".npz":
        raise click.UsageError("--out has a row for each cap: .csv or .parquet; found .npz.")
    caps, limits = asked.max_leakage_bits, options.proof_limits(asked) | {"tol": asked.certify or Limits.tol}
    curve: Any = partial(task_curve, clusters=asked.clusters) if asked.keep else funnel_curve
    joint = source.load(asked.keep, asked.hide)
    with output.at_work(awaits_an_answer=True), working("solving and proving", lines=True):
        found = list(curve(joint, [cap * NATS_PER_BIT for cap in caps], **limits))
    frame = as_frame(found, caps)
    output.write_table(frame, asked.out)
    output.write(asked.plot, lambda path: save_figure(plot_caps(frame, source.title), path))
    if asked.as_json:
        output.print_json({"caps": frame.to_dict("records")})
    else:
        show(frame, source.title)
    if output.interruption().seen:
        output.end_interrupted("these are the best releases found by then, each within its cap.")
    if asked.certify is not None and not frame.certified.all():
        missed = f"{int((~frame.certified).sum())} of {len(frame)} caps; {limits['tol']:g} nats were asked for."
        output.end(output.NOT_CONVERGED, f"Not certified: {missed}")


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
    """The table; what holds in the population where that is known."""
    kept, told = (f"I({name[1].upper()};Z)" for name in frame.columns[1:3])
    sampled = frame.population_bits.notna().all()
    bounds = [f"proven: {kept}\nat most", *([f"population: {told}\nat most"] if sampled else [])]
    names = ["cap\n[bits]", f"{kept}\n[bits]", f"{told}\n[bits]", *bounds]
    rows = [
        {name: f"{number:.6f}" for name, number in zip(names, row, strict=False)}
        | {"|Z|": str(row.clusters), "beta": f"{row.beta:.4g}", "certified": "yes" if row.certified else "no"}
        for row in frame.itertuples(index=False)
    ]
    output.print_table(f"The most that a release of {title} keeps under each cap", rows, left=("certified",))
    if sampled:
        output.say(
            "Caps and proofs are about this table; in the population the releases may tell as much as that column says (95%)."
        )
