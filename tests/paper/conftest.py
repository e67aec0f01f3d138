"""The whole reproduction, once for all tests that look at it."""

import pytest

from infoplane_paper import FIGURES
from infoplane_paper.report import write_figure, write_report
from infoplane_paper.reproduction import Reproduction
from tiny import TINY


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """All figures at the smallest scale: the folder of the report, the reproduction, and the figures judged, by name."""
    pytest.importorskip("matplotlib")
    out = tmp_path_factory.mktemp("out")
    reproduction = Reproduction(list(FIGURES.values()), TINY, out / "runs")
    for _ in reproduction.work(reproduction.jobs(), lambda: None):
        pass
    judged = {name: reproduction.judged(figure) for name, figure in FIGURES.items()}
    for one in judged.values():
        write_figure(one, out)
    write_report(list(judged.values()), TINY, out)
    return out, reproduction, judged
