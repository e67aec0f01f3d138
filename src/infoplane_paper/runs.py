"""The numbers of a figure's pieces by name, as chosen or under another value of an open setting."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from .piece import Arrays, Piece
from .points import Points
from .sensitivity import QUARTER, SEPARATOR, varied


@dataclass(frozen=True)
class Runs:
    """What a figure is drawn from and its claims are judged by."""

    pieces: Mapping[str, Piece]
    arrays: Mapping[str, Arrays]
    setting: str | None = None
    """The open setting that is varied; None for the values chosen."""

    @cached_property
    def settings(self) -> list[str]:
        """The settings that were varied in this figure."""
        found = dict.fromkeys(name.partition(SEPARATOR)[2] for name in self.pieces if SEPARATOR in name)
        return [QUARTER, *found] if found else []

    def under(self, setting: str) -> Runs:
        """The same figure; where a piece was also run under that setting, the name of the piece gives those numbers."""
        return Runs(self.pieces, self.arrays, setting)

    def _name(self, name: str) -> str:
        other = varied(name, self.setting or "")
        return other if other in self.pieces else name

    def piece(self, name: str) -> Piece:
        """The description of a piece."""
        return self.pieces[self._name(name)]

    def __getitem__(self, name: str) -> Arrays:
        """The numbers of a piece."""
        return self.arrays[self._name(name)]

    def points(self, name: str) -> Points:
        """The runs of a sweep, or of a certified one."""
        points = Points.from_columns(self[name])
        method = getattr(self.piece(name), "method", None)
        return points.within(method.max_iter / 4) if self.setting == QUARTER and method is not None else points


@dataclass(frozen=True)
class RunWhenAsked(Mapping[str, Arrays]):
    """The numbers of pieces by name; a piece is run when its numbers are asked for."""

    pieces: Mapping[str, Piece]
    done: dict[str, Arrays] = field(default_factory=dict)

    def __getitem__(self, name: str) -> Arrays:
        if name not in self.done:
            self.done[name] = self.pieces[name].run()
        return self.done[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.pieces)

    def __len__(self) -> int:
        return len(self.pieces)
