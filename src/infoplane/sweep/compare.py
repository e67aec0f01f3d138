"""`compare`: several solvers on the same parameters and starts of one joint, one row per parameter and solver."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from statistics import median
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import listed, numbers
from ..errors import InvalidOptionError
from ..frontier.frontier import Frontier
from ..information import Array, bits
from ..joint.joint import Joint, check_joint
from ..problem import MarkovLagrangian, ProblemFamily, check_family
from ..solution import TIE
from ..solve import runner_and_prover
from ..solvers.base import Solver, seed_sequence
from ..solvers.job import ProofOptions, RunOptions, Seed, takes
from ..solvers.registry import SOLVERS, resolve
from ..storage.store import best_bounded
from .grid import natural_range
from .progress import ProgressCallback
from .sweep import sweep

if TYPE_CHECKING:
    import pandas as pd

Shown = Callable[[int, str], AbstractContextManager[ProgressCallback | bool]]
"""From the number of parameters and a solver's name to what shows its progress."""


@takes(RunOptions)
def compare(
    joint: Joint,
    family: ProblemFamily,
    parameters: Sequence[float] | Array | None = None,
    solvers: Iterable[Solver | str] | None = None,
    *,
    clusters: int | None = None,
    starts: int = 16,
    rng: Seed = None,
    max_iter: int = 20_000,
    tol: float = 1e-8,
    init: str | Array | None = None,
    certify: bool | float = False,
) -> pd.DataFrame:
    """Run several solvers on the same problems from the same starts, and compare loss, convergence and time.

    Without a seed one is drawn, once for all solvers.

    Parameters
    ----------
    joint, family, parameters
        As in `sweep`; without parameters, 8 that are spaced geometrically over the range that the joint's trade-off spans.
    solvers
        Names or solver objects, your own included; all registered ones that can solve the problems by default.
    {RunOptions}
    certify
        True, or a gap in nats: the solver that proves optima takes part, and ``gap_nats`` is the distance of every solver's best loss to
        the highest bound that was proven.

    Returns
    -------
    pandas.DataFrame
        One row per parameter and solver: its best run, how many of its runs converged, what they cost (the loading of compiled code not
        counted), how far its loss is above the lowest of all solvers, and ``winner`` if that is at most 1e-9 nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> found = ip.compare(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], ["accelerated", "merging"], starts=2, rng=0)
    >>> found.solver[found.winner].tolist()
    ['accelerated']
    """
    from ..frontier.summary import RunsFrame

    check_joint(joint)
    check_family(family)
    values = np.geomspace(*natural_range(joint, family), 8) if parameters is None else numbers("parameters", parameters)
    problems = [family(float(value)) for value in values]
    chosen = named(candidates(problems) if solvers is None else solvers, problems)
    proof = ProofOptions(certify)
    if proof.certify is not False:
        prover, _ = runner_and_prover(None, problems, proof)
        chosen[prover.name] = prover
    # One seed for all solvers: of a generator each would draw its own.
    options = RunOptions(clusters, starts, seed_sequence(rng), max_iter, tol, init)
    found = run_each(joint, family, values, chosen, options)
    if proof.certify is not False:
        found = bounded(found, proof.gap)
    return RunsFrame(compared(found))


def candidates(problems: Sequence[MarkovLagrangian]) -> list[str]:
    """The registered solvers that can solve all of the problems."""
    return [name for name, one in SOLVERS.items() if name != "drs" and not any(one.refusal(each) for each in problems)]


def named(solvers: Iterable[Solver | str], problems: Sequence[MarkovLagrangian]) -> dict[str, Solver]:
    """The solvers by name; a second object of the same name, with other options, is told apart by a number."""
    if isinstance(solvers, (str, Solver)):
        solvers = [solvers]
    chosen: dict[str, Solver] = {}
    for given in listed("solvers", solvers, "solvers or names of solvers"):
        solver = resolve(given, *problems)
        name = given if isinstance(given, str) else solver.name
        if chosen.get(name, solver) != solver:
            name = next(f"{name} #{i}" for i in range(2, len(chosen) + 3) if f"{name} #{i}" not in chosen)
        chosen[name] = solver
    if not chosen:
        raise InvalidOptionError("there is no solver to compare: name at least one.")
    return chosen


def run_each(
    joint: Joint,
    family: ProblemFamily,
    parameters: Array,
    solvers: Mapping[str, Solver],
    options: RunOptions,
    shown: Shown = lambda _total, _name: nullcontext(False),
) -> dict[str, Frontier]:
    """The sweep of each solver, under the name that it was asked for by; after Ctrl-C those that were begun."""
    found: dict[str, Frontier] = {}
    for name, solver in solvers.items():
        with shown(len(parameters), name) as tell:
            swept = sweep(joint, family, parameters, solver, **vars(options), progress=tell)
        # Named as they were asked for: drs would otherwise be counted as the formulation that it chose.
        runs = [dataclasses.replace(run, solver=name) for run in swept.runs]
        found[name] = Frontier(joint, runs, complete=swept.complete)
        if not swept.complete:
            break
    return found


def bounded(found: dict[str, Frontier], gap: float) -> dict[str, Frontier]:
    """The same runs, each with the highest lower bound that was proven for its parameter; CERTIFIED if within ``gap`` of it."""
    runs = iter(best_bounded([run for one in found.values() for run in one.runs], gap))
    return {name: Frontier(one.joint, [*islice(runs, len(one))], complete=one.complete) for name, one in found.items()}


def compared(found: dict[str, Frontier]) -> list[dict[str, Any]]:
    """One record per parameter and solver: its best run, its convergence, its cost, and whether no solver's loss is lower."""
    rows = [_row(name, one, best) for name, one in found.items() for best in one.best_rows()]
    lowest: dict[float, float] = {}
    for row in rows:
        lowest[row["parameter"]] = min(row["loss_nats"], lowest.get(row["parameter"], row["loss_nats"]))
    for row in rows:
        row["above_lowest_nats"] = row["loss_nats"] - lowest[row["parameter"]]
        row["winner"] = row["above_lowest_nats"] <= TIE
    # Sorting is stable: within a parameter the solvers stay in the order asked for.
    return sorted(rows, key=lambda row: row["parameter"])


def _row(name: str, frontier: Frontier, best: int) -> dict[str, Any]:
    run = frontier.runs[best]
    same = [one for one in frontier.runs if one.parameter == run.parameter]
    return {
        "parameter": run.parameter,
        "solver": name,
        "loss_nats": run.loss,
        "ixz_bits": bits(run.ixz),
        "iyz_bits": bits(run.iyz),
        "gap_nats": run.gap,
        "status": run.status.name,
        "runs": len(same),
        "share_converged": sum(one.status.converged for one in same) / len(same),
        "median_iterations": median(one.iterations for one in same),
        "seconds": sum(one.seconds for one in same),
    }
