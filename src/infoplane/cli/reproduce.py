"""``infoplane reproduce``: the paper's evaluation, with a verdict on every claim."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
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
from ..sweep.progress import drawn
from ..view.drawing import require_matplotlib
from . import options, output
from .flags import PATH, made_directory, option, switch
from .output import Interruption, interruptible

NAMES = ", ".join(FIGURES)


@click.command(epilog=f"Figures: {NAMES}.")
@click.argument("figures", nargs=-1, metavar="[FIGURE]...")
@switch("--quick", "Coarser grids and fewer trials: about two minutes on two cores.")
@option(
    "--out",
    PATH,
    "Directory for pictures, tables and the report; finished runs are kept in it, so that the same call resumes.",
    default=Path("reproduction"),
)
@switch(
    "--render",
    "Write the report and pictures again from findings.json and the tables in --out; no run is made.",
    "rendered",
)
@click.pass_context
def reproduce(context: click.Context, /, figures: tuple[str, ...], quick: bool, out: Path, rendered: bool) -> None:
    r"""Run the paper's evaluation, all of it or the FIGUREs named, and judge every claim from the runs.

    Everything is run with the paper's gradient step and stopping rule and with our own steps, which stop at stationary points only,
    beside proven optima. Writes one .png, one .csv and one appendix per figure, report.md and report.html, three pages, and
    findings.json. If interrupted, the same call resumes.

    \b
    Examples:
      infoplane reproduce --quick
      infoplane reproduce bottleneck-planes funnel-planes --out planes
    """
    unknown = [name for name in figures if name not in FIGURES]
    if unknown:
        raise click.UsageError(f"there is no figure {unknown[0]!r}; the figures are {NAMES}.")
    require_matplotlib()
    made_directory(out)
    chosen = [FIGURES[name] for name in (dict.fromkeys(figures) or FIGURES)]
    if rendered:
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
    with interruptible() as interruption:
        try:
            _work(reproduction, left, interruption, quick)
        except KeyboardInterrupt:
            done = sum(job.done for job in reproduction.jobs())
            again = shlex.join(["infoplane", "reproduce", *figures, *["--quick"] * quick, "--out", str(out)])
            output.note(f"Interrupted: {done} of {len(jobs)} pieces are kept in {out / 'runs'}. To go on: {again}")
            context.exit(interruption.code)
    figures_judged = [reproduction.judged(figure) for figure in chosen]
    for judged in figures_judged:
        write_figure(judged, out)
    write_report(figures_judged, reproduction.scale, out)
    made = output.TextTable(
        "The paper's claims", ("figure", "the paper says", "verdict"), left=("figure", "the paper says", "verdict")
    )
    for judged in figures_judged:
        for verdict in judged.verdicts:
            made.add_row(judged.figure.name, verdict.claim.text, outcome(verdict)[0].value)
    output.print_table(made)
    output.say(f"wrote {out / 'report.html'} and {out / 'report.md'}; {time.perf_counter() - began:.0f} s in all.")


def _work(reproduction: Reproduction, left: list[Job], interruption: Interruption, quick: bool) -> None:
    """Compile the kernels, estimate how long it will take unless it is quick, and run what is left."""
    if not left:
        return
    for step in ("gradient", "majorise"):
        options.prepare(bottleneck(0.2), interruption, DouglasRachford("ib-1", step=step))
    if not quick:
        with _bar(len(left), "timing samples") as tell:
            seconds = 0.0
            for job in left:
                interruption.check()
                seconds += job.piece.estimate()
                tell(job)
        output.note(f"{len(left)} pieces to run: about {duration(seconds)}, estimated from timed samples.")
    with _bar(len(left), "reproduce") as tell:
        for job in reproduction.work(left, interruption.check):
            tell(job)


def duration(seconds: float) -> str:
    """In seconds, minutes or hours."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} minutes" if seconds < 5400 else f"{seconds / 3600:.1f} hours"


@contextmanager
def _bar(total: int, title: str) -> Iterator[Callable[[Job], None]]:
    """A bar on stderr that names the piece just done; nothing when stderr is not a terminal."""
    with drawn(title, total) as update:
        yield lambda job: update(advance=1, text=f"{job.figure.name}: {job.piece.name}")
