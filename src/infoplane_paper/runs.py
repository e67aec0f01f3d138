"""The numbers of a figure's pieces by name, as chosen or under another value of a setting that the paper leaves open."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from .methods import SMOOTHED
from .pieces import Certified, Merges, Piece, Private, Starts, Sweep
from .points import Arrays, Points
from .settings import Scale

QUARTER = "a quarter of the iteration limit"
"""Needs no runs of its own: those that took longer count as divergent."""

SEPARATOR = " | "
"""Between a piece's name and the setting that is varied in it."""

SMOOTHING = "smoothing on probabilities"

SCRIPTS_ORDER = "the order of the published scripts"
"""The variational formulations in the order of Solver I."""


def varied(name: str, setting: str) -> str:
    """The name of a piece that is run under another setting."""
    return f"{name}{SEPARATOR}{setting}"


def with_other_settings(
    pieces: Sequence[Piece], scale: Scale, trials: int, *, penalties: bool = False, clusters: Sequence[int] = ()
) -> list[Piece]:
    """The gradient sweeps among the pieces again under other settings; on the heart data also the references, smoothed in the other way.

    ``penalties``: the paper does not give c, so it is varied too. ``clusters``: other numbers of clusters.
    """
    if not scale.sensitivity:
        return []
    found: list[Piece] = []
    for piece in pieces:
        if isinstance(piece, Sweep) and piece.method.kind == "gradient":
            found += _others(replace(piece, trials=min(trials, piece.trials)), penalties, clusters)
        elif isinstance(piece, Certified | Merges | Private | Starts) and piece.joint == "heart":
            found.append(replace(piece, name=varied(piece.name, SMOOTHING), joint=SMOOTHED))
    return found


def _others(sweep: Sweep, penalties: bool, clusters: Sequence[int]) -> Iterator[Sweep]:
    name, method = sweep.name, sweep.method
    for step in (1.0, 0.001):
        yield replace(sweep, name=varied(name, f"first step {step:g}"), method=replace(method, first_step=step))
    for factor in (0.25, 4.0) if penalties else ():
        yield replace(
            sweep, name=varied(name, f"{factor:g} times c"), method=replace(method, penalty=factor * method.penalty)
        )
    yield replace(sweep, name=varied(name, "near-deterministic starts"), init="near-deterministic")
    for count in clusters:
        yield replace(sweep, name=varied(name, f"|Z| = {count}"), clusters=count)
    if method.solver.endswith("v"):
        yield replace(sweep, name=varied(name, SCRIPTS_ORDER), method=replace(method, order="I"))
    if sweep.joint == "heart":
        yield replace(sweep, name=varied(name, SMOOTHING), joint=SMOOTHED)


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
