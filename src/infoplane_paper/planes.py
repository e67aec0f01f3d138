"""Claims about information planes: which solver leaks less, recovers Merge-Two, is stuck, spans more of the frontier. All in bits.

Only runs that converged by their method's own rule count, as in the paper.
"""

from __future__ import annotations

import numpy as np

from .points import Array, Arrays, Points, excess, least_leakage
from .settings import SEED, SLIGHT, VISIBLE
from .verdict import Finding

UTILITIES = 200
"""Levels of I(X;Z) at which two frontiers are compared."""

DRAWS = 200
"""How often starts are drawn again to see how far a comparison hangs on them."""

SHOWN = 5
"""Missed points that a sentence lists, at most."""


def leaks_less(ours: Points, theirs: Points, names: tuple[str, str], low: float = 0.0, high: float = np.inf) -> Finding:
    """Whether the first frontier leaks less than the second, on average over the utilities in [low, high] that both reach.

    A frontier at u is the least I(Y;Z) of a run with I(X;Z) >= u. Less means by more than `SLIGHT`, and by more than two standard errors of
    the random starts; more, or equal to within `SLIGHT`, likewise. What lies between is not decided.
    """
    ours, theirs = ours.ended(), theirs.ended()
    reach = [float(points.ixz.max(initial=0.0)) for points in (ours, theirs)]
    top = min(*reach, high)
    if top <= low:
        return Finding(
            None,
            f"not both reach I(X;Z) > {low:g}: the largest of a converged run is {reach[0]:.3f} ({names[0]}) and "
            f"{reach[1]:.3f} bits ({names[1]})",
        )
    u = np.linspace(low, top, UTILITIES)
    difference = theirs.leakage(u) - ours.leakage(u)
    mean, worst, best = (float(value) for value in (difference.mean(), difference.min(), difference.max()))
    error = _starts_error(ours, theirs, u)
    return Finding(
        _decided(mean, error),
        f"{names[1]} leaks {signed(mean)} bits more than {names[0]} on average over I(X;Z) in [{low:g}, {top:.2f}] "
        f"(from {signed(worst)} to {signed(best)}; two standard errors of the mean, over starts: {2.0 * error:.4f}); they reach "
        f"{reach[1]:.2f} and {reach[0]:.2f} bits",
    )


def _decided(mean: float, error: float) -> bool | None:
    """Whether a mean difference is positive, if two standard errors and `SLIGHT` let one say so."""
    if abs(mean) <= 2.0 * error and (abs(mean) > SLIGHT or 2.0 * error > SLIGHT):
        return None
    return mean > SLIGHT


def _starts_error(ours: Points, theirs: Points, u: Array) -> float:
    """The standard error of the mean difference of two frontiers: starts are drawn again, with replacement, from those that there were.

    The same starts are drawn for both, as both were run from the same ones. They are compared at the utilities that both reach.
    """
    rng = np.random.default_rng(SEED)
    starts = np.union1d(ours.start, theirs.start)
    means = []
    for _ in range(DRAWS):
        some = rng.choice(starts, len(starts))
        drawn = [points.where(np.isin(points.start, some)).leakage(u) for points in (theirs, ours)]
        reached = np.isfinite(drawn).all(axis=0)
        if reached.any():
            means.append(float((drawn[0][reached] - drawn[1][reached]).mean()))
    return float(np.std(means)) if len(means) > 1 else 0.0


def left_their_start(points: Points, starts: Arrays) -> Points:
    """The converged runs that lie more than `VISIBLE` outside of the rectangle in the plane in which all random starts lie.

    A random start with many clusters has little of both informations: a run that stopped where it began says nothing of its solver.
    """
    ended = points.ended()
    outside = np.zeros(len(ended), dtype=bool)
    for axis in ("ixz", "iyz"):
        value = getattr(ended, axis)
        outside |= (value < starts[axis].min() - VISIBLE) | (value > starts[axis].max() + VISIBLE)
    return ended.where(outside)


