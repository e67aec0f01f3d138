"""The paper's evaluation, figure by figure and claim by claim: ``infoplane reproduce``.

Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic Optimization
Problems. Everything is run the authors' way and with our steps, on the same axes, beside what is proven; a verdict follows from the
runs alone. It is written on infoplane's public names only, and so shows that they suffice.

The folder `figures` has one module per kind of figure: which runs each needs, how it is drawn, what the paper claims of it. The modules
beside it are the machinery, and know no figure. In the order in which they import each other:

    settings, points, pieces       what is fixed and how much of it is run; runs as points of the plane; the units of running
    drawing, verdict               what all pictures share; a figure's numbers by name, what a claim is, from answers to verdicts
    planes                         information planes, and what is asked of them
    reproduction, report           finished pieces on disk, running what is left; three pages, and the appendices
"""

from __future__ import annotations

import infoplane as ip

from .figures import FIGURES
from .report import count_words, render, write_figure, write_report
from .reproduction import Job, Reproduction
from .settings import FULL, QUICK, SCALES, Scale
from .verdict import Outcome, Runs, RunWhenAsked, outcome

__all__ = [
    "FIGURES",
    "FULL",
    "QUICK",
    "Job",
    "Outcome",
    "Reproduction",
    "Scale",
    "answers",
    "count_words",
    "outcome",
    "render",
    "write_figure",
    "write_report",
]


def answers(figure: str, claim: str, scale: str = "quick") -> list[str]:
    """What the report says of one claim, by its figure and key: an answer with its numbers for every way of running.

    Runs only what the claim rests on, and neither reads nor writes a folder. ``scale`` is "quick" or "full".
    """
    claims = {one.key: one for one in FIGURES[figure].claims} if figure in FIGURES else {}
    for what, given, known in (("figure", figure, FIGURES), ("claim", claim, claims), ("scale", scale, SCALES)):
        if given not in known:
            raise ip.InvalidOptionError(f"{what} must be one of {', '.join(known)}; found {given!r}.")
    pieces = {piece.name: piece for piece in FIGURES[figure].pieces(SCALES[scale])}
    runs, asked = Runs(pieces, RunWhenAsked(pieces)), claims[claim]
    return [f"{way}: {asked.ask(runs, way).words}" for way in asked.ways]
