"""A million rows through a release: drawn anew, against NumPy's own draw, and by id and key, against a bare loop over the hash.

python benchmarks/bench_released_rows.py --out results.json --table docs/benchmarks/released_rows.md
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import pandas as pd

import infoplane as ip
from timing import measured, shown, take_turns

ROWS = 1_000_000
KEY = bytes(range(32))


def measure(rounds: int = 5) -> dict[str, Any]:
    """Ratios to what cannot be avoided, of the release of heart at 0.01 bits."""
    joint = ip.datasets.heart()
    kept = ip.release_mechanism(joint, max_leakage=0.01 * math.log(2))
    rng = np.random.default_rng(0)
    labels = np.array(joint.x_labels, dtype=object)[rng.choice(joint.shape[0], ROWS, p=joint.p_x)]
    frame = pd.DataFrame({"risk_factors": labels, "id": np.arange(ROWS)})
    ids, p_z = frame.id.tolist(), kept.p_z / kept.p_z.sum()

    def loop() -> list[bytes]:
        return [hashlib.blake2b(str(one).encode(), key=KEY, digest_size=8).digest() for one in ids]

    timed = take_turns(
        {
            "transform": lambda: kept.transform(frame, rng=0),
            "assign": lambda: kept.assign(labels, rng=0),
            "numpy": lambda: rng.choice(len(p_z), ROWS, p=p_z),
            "keyed": lambda: kept.transform(frame, ids=ids, key=KEY),
            "loop": loop,
        },
        rounds,
    )
    return {
        "transform": timed.ratio("transform", "numpy"),
        "assign": timed.ratio("assign", "numpy"),
        "keyed": timed.ratio("keyed", "loop"),
        "clusters": kept.clusters,
    }


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    return (
        "# A million rows through a release\n\n"
        f"Written by `benchmarks/bench_released_rows.py`: heart at 0.01 bits, {found['clusters']} released values, "
        f"{ROWS:,} rows of text, in turns.\n\n"
        "| call | against | times as long |\n|---|---|---|\n"
        f"| `transform(frame)` | `rng.choice(values, rows, p=p_z)` | {shown(found['transform'])} |\n"
        f"| `assign(labels)` | the same | {shown(found['assign'])} |\n"
        f"| `transform(frame, ids=, key=)` | a bare loop over BLAKE2b | {shown(found['keyed'])} |\n"
    )


if __name__ == "__main__":
    measured("released_rows", measure, table)
