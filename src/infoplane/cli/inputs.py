"""JOINT: a built-in name, a table of samples or counts, a wide table of counts, or a matrix.

How files are opened and split into cells is in `files`, what their cells mean in `tables`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from pathlib import Path
from typing import Any, Literal

import click
import numpy as np

from .. import datasets
from ..errors import InvalidJointError
from ..formatting import did_you_mean
from ..information import bits
from ..joint.joint import Joint
from ..joint.tables import MISSING_RULES
from ..joint.task_joint import TaskJoint
from ..storage.files import read_npy
from .files import SQL, STDIN, TEXTS, TYPED, Place, kind_of, located, readable
from .flags import Number, bins, columns, flag_of, option, several, switch, taken
from .output import note
from .tables import read_columns, read_matrix, read_prior, read_wide


@dataclass(frozen=True)
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
    bins: Mapping[str, int | str] = field(default_factory=dict)
    missing: Literal["error", "category", "drop"] | None = None
    prior: str | None = None
    denoise: bool = False

    @classmethod
    def of(cls, options: dict[str, Any]) -> Source:
        """What `joint_options` say, taken out of a command's other options."""
        return cls(options.pop("joint"), **taken(options, tuple(one.name for one in fields(cls)[1:])))

    @property
    def title(self) -> str:
        """The name that tables and pictures show."""
        if self.name in datasets.REGISTRY:
            return self.name
        return "standard input" if self.name == STDIN else located(self.name).name.split(".")[0] or self.name

    def load(self, keep: tuple[str, ...] = (), hide: tuple[str, ...] = ()) -> Any:
        """The joint, or what to keep and what to hide; a usage error if options and JOINT do not go together, InvalidJointError if the
        data is bad or cannot be denoised.

        If most of I(X;Y) is what independence would show at this sample size, a line on stderr says so.
        """
        if keep or hide:
            return self._tasks(keep, hide)
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
            if given := self._given():
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

    def _given(self) -> list[str]:
        """The flags that say how a file is read."""
        named = {"--bin" if one.name == "bins" else flag_of(one.name): getattr(self, one.name) for one in fields(self)}
        about = [flag for flag in named if flag not in ("--name", "--prior", "--denoise")]
        return [flag for flag in about if named[flag] not in (None, (), {}) and named[flag] is not False]

    def _refuse(self, flags: tuple[str, ...], why: str) -> None:
        if set(flags) & set(self._given()):
            raise click.UsageError(f"{why}: leave out {', '.join(flags[:-1])} and {flags[-1]}.")

    def _matrix(self, path: Path) -> Joint:
        self._refuse(("--x", "--y", "--count", "--bin", "--missing", "--wide"), "a --matrix has no columns to name")
        if self.smoothing is not None and not self.counts:
            raise click.UsageError("--smoothing adds to counts: say --counts if the matrix holds counts.")
        with readable(path):
            table = read_npy(path) if kind_of(path) == ".npy" else read_matrix(path)
            if self.counts:
                return Joint.from_counts(table, self.smoothing or 0.0)
            try:
                return Joint.from_matrix(table)
            except InvalidJointError as error:
                advice = " On the command line: --counts." if "from_counts" in str(error) else ""
                raise InvalidJointError(f"{error}{advice}") from None

    def _tasks(self, keep: tuple[str, ...], hide: tuple[str, ...]) -> TaskJoint:
        if self.name in datasets.REGISTRY or self.y or self.matrix or self.wide or not self.x:
            raise click.UsageError(
                "--keep and --hide name columns of a table, as --x does: give a table, --x, and no --y."
            )
        if self.smoothing is not None or self.prior is not None or self.denoise:
            raise click.UsageError(
                "--keep and --hide take the records as they are: leave out --smoothing, --prior and --denoise."
            )
        place = located(self.name)
        for name in (*keep, *hide):
            if name in self.x or (name in keep and name in hide):
                raise click.UsageError(
                    f"a column is part of one of --x, --keep and --hide; found {name!r} in two of them."
                )
        with readable(place):
            frame, weight = self._columns(place, *keep, *hide)
            made = TaskJoint.from_frame(frame, self.x, keep, hide, weight, self.bins, self.missing or "error")
        if made.caution is not None:
            note(f"Warning: {made.caution}.")
        return made

    def _columns(self, place: Place, *others: str) -> tuple[Any, str | None]:
        return read_columns(place, (*self.x, *others), self.count, self.bins, self.missing)

    def _table(self, place: Place) -> Joint:
        if not self.x or not self.y:
            raise click.UsageError(f"{place.name} is a table: name its columns with --x and --y.")
        if self.wide:
            raise click.UsageError("a --wide table has its labels in the first column and row: leave out --x and --y.")
        if self.counts:
            raise click.UsageError("--counts goes with --matrix; the column of counts of a table is named by --count.")
        if self.count in (*self.x, *self.y):
            raise click.UsageError(f"the column {self.count!r} of --count cannot be part of --x or --y.")
        for name in self.bins:
            if name not in (*self.x, *self.y):
                raise click.UsageError(f"--bin {name}: the column must be one of --x or --y.")
        with readable(place):
            frame, weight = self._columns(place, *self.y)
            smoothing, missing = self.smoothing or 0.0, self.missing or "error"
            return Joint.from_frame(frame, list(self.x), list(self.y), weight, smoothing, self.bins, missing)

    def _wide(self, place: Place) -> Joint:
        """The wide table that a file without --x and --y must be."""
        self._refuse(("--count", "--bin", "--missing"), "they are about the columns that --x and --y name")
        if self.counts and not self.wide:
            raise click.UsageError(
                "--counts goes with --matrix; a table with labels in its first column and row is --wide."
            )
        with readable(place):
            try:
                return read_wide(place, self.smoothing or 0.0, least=1 if self.wide else 2)
            except InvalidJointError as error:
                if self.wide:
                    raise
                raise click.UsageError(
                    f"{place.name} is a table: name its columns with --x and --y, or say --matrix. It is no table of counts with labels "
                    f"in its first column and row (--wide) either: {error}"
                ) from None


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
