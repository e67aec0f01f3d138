"""The report of a reproduction: a summary on three pages, and one appendix a figure with its claims, the evidence and the calls."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from .blocks import Block, heading, html_page, items, markdown, picture, python, table, text
from .drawing import Drawing
from .folder import write_whole
from .piece import Array
from .points import Points
from .reproduction import JudgedFigure
from .scale import Scale
from .sensitivity import SEPARATOR
from .settings import OPEN, Open
from .stored import keep, kept, rows_of, scale_of
from .summary import TITLE, summary
from .sweeps import Certified, Sweep
from .verdict import Figure, Row, Verdict

PREVIEW = (
    "This is a quick run, with coarser grids, fewer trials and fewer iterations than the paper's. Its verdicts are a preview: those of "
    "the full run count."
)

RULES = (
    "What counts as holding was revised after a first quick run had been judged, not fixed beforehand: standard errors over starts, "
    "runs that never left their start, ties on a grid of c and limits of iterations leave more claims undecided than the first rules "
    "did; most of these had read 'does not hold'. The error of a range of c was added last, after a full run whose count alone, 9 "
    "against 11 of 11 penalties, would say that ib-1's range is narrower than ADMM-IB's. The numbers beside every verdict let a reader "
    "judge by other rules."
)

CODE = (
    "Below every claim stands the code that computes what is said of it, after `import infoplane as ip, infoplane_paper, numpy as np`: "
    "one call that gives its sentences, then the runs that it rests on, each as a call of the library. The number behind a line is the "
    "value of that line."
)

SHOWN_ROWS = 60
"""Rows of a table that the report shows; the .csv beside it has all of them."""


def write_figure(judged: JudgedFigure, out: Path) -> None:
    """Write the picture and the table of one figure."""
    name = judged.figure.name
    draw, redraw = judged.figure.draw, judged.figure.redraw
    drawing = redraw(judged.rows) if redraw is not None else draw(judged.runs) if draw is not None else None
    if drawing is not None:
        _save(drawing, out / f"{name}.png")
    write_whole(out / f"{name}.csv", lambda file: file.write(_csv(judged.rows).encode()))


def write_report(figures: Sequence[JudgedFigure], scale: Scale, out: Path) -> None:
    """Write the summary (report.md and report.html), one appendix a figure, and the answers from which all can be written again."""
    verdicts = {judged.figure.name: judged.verdicts for judged in figures}
    keep(verdicts, scale.name, out)
    for judged in figures:
        blocks = [heading(1, f"Appendix: {judged.figure.name}"), *_section(judged, scale, out)]
        _write(out / f"appendix-{judged.figure.name}.md", markdown(blocks))
    _write(out / "appendix-settings.md", markdown(settings_page(figures, scale)))
    _write_summary([judged.figure for judged in figures], verdicts, scale.name, out)


def render(figures: Sequence[Figure], out: Path) -> list[Verdict]:
    """Write the summary again, and the pictures that tables suffice for, from a folder's findings.json and tables; no run is made."""
    verdicts = kept(figures, out)
    chosen = [figure for figure in figures if figure.name in verdicts]
    for figure in chosen:
        if figure.redraw is not None:
            _save(figure.redraw(rows_of(figure.name, out)), out / f"{figure.name}.png")
    _write_summary(chosen, verdicts, scale_of(out), out)
    return [one for found in verdicts.values() for one in found]


def _write_summary(figures: Sequence[Figure], verdicts: Mapping[str, Sequence[Verdict]], scale: str, out: Path) -> None:
    blocks = summary(figures, verdicts, scale, out)
    _write(out / "report.md", markdown(blocks))
    _write(out / "report.html", html_page(blocks, TITLE))


def _write(path: Path, words: str) -> None:
    write_whole(path, lambda file: file.write(words.encode()))


def _save(drawing: Drawing, path: Path) -> None:
    write_whole(path, lambda file: drawing.savefig(file, format="png", dpi=130))


def settings_page(figures: Sequence[JudgedFigure], scale: Scale) -> list[Block]:
    """The open settings, what hangs on them, and where the paper's rule stops."""
    verdicts = [verdict for judged in figures for verdict in judged.verdicts]
    return [
        heading(1, "Appendix: settings that the paper leaves open"),
        text(_where_the_papers_rule_stops(figures)),
        *([] if scale.sensitivity else [text(PREVIEW)]),
        text(RULES),
        text(CODE),
        table(
            ("setting", "chosen", "because", "varied in the full run", "what it changes"),
            [(one.what, one.chosen, one.why, one.varied, changed_answers(verdicts, one)) for one in OPEN],
        ),
        *_sensitivity(verdicts, scale.sensitivity),
    ]


NEAR = 1e-4
"""What counts as near: a stationarity residual, or bits above the proven optimum. The paper's own tolerance is 1e-6 on |Ap - Bq|."""


