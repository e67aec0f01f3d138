"""Pictures that a script of the gallery wrote beside itself become pictures of its page, and are taken away."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


def scraper(block: Any, variables: dict[str, Any], conf: dict[str, Any]) -> str:
    """The reStructuredText that shows them."""
    taken = []
    for written in sorted(Path(variables["src_file"]).parent.glob("*.png")):
        taken.append(next(variables["image_path_iterator"]))
        shutil.move(written, taken[-1])
    return figure_rst(taken, conf["src_dir"])
