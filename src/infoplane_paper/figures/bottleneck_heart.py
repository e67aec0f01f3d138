"""Information plane of the bottleneck on the heart data: ib-1v with c = 128 against Blahut-Arimoto."""

from __future__ import annotations

from ..methods import BASELINE, WAYS
from ..plane_figures import Plane, asked, plane_figure
from ..planes import spans_more
from ..verdict import Claim, Finding

SOLVERS = {"ib-1v": (128.0, 1.0)}
"""Penalty and relaxation."""

PLANE = Plane(
    "heart", "heart", "bottleneck", SOLVERS, clusters=17, trials=16, grid=(0.01, 1.0, 64), less=2, others=(16,)
)


FIGURE = plane_figure(
    [PLANE],
    name="bottleneck-heart",
    title="Information plane of the bottleneck, heart data",
    paper="ib-1v (c 128) spans the plane with more points of the frontier than Blahut-Arimoto, to be seen in [0, 0.5] bits.",
    where="Section V-C",
    claims=(
        Claim(
            "ib-1v-best-heart",
            "ib-1v performs best among the proposed solvers on the heart data",
            lambda _runs, _way: Finding(None, "only ib-1v is shown, and only ib-1v was run"),
            {"gradient": WAYS["gradient"]},
            undecidable="The paper gives neither runs nor settings (c, alpha) of ib-1 and ib-2 on these data.",
        ),
        Claim(
            "ib-1v-spans-heart",
            "ib-1v spans more of the heart frontier than Blahut-Arimoto in [0, 0.5] bits",
            asked(spans_more, "heart", ("ib-1v", BASELINE), "certified", low=0.0, high=0.5),
        ),
    ),
)
