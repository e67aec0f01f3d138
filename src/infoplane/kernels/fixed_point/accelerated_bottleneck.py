"""The bottleneck's self-consistent equations, accelerated: u = log q(z, y), u <- T(u), T the map of `selfmap`.

J(u) = -k sum_x p(x) log sum_z exp(score) bounds the Lagrangian from above: J(T(u)) <= L(W(u)) + rho_zy H(Y) <= J(u). So plain steps
cannot raise J, and an extrapolated point, a leap, is kept only if it does not raise J either; the residual alone would lead to saddles.
A leap that is refused costs one evaluation: the run goes on from T(u). Leaps are SQUAREM's, and Newton's now and then once the residual is
small. Clusters that have become equal are merged, which is undone if J rises.

Newton's step is judged by L(W(u)) itself, before and after: along a curved valley J rises, while T(u) lies on its floor again.

`selfmap` says when a run has ended. One iteration of a run is

1. `weights_of_logs`, `evaluate`, `displacement`   T(u), and J
2. `ended`                                         a row of the trace; whether the run has ended
3. `accepts`, or else `_step_back`                 is u kept?
4. `_leave_out`                                    fewer clusters: those that have lost their mass, or are all but equal, are left out
5. `_newton`, `_leap`                              or Newton's point, or the next one that the phase asks for

u is the point that is evaluated, u_old the last one that was kept, f = T(u) - u. After a kept point the run's phase decides:

========  ==================================================  ============================================  ==========================
phase     the point that has just been kept                   the next point                                the next phase
========  ==================================================  ============================================  ==========================
BASE      the base u0 of a SQUAREM cycle                      T(u0), PLAIN                                  PAIR
PAIR      u1 = T(u0)                                          SQUAREM's from u0 and u1, a LEAP              BASE
========  ==================================================  ============================================  ==========================

Four things come before that. When the residual may have reached tol, a PLAIN step is made and W written or compared (`selfmap`), next
phase PAIR; clusters that have lost their mass are left out, next point PLAIN, next phase BASE; at every STRIDE-th iteration clusters that
are all but equal are merged, next point FEWER, next phase BASE; and, but in phase PAIR, once the residual is small and half as many
iterations were made as the last step of Newton's took products with T', it is the next point, and the phase stays.

A point that is not PLAIN is kept only if J has not risen (`accepts`). Where a point came from, its origin, decides what a refusal does:

========  ==================================================  ==========================================================================
origin    the point                                           if it is refused, the next point is T(u_old), and
========  ==================================================  ==========================================================================
PLAIN     T(u_old)                                            (it cannot be refused)
LEAP      SQUAREM's                                           the next phase is PAIR; SQUAREM's longest step is divided by STRETCH
NEWTON    Newton's                                            the phase stays; Newton's step has to wait twice as long. But before that, it
                                                              is shortened, and tried again
FEWER     T(u_old) with clusters merged                       with the former clusters, phase PAIR, no merging for PATIENCE STRIDEs
========  ==================================================  ==========================================================================
"""

from typing import NamedTuple, Protocol

import numpy as np

from ...information import Array
from ...runtime.compiling import entry, inlined, part
from ..common import LOSS, RUNNING, STATIONARITY, Flags, Integers, copy_rows, exp, mark_dead
from .clusters import CHEAP, EQUAL, reduce, split_clusters
from .extrapolation import FIRST_CAP, SLACK, STRETCH, newton, normalise, shorten, squarem
from .selfmap import (
    COMPARE,
    COMPARING,
    FAR,
    KEEP,
    WRITING,
    ChannelBlocks,
    MapSetting,
    Scratch,
    add,
    conditional_entropy,
    copy,
    displacement,
    ended,
    evaluate,
    lagrangian_of,
    logs_of_kept,
    lowest_residual,
    weights_of_logs,
    work_for,
)

BASE, PAIR = range(2)
PLAIN, LEAP, NEWTON, FEWER = range(4)

STRIDE = 10  # iterations between two looks for clusters to merge
LIKELY = 160  # products that a first step of Newton's takes, or as many as there are unknowns: it waits for half as many iterations
SHORTER = 4  # times that Newton's step is shortened before it is given up
PATIENCE = 4  # after a merge that was undone, the next look comes after this many strides


