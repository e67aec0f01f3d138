"""``infoplane solve DATA --x COLS --keep COLS --hide COLS``: one target kept, another hidden."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import click
import numpy as np

from ..certificate.certificate import Limits
from ..frontier.task_leakage import CappedTask, task_at_leakage
from ..information import NATS_PER_BIT, Array
from ..joint.task_joint import TaskJoint
from ..problem import MarkovLagrangian
from ..solution import Solution
from ..solve import solve as run
from ..solvers.job import RunOptions
from ..solvers.registry import runner_and_prover
from ..sweep.progress import working
from ..task_problem import TASK_GRID, family_on, side_information_bottleneck, task_funnel
from . import options, output
from .exit_codes import interruptible
from .inputs import Source


class TaskRequest(NamedTuple):
    """What ``solve`` was asked for with --keep and --hide."""

    source: Source
    keep: tuple[str, ...]
    hide: tuple[str, ...]
    max_leakage_bits: float | None
    certify: float | None
    solver: str | None
    out: Path | None
    labels: Path | None
    side_information: bool


class TaskAnswer(NamedTuple):
    """What was found; with its bound, if there is a cap; and the exit code of an interruption, if there was one."""

    found: Solution
    capped: CappedTask | None
    interrupted: int | None


def solve_tasks(asked: TaskRequest, settings: RunOptions, rest: dict[str, Any]) -> TaskAnswer:
    """Answer it: the Lagrangian at --beta, or the most that is kept within --max-leakage-bits."""
    if not asked.keep or not asked.hide:
        raise click.UsageError("--keep and --hide go together: columns to keep, and columns to hide.")
    given = options.taken(rest, options.PROBLEM_OPTIONS)
    capped = asked.max_leakage_bits is not None
    wrong = [
        name for name, value in given.items() if value is not None and name not in (() if capped else ("beta", "gamma"))
    ]
    if wrong or (given["beta"] is None) is not capped or (capped and asked.solver is not None):
        raise click.UsageError(
            "with --keep and --hide give --beta, and --gamma if it is not to be the joint's own small one; or --max-leakage-bits alone."
        )
    if asked.side_information and given["gamma"] is None:
        raise click.UsageError(
            "--side-information needs --gamma, the price of I(X;Z), and --beta, the weight of I(S;Z)."
        )
    tasks = asked.source.load_tasks(asked.keep, asked.hide)
    limits = {name: rest[name] for name in options.PROOF_LIMITS if rest[name] is not None}
    cap: CappedTask | None = None
    with (
        interruptible(awaits_an_answer=True) as interruption,
        output.one_line_warnings(),
        working("solving", lines=True) as tell,
    ):
        if asked.max_leakage_bits is not None:
            nats, tol = asked.max_leakage_bits * NATS_PER_BIT, asked.certify or Limits.tol
            cap = task_at_leakage(tasks, nats, clusters=settings.clusters, tol=tol, **limits)
            found = cap.solution
        else:
            beta, gamma = given["beta"], given["gamma"]
            named = side_information_bottleneck(gamma, beta) if asked.side_information else task_funnel(beta, gamma)
            problem = named.on(tasks.joint)
            proof = options.make_proof(asked.certify, rest)
            chosen = options.choose(asked.solver, rest)
            runner_and_prover(chosen, [problem], proof)
            found = run(tasks, problem, chosen, **vars(settings), callback=tell, **vars(proof))
        return TaskAnswer(found, cap, interruption.code if interruption.seen else None)


def task_sweep(
    source: Source,
    keep: tuple[str, ...],
    hide: tuple[str, ...],
    grid: tuple[float, float, int] | None,
    values: tuple[float, ...] | None,
    points: int | None = None,
) -> tuple[TaskJoint, Callable[[float], MarkovLagrangian], Array]:
    """What ``frontier`` sweeps with --keep and --hide: the joint, the family with the joint's own small gamma, and its betas."""
    if not keep or not hide:
        raise click.UsageError("--keep and --hide go together: columns to keep, and columns to hide.")
    if grid is not None and values is not None:
        raise click.UsageError("give --grid or --grid-values, not both.")
    tasks = source.load_tasks(keep, hide)
    if grid is None and values is None and points is not None:  # a quarter of them; refinement places the others
        grid = TASK_GRID[0], TASK_GRID[-1], min(points, max(3, points // 4))
    betas = np.geomspace(*grid) if grid is not None else np.array(TASK_GRID if values is None else values)
    return tasks, family_on(tasks.joint, task_funnel), betas
