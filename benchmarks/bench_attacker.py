"""A boosted attacker against releases of fresh tables: does he ever do better than the best guess that the release allows?

    python benchmarks/bench_attacker.py --draws 20

Each draw is a table of records from a random p(x, s), released at a cap on the lift; the attacker learns from half of the released rows
(`held_out_attack`) and guesses the secrets of the others. The bound is sum_z max_s p(s, z) of the p(x, s) that the rows came from, of
which he knows less; his interval is that of Clopper and Pearson at 95%, of which one in twenty may lie beyond by chance alone.
"""

from __future__ import annotations

import argparse

import numpy as np
import pandas as pd

import infoplane as ip


def draw(seed: int, rows: int) -> tuple[float, float, float, float, float]:
    """Share right, its interval, the bound and the prior guess of one draw."""
    rng, of_z, of_attack = (np.random.default_rng(one) for one in np.random.SeedSequence(seed).spawn(3))
    n_x, n_s = int(rng.integers(6, 16)), int(rng.integers(2, 5))
    joint = ip.Joint.from_matrix(rng.dirichlet(np.full(n_x * n_s, 0.5)).reshape(n_x, n_s))
    cells = rng.choice(n_x * n_s, size=rows, p=np.asarray(joint.p_xy).ravel())
    x, s = np.divmod(cells, n_s)
    kept = ip.release_mechanism(joint, max_lift=float(rng.choice([0.05, 0.2, 0.5])), rng=0, max_seconds=5.0)
    attack = ip.held_out_attack(pd.Series(kept.assign(x.tolist(), rng=of_z)).astype(str), s, rng=of_attack)
    bound = float((kept.encoder @ joint.p_xy).max(axis=1).sum())
    return attack.share, attack.low, attack.high, bound, float(joint.p_y.max())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--rows", type=int, default=4000)
    asked = parser.parse_args()
    print("| draw | guessed right | 95% interval | best guess that the release allows | without it |")
    print("|---|---|---|---|---|")
    beyond = 0
    for seed in range(asked.draws):
        share, low, high, bound, prior = draw(seed, asked.rows)
        beyond += low > bound
        print(f"| {seed} | {share:.2%} | {low:.2%} to {high:.2%} | {bound:.2%} | {prior:.2%} |", flush=True)
    print(f"\nintervals wholly above the bound: {beyond} of {asked.draws}")


if __name__ == "__main__":
    main()
