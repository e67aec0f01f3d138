"""JOINT: a built-in name, a table of samples or counts, a wide table of counts, or a matrix.

How files are opened and split into cells is in `text_files` and `typed_files`, what their cells mean in `tables`.
"""

from __future__ import annotations

import csv
from collections.abc import Callable
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, Literal, TypeVar

import click
import numpy as np

from .. import datasets
from ..errors import InvalidJointError
from ..formatting import did_you_mean
from ..information import bits
from ..joint.binning import CALENDAR
from ..joint.joint import Joint
from ..joint.labels import MISSING_RULES
from ..joint.task_joint import TaskJoint
from ..storage.npz import read_npy
from .numerals import Number
from .printing import note
from .tables import WEIGHT, any_rows, read_matrix, read_prior, read_table, read_wide, readable
from .text_files import STDIN, TEXTS, kind_of, rows_of
from .typed_files import ARROW, SQL, TYPED, Place, located, read_dataset

F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Source:
    """JOINT and the options that say how to read it."""

    name: str
    x: tuple[str, ...]
    y: tuple[str, ...]
    count: str | None
    smoothing: float | None
    matrix: bool
    counts: bool
    wide: bool = False
    bins: tuple[tuple[str, int | str], ...] = ()
    missing: Literal["error", "category", "drop"] | None = None
    prior: str | None = None
    denoise: bool = False

    @property
    def title(self) -> str:
        """The name that tables and pictures show."""
        if self.name in datasets.REGISTRY:
            return self.name
        return "standard input" if self.name == STDIN else located(self.name).name.split(".")[0] or self.name

    def load(self) -> Joint:
        """The joint; a usage error if options and JOINT do not go together, InvalidJointError if the data is bad or cannot be denoised.

        If most of I(X;Y) is what independence would show at this sample size, a line on stderr says so.
        """
        joint = self.read()
        if joint.caution is not None:
            numbers = len(self.x) == 1 and all(isinstance(label, Real) for label in joint.x_labels)
            note(f"Warning: {joint.caution}{f', e.g. --bin {self.x[0]}:5' if numbers else ''}.")
        return self._with_prior(self._denoised(joint))

    def _denoised(self, joint: Joint) -> Joint:
        if not self.denoise:
            return joint
        made = joint.denoised()
        note(
            f"denoised: {made.denoising}; I(X;Y) {bits(joint.mutual_information):.4f} -> {bits(made.mutual_information):.4f} bits"
        )
        return made

    def _with_prior(self, joint: Joint) -> Joint:
        if self.prior is None:
            return joint
        if self.prior == CAPACITY:
            raise click.UsageError("--prior capacity is that of given systems: it goes with infoplane efficiency.")
        if self.prior == UNIFORM:
            return joint.with_prior("uniform")
        path = Path(self.prior)
        with readable(path):
            return joint.with_prior(read_prior(path, len(joint.x_names)))

    def prior_said(self, joint: Joint) -> str:
        """Which p(x) the joint has, in words."""
        if self.prior is not None and self.prior not in (UNIFORM, CAPACITY):
            return f"from {Path(self.prior).name}"
        if self.prior == CAPACITY:
            return "the mean of the systems' capacity-achieving ones"
        return "uniform" if np.ptp(joint.p_x) <= 1e-12 else "that of JOINT"

    def read(self) -> Joint:
        """The same without a word on its sample size."""
        if self.name in datasets.REGISTRY:
            given = [flag for flag, value in self._flags().items() if value]
            if given:
                raise click.UsageError(
                    f"{self.name} is built in and takes no {given[0]}; for a file of that name write ./{self.name}."
                )
            return datasets.load(self.name)
        place = located(self.name)
        kinds = (*TEXTS, ".npy") if self.matrix else (*TEXTS, *TYPED)
        if kind_of(place) not in (*kinds, *(() if self.matrix else (SQL,))):
            what = "a matrix" if self.matrix else f"a built-in joint ({', '.join(datasets.names())}) or a table"
            sql = "" if self.matrix else ", a table of a database (sqlite:///file.db?table)"
            raise InvalidJointError(
                f"JOINT must be {what} ending in {', '.join(kinds[:-1])} or {kinds[-1]}, a text also with .gz{sql}, or - for standard "
                f"input; found {self.name!r}{did_you_mean(self.name, () if self.matrix else datasets.names())}."
            )
        if self.matrix:
            return self._matrix(Path(self.name))
        return self._table(place) if self.x or self.y else self._wide(place)

    def _flags(self) -> dict[str, Any]:
        return {
            "--x": self.x,
            "--y": self.y,
            "--count": self.count,
            "--smoothing": self.smoothing is not None,
            "--matrix": self.matrix,
            "--counts": self.counts,
            "--wide": self.wide,
            "--bin": self.bins,
            "--missing": self.missing,
        }

    def _refuse(self, flags: tuple[str, ...], why: str) -> None:
        if any(self._flags()[flag] for flag in flags):
            raise click.UsageError(f"{why}: leave out {', '.join(flags[:-1])} and {flags[-1]}.")

    def _matrix(self, path: Path) -> Joint:
        self._refuse(("--x", "--y", "--count", "--bin", "--missing", "--wide"), "a --matrix has no columns to name")
        if self.smoothing is not None and not self.counts:
            raise click.UsageError("--smoothing adds to counts: say --counts if the matrix holds counts.")
        with readable(path):
            table = read_npy(path) if kind_of(path) == ".npy" else read_matrix(rows_of(path))
            if self.counts:
                return Joint.from_counts(table, self.smoothing or 0.0)
            try:
                return Joint.from_matrix(table)
            except InvalidJointError as error:
                advice = " On the command line: --counts." if "from_counts" in str(error) else ""
                raise InvalidJointError(f"{error}{advice}") from None

    def load_tasks(self, keep: tuple[str, ...], hide: tuple[str, ...]) -> TaskJoint:
        """What to keep and what to hide, of a table; a line on stderr if a sample of its size says less than it seems to."""
        if self.name in datasets.REGISTRY or self.y or self.matrix or self.wide or not self.x:
            raise click.UsageError(
                "--keep and --hide name columns of a table, as --x does: give a table, --x, and no --y."
            )
        if self.smoothing is not None or self.prior is not None or self.denoise:
            raise click.UsageError(
                "--keep and --hide take the records as they are: leave out --smoothing, --prior and --denoise."
            )
        place, bins = located(self.name), dict(self.bins)
        for name in (*keep, *hide):
            if name in self.x or (name in keep and name in hide):
                raise click.UsageError(
                    f"a column is part of one of --x, --keep and --hide; found {name!r} in two of them."
                )
        with readable(place):
            frame, weight = self._frame(place, (*self.x, *keep, *hide), bins)
            made = TaskJoint.from_frame(frame, self.x, keep, hide, weight, bins, self.missing or "error")
        if made.caution is not None:
            note(f"Warning: {made.caution}.")
        return made

    def _frame(self, path: Place, columns: tuple[str, ...], bins: dict[str, int | str]) -> tuple[Any, str | None]:
        """The columns of a table as a frame, and the name of that with the counts."""
        if isinstance(path, Path) and kind_of(path) in ARROW:
            return read_dataset(path, columns, self.count, self.missing), self.count
        return read_table(path, columns, self.count, bins, self.missing), WEIGHT

    def _table(self, path: Place) -> Joint:
        if not self.x or not self.y:
            raise click.UsageError(f"{path.name} is a table: name its columns with --x and --y.")
        if self.wide:
            raise click.UsageError("a --wide table has its labels in the first column and row: leave out --x and --y.")
        if self.counts:
            raise click.UsageError("--counts goes with --matrix; the column of counts of a table is named by --count.")
        if self.count in (*self.x, *self.y):
            raise click.UsageError(f"the column {self.count!r} of --count cannot be part of --x or --y.")
        bins = dict(self.bins)
        for name in bins:
            if name not in (*self.x, *self.y):
                raise click.UsageError(f"--bin {name}: the column must be one of --x or --y.")
        with readable(path):
            frame, weight = self._frame(path, (*self.x, *self.y), bins)
            smoothing, missing = self.smoothing or 0.0, self.missing or "error"
            return Joint.from_frame(frame, list(self.x), list(self.y), weight, smoothing, bins, missing)

    def _wide(self, path: Place) -> Joint:
        """The wide table that a file without --x and --y must be."""
        self._refuse(("--count", "--bin", "--missing"), "they are about the columns that --x and --y name")
        if self.counts and not self.wide:
            raise click.UsageError(
                "--counts goes with --matrix; a table with labels in its first column and row is --wide."
            )
        with readable(path):
            try:
                return read_wide(any_rows(path), self.smoothing or 0.0, least=1 if self.wide else 2)
            except InvalidJointError as error:
                if self.wide:
                    raise
                raise click.UsageError(
                    f"{path.name} is a table: name its columns with --x and --y, or say --matrix. It is no table of counts with labels "
                    f"in its first column and row (--wide) either: {error}"
                ) from None


