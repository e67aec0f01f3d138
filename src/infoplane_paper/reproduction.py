"""From figures to runs to verdicts: what is left to do, how long it takes, doing it, and what came of it; and the files of all that.

Finished pieces are kept in a folder, one file per piece: what is there is not run again. They are tens of megabytes and stay where they
were made; the answers to all claims, some kilobytes, stand in findings.json beside the pictures and tables, from which the report can be
written again.

Why not the store of `infoplane.sweep`: that is one SQLite file per sweep, and holds runs and encoders. Single runs iteration by
iteration, reference points and the theorems' thresholds, one piece in nine, have no place in it, so that these files would be needed
beside it anyway; and the sweeps of the full run would be 500 databases, each several times as large as its file here and ten times as
slow to read. What it would gain, resuming within a piece, matters little: most pieces take seconds.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pandas as pd

import infoplane as ip

from .drawing import Row
from .pieces import Piece
from .points import Arrays
from .settings import Scale
from .verdict import Claim, Figure, Finding, Runs, Verdict, judge

FORMAT = 3
"""Of the files: 3 since a trajectory no longer says whether it converged."""


def write_whole(path: Path, write: Callable[[BinaryIO], object]) -> None:
    """Write to a file beside ``path`` and move it there once whole, so that no reader ever sees a part of it."""
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with open(part, "wb") as file:
            write(file)
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


class Folder:
    """Where the finished pieces of a reproduction are kept."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, piece: Piece) -> Arrays | None:
        """The numbers of a piece that was finished by this version of infoplane, else None; also if its file cannot be read."""
        try:
            with open(self._file(piece), "rb") as file, np.load(file, allow_pickle=False) as archive:
                arrays = {name: archive[name] for name in archive.files}
            return arrays if str(arrays.pop("key")) == _key(piece) else None
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile, zlib.error):
            return None

    def save(self, piece: Piece, arrays: Arrays) -> None:
        """Keep a finished piece."""
        self.path.mkdir(parents=True, exist_ok=True)
        kept: dict[str, Any] = {"key": np.array(_key(piece)), **arrays}
        write_whole(self._file(piece), lambda file: np.savez_compressed(file, **kept))

    def _file(self, piece: Piece) -> Path:
        words = re.sub(r"[^a-z0-9.]+", "-", piece.name.lower()).strip("-")
        return self.path / f"{words}-{hashlib.sha256(_key(piece).encode()).hexdigest()[:12]}.npz"


def _key(piece: Any) -> str:
    """The whole description of a piece: the name of its class, and its fields."""
    said = {"format": FORMAT, "version": ip.__version__, "piece": type(piece).__name__, **asdict(piece)}
    return json.dumps(said, sort_keys=True)


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
        arrays = {name: self._load(piece) for name, piece in pieces.items()}
        for name, found in arrays.items():
            if found is None:
                raise LookupError(f"{figure.name}: the piece {name!r} was not run.")
        runs = Runs(pieces, {name: found for name, found in arrays.items() if found is not None})
        return JudgedFigure(figure, runs, figure.table(runs), [judge(claim, runs) for claim in figure.claims])

    def _load(self, piece: Piece) -> Arrays | None:
        """The numbers of a finished piece, from memory if they were needed before; all of them together are a few megabytes."""
        if piece not in self._finished and (found := self.folder.load(piece)) is not None:
            self._finished[piece] = found
        return self._finished.get(piece)


FILE = "findings.json"


def keep(verdicts: Mapping[str, Iterable[Verdict]], scale: str, out: Path) -> None:
    """Write the answers to all claims, by figure; those of other figures that the folder has, at the same scale, stay."""
    others = _stored(out)["figures"] if (out / FILE).is_file() and scale_of(out) == scale else {}

    def plain(findings: Mapping[str, Finding]) -> dict[str, Any]:
        return {way: {"holds": one.holds, "said": one.said} for way, one in findings.items()}

    said = others | {
        figure: {one.claim.key: {"ways": plain(one.findings), "varied": plain(one.varied)} for one in found}
        for figure, found in verdicts.items()
    }
    text = json.dumps({"scale": scale, "figures": said}, indent=1, ensure_ascii=False)
    write_whole(out / FILE, lambda file: file.write(text.encode()))


def kept(figures: Iterable[Figure], out: Path) -> dict[str, list[Verdict]]:
    """The verdicts of the figures that a folder has answers for; a claim that was not asked then is left out."""
    stored = _stored(out)["figures"]

    def verdict(claim: Claim, answers: Mapping[str, Any]) -> Verdict:
        ways, varied = ({name: Finding(**one) for name, one in answers[part].items()} for part in ("ways", "varied"))
        return Verdict(claim, ways, varied)

    return {
        figure.name: [verdict(one, answers[one.key]) for one in figure.claims if one.key in answers]
        for figure in figures
        if (answers := stored.get(figure.name)) is not None
    }


def scale_of(out: Path) -> str:
    """At which scale the answers were found."""
    return str(_stored(out)["scale"])


def _stored(out: Path) -> Any:
    return json.loads((out / FILE).read_text())


def rows_of(figure: str, out: Path) -> list[Row]:
    """The table of a figure, numbers as numbers."""
    return pd.read_csv(out / f"{figure}.csv").to_dict("records")  # type: ignore[return-value]
