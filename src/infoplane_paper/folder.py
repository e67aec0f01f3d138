"""Finished pieces in a folder, one file per piece: what is there is not run again.

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
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

import infoplane as ip

from .piece import Arrays, Piece

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
