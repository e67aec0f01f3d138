"""The whole reproduction, once for all tests that look at it."""

from functools import cache

import pytest

import infoplane as ip
from infoplane_paper import FIGURES, drawing
from infoplane_paper.report import write_figure, write_report
from infoplane_paper.reproduction import Reproduction
from tiny import TINY


@pytest.fixture(scope="session")
def whole(tmp_path_factory):
    """All figures at the smallest scale: the folder of the report, the reproduction, and the figures judged, by name.

    The proven curve behind the funnels is drawn from three caps; test_drawing.py looks at one from all of them.
    """
    pytest.importorskip("matplotlib")
    out = tmp_path_factory.mktemp("out")
    reproduction = Reproduction(list(FIGURES.values()), TINY, out / "runs")
    for _ in reproduction.work(reproduction.jobs(), lambda: None):
        pass
    judged = {name: reproduction.judged(figure) for name, figure in FIGURES.items()}
    curve = ip.funnel_curve
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ip, "funnel_curve", lambda joint, leakages: curve(joint, leakages[::8]))
        patch.setattr(drawing, "frontier", cache(drawing.frontier.__wrapped__))
        for one in judged.values():
            write_figure(one, out)
    write_report(list(judged.values()), TINY, out)
    return out, reproduction, judged
