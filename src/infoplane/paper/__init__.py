"""The paper's evaluation, figure by figure and claim by claim: ``infoplane reproduce``.

Huang, El Gamal, El Gamal: A Linearly Convergent Douglas-Rachford Splitting Solver for Markovian Information-Theoretic Optimization
Problems. Everything is run the paper's way and with exact steps, on the same axes, beside what is proven; a verdict follows from the
runs alone.

The folder `figures` has one module per figure: which runs it needs, how it is drawn, what the paper claims of it. The modules beside it
are the machinery, and know no figure. In the order in which they import each other:

    settings, scale, methods                   what is fixed, how much of it is run, one way to run a solver
    piece, points, merge_two                   the unit of running and saving, runs as points of the plane, the baseline Merge-Two
    sweeps, traces, references                 the pieces: sweeps, single runs iteration by iteration, reference points
    sensitivity, runs, verdict                 other values of open settings, a figure's numbers by name, from answers to verdicts
    planes, convergence, rates                 the answers: claims about information planes, about convergence, about linear rates
    figure, drawing                            what a figure is, and what all pictures share
    plane_, share_ and rate_figures            what figures of one kind share
    folder, reproduction, blocks, report       finished pieces on disk, running what is left, and the report
"""

from __future__ import annotations

from .figures import FIGURES

__all__ = ["FIGURES"]
