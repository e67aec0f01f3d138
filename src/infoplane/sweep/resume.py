"""`resume`: go on with the sweep of a store, from what the store has recorded of it."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from concurrent.futures import Executor
from dataclasses import replace
from typing import Any

import numpy as np

from ..errors import InvalidOptionError
from ..frontier.frontier import Frontier
from ..problem import FAMILIES, MarkovLagrangian, ProblemFamily, siblings
from ..solvers.base import Solver
from ..solvers.registry import SOLVERS
from ..solvers.shared.starts import KINDS
from ..storage.reader import read_manifest
from ..task_problem import TASKS, problem_of
from .progress import ProgressCallback
from .sweep import sweep


def resume(
    store: str | os.PathLike[str],
    *,
    executor: Executor | None = None,
    engine: str | None = None,
    progress: bool | ProgressCallback = False,
) -> Frontier:
    """Go on with the sweep that a store was begun with, whatever ended it; a complete one is read.

    Joint, problems, grid, solver, options and seed are those of the call that made the store. It must have been made with a registered
    solver and with starts that `init` names; else repeat that call.

    Parameters
    ----------
    store
        The file.
    executor, engine, progress
        As in `sweep`; they may differ from those of the first call.

    Examples
    --------
    >>> import tempfile, infoplane as ip
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.4], store=f"{folder}/runs.db", rng=0)
    ...     ip.resume(f"{folder}/runs.db")
    Frontier(2 parameters, 2 runs, 2 converged)
    """
    manifest, joint = read_manifest(store)
    if manifest["init"] not in KINDS:
        raise InvalidOptionError(
            f"{os.fspath(store)} was begun from encoders of its own, of which it keeps no copy: repeat the call that made it."
        )
    return sweep(
        joint,
        family_of_manifest(manifest),
        np.array(manifest["grid"]),
        _solver(manifest),
        clusters=manifest["asked"]["clusters"],
        starts=manifest["starts"],
        max_iter=manifest["max_iter"],
        tol=manifest["tol"],
        init=manifest["init"],
        points=manifest["points"],
        store=store,
        executor=executor,
        engine=engine,
        progress=progress,
        **_proof(manifest),
    )


def family_of_manifest(manifest: Mapping[str, Any]) -> ProblemFamily:
    """From a parameter to a problem: those of the grid as recorded, those that refinement inserts as members of the same family."""
    name, grid = manifest["family"], manifest["grid"]
    families = FAMILIES | TASKS
    named = name in families and families[name].parameter is not None
    problems = {
        value: problem_of((z, zx, zy), name, value if named else None)
        for value, (z, zx, zy) in zip(grid, manifest["rho"], strict=True)
    }
    make = siblings(problems[grid[0]]).make
    if named and not all(families[name].has(problem) for problem in problems.values()):
        # The sweep varied something else, such as 1/gamma; the parameter is what the coefficients say.
        make, problems = None, {value: _reread(problem) for value, problem in problems.items()}

    def family(parameter: float) -> MarkovLagrangian:
        if parameter not in problems and make is None:
            raise InvalidOptionError("the family of this store has no name: repeat the call that made it.")
        return problems[parameter] if make is None or parameter in problems else make(parameter)

    return family


def _reread(problem: MarkovLagrangian) -> MarkovLagrangian:
    """The problem with its own parameter: gamma is -rho_zx or rho_z + 1, beta is -rho_zy."""
    candidates = (replace(problem, parameter=p) for p in (-problem.rho_zx, -problem.rho_zy, problem.rho_z + 1.0))
    return next((one for one in candidates if FAMILIES[problem.family].has(one)), problem)


def _solver(manifest: Mapping[str, Any]) -> Solver:
    return _configured(manifest["solver"], manifest["options"])


def _configured(name: str, options: Mapping[str, Any]) -> Solver:
    """A registered solver with the options that were recorded; infinity was written as text."""
    if name not in SOLVERS:
        raise InvalidOptionError(
            f"there is no solver {name!r}: register it first (--plugin), or repeat the call that made the store."
        )
    values = {key: math.inf if value == "inf" else value for key, value in options.items()}
    return replace(SOLVERS[name], **values) if values else SOLVERS[name]  # type: ignore[type-var]


def _proof(manifest: Mapping[str, Any]) -> dict[str, Any]:
    """``certify`` and its limits; a solver that proves itself has them among its own options."""
    if manifest["certify_nats"] is None:
        return {}
    if "certifier" not in manifest:
        return {"certify": True}
    limits = {key: math.inf if value == "inf" else value for key, value in manifest["certifier"]["options"].items()}
    return {"certify": manifest["certify_nats"], "max_cells": limits["max_cells"], "max_seconds": limits["max_seconds"]}
