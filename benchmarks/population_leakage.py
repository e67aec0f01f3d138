"""Leakage in the population: caps with confidence on draws from a known truth, the plain answer beside; coverage of the bounds.

    python benchmarks/population_leakage.py [draws] [coverage] [subjects] [--draws 100] [--page docs/explanation/leakage.md]

`draws`: heart as truth; of n = 1,000, 10,000 and 100,000 records drawn from it, `funnel_at_leakage` at caps of 0.005, 0.01 and 0.05 bits,
with confidence=0.95 and without. Every draw is kept in benchmarks/results/population_leakage.csv as soon as it is there: begun again, the
script goes on from there. `coverage`: planted joints, encoders that did not see the records. `subjects`: simulated optimal subjects and
the test of "on the bound". Minutes each; `draws` a quarter of an hour.
"""

from __future__ import annotations

import argparse
import csv
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from scipy.optimize import brentq

import infoplane as ip
from infoplane.information import NATS_PER_BIT, bits, mutual_information, plane_point
from infoplane.sampling.intervals import bound_of
from page import write_block

SIZES, CAPS = (1_000, 10_000, 100_000), (0.005, 0.01, 0.05)
"""Records, and bits."""

KEPT = Path(__file__).parent / "results" / "population_leakage.csv"
COLUMNS = (
    *("records", "cap_bits", "draw", "leak_bits", "utility_bits", "chosen", "clusters", "least_cap_bits"),
    *("plain_leak_bits", "plain_utility_bits", "plain_bound_bits"),
)
GAP, SECONDS = 1e-3, 2.0
"""Nats to which the plain answer is proven, which is enough for three digits, and most seconds for a cap."""

REPEATS = 200
"""Planted joints for a cell of the table of coverage."""

SHAPES = ((6, 2, 2), (16, 4, 6), (30, 10, 20))
"""|X|, |Y| and |Z| of the planted joints."""

STRENGTHS, RECORDS = (0.0, 1e-3, 1e-2, 1e-1), (300, 1_000, 10_000, 50_000)
"""I(X;Y) in nats, and records."""


GAMMAS, TRIALS, SUBJECTS, EXPERIMENTS = (0.05, 0.1, 0.15, 0.2), (8, 16), 200, 99
"""Of the optimal subjects: their gammas, trials for each item, how many of them, and experiments drawn for each test."""

FRESH = 20261118
"""Seed of the subjects: another than 0, on which the test was settled."""


def draw(n: int, number: int) -> Iterator[list[float]]:
    """One sample of heart, and its rows: a row for each cap."""
    truth = ip.datasets.heart()
    rng = np.random.default_rng([n, number])
    joint = ip.Joint.from_counts(rng.multinomial(n, truth.p_xy.ravel()).reshape(truth.shape))
    nats = [cap * NATS_PER_BIT for cap in CAPS]
    plain = ip.funnel_curve(joint, nats, tol=GAP, max_seconds=SECONDS)
    for cap, eps, other in zip(CAPS, nats, plain, strict=True):
        found = ip.funnel_at_leakage(joint, eps, confidence=0.95, rng=rng)
        here, there = plane_point(truth, found.encoder), plane_point(truth, other.encoder)
        least = np.nan if found.least_cap is None else bits(found.least_cap)
        assert other.leakage_bound is not None
        yield [
            *(n, cap, number, bits(here.iyz), bits(here.ixz), found.chosen, found.clusters, least),
            *(bits(there.iyz), bits(there.ixz), bits(other.leakage_bound.bound)),
        ]


def draws(many: int) -> list[str]:
    """All that are wanted and not yet there; the table of all that are."""
    KEPT.parent.mkdir(exist_ok=True)
    if not KEPT.exists():
        KEPT.write_text(",".join(COLUMNS) + "\n")
    done = {(int(row["records"]), int(row["draw"])) for row in csv.DictReader(KEPT.open())}
    for number in range(many):
        for n in SIZES:
            if (n, number) not in done:
                rows = list(draw(n, number))
                with KEPT.open("a") as file:  # the rows of a sample together, or none of them
                    file.write("".join(",".join(f"{value:.8g}" for value in row) + "\n" for row in rows))
    return table([{name: float(value) for name, value in row.items()} for row in csv.DictReader(KEPT.open())])


