"""From figures to runs to verdicts: what is left to do, how long it takes, doing it, and what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .figure import Figure
from .folder import Folder
from .pieces import Piece
from .runs import Runs
from .settings import Scale
from .verdict import Verdict, judge


@dataclass(frozen=True)
class Job:
    """A piece of a figure that may be done already."""

    figure: Figure
    piece: Piece
    done: bool


class Reproduction:
    """Some figures at one scale, with a folder for what is finished."""

    def __init__(self, figures: Sequence[Figure], scale: Scale, folder: Path) -> None:
        self.figures, self.scale = tuple(figures), scale
        self.folder = Folder(folder)

    def jobs(self) -> list[Job]:
        """Every piece once, in the figures' order; figures may share pieces."""
        found: dict[tuple[str, str], Job] = {}
        seen: list[Piece] = []
        for figure in self.figures:
            for piece in figure.pieces(self.scale):
                if piece not in seen:
                    seen.append(piece)
                    found[figure.name, piece.name] = Job(figure, piece, self.folder.load(piece) is not None)
        return list(found.values())

    def estimate(self, jobs: Sequence[Job]) -> Iterator[float]:
        """Seconds that each job should take, from timed samples."""
        for job in jobs:
            yield job.piece.estimate()

    def work(self, jobs: Sequence[Job], check: Callable[[], None]) -> Iterator[Job]:
        """Run jobs, keep each as it is done, and say so; ``check`` raises if the run was interrupted on the way."""
        for job in jobs:
            columns = job.piece.run()
            check()
            self.folder.save(job.piece, columns)
            yield job

    def runs(self, figure: Figure) -> Runs:
        """The finished pieces of a figure."""
        pieces = {piece.name: piece for piece in figure.pieces(self.scale)}
        columns = {}
        for name, piece in pieces.items():
            found = self.folder.load(piece)
            if found is None:
                raise LookupError(f"{figure.name}: the piece {name!r} was not run.")
            columns[name] = found
        return Runs(pieces, columns, self.scale)

    def verdicts(self, figure: Figure) -> list[Verdict]:
        """Every claim of a figure, judged."""
        runs = self.runs(figure)
        return [judge(claim, runs) for claim in figure.claims]
