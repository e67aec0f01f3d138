"""The options that several commands share: JOINT, the problem, the solver, the runs, the proof.

Problems are read from the records of their families (`problem.FAMILIES`). A solver's own options, such as ``--penalty``, are read from
the fields of its class, with their types and the help of its docstring. Both are declared there, once.
"""

from __future__ import annotations

import dataclasses
import math
import re
import warnings
from collections.abc import Callable, Mapping
from functools import partial
from numbers import Real
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

import click
import numpy as np

from .. import datasets
from ..datasets import paper_uniform
from ..errors import InvalidOptionError
from ..formatting import did_you_mean
from ..information import Array, bits
from ..joint.joint import Joint
from ..joint.tables import MISSING_RULES
from ..problem import FAMILIES, NOTATIONS, Family, MarkovLagrangian, ProblemFamily
from ..runtime.budget import VARIABLE, Limits, limited_to
from ..solve import solve
from ..solvers.base import KINDS, Solver
from ..solvers.job import NO_PROOF, ProofOptions, RunOptions, parameters_of
from ..solvers.registry import SOLVERS
from .flags import (
    COUNT,
    Asked,
    Decorator,
    Grid,
    Number,
    NumberOr,
    Numbers,
    Parsed,
    Whole,
    Within,
    bins,
    columns,
    flag_of,
    option,
    several,
    switch,
    taken,
)
from .output import Interruption, note

# -- JOINT -------------------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Source:
    """JOINT and the options that say how to read it."""

    name: str
    x: tuple[str, ...] = ()
    y: tuple[str, ...] = ()
    count: str | None = None
    smoothing: float | None = None
    matrix: bool = False
    counts: bool = False
    wide: bool = False
    bins: Mapping[str, int | str] = dataclasses.field(default_factory=dict)
    missing: Literal["error", "category", "drop"] | None = None
    prior: str | None = None
    denoise: bool = False

    @classmethod
    def of(cls, options: dict[str, Any]) -> Source:
        """What `joint_options` say, taken out of a command's other options."""
        return cls(options.pop("joint"), **taken(options, tuple(one.name for one in dataclasses.fields(cls)[1:])))

    @property
    def title(self) -> str:
        """The name that tables and pictures show."""
        if self.name in datasets.REGISTRY:
            return self.name
        from .files import title_of

        return title_of(self.name)

    def load(self, keep: tuple[str, ...] = (), hide: tuple[str, ...] = ()) -> Any:
        """The joint, or what to keep and what to hide; a usage error if options and JOINT do not go together, InvalidJointError if the
        data is bad or cannot be denoised.

        If most of I(X;Y) is what independence would show at this sample size, a line on stderr says so.
        """
        if keep or hide:
            from .tables import read_tasks

            tasks = read_tasks(self, keep, hide)
            if tasks.caution is not None:
                note(f"Warning: {tasks.caution}.")
            return tasks
        joint = self.read()
        if joint.caution is not None:
            numbers = len(self.x) == 1 and all(isinstance(label, Real) for label in joint.x_labels)
            note(f"Warning: {joint.caution}{f', e.g. --bin {self.x[0]}:5' if numbers else ''}.")
        if self.denoise:
            before = bits(joint.mutual_information)
            joint = joint.denoised()
            note(f"denoised: {joint.denoising}; I(X;Y) {before:.4f} -> {bits(joint.mutual_information):.4f} bits")
        if self.prior is None:
            return joint
        if self.prior == CAPACITY:
            raise click.UsageError("--prior capacity is that of given systems: it goes with infoplane efficiency.")
        if self.prior == UNIFORM:
            return joint.with_prior("uniform")
        from .tables import with_prior_of

        return with_prior_of(joint, Path(self.prior))

    def read(self) -> Joint:
        """The joint as it is in its file, without a word on its sample size."""
        if self.name not in datasets.REGISTRY:
            from .tables import read_joint

            return read_joint(self)
        if given := self.given():
            raise click.UsageError(
                f"{self.name} is built in and takes no {given[0]}; for a file of that name write ./{self.name}."
            )
        return datasets.load(self.name)

    def given(self) -> list[str]:
        """The flags that say how a file is read."""
        named = {
            "--bin" if one.name == "bins" else flag_of(one.name): getattr(self, one.name)
            for one in dataclasses.fields(self)
        }
        about = [flag for flag in named if flag not in ("--name", "--prior", "--denoise")]
        return [flag for flag in about if named[flag] not in (None, (), {}) and named[flag] is not False]

    def prior_said(self, joint: Joint) -> str:
        """Which p(x) the joint has, in words."""
        if self.prior is not None and self.prior not in (UNIFORM, CAPACITY):
            return f"from {Path(self.prior).name}"
        if self.prior == CAPACITY:
            return "the mean of the systems' capacity-achieving ones"
        return "uniform" if np.ptp(joint.p_x) <= 1e-12 else "that of JOINT"


