"""From figures to verdicts; what is finished is on the disk, and neither run nor read again."""

from dataclasses import replace

import numpy as np
import pytest

from infoplane_paper import FIGURES
from infoplane_paper.pieces import Merges, Sweep
from infoplane_paper.reproduction import Folder, Reproduction, keep, kept, rows_of, scale_of
from infoplane_paper.verdict import Finding, Verdict
from tiny import TINY


def test_finished_pieces_are_neither_run_nor_read_again(whole, monkeypatch):
    _, reproduction, judged = whole
    again = Reproduction(reproduction.figures, TINY, reproduction.folder.path)
    read = []
    load = Folder.load
    monkeypatch.setattr(Sweep, "run", lambda _piece: pytest.fail("run again"))
    monkeypatch.setattr(Folder, "load", lambda folder, piece: read.append(piece) or load(folder, piece))
    assert all(job.done for job in again.jobs())
    for name, figure in FIGURES.items():
        assert [one.paper_words for one in again.judged(figure).verdicts] == [
            one.paper_words for one in judged[name].verdicts
        ]
    assert len(read) == len(set(read)) == len(again.jobs())


def test_what_was_just_run_is_not_read(tmp_path, monkeypatch):
    reproduction = Reproduction([FIGURES["iterations"]], TINY, tmp_path)
    jobs = reproduction.jobs()
    assert len(list(reproduction.work(jobs, lambda: None))) == len(jobs)
    monkeypatch.setattr(Folder, "load", lambda _folder, _piece: pytest.fail("read"))
    assert reproduction.judged(FIGURES["iterations"]).rows


def test_figures_share_pieces(whole):
    _, reproduction, _ = whole
    named = [piece for figure in FIGURES.values() for piece in figure.pieces(TINY)]
    jobs = reproduction.jobs()
    assert len(jobs) < len(named)
    assert len({job.piece for job in jobs}) == len(jobs)
    names = [[piece.name for piece in figure.pieces(TINY)] for figure in FIGURES.values()]
    assert all(len(set(one)) == len(one) for one in names)


def test_a_missing_piece_is_named(tmp_path):
    reproduction = Reproduction([FIGURES["iterations"]], TINY, tmp_path)
    with pytest.raises(LookupError, match="the piece 'uniform: ib-1, gradient' was not run"):
        reproduction.judged(FIGURES["iterations"])


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


def test_answers_come_back(tmp_path):
    figure = FIGURES["iterations"]
    given = Verdict(figure.claims[0], {"gradient": Finding(True, "12 of 16")}, {"first step 1": Finding(None, "-")})
    keep({figure.name: [given]}, "quick", tmp_path)
    (found,) = kept(FIGURES.values(), tmp_path)[figure.name]
    assert found.claim is figure.claims[0]
    assert (found.first.holds, found.first.said) == (True, "12 of 16")
    assert found.varied["first step 1"].holds is None
    assert scale_of(tmp_path) == "quick"


def test_answers_of_other_figures_stay_unless_they_are_of_another_scale(tmp_path):
    one, two = FIGURES["iterations"], FIGURES["linear-rates"]
    first, second = (Verdict(figure.claims[0], {"gradient": Finding(True, "so")}) for figure in (one, two))
    keep({one.name: [first]}, "full", tmp_path)
    keep({two.name: [second]}, "full", tmp_path)
    assert [*kept(FIGURES.values(), tmp_path)] == [one.name, two.name]
    keep({two.name: [second]}, "quick", tmp_path)
    assert [*kept(FIGURES.values(), tmp_path)] == [two.name]


def test_numbers_of_a_table_are_numbers(tmp_path):
    (tmp_path / "one.csv").write_text('runs,c,share\n"ib-1, alpha 1",2,\n')
    (row,) = rows_of("one", tmp_path)
    assert row["runs"] == "ib-1, alpha 1"
    assert row["c"] == 2.0
    assert row["share"] != row["share"]  # an empty cell is no number
