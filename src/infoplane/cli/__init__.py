"""The command line: commands parse, call the library, and print. Nothing else in infoplane prints."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run ``infoplane ARGUMENTS`` and exit with its code."""
    from .app import infoplane, open_closed_streams

    open_closed_streams()
    infoplane.main(arguments, prog_name="infoplane")
    raise SystemExit(0)


__all__ = ["main"]
