"""The solvers by name: what `solver="ib-1"` and the command line's ``--solver`` mean, and what is the default."""

from __future__ import annotations

from ..errors import InvalidOptionError, UnsupportedProblemError
from ..formatting import did_you_mean
from ..problem import MarkovLagrangian, family_of
from .annealing import Annealing
from .base import Solver
from .columns import Columns
from .constrained import BregmanProjection, EMFunnel, TransportBottleneck
from .difference_of_convex import DifferenceOfConvex
from .envelope import Envelope
from .fixed_point import Accelerated, BlahutArimoto
from .merging import Merging, Submodular
from .multi_one import Multi1
from .pooling import Pooling
from .portfolio import Portfolio
from .root_tracking import RootTracking
from .splitting.solver import DouglasRachford, ThreeBlockADMM
from .task_map import TaskMap
from .task_portfolio import TaskPortfolio
from .task_proof import TaskProof

SOLVERS: dict[str, Solver] = {
    solver.name: solver
    for solver in (
        Portfolio(),
        Annealing(),
        Pooling(),
        Accelerated(),
        Envelope(),
        Columns(),
        DouglasRachford(),
        DouglasRachford("ib-1"),
        DouglasRachford("ib-2"),
        DouglasRachford("ib-1v"),
        DouglasRachford("pf-1"),
        DouglasRachford("pf-2"),
        DouglasRachford("pf-2v"),
        DouglasRachford("ib-1", relaxation=1.0, proximal=1.0),
        ThreeBlockADMM(),
        DifferenceOfConvex(),
        EMFunnel(),
        BlahutArimoto(),
        BregmanProjection(),
        TransportBottleneck(),
        RootTracking(),
        Merging(),
        Submodular(),
        TaskPortfolio(),
        TaskProof(),
        TaskMap(),
        Multi1(),
    )
}

__test__ = {
    "SOLVERS": """Every solver by the name that `solve`, `sweep` and the command line take; `register` adds one of your own.

    Examples
    --------
    >>> import infoplane as ip
    >>> sorted(ip.SOLVERS)[:3]
    ['abp', 'accelerated', 'admm-ib']
    >>> ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.SOLVERS["merging"]).solver
    'merging'
    """
}
"""Where doctest, and the reference, find what is said of an object that is no function."""


def register(solver: Solver | type[Solver]) -> Solver:
    """Add a solver of your own to `SOLVERS`: its name can then be given wherever a solver is named.

    Parameters
    ----------
    solver
        An object of a subclass of `Solver`, or the class if it needs no options. A name that another solver has is refused; the same
        class, defined again, replaces itself.

    Examples
    --------
    >>> import infoplane as ip
    >>> class Patient(ip.Accelerated):
    ...     name = "patient"
    >>> ip.register(Patient)
    Patient(split=True)
    >>> ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "patient", rng=0).converged
    True
    >>> _ = ip.SOLVERS.pop("patient")
    """
    made = solver() if isinstance(solver, type) and issubclass(solver, Solver) else solver
    if not isinstance(made, Solver):
        raise InvalidOptionError(f"a solver must be an object of a subclass of infoplane.Solver; found {_kind(made)}.")
    held = SOLVERS.get(made.name)
    # A class that is defined again is another object of the same name.
    if held is not None and repr(type(held)) != repr(type(made)):
        raise InvalidOptionError(f"there is a solver {made.name!r} already, {_kind(held)}: give yours another name.")
    SOLVERS[made.name] = made
    return made


def _kind(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    named = f"the function {getattr(value, '__name__', '')}"
    return named if callable(value) else f"a value of type {type(value).__name__}"


def resolve(
    solver: Solver | str | None, *problems: MarkovLagrangian, along_a_path: bool = False, capped: bool = False
) -> Solver:
    """A solver object from itself, a registered name, or None for the default; refused if it cannot solve the problems.

    The default is the best that we know, from measurements (benchmarks/portfolio.py): the portfolio, which scales its effort by a budget.
    In a sweep a bottleneck is annealed, where one path serves all parameters; unless the number of clusters is capped, since a path that
    must stay below its best |Z| has many local optima.
    """
    if isinstance(solver, str) and solver not in SOLVERS:
        raise InvalidOptionError(
            f"there is no solver {solver!r}{did_you_mean(solver, [*SOLVERS])}; the names are {', '.join(SOLVERS)}."
        )
    if solver is None:
        family = family_of(problems[0])
        solver = family.sweep_solver if along_a_path and not capped else family.solver
    chosen = SOLVERS[solver] if isinstance(solver, str) else solver
    if not isinstance(chosen, Solver):
        raise InvalidOptionError(
            f"a solver must be a name ({', '.join(SOLVERS)}), an object such as infoplane.Accelerated(), or None for the default; found "
            f"{_kind(chosen)}."
        )
    for problem in problems:
        if not problem.single_target and not chosen.serves_tasks:
            able = ", ".join(name for name, one in SOLVERS.items() if one.serves_tasks)
            raise UnsupportedProblemError(
                f"{chosen.name} is for problems with one Y; found {problem!r}, which keeps one target and hides another. Use {able}."
            )
        if reason := chosen.refusal(problem):
            raise UnsupportedProblemError(reason)
    return chosen
