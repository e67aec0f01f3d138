"""The options that several commands share: the problem, the solver, the runs, the proof.

Problems are read from the records of their families (`problem.FAMILIES`). A solver's own options, such as ``--penalty``, are read from
the fields of its class, with their types and the help of its docstring. Both are declared there, once.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable
from functools import partial
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

import click
import numpy as np

from ..certificate.certificate import Limits
from ..errors import InvalidOptionError
from ..formatting import did_you_mean
from ..information import Array
from ..options import RunOptions, parameters_of
from ..problem import FAMILIES, NOTATIONS, Family, MarkovLagrangian, ProblemFamily
from ..runtime.threads import VARIABLE, limited_to
from ..solvers.base import Solver
from ..solvers.proving import NO_PROOF, ProofOptions
from ..solvers.registry import SOLVERS
from ..solvers.shared.starts import KINDS
from .numerals import Number, ParamType, Whole, number_of

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]


def several(*options: Decorator[Any]) -> Decorator[F]:
    """One decorator for several options, which the help lists in the order given."""

    def decorate(command: F) -> F:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


def flag_of(name: str) -> str:
    """``max_cells`` as it is typed: ``--max-cells``."""
    return "--" + name.replace("_", "-")


# -- types -------------------------------------------------------------------------------------------------------------


class Numbers(ParamType[tuple[float, ...]]):
    """Numbers separated by commas."""

    name = "NUMBERS"

    def __init__(self, count: int | None = None) -> None:
        self.count = count

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[float, ...]:
        """Each part as a number."""
        if isinstance(value, tuple):
            return value
        numbers = tuple(_number(part, self, param, ctx) for part in str(value).split(","))
        if self.count is not None and len(numbers) != self.count:
            self.fail(f"expected {self.count} numbers separated by commas, found {value!r}.", param, ctx)
        return numbers


class Grid(ParamType[tuple[float, float, int]]):
    """LOW:HIGH:COUNT, a geometric grid."""

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
        if not (parts[2].strip().isdecimal() and parts[2].isascii()) or int(parts[2]) < 1:
            self.fail(f"COUNT must be a positive whole number, found {parts[2]!r}.", param, ctx)
        return low, high, int(parts[2])


class NumberOr(ParamType[float | str]):
    """A number, or one of some words."""

    def __init__(self, words: tuple[str, ...]) -> None:
        self.words = words
        self.name = "|".join((*words, "NUMBER"))

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float | str:
        """The word as it is, anything else as a number."""
        return value if value in self.words else _number(str(value), self, param, ctx)


class SolverName(ParamType[str]):
    """The name of a solver, one of those that are registered by then: ``--plugin`` may have added some."""

    name = "NAME"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The name as it is."""
        if value not in SOLVERS:
            self.fail(
                f"there is no solver {value!r}{did_you_mean(str(value), [*SOLVERS])}; the names are {', '.join(SOLVERS)}, "
                "and those of a --plugin.",
                param,
                ctx,
            )
        return str(value)


class SolverNames(ParamType[tuple[str, ...]]):
    """Names of solvers, separated by commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names, each one registered."""
        names = value if isinstance(value, tuple) else tuple(part.strip() for part in str(value).split(","))
        return tuple(SolverName().convert(name, param, ctx) for name in names)


def _number(text: str, kind: click.ParamType[Any], param: click.Parameter | None, ctx: click.Context | None) -> float:
    try:
        number = number_of(text)
    except ValueError:
        number = math.nan
    if not math.isfinite(number):
        kind.fail(f"expected a finite number, found {text!r}.", param, ctx)
    return number


# -- the problem -------------------------------------------------------------------------------------------------------

PROBLEMS: dict[str, Family] = {name.replace("_", "-"): family for name, family in FAMILIES.items()}
"""The families by the names that ``--problem`` takes."""


def _needed(family: Family) -> tuple[str, ...]:
    """The options that a problem of the family needs."""
    return ("rho",) if family.parameter is None else (family.parameter, *family.options)


def _takers(option: str) -> str:
    """The problems that need an option, in words."""
    return ", ".join(name for name, family in PROBLEMS.items() if option in _needed(family))


def _range(parameter: str) -> str:
    most = min(family.most for family in PROBLEMS.values() if family.parameter == parameter)
    return f"{parameter} > 0" if math.isinf(most) else f"0 < {parameter} <= {most:g}"


