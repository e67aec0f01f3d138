"""The bar on stderr, and its words."""

import infoplane as ip
from infoplane.sweep.progress import SweepProgress, bar, duration, sentence


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