def less_than_merging(ours: Points, merges: Arrays, name: str, low: float, high: float) -> Finding:
    """Whether a solver leaks less than Merge-Two on average over I(X;Z) in [low, high]; None if it does, but does not reach all of them.

    The same measure as `leaks_less`; the trivial point (0, 0) does not count, runs are compared at `VISIBLE` less utility.
    """
    ours = ours.ended()
    u, difference = _between(ours, merges, low, high)
    reached = np.isfinite(difference)
    if not reached.any():
        return Finding(None, f"no converged run of {name} has I(X;Z) in [{low:g}, {high:g}]")
    mean, worst = float(difference[reached].mean()), float(difference[reached].min())
    where = u[reached][int(difference[reached].argmin())]
    return Finding(
        False if mean <= SLIGHT else True if reached.all() else None,
        f"{name} reaches {reached.mean():.0%} of [{low:g}, {high:g}] bits; there Merge-Two leaks {signed(mean)} bits more on average "
        f"(least, {signed(worst)}, at I(X;Z) = {where:.2f})",
    )


def _between(ours: Points, merges: Arrays, low: float, high: float) -> tuple[Array, Array]:
    """Utilities in [low, high], as far as Merge-Two comes, and how much more it leaks there; not finite where no run of ours has them."""
    u = np.linspace(max(low, VISIBLE), min(high, float(merges["ixz"].max())), UTILITIES)
    return u, least_leakage(merges["ixz"], merges["iyz"], u) - ours.leakage(u - VISIBLE)


def recovers(ours: Points, merges: Arrays, name: str) -> Finding:
    """Whether every Merge-Two point is met or beaten by a run, and less leaks in between.

    One tolerance for both axes: met is a point if some run has at most `VISIBLE` less utility and at most `VISIBLE` more leakage, and
    between the points too runs are compared at `VISIBLE` less utility. The trivial point (0, 0) does not count. A point is missed only
    where runs come that far; if all that lie within reach are met, the claim is not decided until the others are reached.
    """
    ours = ours.ended()
    seen = merges["ixz"] > VISIBLE
    utility, leakage = merges["ixz"][seen], merges["iyz"][seen]
    near = utility - VISIBLE <= ours.ixz.max(initial=0.0)
    met = ours.leakage(utility - VISIBLE) <= leakage + VISIBLE
    _, difference = _between(ours, merges, 0.0, np.inf)
    reached = np.isfinite(difference)
    mean = float(difference[reached].mean()) if reached.any() else np.nan
    worst = float(difference[reached].min()) if reached.any() else np.nan
    failed = bool((near & ~met).any()) or bool(reached.any() and (mean <= SLIGHT or worst < -VISIBLE))
    misses = utility[near & ~met]
    missed = ", ".join(f"{one:.2f}" for one in misses[:SHOWN]) + (", ..." if len(misses) > SHOWN else "")
    more = f", where Merge-Two leaks {signed(mean)} bits more on average (at least {signed(worst)})"
    return Finding(
        None if not near.any() else False if failed else True if near.all() and reached.all() else None,
        f"of Merge-Two's {len(utility)} points there {int(near.sum())} lie within the reach of {name}'s runs, which meet or beat "
        f"{int(met.sum())}{f' (miss I(X;Z) = {missed})' * bool(missed)}; they reach {reached.mean():.0%} of the range"
        f"{more * bool(reached.any())}",
    )


def more_points(ours: Points, merges: Arrays, name: str, low: float, high: float) -> Finding:
    """Whether a solver has more points of the plane with I(X;Z) in [low, high] than Merge-Two, told apart by `VISIBLE` on both axes."""
    ours = ours.ended().between(low, high)
    seen = (merges["ixz"] >= low) & (merges["ixz"] <= high)
    counts = [
        len({(round(x / VISIBLE), round(y / VISIBLE)) for x, y in zip(ixz, iyz, strict=True)})
        for ixz, iyz in ((ours.ixz, ours.iyz), (merges["ixz"][seen], merges["iyz"][seen]))
    ]
    return Finding(
        counts[0] > counts[1] if len(ours) else None,
        f"points of the plane with I(X;Z) in [{low:g}, {high:g}], {VISIBLE:g} bits apart: {name} {counts[0]}, Merge-Two {counts[1]}",
    )


