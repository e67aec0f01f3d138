"""The solvers by name: what `solver="ib-1"` and the command line's ``--solver`` mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast

from ..certificate.certify import no_certificate, tolerance
from ..errors import InvalidOptionError, UnsupportedProblemError
from ..problem import MarkovLagrangian, family_of, has_posterior_form, posterior_form_below
from .annealing import Annealing
from .base import Solver
from .columns import Columns
from .difference_of_convex import DifferenceOfConvex
from .envelope import Envelope
from .fixed_point.accelerated import Accelerated
from .fixed_point.blahut_arimoto import BlahutArimoto
from .merging import Merging
from .pooling import Pooling
from .portfolio import Portfolio
from .splitting.solver import DouglasRachford
from .splitting.three_block import ThreeBlockADMM
from .submodular import Submodular

SOLVERS: dict[str, Solver] = {
    "portfolio": Portfolio(),
    "annealing": Annealing(),
    "pooling": Pooling(),
    "accelerated": Accelerated(),
    "envelope": Envelope(),
    "columns": Columns(),
    "drs": DouglasRachford(),
    "ib-1": DouglasRachford("ib-1"),
    "ib-2": DouglasRachford("ib-2"),
    "ib-1v": DouglasRachford("ib-1v"),
    "pf-1": DouglasRachford("pf-1"),
    "pf-2": DouglasRachford("pf-2"),
    "pf-2v": DouglasRachford("pf-2v"),
    "admm-ib": DouglasRachford("ib-1", relaxation=1.0, proximal=1.0),
    "admm-ib-3": ThreeBlockADMM(),
    "dc-pf": DifferenceOfConvex(),
    "blahut-arimoto": BlahutArimoto(),
    "merging": Merging(),
    "submodular": Submodular(),
}

DESCRIPTIONS: dict[str, str] = {
    "portfolio": "the default: annealing, pooled starts, merging and trivial encoders, within a budget",
    "annealing": "the bottleneck for ascending gamma, each started from the one before (the default of its sweeps)",
    "pooling": "all starts, accelerated, their clusters mixed by a linear programme (what the portfolio runs on funnels)",
    "accelerated": "the self-consistent map with SQUAREM, Anderson and Newton under a safeguard, split test at the end",
    "envelope": "the bottleneck with a proof: its dual, branch and bound over boxes of the Y-simplex (what --certify runs)",
    "columns": "the funnel with a proof: column generation, branch and bound over boxes or slots (what --certify runs)",
    "drs": "Douglas-Rachford splitting, formulation chosen by the problem",
    "ib-1": "Solver I for the bottleneck: p(z) against p(z|x)",
    "ib-2": "Solver II for the bottleneck: p(z|x) against (p(z), p(z|y))",
    "ib-1v": "variational bottleneck: p(z|x) against p(z), decoder q(y|z)",
    "pf-1": "the funnel in Solver I's order, proven to converge: p(z|y) against p(z|x)",
    "pf-2": "Solver II for the funnel: p(z|y) against p(z|x)",
    "pf-2v": "variational funnel: p(z|x) against p(z), decoder q(x|z)",
    "admm-ib": "the earlier ADMM-IB (Huang, El Gamal 2021): ib-1 at relaxation 1 with a Bregman term",
    "admm-ib-3": "the three-block ADMM for the bottleneck (Bayat, Wei 2019): ib-2 at relaxation 1",
    "dc-pf": "difference-of-convex iteration for the funnel (Huang, El Gamal 2024)",
    "blahut-arimoto": "the self-consistent equations of the bottleneck (Tishby et al. 1999)",
    "merging": "greedy merging: Merge-Two for the funnel, agglomerative bottleneck",
    "submodular": "clusters merged many at a time, by submodularity (Ding, Sadeghi 2019)",
}


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
    Patient(memory=5, split=True)
    >>> ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), "patient", rng=0).converged
    True
    >>> _ = ip.SOLVERS.pop("patient")
    """
    made = solver() if isinstance(solver, type) and issubclass(solver, Solver) else solver
    if not isinstance(made, Solver):
        raise InvalidOptionError(f"a solver must be an object of a subclass of infoplane.Solver; found {_kind(made)}.")
    held = SOLVERS.get(made.name)
    if held is not None and _source(held) != _source(made):
        raise InvalidOptionError(f"there is a solver {made.name!r} already, {_kind(held)}: give yours another name.")
    SOLVERS[made.name] = made
    DESCRIPTIONS[made.name] = (type(made).__doc__ or type(made).__name__).strip().splitlines()[0]
    return made


