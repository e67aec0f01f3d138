"""The options that commands share: the problem, the solver, the runs.

A solver's own options, such as ``--penalty``, are read off the fields of its class with their types and help: they are
declared once, there.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click
import numpy as np

from ..certificate.certificate import Limits
from ..errors import InvalidOptionError
from ..information import Array
from ..problem import MarkovLagrangian, bottleneck, deterministic_bottleneck, funnel, generalised_bottleneck
from ..solvers.base import Solver
from ..solvers.registry import DESCRIPTIONS, SOLVERS, certifier, resolve
from ..solvers.starts import KINDS
from ..solvers.stopping import Stopping

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


@dataclass(frozen=True)
class Kind:
    """A family of problems on the command line: what it needs, and the grid that its frontier is swept over."""

    needs: tuple[str, ...]
    make: Callable[..., MarkovLagrangian]
    grid: tuple[float, float, int] | None = None


KINDS_OF_PROBLEM = {
    "bottleneck": Kind(("gamma",), bottleneck, (0.1, 1.0, 16)),
    "funnel": Kind(("beta",), funnel, (0.5, 20.0, 20)),
    "deterministic-bottleneck": Kind(("gamma",), deterministic_bottleneck, (0.1, 1.0, 16)),
    "generalised-bottleneck": Kind(("gamma", "a"), generalised_bottleneck, (0.1, 1.0, 16)),
    "lagrangian": Kind(("rho",), lambda rho: MarkovLagrangian(*rho)),
}


def several(*options: Decorator[Any]) -> Decorator[F]:
    """One decorator for several options, listed in help in the order given."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# -- types -------------------------------------------------------------------------------------------------------------