FIELDS = ("x", "y", "count", "smoothing", "matrix", "counts", "wide", "bins", "missing", "prior", "denoise")

UNIFORM, CAPACITY = "uniform", "capacity"
"""Words that ``--prior`` takes, besides files."""


def joint_options(command: F) -> F:
    """JOINT and its options, handed to the command as one `Source` named ``source``."""

    def collect(**values: Any) -> Any:
        source = Source(values.pop("joint"), *(values.pop(key) for key in FIELDS))
        return command(source=source, **values)

    collect.__name__, collect.__doc__ = command.__name__, command.__doc__
    collect.__dict__.update(command.__dict__)
    for option in reversed(
        (
            click.argument("joint"),
            click.option(
                "--x",
                callback=split_names,
                metavar="COLS",
                help="Columns of the table that make up X, separated by commas.",
            ),
            click.option(
                "--y",
                callback=split_names,
                metavar="COLS",
                help="Columns of the table that make up Y, separated by commas.",
            ),
            click.option(
                "--count",
                metavar="COL",
                help="Column with the number of samples that a row stands for; without it, one.",
            ),
            click.option(
                "--bin",
                "bins",
                callback=bin_rules,
                multiple=True,
                metavar="COL:N",
                help="Put the numbers or dates of a column into N bins of about equal mass, such as age:5, or dates by year, month or "
                "weekday, such as born:year; may be repeated.",
            ),
            click.option(
                "--missing",
                type=click.Choice(MISSING_RULES),
                help="What to do with an empty cell: refuse it, make it the label 'missing', or leave its row out.  [default: error]",
            ),
            click.option(
                "--smoothing", type=Number(), metavar="S", help="Add S to every count, also to those that are 0."
            ),
            click.option(
                "--wide",
                is_flag=True,
                help="JOINT is a table of counts with the labels of x in its first column and those of y in its first row; found out "
                "if --x and --y are left out.",
            ),
            click.option(
                "--matrix",
                is_flag=True,
                help="JOINT is the matrix p(x,y), one row per x: .csv without a header, or .npy.",
            ),
            click.option(
                "--prior",
                metavar="uniform|capacity|FILE",
                help="Another p(x), with the same p(y|x): uniform; that of a table with the labels of x and their probabilities, one row "
                "each; or, for efficiency, the mean of the systems' capacity-achieving ones.  [default: that of JOINT]",
            ),
            click.option(
                "--denoise",
                is_flag=True,
                help="Take what the records support in place of their table: letters pooled as far as they have few records.",
            ),
            click.option("--counts", is_flag=True, help="With --matrix: it holds counts, which are normalised."),
        )
    ):
        option(collect)
    return collect  # type: ignore[return-value]


