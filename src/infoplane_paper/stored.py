"""What a reproduction found, as one file: findings.json beside the pictures and tables, from which the report can be written again.

The runs themselves (`folder`) are tens of megabytes and stay where they were made; the answers to all claims are some kilobytes.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from .folder import write_whole
from .verdict import Claim, Figure, Finding, Row, Verdict

FILE = "findings.json"


def keep(verdicts: Mapping[str, Iterable[Verdict]], scale: str, out: Path) -> None:
    """Write the answers to all claims, by figure; those of other figures that the folder has, at the same scale, stay."""
    others: dict[str, Any] = {}
    if (out / FILE).is_file() and scale_of(out) == scale:
        others = json.loads((out / FILE).read_text())["figures"]
    said = others | {
        figure: {one.claim.key: {"ways": _plain(one.findings), "varied": _plain(one.varied)} for one in found}
        for figure, found in verdicts.items()
    }
    text = json.dumps({"scale": scale, "figures": said}, indent=1, ensure_ascii=False)
    write_whole(out / FILE, lambda file: file.write(text.encode()))


def _plain(findings: Mapping[str, Finding]) -> dict[str, Any]:
    return {way: {"holds": one.holds, "said": one.said} for way, one in findings.items()}


def kept(figures: Iterable[Figure], out: Path) -> dict[str, list[Verdict]]:
    """The verdicts of the figures that a folder has answers for; a claim that was not asked then is left out."""
    stored = json.loads((out / FILE).read_text())["figures"]
    return {
        figure.name: [
            _verdict(one, stored[figure.name][one.key]) for one in figure.claims if one.key in stored[figure.name]
        ]
        for figure in figures
        if figure.name in stored
    }


def scale_of(out: Path) -> str:
    """At which scale the answers were found."""
    return str(json.loads((out / FILE).read_text())["scale"])


def _verdict(claim: Claim, answers: Mapping[str, Any]) -> Verdict:
    ways, varied = (
        {name: Finding(one["holds"], one["said"]) for name, one in answers[part].items()} for part in ("ways", "varied")
    )
    return Verdict(claim, ways, varied)


def rows_of(figure: str, out: Path) -> list[Row]:
    """The table of a figure, numbers as numbers."""
    with open(out / f"{figure}.csv", newline="") as file:
        return [{name: _number(cell) for name, cell in row.items()} for row in csv.DictReader(file)]


def _number(cell: str) -> Any:
    try:
        return float(cell) if cell else float("nan")
    except ValueError:
        return cell