def _source(solver: Solver) -> tuple[str, str]:
    return type(solver).__module__, type(solver).__qualname__


def _kind(value: object) -> str:
    if isinstance(value, type):
        return f"the class {value.__name__}"
    return (
        f"the function {getattr(value, '__name__', '')}"
        if callable(value)
        else f"a value of type {type(value).__name__}"
    )


def default(problem: MarkovLagrangian, *, along_a_path: bool = False, capped: bool = False) -> Solver:
    """The best that we know, from measurements (benchmarks/portfolio.py): what ``solver=None`` means, at every size.

    The portfolio, which scales its effort by a budget. In a sweep a bottleneck is annealed, where one path serves all parameters; unless
    the number of clusters is capped, since a path that must stay below its best |Z| has many local optima.
    """
    family = family_of(problem)
    return SOLVERS[family.sweep_solver if along_a_path and not capped else family.solver]


def resolve(
    solver: Solver | str | None, *problems: MarkovLagrangian, along_a_path: bool = False, capped: bool = False
) -> Solver:
    """A solver object from itself, a registered name, or None for the default; refused if it cannot solve the problems."""
    if isinstance(solver, str) and solver not in SOLVERS:
        raise InvalidOptionError(f"there is no solver {solver!r}; the names are {', '.join(SOLVERS)}.")
    if solver is None:
        solver = default(problems[0], along_a_path=along_a_path, capped=capped)
    chosen = SOLVERS[solver] if isinstance(solver, str) else solver
    if not isinstance(chosen, Solver):
        raise InvalidOptionError(
            f"a solver must be a name ({', '.join(SOLVERS)}), an object such as infoplane.Accelerated(), or None for the default; found "
            f"{_kind(chosen)}."
        )
    for problem in problems:
        if reason := chosen.refusal(problem):
            raise UnsupportedProblemError(reason)
    return chosen


def resolve_with_proof(
    solver: Solver | str | None,
    *problems: MarkovLagrangian,
    certify: bool | float,
    max_cells: int | None = None,
    max_seconds: float | None = None,
    along_a_path: bool = False,
    capped: bool = False,
) -> tuple[Solver, Envelope | Columns | None]:
    """The solver that runs, as `resolve` has it, and the one that proves: the same object if one does both, None if nothing is proven.

    A solver that proves is asked once, within the limits that its own options give: ``certify=True`` keeps its tolerance, a number
    replaces it. Any other solver is followed by the problem's `certifier`; without a solver the certifier runs alone. ``max_cells`` and
    ``max_seconds`` replace the limits of whichever solver proves. A proof is of all encoders: where |Z| is ``capped``, the answer is the
    default solver's, and the proof says how far below it the unrestricted optimum may lie. So it is where the bound is of the problem below
    (`posterior_form_below`), since an encoder that meets it is no answer to this one.
    """
    gap = tolerance(certify)
    given = {"max_cells": max_cells, "max_seconds": max_seconds}
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    if gap is None:
        if changes:
            raise InvalidOptionError(
                f"{' and '.join(changes)} set how long a proof may take, and none was asked for: add certify=True, or a gap in nats."
            )
        return resolve(solver, *problems, along_a_path=along_a_path, capped=capped), None
    named = None if solver is None else resolve(solver, *problems)
    prover = named if isinstance(named, (Envelope, Columns)) else certifier(problems[0])
    if prover is not named or certify is not True:
        changes["tol"] = gap
    proof = replace(prover, **changes)
    resolve(proof, *problems)
    if named is not None and named is not prover:
        return named, proof
    if capped or not all(has_posterior_form(problem) for problem in problems):
        return resolve(None, *problems, along_a_path=along_a_path, capped=True), proof
    return proof, proof


def certifier(problem: MarkovLagrangian) -> Envelope | Columns:
    """The solver that proves what it finds: `Envelope` for the bottleneck, `Columns` for the funnel."""
    name = family_of(posterior_form_below(problem)).certifier
    if name is None:
        raise UnsupportedProblemError(no_certificate(problem))
    return cast(Envelope | Columns, SOLVERS[name])
