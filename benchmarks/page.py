"""Tables that a benchmark prints, put into a page of the docs between two markers."""

from __future__ import annotations

import re
from pathlib import Path


def write_block(page: Path, name: str, lines: list[str]) -> None:
    """Replace what stands between ``<!-- name -->`` and ``<!-- end of name -->``."""
    text = page.read_text()
    pattern = re.compile(f"(<!-- {name} -->\n).*?(<!-- end of {name} -->)", re.DOTALL)
    if len(pattern.findall(text)) != 1:
        raise SystemExit(f"{page} needs the markers <!-- {name} --> and <!-- end of {name} -->, once.")
    page.write_text(pattern.sub(lambda found: found[1] + "\n".join(lines) + "\n" + found[2], text))
