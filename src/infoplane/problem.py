"""The Markovian Lagrangian and its named members.

L(W) = rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y),  Y -> X -> Z,  W[z, x] = p(z|x)         (paper, eq. prob_form_gg_lag)

=============================  =========  ==========  =======  ==============================
problem                        rho_z      rho_zx      rho_zy   L equals
=============================  =========  ==========  =======  ==============================
bottleneck(gamma)              gamma - 1  -gamma      1        gamma I(X;Z) - I(Y;Z)
funnel(beta)                   beta - 1   1           -beta    beta I(Y;Z) - I(X;Z)
deterministic_bottleneck       gamma - 1  0           1        gamma H(Z) - I(Y;Z)
generalised_bottleneck         gamma - 1  -a gamma    1        gamma (H(Z) - a H(Z|X)) - I(Y;Z)
=============================  =========  ==========  =======  ==============================

The last column is exact for every encoder, by I(X;Z) = H(Z) - H(Z|X) and I(Y;Z) = H(Z) - H(Z|Y).
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .checks import check_one_of, number
from .encoder.encoder import check_encoder
from .errors import InvalidOptionError
from .information import Array, Entropies, IntArray, encoder_entropies, log_or_zero
from .joint.joint import ROLES, Joint, check_joint
from .joint.task_joint import TaskJoint

ENTRIES = 50_000
"""Entries of an encoder that are looked at together, 0.4 MB: a large one would need its own size several times over."""

CANCELS = 1e-14
"""Logarithms of 0 whose coefficients add up to this share of the largest |rho|, or less, cancel: rounding of
three additions, with a digit to spare."""


@dataclass(frozen=True)
class MarkovLagrangian:
    """L(W) = rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y), to be minimised over encoders; nats.

    Parameters
    ----------
    rho_z, rho_zx, rho_zy
        The three coefficients: finite, not all zero.
    family, parameter
        The name of the `Family` (``"bottleneck"``) and its parameter (gamma), for messages and tables; set by `bottleneck` and its like.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.MarkovLagrangian(-0.8, -0.2, 1.0) == ip.MarkovLagrangian(rho_z=-0.8, rho_zx=-0.2, rho_zy=1.0)
    True
    """

    rho_z: float
    rho_zx: float
    rho_zy: float
    family: str = "lagrangian"
    parameter: float | None = None

    def __post_init__(self) -> None:
        for name in ("rho_z", "rho_zx", "rho_zy"):
            object.__setattr__(self, name, number(name, getattr(self, name), "a finite number"))
        if self.rho_z == self.rho_zx == self.rho_zy == 0:
            raise InvalidOptionError("rho_z, rho_zx and rho_zy are all zero: there is nothing to minimise.")

    @property
    def rho(self) -> tuple[float, float, float]:
        """(rho_z, rho_zx, rho_zy)."""
        return self.rho_z, self.rho_zx, self.rho_zy

    single_target: ClassVar[bool] = True
    """Whether there is one Y, which is what most solvers and the certificates of bottleneck and funnel are for; else `TaskLagrangian`."""

    @property
    def record(self) -> Family:
        """The family that the problem is named after."""
        return FAMILIES.get(self.family, lagrangian)

    @property
    def said(self) -> str:
        """The family, and the parameter if there is one: ``bottleneck, γ = 0.2``."""
        title = self.record.title
        return title if self.parameter is None else f"{title}, {self.record.symbol} = {self.parameter:.4g}"

    def on(self, joint: Joint) -> MarkovLagrangian:  # noqa: ARG002
        """The problem with what it leaves to the joint filled in: itself, if there is nothing."""
        return self

    def weights(self, joint: Joint) -> Array:
        """For every letter y the weight of p(y) H(Z|Y = y) in L."""
        return np.full(joint.shape[1], self.rho_zy)

    @property
    def width(self) -> float:
        """A k > 0 for which the map W <- W exp(-g/k) / normaliser, g = (dL/dW) / p(x), cannot raise L.

        k = max(0, -rho_zy, -rho_z - rho_zy) - rho_zx: gamma for the bottleneck, beta - 1 for the funnel, beta > 1. With
        D = sum_x p(x) KL(W'_x || W_x), and D_z, D_y the same for p(z) and for p(z|y), L(W') is its tangent at W plus
        -rho_z D_z - rho_zx D - rho_zy D_y. As 0 <= D_z <= D_y <= D, this is at most k D; and the map minimises the
        tangent plus k D. Any larger k will do, so a tiny or negative one is raised: to a tenth of the largest |rho| if
        rho_zx >= 0, to 1e-9 of it otherwise.
        """
        k = max(0.0, -self.rho_zy, -self.rho_z - self.rho_zy) - self.rho_zx
        return max(k, (1e-9 if self.rho_zx < 0.0 else 0.1) * self._scale)

    @property
    def _scale(self) -> float:
        return max(abs(self.rho_z), abs(self.rho_zx), abs(self.rho_zy))

    def value(self, joint: Joint, encoder: Array) -> float:
        """L at an encoder, in nats."""
        return self.values(joint, [check_encoder(joint, encoder)])[0]

    def values(self, joint: Joint, encoders: Sequence[Array]) -> list[float]:
        """L at many encoders, which are not checked; quicker than one by one."""
        return [self.of_entropies(h) for h in encoder_entropies(joint, encoders)]

    def of_entropies(self, h: Entropies) -> float:
        """rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y)."""
        return self.rho_z * h.z + self.rho_zx * h.z_given_x + self.rho_zy * h.z_given_y

    def gradient(self, joint: Joint, encoder: Array) -> Array:
        """dL/dW[z,x] = -rho_z p_x (log p_z + 1) - rho_zx p_x (log W + 1) - rho_zy sum_y p(x,y) (log p(z|y) + 1).

        Where W has zeros this is the limit of the gradient at max(W, t) as t -> 0+. An entry is finite if its logs of 0
        cancel (as in an empty cluster if the rho sum to 0: there it is 0); else it is infinite, with the sign of
        the stronger one. Letters of zero mass have gradient 0, and nothing is ever NaN.
        """
        if (settled := self.on(joint)) is not self:
            return settled.gradient(joint, encoder)
        W = check_encoder(joint, encoder)
        finite, order = self._logs(joint, W, *self._marginals(joint, W), np.arange(W.shape[1]))
        infinite = (np.abs(order) > CANCELS * self._scale) & (joint.p_x > 0.0)
        return np.where(
            infinite, np.copysign(np.inf, order), -joint.p_x * (finite + (self.rho_z + self.rho_zx + self.rho_zy))
        )

    def stationarity(self, joint: Joint, encoder: Array) -> float:
        """The largest |W - W exp(-g/k) / normaliser| over letters of positive mass, g and k as in `width`.

        Zero where L is stationary; the same for any multiple of the rho. For the bottleneck it is max |W - BA(W)|, the
        residual of the self-consistent equations. Weak for the funnel, and where a target is hidden: every deterministic
        encoder passes, unless some x has no y in common with a cluster. Zeros of W are taken to the limit, as in `gradient`.
        """
        if (settled := self.on(joint)) is not self:
            return settled.stationarity(joint, encoder)
        W = check_encoder(joint, encoder)
        seen = np.flatnonzero(joint.p_x > 0.0)
        p_z, p_zy = self._marginals(joint, W)
        far = 0.0
        for first in range(0, len(seen), max(1, ENTRIES // len(W))):
            letters = seen[first : first + max(1, ENTRIES // len(W))]
            some = W[:, letters]
            finite, order = self._logs(joint, some, p_z, p_zy, letters)
            # The map is exp(score) t^power as t -> 0+. By the choice of the width no power is negative.
            score = log_or_zero(some) + finite / self.width
            vanishes = (some == 0.0) * self.width + order > CANCELS * self._scale
            score = np.where(vanishes, -np.inf, score)
            mapped = np.exp(score - score.max(axis=0))
            far = max(far, float(np.abs(some - mapped / mapped.sum(axis=0)).max()))
        return far

    def _marginals(self, joint: Joint, W: Array) -> tuple[Array, Array]:
        """p(z), as a column, and p(z|y), from p(x|y): a product of W with a mass near the smallest number would lose its digits."""
        p_y = np.where(joint.p_y > 0.0, joint.p_y, 1.0)
        return (W @ joint.p_x)[:, None], W @ _divided(joint.p_xy.T, p_y).T

    def _logs(self, joint: Joint, W: Array, p_z: Array, p_zy: Array, letters: IntArray) -> tuple[Array, Array]:
        """rho_z log p(z) + rho_zx log p(z|x) + rho_zy sum_y p(y|x) log p(z|y) for some letters x, as finite + order log t; W is theirs.

        t stands for every probability that is 0: at max(W, t) all those among p(z), p(z|x) and p(z|y) are t.
        """
        T = _divided(joint.p_xy[letters], np.where(joint.p_x > 0.0, joint.p_x, 1.0)[letters])
        finite, order = (
            self.rho_z * f(p_z) + self.rho_zx * f(W) + np.asarray((T @ (f(p_zy) * self.weights(joint)).T).T)
            for f in (log_or_zero, np.logical_not)
        )
        return finite, order


NOTATIONS = ("gamma", "beta")
"""How bottlenecks may be written: gamma I(X;Z) - I(Y;Z), or I(X;Z) - beta I(Y;Z) with beta = 1/gamma, as in the older literature."""


class Notation(NamedTuple):
    """A name and a letter for a parameter, and whether its inverse is meant."""

    name: str
    symbol: str
    inverse: bool

    def of(self, parameter: float) -> float:
        """The parameter as it is written in this notation: 1/t where the inverse is meant, infinite for t = 0."""
        if not self.inverse:
            return parameter
        return 1.0 / parameter if parameter != 0.0 else math.inf

    def read(self, written: float) -> float:
        """The parameter that was written so; a beta below 1 is refused as what it is."""
        return gamma_from(None, written) if self.inverse else written


@dataclass(frozen=True, eq=False, repr=False)
class Family:
    """One named family of problems: called with its parameter, it makes a problem; its fields are what the package knows about it.

    Command line, plots, report, frontier, default solvers and certificates read them; a new family is one more object and a test.
    """

    name: str
    doc: str
    """What ``help(infoplane.bottleneck)`` says of it."""
    loss: str
    """The Lagrangian in words, for help and messages."""
    rho: Callable[..., tuple[float, float, float]]
    """From the parameter (and the fixed options) to rho_z, rho_zx, rho_zy."""
    parameter: str | None = None
    symbol: str = "parameter"
    """The parameter's Greek letter."""
    most: float = math.inf
    """The parameter lies above 0 and is at most this."""
    expected: str = "positive and finite"
    """That range in words."""
    options: tuple[str, ...] = ()
    """Further numbers in [0, 1] that are the same for the whole family."""
    hides_y: bool = False
    """Whether less I(Y;Z) is better; else less I(X;Z) is."""
    contains: Callable[[MarkovLagrangian], bool] = field(default=lambda _: False)
    """Whether a problem is a positive multiple of a member; only families with a posterior form are recognised by their numbers."""
    solver: str = "portfolio"
    """What ``solver=None`` means, by registered name."""
    sweep_solver: str = "portfolio"
    """The same for a sweep, where a run may begin from the answer at a neighbouring parameter."""
    certifier: str | None = None
    """The solver that ends with a proof; None if there is no posterior form, and so no certificate."""
    init: str | None = "mixed"
    """The kind of starts that did best when measured (`solvers/base.py`); None: spread if H(Z|Y) is to be large, else mixed."""
    points: int | None = None
    """How many parameters a sweep has by default, over the range that the joint's trade-off spans; None if there is no parameter."""
    single_target: bool = True
    """As in `MarkovLagrangian`."""
    makes: ClassVar[type] = MarkovLagrangian

    def __post_init__(self) -> None:
        vars(self).update(__doc__=inspect.cleandoc(self.doc), __name__=self.name, __signature__=self._signature())

    def _signature(self) -> inspect.Signature:
        """How it is called: the parameter and the fixed options by position or by name, and ``beta`` instead of a gamma by name."""
        way, either = inspect.Parameter, self.parameter == "gamma" and self.single_target
        first = {} if self.parameter is None else {self.parameter: None if either else way.empty}
        given = first | dict.fromkeys(self.options)
        ways = [way(name, way.POSITIONAL_OR_KEYWORD, default=default) for name, default in given.items()]
        ways += [way("beta", way.KEYWORD_ONLY, default=None)] if either else []
        return inspect.Signature(ways, return_annotation=self.makes)

    def __call__(self, *args: float | None, **named: float | None) -> MarkovLagrangian:
        """The member with this parameter, checked."""
        if self.parameter is None:
            raise InvalidOptionError(
                f"{self.name} has no parameter: give infoplane.MarkovLagrangian its three coefficients."
            )
        bound = inspect.signature(self).bind(*args, **named)
        bound.apply_defaults()
        given = bound.arguments
        either = self.parameter == "gamma" and "beta" in given
        parameter = gamma_from(given["gamma"], given["beta"]) if either else given[self.parameter]
        value = number(self.parameter, parameter, self.expected, above=0.0, most=self.most)
        return self._member(value, {name: given[name] for name in self.options})

    def _member(self, value: float, options: dict[str, Any]) -> MarkovLagrangian:
        for name, given in options.items():
            if given is None:
                raise InvalidOptionError(
                    f"{self.name} needs {name}, in [0, 1]; for a sweep, functools.partial(infoplane.{self.name}, {name}=0.5)."
                )
            options[name] = number(name, given, "in [0, 1]", least=0.0, most=1.0)
        return MarkovLagrangian(*self.rho(value, **options), self.name, value)

    def __repr__(self) -> str:
        given = ", ".join(name for name in (self.parameter, *self.options) if name is not None)
        return f"<family {self.name}({given}): {self.loss}>"

    def __reduce__(self) -> str:
        return self.name  # the one object of this name, in another process too

    def member(self, **options: float) -> MarkovLagrangian:
        """Some member, for what is the same for all of them: which solvers take it, and which one proves it."""
        return self(min(self.most, 1.0) / 2.0, **options)

    @property
    def title(self) -> str:
        """The name with spaces, as it is shown."""
        return self.name.replace("_", " ")

    @property
    def has_posterior_form(self) -> bool:
        """Whether L is a constant plus sum_z p(z) f(p(x|z)), which is what a certificate needs."""
        return self.certifier is not None

    def has(self, problem: MarkovLagrangian) -> bool:
        """Whether a problem has the coefficients of this family at its own parameter, up to rounding; any problem, if there is none."""
        if self.parameter is None:
            return True
        value = problem.parameter
        if value is None or not 0.0 <= value <= self.most or (value == 0.0 and self.options):
            return False
        fixed = {name: min(max(-problem.rho_zx / value, 0.0), 1.0) for name in self.options}
        expected = zip(problem.rho, self.rho(value, **fixed), strict=True)
        return all(abs(one - other) <= 2.0 * np.finfo(float).eps * abs(other) for one, other in expected)

    def fixed(self, problem: MarkovLagrangian) -> dict[str, float]:
        """The options of a member, read off its numbers."""
        return dict.fromkeys(self.options, -problem.rho_zx / (problem.parameter or 1.0))

    def notation(self, wanted: str = "gamma") -> Notation:
        """How the parameter is written: as it is, or, if ``wanted`` is ``"beta"`` and it is a gamma, as beta = 1/gamma."""
        check_one_of("notation", wanted, NOTATIONS)
        if wanted == "beta" and self.parameter == "gamma":
            return Notation("beta", "β", True)
        return Notation(self.parameter or "parameter", self.symbol, False)


