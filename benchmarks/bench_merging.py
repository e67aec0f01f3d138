"""How long a whole merge path takes, how the time grows with |X|, and what incremental updates save.

    python benchmarks/bench_merging.py --out results.json --table docs/benchmarks/merging.md [--sizes 500 1000 2000 4000] [--twin-size 150]

Synthetic words by 20 topics: Zipf-like masses, Poisson counts, fixed seed. The exponent is the slope of log seconds against log |X|. The
slow twin computes the cost of every pair anew before each merge; it must find the same path. Both take turns.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.posterior.merge_path import merge_path
from timing import measured, shown, take_turns

CRITERIA = {
    "agglomerative bottleneck": (1.0, 0.0),
    "bottleneck, gamma = 0.2": (1.0, -0.2),
    "Merge-Two": (-1.0, 0.0),
    "funnel, beta = 3.5": (-3.5, 1.0),
    "funnel, beta = 50": (-50.0, 1.0),
}
"""The weights of I(Y;Z) and I(X;Z) in what a merge should keep."""
TOPICS = 20
ROUNDS = 3


def words_by_topics(n: int) -> ip.Joint:
    """A joint with |X| = n and |Y| = `TOPICS`."""
    rng = np.random.default_rng(0)
    masses = 1.0 / np.arange(1, n + 1)
    rates = masses[:, None] / masses.sum() * rng.dirichlet(np.full(TOPICS, 0.3), size=n)
    counts = rng.poisson(1500.0 * n * rates) + rng.multinomial(1, np.full(TOPICS, 1 / TOPICS), size=n)
    return ip.Joint.from_counts(counts)


def xlogx(p: np.ndarray) -> np.ndarray:
    return p * np.log(np.where(p > 0, p, 1.0))


def slow_twin(p_zy: np.ndarray, a: float, b: float) -> np.ndarray:
    """I(Y;Z) along the path, in nats: the cost of all pairs, vectorised, anew before every merge."""
    iyz = []
    while len(p_zy) > 1:
        i, j = np.triu_indices(len(p_zy), 1)
        p_z = p_zy.sum(axis=1)
        fall_x = xlogx(p_z[i] + p_z[j]) - xlogx(p_z)[i] - xlogx(p_z)[j]
        fall_zy = (xlogx(p_zy[i] + p_zy[j]) - xlogx(p_zy)[i] - xlogx(p_zy)[j]).sum(axis=1)
        best = int((a * (fall_x - fall_zy) + b * fall_x).argmin())
        iyz.append(float(xlogx(p_zy).sum() - xlogx(p_z).sum()))
        merged = p_zy.copy()
        merged[i[best]] += p_zy[j[best]]
        p_zy = np.delete(merged, j[best], axis=0)
    # The last cluster has I(Y;Z) = 0: what the sums above lack is the same constant everywhere.
    return np.array([*iyz, last := float(xlogx(p_zy).sum() - xlogx(p_zy.sum()))]) - last


def measure(sizes: tuple[int, ...], twin_size: int) -> dict[str, Any]:
    """Seconds against |X| for every criterion, and the ratio to the slow twin."""
    joints = {n: words_by_topics(n) for n in sorted(set(sizes))}
    small = words_by_topics(twin_size)
    found = {}
    for name, (a, b) in CRITERIA.items():
        path = partial(merge_path, iyz_weight=a, ixz_weight=b)
        timed = take_turns({str(n): partial(path, joint) for n, joint in joints.items()}, ROUNDS)
        seconds = [min(timed.seconds[str(n)]) for n in joints]
        twin = take_turns(
            {"path": partial(path, small), "twin": partial(slow_twin, np.asarray(small.p_xy), a, b)}, ROUNDS
        )
        found[name] = {
            "seconds": dict(zip(map(str, joints), seconds, strict=True)),
            "growth": float(np.polyfit(np.log(list(joints)), np.log(seconds), 1)[0]) if len(joints) > 1 else None,
            "twin over path": twin.ratio("twin", "path"),
            "largest difference": float(np.abs(twin.answers["twin"] - twin.answers["path"].iyz).max()),
        }
        print(name, found[name], flush=True)
    return {"twin size": twin_size, "criteria": found}


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    sizes = list(next(iter(found["criteria"].values()))["seconds"])
    twin = found["twin size"]
    lines = [
        "# What a whole merge path costs",
        "",
        f"Written by `benchmarks/bench_merging.py`: synthetic words by {TOPICS} topics, one thread, best of {ROUNDS}. The",
        "exponent is that of |X| which fits the seconds. The slow twin computes the costs of all pairs before each merge; in turns,",
        "median (quartiles).",
        "",
        "| criterion | "
        + " | ".join(f"s at \\|X\\| = {int(n):,}" for n in sizes)
        + f" | exponent | slow twin over it, \\|X\\| = {twin} | largest difference of I(Y;Z), nats |",
        "|---" * (len(sizes) + 4) + "|",
    ]
    for name, one in found["criteria"].items():
        exponent = "-" if one["growth"] is None else f"{one['growth']:.2f}"
        lines.append(
            f"| {name} | "
            + " | ".join(f"{one['seconds'][n]:.3f}" for n in sizes)
            + f" | {exponent} | {shown(one['twin over path'])} | {one['largest difference']:.1e} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("merging", measure, table, sizes=(500, 1000, 2000, 4000), twin_size=150)
