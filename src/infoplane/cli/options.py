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
    GRID,
    Decorator,
    Parsed,
    Request,
    bins,
    columns,
    flag_of,
    number_or,
    numbers,
    option,
    several,
    switch,
)
from .output import interruption, note
from .plugins import load_plugins

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
    def of(cls, asked: Request) -> Source:
        """What `joint_options` say."""
        return cls(asked.joint, **asked.of(*(one.name for one in dataclasses.fields(cls)[1:])))

    @property
    def title(self) -> str:
        """The name that tables and pictures show."""
        if self.name in datasets.REGISTRY:
            return self.name
        from .files import title_of

        return title_of(self.name)

    def load(self, keep: tuple[str, ...] = (), hide: tuple[str, ...] = ()) -> Any:
        """The joint, or what to keep and what to hide; a line on stderr if most of I(X;Y) is what independence would show."""
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
        reading = [one.name for one in dataclasses.fields(self) if one.name not in ("name", "prior", "denoise")]
        changed = [name for name in reading if getattr(self, name) != getattr(Source(self.name), name)]
        return ["--bin" if name == "bins" else flag_of(name) for name in changed]

    def prior_said(self, joint: Joint) -> str:
        """Which p(x) the joint has, in words."""
        if self.prior == CAPACITY:
            return "the mean of the systems' capacity-achieving ones"
        if self.prior not in (None, UNIFORM):
            return f"from {Path(self.prior).name}"
        return "uniform" if np.ptp(joint.p_x) <= 1e-12 else "that of JOINT"


UNIFORM, CAPACITY = "uniform", "capacity"
"""Words that ``--prior`` takes, besides files."""

