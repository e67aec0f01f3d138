"""The splitting solvers: `DouglasRachford`, the paper's as options, how their runs begin, and the three-block ADMM as one of them.

`iterates` reads the state that the compiled loop leaves after every iteration: what it shows is the run itself and not a copy of it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

import numpy as np

from ...checks import PYTHON_ONLY, check_flag, check_one_of, number, positive_number, whole_number
from ...errors import InvalidOptionError, UnsupportedProblemError
from ...information import Array, IntArray
from ...joint.joint import Joint, Support, check_joint
from ...kernels.common import AUGMENTED
from ...kernels.splitting.advance import advance
from ...kernels.splitting.tables import Split, State
from ...problem import MarkovLagrangian, check_problem
from ...runtime.budget import Budget
from ..base import Solver, advanced, make_starts, seed_sequence
from ..job import Iteration, Job, RunOptions, begun
from .formulations import FORMULATIONS, Formulation, check_name, choose
from .thresholds import formulation_threshold

PAPER_PRIMAL_TOL = 1e-6
"""The paper's stopping rule for its gradient step: total variation, half the absolute sum, of every column of Ap - Bq."""

MIRROR_STEPS = 10
"""Majorise-minimise steps per argmin where the encoder block has no dual (pf-1, pf-2); one suffices elsewhere."""

EXACT_STEPS, EXACT_TOL = 10_000, 1e-12
"""Of ``step="exact"``: majorise-minimise steps per argmin, at most, and how little W may move in the last of them. Where they contract
by 0.99 or less, the point reached is within 1e-10 of the stationary one."""

FLOOR = 0.05
"""Smallest weight, relative to the largest rho, that an entropy counts with in its automatic penalty."""

SETTLED = 5_000
"""Iterations after which the automatic penalty is never lowered where the descent theorem applies: it then changes finitely often."""

GOLDEN = 1.618
"""The golden ratio, an over-relaxation between ADMM's 1 and Peaceman-Rachford's 2; docs/reference/convergence.md compares it with 1."""