def table(rows: list[dict[str, float]]) -> list[str]:
    """One line for each cell."""
    lines = [
        "| records | cap, bits | draws | leaks on average | at most | above the cap | keeps I(X;Z), bits | constant "
        "| plain answer: leaks | above the cap | keeps | its 95% bound held |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    above = 0
    for n in SIZES:
        for cap in CAPS:
            cell = [row for row in rows if row["records"] == n and row["cap_bits"] == cap]
            if not cell:
                continue
            of = {name: np.array([row[name] for row in cell]) for name in COLUMNS}
            leak, plain = of["leak_bits"], of["plain_leak_bits"]
            above += int((leak > cap).sum())
            lines.append(
                f"| {n:,} | {cap:g} | {len(cell)} | {leak.mean():.4f} | {leak.max():.4f} | **{(leak > cap).sum()}** | "
                f"{of['utility_bits'].mean():.3f} | {(of['chosen'] == 0).sum()} | {plain.mean():.4f} | {(plain > cap).sum()} | "
                f"{of['plain_utility_bits'].mean():.3f} | {np.mean(plain <= of['plain_bound_bits']):.2f} |"
            )
    least = [row["least_cap_bits"] for row in rows if row["records"] == SIZES[0] and row["cap_bits"] == CAPS[1]]
    return [
        *lines,
        "",
        f"In all, {above} of {len(rows)} releases with confidence leak more than their cap: {above / len(rows):.1%}. The least cap that "
        f"{SIZES[0]:,} records can support is {np.median(least):.3f} bits in the median.",
    ]


def planted(rng: np.random.Generator, letters: int, values: int, strength: float) -> np.ndarray:
    """A random joint with I(X;Y) = strength: half of them with a p(y) like Zipf's."""
    p_y = np.ones(values) if rng.random() < 0.5 else 1.0 / np.arange(1.0, values + 1.0)
    p_x, tilt = rng.dirichlet(np.full(letters, 3.0)), rng.standard_normal((letters, values))

    def made(by: float) -> np.ndarray:
        T = p_y * np.exp(by * tilt)
        return p_x[:, None] * T / T.sum(axis=1, keepdims=True)

    if mutual_information(made(50.0)) <= strength:  # this tilt has no more to give
        return planted(rng, letters, values, strength)
    return made(brentq(lambda by: mutual_information(made(by)) - strength, 0.0, 50.0)) if strength else made(0.0)


def coverage(_many: int) -> list[str]:
    """How often the bound is at least the true leakage: hard and soft encoders in turn."""
    lines = [
        f"| X x Y into Z | I(X;Y), nats | {' | '.join(f'{n:,} records' for n in RECORDS)} |",
        "|---" * (2 + len(RECORDS)) + "|",
    ]
    for letters, values, clusters in SHAPES:
        for strength in STRENGTHS:
            cells = []
            for n in RECORDS:
                rng = np.random.default_rng([letters, n, int(1e4 * strength)])
                held, shown = [], []
                for number in range(REPEATS):
                    P = planted(rng, letters, values, strength)
                    W = np.eye(clusters)[:, rng.integers(0, clusters, letters)]
                    if number % 2:
                        W = rng.dirichlet(np.full(clusters, 0.2), letters).T
                    N = rng.multinomial(n, P.ravel() / P.sum()).reshape(P.shape)
                    bound = bound_of(W, N, 0.95, tuple(range(values))).bound
                    held.append(mutual_information(W @ P) <= bound + 1e-14)
                    shown.append(bits(bound))
                cells.append(f"{np.mean(held):.3f} ({np.mean(shown):.4f})")
            lines.append(f"| {letters} x {values} into {clusters} | {strength:g} | {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return lines


def subjects(_many: int) -> list[str]:
    """How often optimal subjects are rejected."""
    joint, rng = ip.datasets.heart(), np.random.default_rng(FRESH)
    optima = [ip.solve(joint, ip.bottleneck(gamma), rng=0) for gamma in GAMMAS]
    lines = [
        "| trials an item | subjects | epsilon > 0 | mean epsilon, bits | interval reaches 0 | has I(X;Z) | has beta "
        "| rejected at 5% |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for trials in TRIALS:
        counts = {
            str(number): np.array(
                [rng.multinomial(trials, column / column.sum()) for column in optima[number % len(optima)].encoder.T]
            ).T
            for number in range(SUBJECTS)
        }
        found = ip.efficiency(joint, counts, counts=True, axes="zx", bootstrap=EXPERIMENTS, rng=1)
        beta = 1.0 / np.array([GAMMAS[number % len(GAMMAS)] for number in range(SUBJECTS)])
        inside = (found["beta_ci_low"] <= beta) & (beta <= found["beta_ci_high"])
        ixz = np.array([bits(optima[number % len(optima)].ixz) for number in range(SUBJECTS)])
        known = (found["ixz_ci_low_bits"] <= ixz) & (ixz <= found["ixz_ci_high_bits"])
        lines.append(
            f"| {trials} | {SUBJECTS} | {(found['epsilon_bits'] > 0.0).mean():.0%} | {found['epsilon_bits'].mean():.4f} | "
            f"{(found['epsilon_ci_low_bits'] < 1e-4).mean():.0%} | {known.mean():.0%} | {inside.mean():.0%} | "
            f"{(found['on_bound_p'] <= 0.05).mean():.1%} |"
        )
        print(lines[-1], flush=True)
    return lines


PARTS = {"draws": draws, "coverage": coverage, "subjects": subjects}


def main() -> None:
    """The parts that were named, or all."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--draws", type=int, default=100)
    parser.add_argument("--page", type=Path)
    given = parser.parse_args()
    for name in given.parts or PARTS:
        lines = PARTS[name](given.draws)
        print("\n".join(lines), flush=True)
        if given.page is not None:
            write_block(given.page, f"population {name}", lines)


if __name__ == "__main__":
    main()
