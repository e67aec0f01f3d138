"""The bar on stderr, and its words."""

import re
import threading
import types

import infoplane as ip
from infoplane.solvers.annealing import Annealing
from infoplane.sweep import engine
from infoplane.sweep import progress as progress_module
from infoplane.sweep.progress import Bar, SweepProgress, bar, duration, sentence


def test_the_bar_on_a_terminal(monkeypatch, capsys):
    import rich.console

    real = rich.console.Console
    monkeypatch.setattr(
        rich.console, "Console", lambda **options: real(**options, force_terminal=True, width=150, color_system=None)
    )
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


def test_lines_where_there_is_no_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress_module, "LINE_SECONDS", 0.0)
    one = SweepProgress(1, 4, 0.2, -0.1, 3, 4, 16, 1.0, 4.0)
    with bar(4, "bottleneck", lines=True) as tell:
        tell(one)
    assert capsys.readouterr().err.startswith("bottleneck: 1 of 4 parameters, 4 runs/s, 3 s left")
    with bar(4, "bottleneck") as tell:
        tell(one)
    assert capsys.readouterr().err == ""


def test_a_path_that_takes_long_says_so_before_it_ends(monkeypatch, capsys):
    """An annealed sweep is one chunk: nothing was said until all of it was done."""
    monkeypatch.setattr(progress_module, "LINE_SECONDS", 0.0)
    monkeypatch.setattr(engine, "WAITING_SECONDS", 0.0)
    said, follow, wait = threading.Event(), Annealing.follow, Bar.wait

    def slow(*arguments):
        assert said.wait(60)
        return follow(*arguments)

    def waited(*arguments):
        wait(*arguments)
        said.set()

    monkeypatch.setattr(Annealing, "follow", slow)
    monkeypatch.setattr(Bar, "wait", waited)
    with bar(3, "bottleneck", lines=True) as tell:
        ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2, 0.3], "annealing", progress=tell)
    assert re.search(r"bottleneck: 0 of 3 parameters, .* so far", capsys.readouterr().err)


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
