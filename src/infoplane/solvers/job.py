"""What a solver is asked for, and what it works with.

`RunOptions` and `ProofOptions` are what several functions take: checked once, and documented once, here (`takes`). A `Job` is what becomes
of them: one problem on one joint, from some starts, within a budget. An `Iteration` is how most solvers answer it; in plain NumPy
(`PlainIteration`) a step is all that a solver has to write, and what the driver and the trace need is measured from the definitions: the
Lagrangian, and max |W - W exp(-g/k) / normaliser|.

Kernels work in floating point. An iterate that has left its range is no answer, and is said to have failed. Where a letter of X or Y weighs
less than 1e-290, products of its mass with a small probability have few digits or none, and the residual of a kernel may look small
that is not: there it is taken again from its definition, `MarkovLagrangian.stationarity`.
"""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ..checks import number, whole_number
from ..errors import InvalidOptionError
from ..information import Array, IntArray
from ..joint.joint import Support
from ..kernels.common import AUGMENTED, DEAD, LOSS, PENALTY, RUNNING, STALLED, STATIONARY, TINY
from ..runtime.budget import ITERATIONS, Budget, Limits
from ..solution import STATIONARY_TOL, Residuals, Run, Status, judge, proven

if TYPE_CHECKING:
    from ..problem import MarkovLagrangian

F = TypeVar("F", bound=Callable[..., Any])

Seed = int | np.random.Generator | np.random.SeedSequence | None


@dataclass(frozen=True, eq=False)
class RunOptions:
    """Where runs begin, and when they have ended.

    "Converged" means stationary: the primal residual |Ap - Bq|, the dual residual c |B(q - q_old)| (each row weighted by its mass) and the
    problem's own stationarity (for the bottleneck |W - BA(W)|), each in its largest entry, are all at most ``tol``. A small primal
    residual alone proves nothing.

    Parameters
    ----------
    clusters
        The most clusters that the answer may have. By default the default solver finds the number itself, up to |X| or to what fits
        into 256 MB; other solvers begin with |X|, or 64 or more if X has more letters. Clusters may die on
        the way: `Solution.died`. `Solution.at_cap` says whether the number was held back.
    starts
        How many starts, at most: the default solver makes fewer where they would cost more than its budget. The best result counts, a
        converged one before any other of equal loss (to 1e-9).
    rng
        Seed or numpy Generator. The same seed gives the same bits, whatever the number of threads.
    max_iter, tol
        Iterations per start; residuals that count as stationary.
    init
        Where runs begin: ``"mixed"`` (one near-identity start, the others random), ``"random"`` (all random, as in the paper),
        ``"identity"`` (the near-identity start alone), ``"spread"`` (random mixtures of the two), or an array of encoders,
        (|Z|, |X|) or (starts, |Z|, |X|). None is ``"spread"`` where H(Z|Y) has a negative weight, as in the funnel, else ``"mixed"``.
    """

    clusters: int | None = None
    starts: int = 16
    rng: Seed = None
    max_iter: int = ITERATIONS
    tol: float = STATIONARY_TOL
    init: str | Array | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tol", number("tol", self.tol, "in (0, 1)", above=0.0, below=1.0))
        for name in ("max_iter", "starts", "clusters"):
            if (value := getattr(self, name)) is not None or name != "clusters":
                object.__setattr__(self, name, whole_number(name, value))


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
            gap = number("certify", self.certify, "True, False or a positive gap in nats", above=0.0)
            object.__setattr__(self, "certify", gap)
        if self.certify is False and self.limits:
            raise InvalidOptionError(
                f"{' and '.join(self.limits)} set how long a proof may take, and none was asked for: add certify=True, or a gap in nats."
            )

    @property
    def limits(self) -> dict[str, Any]:
        """Those that were given."""
        return {name: given for name in ("max_cells", "max_seconds") if (given := getattr(self, name)) is not None}

    @property
    def gap(self) -> float:
        """What counts as certified, in nats, unless a solver of its own tolerance proves."""
        return Limits.tol if self.certify is True else float(self.certify)


NO_PROOF = ProofOptions()
"""The answer is to be good, not proven."""


