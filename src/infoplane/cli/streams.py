"""Standard streams that the caller has closed, as in ``infoplane ... >&-``."""

from __future__ import annotations

import os
import sys


def open_closed_streams() -> None:
    """Let every closed stream lead nowhere.

    Python has None in its place, which cannot be written to. And the next file that is opened, a store for instance, would get the number
    of the closed one: whatever prints by number, as compiled code does, would print into the store.
    """
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            # The lowest number that is free is that of the closed stream.
            nowhere = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(nowhere, mode, encoding="utf-8", errors="replace"))  # noqa: SIM115  as long as the process
