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

    Met: some run has at most `VISIBLE` less utility and at most `VISIBLE` more leakage. The trivial point (0, 0) does not count.
    """
    ours = ours.ended()
    seen = (merges["ixz"] > VISIBLE) & (merges["ixz"] >= low) & (merges["ixz"] <= high)
    utility, leakage = merges["ixz"][seen], merges["iyz"][seen]
    met = least_leakage(ours.ixz, ours.iyz, utility - VISIBLE) <= leakage + VISIBLE
    u = np.linspace(max(low, VISIBLE), min(high, float(utility.max())), UTILITIES)
    difference = least_leakage(merges["ixz"], merges["iyz"], u) - least_leakage(ours.ixz, ours.iyz, u)
    reached = np.isfinite(difference)
    mean = float(difference[reached].mean()) if reached.any() else np.nan
    worst = float(difference[reached].min()) if reached.any() else np.nan
    missed = ", ".join(f"{one:.2f}" for one in utility[~met][:SHOWN]) + (", ..." if (~met).sum() > SHOWN else "")
    return Finding(
        bool(met.all() and reached.all() and mean > SLIGHT and worst >= -VISIBLE),
        f"{name} meets or beats {int(met.sum())} of Merge-Two's {len(utility)} points"
        + (f" (misses I(X;Z) = {missed})" if missed else "")
        + f", reaches {reached.mean():.0%} of the range"
        + (
            f"; there Merge-Two leaks {signed(mean)} bits more on average (at least {signed(worst)})"
            * bool(reached.any())
        ),
        {"met": float(met.sum()), "points": float(len(utility)), "reached": float(reached.mean()), "mean_bits": mean},
    )


def stuck(points: Points, certified: Points, family: str, name: str, low: float, high: float) -> Finding:
    """Whether the best run with I(X;Z) in [low, high] is farther than `SLIGHT` from the proven bound; None if there is no run."""
    near = points.ended().between(low, high)
    if not len(near):
        return Finding(None, f"no converged run of {name} has I(X;Z) in [{low:g}, {high:g}]")
    distances = excess(near, certified, family)
    row = int(np.argmin(distances))
    least = float(distances[row])
    side = "above the least leakage" if family == "funnel" else "below the greatest relevance"
    off = int((distances > SLIGHT).sum())
    return Finding(
        least > SLIGHT,
        f"of {len(near)} converged runs of {name} with I(X;Z) in [{low:g}, {high:g}] the best lies {abs(least):.4f} bits {side} proven "
        f"possible (parameter {near.parameter[row]:.4g}, start {near.start[row]:.0f}), {off} more than {SLIGHT:g}",
        {"distance_bits": least, "runs": float(len(near))},
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
    """Whether the best run of the first is above the optimum at some parameter, and the second at the optimum in all of those.

    At the optimum: within ``by`` bits of the proven lower bound.
    """
    certified = certified.where(np.isclose(certified.parameter[:, None], theirs.parameter).any(axis=1))
    gaps = []
    for points in (theirs.ended(), ours.ended()):
        gap = np.full(len(certified), np.inf)
        for row, parameter in enumerate(certified.parameter):
            losses = points.loss[np.isclose(points.parameter, parameter)]
            gap[row] = losses.min(initial=np.inf) - certified.lower_bound[row]
        gaps.append(gap)
    caught = gaps[0] > by
    there = gaps[1][caught]
    where = ", ".join(f"{one:.4g}" for one in certified.parameter[caught])
    if not caught.any():
        return Finding(False, f"{names[0]} is at the optimum (within {by:g} bits) at every parameter", {"trapped": 0.0})
    return Finding(
        bool((there <= by).all()),
        f"{names[0]} ends above the optimum at {int(caught.sum())} of {len(certified)} parameters ({where}; by up to "
        f"{_shown(gaps[0][caught].max())} bits); {names[1]} is at the optimum at {int((there <= by).sum())} of those "
        f"(worst {_shown(there.max())}), and above it at {int((gaps[1] > by).sum())} in all",
        {
            "trapped": float(caught.sum()),
            "worst_bits": float(gaps[0][caught].max()),
            "kept": float((there <= by).sum()),
        },
    )


def signed(bits: float) -> str:
    """Four digits after the point, with their sign, and never -0.0000."""
    return f"{round(bits, 4) + 0.0:+.4f}"


def _shown(value: float) -> str:
    return f"{value:.1e}" if np.isfinite(value) else "no converged run"
