"""Questions to convergence: which c suffices, how straight a tail is, who needs the fewest iterations."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..information import Array
from ..solution import fit_rate
from .points import Points
from .verdict import Finding

STRAIGHT = 0.99
"""r^2 of a straight line through log |loss - limit| that counts as a linear rate."""


def share(points: Points) -> float:
    """Of the runs, the share that converged by their own rule."""
    return float(points.converged.mean())


def interval(points: Points) -> tuple[float, float]:
    """Wilson's 95% interval of the share."""
    n, p, z = len(points), share(points), 1.96
    centre = (p + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return max(float(centre - half), 0.0), min(float(centre + half), 1.0)


def smallest_penalty(shares: Mapping[float, float], enough: float) -> float:
    """The smallest c at which the share is enough; infinite if it never is."""
    return min((c for c, one in shares.items() if one >= enough), default=np.inf)


def smaller_penalty(
    ours: Mapping[float, float], theirs: Mapping[float, float], enough: float, names: tuple[str, str]
) -> Finding:
    """Whether the first reaches the share at a smaller c than the second; None if neither does."""
    c = [smallest_penalty(shares, enough) for shares in (ours, theirs)]
    said = " and ".join(
        f"{name}: {f'c = {one:g}' if np.isfinite(one) else f'never (largest share {max(shares.values()):.0%})'}"
        for name, one, shares in zip(names, c, (ours, theirs), strict=True)
    )
    return Finding(
        None if not np.isfinite(c).any() else c[0] < c[1],
        f"{enough:.0%} converge first at {said}",
        {"first": c[0], "second": c[1]},
    )


def wider_range(
    ours: Mapping[str, Mapping[float, float]], theirs: Mapping[str, Mapping[float, float]], enough: float
) -> Finding:
    """Whether each of the first converges (by share) at more penalties than every one of the second."""
    counts = {name: sum(one >= enough for one in shares.values()) for name, shares in {**ours, **theirs}.items()}
    total = max(len(shares) for shares in ours.values())
    most = max(counts[name] for name in theirs)
    return Finding(
        all(counts[name] > most for name in ours) if any(counts.values()) else None,
        f"penalties, of {total}, at which at least {enough:.0%} converge: "
        + ", ".join(f"{name} {count}" for name, count in counts.items()),
        {name: float(count) for name, count in counts.items()},
    )


def linear_tails(descents: Mapping[str, Array]) -> Finding:
    """Whether the loss of every run approaches its limit along a straight line in the logarithm: factor < 1, r^2 >= `STRAIGHT`."""
    said, numbers, straight = [], {}, []
    for name, loss in descents.items():
        try:
            rate = fit_rate(loss)
        except ValueError:
            said.append(f"{name}: only {len(loss)} iterations, too few to fit")
            continue
        straight.append(rate.factor < 1.0 and rate.r_squared >= STRAIGHT)
        said.append(f"{name}: x{rate.factor:.4f} an iteration, r^2 {rate.r_squared:.4f}, {len(loss)} iterations")
        numbers[f"{name}, factor"], numbers[f"{name}, r2"] = rate.factor, rate.r_squared
    return Finding(all(straight) if straight else None, "; ".join(said), numbers)


def fewest_iterations(counts: Mapping[str, Points], name: str) -> Finding:
    """Whether one method has the fewest iterations (median over converged runs) at most parameters, and over all of them."""
    medians: dict[str, dict[float, float]] = {}
    for one, points in counts.items():
        ended = points.ended()
        medians[one] = {
            float(parameter): float(np.median(ended.iterations[ended.parameter == parameter]))
            for parameter in np.unique(ended.parameter)
        }
    others = [one for one in counts if one != name]
    compared = [parameter for parameter in medians[name] if any(parameter in medians[one] for one in others)]
    if not compared:
        return Finding(None, "no parameter has converged runs of both")
    wins = sum(
        all(medians[name][parameter] <= medians[one].get(parameter, np.inf) for one in others) for parameter in compared
    )
    overall = {one: float(np.median(list(found.values()) or [np.inf])) for one, found in medians.items()}
    middle = "; ".join(f"{one} {median:.0f}" for one, median in overall.items())
    return Finding(
        2 * wins > len(compared) and overall[name] <= min(overall.values()),
        f"{name} has the fewest iterations at {wins} of {len(compared)} parameters; median over parameters: {middle}",
        {"wins": float(wins), "parameters": float(len(compared))},
    )


def remaining(steps: Array, floor: float = 1e-12) -> Array:
    """Delta_k = sum_{l >= k} ||w^{l+1} - w^l|| over the tail of a run: how much path is left.

    The tail: the second half of the decades between the first Delta and where rounding begins.
    """
    delta: Array = np.cumsum(steps[::-1])[::-1]
    last = int(np.flatnonzero(delta > max(floor * delta[0], 1e3 * steps[-1])).max(initial=0)) + 1
    middle = np.sqrt(delta[0] * delta[last - 1])
    return delta[int(np.flatnonzero(delta[:last] >= middle).max(initial=0)) : last]


def worst_ratio(steps: Array) -> float:
    """The largest Delta_{k+1} / Delta_k over the tail: below 1 is the paper's Q-linear rate."""
    delta = remaining(steps)
    return float((delta[1:] / delta[:-1]).max(initial=0.0))


def straightness(steps: Array) -> float:
    """r^2 of a straight line through log Delta_k over the tail: near 1 is an R-linear rate; NaN if there are too few."""
    delta = remaining(steps)
    if len(delta) < 5:
        return float("nan")
    k, y = np.arange(len(delta)), np.log(delta)
    slope, intercept = np.polyfit(k, y, 1)
    return 1.0 - float(((y - slope * k - intercept) ** 2).sum()) / float(((y - y.mean()) ** 2).sum())