def is_task(problem: object) -> bool:
    """Whether a problem, or a family of them, keeps one target and hides another."""
    return not getattr(problem, "single_target", True)


def has_posterior_form(problem: MarkovLagrangian) -> bool:
    """Whether rho_z + rho_zx + rho_zy = 0, of one target: then L is a constant plus the mean of one function of the posteriors p(x|z)."""
    return problem.single_target and abs(sum(problem.rho)) <= CANCELS * max(abs(rho) for rho in problem.rho)


def posterior_form_below(problem: MarkovLagrangian) -> MarkovLagrangian:
    """The problem with posterior form that is nowhere above this one: L - S H(Z|X), where S = rho_z + rho_zx + rho_zy > 0.

    H(Z|X) >= 0, with equality for deterministic encoders, so that a lower bound of the one is a lower bound of the other. The deterministic
    and the generalised bottleneck at gamma have the bottleneck at gamma below them. Where S < 0 there is none (Z of n equally likely
    letters, independent of X, has L = S log n): the problem itself is returned, as it is where S = 0 or nothing else would be left.

    Examples
    --------
    >>> import infoplane as ip
    >>> posterior_form_below(ip.deterministic_bottleneck(0.25)).rho == ip.bottleneck(0.25).rho
    True
    """
    if not problem.single_target or has_posterior_form(problem):
        return problem
    if sum(problem.rho) < 0.0 or problem.rho_z == problem.rho_zy == 0.0:
        return problem
    return MarkovLagrangian(problem.rho_z, -problem.rho_z - problem.rho_zy, problem.rho_zy)


