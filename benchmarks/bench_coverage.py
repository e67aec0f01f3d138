"""How often 95% intervals hold: of a fixed encoder, of a solution by cross-fitting, of the frontier; and of a percentile bootstrap.

    python benchmarks/bench_coverage.py [fixed] [crossfit] [frontier] [--samples N]

Planted joints: p(x) ~ Dirichlet(2), p(y|x) ~ Dirichlet(1) ("strong"), nine tenths of p(y) and one of that ("weak"), or p(y) ("zero");
another joint for every sample. Writes its tables into docs/benchmarks/coverage.md, between their markers.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from pathlib import Path

import numpy as np

import infoplane as ip
from infoplane.information import mutual_information, plane_point
from infoplane.sampling.intervals import complexity, interval_of, relevance
from page import write_block, write_records

PAGE = Path(__file__).parent.parent / "docs/benchmarks/coverage.md"
KINDS = ("strong", "weak", "zero")
SIZES = (200, 1_000, 10_000)
SAMPLES = {"fixed": 200, "crossfit": 60, "frontier": 40}
RESAMPLED = {"fixed": (200, 100), "frontier": (6, 20)}
"""Samples for the percentile bootstrap, and resamples of each."""

SHARES = (0.05, 0.1, 0.2, 0.35, 0.6)
"""Gammas of a frontier, as shares of the table's critical one."""


def planted(shape, kind, rng):
    """A population."""
    p_x, p_y = rng.dirichlet(np.full(shape[0], 2.0)), rng.dirichlet(np.full(shape[1], 3.0))
    T = rng.dirichlet(np.ones(shape[1]), shape[0])
    share = {"strong": 1.0, "weak": 0.1, "zero": 0.0}[kind]
    return p_x[:, None] * (share * T + (1.0 - share) * p_y)


def drawn(P, n, rng):
    return rng.multinomial(n, P.ravel()).reshape(P.shape)


def holds(low, truth, high):
    return low - 1e-9 <= truth <= high + 1e-9


def table(found, columns):
    """Rows of (shape, kind, n), a column per method and number of samples; the least of each column at the end."""
    lines = [f"| joint | truth | records | {' | '.join(columns)} |", "|---|---|---|" + "---|" * len(columns)]
    for (shape, kind, n), hits in found.items():
        cells = [
            hits[name] if isinstance(hits[name], str) else f"{np.mean(hits[name]):.2f}" if hits[name] else ""
            for name in columns
        ]
        lines.append(f"| {shape[0]} x {shape[1]} | {kind} | {n:,} | {' | '.join(cells)} |")
    least = [min(np.mean(hits[c]) for hits in found.values() if isinstance(hits[c], list) and hits[c]) for c in columns]
    return [*lines, f"| least | | | {' | '.join(f'**{one:.2f}**' for one in least)} |"]


def fixed(samples):
    """(c): encoders drawn at random, hard and soft, on records that they have not seen."""
    rng, found = np.random.default_rng(0), {}
    times, resamples = RESAMPLED["fixed"]
    for shape, k in (((5, 3), 3), ((16, 4), 6), ((50, 5), 12)):
        for kind in KINDS:
            for n in SIZES:
                hits = defaultdict(list)
                for number in range(samples):
                    P = planted(shape, kind, rng)
                    N = drawn(P, n, rng)
                    hard = np.eye(k)[:, rng.integers(0, k, shape[0])]
                    soft = np.exp(2.0 * rng.standard_normal((k, shape[0])))
                    soft /= soft.sum(axis=0)
                    for name, W in (("hard", hard), ("soft", soft)):
                        truth = plane_point(ip.Joint.from_matrix(P / P.sum()), W)
                        told = interval_of([relevance(W, N)], 0.95)
                        kept = interval_of([complexity(W, N.sum(axis=1))], 0.95)
                        hits[f"I(Y;Z), {name}"].append(holds(told.low, truth.iyz, told.high))
                        hits[f"I(X;Z), {name}"].append(holds(kept.low, truth.ixz, kept.high))
                    if number < times:
                        q = hard @ N / n
                        again = rng.multinomial(n, q.ravel(), size=resamples).reshape(resamples, *q.shape)
                        low, high = np.quantile([mutual_information(one / n) for one in again], [0.025, 0.975])
                        truth = plane_point(ip.Joint.from_matrix(P / P.sum()), hard).iyz
                        hits["percentile bootstrap, hard"].append(holds(low, truth, high))
                found[shape, kind, n] = hits
                print(shape, kind, n, {name: round(float(np.mean(one)), 3) for name, one in hits.items()}, flush=True)
    columns = ["I(Y;Z), hard", "I(Y;Z), soft", "I(X;Z), hard", "I(X;Z), soft", "percentile bootstrap, hard"]
    return table(found, columns), f"{samples} samples a cell; the bootstrap {times} samples of {resamples} resamples."