UNIFORM, CAPACITY = "uniform", "capacity"
"""Words that ``--prior`` takes, besides files."""

joint_options = several(
    click.argument("joint"),
    columns("--x", "Columns of the table that make up X, separated by commas."),
    columns("--y", "Columns of the table that make up Y, separated by commas."),
    option("--count", str, "Column with the number of samples that a row stands for; without it, one.", metavar="COL"),
    bins,
    option(
        "--missing",
        click.Choice(MISSING_RULES),
        "What to do with an empty cell: refuse it, make it the label 'missing', or leave its row out.  [default: error]",
    ),
    option("--smoothing", Number(), "Add S to every count, also to those that are 0.", metavar="S"),
    switch(
        "--wide",
        "JOINT is a table of counts with the labels of x in its first column and those of y in its first row; found out if --x and --y are "
        "left out.",
    ),
    switch("--matrix", "JOINT is the matrix p(x,y), one row per x: .csv without a header, or .npy."),
    option(
        "--prior",
        str,
        "Another p(x), with the same p(y|x): uniform; that of a table with the labels of x and their probabilities, one row each; or, for "
        "efficiency, the mean of the systems' capacity-achieving ones.  [default: that of JOINT]",
        metavar="uniform|capacity|FILE",
    ),
    switch(
        "--denoise",
        "Take what the records support in place of their table: letters pooled as far as they have few records.",
    ),
    switch("--counts", "With --matrix: it holds counts, which are normalised."),
)
"""JOINT and how to read it: `Source.of` takes them."""

task_options = several(
    columns("--keep", "Columns of the table that are to be kept, in place of --y."),
    columns("--hide", "Columns of the table that are to be hidden: Z tells little of them."),
)
"""What ``solve`` and ``frontier`` take for a problem of two targets."""


# -- names of solvers --------------------------------------------------------------------------------------------------


class SolverName(Parsed):
    """The name of a solver, one of those that are registered by then: ``--plugin`` may have added some."""

    name = "NAME"

    def convert(self, value: Any, param: Asked, ctx: Within) -> str:
        """The name as it is."""
        if value not in SOLVERS:
            known, near = ", ".join(SOLVERS), did_you_mean(str(value), [*SOLVERS])
            self.fail(
                f"there is no solver {value!r}{near}; the names are {known}, and those of a --plugin.", param, ctx
            )
        return str(value)


class SolverNames(Parsed):
    """Names of solvers, separated by commas."""

    name = "NAME,..."

    def convert(self, value: Any, param: Asked, ctx: Within) -> tuple[str, ...]:
        """The names, each one registered."""
        names = value if isinstance(value, tuple) else tuple(part.strip() for part in str(value).split(","))
        return tuple(SolverName().convert(name, param, ctx) for name in names)


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

_problem = option(
    "--problem", click.Choice(list(PROBLEMS)), "What to minimise (listed below).", default=next(iter(PROBLEMS))
)
_fixed = several(*(option(flag_of(name), Number(), f"For {_takers(name)}: 0 <= {name} <= 1.") for name in FIXED))

one_problem = several(
    _problem,
    *(option(flag_of(name), Number(), f"For {_takers(name)}: {_range(name)}.") for name in PARAMETERS),
    _fixed,
    option(
        "--rho", Numbers(3), f"For {_takers('rho')}: its three coefficients rho_z, rho_zx, rho_zy.", metavar="Z,ZX,ZY"
    ),
)

PROBLEM_OPTIONS = (*PARAMETERS, *FIXED, "rho")

notation = option(
    "--notation",
    click.Choice(NOTATIONS),
    "How a bottleneck's trade-off is written, in grids, tables, pictures and reports: gamma, or beta = 1/gamma.",
    default=NOTATIONS[0],
)


def _defaults(text_of: Callable[[Family], str | None]) -> str:
    """The default that most problems share, and the problems with another one: ``16, funnel 20``."""
    problems: dict[str, list[str]] = {}
    for name, family in PROBLEMS.items():
        if (text := text_of(family)) is not None:
            problems.setdefault(text, []).append(name)
    common = max(problems, key=lambda text: len(problems[text]))
    others = [f"{' and '.join(names)} {text}" for text, names in problems.items() if text != common]
    return ", ".join((common, *others))


_points = _defaults(lambda family: None if family.points is None else str(family.points))

family_of_problems = several(
    _problem,
    _fixed,
    option(
        "--grid",
        Grid(),
        f"Values of {' or '.join(PARAMETERS)}, spaced geometrically  [default: {_points} over the joint's own range]",
    ),
    option("--grid-values", Numbers(), "The values themselves, instead of --grid.", metavar="V,V,..."),
)


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


