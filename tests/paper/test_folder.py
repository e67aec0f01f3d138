"""Finished pieces on disk."""

from dataclasses import replace

import numpy as np

from infoplane_paper.pieces import Merges
from infoplane_paper.reproduction import Folder


def test_a_folder_keeps_whole_pieces_only(tmp_path):
    folder, piece = Folder(tmp_path / "runs"), Merges("Merge-Two: it", "paper_uniform")
    assert folder.load(piece) is None
    folder.save(piece, piece.run())
    (file,) = (tmp_path / "runs").iterdir()
    np.testing.assert_array_equal(folder.load(piece)["ixz"], piece.run()["ixz"])
    assert folder.load(replace(piece, joint="paper_nonuniform")) is None
    file.write_bytes(file.read_bytes()[:100])
    assert folder.load(piece) is None
    folder.save(piece, piece.run())
    assert folder.load(piece) is not None
