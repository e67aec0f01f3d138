"""Information plane of the funnel on the heart data (pf-2 with c = 7000, pf-2v with c = 128, Merge-Two)."""

from __future__ import annotations

from ..plane_figures import Plane, asked, moved, plane_figure
from ..planes import leaks_less, recovers
from ..runs import Runs
from ..settings import HEART_BETAS, VISIBLE
from ..verdict import Claim, Finding, all_of

SOLVERS = {"pf-2": (7000.0, 1.618), "pf-2v": (128.0, 1.0)}
"""Penalty, which the paper gives, and relaxation, which are those of its other funnel planes."""

GRID = (1.0, 10.0, HEART_BETAS)
PLANE = Plane("heart", "heart", "funnel", SOLVERS, clusters=17, trials=20, grid=GRID, less=2, others=(16,))


def perfectly_private(runs: Runs, way: str) -> Finding:
    """Whether both solvers have a converged run that leaks less than every random start, and tells more than all of them.

    A random start has little of both informations, so that a small leakage alone says nothing; nor do runs that never left theirs.
    """
    said: list[str] = []
    answers: list[bool | None] = []
    starts = runs["heart: starts"]
    begun, leaking = float(starts["ixz"].max()), min(VISIBLE, float(starts["iyz"].min()))
    names = [f"heart: {solver}, {way}" for solver in SOLVERS]
    for solver, name in zip(SOLVERS, names, strict=True):
        left = moved(runs, "heart", name)
        private = left.where((left.iyz <= leaking) & (left.ixz > begun + VISIBLE))
        answers.append(len(private) > 0 if len(left) else None)
        least = f"; the least leakage of those is {left.iyz.min():.4f} bits" if len(left) else ""
        said.append(
            f"{solver}: of {len(runs.points(name).ended())} converged runs {len(left)} have left their start, {len(private)} of which leak "
            f"at most {leaking:.4f} bits with more utility than a start, up to {private.ixz.max(initial=0.0):.3f} bits{least}"
        )
    said.append(
        f"random starts themselves have utility {starts['ixz'].mean():.3f} (at most {begun:.3f}) and leakage "
        f"{starts['iyz'].mean():.4f} bits; with no "
        f"leakage at all {runs['heart: without leakage']['utility'][0]:.4f} bits are possible, and proven"
    )
    return Finding(all_of(answers), "; ".join(said)).on(*names)


STOPPED = (
    "In the authors' way nearly all runs of the heart's funnel stop where they began: random starts would be compared."
)

FIGURE = plane_figure(
    [PLANE],
    name="funnel-heart",
    title="Information plane of the funnel, heart data",
    paper="pf-2 (c 7000) leaks less than pf-2v (c 128); both reach perfect privacy, I(X;Z) > 0 with I(Y;Z) near 0; against Merge-Two the "
    "same trend as on the synthetic data: its points are recovered, and less leaks between them.",
    where="Section V-B",
    claims=(
        Claim(
            "pf-2-leaks-less-heart",
            "pf-2 performs better than pf-2v on the heart data",
            asked(leaks_less, "heart", ("pf-2", "pf-2v")),
            stuck=STOPPED,
        ),
        Claim(
            "perfect-privacy",
            "pf-2 and pf-2v both reach perfect privacy with positive utility on the heart data",
            perfectly_private,
            stuck=STOPPED,
        ),
        Claim(
            "funnel-recovers-heart",
            "pf-2 recovers Merge-Two's points on the heart data and leaks less elsewhere",
            asked(recovers, "heart", ("pf-2",), "Merge-Two"),
            stuck=STOPPED,
        ),
    ),
)