def stuck(points: Points, certified: Points, family: str, name: str, low: float, high: float) -> Finding:
    """Whether runs with I(X;Z) in [low, high] end farther than `VISIBLE` from the proven bound; None if there is no run there.

    Every run counts by itself, as every one is a point in the paper's figures, where `VISIBLE` can be told apart.
    """
    near = points.ended().between(low, high)
    if not len(near):
        return Finding(None, f"no converged run of {name} has I(X;Z) in [{low:g}, {high:g}]")
    distances = excess(near, certified, family)
    row = int(np.argmin(distances))
    least = float(distances[row])
    side = "above the least leakage" if family == "funnel" else "below the greatest relevance"
    off = int((distances > VISIBLE).sum())
    return Finding(
        off > 0,
        f"of {len(near)} converged runs of {name} with I(X;Z) in [{low:g}, {high:g}] {off} lie more than {VISIBLE:g} bits {side} proven "
        f"possible, the farthest {float(distances.max()):.4f}, the nearest {abs(least):.4f} (parameter {near.parameter[row]:.4g}, start "
        f"{near.start[row]:.0f})",
    )


def higher(ours: Points, theirs: Points, names: tuple[str, str], low: float, high: float) -> Finding:
    """Whether the first's best run has more I(Y;Z) than the second's, by more than `SLIGHT`, somewhere with I(X;Z) in [low, high]."""
    ours, theirs = ours.ended().between(low, high), theirs.ended().between(low, high)
    if not len(ours) or not len(theirs):
        missing = " and ".join(one for one, points in zip(names, (ours, theirs), strict=True) if not len(points))
        return Finding(None, f"no converged run of {missing} has I(X;Z) in [{low:g}, {high:g}]")
    gains = []
    for x, y in zip(ours.ixz, ours.iyz, strict=True):
        allowed = theirs.iyz[theirs.ixz <= x + SLIGHT]
        if len(allowed):
            gains.append(float(y - allowed.max()))
    most = max(gains, default=float("nan"))
    return Finding(
        most > SLIGHT if gains else None,
        f"with I(X;Z) in [{low:g}, {high:g}] the best run of {names[0]} has {signed(most)} bits of I(Y;Z) more than any "
        f"of {names[1]} with no more I(X;Z)",
    )


def spans_more(
    ours: Points, theirs: Points, certified: Points, names: tuple[str, str], low: float, high: float
) -> Finding:
    """Whether the first has runs on the bottleneck's frontier in more intervals of I(X;Z), of width `VISIBLE`, within [low, high].

    On the frontier: at most `SLIGHT` below the proven bound. As many in both is a tie on this grid, and not decided.
    """
    counts = []
    for points in (ours.ended().between(low, high), theirs.ended().between(low, high)):
        on = points.where(excess(points, certified, "bottleneck") <= SLIGHT)
        # The origin of the plane is the trivial encoder, which every solver finds: it does not count.
        counts.append(len(np.unique(np.floor(on.ixz[on.ixz > VISIBLE / 2] / VISIBLE))))
    intervals = round((high - low) / VISIBLE)
    return Finding(
        None if counts[0] == counts[1] else counts[0] > counts[1],
        f"on the frontier in [{low:g}, {high:g}] bits, out of {intervals} intervals of {VISIBLE:g}: {names[0]} in {counts[0]}, "
        f"{names[1]} in {counts[1]}",
    )


def trapped(theirs: Points, ours: Points, certified: Points, names: tuple[str, str], by: float) -> Finding:
    """Whether runs of the first end above the optimum, and none of the second does at those parameters.

    Every converged run counts by itself, as every one is a point in the paper's figures. Above: by more than ``by`` bits.
    """
    certified = certified.where(np.isclose(certified.parameter[:, None], theirs.parameter).any(axis=1))
    if not len(ours.ended()):
        return Finding(None, f"no run of {names[1]} converged")
    shares = []
    for points in (theirs.ended(), ours.ended()):
        share = np.full(len(certified), np.nan)
        for row, parameter in enumerate(certified.parameter):
            losses = points.loss[np.isclose(points.parameter, parameter)]
            if len(losses):
                share[row] = float((losses - certified.lower_bound[row] > by).mean())
        shares.append(share)
    caught = shares[0] > 0.0
    free = shares[1][caught] == 0.0
    return Finding(
        bool(caught.any() and free.all()),
        f"of the converged runs of {names[0]} {np.nanmean(shares[0]):.0%} end more than {by:g} bits above the optimum, some at "
        f"{int(caught.sum())} of {len(certified)} parameters; of {names[1]} {np.nanmean(shares[1]):.0%} do, and none at "
        f"{int(free.sum())} of those parameters",
    )


def signed(bits: float) -> str:
    """Four digits after the point, with their sign, and never -0.0000."""
    return f"{round(bits, 4) + 0.0:+.4f}"