@dataclass(frozen=True)
class DouglasRachford(Solver):
    """Douglas-Rachford splitting (Huang, El Gamal, El Gamal); unless it is named, the problem chooses the formulation.

    Parameters
    ----------
    formulation
        ``"ib-1"``, ``"ib-2"``, ``"ib-1v"``, ``"pf-1"``, ``"pf-2"``, ``"pf-2v"``, or ``"auto"``: the one that the problem's signs allow.
    step
        How an argmin is taken. ``"majorise"``: closed forms where there are any; of the encoder's block of ib-1 and pf-2v one
        majorise-minimise step, of pf-1 and pf-2 ten mirror steps, which lower L_c and are no argmins. ``"exact"``: these steps repeated
        until W rests, a stationary point of the subproblem. ib-2's and ib-1v's argmins are one softmax, whose multipliers (one per row of
        the constraint) are found to rounding; above 128 of them majorise ends once their error is at most 0.3 of the way that W M has come.
        In both a concave row of the marginal block takes the upper root of its equation, a local minimiser, which need not be the global
        one on the simplex. ``"gradient"``: the paper's mean-subtracted gradient step with back-tracking, in the details of its authors'
        published scripts; it also stops by the paper's rule.
    penalty
        ``"auto"``: every row of the constraint gets kappa times the curvature of its own entropy; or one number c for all rows.
    relaxation
        alpha, 0 < alpha <= 2; 1 is ADMM, 2 is Peaceman-Rachford.
    acceleration
        Whether slow tails are extrapolated, under the safeguard that the loss must not rise; only with ``step="majorise"`` and
        ``penalty="auto"``.
    inner
        Majorise-minimise steps per argmin; None chooses 10 for pf-1 and pf-2, 1 elsewhere; of ``step="exact"`` the most that are taken,
        10,000 by default.
    proximal
        Weight of a Bregman term KL(p || p_old) in the marginal block's argmin; only the earlier ADMM-IB uses it.
    first_step
        Where back-tracking begins; only with ``step="gradient"``. 0.01 is what the published scripts have.
    order
        ``"I"`` or ``"II"``: the recursion, Solver I or Solver II; None is the formulation's own. The published scripts run ib-1v and
        pf-2v, whose conditions are those of Solver II, in the order of Solver I.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.DouglasRachford("ib-2"), starts=4, rng=0)
    >>> s.converged, round(s.loss, 6)
    (True, -0.24076)
    """

    formulation: Literal["auto", "ib-1", "ib-2", "ib-1v", "pf-1", "pf-2", "pf-2v"] = field(
        default="auto", metadata=PYTHON_ONLY
    )
    step: Literal["majorise", "exact", "gradient"] = "majorise"
    penalty: float | Literal["auto"] = "auto"
    relaxation: float = GOLDEN
    acceleration: bool = True
    inner: int | None = field(default=None, metadata=PYTHON_ONLY)
    proximal: float = field(default=0.0, metadata=PYTHON_ONLY)
    first_step: float = field(default=0.01, metadata=PYTHON_ONLY)
    order: Literal["I", "II"] | None = field(default=None, metadata=PYTHON_ONLY)

    def __post_init__(self) -> None:
        check_name(self.formulation)
        check_one_of("step", self.step, ("majorise", "exact", "gradient"))
        checked: dict[str, float] = {}
        if not isinstance(self.penalty, str) or self.penalty != "auto":
            checked["penalty"] = number("penalty", self.penalty, "'auto' or a positive number", above=0.0)
        checked["relaxation"] = number("relaxation", self.relaxation, "in (0, 2]", above=0.0, most=2.0)
        if self.inner is not None:
            checked["inner"] = whole_number("inner", self.inner)
        checked["proximal"] = number("proximal", self.proximal, "0 or a positive number", least=0.0)
        checked["first_step"] = positive_number("first_step", self.first_step)
        for option, value in checked.items():
            object.__setattr__(self, option, value)
        check_flag("acceleration", self.acceleration)
        check_one_of("order", self.order, ("I", "II", None))

    @property
    def name(self) -> str:
        """The registered name: the formulation, or drs if the problem chooses it."""
        if self.proximal > 0:
            return "admm-ib"
        return "drs" if self.formulation == "auto" else self.formulation

    @property
    def description(self) -> str:
        """That of the formulation; of the class, if the problem chooses it, or if the class is derived from this one."""
        if type(self) is not DouglasRachford or self.formulation == "auto":
            return super().description
        if self.proximal > 0:
            return "The earlier ADMM-IB (Huang, El Gamal 2021): ib-1 at relaxation 1 with a Bregman term"
        return FORMULATIONS[self.formulation].description

    @property
    def advice(self) -> str:
        """What to change if a run does not converge: the options that follow the paper's method instead of the defaults."""
        usual = {"step": "majorise", "penalty": "auto"}
        changes = [f"{option}={value!r}" for option, value in usual.items() if getattr(self, option) != value]
        return f"raise max_iter, or use {' and '.join(changes)}" if changes else ""

    def _formulation(self, problem: MarkovLagrangian) -> Formulation:
        """The formulation asked for, or the one that the problem's signs allow, in the order asked for."""
        chosen = choose(problem, self.formulation)
        return chosen if self.order is None else replace(chosen, order=len(self.order))

    def refusal(self, problem: MarkovLagrangian) -> str | None:
        """Why the chosen formulation cannot solve a problem, or None."""
        try:
            choose(problem, self.formulation)
        except UnsupportedProblemError as error:
            return str(error)
        return None

    def caution(self, support: Support, problem: MarkovLagrangian, start: Array) -> str | None:
        """What is not proven: Solver II at relaxation 2, or a penalty below the threshold of the descent theorem at the start's masses."""
        formulation = self._formulation(problem)
        if formulation.order == 2 and self.relaxation == 2.0:
            return f"no theorem covers {formulation.name} (Solver II) at relaxation 2; they cover alpha < 2."
        if self.penalty == "auto" or start.min() <= 0 or not formulation.descends:
            return None
        proven = formulation_threshold(support.joint, problem, support.lift(start), formulation, self.relaxation).c
        if self.penalty >= proven:
            return None
        return (
            f"penalty c = {self.penalty:g} lies below {proven:.4g}, from which on the augmented Lagrangian provably falls in every "
            f"iteration, for {formulation.name} at the start's masses. Smaller penalties often converge, too; "
            "penalty='auto' needs no tuning."
        )

    def begin(self, job: Job) -> SplittingIteration:
        """One step of the formulation's recursion at a time."""
        return SplittingIteration(self, self._formulation(job.problem), job)


