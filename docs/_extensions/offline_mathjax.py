"""MathJax from the package sphinx-mathjax-offline, as one file: drawn as SVG it needs no fonts, and a page read from a disk no server."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PACKAGE, FILE = "sphinx-mathjax-offline", "tex-svg.js"


def copy(app: Any, exception: Exception | None) -> None:
    if exception is None and app.builder.format == "html":
        package = Path(find_spec(PACKAGE).submodule_search_locations[0])
        shutil.copy(package / "static" / "mathjax" / FILE, Path(app.outdir) / "_static" / FILE)


def setup(app: Any) -> dict[str, Any]:
    app.config.mathjax_path = FILE
    # Without the menu nothing else is ever loaded: its entries fetch parts of MathJax when they are chosen.
    app.config.mathjax3_config = {"options": {"enableMenu": False}}
    app.connect("build-finished", copy)
    return {"parallel_read_safe": True}
