"""From figures to runs to verdicts: what is left to do, how long it takes, doing it, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .folder import Folder
from .piece import Arrays, Piece
from .runs import Runs
from .scale import Scale
from .verdict import Figure, Row, Verdict, judge


@dataclass(frozen=True)
class Job:
    """A piece, the first figure that needs it, and whether it is finished."""

    figure: Figure
    piece: Piece
    done: bool


@dataclass(frozen=True)
class JudgedFigure:
    """A figure with its runs, its table and the verdicts on its claims."""

    figure: Figure
    runs: Runs
    rows: Sequence[Row]
    verdicts: Sequence[Verdict]


class Reproduction:
    """Some figures at one scale, with a folder for what is finished. Every finished piece is read from it once."""

    def __init__(self, figures: Sequence[Figure], scale: Scale, folder: Path) -> None:
        self.figures, self.scale = tuple(figures), scale
        self.folder = Folder(folder)
        self._finished: dict[Piece, Arrays] = {}

    def jobs(self) -> list[Job]:
        """Every piece once, in the figures' order; figures may share pieces."""
        first: dict[Piece, Figure] = {}
        for figure in self.figures:
            for piece in figure.pieces(self.scale):
                first.setdefault(piece, figure)
        return [Job(figure, piece, self._load(piece) is not None) for piece, figure in first.items()]

    def work(self, jobs: Sequence[Job], check: Callable[[], None]) -> Iterator[Job]:
        """Run jobs, save each as it is done, and yield it; ``check`` raises if the run was interrupted on the way."""
        for job in jobs:
            arrays = job.piece.run()
            check()
            self.folder.save(job.piece, arrays)
            self._finished[job.piece] = arrays
            yield job

    def judged(self, figure: Figure) -> JudgedFigure:
        """A figure whose pieces are finished, with its table and a verdict on every claim."""
        pieces = {piece.name: piece for piece in figure.pieces(self.scale)}
        arrays = {}
        for name, piece in pieces.items():
            found = self._load(piece)
            if found is None:
                raise LookupError(f"{figure.name}: the piece {name!r} was not run.")
            arrays[name] = found
        runs = Runs(pieces, arrays)
        return JudgedFigure(figure, runs, figure.table(runs), [judge(claim, runs) for claim in figure.claims])

    def _load(self, piece: Piece) -> Arrays | None:
        """The numbers of a finished piece, from memory if they were needed before; all of them together are a few megabytes."""
        if piece not in self._finished and (found := self.folder.load(piece)) is not None:
            self._finished[piece] = found
        return self._finished.get(piece)