class SplittingIteration(Iteration):
    """Runs of one formulation; a step is one of Solver I or Solver II, compiled."""

    def __init__(self, options: DouglasRachford, formulation: Formulation, job: Job) -> None:
        super().__init__(job)
        support, problem, starts = job.support, job.problem, job.starts
        share = formulation.share(problem, support.p_y)
        M = formulation.constraint(support.p_x, support.K)
        auto, exact = options.penalty == "auto", options.step == "exact"
        has_dual = max(-share.a[0], 0.0) + max(-share.a[2], 0.0) - share.a[1] > 0.0
        self.advice = options.advice
        self.found_by = formulation.name if options.formulation == "auto" else options.name
        # Letters of 5e-324: a run that leaves the range of numbers is said to have failed.
        with np.errstate(over="ignore"):
            features = np.ascontiguousarray(M.T / support.p_x)
        scale = max(map(abs, problem.rho))
        kappa = formulation.automatic_factor(options.relaxation) if auto else 0.0
        self.split = Split(
            p_x=support.p_x,
            p_y=support.p_y,
            P=support.P.copy(),  # a read-only array is another type to numba, and would need other machine code
            T=support.T,
            M=M,
            features=features,
            h=share.h,
            a=tuple(map(float, share.a)),
            d=tuple(map(float, share.d)),
            rho=tuple(map(float, problem.rho)),
            width=float(problem.width),
            order=formulation.order,
            encoder_first=formulation.encoder_first,
            inner=options.inner or (EXACT_STEPS if exact else 1 if has_dual else MIRROR_STEPS),
            inner_tol=EXACT_TOL if exact else 0.0,
            mirror=max(kappa, 1.0) * scale,
            alpha=options.relaxation,
            kappa=kappa,
            floor=FLOOR * scale,
            tune_on_encoder=formulation.tune_on_encoder,
            settled=SETTLED if formulation.descends else sys.maxsize,
            proximal=options.proximal,
            tol=float(job.tol),
            primal_tol=PAPER_PRIMAL_TOL if options.step == "gradient" else 0.0,
            gradient=options.step == "gradient",
            first_step=options.first_step,
            accelerate=options.acceleration and auto and options.step == "majorise",
            stop=job.budget.flag,
        )
        v, (runs, clusters) = starts @ M, starts.shape[:2]
        self.state = State(
            W=starts.copy(),
            v=v,
            nu=np.zeros_like(v),
            c=np.full_like(v, 0.0 if options.penalty == "auto" else options.penalty),
            boost=np.ones_like(v),
            m=np.full_like(v, np.nan),
            W_1=np.zeros_like(starts),
            W_0=np.zeros_like(starts),
            nu_1=np.zeros_like(v),
            looks=np.zeros(runs, dtype=np.int64),
            alive=np.full(runs, clusters, dtype=np.int64),
            still=np.zeros(runs, dtype=np.int64),
            **begun(runs),
        )
        self.state.residuals[:] = np.inf

    def advance(self, steps: IntArray, trace: Array) -> None:
        """One iteration of the recursion per step."""
        advance(self.split, self.state, steps, trace)

    def encoders(self) -> list[Array]:
        """W of every run, without dead clusters."""
        return [W[: int(alive)].copy() for W, alive in zip(self.state.W, self.state.alive, strict=True)]


