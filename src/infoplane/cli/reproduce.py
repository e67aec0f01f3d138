"""``infoplane reproduce``: the paper's evaluation, with a verdict on every claim."""

from __future__ import annotations

import shlex
import time
from pathlib import Path

import click

from infoplane_paper import (
    FIGURES,
    FULL,
    QUICK,
    Job,
    Reproduction,
    count_words,
    outcome,
    render,
    write_figure,
    write_report,
)

from ..problem import bottleneck
from ..solvers.splitting.solver import DouglasRachford
from ..sweep.progress import drawn, duration
from ..view.drawing import require_matplotlib
from . import options, output
from .flags import Request, command, made_directory, option, switch

NAMES = ", ".join(FIGURES)


@command(epilog=f"Figures: {NAMES}.")
@click.argument("figures", nargs=-1, metavar="[FIGURE]...")
@switch("--quick", "Coarser grids and fewer trials: about two minutes on two cores.")
@option(
    "--out",
    Path,
    "Directory for pictures, tables and the report; finished runs are kept in it, so that the same call resumes.",
    default=Path("reproduction"),
)
@switch(
    "--render",
    "Write the report and pictures again from findings.json and the tables in --out; no run is made.",
    "rendered",
)
def reproduce(asked: Request) -> None:
    """Run the paper's evaluation, all of it or the FIGUREs named, and judge every claim from the runs.

    Everything is run with the paper's gradient step and stopping rule and with our own steps, which stop at stationary points only,
    beside proven optima. Writes one .png, one .csv and one appendix per figure, report.md and report.html, three pages, and
    findings.json. If interrupted, the same call resumes.

    \b
    Examples:
      infoplane reproduce --quick
      infoplane reproduce bottleneck-planes funnel-planes --out planes
    """
    figures, out, quick = asked.figures, asked.out, asked.quick
    unknown = [name for name in figures if name not in FIGURES]
    if unknown:
        raise click.UsageError(f"there is no figure {unknown[0]!r}; the figures are {NAMES}.")
    require_matplotlib()
    made_directory(out)
    chosen = [FIGURES[name] for name in (dict.fromkeys(figures) or FIGURES)]
    if asked.rendered:
        if not (out / "findings.json").is_file():
            raise click.UsageError(f"--render: {out} has no findings.json; run infoplane reproduce --out {out} first.")
        output.say(f"{count_words(render(chosen, out))}; wrote {out / 'report.md'} and {out / 'report.html'}.")
        return
    reproduction = Reproduction(chosen, QUICK if quick else FULL, out / "runs")
    began = time.perf_counter()
    jobs = reproduction.jobs()
    left = [job for job in jobs if not job.done]
    if len(left) < len(jobs):
        output.note(f"{len(jobs) - len(left)} of {len(jobs)} pieces are done already, in {out / 'runs'}.")
    try:
        _work(reproduction, left, quick)
    except KeyboardInterrupt:
        done = sum(job.done for job in reproduction.jobs())
        again = shlex.join(["infoplane", "reproduce", *figures, *["--quick"] * quick, "--out", str(out)])
        output.end_interrupted(f"{done} of {len(jobs)} pieces are kept in {out / 'runs'}. To go on: {again}")
    figures_judged = [reproduction.judged(figure) for figure in chosen]
    for judged in figures_judged:
        write_figure(judged, out)
    write_report(figures_judged, reproduction.scale, out)
    rows = [
        {"figure": judged.figure.name, "the paper says": said.claim.text, "verdict": outcome(said)[0].value}
        for judged in figures_judged
        for said in judged.verdicts
    ]
    output.print_table("The paper's claims", rows, left=("figure", "the paper says", "verdict"))
    output.say(f"wrote {out / 'report.html'} and {out / 'report.md'}; {time.perf_counter() - began:.0f} s in all.")


def _work(reproduction: Reproduction, left: list[Job], quick: bool) -> None:
    """Compile the kernels, estimate how long it will take unless it is quick, and run what is left."""
    if not left:
        return
    for step in ("gradient", "majorise"):
        options.prepare(bottleneck(0.2), DouglasRachford("ib-1", step=step))
    if not quick:
        with drawn("timing samples", len(left)) as update:
            seconds = 0.0
            for job in left:
                output.interruption().check()
                seconds += job.piece.estimate()
                update(advance=1, text=_named(job))
        output.note(f"{len(left)} pieces to run: about {duration(seconds)}, estimated from timed samples.")
    with drawn("reproduce", len(left)) as update:
        for job in reproduction.work(left, output.interruption().check):
            update(advance=1, text=_named(job))


def _named(job: Job) -> str:
    return f"{job.figure.name}: {job.piece.name}"