def crossfit(samples):
    """`Solution.interval`: the population's I(Y;Z) of the solution's own encoder."""
    rng, found = np.random.default_rng(1), {}
    for shape in ((5, 3), (16, 4)):
        for kind in KINDS:
            for n in SIZES:
                hits = defaultdict(list)
                for _ in range(samples):
                    P = planted(shape, kind, rng)
                    joint = ip.Joint.from_counts(drawn(P, n, rng))
                    gamma = 0.3 * ip.critical_gamma(joint)
                    solution = ip.solve(joint, ip.bottleneck(gamma), starts=2, rng=0)
                    truth = plane_point(ip.Joint.from_matrix(P / P.sum()), solution.encoder)
                    made = solution.interval(rng=rng)
                    hits["I(Y;Z), cross-fitted"].append(holds(made.iyz.low, truth.iyz, made.iyz.high))
                    own = interval_of([relevance(solution.encoder, joint.counts)], 0.95)
                    hits["on its own records"].append(holds(own.low, truth.iyz, own.high))
                found[shape, kind, n] = hits
                print(shape, kind, n, {name: round(float(np.mean(one)), 3) for name, one in hits.items()}, flush=True)
    return table(
        found, ["I(Y;Z), cross-fitted", "on its own records"]
    ), f"{samples} samples a cell, gamma at 0.3 of critical."


def curve(joint, gammas, rates):
    """I*(r) over these gammas: the least of the lines gamma r + F(gamma), and of I(X;Y)."""
    runs = [answer.run for answer in ip.sweep(joint, ip.bottleneck, gammas, starts=2, rng=0).best_answers()]
    return np.minimum(np.min([run.parameter * rates - run.loss for run in runs], axis=0), joint.mutual_information)


def frontier(samples):
    """(d): the population's frontier at the rates of the table's runs, each rate by itself."""
    rng, found = np.random.default_rng(2), {}
    times, resamples = RESAMPLED["frontier"]
    for shape in ((5, 3), (16, 4), (50, 5)):
        for kind in KINDS:
            for n in SIZES:
                hits = defaultdict(list)
                for number in range(samples):
                    P = planted(shape, kind, rng)
                    joint = ip.Joint.from_counts(drawn(P, n, rng))
                    gammas = np.array(SHARES) * ip.critical_gamma(joint)
                    swept = ip.sweep(joint, ip.bottleneck, gammas, starts=2, rng=0)
                    try:
                        band = swept.bands(starts=2)
                    except ip.InvalidOptionError:
                        hits["jackknife"] = hits["percentile bootstrap"] = "refused"
                        break
                    rates = band.ixz_bits * np.log(2.0)
                    truth = curve(ip.Joint.from_matrix(P / P.sum()), gammas, rates) / np.log(2.0)
                    inside = [holds(*one) for one in zip(band.low_bits, truth, band.high_bits, strict=True)]
                    hits["jackknife"].append(float(np.mean(inside)))
                    if number < times:
                        again = [
                            curve(ip.Joint.from_counts(drawn(joint.p_xy, n, rng)), gammas, rates)
                            for _ in range(resamples)
                        ]
                        low, high = np.quantile(again, [0.025, 0.975], axis=0) / np.log(2.0)
                        inside = [holds(*one) for one in zip(low, truth, high, strict=True)]
                        hits["percentile bootstrap"].append(float(np.mean(inside)))
                found[shape, kind, n] = hits
                print(
                    shape,
                    kind,
                    n,
                    {
                        name: one if isinstance(one, str) else round(float(np.mean(one)), 3)
                        for name, one in hits.items()
                    },
                    flush=True,
                )
    said = f"{samples} samples a cell, the mean over the rates of {len(SHARES)} gammas; "
    said += f"the bootstrap {times} samples of {resamples} resamples."
    return table(found, ["jackknife", "percentile bootstrap"]), said


PARTS = {"fixed": fixed, "crossfit": crossfit, "frontier": frontier}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"{', '.join(PARTS)}; default all")
    parser.add_argument("--samples", type=int, help=f"a cell; default {SAMPLES}")
    parser.add_argument("--table", type=Path, default=PAGE, help="the page, which has the markers of each part")
    parser.add_argument("--out", type=Path, help="the same tables as JSON")
    options = parser.parse_args()
    for name in options.parts or PARTS:
        lines, said = PARTS[name](options.samples or SAMPLES[name])
        write_block(options.table, name, ["", said, "", *lines, ""])
    if options.out:
        write_records(options.table, options.out)


if __name__ == "__main__":
    main()
