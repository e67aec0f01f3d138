"""The best release under worst-case caps: heart under eleven sets of caps, Adult under three, each with its bound.

python benchmarks/bench_releases.py --out results.json --table docs/benchmarks/releases.md
"""

from __future__ import annotations

import math
import time
from typing import Any

import infoplane as ip
from joints import ADULT, adult, outside
from leakage_curve import merged
from timing import measured

BIT = math.log(2.0)
HEART, LARGE = "heart 16 x 4", "Adult 225 x 10"


def asked() -> list[tuple[str, dict[str, Any]]]:
    """Tables and caps, in bits."""
    lifts = {(eps, both): {"max_lift": eps, "two_sided": both} for both in (False, True) for eps in (0.05, 0.2, 0.5)}
    average = {"max_leakage": 0.01}
    found: list[tuple[str, dict[str, Any]]] = [(HEART, caps) for caps in lifts.values()]
    found += [(HEART, average), (HEART, average | {"max_lift": 0.4})]
    found += [(HEART, average | lifts[0.2, False]), (HEART, average | lifts[0.2, True])]
    found += [(HEART, lifts[0.2, False] | {"min_group": 10})]
    if outside(ADULT["small"], "Adult"):
        found += [(LARGE, lifts[one]) for one in ((0.5, False), (0.5, True), (0.2, False))]
    return found


def measure(seconds: float = 900.0) -> dict[str, Any]:
    """A row for each, and the partitions of heart that leak at most 0.01 bits."""
    for caps in ({"max_leakage": 0.1}, {"max_leakage": 0.1, "max_lift": 0.2}):  # kernels are compiled
        ip.release_mechanism(ip.datasets.paper_uniform(), **caps)
    rows = []
    for name, caps in asked():
        joint = adult("small") if name == LARGE else ip.datasets.heart()
        nats = {cap: value * BIT if cap in ("max_leakage", "max_lift") else value for cap, value in caps.items()}
        began = time.process_time()
        found = ip.release_mechanism(joint, **nats, rng=0, max_seconds=seconds)
        spent = time.process_time() - began
        print(found, f"{spent:.1f} s", flush=True)
        rows.append(
            {
                "table": name,
                "caps": found.terms,
                "utility_bits": found.utility / BIT,
                "gap_bits": found.gap / BIT,
                "certified": found.certified,
                "leakage_bits": found.isz / BIT,
                "worst_lift_bits": found.worst_lift.nats / BIT,
                "least_lift_bits": found.least_lift.nats / BIT,
                "smallest_group": found.smallest_group,
                "processor_seconds": spent,
            }
        )
    heart, cap = ip.datasets.heart(), 0.01 * BIT
    own, paths = ip.merge_two(heart), merged(heart)
    return {
        "rows": rows,
        "merge_two_bits": float(own.ixz[own.iyz <= cap].max()) / BIT,
        "merge_paths_bits": float(paths[1, paths[0] <= cap].max()) / BIT,
    }


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    lines = [
        "# The best release under worst-case caps",
        "",
        "Written by `benchmarks/bench_releases.py`: bits, processor seconds. \\|lift\\| caps both sides (local information privacy),",
        "lift only the upper side (pointwise maximal leakage).",
        "",
        "| table | caps | I(X;Z) | gap | certified | I(S;Z) | lifts | rarest value, records | seconds |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for row in found["rows"]:
        caps = row["caps"].replace("|", "\\|").replace(" bits", "")
        lines.append(
            f"| {row['table']} | {caps} | {row['utility_bits']:.6f} | {row['gap_bits']:.0e} | {'yes' if row['certified'] else 'no'} | "
            f"{row['leakage_bits']:.4f} | {row['least_lift_bits']:+.3f} to {row['worst_lift_bits']:+.3f} | "
            f"{row['smallest_group']:.3g} | {row['processor_seconds']:.1f} |"
        )
    lines += [
        "",
        f"Of partitions of heart with I(S;Z) <= 0.01 the best on the path of Merge-Two has {found['merge_two_bits']:.4f} bits, the best on "
        f"21 merge paths {found['merge_paths_bits']:.4f}.",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("releases", measure, table, seconds=900.0)