def task_options(command: F) -> F:
    """--keep and --hide."""
    for name, what in (
        ("--hide", "are to be hidden: Z tells little of them"),
        ("--keep", "are to be kept, in place of --y"),
    ):
        command = click.option(name, callback=split_names, metavar="COLS", help=f"Columns of the table that {what}.")(
            command
        )
    return command


def split_names(_context: click.Context, parameter: click.Parameter, value: Any) -> tuple[str, ...]:
    """Names separated by commas; a name that contains a comma is put in double quotes."""
    if value is None:
        return ()
    names = tuple(name.strip() for name in next(csv.reader([value], skipinitialspace=True), []))
    if not names or not all(names):
        raise click.BadParameter(f"expected column names separated by commas, found {value!r}.", param=parameter)
    return names


def bin_rules(_context: click.Context, parameter: click.Parameter, values: Any) -> tuple[tuple[str, int | str], ...]:
    """Each COLUMN:N, or COLUMN:year and the like; a column's name may contain colons."""
    found: dict[str, int | str] = {}
    for value in values:
        name, _, rule = value.rpartition(":")
        name, rule = name.strip().strip('"'), rule.strip()
        count = int(rule) if rule.isdecimal() and rule.isascii() else 0
        if not name or not (count or rule in CALENDAR):
            raise click.BadParameter(
                f"expected COLUMN:N such as age:5, or COLUMN:{', COLUMN:'.join(CALENDAR)} for dates; found {value!r}.",
                param=parameter,
            )
        if name in found:
            raise click.BadParameter(f"the column {name!r} is binned twice.", param=parameter)
        found[name] = count or rule
    return tuple(found.items())