PARAMETERS = tuple(dict.fromkeys(family.parameter for family in PROBLEMS.values() if family.parameter is not None))
FIXED = tuple(dict.fromkeys(name for family in PROBLEMS.values() for name in family.options))
"""The options of a family that a sweep does not vary."""

_problem = click.option(
    "--problem",
    type=click.Choice(list(PROBLEMS)),
    default=next(iter(PROBLEMS)),
    show_default=True,
    help="What to minimise (listed below).",
)
_fixed = several(
    *(
        click.option(flag_of(name), type=Number(), metavar="NUMBER", help=f"For {_takers(name)}: 0 <= {name} <= 1.")
        for name in FIXED
    )
)

one_problem = several(
    _problem,
    *(
        click.option(flag_of(name), type=Number(), metavar="NUMBER", help=f"For {_takers(name)}: {_range(name)}.")
        for name in PARAMETERS
    ),
    _fixed,
    click.option(
        "--rho",
        type=Numbers(3),
        metavar="Z,ZX,ZY",
        help=f"For {_takers('rho')}: its three coefficients rho_z, rho_zx, rho_zy.",
    ),
)

PROBLEM_OPTIONS = (*PARAMETERS, *FIXED, "rho")

notation = click.option(
    "--notation",
    type=click.Choice(NOTATIONS),
    default=NOTATIONS[0],
    show_default=True,
    help="How a bottleneck's trade-off is written, in grids, tables, pictures and reports: gamma, or beta = 1/gamma.",
)


def _points_text(family: Family) -> str | None:
    return None if family.points is None else str(family.points)


def _defaults(text_of: Callable[[Family], str | None]) -> str:
    """The default that most problems share, and the problems with another one: ``16, funnel 20``."""
    problems: dict[str, list[str]] = {}
    for name, family in PROBLEMS.items():
        if (text := text_of(family)) is not None:
            problems.setdefault(text, []).append(name)
    common = max(problems, key=lambda text: len(problems[text]))
    others = [f"{' and '.join(names)} {text}" for text, names in problems.items() if text != common]
    return ", ".join((common, *others))


family_of_problems = several(
    _problem,
    _fixed,
    click.option(
        "--grid",
        type=Grid(),
        help=f"Values of {' or '.join(PARAMETERS)}, spaced geometrically  [default: {_defaults(_points_text)} over the joint's own range]",
    ),
    click.option("--grid-values", type=Numbers(), metavar="V,V,...", help="The values themselves, instead of --grid."),
)


