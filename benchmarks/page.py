"""Tables that a benchmark prints, put into a page of the docs between two markers."""

from __future__ import annotations

import json
import re
from pathlib import Path


def write_block(page: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``."""
    text = page.read_text()
    pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"{page} needs the markers <!-- {name} --> and <!-- end of {name} -->, once.")
    page.write_text(pattern.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], text))


def write_records(page: Path, out: Path) -> None:
    """The tables of a page as JSON: for each name of a block, a list of rows by column."""
    found = {}
    for name, block in re.findall(r"<!-- (\w+) -->\n(.*?)<!-- end of \1 -->", page.read_text(), re.DOTALL):
        rows = [
            [cell.strip() for cell in line.strip("|").split("|")] for line in block.splitlines() if line.startswith("|")
        ]
        found[name] = [dict(zip(rows[0], row, strict=True)) for row in rows[2:]]
    out.write_text(json.dumps(found, indent=1) + "\n")
