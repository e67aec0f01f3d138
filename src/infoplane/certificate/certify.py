"""`certify`: how far an encoder is from the global optimum, proven.

When rho_z + rho_zx + rho_zy = 0 the Lagrangian is a constant plus the lower convex envelope, at p(x), of one function of the posterior
p(x|z), and every affine function below that function proves a bound: `bottleneck.py` for the bottleneck, `funnel/` for the funnel, `tasks/`
where one target is kept and another hidden. Where the sum is positive, as of the deterministic and the generalised bottleneck, the problem
less its multiple of H(Z|X) >= 0 has that form, and its bound holds for both; it is met by deterministic encoders only.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

import numpy as np

from ..encoder.encoder import check_encoder
from ..errors import UnsupportedProblemError
from ..formatting import counted, html_facts, html_page, rounded
from ..information import Array, Result
from ..joint.joint import Joint, Support
from ..joint.task_joint import TaskJoint
from ..posterior.form import Mixture, climb, cover, imbalance, own_multipliers, posterior, posteriors, scaled
from ..posterior.programme import Programme
from ..posterior.task_form import TaskForm
from ..problem import (
    MarkovLagrangian,
    as_joint,
    check_problem,
    has_posterior_form,
    is_bottleneck,
    is_funnel,
    is_task,
    posterior_form_below,
)
from ..runtime.budget import Budget, Limits, attended, one_blas_thread
from ..task_problem import TaskLagrangian
from .bottleneck import Proof, prove
from .challenge import upheld
from .funnel.generation import proven_bound
from .tasks.boxes import Asked, box_bound, search_boxes
from .tasks.columns import generate_any


@dataclass(frozen=True, eq=False)
class Certificate(Result):
    """lower_bound <= L(W) for every encoder W of the joint; nats. Its arrays are read-only, and it is equal to itself only.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
    >>> found = ip.certify(joint, problem, ip.solve(joint, problem, rng=0).encoder)
    >>> found.certified, 0 <= found.gap <= found.tol
    (True, True)
    """

    problem: MarkovLagrangian
    """L."""
    loss: float
    """L at the encoder that was judged."""
    lower_bound: float
    """No encoder has a smaller L: proven."""
    tol: float
    """The gap that counts as certified."""
    cells: int
    """Cells opened."""
    left: int
    """Cells still open when the search ended; 0 if it ran to its end."""
    seconds: float
    """Of the clock."""
    posterior: Array | None = field(default=None, repr=False)
    """A distribution p(x|z) that no cluster of the encoder has and that lowers the loss; None if none was met."""
    multipliers: Array | None = field(default=None, repr=False)
    """What the bound follows from, as in `Solution`."""
    limit: str = ""
    """What ended the search before it had proven all that it was asked for; "" if nothing did, or if it does not say."""

    @property
    def gap(self) -> float:
        """Loss - lower_bound: the encoder is at most this far from the global optimum."""
        return self.loss - self.lower_bound

    @property
    def certified(self) -> bool:
        """Gap <= tol."""
        return self.gap <= self.tol

    def __repr__(self) -> str:
        said = "certified" if self.certified else "not certified"
        return (
            f"Certificate({self.problem.said}: {said}, loss {rounded(self.loss)} nats, lower bound "
            f"{rounded(self.lower_bound)} nats, gap {self.gap:.1e} nats)"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("verdict", f"{'certified' if self.certified else 'not certified'} to {self.tol:.0e} nats"),
            ("loss", f"{rounded(self.loss, 9)} nats"),
            ("lower bound of every encoder's loss", f"{rounded(self.lower_bound, 9)} nats"),
            ("gap", f"{self.gap:.1e} nats"),
            ("search", f"{counted(self.cells, 'cell')}, {self.left:,} left open, {self.seconds:.2f} s"),
            *([] if self.certified or not self.limit else [("ended by", self.limit)]),
        ]
        return html_page(f"Certificate, {self.problem.said}", html_facts(rows))

    def __str__(self) -> str:
        said = "certified" if self.certified else "not certified"
        open_cells = f", {self.left:,} left open" if self.left else ""
        ended = f"; ended by {self.limit}" if self.limit and not self.certified else ""
        return (
            f"{said}: loss {self.loss:.9f}, lower bound {self.lower_bound:.9f}, gap {self.gap:.1e} nats "
            f"(asked for {self.tol:.0e}); {self.cells:,} cells{open_cells}, {self.seconds:.2f} s{ended}"
        )


class Proven(NamedTuple):
    """What a proof leaves, on the letters of positive mass."""

    lower: float
    multipliers: Array | None
    left: int
    posterior: Array | None
    """One that lowers the loss, if one was met."""
    limit: str


def _bottleneck(
    support: Support, problem: MarkovLagrangian, W: Array, loss: float, tol: float, budget: Budget
) -> Proven:
    """rho_zy (gamma I(X;Z) - I(Y;Z)): the proof, begun from the encoder's own decoders."""
    mixture = Mixture.of(support, W)
    proof = Proof(support, problem, mixture, tol, budget)
    lam = mixture.multipliers(support, proof.gamma)
    peaks, heights = climb(support, proof.gamma, lam, np.vstack([mixture.decoders, cover(support)]))
    if heights.max() > proof.tol:
        proof.violation = posterior(support, proof.gamma, lam, peaks[heights.argmax()])
    prove(proof)
    proof.challenge(W, loss)
    left = 0 if proof.complete else proof.open_boxes.left
    return Proven(proof.lower_bound, proof.multipliers, left, proof.violation, proof.limit)