def parameters_of(record: type) -> str:
    """What a class says of its parameters, from the section of its numpy docstring."""
    return inspect.cleandoc(record.__doc__ or "").partition("Parameters\n----------\n")[2].split("\n\n")[0].rstrip("\n")


def takes(*records: type) -> Callable[[F], F]:
    """Write the parameters of records into a function's docstring, each in place of a line with its name in braces, ``{RunOptions}``."""

    def decorate(function: F) -> F:
        if function.__doc__ is not None:  # python -OO leaves docstrings out
            text = inspect.cleandoc(function.__doc__)
            for record in records:
                text = text.replace(f"{{{record.__name__}}}", parameters_of(record))
            function.__doc__ = text
        return function

    return decorate


@dataclass(frozen=True)
class Job:
    """What a solver is asked for: one problem on one joint, from some starts, within a budget.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.joint import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> round(job.loss(np.eye(3)), 6), job.most
    (-0.234383, 3)
    """

    support: Support
    """The joint's letters of positive mass."""
    problem: MarkovLagrangian
    """What to minimise."""
    starts: Array
    """Encoders of the letters of positive mass, (R, |Z|, |X|)."""
    tol: float = STATIONARY_TOL
    """Residuals that count as stationary."""
    clusters: int | None = None
    """Most rows of an answer's encoder; None: as many as X has letters. Starts may have fewer."""
    record: bool = False
    """Whether runs keep traces."""
    budget: Budget = field(default_factory=Budget)
    """Iterations, work, cells and seconds that may be spent; also whether somebody has asked for an end."""
    after_default: bool = False
    """Whether the starts are what the default solver has found: nobody needs to ask it again."""

    def but(self, **changes: Any) -> Job:
        """The same job, with some fields changed."""
        return replace(self, **changes)

    def within(self, **limits: Any) -> Job:
        """The same job, with some limits of its budget changed."""
        return replace(self, budget=self.budget.part(**limits))

    @property
    def letters(self) -> int:
        """Letters of X of positive mass."""
        return len(self.support.p_x)

    @property
    def most(self) -> int:
        """The cap on |Z|."""
        return self.letters if self.clusters is None else min(self.clusters, self.letters)

    @property
    def capped(self) -> bool:
        """Whether |Z| may not be what X has letters."""
        return self.most < self.letters

    def losses(self, encoders: Sequence[Array]) -> list[float]:
        """The Lagrangian at each encoder."""
        joint, lifted = self.support.joint, self.support.lifted(encoders)
        return [loss for some in lifted for loss in self.problem.values(joint, some)]

    def loss(self, W: Array) -> float:
        """The Lagrangian at one encoder."""
        return self.losses([W])[0]

    def best(self, encoders: Sequence[Array]) -> int:
        """Which of some encoders has the lowest loss."""
        return int(np.argmin(self.losses(encoders)))

    def best_run(self, runs: Sequence[Run]) -> Run:
        """The run of lowest loss."""
        return runs[self.best([run.encoder for run in runs])]

    @property
    def work(self) -> int:
        """Operations of one iteration of one start."""
        return work_of(self.support, self.starts.shape[1])

    def died(self, W: Array) -> int:
        """Clusters that the starts had and an encoder no longer has."""
        return max(self.starts.shape[1] - len(W), 0)

    def standing(self, W: Array, found_by: str, otherwise: Status = Status.STALLED) -> Run:
        """An encoder as a run that ended here; STATIONARY if it is."""
        run = Run(W, otherwise, iterations=0, residuals=Residuals(0.0, 0.0, np.inf), found_by=found_by)
        return self._measured(run, otherwise)

    def sound(self, runs: Sequence[Run]) -> list[Run]:
        """The runs as they are reported; those that have failed with the trivial encoder in place of theirs, and the status STALLED."""
        # A mass so small that, times a probability of 1e-18, it has no longer all its digits (they end at 2.2e-308).
        faint = bool(min(self.support.p_x.min(), self.support.p_y.min()) < 1e-290)
        settled = (Status.STATIONARY, Status.ALMOST)
        return [
            self._measured(one, Status.STALLED) if faint and one.status in settled else one
            for one in map(_encoding, runs)
        ]

    def _measured(self, run: Run, otherwise: Status) -> Run:
        """The run with its stationarity by definition, and the status that follows from it."""
        stationarity = self.problem.stationarity(self.support.joint, self.support.lift(run.encoder))
        residuals = run.residuals._replace(stationarity=stationarity)
        return replace(run, residuals=residuals, status=judge(residuals, self.tol, otherwise))


