"""How close the kernels are to what they must do: exp and log, an iteration of the map, threads, memory.

    python benchmarks/bench_kernels.py --out results.json --table docs/benchmarks/kernels.md

Everything is a ratio of two things timed in turns in this run, one thread unless said; medians with quartiles. The yardstick
is one vectorised exponential of every entry of the encoder, our own `kernels.common.exp` in a loop. NumPy's iteration is the same
algorithm with matmul and ufuncs, written without temporaries. Before a time counts, the kernel's encoder is compared with NumPy's, and
its loss recomputed by tests/verify.py on the smaller joints.
"""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numba
import numpy as np

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.kernels.common import exp, log
from infoplane.runtime.budget import Budget, one_blas_thread
from infoplane.runtime.compiling import FLAGS
from infoplane.solvers.base import advanced, make_starts, runs_of, seed_sequence
from infoplane.solvers.job import Job
from joints import ADULT, WORDS, adult, large_sparse, outside, random_joint, words
from timing import Timed, checker, measured, shown, take_turns

verify = checker()

GAMMA = 0.3
WORK = 10_000_000  # entries of the encoder, times iterations, that a measurement passes through at least
NEVER = 1e-300  # a tolerance that no run meets: an iteration costs the same wherever it is
PARTS = 32  # of a batch of runs, which threads take one after the other: some runs are longer than others
EXP, KERNEL, NUMPY, MUST = "one exp", "kernel", "NumPy", "two products, exp, log"


@numba.njit(**FLAGS)
def exps(x, out):
    for i in range(x.size):
        out[i] = exp(x[i])


@numba.njit(**FLAGS)
def logs(x, out):
    for i in range(x.size):
        out[i] = log(x[i])


@numba.njit(**FLAGS)
def library_exps(x, out):
    for i in range(x.size):
        out[i] = math.exp(x[i])


@numba.njit(**FLAGS)
def library_logs(x, out):
    for i in range(x.size):
        out[i] = math.log(x[i])


def dense(n_x: int, n_y: int) -> ip.Joint:
    return random_joint("smooth", n_x, n_y, np.random.default_rng(0))


def scalar_functions(rounds: int) -> dict[str, Any]:
    """The functions on 4,096 numbers, which stay in the cache: ours, numba's own, NumPy's."""
    x = np.random.default_rng(0).random(4096) * 30.0 + 1e-3
    out, minus = np.empty_like(x), -x
    times = 2000

    def repeated(function: Callable[..., Any], argument: np.ndarray) -> Callable[[], None]:
        def run() -> None:
            for _ in range(times):
                function(argument, out)

        return run

    found = {}
    for name, ours, library, numpy, argument in (
        ("exp", exps, library_exps, np.exp, minus),
        ("log", logs, library_logs, np.log, x),
    ):
        ours(argument, out)
        if not np.allclose(out, numpy(argument), rtol=1e-14):
            raise AssertionError(f"{name} is wrong")
        timed = take_turns(
            {
                "ours": repeated(ours, argument),
                "numba": repeated(library, argument),
                "NumPy": repeated(numpy, argument),
            },
            rounds,
        )
        found[name] = {
            "nanoseconds": 1e9 * min(timed.seconds["ours"]) / times / x.size,
            "numba": timed.ratio("numba", "ours"),
            "NumPy": timed.ratio("NumPy", "ours"),
        }
    return found


def numpy_iteration(support: Support, W: np.ndarray) -> Callable[[int], np.ndarray]:
    """Blahut-Arimoto on a stack of encoders (R, |Z|, |X|), as NumPy does it best: logs on (z, y) only, in place."""
    P, T = support.P, support.T
    score = np.empty_like(W)

    def run(iterations: int) -> np.ndarray:
        q = W @ P
        for _ in range(iterations):
            A = (np.log(q) - (1.0 - GAMMA) * np.log(q.sum(-1, keepdims=True))) / GAMMA
            np.matmul(A, T, out=score)
            score.__isub__(score.max(-2, keepdims=True))
            np.exp(score, out=score)
            score.__itruediv__(score.sum(-2, keepdims=True))
            q = score @ P
        return score

    return run


def fresh(support: Support, W: np.ndarray) -> Any:
    job = Job(support, ip.bottleneck(GAMMA), W, NEVER, budget=Budget(iterations=10**9))
    return ip.BlahutArimoto().begin(job)


