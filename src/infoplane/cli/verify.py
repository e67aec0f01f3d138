"""``infoplane verify``: a file of answers, checked by code that shares nothing with what made it."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from ..information import bits
from ..verification.verify import CheckVerdict, RunCheck
from ..verification.verify import verify as check
from ..words import counted, rounded
from . import options, output
from .exits import NOT_CONVERGED

SHOWN = 6
"""Letters of a posterior that refutes a bound, largest first."""


@click.command()
@click.argument("answer", type=click.Path(path_type=Path))
@click.option(
    "--gap",
    type=float,
    default=1e-6,
    show_default=True,
    metavar="NATS",
    help="What counts as certified: the largest distance of a loss to its bound.",
)
@click.option("--max-cells", type=int, default=1_000_000, show_default=True, help="Cells that one proof may take.")
@click.option("--max-seconds", type=float, default=60.0, show_default=True, help="Seconds that one proof may take.")
@options.as_json
@click.pass_context
def verify(
    context: click.Context, /, answer: Path, gap: float, max_cells: int, max_seconds: float, as_json: bool
) -> None:
    r"""Check ANSWER, an .npz file of solve or frontier with --out: recompute every number and prove every bound again.

    The checker shares no code with the solvers and proofs that made the file, and uses NumPy only; it needs p(x,y), the
    encoder, the bound and the multipliers that the file has. A bound is VERIFIED, PROVEN TO a weaker one within the
    limits, or REFUTED, with what contradicts it. Exit code 4 means that not all that is claimed was verified, 3 that the
    file is no file of answers.

    \b
    Examples:
      infoplane solve heart --gamma 0.2 --certify --out answer.npz
      infoplane verify answer.npz
    """
    found = check(answer, gap=gap, max_cells=max_cells, max_seconds=max_seconds)
    good = all(one.verdict.good for one in found)
    if as_json:
        output.print_json({"verified": good, "findings": [record(one) for one in found]})
    else:
        for one in found:
            output.say(line(one))
        output.say(f"{sum(one.verdict.good for one in found)} of {counted(len(found), 'run')} with an encoder verified")
    if not good:
        context.exit(NOT_CONVERGED)


def line(one: RunCheck) -> str:
    """A finding as a sentence."""
    parameter = "" if math.isnan(one.parameter) else f" at {one.parameter:g}"
    head = f"run {one.run}, {one.family.replace('_', ' ')}{parameter}: {one.verdict.name.replace('_', ' ')}"
    numbers = (
        f"loss {rounded(one.loss, 9)} nats, I(X;Z) {rounded(bits(one.ixz))} bits, I(Y;Z) {rounded(bits(one.iyz))} bits"
    )
    if one.verdict is CheckVerdict.NUMBERS:
        return f"{head}; {numbers}; no bound is claimed"
    if one.proven_bound is not None and one.verdict is not CheckVerdict.REFUTED:
        numbers += f"; no encoder is better by more than {one.gap:.2e} nats"
    work = (
        f" ({counted(one.cells, 'cell')}, {one.seconds:.1f} s, {one.digits_checked} of them again with 50 digits)"
        if one.cells
        else ""
    )
    said = f"; {one.reason}" if one.reason else ""
    if one.posterior is not None:
        largest = (-one.posterior).argsort(kind="stable")[:SHOWN]
        said += "; q = " + ", ".join(f"{one.posterior[x]:.6g} at x {x}" for x in largest if one.posterior[x] > 0.0)
    return f"{head}; {numbers}{work}{said}"


def record(one: RunCheck) -> dict[str, Any]:
    """A finding for JSON."""
    return {
        "run": one.run,
        "family": one.family,
        "parameter": one.parameter,
        "verdict": one.verdict.name,
        "reason": one.reason,
        "loss_nats": one.loss,
        "ixz_bits": bits(one.ixz),
        "iyz_bits": bits(one.iyz),
        "claimed_bound_nats": one.claimed_bound,
        "proven_bound_nats": one.proven_bound,
        "gap_nats": one.gap,
        "cells": one.cells,
        "cells_left": one.left,
        "seconds": one.seconds,
        "cells_in_50_digits": one.digits_checked,
        "posterior": one.posterior,
    }
