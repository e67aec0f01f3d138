"""The report of a reproduction: three pages with every claim, its number, one of five verdicts, and why; and one appendix a figure.

It is a list of blocks, each as Markdown and as HTML; the HTML is one self-contained page.
"""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import infoplane as ip

from .drawing import Drawing
from .pieces import Certified, Sweep
from .points import Array
from .reproduction import JudgedFigure, keep, kept, rows_of, scale_of, write_whole
from .settings import OPEN, SEED, Open, Scale
from .verdict import SEPARATOR, Figure, Outcome, Verdict, counted, outcome


class Block(NamedTuple):
    """A part of a report, in both languages."""

    markdown: str
    html: str


MARKS = {
    r"`([^`]+)`": r"<code>\1</code>",
    r"\*\*(.+?)\*\*": r"<strong>\1</strong>",
    r"\[([^\]]+)\]\(([\w.-]+)\)": r'<a href="\2">\1</a>',
}
"""Of Markdown inside a paragraph, and what each becomes in HTML."""


def heading(level: int, words: str) -> Block:
    """A heading; level 1 is the title."""
    return Block(f"{'#' * level} {words}", f"<h{level}>{escape(words)}</h{level}>")


def text(words: str) -> Block:
    """A paragraph; `code`, **bold** and [links](to) of Markdown are what they are in HTML, too."""
    tags = escape(words, quote=False)
    for mark, tag in MARKS.items():
        tags = re.sub(mark, tag, tags)
    return Block(words, f"<p>{tags}</p>")


def items(words: Iterable[str]) -> Block:
    """A bulleted list."""
    said = list(words)
    return Block(
        "\n".join(f"- {one}" for one in said), f"<ul>{''.join(f'<li>{escape(one)}</li>' for one in said)}</ul>"
    )


def python(lines: str) -> Block:
    """Python code."""
    return Block(f"```python\n{lines}\n```", f"<pre>{escape(lines)}</pre>")


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Block:
    """A table."""
    body = list(rows)
    lines = [columns, ["---"] * len(columns), *body]
    tags = ["".join(f"<th>{escape(cell)}</th>" for cell in columns)]
    tags += ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in body]
    return Block(
        "\n".join(f"| {' | '.join(cell.replace('|', chr(92) + '|') for cell in line)} |" for line in lines),
        f"<table>{''.join(f'<tr>{line}</tr>' for line in tags)}</table>",
    )


def picture(file: Path, alt: str) -> Block:
    """A PNG file in the folder of the report: a link in Markdown, the picture itself in HTML."""
    data = base64.b64encode(file.read_bytes()).decode()
    shown = f'<img alt="{escape(alt)}" src="data:image/png;base64,{data}">'
    return Block(f"![{alt}]({file.name})", f'<a href="{file.name}">{shown}</a>')


def beside(left: Sequence[Block], right: Block) -> Block:
    """Some blocks, small, and what they belong to on their right; in Markdown one after another."""
    tags = "\n".join(one.html for one in left)
    return Block(markdown([*left, right]).rstrip("\n"), f'<div class="beside"><div>{tags}</div>\n{right.html}</div>')


STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1240px; margin: 2em auto; padding: 0 1em; color: #222; }
table { border-collapse: collapse; margin: 1em 0; } td, th { padding: .25em .7em; border-bottom: 1px solid #ddd; text-align: left;
vertical-align: top; } pre { background: #f6f6f6; padding: .7em; white-space: pre-wrap; font-size: 12px; } img { max-width: 100%; }
h2 { margin: 1.2em 0 .3em; border-top: 1px solid #ccc; padding-top: .6em; font-size: 1.25em; }
.beside { display: grid; grid-template-columns: 2fr 3fr; gap: 0 1.5em; align-items: start; font-size: 13px; line-height: 1.4; }
.beside table { margin: 0; width: 100%; } .beside th:nth-child(2) { width: 42%; }
@media screen and (max-width: 800px) { .beside { display: block; } }
@media print { @page { size: A4; margin: 8mm; } body { font-size: 7pt; line-height: 1.2; max-width: none; margin: 0; padding: 0; }
.beside { font-size: 6pt; line-height: 1.15; grid-template-columns: 3fr 7fr; gap: 0 1em; } p, table { margin: .2em 0; }
td, th { padding: 0 4px 1px; } h1 { font-size: 12pt; margin: 0; } tr, img { break-inside: avoid; }
h2 { margin-top: .3em; padding-top: .2em; font-size: 8pt; break-after: avoid; } }
""".strip()


def markdown(blocks: Sequence[Block]) -> str:
    """Markdown, with pictures as links to the files beside it."""
    return "\n\n".join(block.markdown for block in blocks) + "\n"


def html_page(blocks: Sequence[Block], title: str) -> str:
    """One HTML page that contains its pictures."""
    body = "\n".join(block.html for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>\n'
        f"<style>{STYLE}</style></head>\n<body>\n{body}\n</body></html>\n"
    )


TITLE = "The paper, claim by claim"

WORDS = {
    Outcome.REPRODUCED: "it holds in the runs made in the authors' way (their step, stopping rule and published details)",
    Outcome.REFUTED: "it holds neither in their way nor with our steps",
    Outcome.NOT_REPRODUCED: "their way does not show it here; that may be us",
    Outcome.FALSE: "it contradicts a theorem, so that no run is needed",
    Outcome.UNDECIDABLE: "no run that we could make decides it",
}

SAID = 230
"""Characters of a finding that the summary shows; the appendix has all of it."""


def count_words(verdicts: Sequence[Verdict]) -> str:
    """How many claims came to what, in words."""
    counts = counted(verdicts)
    return ", ".join(f"{counts[one]} {one.value}" for one in Outcome)


def summary(figures: Sequence[Figure], verdicts: Mapping[str, Sequence[Verdict]], scale: str, out: Path) -> list[Block]:
    """The three pages as blocks; ``out`` has the pictures."""
    every = [one for found in verdicts.values() for one in found]
    claims = sum(one.claim.of_paper for one in every)
    blocks: list[Block] = [
        heading(1, TITLE),
        text(
            "Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic "
            f"Optimization Problems; `infoplane reproduce`, {scale} run, seed {SEED}, infoplane {ip.__version__}. "
            f"**Of {claims} claims: {count_words(every)}.**"
        ),
        table(("verdict", "it means"), [(one.value, words) for one, words in WORDS.items()]),
        text(
            '"The authors\' way" means one thing throughout: one mean-subtracted gradient step per block, back-tracking and stopping as '
            "in their published scripts, with the c and alpha of the paper (gradient). Beside it stand our steps at the paper's c "
            "(majorise) and with the automatic penalty (auto), which stop at stationary points only; linear rates are those of exact "
            "argmins (exact). Informations and losses are in bits. W = p(z|x); I(X;Z), I(Y;Z) are the axes of a plane; c is the penalty, "
            "alpha the relaxation; L* the lowest loss of all runs. Other settings, which the paper leaves open, were tried with 2 to 5 "
            "starts each: what hangs on them is in the appendices, one a figure, with all numbers, tables and the calls that repeat "
            "them, and in [the one on settings](appendix-settings.md)."
        ),
    ]
    for figure in figures:
        if figure.name not in verdicts:
            continue
        blocks += [
            heading(2, figure.title),
            text(f"{figure.where}. {figure.paper} [Appendix](appendix-{figure.name}.md)."),
        ]
        claims_of = table(("claim", "number (authors' way)", "verdict", "why"), map(_row, verdicts[figure.name]))
        drawn = out / f"{figure.name}.png"
        blocks.append(
            beside([picture(drawn, figure.title), text(figure.see)], claims_of) if drawn.exists() else claims_of
        )
    return blocks


def _row(verdict: Verdict) -> tuple[str, str, str, str]:
    found, why = outcome(verdict)
    said = verdict.first.said
    short = said if len(said) <= SAID else said[: SAID - 4].rsplit(" ", 1)[0] + " ..."
    mark = found.value if verdict.claim.of_paper else f"({found.value}; of our own runs, not counted)"
    return verdict.claim.text, short, mark, why


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
    figure = judged.figure
    if figure.redraw is not None:
        _save(figure.redraw(judged.rows), out / f"{figure.name}.png")
    elif figure.draw is not None:
        _save(figure.draw(judged.runs), out / f"{figure.name}.png")
    table = pd.DataFrame(judged.rows)
    write_whole(out / f"{figure.name}.csv", lambda file: table.to_csv(file, index=False, float_format="%.6g"))


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
    total = 0
    residuals: list[Array] = [np.empty(0)]
    gaps: list[Array] = [np.empty(0)]
    for runs in (judged.runs for judged in figures):
        known = {(one.joint, one.family): name for name, one in runs.pieces.items() if isinstance(one, Certified)}
        for name, piece in runs.pieces.items():
            if not isinstance(piece, Sweep) or piece.method.kind != "gradient" or SEPARATOR in name:
                continue
            ended = runs.points(name).ended()
            total += len(runs.points(name))
            residuals.append(ended.stationarity)
            if (piece.joint, piece.family) in known:
                proven = runs.points(known[piece.joint, piece.family])
                row = np.abs(ended.parameter[:, None] - proven.parameter).argmin(axis=1)
                same = np.isclose(ended.parameter, proven.parameter[row])
                gaps.append((ended.loss - proven.lower_bound[row])[same])
    residual, gap = np.concatenate(residuals), np.concatenate(gaps)
    sentence = (
        "The recursion is the same in all ways: where their answers differ, the argmin and the stopping rule do, which the authors "
        f"themselves call open to improvement. Of {total:,} runs with the paper's step, {len(residual):,} ended by its rule, "
        "a small |Ap - Bq|."
    )
    if len(residual) and len(gap):
        sentence += (
            f" Their stationarity residual max |W - fixed_point(W)| is {_quantiles(residual)}, and at most {NEAR:g} in "
            f"{float((residual <= NEAR).mean()):.1%}; they end {_quantiles(gap)} bits above the proven optimum, and within {NEAR:g} in "
            f"{float((gap <= NEAR).mean()):.1%}."
        )
    return sentence


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
