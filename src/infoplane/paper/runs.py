"""The numbers of a figure's pieces by name, and the same figure under another open setting."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

from .pieces import Piece
from .points import Columns, Points
from .settings import Scale

QUARTER = "a quarter of the iteration limit"
"""Needs no runs of its own: those that ended later count as divergent."""

SEPARATOR = " | "
"""Between a piece's name and the setting that it varies."""


def varied(name: str, setting: str) -> str:
    """The name of a piece run under another setting."""
    return f"{name}{SEPARATOR}{setting}"


@dataclass(frozen=True)
class Runs:
    """What a figure and its claims look at."""

    pieces: Mapping[str, Piece]
    columns: Mapping[str, Columns]
    scale: Scale
    setting: str | None = None
    """The open setting that is varied; None for the one chosen."""

    @cached_property
    def settings(self) -> list[str]:
        """The settings that were varied in this figure."""
        found = dict.fromkeys(name.partition(SEPARATOR)[2] for name in self.pieces if SEPARATOR in name)
        return [QUARTER, *found] if found else []

    def under(self, setting: str) -> Runs:
        """The same figure with pieces of that setting in the place of their namesakes."""
        return Runs(self.pieces, self.columns, self.scale, setting)

    def _name(self, name: str) -> str:
        other = varied(name, self.setting or "")
        return other if other in self.pieces else name

    def piece(self, name: str) -> Piece:
        """A description."""
        return self.pieces[self._name(name)]

    def __getitem__(self, name: str) -> Columns:
        return self.columns[self._name(name)]

    def points(self, name: str) -> Points:
        """A sweep's or a certified frontier's columns."""
        points = Points.from_columns(self[name])
        method = getattr(self.piece(name), "method", None)
        return points.within(method.max_iter / 4) if self.setting == QUARTER and method is not None else points
