"""From figures to verdicts; what is finished is neither run nor read again."""

import pytest

from infoplane_paper import FIGURES
from infoplane_paper.pieces import Sweep
from infoplane_paper.reproduction import Folder, Reproduction
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
        assert [verdict.paper for verdict in again.judged(figure).verdicts] == [
            verdict.paper for verdict in judged[name].verdicts
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