def _funnel(
    support: Support,
    problem: MarkovLagrangian,
    W: Array,
    loss: float,  # noqa: ARG001
    tol: float,
    budget: Budget,
) -> Proven:
    """Any positive multiple of a funnel: the encoder's own posteriors begin the linear programme.

    The posterior is the one, among those of the best release found, that lowers the loss fastest: f(q) - lambda.q < 0 for the encoder's
    own lambda.
    """
    scale, beta = scaled(problem)
    programme = Programme(support, budget)
    programme.add(posteriors(support, W))
    outcome, bound = proven_bound(support, beta, programme, tol / scale, budget)
    used = outcome.point.used
    fall = programme.costs(used, beta) - own_multipliers(support, W, beta) @ used
    met = used[:, fall.argmin()] if fall.min() < 0.0 else None
    lower = scale * bound - imbalance(support, problem)
    return Proven(lower, scale * outcome.proof.lam, outcome.left, met, outcome.contradiction)


def _task(support: Support, problem: MarkovLagrangian, W: Array, loss: float, tol: float, budget: Budget) -> Proven:
    """gamma I(X;Z) - keep I(U;Z) + hide I(S;Z): at gamma = 0 columns, searched for on edges where they are exact, else by boxes.

    At gamma > 0 the bound is that of the encoder's own multipliers, which is tight if it is optimal; where it is not, the posterior shows
    it.
    """
    assert isinstance(problem, TaskLagrangian)
    form = TaskForm(support, problem)
    own = form.condensed(W)
    Q, met, left = form.posteriors(own), None, 0
    if form.gamma == 0.0:
        outcome = generate_any(form, Q, 0.9 * tol, budget)
        lower, lam, said = outcome.lower, outcome.lam, outcome.contradiction
    else:
        lam = form.multipliers(own)
        found = search_boxes(Asked(form, lam), 0.4 * tol, budget)
        said, left = upheld(Asked(form, lam), found.least, Q), found.left
        lower = -math.inf if said else box_bound(form, lam, found.least)
        if found.violating:
            met = (found.violating[0] / form.p_x)[form.classes] * support.p_x
    limit = "" if loss - lower <= tol else said or "its limits, or an encoder that is not optimal"
    return Proven(lower, form.letters.spread(lam, form.gamma), left, met, limit)


def certify(
    joint: Joint | TaskJoint,
    problem: MarkovLagrangian,
    encoder: Array,
    *,
    tol: float = Limits.tol,
    max_cells: int = Limits.max_cells,
    max_seconds: float = Limits.max_seconds,
) -> Certificate:
    """A proven lower bound of min L, and with it how far L(encoder) is from the global optimum.

    Parameters
    ----------
    joint, problem, encoder
        p(x, y); a bottleneck or a funnel, or any multiple of one, or a Lagrangian that has one below it (`posterior_form_below`), such as
        a deterministic bottleneck: its bound holds, and is in general not tight; p(z|x) as (|Z|, |X|).
    tol
        Gap in nats that counts as certified; the search ends once it is reached.
    max_cells, max_seconds
        When to give up, as Ctrl-C does. The bound returned holds all the same; it is only not as high as it might be.

    Examples
    --------
    >>> import infoplane as ip
    >>> joint, problem = ip.datasets.paper_uniform(), ip.bottleneck(0.2)
    >>> s = ip.solve(joint, problem, "blahut-arimoto", starts=4, rng=0, tol=1e-12)
    >>> ip.certify(joint, problem, s.encoder).certified
    True
    """
    check_problem(problem)
    joint = as_joint(joint, tasks=is_task(problem))
    problem = problem.on(joint)
    W = check_encoder(joint, encoder)
    bounded = posterior_form_below(problem)
    if not (is_bottleneck(bounded) or is_funnel(bounded) or is_task(bounded)):
        raise UnsupportedProblemError(no_certificate(problem))
    limits = Limits(tol, max_cells, max_seconds)
    proof = _bottleneck if is_bottleneck(bounded) else _funnel if is_funnel(bounded) else _task
    support, loss, budget = Support(joint), bounded.value(joint, W), limits.budget()
    with one_blas_thread():
        work = partial(proof, support, bounded, W[:, support.x], loss, limits.tol, budget)
        proven = attended([work], budget)[0]
    # What improves on the encoder below need not improve on it here.
    met = proven.posterior if bounded is problem and loss - proven.lower > limits.tol else None
    return Certificate(
        problem=problem,
        loss=loss if bounded is problem else problem.value(joint, W),
        lower_bound=proven.lower,
        tol=limits.tol,
        cells=budget.cells_spent,
        left=proven.left,
        seconds=budget.seconds_spent,
        posterior=None if met is None else support.spread(met),
        multipliers=None if proven.multipliers is None else support.spread(proven.multipliers),
        limit=proven.limit,
    )


def no_certificate(problem: MarkovLagrangian) -> str:
    """Why a problem has none."""
    rho_z, rho_zx, rho_zy = problem.rho
    found = f"found rho_z = {rho_z:g}, rho_zx = {rho_zx:g}, rho_zy = {rho_zy:g}, with sum {sum(problem.rho):g}."
    if sum(problem.rho) < 0.0 and not has_posterior_form(problem):
        return (
            "a global certificate needs rho_z + rho_zx + rho_zy >= 0: below that the loss falls without limit as Z gets more letters that "
            f"say nothing of X; {found}"
        )
    return (
        "a global certificate needs a bottleneck or a funnel, or one of them plus a positive multiple of H(Z|X): "
        f"rho_z + rho_zx + rho_zy >= 0, and rho_z + rho_zy and rho_zy of equal signs; {found}"
    )
