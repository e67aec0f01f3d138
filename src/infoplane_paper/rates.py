"""Claims about linear rates: of the loss of a run, and of the path that is left to its iterates."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

import infoplane as ip

from .piece import Array
from .settings import NATS_PER_BIT, SLIGHT
from .verdict import Finding

STRAIGHT = 0.99
"""r^2 of a straight line through log |loss - limit| that counts as a linear rate."""

ARRIVED = 1e-3
"""The share of its fall that a run may still gain at its end, and count as one that has arrived."""


def on_its_way(loss: Array) -> float:
    """The share of all that a run gained which it gained in the last twentieth of its iterations."""
    last = max(len(loss) // 20, 1)
    gained = float(loss[0] - loss.min())
    return abs(float(loss[-1 - last] - loss[-1])) / gained if gained > 0.0 and len(loss) > last else 0.0


def linear_tails(descents: Mapping[str, Array], converged: Mapping[str, bool]) -> Finding:
    """Whether log |loss - limit| of every run falls along a straight line: factor < 1 per iteration, r^2 >= `STRAIGHT`.

    "Near the end" needs an end. A run does not count that did not converge, that never left its start (its loss fell by less than
    `SLIGHT`), or that was stopped on its way: more than `ARRIVED` of what it gained came in the last twentieth of its iterations.
    """
    said, straight = [], []
    for name, loss in descents.items():
        try:
            rate = ip.fit_rate(loss)
        except ValueError:
            said.append(f"{name}: only {len(loss)} iterations, too few to fit")
            continue
        line = f"{name}: x{rate.factor:.4f} an iteration, r^2 {rate.r_squared:.4f}, {len(loss)} iterations"
        gained = float(loss[0] - loss.min()) / NATS_PER_BIT
        if not converged[name]:
            said.append(f"{line}, not converged")
        elif gained < SLIGHT:
            said.append(f"{line}, {gained:.1e} bits below its start")
        elif on_its_way(loss) > ARRIVED:
            said.append(f"{line}, stopped on its way: {on_its_way(loss):.1%} of its fall in the last twentieth of them")
        else:
            said.append(line)
            straight.append(rate.factor < 1.0 and rate.r_squared >= STRAIGHT)
    holds = False if False in straight else True if straight and len(straight) == len(descents) else None
    return Finding(holds, "; ".join(said))


def remaining(steps: Array, floor: float = 1e-12) -> Array:
    """Delta_k = sum_{l >= k} ||w^{l+1} - w^l||, the length of the path that is left, for every k in the tail of a run.

    The tail is where log Delta is in the lower half of its range, from the first Delta down to where rounding errors begin.
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
    """r^2 of a straight line through log Delta_k over the tail: near 1 is an R-linear rate; NaN if the tail is too short."""
    delta = remaining(steps)
    if len(delta) < 5:
        return float("nan")
    k, y = np.arange(len(delta)), np.log(delta)
    slope, intercept = np.polyfit(k, y, 1)
    return 1.0 - float(((y - slope * k - intercept) ** 2).sum()) / float(((y - y.mean()) ** 2).sum())