FAILED = "begin elsewhere: its iterates left the range of floating point, and the encoder is the trivial one"


def _encoding(run: Run) -> Run:
    """The run, if its encoder's columns can be scaled to distributions; CERTIFIED only with a bound."""
    totals = run.encoder.sum(axis=0)
    if len(run.encoder) > 0 and (totals > 0.0).all() and (totals < np.inf).all():
        unproven = run.status is Status.CERTIFIED and run.lower_bound is None
        return replace(run, status=proven(None, 0.0, run.residuals, run.status)) if unproven else run
    trivial = np.ones((1, run.encoder.shape[1]))
    return replace(run, encoder=trivial, status=Status.STALLED, trace=None, lower_bound=None, advice=FAILED)


def nothing_to_solve(problem: MarkovLagrangian) -> str:
    """What is said of a problem whose rho are all 0 or more."""
    return (
        f"with rho = {problem.rho} every term is a non-negative multiple of an entropy: the minimum is 0 and any constant Z attains it, "
        "so there is nothing to solve. Give at least one coefficient a negative sign."
    )


def work_of(support: Support, clusters: int) -> int:
    """Operations of one iteration of an encoder of so many clusters."""
    outcomes = support.rows.nnz / len(support.p_x) if support.sparse else len(support.p_y)
    # A softmax is worth 20 operations an entry; from 64 outcomes on BLAS does about six products at once.
    return int(len(support.p_x) * clusters * (20 + (outcomes if outcomes < 64 else outcomes / 6)))