class Control(Protocol):
    """The state of one run, apart from its points: a record of `CONTROL`, updated in place."""

    phase: int  # BASE, PAIR
    origin: int  # of u: PLAIN, LEAP, NEWTON, FEWER
    check: int  # FAR, WRITING, COMPARING: see the table in `selfmap`
    clusters: int  # of u
    clusters_old: int  # of u_old
    merge_at: int  # iteration of the next look for clusters to merge
    newton_at: int  # iteration from which Newton's step may be tried
    newton_wait: int  # what a refusal makes it wait, in multiples of its cost
    products: int  # its cost: what the last one took, in evaluations of the map
    shortened: int  # times that it was shortened
    splits: int  # how many more times clusters may be split after the run has become stationary
    J: float  # what J must not exceed
    norm: float  # root of sum q f^2 at u_old
    cap: float  # SQUAREM's longest step
    lowest: float  # lower bound of the residual at the last evaluation
    gate: float  # share of tol that the lower bound must reach before W is compared


CONTROL = np.dtype([(name, np.int64 if kind is int else np.float64) for name, kind in Control.__annotations__.items()])


@part
def begin_again(run: Control, clusters: int, outcomes: int, iteration: int) -> None:
    """The run goes on from a new point with this number of clusters."""
    run.phase, run.origin, run.check = BASE, PLAIN, FAR
    run.clusters, run.clusters_old = clusters, clusters
    run.merge_at, run.newton_at = iteration + STRIDE, iteration + min(clusters * outcomes, LIKELY) // 2
    run.J, run.norm, run.gate = np.inf, np.inf, 1.0


def beginning(clusters: int, outcomes: int, splits: Integers) -> np.recarray:
    """Records of runs that have not begun, with these numbers of clusters and of letters y; one row per entry of ``splits``."""
    runs = np.zeros(len(splits), dtype=CONTROL).view(np.recarray)
    begin_again(runs, clusters, outcomes, 0)
    runs.splits, runs.merge_at, runs.newton_wait, runs.lowest, runs.cap = splits, STRIDE // 2, 1, np.inf, FIRST_CAP
    return runs


@inlined
def mode_of(run: Control, one_block: bool, tol: float) -> int:
    """What the next evaluation does with W. Near the end, and where W is one block, it costs next to nothing to write it."""
    near = (
        one_block or run.lowest <= 1e4 * run.gate * tol
    )  # then W is written at every evaluation, ready to be compared
    return COMPARE if run.check == COMPARING else KEEP if run.check == WRITING or near else 0


@inlined
def accepts(run: Control, J: float, norm: float) -> bool:
    """Whether u is kept: J falls, or stays the same to rounding while the residual does not double; plain steps always."""
    slack = SLACK * max(1.0, abs(J))
    return run.origin == PLAIN or slack < run.J - J or (slack >= J - run.J and norm <= 2.0 * run.norm)


@inlined
def refuse(run: Control, iteration: int) -> None:
    """Record that u was not kept."""
    if run.origin == NEWTON:
        run.newton_wait *= 2
        run.newton_at = iteration + run.newton_wait * run.products
    else:
        if run.origin == FEWER:
            run.merge_at = iteration + PATIENCE * STRIDE
        else:
            run.cap = max(run.cap / STRETCH, 1.0)
        run.phase = PAIR
    run.origin = PLAIN


@inlined
def newton_is_due(run: Control, written: bool, norm: float, iteration: int) -> bool:
    """Whether Newton's step is worth its cost: W is ``written``, the fixed point near, and others have tried for half as long."""
    if run.origin == NEWTON:
        run.newton_wait = 1  # the last one was kept
    # Above a norm of 0.001 it may lead elsewhere: words in 20 clusters ended 1.5e-4 nats higher with 0.03.
    return written and norm < 1e-3 and iteration >= run.newton_at and run.phase != PAIR


@inlined
def may_be_stationary(run: Control, written: bool, tol: float) -> bool:
    """Whether W is to be compared next, if it is ``written``, or else to be written."""
    small = run.check == WRITING or run.lowest <= run.gate * tol
    if small:
        run.check, run.phase = COMPARING if written else WRITING, PAIR
    return small


class LeapState(NamedTuple):
    """Where the runs of a batch stand; every array has one row per run and is updated in place."""

    W: Array  # (R, blocks, |Z|, BLOCK)  the encoder, written as `selfmap` says
    u: Array  # (R, |Z| |Y|)             the point that is evaluated next
    u_old: Array  # (R, |Z| |Y|)         the last point that was kept
    f_old: Array  # (R, |Z| |Y|)         T(u) - u there
    control: np.recarray  # (R,)         `CONTROL`
    alive: Integers  # (R,)              clusters of W
    outcome: Integers  # (R,)            RUNNING, STATIONARY
    iterations: Integers  # (R,)
    residuals: Array  # (R, 3)           primal and dual are 0


@inlined
def _loss(q_new: Array, A: Array, value: float, rho: Array, h_y: float) -> float:
    """The Lagrangian of the encoder that was just evaluated; with h_y = 0 what J bounds. ``value`` is what `evaluate` returned."""
    return lagrangian_of(q_new, rho, conditional_entropy(A, q_new, 0.0, value, 0.0), h_y)


