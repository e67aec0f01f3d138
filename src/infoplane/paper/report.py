"""The report of a reproduction: the table of verdicts, the open settings, then every figure with its claims and the evidence."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..files import write_whole
from ..plot import save_figure
from ..version import __version__
from .blocks import Block, Code, Heading, Items, Picture, Table, Text, html_page, markdown
from .figure import Row
from .reproduction import JudgedFigure
from .scale import Scale
from .sensitivity import SEPARATOR
from .settings import OPEN, SEED
from .sweeps import Sweep
from .verdict import Finding, Judgement, Verdict

TITLE = "The paper, figure by figure and claim by claim"

PREVIEW = (
    "This is a quick run, with coarser grids, fewer trials and fewer iterations than the paper's. Its verdicts are a preview: those of "
    "the full run count."
)

SHOWN_ROWS = 60
"""Rows of a table that the report shows; the .csv beside it has all of them."""


def write_figure(judged: JudgedFigure, out: Path) -> None:
    """Write the picture and the table of one figure."""
    name = judged.figure.name
    save_figure(judged.figure.draw(judged.runs), out / f"{name}.png")
    write_whole(out / f"{name}.csv", lambda file: file.write(_csv(judged.rows).encode()))


def write_report(figures: Sequence[JudgedFigure], scale: Scale, out: Path) -> None:
    """Write report.md and report.html; the pictures that `write_figure` wrote become part of the page."""
    blocks = report(figures, scale)
    write_whole(out / "report.md", lambda file: file.write(markdown(blocks).encode()))
    write_whole(out / "report.html", lambda file: file.write(html_page(blocks, TITLE, out).encode()))


def report(figures: Sequence[JudgedFigure], scale: Scale) -> list[Block]:
    """The whole report as blocks."""
    verdicts = [verdict for judged in figures for verdict in judged.verdicts]
    counts = [verdict.judgement for verdict in verdicts]
    summary = ", ".join(f"{counts.count(one)} {one.value}" for one in Judgement if one in counts)
    blocks: list[Block] = [
        Heading(1, TITLE),
        Text(
            "Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic "
            f"Optimization Problems. Written by infoplane {__version__}, `infoplane reproduce`, {scale.name} run, seed {SEED}."
        ),
        Text(
            "Everything is run in up to three ways: with the paper's own gradient step and stopping rule (gradient), with exact argmins at "
            "the paper's c and alpha and stopping at stationary points only (exact), and with exact argmins and the automatic penalty "
            "(auto). All informations and losses are in bits. The proven bound is a certificate: no encoder lies beyond it. Verdicts are "
            f"computed from the runs; of {len(counts)} claims: {summary}."
        ),
        Text(_where_the_papers_rule_stops(figures)),
        *([] if scale.sensitivity else [Text(PREVIEW)]),
        Heading(2, "Verdicts"),
        _verdict_table(figures),
        Heading(2, "Settings that the paper leaves open"),
        Table(
            ("setting", "chosen", "because", "varied in the full run"),
            [(one.what, one.chosen, one.why, one.varied) for one in OPEN],
        ),
        *_sensitivity(verdicts, scale.sensitivity),
    ]
    for judged in figures:
        blocks += _section(judged)
    return blocks


def _where_the_papers_rule_stops(figures: Sequence[JudgedFigure]) -> str:
    """How many runs ended by the paper's stopping rule, and how many of those at a stationary point."""
    runs = converged = stationary = 0.0
    for judged in figures:
        for name, piece in judged.runs.pieces.items():
            if isinstance(piece, Sweep) and piece.method.kind == "gradient" and SEPARATOR not in name:
                points = judged.runs.points(name)
                runs += len(points)
                converged += float(points.converged.sum())
                stationary += float((points.converged * points.stationary).sum())
    return (
        "The recursion is the same in all ways: where their answers differ, the argmin and the stopping rule do, which the authors "
        f"themselves call open to improvement. Of {runs:,.0f} runs with the paper's step, {converged:,.0f} ended by its rule, a small "
        f"|Ap - Bq|, and {stationary:,.0f} of those at a stationary point (every residual at most 1e-8)."
    )


def _verdict_table(figures: Sequence[JudgedFigure]) -> Table:
    rows = [
        (verdict.claim.text, verdict.words, judged.figure.name, next(iter(verdict.findings.values())).said)
        for judged in figures
        for verdict in judged.verdicts
    ]
    return Table(("the paper says", "verdict", "figure", "in the paper's way"), rows)


def _sensitivity(verdicts: Sequence[Verdict], run: bool) -> list[Block]:
    """Which answers, in the paper's way, depend on a setting that it leaves open."""
    if not run:
        return [Text("The full run varies these settings, and says which verdicts hang on them; this one does not.")]
    every = [verdict for verdict in verdicts if verdict.varied]
    hanging = [verdict for verdict in every if verdict.hangs_on]
    blocks: list[Block] = [
        Text(
            f"Of {len(every)} claims whose settings were varied, the answer in the paper's way is the same under all of them for "
            f"{len(every) - len(hanging)}."
        )
    ]
    if hanging:
        rows = [
            (
                verdict.claim.text,
                _answer(next(iter(verdict.findings.values()))),
                "; ".join(f"{setting}: {_answer(verdict.varied[setting])}" for setting in verdict.hangs_on),
                verdict.words,
            )
            for verdict in hanging
        ]
        blocks.append(Table(("claim", "as chosen", "otherwise with", "verdict over all ways"), rows))
    return blocks


def _answer(finding: Finding) -> str:
    return {True: "yes", False: "no", None: "not decided"}[finding.holds]


def _section(judged: JudgedFigure) -> list[Block]:
    figure, rows = judged.figure, judged.rows
    blocks: list[Block] = [
        Heading(2, f"{figure.name}: {figure.title}"),
        Text(f"The paper: {figure.paper}"),
        Picture(f"{figure.name}.png", figure.title),
    ]
    for verdict in judged.verdicts:
        blocks += [
            Heading(3, verdict.claim.text),
            Text(f"{verdict.claim.where}. Verdict: {verdict.words}."),
            Items([f"{way}: {_answer(finding)}; {finding.said}." for way, finding in verdict.findings.items()]),
        ]
        if verdict.varied:
            blocks.append(
                Items([f"with {setting}: {_answer(one)}; {one.said}." for setting, one in verdict.varied.items()])
            )
        if calls := dict.fromkeys(proof.call for finding in verdict.findings.values() for proof in finding.evidence):
            blocks.append(Code("\n".join(calls)))
    if rows:
        shown = list(rows)[:SHOWN_ROWS]
        more = f", the first {len(shown)} of {len(rows)} rows" if len(shown) < len(rows) else ""
        blocks.append(Text(f"{figure.name}.csv{more}:"))
        blocks.append(Table(list(shown[0]), [[_cell(value) for value in row.values()] for row in shown]))
    return blocks


def _cell(value: Any) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.6g}"
    return str(value)


def _csv(rows: Sequence[Row]) -> str:
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue()
