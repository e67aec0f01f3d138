"""Letters in groups of similar p(y|x): a start for runs with fewer clusters than letters.

Divisive clustering. All letters begin in one group. The group with the largest loss p(group) I(X;Y | group) is cut in two, until there
are enough groups. A cut projects the rows (p(y|x) - p(y|group)) / sqrt(p(y|group)) on their leading direction and separates them at the
mean; then, a few times, every letter moves to the half that is nearer in KL divergence. O(|X| |Y| log |Z|) if the cuts are balanced;
sparse rows stay sparse.
"""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np

from ..information import IntArray, entropy
from .joint import Support
from .tables import stored


def grouped(support: Support, groups: int) -> IntArray:
    """The group 0, ..., groups - 1 of every letter of positive mass; fewer groups if within each of them p(y|x) is the same."""
    rows: Any = support.rows if support.sparse else support.P
    labels = np.zeros(len(support.p_x), dtype=np.int64)
    queue: list[tuple[float, int, IntArray]] = []
    whole = np.arange(len(labels))
    heapq.heappush(queue, (-_lost(rows), 0, whole))
    count = 1
    while count < groups and queue and queue[0][0] < -1e-14:  # nats; below, rounding
        _, label, letters = heapq.heappop(queue)
        second = _cut(rows[letters])
        if not 0 < int(second.sum()) < len(letters):
            continue
        labels[letters[second]] = count
        for name, part in ((label, letters[~second]), (count, letters[second])):
            if len(part) > 1:
                heapq.heappush(queue, (-_lost(rows[part]), name, part))
        count += 1
    return labels


def _lost(rows: Any) -> float:
    """Sum_x p(x) KL(p(y|x) || p(y|group)): what merging these letters costs of I(X;Y)."""
    p_x, p_y = rows.sum(axis=1), rows.sum(axis=0)
    return -entropy(stored(rows)) + entropy(p_x) + entropy(p_y) - entropy(p_x.sum())


def _cut(rows: Any) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
    """Which letters belong to the second half."""
    p_x, p_y = rows.sum(axis=1), rows.sum(axis=0)
    mean = p_y / p_y.sum()
    scale = 1.0 / np.sqrt(np.where(mean > 0.0, mean, 1.0))

    # Of the rows (p(y|x) - mean) / sqrt(mean), without forming them: one of them, and all of them along a direction.
    def row(x: np.intp) -> Any:
        return scale * (rows[[x]].sum(axis=0) / p_x[x] - mean)

    def along(direction: Any) -> Any:
        return (rows @ (scale * direction)) / p_x - float(mean @ (scale * direction))

    direction = row(p_x.argmax())
    if not direction.any():  # it says what all say together: begin with the one that differs most
        direction = row(((rows * rows) @ (scale * scale) / p_x - p_x).argmax())
    # Towards the leading direction, each row weighed by p(x); it may be rough, since letters are moved afterwards.
    for _ in range(20):
        projection = along(direction)
        direction = scale * (rows.T @ projection - mean * float(p_x @ projection))
        norm = float(np.linalg.norm(direction))
        if norm == 0.0:
            return np.zeros(len(p_x), dtype=bool)
        direction /= norm
    projection = along(direction)
    second = np.asarray(projection > float(p_x @ projection) / p_x.sum())
    for _ in range(5):  # rounds in which letters choose their half; later ones move hardly any
        halves = [rows[half].sum(axis=0) for half in (~second, second)]
        if min(half.sum() for half in halves) == 0.0:
            break
        # The KL divergences of a letter to the halves differ by sum_y p(y|x) log(ratio); y unseen in a half get a little mass.
        first, other = (
            np.log(np.maximum((half + 1e-9 * p_y) / half.sum() + (p_y == 0.0), np.finfo(float).tiny)) for half in halves
        )
        moved = np.asarray(rows @ (other - first)) > 0.0
        if (moved == second).all():
            break
        second = moved
    return second
