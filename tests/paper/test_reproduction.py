"""Everything, end to end, as small as it gets; and what is finished is not run again."""

import csv
import re
from dataclasses import replace

import numpy as np
import pytest

from infoplane.paper import FIGURES
from infoplane.paper.figure import Figure
from infoplane.paper.folder import Folder
from infoplane.paper.pieces import Merges, Sweep
from infoplane.paper.report import write_figure, write_report
from infoplane.paper.reproduction import Reproduction
from infoplane.paper.settings import FULL, QUICK
from infoplane.paper.verdict import Finding
from tiny import TINY


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """All figures at the smallest scale."""
    pytest.importorskip("matplotlib")
    out = tmp_path_factory.mktemp("out")
    reproduction = Reproduction(list(FIGURES.values()), TINY, out / "runs")
    for _ in reproduction.work(reproduction.jobs(), lambda: None):
        pass
    verdicts = {name: write_figure(reproduction, figure, out) for name, figure in FIGURES.items()}
    write_report(reproduction, verdicts, out)
    return out, reproduction, verdicts


def test_every_figure_has_a_picture_a_table_and_verdicts(whole):
    out, _, verdicts = whole
    for name in FIGURES:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        with open(out / f"{name}.csv") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1
        assert verdicts[name]
    assert not list(out.glob(".*"))


def test_the_report_has_every_claim_with_its_numbers(whole):
    out, _, verdicts = whole
    text = (out / "report.md").read_text()
    shown = (out / "report.html").read_text()
    for several in verdicts.values():
        for verdict in several:
            assert verdict.claim.text in text
            assert f"Verdict: {verdict.words}." in text
            for finding in verdict.findings.values():
                assert isinstance(finding, Finding)
                assert finding.said in text
                assert finding.holds is None or re.search(r"\d", finding.said)
    assert shown.count("data:image/png;base64,") == len(FIGURES)
    for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
        assert (out / picture).exists()


def test_finished_pieces_are_not_run_again(whole, monkeypatch):
    _, reproduction, verdicts = whole
    assert all(job.done for job in reproduction.jobs())

    def never(_self):
        raise AssertionError("run again")

    monkeypatch.setattr(Sweep, "run", never)
    for name, figure in FIGURES.items():
        again = reproduction.verdicts(figure)
        assert [verdict.words for verdict in again] == [verdict.words for verdict in verdicts[name]]


def test_figures_share_pieces(whole):
    _, reproduction, _ = whole
    named = [piece for figure in FIGURES.values() for piece in figure.pieces(TINY)]
    jobs = reproduction.jobs()
    assert len(jobs) < len(named)
    assert len({job.piece for job in jobs}) == len(jobs)
    names = [[piece.name for piece in figure.pieces(TINY)] for figure in FIGURES.values()]
    assert all(len(set(one)) == len(one) for one in names)


def test_claims_have_keys_of_their_own():
    keys = [claim.key for figure in FIGURES.values() for claim in figure.claims]
    assert len(set(keys)) == len(keys)
    assert all(isinstance(figure, Figure) and figure.name == name for name, figure in FIGURES.items())


def test_the_full_run_is_the_papers():
    """The paper's grids, trials and penalties, read off the descriptions."""
    sweeps = {
        (name, piece.name): piece
        for name, figure in FIGURES.items()
        for piece in figure.pieces(FULL)
        if isinstance(piece, Sweep)
    }
    plane = sweeps["funnel-planes", "uniform: pf-2, gradient"]
    assert (len(plane.parameters), plane.parameters[0], plane.trials, plane.clusters) == (20, 0.5, 10, 4)
    assert plane.parameters[-1] == pytest.approx(20.0)
    assert plane.method.relaxation == 1.618
    heart = sweeps["funnel-heart", "heart: pf-2v, gradient"]
    assert (heart.method.penalty, heart.trials, heart.clusters) == (128.0, 20, 17)
    shares = [
        piece for (name, _), piece in sweeps.items() if name == "funnel-share" and piece.method.kind == "gradient"
    ]
    chosen = [piece for piece in shares if piece.trials * len(piece.parameters) == 2000]
    assert {piece.method.penalty for piece in chosen} == set(np.arange(1000.0, 8001.0, 1000.0))
    assert {piece.method.relaxation for piece in chosen} == {1.618, 2.0}
    bottleneck = sweeps["bottleneck-heart", "heart: ib-1v, gradient"]
    assert (len(bottleneck.parameters), bottleneck.parameters[0], bottleneck.trials) == (64, 0.01, 16)
    one = sweeps["bottleneck-planes", "non-uniform: ib-1, gradient"]
    assert (one.method.penalty, one.method.relaxation, len(one.parameters), one.trials) == (16.0, 1.618, 16, 16)
    assert any("first step 1" in name for _, name in sweeps)
    assert QUICK.sensitivity is False


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


def test_a_missing_piece_is_named(tmp_path):
    reproduction = Reproduction([FIGURES["iterations"]], TINY, tmp_path)
    with pytest.raises(LookupError, match="the piece 'uniform: ib-1, gradient' was not run"):
        reproduction.runs(FIGURES["iterations"])