def is_bottleneck(problem: MarkovLagrangian) -> bool:
    """Whether L is a positive multiple of gamma I(X;Z) - I(Y;Z), gamma > 0."""
    return has_posterior_form(problem) and problem.rho_zx < 0.0 < problem.rho_zy


def is_funnel(problem: MarkovLagrangian) -> bool:
    """Whether L is a positive multiple of beta I(Y;Z) - I(X;Z), beta >= 0."""
    return has_posterior_form(problem) and problem.rho_zy <= 0.0 < problem.rho_zx


_GAMMA: dict[str, Any] = {
    "parameter": "gamma",
    "symbol": "γ",
    "most": 1.0,
    "expected": "in (0, 1]; above 1 only the trivial encoder is optimal",
    "points": 16,
}

bottleneck = Family(
    name="bottleneck",
    doc="""Information bottleneck (Tishby, Pereira, Bialek 1999): gamma I(X;Z) - I(Y;Z), 0 < gamma <= 1.

    ``beta`` is the older notation, I(X;Z) - beta I(Y;Z): it means gamma = 1/beta, the same encoders and the same numbers.

    Examples
    --------
    >>> bottleneck(beta=5) == bottleneck(gamma=0.2) == bottleneck(0.2)
    True
    """,
    loss="gamma I(X;Z) - I(Y;Z)",
    rho=lambda gamma: (gamma - 1.0, -gamma, 1.0),
    contains=is_bottleneck,
    sweep_solver="annealing",
    certifier="envelope",
    **_GAMMA,
)

