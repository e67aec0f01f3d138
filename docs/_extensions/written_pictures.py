"""What a script of the gallery writes beside itself: pictures become pictures of its page, and nothing stays."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst

EXAMPLES = Path(__file__).parents[2] / "examples"
"""Scripts run in the folder that they are in."""

before: set[Path] = set()
"""The files beside the script before it ran."""


def scraper(block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """The reStructuredText that shows the pictures which a block wrote."""
    taken = []
    for written in sorted({*EXAMPLES.rglob("*.png")} - before):
        taken.append(next(variables["image_path_iterator"]))
        shutil.move(written, taken[-1])
    return figure_rst(taken, conf["src_dir"])


def tidy(conf: dict[str, Any], script: str, when: str) -> None:
    """Called before and after each script."""
    files = {path for path in EXAMPLES.rglob("*") if path.is_file()}
    if when == "before":
        before.clear()
        before.update(files)
    else:
        for path in files - before:
            path.unlink()