def taken(options: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """The named options, taken out of a command's other options."""
    return {name: options.pop(name) for name in names}


USUAL = {"gamma": 0.2, "beta": 3.5}
"""Parameters that an error gives as an example; the help has the same ones."""


def make_problem(name: str, given: dict[str, Any]) -> MarkovLagrangian:
    """The problem of ``solve``: every option that its family needs must be given, and no other."""
    family = PROBLEMS[name]
    needed = _needed(family)
    given = {key: value for key, value in given.items() if value is not None}
    in_beta = family.parameter == "gamma" and "beta" in given
    for key in given:
        if key not in needed and not (in_beta and key == "beta"):
            raise click.UsageError(f"--problem {name} takes {' and '.join(map(flag_of, needed))}, not {flag_of(key)}.")
    for key in needed:
        if key not in given and not (in_beta and key == "gamma"):
            such = f", such as {flag_of(key)} {USUAL[key]}" if key in USUAL else ""
            raise click.UsageError(f"--problem {name} needs {flag_of(key)}{such}.")
    return MarkovLagrangian(*given["rho"]) if family.parameter is None else family(**given)


def make_family(
    name: str,
    fixed: dict[str, Any],
    grid: tuple[float, float, int] | None,
    values: tuple[float, ...] | None,
    notation: str = NOTATIONS[0],
) -> tuple[ProblemFamily, Array | None, list[MarkovLagrangian]]:
    """The family of problems of ``frontier`` and ``compare``, its grid of parameters, and the problems that can be made before any work.

    The grid is given in the notation asked for: gammas, or their inverses. It is None if it is to follow from the joint; then there is one
    problem, some member of the family.
    """
    family = PROBLEMS[name]
    if family.points is None:
        raise click.UsageError(f"--problem {name} has no parameter to sweep; use solve, or another problem.")
    if grid is not None and values is not None:
        raise click.UsageError("--grid and --grid-values both give the grid: leave one out.")
    for key, value in fixed.items():
        if (key in family.options) != (value is not None):
            raise click.UsageError(f"--problem {name} {'needs' if value is None else 'takes no'} {flag_of(key)}.")
    own = {key: fixed[key] for key in family.options}
    make = partial(family, **own)
    if grid is None and values is None:
        return make, None, [family.member(**own)]
    written = family.notation(notation)
    given = np.array(values) if grid is None else np.geomspace(*grid)
    parameters = np.array([written.of(float(value)) for value in given])
    return make, parameters, [make(float(parameter)) for parameter in parameters]


def range_text(problem: str, parameters: Array, notation: str = NOTATIONS[0]) -> str:
    """The range of a grid that follows from the joint: ``gamma from 0.00772 to 0.304``."""
    written = PROBLEMS[problem].notation(notation)
    low, high = sorted(written.of(float(end)) for end in (parameters[0], parameters[-1]))
    return f"{written.name} from {low:.3g} to {high:.3g}"


# -- the solver --------------------------------------------------------------------------------------------------------


def has_option(solver: Solver, name: str) -> bool:
    """Whether the command line has this option for a solver: a field of its class that is not marked `PYTHON_ONLY`."""
    return any(field.name == name and _has_flag(field) for field in _fields(type(solver)))


def _fields(cls: type) -> tuple[dataclasses.Field[Any], ...]:
    return dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()


def _has_flag(field: dataclasses.Field[Any]) -> bool:
    return bool(field.metadata.get("flag", True))


_registered = tuple(dict.fromkeys(type(solver) for solver in SOLVERS.values()))

CLASSES = tuple(cls for cls in _registered if not any(base in _registered for base in cls.__mro__[1:]))
"""The classes of all registered solvers; a class that is derived from another of them has the options of that one."""


def _solvers_with(name: str) -> list[str]:
    """The registered solvers that have an option."""
    return [one for one, solver in SOLVERS.items() if has_option(solver, name)]


def _described(cls: type) -> dict[str, str]:
    """Parameter -> its description, from the Parameters section of a numpy docstring, where one text may describe several."""
    found = re.findall(r"^(\w+(?:, \w+)*)\n((?: {4}.*(?:\n|$))+)", parameters_of(cls), flags=re.MULTILINE)
    texts = {names: " ".join(text.split()).replace("``", "") for names, text in found}
    return {name: text for names, text in texts.items() for name in names.split(", ")}


def _click_type(hint: Any) -> Any:
    """Literal -> a choice, float | Literal -> a number or a word, T | None -> T."""
    if get_origin(hint) is Literal:
        return click.Choice(get_args(hint))
    parts = [part for part in get_args(hint) if part is not type(None)] or [hint]
    words = tuple(word for part in parts if get_origin(part) is Literal for word in get_args(part))
    return NumberOr(words) if words else {int: Whole(min=0), float: Number()}.get(parts[0], parts[0])


METAVARS = {bool: "true|false", Whole: "N", Number: "NUMBER"}


def _options_of(cls: type, whose: str) -> dict[str, Decorator[Any]]:
    """Field -> option, for the fields of a class that have one; the help begins with ``whose`` it is."""
    hints, described = get_type_hints(cls), _described(cls)
    options: dict[str, Decorator[Any]] = {}
    for field in filter(_has_flag, _fields(cls)):
        kind = _click_type(hints[field.name])
        metavar = (
            kind.name if isinstance(kind, NumberOr) else METAVARS.get(kind if isinstance(kind, type) else type(kind))
        )
        text = described.get(field.name, "")  # python -OO leaves docstrings out
        text = f"For {whose}: {text[:1].lower()}{text[1:]}"
        options[field.name] = click.option(flag_of(field.name), type=kind, metavar=metavar, help=text)
    return options


def _named(cls: type) -> str:
    """The registered solvers of a class; if there are many, the first of them."""
    names = [name for name, solver in SOLVERS.items() if type(solver) is cls]
    return ", ".join(names if len(names) <= 3 else [*names[:3], "..."])


PROOF_LIMITS = _options_of(Limits, "--certify")
"""Options of the solvers that prove: with ``--certify`` they are the proof's, whatever solver runs before it."""

_own_options = {
    name: option
    for cls in CLASSES
    for name, option in _options_of(cls, _named(cls)).items()
    if name not in PROOF_LIMITS
}


def _in_python() -> dict[str, str]:
    found: dict[str, list[str]] = {}
    for cls in CLASSES:
        for field in _fields(cls):
            if not _has_flag(field):
                found.setdefault(flag_of(field.name), []).append(f"infoplane.{cls.__name__}({field.name}=...)")
    return {flag: " or ".join(ways) for flag, ways in found.items()}


IN_PYTHON = _in_python()
"""Flags that the command line does not have, and how the same is said in Python, for every solver that has the option."""

one_solver = several(
    click.option(
        "--solver",
        type=SolverName(),
        help="Which solver (listed below)  [default: the best one known for the problem]",
    ),
    *_own_options.values(),
)

several_solvers = several(
    click.option(
        "--solver",
        "solvers",
        type=SolverNames(),
        multiple=True,
        help="Which solvers (listed below), separated by commas or repeated  [default: all that can solve the problem]",
    ),
    *_own_options.values(),
)


LISTS = (
    "\b\nProblems:\n"
    + "\n".join(f"  {name:<26}{family.loss}" for name, family in PROBLEMS.items())
    + "\n\n\b\nSolvers:\n"
    + "\n".join(f"  {name:<16}{solver.description}" for name, solver in SOLVERS.items())
)
"""What ``--problem`` and ``--solver`` can be, for the end of a command's help."""


def configured(name: str, options: dict[str, Any]) -> Solver:
    """A registered solver with the options that were given; an option that it does not have is an error."""
    solver = SOLVERS[name]
    given = {key: value for key, value in options.items() if value is not None}
    for key in given:
        if not has_option(solver, key):
            advice = ", or --certify" if key in PROOF_LIMITS else ""
            raise InvalidOptionError(
                f"the solver {name} has no option {flag_of(key)}; it needs --solver {' or '.join(_solvers_with(key))}{advice}."
            )
    return dataclasses.replace(solver, **given) if given else solver  # type: ignore[type-var]


def choose(name: str | None, options: dict[str, Any]) -> Solver | None:
    """The solver that was asked for: by name; drs if only options were given; None, the library's default, if nothing was."""
    if name is None and all(value is None for value in options.values()):
        return None
    return configured(name or "drs", options)


# -- the runs ----------------------------------------------------------------------------------------------------------

_count = Whole(min=1)


run_options = several(
    click.option(
        "--clusters", type=_count, metavar="N", help="Most clusters |Z| of an answer  [default: found, up to |X|]"
    ),
    click.option(
        "--starts",
        type=_count,
        metavar="N",
        default=RunOptions.starts,
        show_default=True,
        help="Runs from different starts; the best one is taken.",
    ),
    click.option(
        "--seed",
        type=Whole(min=0),
        metavar="N",
        default=0,
        show_default=True,
        help="Seed of the random starts.",
    ),
    click.option(
        "--max-iter",
        type=_count,
        metavar="N",
        default=RunOptions.max_iter,
        show_default=True,
        help="Most iterations of a run.",
    ),
    click.option(
        "--tol",
        type=Number(),
        metavar="NUMBER",
        default=RunOptions.tol,
        show_default=True,
        help="A run has converged once its residuals are at most this.",
    ),
    click.option(
        "--init",
        type=click.Choice(KINDS),
        help=f"Kind of encoders that runs begin from  [default: {_defaults(lambda family: family.init)}]",
    ),
)


def make_run(options: dict[str, Any]) -> RunOptions:
    """The options of a run, taken out of a command's other options."""
    named = taken(options, ("clusters", "starts", "max_iter", "tol", "init"))
    return RunOptions(rng=options.pop("seed"), **named)


certify = several(
    click.option(
        "--certify",
        type=Number(),
        is_flag=False,
        flag_value=Limits.tol,
        metavar="[NATS]",
        help=f"Prove that no encoder has a loss more than NATS below the answer's  [NATS if left out: {Limits.tol:g}]",
    ),
    *PROOF_LIMITS.values(),
)


def make_proof(gap: float | None, options: dict[str, Any]) -> ProofOptions:
    """What ``--certify`` asks for; with it the limits are taken out of a solver's options."""
    return NO_PROOF if gap is None else ProofOptions(gap, **taken(options, tuple(PROOF_LIMITS)))


def _use_threads(context: click.Context, _parameter: click.Parameter, value: int | None) -> None:
    """For as long as the command runs."""
    if value is not None:
        context.with_resource(limited_to(value))


threads = click.option(
    "--threads",
    type=Whole(min=1),
    metavar="N",
    expose_value=False,
    callback=_use_threads,
    help=f"Threads  [default: {VARIABLE}, else the cores that this process may use; a container's quota counts]",
)

as_json = click.option("--json", "as_json", is_flag=True, help="One JSON object on stdout, instead of a table.")