funnel = Family(
    name="funnel",
    doc="""Privacy funnel (Makhdoumi et al. 2014): beta I(Y;Z) - I(X;Z), beta > 0.

    Examples
    --------
    >>> import infoplane as ip
    >>> s = ip.solve(ip.datasets.paper_uniform(), ip.funnel(beta=3.5), rng=0)
    >>> abs(s.loss - (3.5 * s.iyz - s.ixz)) < 1e-12
    True
    """,
    loss="beta I(Y;Z) - I(X;Z)",
    rho=lambda beta: (beta - 1.0, 1.0, -beta),
    parameter="beta",
    symbol="β",
    hides_y=True,
    contains=is_funnel,
    certifier="columns",
    init="spread",
    points=20,
)

deterministic_bottleneck = Family(
    name="deterministic_bottleneck",
    doc="""Deterministic bottleneck (Strouse, Schwab 2017): gamma H(Z) - I(Y;Z), 0 < gamma <= 1; ``beta`` means gamma = 1/beta.

    Examples
    --------
    >>> deterministic_bottleneck(gamma=0.5).rho
    (-0.5, 0.0, 1.0)
    """,
    loss="gamma H(Z) - I(Y;Z)",
    rho=lambda gamma: (gamma - 1.0, 0.0, 1.0),
    **_GAMMA,
)