class Iteration(ABC):
    """Runs of one algorithm side by side, one from each start of a job. The constructor is how they begin.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.joint import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> begun = ip.BlahutArimoto().begin(job)
    >>> isinstance(begun, ip.Iteration), len(begun.encoders())
    (True, 1)
    """

    state: Any
    """Arrays with one row per run, which `advance` updates in place: what `begun` makes, and the algorithm's own."""
    found_by: str
    """The name that solutions give as their solver."""
    advice: str = ""
    """What to change if a run does not converge, as in `Solution`."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.limit = job.budget.affordable(job.work)
        """Steps that a run may do."""
        self.recorded: list[list[Array]] = [[] for _ in job.starts]
        """Rows of the traces, block by block."""

    @abstractmethod
    def advance(self, steps: IntArray, trace: Array) -> None:
        """Do steps[r] more steps of run r, fewer if it ends or the budget is stopped, and fill a row of trace[r] for each.

        A trace without columns is not filled.
        """

    def resume(self) -> None:  # noqa: B027
        """Called after every block: an algorithm that tests stationary points further may let their runs go on."""

    @abstractmethod
    def encoders(self) -> list[Array]:
        """The encoder of every run as it stands, without dead clusters; the residuals of the state are brought up to date with them."""


STILL = 100
"""Iterations without movement after which a run counts as stalled."""


def begun(runs: int) -> dict[str, Any]:
    """What the driver reads of every state, before the first step.

    ``outcome``, RUNNING or how the run has ended (`kernels/common.py`); ``iterations``, steps done; ``residuals``, primal, dual,
    stationarity.
    """
    residuals = np.tile([0.0, 0.0, np.inf], (runs, 1))
    return {"outcome": np.full(runs, RUNNING), "iterations": np.zeros(runs, dtype=np.int64), "residuals": residuals}


class PlainIteration(Iteration):
    """Runs as one stack of tables; a subclass writes `step`. Nothing is split, so primal and dual residual are zero.

    Examples
    --------
    >>> import infoplane as ip, numpy as np
    >>> from infoplane.joint.joint import Support
    >>> support = Support(ip.datasets.paper_uniform())
    >>> job = ip.Job(support, ip.bottleneck(0.2), starts=np.eye(3)[None])
    >>> class Stay(ip.PlainIteration):
    ...     def step(self, W): return W
    >>> len(Stay(job).encoders())
    1
    """

    some: IntArray
    """The runs that are asked for a step."""
    finest: float = 1.0
    """Share of the tolerance at which a run ends."""

    def __init__(self, job: Job) -> None:
        super().__init__(job)
        support = job.support
        self.p_x, self.p_y, self.P, self.T, self.K = support.p_x, support.p_y, support.P, support.T, support.K
        self.rho, self.width = np.array(job.problem.rho, dtype=float), job.problem.width
        self.begin_from(np.maximum(job.starts, TINY))

    def begin_from(self, W: Array) -> None:
        """The state before the first step, from tables that are normalised here; ``still`` counts iterations since W last moved."""
        still = np.zeros(len(W), dtype=np.int64)
        self.state = SimpleNamespace(W=W / W.sum(axis=1, keepdims=True), still=still, **begun(len(W)))

    @abstractmethod
    def step(self, W: Array) -> Array:
        """The next encoders of some runs, (R, |Z|, |X|)."""

    def advance(self, steps: IntArray, trace: Array) -> None:
        """So many steps of every run; a run ends once it is stationary, or has not moved for long."""
        state = self.state
        for step in range(trace.shape[1]):
            some = self.some = np.flatnonzero((state.outcome == RUNNING) & (step < steps))
            if not some.size or self.job.budget.stopped:
                return
            old = state.W[some]
            new = self.step(old)
            state.W[some] = new
            state.iterations[some] += 1
            far = self.stationarity(new)
            state.residuals[some, 2] = far
            state.still[some] = np.where(np.abs(new - old).max(axis=(1, 2)) > 1e-15, 0, state.still[some] + 1)
            if trace.shape[2]:
                trace[some, step, LOSS], trace[some, step, 2:5] = self.losses(new), state.residuals[some]
                trace[some, step, AUGMENTED], trace[some, step, PENALTY] = self.augmentation()
            state.outcome[some[state.still[some] >= STILL]] = STALLED
            state.outcome[some[state.residuals[some].max(axis=1) <= self.finest * self.job.tol]] = STATIONARY

    def augmentation(self) -> tuple[float | Array, float | Array]:
        """L_c and the penalty of the runs `some`, where there are any."""
        return np.nan, np.nan

    def encoders(self) -> list[Array]:
        """Without the clusters that have died."""
        return [W / W.sum(axis=0) for W in (W[W @ self.p_x > DEAD] for W in self.state.W)]

    def logs(self, W: Array) -> tuple[Array, Array, Array]:
        """log p(z), log p(z|x) and sum_y p(y|x) log p(z|y), which are minus the slopes of the entropies over p(x), up to constants."""
        log_z = np.log(np.maximum(W @ self.p_x, TINY))[:, :, None]
        return log_z, np.log(np.maximum(W, TINY)), np.log(np.maximum(W @ self.K, TINY)) @ self.T

    def entropies(self, W: Array) -> Array:
        """H(Z), H(Z|X) and H(Z|Y) of every run, (3, R)."""
        tables = ((1.0, (W @ self.p_x)[:, :, None]), (self.p_x, W), (self.p_y, W @ self.K))
        return np.array([-(weight * v * np.log(np.maximum(v, TINY))).sum(axis=(1, 2)) for weight, v in tables])

    def losses(self, W: Array) -> Array:
        """L of every run."""
        return np.asarray(self.rho @ self.entropies(W))

    def stationarity(self, W: Array) -> Array:
        """max |W - W exp(-g/k) / normaliser| of every run, as `MarkovLagrangian.stationarity`."""
        logs = self.logs(W)
        g = sum(self.rho[i] * logs[i] for i in range(3))
        return np.asarray(np.abs(W - softmax(logs[1] + g / self.width)).max(axis=(1, 2)))


def softmax(score: Array) -> Array:
    """Softmax over z of a stack of tables, never below `TINY`."""
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    return np.asarray(np.maximum(weights / weights.sum(axis=1, keepdims=True), TINY))