def check_both(keep: tuple[str, ...], hide: tuple[str, ...]) -> None:
    """A usage error if there is something to keep and nothing to hide, or the other way round."""
    if bool(keep) != bool(hide):
        raise click.UsageError("--keep and --hide go together: columns to keep, and columns to hide.")


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
    parameters = np.array([written.read(float(value)) for value in given])
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


def _options_of(cls: type, whose: str) -> dict[str, Decorator[Any]]:
    """Field -> option, for the fields of a class that have one; the help begins with ``whose`` it is."""
    hints, described = get_type_hints(cls), _described(cls)
    options: dict[str, Decorator[Any]] = {}
    for field in filter(_has_flag, _fields(cls)):
        text = described.get(field.name, "")  # python -OO leaves docstrings out
        text = f"For {whose}: {text[:1].lower()}{text[1:]}"
        options[field.name] = option(flag_of(field.name), _click_type(hints[field.name]), text)
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
    option("--solver", SolverName(), "Which solver (listed below)  [default: the best one known for the problem]"),
    *_own_options.values(),
)

several_solvers = several(
    option(
        "--solver",
        SolverNames(),
        "Which solvers (listed below), separated by commas or repeated  [default: all that can solve the problem]",
        name="solvers",
        multiple=True,
    ),
    *_own_options.values(),
)


def lists() -> str:
    """What ``--problem`` and ``--solver`` can be."""
    problems = "\n".join(f"  {name:<26}{family.loss}" for name, family in PROBLEMS.items())
    solvers = "\n".join(f"  {name:<16}{solver.description}" for name, solver in SOLVERS.items())
    return f"\b\nProblems:\n{problems}\n\n\b\nSolvers:\n{solvers}"


class Listing(click.Command):
    """A command whose help ends with these lists."""

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Written when it is asked for."""
        self.epilog = lists()
        super().format_epilog(ctx, formatter)


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

run_options = several(
    option("--clusters", COUNT, "Most clusters |Z| of an answer  [default: found, up to |X|]"),
    option("--starts", COUNT, "Runs from different starts; the best one is taken.", default=RunOptions.starts),
    option("--seed", Whole(min=0), "Seed of the random starts.", default=0),
    option("--max-iter", COUNT, "Most iterations of a run.", default=RunOptions.max_iter),
    option("--tol", Number(), "A run has converged once its residuals are at most this.", default=RunOptions.tol),
    option(
        "--init",
        click.Choice(KINDS),
        f"Kind of encoders that runs begin from  [default: {_defaults(lambda family: family.init)}]",
    ),
)


def make_run(options: dict[str, Any]) -> RunOptions:
    """The options of a run, taken out of a command's other options."""
    named = taken(options, ("clusters", "starts", "max_iter", "tol", "init"))
    return RunOptions(rng=options.pop("seed"), **named)


certify = several(
    option(
        "--certify",
        Number(),
        f"Prove that no encoder has a loss more than NATS below the answer's  [NATS if left out: {Limits.tol:g}]",
        is_flag=False,
        flag_value=Limits.tol,
        metavar="[NATS]",
    ),
    *PROOF_LIMITS.values(),
)


def proof_limits(options: dict[str, Any]) -> dict[str, Any]:
    """The limits of a proof that were given."""
    return {name: options[name] for name in PROOF_LIMITS if options[name] is not None}


def make_proof(gap: float | None, options: dict[str, Any]) -> ProofOptions:
    """What ``--certify`` asks for; with it the limits are taken out of a solver's options."""
    return NO_PROOF if gap is None else ProofOptions(gap, **taken(options, tuple(PROOF_LIMITS)))


def prepare(problem: MarkovLagrangian, interruption: Interruption, *solvers: Solver | None) -> None:
    """Compile or load the kernels that solvers need, so that the seconds of their runs do not include it; None stands for no solver."""
    for solver in dict.fromkeys(solvers):
        if solver is None:
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solve(paper_uniform(), problem, solver, starts=1, max_iter=1, rng=0)
        # Within solve() Ctrl-C ends a run, which is then returned; here it ends the command.
        interruption.check()


def _use_threads(context: click.Context, _parameter: click.Parameter, value: int | None) -> None:
    """For as long as the command runs."""
    if value is not None:
        context.with_resource(limited_to(value))


threads = option(
    "--threads",
    COUNT,
    f"Threads  [default: {VARIABLE}, else the cores that this process may use; a container's quota counts]",
    expose_value=False,
    callback=_use_threads,
)


def _load(_context: click.Context, parameter: click.Parameter, values: tuple[str, ...]) -> None:
    if values:
        from .plugins import load_plugins

        load_plugins(parameter, values)


plugin = option(
    "--plugin",
    str,
    "Solvers of your own: Python that registers them, or a subclass of infoplane.Solver. Their names are then known.",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=_load,
    metavar="MODULE|FILE.py[:NAME]",
)
