"""The report of a reproduction: the table of verdicts, the open settings, then every figure with its claims and the evidence."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import infoplane as ip

from .blocks import Block, heading, html_page, items, markdown, picture, python, table, text
from .folder import write_whole
from .piece import Array
from .points import Points
from .reproduction import JudgedFigure
from .scale import Scale
from .sensitivity import SEPARATOR
from .settings import OPEN, SEED, Open
from .sweeps import Certified, Sweep
from .verdict import Judgement, Row, Verdict

TITLE = "The paper, figure by figure and claim by claim"

PREVIEW = (
    "This is a quick run, with coarser grids, fewer trials and fewer iterations than the paper's. Its verdicts are a preview: those of "
    "the full run count."
)

RULES = (
    "What counts as holding was revised after a first quick run had been judged, not fixed beforehand: standard errors over starts, runs "
    "that never left their start, ties on a grid of c and limits of iterations leave more claims undecided than the first rules did; "
    "most of these had read 'does not hold'. The numbers beside every verdict let a reader judge by other rules."
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
    drawing = judged.figure.draw(judged.runs)
    write_whole(out / f"{name}.png", lambda file: drawing.savefig(file, format="png", dpi=160))
    write_whole(out / f"{name}.csv", lambda file: file.write(_csv(judged.rows).encode()))


def write_report(figures: Sequence[JudgedFigure], scale: Scale, out: Path) -> None:
    """Write report.md and report.html; the pictures that `write_figure` wrote become part of the page."""
    blocks = report(figures, scale, out)
    write_whole(out / "report.md", lambda file: file.write(markdown(blocks).encode()))
    write_whole(out / "report.html", lambda file: file.write(html_page(blocks, TITLE).encode()))


def report(figures: Sequence[JudgedFigure], scale: Scale, out: Path) -> list[Block]:
    """The whole report as blocks; ``out`` has the pictures."""
    verdicts = [verdict for judged in figures for verdict in judged.verdicts]
    summary = "; ".join(
        f"{way}: " + ", ".join(f"{counts.count(one)} {one.value}" for one in Judgement if one in counts)
        for way, counts in (
            ("in the paper's way", [verdict.paper for verdict in verdicts]),
            ("in our improved ways", [verdict.improved for verdict in verdicts]),
        )
    )
    blocks: list[Block] = [
        heading(1, TITLE),
        text(
            "Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic "
            f"Optimization Problems. Written by infoplane {ip.__version__}, `infoplane reproduce`, {scale.name} run, seed {SEED}."
        ),
        text(
            "Everything is run in up to three ways: in the paper's own (gradient: its step, stopping rule and details as in the published "
            "scripts), and in two that are ours: with closed-form or majorised steps at the paper's c and alpha, stopping at stationary "
            "points (majorise), and with the same steps and the automatic penalty (auto); linear rates are those of exact argmins. All "
            "informations and losses are in bits. The proven bound is a certificate: no encoder lies beyond it. Verdicts are computed "
            f"from the runs. Of {len(verdicts)} claims, {summary}."
        ),
        text(_where_the_papers_rule_stops(figures)),
        *([] if scale.sensitivity else [text(PREVIEW)]),
        text(RULES),
        text(CODE),
        heading(2, "Verdicts"),
        _verdict_table(figures),
        heading(2, "Settings that the paper leaves open"),
        table(
            ("setting", "chosen", "because", "varied in the full run", "what it changes"),
            [(one.what, one.chosen, one.why, one.varied, changed_answers(verdicts, one)) for one in OPEN],
        ),
        *_sensitivity(verdicts, scale.sensitivity),
    ]
    for judged in figures:
        blocks += _section(judged, scale, out)
    return blocks


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


def _verdict_table(figures: Sequence[JudgedFigure]) -> Block:
    columns = ("the paper says", "the paper's way", "our improved ways", "figure", "numbers of the paper's way")
    rows = [
        (one.claim.text, one.paper_words, one.improved_words, judged.figure.name, one.first.said)
        for judged in figures
        for one in judged.verdicts
    ]
    return table(columns, rows)


def changed_answers(verdicts: Sequence[Verdict], setting: Open) -> str:
    """How many answers in the paper's way change under each other value of a setting."""
    said = []
    for other in setting.others:
        asked = [verdict for verdict in verdicts if other in verdict.varied]
        changed = [verdict for verdict in asked if other in verdict.hangs_on]
        if asked:
            said.append(f"{other}: {len(changed)} of {len(asked)} answers")
    return "; ".join(said)


def _sensitivity(verdicts: Sequence[Verdict], run: bool) -> list[Block]:
    """Which answers, in the paper's way, depend on a setting that it leaves open."""
    if not run:
        return [text("The full run varies these settings, and says which verdicts hang on them; this one does not.")]
    every = [verdict for verdict in verdicts if verdict.varied]
    hanging = [verdict for verdict in every if verdict.hangs_on]
    blocks: list[Block] = [
        text(
            f"Of {len(every)} claims whose settings were varied, the answer in the paper's way is the same under all of them for "
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
                f"{verdict.claim.where or figure.where}. In the paper's way: {verdict.paper_words}. "
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