@dataclass(frozen=True)
class ThreeBlockADMM(DouglasRachford):
    """The three-block ADMM for the bottleneck (Bayat, Wei 2019): ib-2 at relaxation 1, without acceleration.

    It separates the Lagrangian into its three entropies, each with a variable of its own: W for H(Z|X), p(z) for H(Z), p(z|y) for H(Z|Y),
    tied by p(z) = W p_x and p(z|y) = W K. One sweep minimises the augmented Lagrangian over W, then over p(z), then over p(z|y), and then
    moves both dual variables. The two marginals meet in no constraint and no term, so minimising over one after the other is minimising
    over both at once: a sweep is **exactly an iteration of ib-2 at relaxation 1**, and so it is run. What Bayat and Wei ("Information
    bottleneck problem revisited") report as empirical convergence is thereby proven, above the threshold of docs/explanation/theory.md.

    The options are those of `DouglasRachford`. Bayat and Wei have one number as their penalty; ``"auto"`` gives every row its own.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.ThreeBlockADMM(), starts=4, rng=0)
    >>> s.converged, round(s.loss, 6)
    (True, -0.24076)
    """

    formulation: Literal["auto", "ib-1", "ib-2", "ib-1v", "pf-1", "pf-2", "pf-2v"] = field(
        default="ib-2", metadata=PYTHON_ONLY
    )
    relaxation: float = 1.0
    acceleration: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.formulation != "ib-2":
            raise InvalidOptionError(
                f"the three-block ADMM is a run of ib-2; found formulation = {self.formulation!r}."
            )

    @property
    def name(self) -> str:
        """The registered name."""
        return "admm-ib-3"


class Standing(NamedTuple):
    """Where a run stands: the encoder W, the marginals v = W M, the dual variable nu of that constraint, and a penalty c per row of it.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> joint, start = ip.datasets.paper_uniform(), np.eye(3)
    >>> first = next(ip.iterates(joint, ip.bottleneck(0.2), ip.DouglasRachford("ib-1"), start))
    >>> first.W.shape, first.v.shape, first.nu.shape
    ((3, 3), (3, 1), (3, 1))
    """

    W: Array
    """p(z|x)."""
    v: Array
    """W M, a row per cluster."""
    nu: Array
    """The dual variable of v = W M."""
    c: Array
    """The penalty of each row."""
    augmented: float = np.nan
    """L_c, in nats, after an iteration; NaN where it was not recorded."""


def iterates(
    joint: Joint,
    problem: MarkovLagrangian,
    solver: DouglasRachford,
    start: Array,
    *,
    max_iter: int = 20_000,
    tol: float = 1e-8,
) -> Iterator[Standing]:
    """Every iterate of one run of a splitting solver: the start, and the standing after each iteration until `solve` would end.

    Parameters
    ----------
    joint, problem
        p(x, y), and what to minimise.
    solver
        A formulation with its penalty and relaxation. ``acceleration=False`` keeps to the recursion that the theorems speak of.
    start
        The encoder where the run begins, (|Z|, |X|).
    max_iter, tol
        As in `solve`.

    Yields
    ------
    Standing
        W, v, nu and c are copies, over the letters of positive mass; a cluster that has died has rows of zeros, at the end.

    Examples
    --------
    >>> import infoplane as ip
    >>> import numpy as np
    >>> start = np.array([[0.6, 0.5, 0.2], [0.4, 0.5, 0.8]])
    >>> run = list(ip.iterates(ip.datasets.paper_uniform(), ip.bottleneck(0.2), ip.DouglasRachford("ib-1"), start))
    >>> bool((run[0].W == start).all()), run[-1].v.shape, round(run[-1].augmented, 4)
    (True, (2, 1), -0.2246)
    """
    check_joint(joint)
    check_problem(problem)
    if not isinstance(solver, DouglasRachford):
        raise InvalidOptionError(
            f"iterates are those of a splitting, such as DouglasRachford('ib-1'); found {solver!r}."
        )
    options, given = RunOptions(tol=tol, max_iter=max_iter), make_starts(joint, None, 1, seed_sequence(0), start)
    budget = Budget(iterations=options.max_iter)
    iteration = solver.begin(Job(Support(joint), problem, given, options.tol, record=True, budget=budget))

    def standing(augmented: float) -> Standing:
        state = iteration.state
        W, v, nu, c = (table[0].copy() for table in (state.W, state.v, state.nu, state.c))
        return Standing(W, v, nu, c, augmented)

    yield standing(np.nan)
    going = True
    while going:
        going = advanced(iteration, 1)
        if len(trace := iteration.recorded[0].pop()):
            yield standing(float(trace[-1, AUGMENTED]))