class Numbers(click.ParamType[tuple[float, ...]]):
    """Numbers between commas."""

    name = "NUMBERS"

    def __init__(self, count: int | None = None) -> None:
        self.count = count

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Each part as a number."""
        if isinstance(value, tuple):
            return value
        numbers = tuple(_number(part, self, param, ctx) for part in str(value).split(","))
        if self.count is not None and len(numbers) != self.count:
            self.fail(f"expected {self.count} numbers between commas, found {value!r}.", param, ctx)
        return numbers


class Grid(click.ParamType[tuple[float, float, int]]):
    """LOW:HIGH:COUNT, geometric."""

    name = "LOW:HIGH:COUNT"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, float, int]:
        """The two ends and the number of points."""
        if isinstance(value, tuple):
            return value
        parts = str(value).split(":")
        if len(parts) != 3:
            self.fail(f"expected LOW:HIGH:COUNT such as 0.1:1:16, found {value!r}.", param, ctx)
        low, high = (_number(part, self, param, ctx) for part in parts[:2])
        if not 0.0 < low <= high:
            self.fail(f"expected 0 < LOW <= HIGH, found LOW = {low:g} and HIGH = {high:g}.", param, ctx)
        if not parts[2].strip().isdecimal() or int(parts[2]) < 1:
            self.fail(f"COUNT must be a positive whole number, found {parts[2]!r}.", param, ctx)
        return low, high, int(parts[2])


class NumberOr(click.ParamType[float | str]):
    """A number, or one of some words."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self.name = "|".join((*words, "NUMBER"))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """The word as it is, anything else as a number."""
        return value if value in self.words else _number(str(value), self, param, ctx)


class SolverNames(click.ParamType[tuple[str, ...]]):
    """Registered names between commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names, each one registered."""
        names = value if isinstance(value, tuple) else tuple(part.strip() for part in str(value).split(","))
        for name in names:
            if name not in SOLVERS:
                self.fail(f"there is no solver {name!r}; the names are {', '.join(SOLVERS)}.", param, ctx)
        return names


def _number(text: str, kind: click.ParamType[Any], param: click.Parameter | None, ctx: click.Context | None) -> float:
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        kind.fail(f"expected a finite number, found {text!r}.", param, ctx)
    return number


# -- the problem -------------------------------------------------------------------------------------------------------

_problem = click.option(
    "--problem",
    type=click.Choice(list(KINDS_OF_PROBLEM)),
    default="bottleneck",
    show_default=True,
    help="What to minimise.",
)
_a = click.option("--a", type=float, help="Weight of H(Z|X) in the generalised bottleneck, 0 to 1.")

one_problem = several(
    _problem,
    click.option("--gamma", type=float, help="Of the bottlenecks: gamma I(X;Z) - I(Y;Z), 0 < gamma <= 1."),
    click.option("--beta", type=float, help="Of the funnel: beta I(Y;Z) - I(X;Z), beta > 0."),
    _a,
    click.option("--rho", type=Numbers(3), metavar="Z,ZX,ZY", help="Of the Lagrangian Z H(Z) + ZX H(Z|X) + ZY H(Z|Y)."),
)

family_of_problems = several(
    _problem,
    _a,
    click.option(
        "--grid", type=Grid(), help="Geometric grid of gamma, or of beta  [default: 0.1:1:16, funnel 0.5:20:20]"
    ),
    click.option("--grid-values", type=Numbers(), metavar="V,V,...", help="The values themselves, instead of --grid."),
)


def make_problem(name: str, **given: Any) -> MarkovLagrangian:
    """The problem of ``solve``; every parameter that it needs, and no other."""
    kind = KINDS_OF_PROBLEM[name]
    for key, value in given.items():
        if value is not None and key not in kind.needs:
            raise click.UsageError(f"--problem {name} takes {_flags(kind.needs)}, not --{key}.")
    for key in kind.needs:
        if given[key] is None:
            raise click.UsageError(f"--problem {name} needs --{key}.")
    return kind.make(**{key: given[key] for key in kind.needs})


def make_family(
    name: str, a: float | None, grid: tuple[float, float, int] | None, values: tuple[float, ...] | None
) -> tuple[Callable[[float], MarkovLagrangian], Array]:
    """The family of ``frontier`` and ``compare``, and its grid of parameters."""
    kind = KINDS_OF_PROBLEM[name]
    if kind.grid is None:
        raise click.UsageError(f"--problem {name} has no parameter to sweep; use solve, or another problem.")
    if grid is not None and values is not None:
        raise click.UsageError("--grid and --grid-values both name the grid: leave one out.")
    if ("a" in kind.needs) != (a is not None):
        raise click.UsageError(f"--problem {name} {'needs' if a is None else 'takes no'} --a.")
    fixed = {} if a is None else {"a": a}
    parameters = np.geomspace(*(grid or kind.grid)) if values is None else np.array(values)

    def family(parameter: float) -> MarkovLagrangian:
        return kind.make(parameter, **fixed)

    for parameter in parameters:
        family(float(parameter))
    return family, parameters


def _flags(names: tuple[str, ...]) -> str:
    return " and ".join(f"--{name}" for name in names)


# -- the solver --------------------------------------------------------------------------------------------------------


def _described(cls: type) -> dict[str, str]:
    """Parameter -> its description, from the Parameters section of a numpy docstring."""
    section = (inspect.getdoc(cls) or "").partition("Parameters\n----------\n")[2].split("\n\n")[0]
    found = re.findall(r"^(\w+)\n((?: {4}.*(?:\n|$))+)", section, flags=re.MULTILINE)
    return {name: " ".join(text.split()).replace("``", "") for name, text in found}


def _click_type(hint: Any) -> Any:
    """Literal -> a choice, float | Literal -> a number or a word, T | None -> T."""
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    parts = [part for part in get_args(hint) if part is not type(None)] or [hint]
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    return NumberOr(words) if words else parts[0]


def _own_options() -> dict[str, Decorator[Any]]:
    """Field -> option, over the classes of all registered solvers.

    The formulation is what ``--solver`` names, and the gap of a certifying solver what ``--certify`` asks for.
    """
    options: dict[str, Decorator[Any]] = {}
    for cls in dict.fromkeys(type(solver) for solver in SOLVERS.values()):
        hints, described = get_type_hints(cls), _described(cls)
        for field in dataclasses.fields(cls):  # type: ignore[arg-type]
            if field.name not in ("formulation", "tol"):
                flag = "--" + field.name.replace("_", "-")
                text = f"{cls.__name__}: {described.get(field.name, field.name)}"
                kind = _click_type(hints[field.name])
                metavar = kind.name if isinstance(kind, NumberOr) else None
                options[field.name] = click.option(flag, type=kind, metavar=metavar, help=text)
    return options


OWN_OPTIONS = _own_options()

one_solver = several(
    click.option(
        "--solver",
        type=click.Choice(list(SOLVERS)),
        help="By name (listed below); by default the best for the problem.",
    ),
    *OWN_OPTIONS.values(),
)

several_solvers = several(
    click.option(
        "--solver",
        "solvers",
        type=SolverNames(),
        multiple=True,
        help="By name, between commas or repeated; by default all that can solve the problem.",
    ),
    *OWN_OPTIONS.values(),
)

SOLVER_LIST = "\b\nSolvers:\n" + "\n".join(f"  {name:<16}{text}" for name, text in DESCRIPTIONS.items())


def configured(name: str, options: dict[str, Any]) -> Solver:
    """A registered solver with the options that were given; refused if it has no such option."""
    solver = SOLVERS[name]
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if not has_option(solver, key):
            raise InvalidOptionError(f"the solver {name} has no option --{key.replace('_', '-')}.")
    return dataclasses.replace(solver, **given)  # type: ignore[type-var]


def choose(
    name: str | None,
    options: dict[str, Any],
    problem: MarkovLagrangian,
    certify: float | None,
    *,
    letters: int = 0,
    along_a_path: bool = False,
) -> Solver:
    """The solver that a command runs: the one named, or drs if only its options were given, or the default."""
    if name is None and all(value is None for value in options.values()):
        if certify is not None:
            return replace(certifier(problem), tol=certify)
        return resolve(None, problem, letters=letters, along_a_path=along_a_path)
    return resolve(configured(name or "drs", options), problem)


def has_option(solver: Solver, key: str) -> bool:
    """Whether a solver's class declares the option."""
    return key in {field.name for field in dataclasses.fields(solver)}  # type: ignore[arg-type]


# -- the runs ----------------------------------------------------------------------------------------------------------

_count = click.IntRange(min=1)

run_options = several(
    click.option("--clusters", type=_count, metavar="N", help="|Z| at the start  [default: |X|, at most 64]"),
    click.option(
        "--starts", type=_count, metavar="N", default=16, show_default=True, help="Starts; the best end wins."
    ),
    click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Of the random starts."),
    click.option("--max-iter", type=_count, default=Stopping.max_iter, show_default=True, help="Iterations a start."),
    click.option("--tol", type=float, default=Stopping.tol, show_default=True, help="Residuals that are small enough."),
    click.option("--init", type=click.Choice(KINDS), default=KINDS[0], show_default=True, help="Where starts begin."),
)

certify = click.option(
    "--certify",
    type=float,
    is_flag=False,
    flag_value=Limits.tol,
    metavar="[NATS]",
    help=f"Prove the answer globally optimal to a gap in nats  [default gap: {Limits.tol:g}]",
)

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, instead of a table.")
