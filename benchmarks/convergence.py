"""How often does each formulation converge? Random starts, tol 1e-8, on the built-in joints and on five random ones.

    python benchmarks/convergence.py --out convergence.json --table docs/reference/convergence.md

Every cell is one batch of runs from the paper's random starts: the share that ends STATIONARY (primal, dual and stationarity
residual below tol), and the median number of iterations. "auto" is the row-scaled penalty, from 100 starts on the built-in joints
and from 20 on the random ones (there at the better alpha only); beside it one scalar c, from 20 starts. Runs that did not
converge are continued for 400 recorded iterations, which tells slow from cycling: the reason is printed, not guessed.
Finished cells are kept in the JSON file, so that an interrupted run continues where it was. With ``--only pf-1`` only the rows of
that formulation are run, and the others are kept as the table has them.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace

import numpy as np

import infoplane as ip
from infoplane.joint.joint import Support
from infoplane.kernels.common import PRIMAL
from infoplane.runtime.budget import Budget
from infoplane.solution import Run
from infoplane.solvers.base import advanced, drive, make_starts, seed_sequence
from infoplane.solvers.job import Job
from infoplane.solvers.splitting.solver import SplittingIteration
from joints import SMALL, built_in
from timing import publish, resumable

GAMMAS = (0.1, 0.2, 0.4, 0.6)
BETAS = (1.5, 2.5, 5.0, 10.0)
ALPHAS = (1.0, 1.618)
SCALAR = {  # the paper's tuned c: (3x3, heart); where it gives none, the nearest that it gives
    "ib-1": (16.0, 16.0),
    "ib-2": (64.0, 64.0),
    "ib-1v": (64.0, 128.0),
    "pf-1": (64.0, 7000.0),
    "pf-2": (64.0, 7000.0),
    "pf-2v": (64.0, 128.0),
}
BETTER = {"ib-1": 1.618, "ib-2": 1.0, "ib-1v": 1.0, "pf-1": 1.618, "pf-2": 1.618, "pf-2v": 1.0}
WATCHED = 400


@dataclass(frozen=True)
class Cell:
    """One batch: what was run."""

    joint: str
    formulation: str
    parameter: float
    relaxation: float
    penalty: float | str
    max_iter: int
    runs: int

    @property
    def key(self) -> str:
        return json.dumps(asdict(self), sort_keys=True)


def random_joints() -> dict[str, ip.Joint]:
    """Five joints that no constant was tuned on: 5x2 to 40x3, smooth (Dirichlet 1) and nearly deterministic (Dirichlet 0.1)."""
    rng = np.random.default_rng(20240)
    shapes = {"5x2": (5, 2, 1.0), "8x5": (8, 5, 0.1), "12x4": (12, 4, 1.0), "25x3": (25, 3, 0.1), "40x3": (40, 3, 1.0)}
    joints = {}
    for name, (n_x, n_y, concentration) in shapes.items():
        p_x = rng.dirichlet(np.full(n_x, 2.0))
        T = np.maximum(rng.dirichlet(np.full(n_y, concentration), size=n_x), 1e-4)
        P = p_x[:, None] * T / T.sum(axis=1, keepdims=True)
        joints[f"random {name}{' nearly deterministic' if concentration < 1 else ' smooth'}"] = ip.Joint.from_counts(P)
    return joints


def joints() -> dict[str, ip.Joint]:
    return built_in() | random_joints()


def cells(max_iter: int, random_max_iter: int, scalar_max_iter: int) -> list[Cell]:
    """The whole table; the automatic penalty on the built-in joints first, then the random joints, then scalar c."""
    own, random, scalar = [], [], []
    for name in joints():
        for formulation in SCALAR:
            for parameter in GAMMAS if formulation.startswith("ib") else BETAS:
                for alpha in ALPHAS:
                    if name in SMALL:
                        own.append(Cell(name, formulation, parameter, alpha, "auto", max_iter, 100))
                        c = SCALAR[formulation][name == "heart"]
                        scalar.append(Cell(name, formulation, parameter, alpha, c, scalar_max_iter, 20))
                    elif alpha == BETTER[formulation]:
                        random.append(Cell(name, formulation, parameter, alpha, "auto", random_max_iter, 20))
    return [cell for part in (own, random, scalar) for cell in sorted(part, key=lambda one: joints_size(one.joint))]


def joints_size(name: str) -> int:
    return int(np.prod(joints()[name].shape))


def run(cell: Cell) -> dict[str, object]:
    """Run one cell; returns share, iterations, loss, and why the others did not converge."""
    joint = joints()[cell.joint]
    problem = ip.bottleneck(cell.parameter) if cell.formulation.startswith("ib") else ip.funnel(cell.parameter)
    support = Support(joint)
    solver = ip.DouglasRachford(cell.formulation, penalty=cell.penalty, relaxation=cell.relaxation)
    starts = make_starts(joint, None, cell.runs, seed_sequence(0), "random")
    iteration = solver.begin(Job(support, problem, starts, budget=Budget(iterations=cell.max_iter)))
    ended = drive(iteration)
    return {
        "share": sum(one.status is ip.Status.STATIONARY for one in ended) / cell.runs,
        "iterations": float(np.median([one.iterations for one in ended])),
        "best": min(problem.value(joint, support.lift(one.encoder)) for one in ended),
        "reason": reason(iteration, ended, cell),
    }


def known(results: dict[str, dict[str, object]], cell: Cell) -> dict[str, object] | None:
    """The cell's result, if it was run; or that of a lower limit under which every run converged, which is the same."""
    if cell.key in results:
        return results[cell.key]
    for key, result in results.items():
        other = Cell(**json.loads(key))
        if result["share"] == 1.0 and other.max_iter < cell.max_iter and replace(other, max_iter=cell.max_iter) == cell:
            return result
    return None


