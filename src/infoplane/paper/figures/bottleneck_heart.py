"""Information plane of the bottleneck on the heart data: ib-1v with c = 128 against Blahut-Arimoto."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ... import datasets
from ...information import bits
from ..figure import WAYS, Figure
from ..methods import KINDS, Method
from ..piece import Piece
from ..plane_figures import plane, plane_table, planes, proven_frontier, scatter_runs
from ..planes import spans_more
from ..runs import Runs
from ..scale import Scale
from ..sensitivity import with_other_settings
from ..sweeps import Certified, Sweep
from ..verdict import Claim, Finding, with_evidence

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawing

JOINT, TITLE = "heart", "heart"
PENALTY, ALPHA, CLUSTERS, TRIALS, GAMMAS = 128.0, 1.0, 17, 16, (0.01, 1.0, 64)
LESS_TRIALS = 2
"""Trials under other settings."""


def pieces(scale: Scale) -> Sequence[Piece]:
    """Ib-1v in all ways of running, Blahut-Arimoto, and the certified optima."""
    methods = [Method("ib-1v", kind, PENALTY, ALPHA) for kind in KINDS] + [Method("blahut-arimoto", "exact")]
    base = [
        Sweep(
            f"{TITLE}: {method.label}",
            JOINT,
            "bottleneck",
            scale.grid(*GAMMAS, JOINT),
            method.within(scale.within(method.kind, JOINT)),
            CLUSTERS,
            min(TRIALS, scale.trials),
        )
        for method in methods
    ]
    certified = Certified(f"{TITLE}: certified", JOINT, "bottleneck", scale.fine(*GAMMAS, JOINT))
    return [certified, *base, *with_other_settings([certified, *base], scale, LESS_TRIALS, clusters=(16,))]


def draw(runs: Runs) -> Drawing:
    """The whole plane, and the part that the paper points at, in each way of running."""
    top = bits(datasets.load(JOINT).mutual_information)
    certified = runs.points(f"{TITLE}: certified")
    whole = float(certified.ixz.max())
    parts = {"whole plane": (whole, top), "I(X;Z) up to 0.5 bits": (0.5, 0.5 * top)}
    figure, places = planes(list(parts))
    for ax, part, words, kinds in places:
        proven_frontier(ax, certified, "bottleneck", whole)
        for kind in kinds:
            scatter_runs(ax, runs.points(f"{TITLE}: ib-1v, {kind}"), "ib-1v", kind)
        scatter_runs(ax, runs.points(f"{TITLE}: blahut-arimoto"), "blahut-arimoto")
        plane(ax, words, *parts[part])
    return figure


def explores_more(runs: Runs, way: str) -> Finding:
    """Ib-1v against Blahut-Arimoto in [0, 0.5] bits."""
    names = f"{TITLE}: ib-1v, {way}", f"{TITLE}: blahut-arimoto"
    certified = runs.points(f"{TITLE}: certified")
    found = spans_more(runs.points(names[0]), runs.points(names[1]), certified, ("ib-1v", "blahut-arimoto"), 0.0, 0.5)
    return with_evidence(found, runs, *names)


FIGURE = Figure(
    name="bottleneck-heart",
    title="Information plane of the bottleneck, heart data",
    paper="ib-1v (c 128) spans the plane with more points of the frontier than Blahut-Arimoto, to be seen in [0, 0.5] bits.",
    pieces=pieces,
    draw=draw,
    table=plane_table,
    claims=(
        Claim(
            "ib-1v-spans-heart",
            "ib-1v spans more of the heart frontier than Blahut-Arimoto in [0, 0.5] bits",
            "Section V-C",
            explores_more,
            WAYS,
        ),
    ),
    see="On the right the part that the paper points at: how many marks lie on the line, for ib-1v and for Blahut-Arimoto.",
)
