"""Finished pieces in a folder, one file each, whole or not at all: what is there is not run again."""

from __future__ import annotations

import hashlib
import json
import re
import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np

from .. import __version__
from ..files import write_whole
from .pieces import Piece, described
from .points import Columns

FORMAT = 1


class Folder:
    """Where the runs of a reproduction are kept."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def load(self, piece: Piece) -> Columns | None:
        """The columns of a piece that was finished by this version, or None; a file that cannot be read counts as none."""
        try:
            with open(self._file(piece), "rb") as file, np.load(file, allow_pickle=False) as archive:
                columns = {name: archive[name] for name in archive.files}
            return columns if str(columns.pop("key")) == _key(piece) else None
        except (OSError, ValueError, LookupError, EOFError, zipfile.BadZipFile, zlib.error):
            return None

    def save(self, piece: Piece, columns: Columns) -> None:
        """Keep a finished piece."""
        self.path.mkdir(parents=True, exist_ok=True)
        arrays: dict[str, Any] = {"key": np.array(_key(piece)), **columns}
        write_whole(self._file(piece), lambda file: np.savez_compressed(file, **arrays))

    def _file(self, piece: Piece) -> Path:
        words = re.sub(r"[^a-z0-9.]+", "-", piece.name.lower()).strip("-")
        return self.path / f"{words}-{hashlib.sha256(_key(piece).encode()).hexdigest()[:12]}.npz"


def _key(piece: Piece) -> str:
    return json.dumps({"format": FORMAT, "version": __version__, **described(piece)}, sort_keys=True)
