"""The bar on stderr, and its words."""

import io
import sys
import threading
import types

import infoplane as ip
from infoplane.solvers.annealing import Annealing
from infoplane.sweep import progress as progress_module
from infoplane.sweep.progress import SweepProgress, bar, duration, sentence, working


def test_the_bar_on_a_terminal(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    with bar(5, "bottleneck") as tell:
        ip.sweep(
            ip.datasets.paper_uniform(),
            ip.bottleneck,
            [0.1, 0.2, 0.3, 0.5, 0.9],
            "ib-1",
            starts=2,
            rng=3,
            progress=tell,
        )
    said = capsys.readouterr().err
    for words in ("bottleneck", "5/5", "runs/s", "left", "100% converged", "nats at"):
        assert words in said


def test_words_of_the_bar():
    progress = SweepProgress(1, 4, 0.25, -0.125, 6, 8, 32, 2.0, 4.0)
    assert sentence(progress) == "4 runs/s, 6 s left, 75% converged, best loss -0.1250 nats at 0.25"
    assert [duration(s) for s in (59.6, 61, 3_700, float("inf"))] == ["1 min 00 s", "1 min 01 s", "1 h 01 min", "long"]


class Heard(io.StringIO):
    """A stderr that says once a line with some words was written."""

    def __init__(self, words):
        super().__init__()
        self.words, self.said = words, threading.Event()

    def write(self, text):
        if self.words in text:
            self.said.set()
        return super().write(text)


def test_lines_where_there_is_no_terminal(monkeypatch, capsys):
    one = SweepProgress(1, 4, 0.2, -0.1, 3, 4, 16, 1.0, 4.0)
    with bar(4, "bottleneck") as tell:
        tell(one)
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(progress_module, "LINE_SECONDS", 0.001)
    monkeypatch.setattr(sys, "stderr", heard := Heard("so far, 1 of 4 parameters, 4 runs/s, 3 s left"))
    with bar(4, "bottleneck", lines=True) as tell:
        tell(one)
        assert heard.said.wait(60)
    assert heard.getvalue().startswith("bottleneck: 0 s so far, ")


def test_a_path_that_takes_long_says_so_before_it_ends(monkeypatch):
    """An annealed sweep is one chunk: nothing was said until all of it was done."""
    monkeypatch.setattr(progress_module, "LINE_SECONDS", 0.001)
    monkeypatch.setattr(sys, "stderr", heard := Heard("bottleneck: 0 s so far, 0 of 3 parameters\n"))
    follow = Annealing.follow

    def slow(*arguments):
        assert heard.said.wait(60)
        return follow(*arguments)

    monkeypatch.setattr(Annealing, "follow", slow)
    with bar(3, "bottleneck", lines=True) as tell:
        ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2, 0.3], "annealing", progress=tell)
    assert heard.said.is_set()


def test_one_bar_in_a_notebook(monkeypatch):
    shown = []

    class Handle:
        def update(self, value):
            shown.append(("update", value))

    def display(value, display_id):
        shown.append(("display", value))
        return Handle()

    monkeypatch.setattr(progress_module, "in_notebook", lambda: True)
    fake = types.SimpleNamespace(display=display, HTML=str)
    monkeypatch.setattr(progress_module.importlib, "import_module", lambda _name: fake)
    with bar(4, "<b>") as tell:
        tell(SweepProgress(1, 4, 0.2, -0.1, 3, 4, 16, 1.0, 4.0))
        tell(SweepProgress(4, 4, 0.2, -0.1, 3, 16, 16, 1.0, 4.0))
    assert [kind for kind, _ in shown] == ["display", "update", "update"]
    assert 'value="1.0000"' in shown[-1][1]
    assert "<b>" not in shown[-1][1]


def test_work_that_reports_nothing_says_that_it_goes_on(monkeypatch):
    """A line every ten seconds where there is no terminal, from a thread of its own; what was reported last is in it."""
    monkeypatch.setattr(progress_module, "LINE_SECONDS", 0.001)
    silent = Heard("solving: 0 s so far\n")
    monkeypatch.setattr(sys, "stderr", silent)
    with working("solving", lines=True):
        assert silent.said.wait(60)
    reporting = Heard("0 s so far, 7 iterations, 1 of 2 runs going on, best loss -0.250000 nats\n")
    monkeypatch.setattr(sys, "stderr", reporting)
    with working("solving", lines=True) as tell:
        tell(ip.Progress(7, 2, 1, -0.25))
        assert reporting.said.wait(60)
    unwanted = Heard("")
    monkeypatch.setattr(sys, "stderr", unwanted)
    with working("solving") as tell:
        tell(ip.Progress(7, 2, 1, -0.25))
    assert unwanted.getvalue() == ""


def on_a_terminal(monkeypatch):
    import rich.console

    real = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda **options: real(**options, force_terminal=True, width=150, color_system=None)
    )


def test_the_search_for_the_default_grid_is_seen_on_a_terminal(monkeypatch, capsys):
    on_a_terminal(monkeypatch)
    found = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, points=3, progress=True)
    assert found.complete
    said = capsys.readouterr().err
    assert "range of the grid" in said
    assert "iterations" in said
    ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, points=3)
    assert capsys.readouterr().err == ""