generalised_bottleneck = Family(
    name="generalised_bottleneck",
    doc="""Generalised bottleneck: gamma (H(Z) - a H(Z|X)) - I(Y;Z); a = 1 is the bottleneck, a = 0 is deterministic.

    ``beta`` means gamma = 1/beta. A sweep varies gamma, and a is fixed: ``functools.partial(generalised_bottleneck, a=0.5)``.

    Examples
    --------
    >>> generalised_bottleneck(0.5, a=1.0).rho == bottleneck(0.5).rho
    True
    """,
    loss="gamma (H(Z) - a H(Z|X)) - I(Y;Z)",
    rho=lambda gamma, a: (gamma - 1.0, -a * gamma, 1.0),
    options=("a",),
    **_GAMMA,
)

lagrangian = Family(
    name="lagrangian",
    doc="Problems without a name: the three coefficients are all that is known of them (`MarkovLagrangian`).",
    loss="rho_z H(Z) + rho_zx H(Z|X) + rho_zy H(Z|Y)",
    rho=lambda *rho: rho,
    init=None,
)

FAMILIES: dict[str, Family] = {
    family.name: family for family in (bottleneck, funnel, deterministic_bottleneck, generalised_bottleneck, lagrangian)
}

__test__ = {name: family.doc for name, family in FAMILIES.items()}
"""Where doctest finds the examples of objects that are no functions."""