@inlined
def _step_back(
    run: Control, state: LeapState, r: int, n_y: int, iteration: int, u_old: Array, f_old: Array, u: Array
) -> bool:
    """After a refusal the next point is T(u_old), or at first a shorter step of Newton's.

    Returns whether a merge was undone: then the point is in state.u, with the clusters of u_old.
    """
    if run.origin == NEWTON and run.shortened < SHORTER:
        run.shortened += 1
        shorten(u_old, u)
        return False
    undone = run.origin == FEWER
    if undone:
        run.clusters = run.clusters_old
        add(state.u_old[r], state.f_old[r], run.clusters * n_y, state.u[r])
    else:
        add(u_old, f_old, u.size, u)
    refuse(run, iteration)
    return undone


@inlined
def _leave_out(run: Control, q_new: Array, q: Array, looking: bool, keep: Flags, u: Array, r: int) -> int:
    """Go on without clusters that have lost their mass; if there are none, and the run is ``looking``, merge those that are all but equal.

    Returns the origin of the next point, which is then in u[r], with fewer clusters: PLAIN or FEWER; or -1 if all clusters stay.
    """
    n, dead = q_new.shape[0], mark_dead(q_new, keep)
    if dead == 0 and not (looking and n > 1 and reduce(q_new, q, CHEAP, keep) < n):
        return -1
    run.clusters, run.clusters_old, run.phase = logs_of_kept(q_new, keep, u[r]), n, BASE
    return PLAIN if dead > 0 else FEWER


