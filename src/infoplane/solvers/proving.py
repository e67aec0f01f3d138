"""What ``certify=`` means: which solver answers, and which one proves.

=======================================  ==================  =================================================
solver asked for                         answers             proves
=======================================  ==================  =================================================
none                                     the `certifier`     the same
one that proves (`Envelope`, `Columns`)  that one            the same, asked once, within limits of its own
any other                                that one            the problem's `certifier`, from that one's answer
=======================================  ==================  =================================================

A proof is of all encoders: where |Z| is capped, the default solver answers in the first two rows, and the proof says how far below it the
unrestricted optimum may lie. So it is where the bound is of the problem below (`posterior_form_below`), since an encoder that meets it is
no answer to this one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from ..certificate.certificate import Limits
from ..certificate.certify import no_certificate
from ..checks import number
from ..errors import InvalidOptionError, UnsupportedProblemError
from ..problem import MarkovLagrangian, family_of, has_posterior_form, posterior_form_below
from .base import Solver
from .columns import Columns
from .envelope import Envelope
from .registry import SOLVERS, resolve
from .tasks.task_proof import TaskProof

Prover = Envelope | Columns | TaskProof


@dataclass(frozen=True)
class ProofOptions:
    """Whether an answer is to be proven, how well, and within which limits.

    Parameters
    ----------
    certify
        True, or a gap in nats: prove the answer optimal to that gap. Without a solver the certifying one (`Envelope` or `Columns`) runs
        alone, with no random start. A solver that proves itself is asked once: True keeps its own tolerance, a number replaces it. With
        any other solver, its best run is where the proof begins, and a better encoder that the proof finds replaces it. True is 1e-6.
    max_cells, max_seconds
        With ``certify``: limits of the proof, for each parameter, in place of the defaults. The bound reached by then is valid. Where the
        default solver runs before it, half of the seconds are the default's, two at least, and the proof has the rest.
    """

    certify: bool | float = False
    max_cells: int | None = None
    max_seconds: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.certify, bool):
            gap = number("certify", self.certify, lambda nats: nats > 0.0, "True, False or a positive gap in nats")
            object.__setattr__(self, "certify", gap)
        if self.certify is False and self.limits:
            raise InvalidOptionError(
                f"{' and '.join(self.limits)} set how long a proof may take, and none was asked for: add certify=True, or a gap in nats."
            )

    @property
    def limits(self) -> dict[str, Any]:
        """Those that were given."""
        given = {"max_cells": self.max_cells, "max_seconds": self.max_seconds}
        return {name: value for name, value in given.items() if value is not None}

    @property
    def gap(self) -> float:
        """What counts as certified, in nats, unless a solver of its own tolerance proves."""
        return Limits.tol if self.certify is True else float(self.certify)


NO_PROOF = ProofOptions()
"""The answer is to be good, not proven."""


def runner_and_prover(
    solver: Solver | str | None,
    problems: Sequence[MarkovLagrangian],
    asked: ProofOptions,
    *,
    along_a_path: bool = False,
    capped: bool = False,
) -> tuple[Solver, Prover | None]:
    """The solver that answers and the one that proves, by the table above: the same object if one does both; None if nothing is proven."""
    if asked.certify is False:
        return resolve(solver, *problems, along_a_path=along_a_path, capped=capped), None
    named = None if solver is None else resolve(solver, *problems)
    prover = named if isinstance(named, (Envelope, Columns, TaskProof)) else certifier(problems[0])
    keeps_its_gap = prover is named and asked.certify is True
    proof = replace(prover, **asked.limits) if keeps_its_gap else replace(prover, **asked.limits, tol=asked.gap)
    resolve(proof, *problems)
    if named is not None and named is not prover:
        return named, proof
    if capped or not all(has_posterior_form(problem) or not problem.single_target for problem in problems):
        return resolve(None, *problems, along_a_path=along_a_path, capped=True), proof
    return proof, proof


def certifier(problem: MarkovLagrangian) -> Prover:
    """The solver that proves what it finds: `Envelope` for the bottleneck, `Columns` for the funnel."""
    name = family_of(posterior_form_below(problem)).certifier
    if name is None:
        raise UnsupportedProblemError(no_certificate(problem))
    return cast(Prover, SOLVERS[name])