def kernel_iteration(support: Support, W: np.ndarray, iterations: int, rounds: int) -> Callable[[], Any]:
    """So many iterations of a batch that was begun before: one batch per round, and one for the round that is not measured."""
    batches = iter([fresh(support, W) for _ in range(rounds + 1)])
    return lambda: advanced(next(batches), iterations)


def iteration(joint: ip.Joint, clusters: int, runs: int, rounds: int) -> dict[str, Any]:
    """The kernel's iteration against one exp of each entry, against NumPy, and against the passes that it must do."""
    support = Support(joint)
    W = make_starts(joint, clusters, runs, seed_sequence(0), "random")
    iterations, numpy, looked_at = max(4, WORK // W.size), numpy_iteration(support, W), fresh(support, W)
    advanced(looked_at, 5)
    agreed(support, runs_of(looked_at), numpy(6))
    scores, out = -np.random.default_rng(0).random(W.size), np.empty(W.size)
    tables = np.random.default_rng(1).random((runs, clusters, len(support.p_y))), np.empty(W.shape)
    small, logged = tables[0].ravel(), np.empty(tables[0].size)

    def one_exp() -> None:
        for _ in range(iterations):
            exps(scores, out)

    def must() -> None:
        for _ in range(iterations):
            np.matmul(tables[0], support.T, out=tables[1])
            exps(scores, out)
            tables[1] @ support.P
            logs(small, logged)

    timed = take_turns(
        {
            KERNEL: kernel_iteration(support, W, iterations, rounds),
            EXP: one_exp,
            NUMPY: lambda: numpy(iterations),
            MUST: must,
        },
        rounds,
    )
    return {
        "size": [*joint.shape, clusters, runs],
        "nanoseconds": 1e9 * min(timed.seconds[KERNEL]) / iterations / W.size,
        "over one exp": timed.ratio(KERNEL, EXP),
        "NumPy over kernel": timed.ratio(NUMPY, KERNEL),
        "over what it must do": timed.ratio(KERNEL, MUST),
    }


def agreed(support: Support, runs: list[Any], expected: np.ndarray) -> None:
    """A look at the kernel's runs is one map further than their iterations."""
    for run, W in zip(runs, expected, strict=True):
        if run.encoder.shape != W.shape or np.abs(run.encoder - W).max() > 1e-10:
            raise AssertionError("the kernel and NumPy disagree")
    if support.P.size <= 10_000:
        found = support.lift(runs[0].encoder)
        loss = ip.bottleneck(GAMMA).value(support.joint, found)
        if abs(loss - verify.lagrangian(support.joint.p_xy, found, ip.bottleneck(GAMMA).rho)) > 1e-10:
            raise AssertionError("the loss is not what p(x, y) and the encoder say")


def two_threads(rounds: int) -> dict[str, float]:
    """1,024 heart runs of Blahut-Arimoto to 1e-8: one thread against two."""
    joint = ip.datasets.heart()
    support, W = Support(joint), make_starts(joint, None, 1024, seed_sequence(0), "random")

    def part(starts: np.ndarray) -> None:
        ip.BlahutArimoto().run(Job(support, ip.bottleneck(0.1), starts))

    def with_threads(workers: int) -> Callable[[], None]:
        def run() -> None:
            with ThreadPoolExecutor(workers) as pool:
                list(pool.map(part, np.array_split(W, PARTS)))

        return run

    timed: Timed = take_turns({"one": with_threads(1), "two": with_threads(2)}, rounds)
    return timed.ratio("one", "two")


def sparse_iteration(rounds: int) -> dict[str, Any]:
    """100,000 x 2,000 with 2,000,000 entries drawn and |Z| = 32: against one exp of the encoder."""
    joint = large_sparse()
    support = Support(joint)
    W = make_starts(joint, 32, 1, seed_sequence(0), "random")
    scores, out = -np.random.default_rng(0).random(W.size), np.empty(W.size)

    def one_exp() -> None:
        for _ in range(10):
            exps(scores, out)

    timed = take_turns({KERNEL: kernel_iteration(support, W, 10, rounds), EXP: one_exp}, rounds)
    seconds = min(timed.seconds[KERNEL]) / 10
    return {
        "entries": int(joint.p_xy.nnz),
        "milliseconds": 1e3 * seconds,
        "nanoseconds for an entry and a cluster": 1e9 * seconds / joint.p_xy.nnz / 32,
        "over one exp": timed.ratio(KERNEL, EXP),
    }


def peak_memory(joint: ip.Joint) -> dict[str, float]:
    """Largest memory that a whole `solve` holds beside the joint, in encoders of 50 clusters."""
    encoder, found = 50 * joint.shape[0] * 8, {}
    for name in (None, "accelerated", "blahut-arimoto"):
        ip.solve(dense(300, 20), ip.bottleneck(GAMMA), name, clusters=10, starts=1)
        tracemalloc.start()
        ip.solve(joint, ip.bottleneck(0.05), name, clusters=50, starts=1, rng=0)
        found[name or "default"] = tracemalloc.get_traced_memory()[1] / encoder
        tracemalloc.stop()
    return found


def measure(rounds: int) -> dict[str, Any]:
    """All of it; the tables outside the repository only where they are there."""
    small = adult("small") if outside(ADULT["small"], "Adult 225 x 10") else None
    large = words(WORDS) if outside(WORDS, "words 11,541 x 20, and the memory of `solve` on it") else None
    with one_blas_thread():
        found: dict[str, Any] = {"functions": scalar_functions(rounds)}
        print(found["functions"], flush=True)
        found["iterations"] = []
        for joint, clusters, runs in (
            (ip.datasets.paper_uniform(), 3, 1024),
            (ip.datasets.heart(), 16, 1024),
            (small, 16, 16),
            (dense(2000, 20), 50, 1),
            (large, 50, 1),
            (dense(2000, 200), 32, 1),
        ):
            if joint is not None:
                found["iterations"].append(iteration(joint, clusters, runs, rounds))
                print(found["iterations"][-1], flush=True)
        found["sparse"] = sparse_iteration(max(rounds // 3, 1))
        print(found["sparse"], flush=True)
        found["threads"] = two_threads(rounds)
        print(found["threads"], flush=True)
    found["memory"] = {} if large is None else peak_memory(large)
    return found


def table(found: dict[str, Any]) -> str:
    """The docs page, from the results alone."""
    lines = [
        "# The kernels against what they must do",
        "",
        "Written by `benchmarks/bench_kernels.py`. Ratios of times taken in turns, median (quartiles); one thread unless said otherwise.",
        "",
        "| function | ns per number | numba's own / ours | NumPy's / ours |",
        "|---|---|---|---|",
    ]
    for name, one in found["functions"].items():
        lines.append(f"| {name} | {one['nanoseconds']:.2f} | {shown(one['numba'])} | {shown(one['NumPy'])} |")
    lines += [
        "",
        "An iteration of Blahut-Arimoto, for each entry (z, x) of the encoder; beside it one exp of each, the same iteration in NumPy, and",
        "the two matrix products, exp of (z, x) and log of (z, y) that none can do without (NumPy's matmul, our exp and log).",
        "",
        "| |X| x |Y| x |Z|, runs | ns per entry | over one exp | NumPy over it | over what it must do |".replace(
            "|X|", "\\|X\\|"
        )
        .replace("|Y|", "\\|Y\\|")
        .replace("|Z|", "\\|Z\\|"),
        "|---|---|---|---|---|",
    ]
    for one in found["iterations"]:
        n_x, n_y, n_z, runs = one["size"]
        lines.append(
            f"| {n_x:,} x {n_y} x {n_z}, {runs:,} | {one['nanoseconds']:.2f} | {shown(one['over one exp'])} | "
            f"{shown(one['NumPy over kernel'])} | {shown(one['over what it must do'])} |"
        )
    sparse = found["sparse"]
    lines += [
        "",
        f"Sparse rows, 100,000 x 2,000 with {sparse['entries']:,} entries, 32 clusters: {sparse['milliseconds']:.0f} ms per iteration, "
        f"{sparse['nanoseconds for an entry and a cluster']:.2f} ns per entry and cluster, "
        f"{shown(sparse['over one exp'])} times one exp of the encoder.",
        "",
        f"1,024 heart runs, two threads against one: {shown(found['threads'])} times faster.",
    ]
    if found["memory"]:
        peaks = ", ".join(f"{name} {value:.1f}" for name, value in found["memory"].items())
        lines += ["", f"Peak memory of `solve` on 11,541 x 20 with 50 clusters, in encoders: {peaks}."]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    measured("kernels", measure, table, rounds=9)
