"""What a figure of the paper is: the pieces it needs, its picture, its table, and what the paper claims of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .methods import KINDS
from .piece import Piece
from .runs import Runs
from .scale import Scale
from .verdict import Claim

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

Row = Mapping[str, Any]
"""One row of a figure's table, by column."""

WAYS: Mapping[str, str] = {str(kind): words for kind, words in KINDS.items()}
"""The ways of running that most claims are judged for, in words: the paper's, exact steps at its c, exact steps with automatic c."""


@dataclass(frozen=True)
class Figure:
    """One figure of the paper's evaluation, or one of its theorems."""

    name: str
    title: str
    paper: str
    """What the paper says it shows."""
    pieces: Callable[[Scale], Sequence[Piece]]
    draw: Callable[[Runs], Drawing]
    table: Callable[[Runs], Sequence[Row]]
    claims: tuple[Claim, ...]
    see: str
    """One sentence below the picture that says what to see in it."""