@inlined
def _newton(
    run: Control, channel: ChannelBlocks, rho: Array, width: float, tol: float, W: Array, u: Array, q: Array, q_new: Array,
    iteration: int, work: Scratch, new: Array,
) -> int:  # fmt: skip
    """Fill new with Newton's point; returns its origin, or -1 if there is none.

    It lowers the residual to the tolerance, but between a tenth and a hundredth; of few unknowns all the way.
    """
    few = q.shape[0] * channel.n_y <= 40
    accuracy = 1e-8 if few else min(max(0.1 * tol / max(run.lowest, tol), 0.01), 0.1)
    run.products = newton(channel, rho, width, W, u, q, q_new, accuracy, work, new)
    run.newton_at, run.shortened = iteration + max(run.products // 2, 5), 0
    return NEWTON if run.products > 0 else -1


@inlined
def _leap(run: Control, u_old: Array, f: Array, f_old: Array, q_flat: Array, new: Array) -> int:
    """Fill new with the next point that the phase asks for; returns its origin: if that is PLAIN, the point is T(u) instead."""
    if run.phase == BASE:
        run.phase = PAIR
        return PLAIN
    reached = squarem(u_old, f_old, f, q_flat, run.cap, new)
    run.phase, run.cap = BASE, STRETCH * run.cap if reached == run.cap else run.cap
    return LEAP


@inlined
def _iterate(
    channel: ChannelBlocks, setting: MapSetting, state: LeapState, r: int, steps: int, trace: Array, step: int
) -> tuple[int, bool]:
    """Iterate run r, with the clusters that it has, from row ``step`` of its trace on to row ``steps`` at most.

    Returns the row reached, and whether the clusters have changed: then the run goes on with tables of another size.
    """
    dense, one_block = channel.letters.shape[0] == 0, channel.p_x.shape[0] == 1
    run, rho, width, W, tol = state.control[r], setting.rho[r], setting.width[r], state.W[r], setting.tol
    n, size, changed = run.clusters, run.clusters * channel.p_y.size, False
    work, flat, nothing = work_for(channel, n), np.empty((5, size)), W[:0]
    q, q_new, A = work.tables[0], work.tables[1], work.tables[2]
    q_flat, q_new_flat, A_flat = q.reshape(size), q_new.reshape(size), A.reshape(size)
    u, u_old, f, f_old, new = flat[0], flat[1], flat[2], flat[3], flat[4]
    copy(state.u[r], size, u)
    copy(state.u_old[r], size, u_old)
    copy(state.f_old[r], size, f_old)
    while step < steps and not changed:
        # Evaluate T at u.
        weights_of_logs(u, rho, width, q, q_flat, A, A_flat)
        mode = mode_of(run, one_block, tol)
        value, _, far = evaluate(channel, A, 0.0, nothing, nothing, W, mode, q_new, work)
        J, norm = -width * value, displacement(q_new_flat, u, q_flat, f)
        if run.origin == NEWTON:
            J = _loss(q_new, A, value, rho, 0.0)
        if mode & KEEP:
            state.alive[r] = n
        state.iterations[r] += 1
        iteration, run.lowest = state.iterations[r], lowest_residual(q_new, q, channel.p_y)
        # Record, and stop.
        if trace.shape[2] > 0:
            trace[r, step, LOSS] = _loss(q_new, A, value, rho, setting.h_y)
            trace[r, step, STATIONARITY] = far if run.check == COMPARING else run.lowest  # a lower bound
        step += 1
        if run.check == COMPARING:
            if ended(state.outcome, state.residuals, r, far, tol):
                break
            run.gate, run.check = min(run.gate, 0.7 * run.lowest / far), FAR  # compared again only at a smaller bound
        if not accepts(run, J, norm):
            changed = _step_back(run, state, r, channel.p_y.size, iteration, u_old, f_old, u)
            continue
        # Choose the next point.
        looking, origin = iteration >= run.merge_at, PLAIN
        due = newton_is_due(run, dense and mode & KEEP > 0, norm, iteration)
        if (
            looking or due
        ):  # what a merge or Newton's step must not exceed is the tighter bound, of the step that is made anyway
            J = _loss(q_new, A, value, rho, 0.0)
        if looking:
            run.merge_at = iteration + STRIDE
        if not may_be_stationary(run, mode & KEEP > 0, tol):
            origin = _leave_out(run, q_new, q, looking, work.keep, state.u, r)
            changed = origin >= 0
            if changed:  # Newton's step has become cheaper
                run.newton_at = min(run.newton_at, iteration + min(run.clusters * channel.n_y, LIKELY) // 2)
            elif due:
                origin = _newton(run, channel, rho, width, tol, W, u, q, q_new, iteration, work, new)
            if origin < 0:
                origin = _leap(run, u_old, f, f_old, q_flat, new)
        # Go there; u is the last point that was kept.
        run.J, run.norm, run.origin = J, norm, origin
        u, u_old, f, f_old = u_old, u, f_old, f
        if origin in (LEAP, NEWTON):
            u, new = new, u
            normalise(u)
        else:
            add(u_old, f_old, size, u)
    if not changed:
        run.clusters_old = n
        copy(u, size, state.u[r])
    copy(u_old, size, state.u_old[r])
    copy(f_old, size, state.f_old[r])
    return step, changed


@entry
def advance_bottleneck(
    channel: ChannelBlocks, setting: MapSetting, state: LeapState, steps: Integers, trace: Array
) -> None:
    """Do steps[r] iterations of run r, each one evaluation of the map, fewer if it ends: at max |W - map(W)| <= tol.

    With trace.shape[2] = TRACE_COLUMNS every iteration is recorded, with 0 none is.
    """
    for r in range(steps.size):
        if setting.stop[0] != 0:
            break
        step, changed = 0, True
        while changed and step < steps[r]:
            step, changed = _iterate(channel, setting, state, r, steps[r], trace, step)


@inlined
def _split(channel: ChannelBlocks, W: Array, rho: Array, q: Array, q_new: Array, keep: Flags) -> int:
    """Fill q_new with the clusters of q, equal ones merged, or else split where that lowers L and there is room.

    Marks the rows, and returns how many there are.
    """
    n, most = q.shape[0], q_new.shape[0]
    copy_rows(q, q_new)
    rows = reduce(q_new[:n], q, EQUAL, keep)
    for z in range(n, most):
        keep[z] = False
    if rows < n or n == most:
        return rows
    rows = split_clusters(channel, W, q, rho, q_new)
    for z in range(rows):
        keep[z] = True
    return rows


@entry
def split_stationary(channel: ChannelBlocks, setting: MapSetting, state: LeapState, stationary: Flags) -> None:
    """Of runs that are ``stationary``, those go on that have equal clusters, or for which splitting some lowers L, see `clusters`."""
    for r in range(stationary.size):
        if setting.stop[0] != 0:
            break
        if not stationary[r]:
            continue
        run = state.control[r]
        n, most, n_y = state.alive[r], state.W.shape[2], channel.p_y.size
        q, q_new, keep = np.empty((n, n_y)), np.empty((most, n_y)), np.empty(most, dtype=np.bool_)
        for z in range(n):
            for y in range(n_y):
                q[z, y] = exp(state.u[r, z * n_y + y])
        rows = _split(channel, state.W[r], setting.rho[r], q, q_new, keep)
        if rows == n:
            run.splits = 0
            continue
        logs_of_kept(q_new, keep, state.u[r])
        for i in range(rows * n_y):
            state.u_old[r, i] = state.u[r, i]
            state.f_old[r, i] = 0.0
        begin_again(run, rows, n_y, state.iterations[r])
        state.outcome[r], run.splits = RUNNING, run.splits - 1
