"""What it takes to verify an answer with `infoplane verify`, beside what it took to prove it: docs/howto/verify.md has the table.

    python benchmarks/verification.py

The tables of Adult are not part of the repository; without them their rows are left out, and that is said.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import infoplane as ip
from joints import ADULT, adult, outside

SECONDS = 120.0
"""For each bound."""


def cases() -> Iterator[tuple[str, ip.Joint, ip.MarkovLagrangian]]:
    paper, heart = ip.datasets.paper_nonuniform(), ip.datasets.heart()
    for gamma in (0.1, 0.3, 0.6):
        yield f"paper, non-uniform, 3 x 3, gamma {gamma}", paper, ip.bottleneck(gamma)
    for beta in (1.5, 4.0, 20.0):
        yield f"paper, non-uniform, 3 x 3, beta {beta}", paper, ip.funnel(beta)
    for gamma in (0.02, 0.1, 0.3):
        yield f"heart, 16 x 4, gamma {gamma}", heart, ip.bottleneck(gamma)
    for beta in (1.5, 3.5, 10.0):
        yield f"heart, 16 x 4, beta {beta}", heart, ip.funnel(beta)
    if outside(ADULT["small"], "Adult 225 x 10"):
        small = adult("small")
        for gamma in (0.4, 0.2, 0.1, 0.05):
            yield f"Adult, 225 x 10, gamma {gamma}", small, ip.bottleneck(gamma)


def main() -> None:
    print("| joint | proven in | verdict | cells | verified in | no better by more than |\n|---|---|---|---|---|---|")
    for name, joint, problem in cases():
        ip.solve(joint, problem, certify=1.0)  # kernels compiled
        began = time.perf_counter()
        found = ip.solve(joint, problem, certify=True)
        proven = time.perf_counter() - began
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "answer.npz"
            ip.Frontier(joint, [found]).save(path)
            began = time.perf_counter()
            (one,) = ip.verify(path, max_seconds=SECONDS)
        took = time.perf_counter() - began
        verdict = one.verdict.name.replace("_", " ")
        print(
            f"| {name} | {proven:.2f} s | {verdict} | {one.cells:,} | {took:.1f} s | {one.gap:.1e} nats |", flush=True
        )


if __name__ == "__main__":
    main()
