"""Which point a run of the accelerated bottleneck tries next: its state between two evaluations of T, apart from the points themselves.

u is the point that is evaluated, u_old the last one that was kept, f = T(u) - u. After a kept point the run's phase decides:

========  ==================================================  ===================================  ======================================
phase     the point that has just been kept                   the next point                       the next phase
========  ==================================================  ===================================  ======================================
BASE      the base u0 of a SQUAREM cycle                      T(u0), PLAIN                         PAIR
PAIR      u1 = T(u0)                                          SQUAREM's from u0 and u1, a LEAP     BASE; or ANDERSON at once, if the leap
                                                                                                   is kept and |f| < 0.98 |f_old|
ANDERSON  any; its differences from u_old are remembered      Newton's if it is worth its price,   ANDERSON
                                                              else Anderson's, a LEAP, from as
                                                              many differences as are held; or
                                                              T(u), PLAIN, if none are
========  ==================================================  ===================================  ======================================

Three things come before that: when the residual may have reached tol, a PLAIN step is made and W written or compared (`stopping`), next
phase PAIR; clusters that have lost their mass are left out, next point PLAIN, next phase BASE; and at every STRIDE-th iteration clusters
that are all but equal are merged, next point FEWER, next phase BASE.

A point that is not PLAIN is kept only if J has not risen (`accepts`). Where a point came from, its origin, decides what a refusal does:

========  ==================================================  ==========================================================================
origin    the point                                           if it is refused, the next point is T(u_old), and
========  ==================================================  ==========================================================================
PLAIN     T(u_old)                                            (it cannot be refused)
LEAP      SQUAREM's or Anderson's                             the next phase is PAIR; SQUAREM's longest step is divided by GROWTH
NEWTON    Newton's                                            ANDERSON stays; Newton's step has to wait twice as long
FEWER     T(u_old) with clusters merged                       with the former clusters, phase PAIR, no merging for PATIENCE STRIDEs
========  ==================================================  ==========================================================================
"""

from typing import Protocol

import numpy as np

from ...runtime.compiling import inlined
from ..common.rows import Integers
from .extrapolation import FIRST_CAP, GROWTH, SLACK
from .selfmap import COMPARE, KEEP
from .stopping import COMPARING, FAR, WRITING

BASE, PAIR, ANDERSON = range(3)
PLAIN, LEAP, NEWTON, FEWER = range(4)

STRIDE = 10  # iterations between two looks for clusters to merge
PATIENCE = 4  # after a merge that was undone, the next look comes after this many strides


class Control(Protocol):
    """The state of one run, apart from its points: a record of `CONTROL`, updated in place."""

    phase: int  # BASE, PAIR, ANDERSON
    origin: int  # of u: PLAIN, LEAP, NEWTON, FEWER
    check: int  # FAR, WRITING, COMPARING: see `stopping`
    held: int  # differences remembered since ANDERSON began; the last few of them are still there
    clusters: int  # of u
    clusters_old: int  # of u_old
    merge_at: int  # iteration of the next look for clusters to merge
    newton_at: int  # iteration from which Newton's step may be tried
    newton_wait: int  # what a refusal makes it wait, in multiples of its price
    splits: int  # how many more times clusters may be split after the run has become stationary
    J: float  # what J must not exceed
    norm: float  # root of sum q f^2 at u_old
    cap: float  # SQUAREM's longest step
    lowest: float  # lower bound of the residual at the last evaluation
    gate: float  # share of tol that the lower bound must reach before W is compared


CONTROL = np.dtype([(name, np.int64 if kind is int else np.float64) for name, kind in Control.__annotations__.items()])


def beginning(clusters: int, splits: Integers) -> np.recarray:
    """Records of runs that have not begun, with this number of clusters each; one row per entry of ``splits``."""
    control = np.zeros(len(splits), dtype=CONTROL)
    beginnings = {
        "clusters": clusters,
        "clusters_old": clusters,
        "merge_at": STRIDE // 2,
        "newton_wait": 1,
        "splits": splits,
    }
    limits = {"J": np.inf, "norm": np.inf, "lowest": np.inf, "cap": FIRST_CAP, "gate": 1.0}
    for name, value in {"phase": BASE, "origin": PLAIN, "check": FAR, **beginnings, **limits}.items():
        control[name] = value
    return control.view(np.recarray)


@inlined
def begin_again(run: Control, clusters: int, iteration: int) -> None:
    """The run goes on from a new point with this number of clusters."""
    run.phase, run.origin, run.check = BASE, PLAIN, FAR
    run.clusters, run.clusters_old = clusters, clusters
    run.merge_at, run.newton_at = iteration + STRIDE, iteration
    run.J, run.norm, run.gate = np.inf, np.inf, 1.0


@inlined
def mode_of(run: Control, one_block: bool, tol: float) -> int:
    """What the next evaluation does with W. Near the end, and where W is one block, it costs next to nothing to write it."""
    near = (
        one_block or run.lowest <= 1e4 * run.gate * tol
    )  # from here on W is written at every evaluation, ready to be compared
    return COMPARE if run.check == COMPARING else KEEP if run.check == WRITING or near else 0


@inlined
def not_stationary(run: Control, far: float) -> None:
    """A comparison found max |W - map(W)| = far > tol: W is compared again only at a smaller lower bound."""
    run.gate, run.check = min(run.gate, 0.7 * run.lowest / far), FAR


@inlined
def may_be_stationary(run: Control, tol: float) -> bool:
    """Whether W is to be written or compared next."""
    return run.check == WRITING or run.lowest <= run.gate * tol


@inlined
def accepts(run: Control, J: float, norm: float) -> bool:
    """Whether u is kept: J falls, or stays the same to rounding while the residual does not double; plain steps always."""
    slack = SLACK * max(1.0, abs(J))
    return run.origin == PLAIN or slack < run.J - J or (slack >= J - run.J and norm <= 2.0 * run.norm)


@inlined
def refuse(run: Control, iteration: int, price: int) -> None:
    """Record that u was not kept; Newton's step costs ``price`` evaluations."""
    if run.origin == NEWTON:
        run.newton_wait *= 2
        run.newton_at = iteration + run.newton_wait * price
    else:
        if run.origin == FEWER:
            run.merge_at = iteration + PATIENCE * STRIDE
        elif run.phase != ANDERSON:
            run.cap = max(run.cap / GROWTH, 1.0)
        run.phase = PAIR
    run.origin = PLAIN


@inlined
def promote(run: Control, norm: float, iteration: int) -> None:
    """After a leap of SQUAREM that was kept and has shrunk the residual, go on with Anderson, and look for clusters to merge."""
    if run.phase == BASE and run.origin == LEAP and norm < 0.98 * run.norm:  # then leaps are Anderson's
        run.phase, run.held, run.merge_at = ANDERSON, 0, min(run.merge_at, iteration)


@inlined
def newton_is_due(run: Control, norm: float, iteration: int, price: int) -> bool:
    """Whether Newton's step is worth its price: near the fixed point, and after Anderson has tried for half as long."""
    # Above a norm of 0.03 Newton's step is not worth its price.
    return norm < 0.03 and iteration >= run.newton_at and run.held >= price // 2