def _where_the_papers_rule_stops(figures: Sequence[JudgedFigure]) -> str:
    """Where the runs that ended by the paper's stopping rule are: how stationary, and how far above the proven optimum."""
    runs = 0
    residuals: list[Array] = [np.empty(0)]
    gaps: list[Array] = [np.empty(0)]
    for judged in figures:
        certified = {
            (piece.joint, piece.family): judged.runs.points(name)
            for name, piece in judged.runs.pieces.items()
            if isinstance(piece, Certified)
        }
        for name, piece in judged.runs.pieces.items():
            if not isinstance(piece, Sweep) or piece.method.kind != "gradient" or SEPARATOR in name:
                continue
            points = judged.runs.points(name)
            ended = points.ended()
            runs += len(points)
            residuals.append(ended.stationarity)
            if (piece.joint, piece.family) in certified:
                gaps.append(_gaps(ended, certified[piece.joint, piece.family]))
    residual, gap = np.concatenate(residuals), np.concatenate(gaps)
    sentence = (
        "The recursion is the same in all ways: where their answers differ, the argmin and the stopping rule do, which the authors "
        f"themselves call open to improvement. Of {runs:,} runs with the paper's step, {len(residual):,} ended by its rule, "
        "a small |Ap - Bq|."
    )
    if len(residual) and len(gap):
        sentence += (
            f" Their stationarity residual max |W - fixed_point(W)| is {_quantiles(residual)}, and at most {NEAR:g} in "
            f"{float((residual <= NEAR).mean()):.1%}; they end {_quantiles(gap)} bits above the proven optimum, and within {NEAR:g} in "
            f"{float((gap <= NEAR).mean()):.1%}."
        )
    return sentence


def _gaps(points: Points, certified: Points) -> Array:
    """Bits between each run and the proven lower bound at its parameter, for the runs whose parameter has one."""
    apart = np.abs(points.parameter[:, None] - certified.parameter)
    row = apart.argmin(axis=1)
    proven = np.isclose(points.parameter, certified.parameter[row])
    found: Array = (points.loss - certified.lower_bound[row])[proven]
    return found


def _quantiles(values: Array) -> str:
    low, middle, high = np.quantile(values, (0.1, 0.5, 0.9))
    return f"{middle:.1e} in the median (10% below {low:.1e}, 10% above {high:.1e})"


def changed_answers(verdicts: Sequence[Verdict], setting: Open) -> str:
    """How many answers in the authors' way change under each other value of a setting."""
    said = []
    for other in setting.others:
        asked = [verdict for verdict in verdicts if other in verdict.varied]
        changed = [verdict for verdict in asked if other in verdict.hangs_on]
        if asked:
            said.append(f"{other}: {len(changed)} of {len(asked)} answers")
    return "; ".join(said)


def _sensitivity(verdicts: Sequence[Verdict], run: bool) -> list[Block]:
    """Which answers, in the authors' way, depend on a setting that it leaves open."""
    if not run:
        return [text("The full run varies these settings, and says which verdicts hang on them; this one does not.")]
    every = [verdict for verdict in verdicts if verdict.varied]
    hanging = [verdict for verdict in every if verdict.hangs_on]
    blocks: list[Block] = [
        text(
            f"Of {len(every)} claims whose settings were varied, the answer in the authors' way is the same under all of them for "
            f"{len(every) - len(hanging)}."
        )
    ]
    if hanging:
        rows = [
            (
                verdict.claim.text,
                verdict.first.answer,
                "; ".join(f"{setting}: {verdict.varied[setting].answer}" for setting in verdict.hangs_on),
                verdict.improved_words,
            )
            for verdict in hanging
        ]
        blocks.append(table(("claim", "as chosen", "otherwise with", "our improved ways"), rows))
    return blocks


def _section(judged: JudgedFigure, scale: Scale, out: Path) -> list[Block]:
    figure, rows = judged.figure, judged.rows
    blocks: list[Block] = [
        heading(2, f"{figure.name}: {figure.title}"),
        text(f"The paper: {figure.paper}"),
        picture(out / f"{figure.name}.png", figure.title),
        text(figure.see),
    ]
    for verdict in judged.verdicts:
        blocks += [
            heading(3, verdict.claim.text),
            text(
                f"{verdict.claim.where or figure.where}. In the authors' way: {verdict.paper_words}. "
                f"In our improved ways: {verdict.improved_words}."
            ),
            items([f"{way}: {finding.words}" for way, finding in verdict.findings.items()]),
        ]
        if verdict.varied:
            blocks.append(items([f"with {setting}: {one.words}" for setting, one in verdict.varied.items()]))
        blocks.append(python(code(judged, verdict, scale)))
    if rows:
        shown = list(rows)[:SHOWN_ROWS]
        more = f", the first {len(shown)} of {len(rows)} rows" if len(shown) < len(rows) else ""
        blocks.append(text(f"{figure.name}.csv{more}:"))
        blocks.append(table(list(shown[0]), [[_cell(value) for value in row.values()] for row in shown]))
    return blocks


def code(judged: JudgedFigure, verdict: Verdict, scale: Scale) -> str:
    """The Python that computes what is said of a claim, and that repeats the runs it rests on."""
    name, runs = judged.figure.name, judged.runs
    lines = [f'infoplane_paper.answers("{name}", "{verdict.claim.key}", "{scale.name}")']
    for one in dict.fromkeys(name for finding in verdict.findings.values() for name in finding.evidence):
        call = getattr(runs.piece(one), "call", None)
        lines += [] if call is None else [call(runs[one])]
    return "\n".join(lines)


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def _csv(rows: Sequence[Row]) -> str:
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerows([list(row) for row in rows[:1]] + [[_cell(value) for value in row.values()] for row in rows])
    return buffer.getvalue()