joint_options = several(
    click.argument("joint"),
    columns("--x", "Columns of the table that make up X, separated by commas."),
    columns("--y", "Columns of the table that make up Y, separated by commas."),
    option("--count COL", str, "Column with the number of samples that a row stands for; without it, one."),
    bins,
    option(
        "--missing",
        click.Choice(MISSING_RULES),
        "What to do with an empty cell: refuse it, make it the label 'missing', or leave its row out.  [default: error]",
    ),
    option("--smoothing S", float, "Add S to every count, also to those that are 0."),
    switch(
        "--wide",
        "JOINT is a table of counts with the labels of x in its first column and those of y in its first row; found out if --x and --y are "
        "left out.",
    ),
    switch("--matrix", "JOINT is the matrix p(x,y), one row per x: .csv without a header, or .npy."),
    option(
        "--prior uniform|capacity|FILE",
        str,
        "Another p(x), with the same p(y|x): uniform; that of a table with the labels of x and their probabilities, one row each; or, for "
        "efficiency, the mean of the systems' capacity-achieving ones.  [default: that of JOINT]",
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


# -- the problem -------------------------------------------------------------------------------------------------------

PROBLEMS: dict[str, Family] = {name.replace("_", "-"): family for name, family in FAMILIES.items()}
"""The families by the names that ``--problem`` takes."""


def _needed(family: Family) -> tuple[str, ...]:
    """The options that a problem of the family needs."""
    return ("rho",) if family.parameter is None else (family.parameter, *family.options)


def _for(option: str) -> str:
    """The problems that need an option, in words."""
    return f"For {', '.join(name for name, family in PROBLEMS.items() if option in _needed(family))}:"


def _range(parameter: str) -> str:
    most = min(family.most for family in PROBLEMS.values() if family.parameter == parameter)
    return f"{parameter} > 0" if math.isinf(most) else f"0 < {parameter} <= {most:g}"


PARAMETERS = tuple(dict.fromkeys(family.parameter for family in PROBLEMS.values() if family.parameter is not None))
FIXED = tuple(dict.fromkeys(name for family in PROBLEMS.values() for name in family.options))
"""The options of a family that a sweep does not vary."""

PROBLEM_OPTIONS = (*PARAMETERS, *FIXED, "rho")

_problem = option(
    "--problem", click.Choice(list(PROBLEMS)), "What to minimise (listed below).", default=next(iter(PROBLEMS))
)
_fixed = several(*(option(flag_of(name), float, f"{_for(name)} 0 <= {name} <= 1.") for name in FIXED))

one_problem = several(
    _problem,
    *(option(flag_of(name), float, f"{_for(name)} {_range(name)}.") for name in PARAMETERS),
    _fixed,
    option("--rho Z,ZX,ZY", numbers(3), f"{_for('rho')} its three coefficients rho_z, rho_zx, rho_zy."),
)

notation = option(
    "--notation",
    click.Choice(NOTATIONS),
    "How a bottleneck's trade-off is written, in grids, tables, pictures and reports: gamma, or beta = 1/gamma.",
    default=NOTATIONS[0],
)


def _defaults(text_of: Callable[[Family], Any]) -> str:
    """The default that most problems share, and the problems with another one: ``16, funnel 20``."""
    problems: dict[str, list[str]] = {}
    for name, family in PROBLEMS.items():
        if (text := text_of(family)) is not None:
            problems.setdefault(str(text), []).append(name)
    common = max(problems, key=lambda text: len(problems[text]))
    others = [f"{' and '.join(names)} {text}" for text, names in problems.items() if text != common]
    return ", ".join((common, *others))


family_of_problems = several(
    _problem,
    _fixed,
    option(
        "--grid",
        GRID,
        f"Values of {' or '.join(PARAMETERS)}, spaced geometrically  [default: {_defaults(lambda family: family.points)} over the joint's "
        "own range]",
    ),
    option("--grid-values V,V,...", numbers(), "The values themselves, instead of --grid."),
)


USUAL = {"gamma": 0.2, "beta": 3.5}
"""Parameters that an error gives as an example; the help has the same ones."""


def make_problem(asked: Request) -> MarkovLagrangian:
    """The problem of ``solve``: every option that its family needs must be given, and no other."""
    name, family = asked.problem, PROBLEMS[asked.problem]
    given = asked.given(*PROBLEM_OPTIONS)
    needed = _needed(family)
    in_beta = family.parameter == "gamma" and "beta" in given
    for key in given:
        if key not in needed and not (in_beta and key == "beta"):
            raise click.UsageError(f"--problem {name} takes {' and '.join(map(flag_of, needed))}, not {flag_of(key)}.")
    for key in needed:
        if key not in given and not (in_beta and key == "gamma"):
            such = f", such as {flag_of(key)} {USUAL[key]}" if key in USUAL else ""
            raise click.UsageError(f"--problem {name} needs {flag_of(key)}{such}.")
    return MarkovLagrangian(*given["rho"]) if family.parameter is None else family(**given)


def check_both(asked: Request) -> None:
    """A usage error if there is something to keep and nothing to hide, or the other way round."""
    if bool(asked.keep) != bool(asked.hide):
        raise click.UsageError("--keep and --hide go together: columns to keep, and columns to hide.")


def given_grid(asked: Request) -> Array | None:
    """The parameters of --grid or --grid-values, as they were written; None if neither was given."""
    if asked.grid is not None and asked.grid_values is not None:
        raise click.UsageError("--grid and --grid-values both give the grid: leave one out.")
    if asked.grid is not None:
        return np.geomspace(*asked.grid)
    return None if asked.grid_values is None else np.array(asked.grid_values)


def make_family(asked: Request) -> tuple[ProblemFamily, Array | None, list[MarkovLagrangian]]:
    """The family of problems of ``frontier`` and ``compare``, its grid of parameters, and the problems that can be made before any work.

    The grid is given in the notation asked for: gammas, or their inverses. It is None if it is to follow from the joint; then there is one
    problem, some member of the family.
    """
    name, family = asked.problem, PROBLEMS[asked.problem]
    if family.points is None:
        raise click.UsageError(f"--problem {name} has no parameter to sweep; use solve, or another problem.")
    given = given_grid(asked)
    for key, value in asked.of(*FIXED).items():
        if (key in family.options) != (value is not None):
            raise click.UsageError(f"--problem {name} {'needs' if value is None else 'takes no'} {flag_of(key)}.")
    own = asked.of(*family.options)
    make = partial(family, **own)
    if given is None:
        return make, None, [family.member(**own)]
    written = family.notation(asked.notation)
    parameters = np.array([written.read(float(value)) for value in given])
    return make, parameters, [make(float(parameter)) for parameter in parameters]


def range_text(asked: Request, parameters: Array) -> str:
    """The range of a grid that follows from the joint: ``gamma from 0.00772 to 0.304``."""
    written = PROBLEMS[asked.problem].notation(asked.notation)
    low, high = sorted(written.of(float(end)) for end in (parameters[0], parameters[-1]))
    return f"{written.name} from {low:.3g} to {high:.3g}"


# -- the solver --------------------------------------------------------------------------------------------------------


def _solver(name: str) -> str:
    """A name that is registered when it is parsed: ``--plugin`` may have added some."""
    if name not in SOLVERS:
        known, near = ", ".join(SOLVERS), did_you_mean(name, [*SOLVERS])
        raise ValueError(f"there is no solver {name!r}{near}; the names are {known}, and those of a --plugin.")
    return name


def _flags(cls: type, *, hidden: bool = False) -> list[str]:
    """The fields of a solver's class that are options of the command line, or those marked `PYTHON_ONLY`."""
    fields = dataclasses.fields(cls) if dataclasses.is_dataclass(cls) else ()
    return [field.name for field in fields if field.metadata.get("flag", True) is not hidden]


def has_option(solver: Solver, name: str) -> bool:
    """Whether the command line has this option for a solver."""
    return name in _flags(type(solver))


_registered = tuple(dict.fromkeys(type(solver) for solver in SOLVERS.values()))

CLASSES = tuple(cls for cls in _registered if not any(base in _registered for base in cls.__mro__[1:]))
"""The classes of all registered solvers; a class that is derived from another of them has the options of that one."""


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
    return number_or(words) if words else parts[0]


def _options_of(cls: type, whose: str) -> dict[str, Decorator[Any]]:
    """Field -> option, for the fields of a class that have one; the help begins with ``whose`` it is."""
    hints, described = get_type_hints(cls), _described(cls)

    def made(name: str) -> Decorator[Any]:
        text = described.get(name, "")  # python -OO leaves docstrings out
        return option(flag_of(name), _click_type(hints[name]), f"For {whose}: {text[:1].lower()}{text[1:]}")

    return {name: made(name) for name in _flags(cls)}


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


def in_python(flag: str) -> str:
    """How an option that the command line does not have is said in Python, for every solver that has it; empty if none has."""
    found = ((cls.__name__, name) for cls in CLASSES for name in _flags(cls, hidden=True) if flag_of(name) == flag)
    return " or ".join(f"infoplane.{cls}({name}=...)" for cls, name in found)


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


def solver_options(asked: Request) -> dict[str, Any]:
    """The options of solvers that were given; with ``--certify`` the limits are the proof's."""
    return asked.given(*_own_options, *(PROOF_LIMITS if asked.certify is None else ()))


def configured(name: str, given: dict[str, Any]) -> Solver:
    """A registered solver with the options that were given; an option that it does not have is an error."""
    solver = SOLVERS[name]
    for key in given:
        if not has_option(solver, key):
            others = " or ".join(one for one in SOLVERS if has_option(SOLVERS[one], key))
            advice = ", or --certify" if key in PROOF_LIMITS else ""
            raise InvalidOptionError(
                f"the solver {name} has no option {flag_of(key)}; it needs --solver {others}{advice}."
            )
    return dataclasses.replace(solver, **given) if given else solver  # type: ignore[type-var]


def choose(asked: Request) -> Solver | None:
    """The solver that was asked for: by name; drs if only options were given; None, the library's default, if nothing was."""
    given = solver_options(asked)
    return configured(asked.solver or "drs", given) if given or asked.solver is not None else None


# -- the runs ----------------------------------------------------------------------------------------------------------

run_options = several(
    option("--clusters", COUNT, "Most clusters |Z| of an answer  [default: found, up to |X|]"),
    option("--starts", COUNT, "Runs from different starts; the best one is taken.", default=RunOptions.starts),
    option("--seed", int, "Seed of the random starts.", default=0),
    option("--max-iter", COUNT, "Most iterations of a run.", default=RunOptions.max_iter),
    option("--tol", float, "A run has converged once its residuals are at most this.", default=RunOptions.tol),
    option(
        "--init",
        click.Choice(KINDS),
        f"Kind of encoders that runs begin from  [default: {_defaults(lambda family: family.init)}]",
    ),
)


def make_run(asked: Request) -> RunOptions:
    """The options of a run."""
    return RunOptions(rng=asked.seed, **asked.of("clusters", "starts", "max_iter", "tol", "init"))


certify = several(
    option(
        "--certify [NATS]",
        float,
        f"Prove that no encoder has a loss more than NATS below the answer's  [NATS if left out: {Limits.tol:g}]",
        is_flag=False,
        flag_value=Limits.tol,
    ),
    *PROOF_LIMITS.values(),
)


def proof_limits(asked: Request) -> dict[str, Any]:
    """The limits of a proof that were given."""
    return asked.given(*PROOF_LIMITS)


def make_proof(asked: Request) -> ProofOptions:
    """What ``--certify`` asks for."""
    return NO_PROOF if asked.certify is None else ProofOptions(asked.certify, **proof_limits(asked))


def prepare(problem: MarkovLagrangian, *solvers: Solver | None) -> None:
    """Compile or load the kernels that solvers need, so that the seconds of their runs do not include it; None stands for no solver."""
    for solver in dict.fromkeys(filter(None, solvers)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            solve(datasets.paper_uniform(), problem, solver, starts=1, max_iter=1, rng=0)
        # Within solve() Ctrl-C ends a run, which is then returned; here it ends the command.
        interruption().check()


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


plugin = option(
    "--plugin MODULE|FILE.py[:NAME]",
    str,
    "Solvers of your own: Python that registers them, or a subclass of infoplane.Solver. Their names are then known.",
    multiple=True,
    is_eager=True,
    expose_value=False,
    callback=load_plugins,
)

_solving = several(*_own_options.values(), plugin, run_options, certify)

one_solver = several(
    option(
        "--solver",
        Parsed("NAME", _solver),
        "Which solver (listed below)  [default: the best one known for the problem]",
    ),
    _solving,
)
"""One solver, how it runs, and what is to be proven of its answer."""

several_solvers = several(
    option(
        "--solver",
        Parsed("NAME,...", lambda text: tuple(_solver(name.strip()) for name in text.split(","))),
        "Which solvers (listed below), separated by commas or repeated  [default: all that can solve the problem]",
        name="solvers",
        multiple=True,
    ),
    _solving,
)