def reason(iteration: SplittingIteration, ended: list[Run], cell: Cell) -> str:
    """Why runs did not converge, from what they do when continued."""
    left = [index for index, one in enumerate(ended) if one.status is not ip.Status.STATIONARY]
    if not left:
        return ""
    iteration.job = iteration.job.but(record=True)
    iteration.limit = cell.max_iter + WATCHED
    advanced(iteration, WATCHED)
    factors = []
    for index in left:
        traces = iteration.recorded[index]
        primal = traces[0][:, PRIMAL] if traces and len(traces[0]) > 1 else np.ones(2)
        half = len(primal) // 2
        # Compare the two halves' largest residuals: insensitive to where in a cycle the window begins.
        factors.append((primal[half:].max() / max(primal[:half].max(), 1e-300)) ** (1.0 / max(half, 1)))
    slow = [factor for factor in factors if factor < 1.0 - 1e-6]
    said = []
    if slow:
        said.append(f"{len(slow)} slow (x{np.median(slow):.5f} per iteration)")
    if len(slow) < len(left):
        said.append(f"{len(left) - len(slow)} not contracting at the limit")
    return ", ".join(said)


def kept(text: str) -> dict[tuple[str, str, str], str]:
    """The rows of a table written before, by joint, formulation and parameter as they are written there."""
    rows = {}
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and len(cells) > 3 and cells[1] in SCALAR:
            rows[cells[0], cells[1], cells[2]] = line
    return rows


def table(results: dict[str, dict[str, object]], all_cells: list[Cell], before: str = "") -> str:
    """The results as Markdown: one row per joint, formulation and parameter; rows without a result are kept from the table before."""
    old = kept(before)
    limits = {cell.joint in SMALL: cell.max_iter for cell in all_cells if cell.penalty == "auto"}
    lines = [
        "# How often each formulation converges",
        "",
        "Printed by `benchmarks/convergence.py`. Each entry: the share of random starts that end STATIONARY at tol 1e-8 (primal, dual",
        "and stationarity residual); the median number of iterations, runs at the limit included. The parameter is gamma for ib, beta",
        'for pf. `penalty="auto"`: 100 starts on the built-in joints with '
        f"{limits[True]:,} iterations at most (the default of `solve`), 20",
        f"starts on five random joints that nothing was tuned on, with {limits[False]:,}. One scalar c, the paper's where it gives one:",
        f"20 starts, {all_cells[-1].max_iter:,} iterations. The last column says what runs that did not converge did in the {WATCHED}",
        "iterations after the limit: contract slowly, or not at all (a plateau beside a saddle). A dash: not run.",
        "",
        "| joint | formulation | parameter | auto, alpha 1 | auto, alpha 1.618 | scalar c, alpha 1 | scalar c, alpha 1.618 "
        "| shortfall of auto |",
        "|---|---|---|---|---|---|---|---|",
    ]
    rows: dict[tuple[str, str, float], dict[tuple[bool, float], Cell]] = {}
    for cell in sorted(
        all_cells, key=lambda one: (list(joints()).index(one.joint), list(SCALAR).index(one.formulation))
    ):
        row = rows.setdefault((cell.joint, cell.formulation, cell.parameter), {})
        row[cell.penalty == "auto", cell.relaxation] = cell
    for (name, formulation, parameter), row in rows.items():
        written = old.get((name, formulation, f"{parameter:g}"))
        if written and not any(known(results, cell) for cell in row.values()):
            lines.append(written)
            continue
        shown = []
        for auto in (True, False):
            for alpha in ALPHAS:
                cell = row.get((auto, alpha))
                result = known(results, cell) if cell else None
                if result is None:
                    shown.append("-")
                else:
                    c = "" if auto else f" (c = {cell.penalty:g})"
                    shown.append(f"{result['share']:.2f}; {result['iterations']:.0f}{c}")
        reasons = [
            f"alpha {alpha:g}: {result['reason']}"
            for alpha in ALPHAS
            if (True, alpha) in row and (result := known(results, row[True, alpha])) and result["reason"]
        ]
        lines.append(f"| {name} | {formulation} | {parameter:g} | " + " | ".join(shown) + f" | {'; '.join(reasons)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = resumable(__doc__, "convergence.json")
    parser.add_argument("--max-iter", type=int, default=20_000, help="automatic penalty, built-in joints")
    parser.add_argument("--random-max-iter", type=int, default=12_000, help="automatic penalty, random joints")
    parser.add_argument("--scalar-max-iter", type=int, default=3_000, help="scalar penalty")
    parser.add_argument(
        "--only", choices=list(SCALAR), help="run this formulation only; other rows stay as --table has them"
    )
    options = parser.parse_args()
    results = json.loads(options.out.read_text()) if options.out.exists() else {}
    every = cells(options.max_iter, options.random_max_iter, options.scalar_max_iter)
    todo = [cell for cell in every if options.only in (None, cell.formulation)]
    for done, cell in enumerate(todo, start=1):
        result = known(results, cell)
        if result is None:
            result = results[cell.key] = run(cell)
            options.out.write_text(json.dumps(results, indent=1))
        print(
            f"[{done}/{len(todo)}] {cell.joint}, {cell.formulation} at {cell.parameter:g}, alpha {cell.relaxation:g}, c {cell.penalty}: "
            f"{result['share']:.2f} stationary, {result['iterations']:.0f} iterations, best {result['best']:.6f} nats. {result['reason']}",
            flush=True,
        )
    before = options.table.read_text() if options.table and options.table.exists() else ""
    publish(table(results, every, before), options.table)


if __name__ == "__main__":
    main()
