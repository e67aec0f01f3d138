"""An encoder on the frontier at a target: I(X;Z) = t, or I(Y;Z) = t.

The frontier is concave (bottleneck) or convex (funnel), and the best runs are points on it with their slopes, the parameters. Between
two neighbours a and b, the chord's slope is the parameter theta for which L_theta(a) = L_theta(b). Solving there from a and b
either finds something lower, which is a point of the curve between them, or does not: then the piece is straight, and mixtures reach
all of it. Steps along the chord take turns with secant steps in the parameter, so that on a smooth piece the target is reached
fast. Where the encoder jumps at one parameter, the frontier has a straight piece like any other. A mixture is by time sharing, which keeps
the clusters of both apart:

    W = (w W_a, (1 - w) W_b),  I(X;Z) = w I_a(X;Z) + (1 - w) I_b(X;Z),  and the same for I(Y;Z).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..checks import number, positive_number
from ..encoder.encoder import compact
from ..errors import InvalidOptionError
from ..information import NATS_PER_BIT, Array, bits
from ..problem import MarkovLagrangian, ProblemFamily, siblings
from ..runtime.budget import Budget, Limits
from ..solution import Solution, Status
from ..solve import solve
from ..solvers.base import default_clusters, near_identity
from ..solvers.job import RunOptions
from .geometry import FrontierPoint, bracket, corners, judged

if TYPE_CHECKING:
    from ..joint.joint import Joint
    from ..solvers.base import Solver
    from .frontier import Frontier


def chord_parameter(a: FrontierPoint, b: FrontierPoint) -> float | None:
    """The parameter for which a and b have the same Lagrangian; None if the Lagrangian is not a combination of I(X;Z) and I(Y;Z)."""
    du, dv = b.run.ixz - a.run.ixz, b.run.iyz - a.run.iyz
    family = a.run.problem.record
    if not family.has_posterior_form or dv <= 0.0:
        return None
    # rho_zx and rho_zy are affine in the parameter t, and L = -rho_zx I(X;Z) - rho_zy I(Y;Z): the chord's t has rho_zx du + rho_zy dv = 0.
    _, zx_0, zy_0 = family.rho(0.0)
    _, zx_1, zy_1 = family.rho(1.0)
    return min(-(zx_0 * du + zy_0 * dv) / ((zx_1 - zx_0) * du + (zy_1 - zy_0) * dv), family.most)


def mixed_encoder(a: FrontierPoint, b: FrontierPoint, axis: str, target: float) -> tuple[float, Array]:
    """The weight of a in the mixture that meets the target, and the mixture."""
    u, v = a.along(axis), b.along(axis)
    w = min(max((v - target) / (v - u), 0.0), 1.0)
    W = np.vstack([w * a.run.encoder, (1.0 - w) * b.run.encoder])
    return w, W / W.sum(axis=0)


MET = 1e-6 * NATS_PER_BIT
"""Distance to the target, in nats, within which it counts as met."""


class TargetRules(NamedTuple):
    """When a target is met, and when to give up."""

    straight: float = 1e-8
    """A gain over the chord below this share of parameter x length counts as 0. A smooth piece has more, until it is shorter than `MET`."""
    jump: float = 1e-10
    """Relative difference within which two parameters count as equal: between their encoders there is a jump."""
    rounds: int = 60
    """Most parameters that are solved on the way to a target: a bracket that is halved so often is narrower than rounding."""


RULES = TargetRules()


def vertices(frontier: Frontier) -> list[FrontierPoint]:
    """The corners of the hull of the best encoders of a frontier; the runs must be of one family."""
    best = [answer.run for answer in frontier.best_answers()]
    if not best:
        raise InvalidOptionError("a frontier without runs has no encoder at any target.")
    if len({siblings(run.problem).key for run in best}) > 1:
        raise InvalidOptionError("the best runs belong to several families of problems; a target needs one.")
    return corners([FrontierPoint(run, run.parameter) for run in best], frontier.hides_y)


def at(
    frontier: Frontier,
    targets: dict[str, float | None],
    solver: Solver | str | None,
    options: RunOptions,
    max_seconds: float,
) -> Solution:
    """The encoder at one of the targets ``ixz`` and ``iyz``, in bits; see `Frontier.at`."""
    began = time.perf_counter()
    given = {axis: value for axis, value in targets.items() if value is not None}
    if len(given) != 1:
        raise InvalidOptionError(f"at() takes one target, ixz_bits or iyz_bits; found {len(given)}.")
    ((axis, value),) = given.items()
    target = number(f"{axis}_bits", value, "a finite number of bits") * NATS_PER_BIT
    curve = vertices(frontier)
    low, high = curve[0].along(axis), curve[-1].along(axis)
    if not low - MET <= target <= high + MET:
        name = {"ixz": "I(X;Z)", "iyz": "I(Y;Z)"}[axis]
        raise InvalidOptionError(
            f"{name} of the best runs reaches from {bits(low):.6f} to {bits(high):.6f} bits; found the target {bits(target):.6g} bits. "
            "Sweep further parameters to go beyond."
        )
    budget = Budget(seconds=positive_number("max_seconds", max_seconds))
    make, is_cap = siblings(curve[0].run.problem).make, frontier.hides_y and axis == "iyz"
    search = TargetSearch(frontier.joint, axis, target, is_cap, make, solver, options, budget)
    if there := [point.run for point in curve if search.met(point)]:
        return there[0]
    found = search.along(curve, frontier.hides_y)
    found = replace(found, iterations=search.iterations, seconds=time.perf_counter() - began)
    bound = proven_bound(frontier, found)
    return found if bound is None else found.bounded(bound, frontier.provenance.get("certify_nats") or Limits.tol)


@dataclass
class TargetSearch:
    """The search for an encoder at a target, from the corners of a frontier."""

    joint: Joint
    axis: str
    target: float
    is_cap: bool
    family: ProblemFamily | None
    solver: Solver | str | None
    options: RunOptions
    budget: Budget
    iterations: int = 0

    def along(self, curve: list[FrontierPoint], hides_y: bool) -> Solution:
        """A run at the target, or a mixture of two on either side of it."""
        a, b = bracket(curve, self.axis, self.target)
        if self.family is None:
            return self.mixed(a, b)
        if chord_parameter(a, b) is None:
            return self.by_parameter(a, b, self.family)
        points = list(curve)
        for turn in range(RULES.rounds):
            if self.budget.over:
                break
            a, b = bracket(corners(points, hides_y), self.axis, self.target)
            by_secant = turn % 2 == 1 and a.parameter - b.parameter > RULES.jump * a.parameter
            chord = None if by_secant else chord_parameter(a, b)
            theta = self.secant(a, b) if chord is None else chord
            problem = self.family(theta)
            here = [problem.value(self.joint, point.run.encoder) for point in (a, b)]
            # The length of the chord, along the information that the parameter multiplies.
            axis = "iyz" if a.run.problem.record.hides_y else "ixz"
            length = 0.0 if chord is None else abs(b.along(axis) - a.along(axis))
            # Losses differ by rounding, some 1e-13 nats, even where nothing is gained.
            nothing = max(1e-13, RULES.straight * theta * length)
            c = self.solved(problem, a, b, mixed=turn == 0)
            if c.run.status is Status.INTERRUPTED:
                break
            if chord is not None and min(here) - c.run.loss <= nothing:
                c = self.solved(problem, a, b, mixed=True)
            gain = min(here) - c.run.loss
            if self.met(c) and gain >= -1e-13:
                return replace(c.run, solver=f"{c.run.solver} (refined)")
            if chord is not None and gain <= nothing:
                break
            # Without a gain the better end is optimal at theta, too.
            points.append(c if gain > nothing else FrontierPoint(a.run if here[0] <= here[1] else b.run, theta))
        return self.mixed(a, b)

    def by_parameter(self, a: FrontierPoint, b: FrontierPoint, family: ProblemFamily) -> Solution:
        """The same for a Lagrangian that is more than I(X;Z) and I(Y;Z): it has no chord, so the bracket of the parameter is narrowed."""
        for turn in range(RULES.rounds):
            if self.budget.over or abs(a.parameter - b.parameter) <= RULES.jump * a.parameter:
                break
            c = self.solved(family(self.secant(a, b, bisect=turn % 2 == 1)), a, b, mixed=False)
            if c.run.status is Status.INTERRUPTED:
                break
            if self.met(c):
                return replace(c.run, solver=f"{c.run.solver} (refined)")
            a, b = (c, b) if c.along(self.axis) < self.target else (a, c)
        return self.mixed(a, b)

    def met(self, c: FrontierPoint) -> bool:
        """Whether a point is at the target; a leakage that is a cap may not be above it."""
        above = c.along(self.axis) - self.target
        return -MET <= above <= (0.0 if self.is_cap else MET)

    def mixed(self, a: FrontierPoint, b: FrontierPoint) -> Solution:
        """The time sharing of a and b at the target; if that is a cap, rounded down to it."""
        found = self.mixture(a, b, aim := self.target)
        while self.is_cap and found.iyz > self.target:
            found = self.mixture(a, b, aim := aim - 2.0 * (found.iyz - self.target))
        return found

    def mixture(self, a: FrontierPoint, b: FrontierPoint, target: float) -> Solution:
        """W = (w W_a, (1 - w) W_b), clusters of both side by side: I is w I_a + (1 - w) I_b, and w is such that it meets the target."""
        w, W = mixed_encoder(a, b, self.axis, target)
        heavier, chord = a if w >= 0.5 else b, chord_parameter(a, b)
        parameter = heavier.parameter if self.family is None or chord is None else chord
        problem = heavier.run.problem if self.family is None else self.family(parameter)
        parts = " and ".join(
            f"{share:.4f} of {point.run.solver} at {point.run.parameter:.6g}" for share, point in ((w, a), (1.0 - w, b))
        )
        name = f"mixture{'' if self.family else ' (unknown family: nothing was refined)'}: {parts}"
        open_ends = [point.run.status for point in (a, b) if not point.run.status.converged]
        otherwise = open_ends[0] if open_ends else Status.STALLED
        return judged(self.joint, problem, W, name, self.options.tol, otherwise, parameter=parameter)

    def secant(self, a: FrontierPoint, b: FrontierPoint, bisect: bool = False) -> float:
        """The parameter at which a straight line from a to b meets the target; or, with ``bisect``, halfway between theirs."""
        u, v = a.along(self.axis), b.along(self.axis)
        # Never in the last fiftieth at an end, so that the bracket shrinks.
        share = 0.5 if bisect else min(max((self.target - u) / (v - u), 0.02), 0.98)
        return a.parameter + share * (b.parameter - a.parameter)

    def solved(self, problem: MarkovLagrangian, a: FrontierPoint, b: FrontierPoint, mixed: bool) -> FrontierPoint:
        """The best run from the encoders of a and b, from a near-identity encoder and, if ``mixed``, from the mixture of a and b.

        The mixture has the clusters of both: it leads to a lower loss where a and b are not both optimal for one parameter.
        """
        letters = self.joint.shape[0]
        starts = [b.run.encoder, a.run.encoder, near_identity(default_clusters(letters), letters)]
        if mixed:
            starts = [compact(mixed_encoder(a, b, self.axis, self.target)[1], self.joint.p_x), *starts]
        rows = max(len(W) for W in starts)
        padded = [np.vstack([W, np.zeros((rows - len(W), letters))]) for W in starts]
        # A hundredth of the uniform encoder, so that empty clusters can gain mass again.
        blended = [0.99 * W + 0.01 / rows for W in padded[:-1]]
        run = solve(
            self.joint,
            problem,
            self.solver,
            init=np.stack([*blended, *padded]),
            max_iter=self.options.max_iter,
            tol=self.options.tol,
            callback=lambda _: self.budget.over,
        )
        self.iterations += sum(one.iterations for one in run.starts)
        return FrontierPoint(run, run.parameter)


def proven_bound(frontier: Frontier, found: Solution) -> float | None:
    """A lower bound of min L at a parameter between two that have one: min L is concave in the parameter, so the chord is below it."""
    same = siblings(found.problem)
    proven = sorted(
        (run.parameter, run.lower_bound)
        for _, run, _ in frontier.best_answers()
        if run.lower_bound is not None and siblings(run.problem).key == same.key
    )
    below = [(p, bound) for p, bound in proven if p <= found.parameter]
    above = [(p, bound) for p, bound in proven if p >= found.parameter]
    if same.make is None or not below or not above:
        return None
    (p, low), (q, high) = below[-1], above[0]
    share = 0.0 if p == q else (found.parameter - p) / (q - p)
    return float((1.0 - share) * low + share * high)
