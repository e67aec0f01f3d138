"""Keep one target, hide another: the Lagrangian of one encoder for two chains, U - X - Z and S - X - Z.

L(W) = gamma I(X;Z) - keep I(U;Z) + hide I(S;Z)
     = (gamma - keep + hide) H(Z) - gamma H(Z|X) + keep H(Z|U) - hide H(Z|S)

on a joint in which U and S stand side by side (`TaskJoint`). It answers as `MarkovLagrangian` does: value, gradient, width,
stationarity. Several tasks are one task, and several secrets one secret, by `Joint.mixed`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from .checks import number, positive_number
from .errors import InvalidOptionError
from .information import Array, encoder_entropies
from .joint.tables import dense
from .problem import Family, MarkovLagrangian

if TYPE_CHECKING:
    from .joint.joint import Joint

SMALL = 0.01
"""Share of the kept target's critical gamma that gamma is by default: on Adult 15 clusters and 98.6% of the optimum at gamma = 0, which
needs hundreds; a fixed gamma could lie above the onset of a weak target, where only a constant Z is optimal (benchmarks/bench_tasks.py)."""


@dataclass(frozen=True, init=False, repr=False)
class TaskLagrangian(MarkovLagrangian):
    """gamma I(X;Z) - keep I(U;Z) + hide I(S;Z), to be minimised over encoders; nats.

    Parameters
    ----------
    gamma
        The weight of I(X;Z), 0 or more: a small one has few clusters. None leaves it to the joint: a hundredth of the critical gamma of the
        kept target.
    keep, hide
        The weights of I(U;Z) and of I(S;Z), both positive.
    family, parameter
        As in `MarkovLagrangian`.

    Examples
    --------
    >>> import infoplane as ip
    >>> ip.TaskLagrangian(0.0, hide=2.0) == ip.TaskLagrangian(gamma=0.0, keep=1.0, hide=2.0)
    True
    """

    gamma: float | None = None
    keep: float = 1.0
    hide: float = 1.0

    single_target = False

    def __init__(
        self,
        gamma: float | None = None,
        keep: float = 1.0,
        hide: float = 1.0,
        family: str = "task_lagrangian",
        parameter: float | None = None,
    ) -> None:
        gamma = None if gamma is None else number("gamma", gamma, "0 or a positive number", least=0.0)
        keep, hide, weight = positive_number("keep", keep), positive_number("hide", hide), gamma or 0.0
        self.__dict__.update(gamma=gamma, keep=keep, hide=hide, family=family, parameter=parameter)
        self.__dict__.update(rho_z=weight - keep + hide, rho_zx=-weight, rho_zy=keep - hide)

    def __repr__(self) -> str:
        return f"TaskLagrangian(gamma={self.gamma!r}, keep={self.keep!r}, hide={self.hide!r})"

    @property
    def settled_gamma(self) -> float:
        """Gamma, which must have been settled (`on`)."""
        if self.gamma is None:
            raise InvalidOptionError("this problem leaves gamma to the joint: problem.on(task_joint.joint) settles it.")
        return self.gamma

    @property
    def rho(self) -> tuple[float, float, float]:
        """(rho_zx, rho_zu, rho_zs) = (-gamma, keep, -hide); rho_z is minus their sum."""
        return -self.settled_gamma, self.keep, -self.hide

    @property
    def record(self) -> Family:
        """The family that the problem is named after."""
        return TASKS.get(self.family, task_lagrangian)

    @property
    def width(self) -> float:
        """gamma + hide: a k for which the map W <- W exp(-g/k) / normaliser, g = (dL/dW) / p(x), cannot raise L.

        L(W') is its tangent at W plus gamma (D - D_z) - keep (D_u - D_z) + hide (D_s - D_z), in the letters of `MarkovLagrangian.width`,
        and 0 <= D_z <= D_u, D_s <= D. By the chain rule D_s - D_z <= eta (D - D_z), eta the contraction coefficient of p(s|x), so that
        gamma + hide eta will do as well (`solvers/task_map.py`).
        """
        return self.settled_gamma + self.hide

    @property
    def _scale(self) -> float:
        return max(self.settled_gamma, self.keep, self.hide)

    def on(self, joint: Joint) -> TaskLagrangian:
        """The problem with its gamma: if none was given, `SMALL` times the squared maximal correlation of X and what is kept."""
        if self.gamma is not None:
            return self
        kept, _ = joint.roles()
        P = dense(joint.p_xy[:, kept.columns] / kept.weight)
        P = P[joint.p_x > 0.0][:, joint.p_y[kept.columns] > 0.0]
        root_x, root_u = np.sqrt(P.sum(axis=1)), np.sqrt(P.sum(axis=0))
        critical = float(np.linalg.norm(P / root_x[:, None] / root_u - np.outer(root_x, root_u), 2)) ** 2
        return TaskLagrangian(SMALL * min(critical, 1.0), self.keep, self.hide, self.family, self.parameter)

    def weights(self, joint: Joint) -> Array:
        """Keep or -hide, over the half that each target has of the mass."""
        kept, hidden = joint.roles()
        found = np.empty(joint.shape[1])
        found[kept.columns], found[hidden.columns] = self.keep / kept.weight, -self.hide / hidden.weight
        return found

    def values(self, joint: Joint, encoders: Sequence[Array]) -> list[float]:
        """L at many encoders, which are not checked."""
        problem, entropies = self.on(joint), encoder_entropies(joint, encoders, self.weights(joint))
        return [problem.rho_z * h.z + problem.rho_zx * h.z_given_x + h.z_given_y for h in entropies]


class TaskFamily(Family):
    """A family of tasks: its gamma may be left to the joint."""

    makes = TaskLagrangian

    def _member(self, value: float, options: dict[str, Any]) -> MarkovLagrangian:
        zx, zu, zs = self.rho(value, **options)
        return TaskLagrangian(None if zx is None else -zx, zu, -zs, self.name, value)

    def has(self, problem: MarkovLagrangian) -> bool:
        """Whether a problem has the coefficients of this family at its own parameter."""
        if not isinstance(problem, TaskLagrangian) or problem.parameter is None:
            return False
        return self(problem.parameter, *self.fixed(problem).values()).rho == problem.rho

    def fixed(self, problem: MarkovLagrangian) -> dict[str, float]:
        """Gamma of a task funnel, hide of a bottleneck with side information."""
        assert isinstance(problem, TaskLagrangian)
        return {name: problem.settled_gamma if name == "gamma" else problem.hide for name in self.options}


def _of_side(gamma: float, hide: float | None) -> tuple[float, float, float]:
    if hide is None:
        raise InvalidOptionError("side_information_bottleneck needs hide, the weight of I(S;Z), such as hide=1.0.")
    return -gamma, 1.0, -hide


_TASKS: dict[str, Any] = {
    "solver": "task-portfolio",
    "sweep_solver": "task-portfolio",
    "certifier": "task-proof",
    "points": 16,
    "single_target": False,
}

task_funnel = TaskFamily(
    name="task_funnel",
    doc="""Keep what predicts U, hide S: beta I(S;Z) - I(U;Z) + gamma I(X;Z), beta > 0, on a `TaskJoint`.

    ``gamma`` is the weight of I(X;Z), 0 or more; by default a hundredth of the critical gamma of the kept target, because gamma = 0 needs
    hundreds of clusters. A sweep varies beta; to sweep caps on I(S;Z) instead see `task_curve`.

    Examples
    --------
    >>> task_funnel(2.0, gamma=0.0)
    TaskLagrangian(gamma=0.0, keep=1.0, hide=2.0)
    """,
    loss="beta I(S;Z) - I(U;Z) + gamma I(X;Z)",
    rho=lambda beta, gamma: (None if gamma is None else -gamma, 1.0, -beta),  # type: ignore[arg-type,return-value]
    parameter="beta",
    symbol="β",
    options=("gamma",),
    **_TASKS,
)

side_information_bottleneck = TaskFamily(
    name="side_information_bottleneck",
    doc="""Bottleneck with side information (Chechik, Tishby 2002): gamma I(X;Z) - I(U;Z) + hide I(S;Z), 0 < gamma <= 1, on a `TaskJoint`.

    Of the same form as `task_funnel`, and swept along gamma: the irrelevant S is what their paper calls side information.

    Examples
    --------
    >>> side_information_bottleneck(0.1, hide=1.0)
    TaskLagrangian(gamma=0.1, keep=1.0, hide=1.0)
    """,
    loss="gamma I(X;Z) - I(U;Z) + hide I(S;Z)",
    rho=_of_side,
    parameter="gamma",
    symbol="γ",
    most=1.0,
    expected="in (0, 1]",
    options=("hide",),
    **_TASKS,
)

task_lagrangian = Family(
    name="task_lagrangian",
    doc="Tasks without a name (`TaskLagrangian`).",
    loss="gamma I(X;Z) - keep I(U;Z) + hide I(S;Z)",
    rho=lambda *rho: rho,
    **(_TASKS | {"points": None}),
)

TASKS: dict[str, Family] = {one.name: one for one in (task_funnel, side_information_bottleneck, task_lagrangian)}
"""The families of problems on a `TaskJoint`; those on a `Joint` are `FAMILIES`."""

__test__ = {name: family.doc for name, family in TASKS.items()}


TASK_GRID = tuple(float(beta) for beta in np.geomspace(0.1, 30.0, 16))
"""Parameters of a sweep that names none: from betas at which Adult's secret hardly counts to where nearly nothing is told of it."""


def family_on(joint: Joint, family: Any) -> Any:
    """A family of tasks whose gamma is settled by the joint, if it was left open: the same for all parameters of a sweep."""
    if family is not task_funnel and not (isinstance(family, partial) and family.func is task_funnel):
        return family
    first: Any = family(1.0).on(joint)
    return partial(task_funnel, gamma=first.gamma)
