"""``infoplane verify``: a file of answers, checked by code that shares nothing with what made it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from infoplane_verify import CheckVerdict, RunCheck, passed, sentence

from ..formatting import counted
from ..frontier.verify import verify as check
from ..information import bits
from . import printing
from .exit_codes import NOT_CONVERGED
from .flags import COUNT, PATH, as_json, option
from .numerals import Number


@click.command()
@click.argument("answer", type=PATH)
@option(
    "--gap",
    Number(),
    "What counts as certified: the largest distance of a loss to its bound.",
    default=1e-6,
    metavar="NATS",
)
@option("--max-cells", COUNT, "Cells that one proof may take.", default=1_000_000)
@option("--max-seconds", Number(), "Seconds that one proof may take.", default=60.0)
@as_json
@click.pass_context
def verify(
    context: click.Context, /, answer: Path, gap: float, max_cells: int, max_seconds: float, as_json: bool
) -> None:
    r"""Check ANSWER, an .npz file of solve or frontier with --out: recompute every number and prove every bound again.

    The checker shares no code with the solvers and proofs that made the file, and uses NumPy only; it needs p(x,y), the
    encoder, the bound and the multipliers that the file has. A bound is VERIFIED, PROVEN TO a weaker one within the
    limits, or REFUTED, with what contradicts it. Exit code 4 means that not all that is claimed was verified, 3 that the
    file is no file of answers. The same check without infoplane: python -m infoplane_verify ANSWER.

    \b
    Examples:
      infoplane solve heart --gamma 0.2 --certify --out answer.npz
      infoplane verify answer.npz
    """
    found = check(answer, gap=gap, max_cells=max_cells, max_seconds=max_seconds)
    good = passed(found)
    if as_json:
        printing.print_json({"verified": good, "findings": [record(one) for one in found]})
    else:
        for one in found:
            printing.say(sentence(one))
        left_out = sum(one.verdict is CheckVerdict.LEFT_OUT for one in found)
        others = f"; {left_out} without an encoder left out" if left_out else ""
        printing.say(f"{sum(one.verdict.good for one in found)} of {counted(len(found), 'run')} verified{others}")
    if not good:
        context.exit(NOT_CONVERGED)


def record(one: RunCheck) -> dict[str, Any]:
    """A finding for JSON."""
    return {
        "run": one.run,
        "family": one.family,
        "parameter": one.parameter,
        "rho": one.rho,
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
