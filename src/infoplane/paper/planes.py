"""Claims about information planes: which solver leaks less, recovers Merge-Two, is stuck, spans more of the frontier. All in bits.

Only runs that converged by their method's own rule count, as in the paper.
"""

from __future__ import annotations

import numpy as np

from .piece import Arrays
from .points import Points, excess, least_leakage
from .settings import SLIGHT, VISIBLE
from .verdict import Finding

UTILITIES = 200
"""Levels of I(X;Z) at which two frontiers are compared."""

SHOWN = 5
"""Missed points that a sentence lists, at most."""


def leaks_less(ours: Points, theirs: Points, names: tuple[str, str], low: float = 0.0, high: float = np.inf) -> Finding:
    """Whether the first frontier leaks less than the second, on average over the utilities in [low, high] that both reach.

    A frontier at u is the least I(Y;Z) of a run with I(X;Z) >= u. Less means by more than `SLIGHT`.
    """
    ours, theirs = ours.ended(), theirs.ended()
    reach = [float(points.ixz.max(initial=0.0)) for points in (ours, theirs)]
    top = min(*reach, high)
    if top <= low:
        return Finding(
            None,
            f"not both reach I(X;Z) > {low:g}: the largest of a converged run is {reach[0]:.3f} ({names[0]}) and "
            f"{reach[1]:.3f} bits ({names[1]})",
            {"reach_first_bits": reach[0], "reach_second_bits": reach[1]},
        )
    u = np.linspace(low, top, UTILITIES)
    difference = least_leakage(theirs.ixz, theirs.iyz, u) - least_leakage(ours.ixz, ours.iyz, u)
    mean, worst, best = (float(value) for value in (difference.mean(), difference.min(), difference.max()))
    return Finding(
        mean > SLIGHT,
        f"{names[1]} leaks {signed(mean)} bits more than {names[0]} on average over I(X;Z) in [{low:g}, {top:.2f}] "
        f"(from {signed(worst)} to {signed(best)}); they reach {reach[1]:.2f} and {reach[0]:.2f} bits",
        {"mean_bits": mean, "least_bits": worst, "most_bits": best},
    )


def recovers(ours: Points, merges: Arrays, name: str, low: float = 0.0, high: float = np.inf) -> Finding:
    """Whether every Merge-Two point in [low, high] is met or beaten by a run, and less leaks in between.

    One tolerance for both axes: met is a point if some run has at most `VISIBLE` less utility and at most `VISIBLE` more leakage, and
    between the points too runs are compared at `VISIBLE` less utility. The trivial point (0, 0) does not count.
    """
    ours = ours.ended()
    seen = (merges["ixz"] > VISIBLE) & (merges["ixz"] >= low) & (merges["ixz"] <= high + VISIBLE)
    utility, leakage = merges["ixz"][seen], merges["iyz"][seen]
    met = least_leakage(ours.ixz, ours.iyz, utility - VISIBLE) <= leakage + VISIBLE
    u = np.linspace(max(low, VISIBLE), min(high, float(merges["ixz"].max())), UTILITIES)
    difference = least_leakage(merges["ixz"], merges["iyz"], u) - least_leakage(ours.ixz, ours.iyz, u - VISIBLE)
    reached = np.isfinite(difference)
    mean = float(difference[reached].mean()) if reached.any() else np.nan
    worst = float(difference[reached].min()) if reached.any() else np.nan
    missed = ", ".join(f"{one:.2f}" for one in utility[~met][:SHOWN]) + (", ..." if (~met).sum() > SHOWN else "")
    return Finding(
        bool(met.all() and reached.all() and mean > SLIGHT and worst >= -VISIBLE) if len(ours) else None,
        f"{name} meets or beats {int(met.sum())} of Merge-Two's {len(utility)} points there"
        + (f" (misses I(X;Z) = {missed})" if missed else "")
        + f", reaches {reached.mean():.0%} of the range"
        + (
            f"; there Merge-Two leaks {signed(mean)} bits more on average (at least {signed(worst)})"
            * bool(reached.any())
        ),
        {"met": float(met.sum()), "points": float(len(utility)), "reached": float(reached.mean()), "mean_bits": mean},
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
        {"ours": float(counts[0]), "merge_two": float(counts[1])},
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
        {"distance_bits": least, "farthest_bits": float(distances.max()), "off": float(off), "runs": float(len(near))},
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
        {"most_bits": most},
    )


def spans_more(
    ours: Points, theirs: Points, certified: Points, names: tuple[str, str], low: float, high: float
) -> Finding:
    """Whether the first has runs on the bottleneck's frontier in more intervals of I(X;Z), of width `VISIBLE`, within [low, high].

    On the frontier: at most `SLIGHT` below the proven bound.
    """
    counts = []
    for points in (ours.ended().between(low, high), theirs.ended().between(low, high)):
        on = points.where(excess(points, certified, "bottleneck") <= SLIGHT)
        # The origin of the plane is the trivial encoder, which every solver finds: it does not count.
        counts.append(len(np.unique(np.floor(on.ixz[on.ixz > VISIBLE / 2] / VISIBLE))))
    intervals = round((high - low) / VISIBLE)
    return Finding(
        counts[0] > counts[1],
        f"on the frontier in [{low:g}, {high:g}] bits, out of {intervals} intervals of {VISIBLE:g}: {names[0]} in {counts[0]}, "
        f"{names[1]} in {counts[1]}",
        {"first": float(counts[0]), "second": float(counts[1])},
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
    said = (
        f"of the converged runs of {names[0]} {np.nanmean(shares[0]):.0%} end more than {by:g} bits above the optimum, some at "
        f"{int(caught.sum())} of {len(certified)} parameters; of {names[1]} {np.nanmean(shares[1]):.0%} do, and none at "
        f"{int(free.sum())} of those parameters"
    )
    return Finding(
        bool(caught.any() and free.all()),
        said,
        {
            "trapped": float(caught.sum()),
            "free": float(free.sum()),
            "theirs": float(np.nanmean(shares[0])),
            "ours": float(np.nanmean(shares[1])),
        },
    )


def signed(bits: float) -> str:
    """Four digits after the point, with their sign, and never -0.0000."""
    return f"{round(bits, 4) + 0.0:+.4f}"