def family_of(problem: MarkovLagrangian) -> Family:
    """The family whose rules apply to a problem: one that contains it by its coefficients, else the one that it is named after."""
    for family in FAMILIES.values():
        if family.contains(problem):
            return family
    return problem.record


ProblemFamily = Callable[[float], MarkovLagrangian]
"""What a sweep goes along: a `Family`, or any other function from a parameter to a problem."""


def record_of(family: ProblemFamily) -> Family | None:
    """The family that a function of a parameter is, or fixes the options of (``functools.partial``); None for any other function."""
    fixed: dict[str, Any] = {}
    if isinstance(family, partial) and not family.args:
        fixed, family = family.keywords, family.func
    return family if isinstance(family, Family) and family.parameter and set(fixed) <= set(family.options) else None


def record_for_grid(family: ProblemFamily) -> Family:
    """The record, where there are no parameters whose problems would say as much."""
    found = record_of(family)
    if found is None:
        raise InvalidOptionError(
            "without parameters a family must be one of infoplane's, such as infoplane.bottleneck or "
            f"functools.partial(infoplane.generalised_bottleneck, a=0.5); found {family!r}: give the parameters."
        )
    return found


class Siblings(NamedTuple):
    """The problems that differ from one in nothing but the parameter."""

    key: tuple[str, float]
    """Equal for two problems of the same set: the family's name, and its a."""
    make: ProblemFamily | None
    """From a parameter to a problem; None for a problem without a name."""


def siblings(problem: MarkovLagrangian) -> Siblings:
    """The set that a problem belongs to. The a of a generalised bottleneck is read off its numbers: -rho_zx / gamma."""
    family = problem.record
    if family.parameter is None or not problem.parameter:
        return Siblings((problem.family, 1.0), None)
    fixed = family.fixed(problem)
    return Siblings((family.name, round(next(iter(fixed.values()), 1.0), 12)), partial(family, **fixed))


def gamma_from(gamma: float | None, beta: float | None) -> float:
    """The gamma that is meant: gamma itself, or 1/beta in the older notation; exactly one of them is given."""
    if (gamma is None) == (beta is None):
        found = "neither" if gamma is None else f"gamma = {gamma!r} and beta = {beta!r}"
        raise InvalidOptionError(f"give gamma, or beta = 1/gamma, and not both; found {found}.")
    if beta is None:
        assert gamma is not None
        return gamma
    return 1.0 / number("beta", beta, "at least 1; below 1 only the trivial encoder is optimal", least=1.0)


def check_problem(problem: object) -> None:
    """Refuse what is not a problem, with what to give instead."""
    if not isinstance(problem, MarkovLagrangian):
        advice = " Call it with its parameter first." if callable(problem) else ""
        raise InvalidOptionError(
            f"a problem must be a MarkovLagrangian, such as infoplane.bottleneck(gamma=0.2); found {problem!r}.{advice}"
        )


def check_family(family: object) -> None:
    """Refuse what is not a function from a parameter to a problem, with what to give instead."""
    if not callable(family):
        advice = f" Write infoplane.{family}." if isinstance(family, str) and family in FAMILIES else ""
        raise InvalidOptionError(
            f"a family must be a function from a parameter to a problem, such as infoplane.bottleneck; found {family!r}.{advice}"
        )


def _divided(table: Any, by: Array) -> Any:
    """The rows of a table, dense or sparse, each divided by a number; to divide, not to multiply by 1/by, which may overflow."""
    if isinstance(table, np.ndarray):
        return table / by[:, None]
    cells = table.tocsr(copy=True)
    cells.data /= np.repeat(by, np.diff(cells.indptr))
    return cells


def has_roles(joint: object) -> bool:
    """Whether it is a `TaskJoint`, or the joint inside one."""
    return isinstance(joint, TaskJoint) or (isinstance(joint, Joint) and joint.y_names == ROLES)


def as_joint(joint: object, *, tasks: bool) -> Joint:
    """The joint that solvers work on, from what a caller gives; ``tasks`` says whether the problem keeps one target and hides another."""
    found = joint.joint if isinstance(joint, TaskJoint) else joint
    check_joint(found)
    assert isinstance(found, Joint)
    if tasks:
        found.roles()
    elif has_roles(found):
        raise InvalidOptionError(
            "a TaskJoint needs a problem of tasks, such as infoplane.task_funnel(1.0); its keep and its hide are joints for the others."
        )
    return found
