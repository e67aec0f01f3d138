"""A boosted attacker against releases of fresh tables: is the attacker ever better than the best guess that the release allows?

    python benchmarks/bench_attacker.py --out results.json --table docs/benchmarks/attacker.md

Each draw is a table of records from a random p(x, s), released at a cap on the lift; the attacker learns from half of the released rows
(`held_out_attack`) and guesses the secrets of the others. The bound is sum_z max_s p(s, z) of the p(x, s) that the rows came from, of
which the attacker knows less. The interval is that of Clopper and Pearson at 95%: one in twenty may lie beyond by chance alone.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

import infoplane as ip
from timing import measured

DRAWS, ROWS = 20, 4_000


def draw(seed: int) -> tuple[float, float, float, float, float]:
    """Share right, its interval, the bound and the prior guess of one draw."""
    rng, of_z, of_attack = (np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(3))
    n_x, n_s = int(rng.integers(6, 16)), int(rng.integers(2, 5))
    joint = ip.Joint.from_matrix(rng.dirichlet(np.full(n_x * n_s, 0.5)).reshape(n_x, n_s))
    cells = rng.choice(n_x * n_s, size=ROWS, p=np.asarray(joint.p_xy).ravel())
    x, s = np.divmod(cells, n_s)
    kept = ip.release_mechanism(joint, max_lift=float(rng.choice([0.05, 0.2, 0.5])), rng=0, max_seconds=5.0)
    attack = ip.held_out_attack(pd.Series(kept.assign(x.tolist(), rng=of_z)).astype(str), s, rng=of_attack)
    bound = float((kept.encoder @ joint.p_xy).max(axis=1).sum())
    return attack.share, attack.low, attack.high, bound, float(joint.p_y.max())


def measure() -> list[tuple[float, float, float, float, float]]:
    """All draws."""
    return [draw(seed) for seed in range(DRAWS)]


def table(found: list[tuple[float, float, float, float, float]]) -> str:
    """The docs page, from the results alone."""
    beyond = sum(low > bound for _, low, _, bound, _ in found)
    rows = "".join(
        f"| {seed} | {share:.2%} | {low:.2%} to {high:.2%} | {bound:.2%} | {prior:.2%} |\n"
        for seed, (share, low, high, bound, prior) in enumerate(found)
    )
    return (
        "# A boosted attacker on records that it has not seen\n\n"
        f"Written by `benchmarks/bench_attacker.py`: {ROWS:,} rows a draw, released at a cap on the lift; half of them teach the "
        "attacker, who guesses the secrets of the others.\n\n"
        f"Intervals wholly above the best guess that the release allows: **{beyond} of {len(found)}**.\n\n"
        f"| draw | guessed right | 95% interval | best guess that the release allows | without it |\n|---|---|---|---|---|\n{rows}"
    )


if __name__ == "__main__":
    measured("attacker", measure, table)
