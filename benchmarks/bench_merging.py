"""How long a whole merge path takes, how the time grows with |X|, and what incremental updates save.

    python benchmarks/bench_merging.py [--sizes 500 1000 2000 4000] [--letters-of-y 20] [--table COUNTS.csv]

Without a table: Zipf-like words over topics, Poisson counts, fixed seed. A table has a header, labels in its first
column and counts in the others; its heaviest rows are taken for the smaller sizes. The slow twin prices every pair
before each merge.
"""

import argparse
import csv
import time
from functools import partial

import numpy as np

from infoplane.joint.joint import Joint
from infoplane.solvers.merging import merge_path

CRITERIA = {
    "agglomerative bottleneck": (1.0, 0.0),
    "bottleneck, gamma = 0.2": (1.0, -0.2),
    "merge-two": (-1.0, 0.0),
    "funnel, beta = 3.5": (-3.5, 1.0),
    "funnel, beta = 50": (-50.0, 1.0),
}


def synthetic_counts(n: int, n_y: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    masses = 1.0 / np.arange(1, n + 1)
    rates = masses[:, None] / masses.sum() * rng.dirichlet(np.full(n_y, 0.3), size=n)
    return rng.poisson(1500.0 * n * rates) + rng.multinomial(1, np.full(n_y, 1 / n_y), size=n)


def read_counts(path: str) -> np.ndarray:
    with open(path, newline="", encoding="utf-8") as file:
        rows = list(csv.reader(file))[1:]
    counts = np.array([[float(value) for value in row[1:]] for row in rows])
    return counts[np.argsort(-counts.sum(axis=1), kind="stable")]


def xlogx(p: np.ndarray) -> np.ndarray:
    return p * np.log(np.where(p > 0, p, 1.0))


def slow_iyz(p_zy: np.ndarray, a: float, b: float) -> list[float]:
    """I(Y;Z) along the path, up to a constant: all pairs, vectorised, anew before every merge."""
    iyz = []
    while len(p_zy) > 1:
        i, j = np.triu_indices(len(p_zy), 1)
        p_z = p_zy.sum(axis=1)
        fall_x = xlogx(p_z[i] + p_z[j]) - xlogx(p_z)[i] - xlogx(p_z)[j]
        fall_zy = (xlogx(p_zy[i] + p_zy[j]) - xlogx(p_zy)[i] - xlogx(p_zy)[j]).sum(axis=1)
        best = int((a * (fall_x - fall_zy) + b * fall_x).argmin())
        iyz.append(float(xlogx(p_zy).sum() - xlogx(p_z).sum()))
        p_zy[i[best]] += p_zy[j[best]]
        p_zy = np.delete(p_zy, j[best], axis=0)
    return [*iyz, float(xlogx(p_zy).sum() - xlogx(p_zy.sum()))]


def seconds(task, repeats: int = 1) -> tuple[float, object]:
    """Best time of some repeats, and what the task returned."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        result = task()
        times.append(time.perf_counter() - begin)
    return min(times), result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[500, 1000, 2000, 4000], help="values of |X|")
    parser.add_argument("--letters-of-y", type=int, default=20, help="|Y| of the synthetic tables")
    parser.add_argument("--table", help="a CSV file of counts instead of synthetic ones")
    parser.add_argument("--twin-size", type=int, default=150, help="|X| of the comparison with the slow twin")
    parser.add_argument("--without-table-of-costs", action="store_true", help="also time memory_limit=0")
    args = parser.parse_args()

    everything = read_counts(args.table) if args.table else None

    def joint(n: int) -> Joint:
        return Joint.from_counts(synthetic_counts(n, args.letters_of_y) if everything is None else everything[:n])

    sizes = [n for n in sorted(set(args.sizes)) if everything is None or n <= len(everything)]
    compile_time, _ = seconds(partial(merge_path, joint(3), iyz_weight=1.0))
    print(f"first call, compiling or loading: {compile_time:.2f} s")
    for limit in (2**29, 0) if args.without_table_of_costs else (2**29,):
        print(f"\nseconds for the whole path, memory_limit = {limit}")
        print(f"{'criterion':26s}" + "".join(f"{n:>9d}" for n in sizes) + f"{'exponent':>10s}")
        for name, (a, b) in CRITERIA.items():
            times = []
            for n in sizes:
                table = joint(n)
                run = partial(merge_path, table, iyz_weight=a, ixz_weight=b, memory_limit=limit)
                times.append(seconds(run, 3 if n <= 1000 else 1)[0])
            slope = f"{np.polyfit(np.log(sizes), np.log(times), 1)[0]:10.2f}" if len(sizes) > 1 else ""
            print(f"{name:26s}" + "".join(f"{t:9.3f}" for t in times) + slope)

    table = joint(args.twin_size)
    print(f"\nagainst the slow twin, |X| = {args.twin_size}")
    print(f"{'criterion':26s}{'seconds':>10s}{'twin':>10s}{'ratio':>8s}{'largest difference of I(Y;Z), nats':>37s}")
    for name, (a, b) in CRITERIA.items():
        fast, path = seconds(partial(merge_path, table, iyz_weight=a, ixz_weight=b), 5)
        slow, iyz = seconds(partial(slow_iyz, np.array(table.p_xy), a, b))
        difference = np.abs(np.array(iyz) - iyz[-1] - path.iyz).max()
        print(f"{name:26s}{fast:10.4f}{slow:10.3f}{slow / fast:8.0f}{difference:37.1e}")


if __name__ == "__main__":
    main()
