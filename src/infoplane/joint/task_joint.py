"""What to keep and what to hide, of the same X: the chains U - X - Z and S - X - Z for one encoder p(z|x).

    P[x, (keep, u)] = p(x, u) / 2,    P[x, (hide, s)] = p(x, s) / 2

is a joint like any other, in which the two stand side by side: solvers, files and stores take it as it is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from ..errors import InvalidJointError
from ..formatting import counted
from ..information import bits
from .joint import ROLES, Immutable, Joint, check_joint, target_name
from .tables import checked_names, stacked, tabulated

if TYPE_CHECKING:
    from narwhals.typing import IntoFrame

    from .binning import BinRule


class TaskJoint(Immutable):
    """p(x, u) of what is to be kept and p(x, s) of what is to be hidden, of the same x and p(x); immutable.

    Attributes
    ----------
    keep, hide : Joint
        The joints of X with U and with S, as they were given: each keeps the order of its own letters of x.
    joint : Joint
        Both side by side, letters of x in the order of ``keep``, which is what solvers work on and a `Solution` has as its ``joint``.

    Examples
    --------
    >>> import pandas as pd, infoplane as ip
    >>> df = pd.DataFrame({"job": list("aabbcc"), "rich": [0, 1, 1, 1, 0, 0], "sex": list("fmfmfm")})
    >>> ip.TaskJoint.from_frame(df, x=["job"], keep=["rich"], hide=["sex"])
    TaskJoint(3 x, keep rich (2): I(U;X) = 0.666667 bits, hide sex (2): I(S;X) = 0 bits, 6 records)
    """

    keep: Joint
    hide: Joint
    joint: Joint

    def __init__(self, keep: Joint, hide: Joint) -> None:
        check_joint(keep)
        check_joint(hide)
        unnamed = keep.y_names == hide.y_names == ("y",)
        _check_apart(keep.x_names, () if unnamed else keep.y_names, hide.y_names)
        table, labels = stacked([(f"keep {target_name(keep)}", 0.5, keep), (f"hide {target_name(hide)}", 0.5, hide)])
        joint = Joint(table, keep.x_labels, labels, keep.x_names, ROLES)
        self.__dict__.update(keep=keep, hide=hide, joint=joint)

    @classmethod
    def from_frame(
        cls,
        df: IntoFrame,
        x: str | Sequence[str],
        keep: str | Sequence[str],
        hide: str | Sequence[str],
        weight: str | None = None,
        bins: Mapping[str, BinRule] | None = None,
        missing: Literal["error", "category", "drop"] = "error",
    ) -> Self:
        """Shares of rows, or of their weight: p(x, u) and p(x, s) of the same rows.

        Parameters
        ----------
        df, weight, bins, missing
            As in `Joint.from_frame`.
        x, keep, hide
            A column, or a list of columns that are taken together: ``hide=["sex", "race"]`` hides their product. For the average of what
            is said of each, make two joints and mix them (`Joint.mixed`).
        """
        from .frames import frame_cells

        x_names, keep_names, hide_names = (
            checked_names(names, role) for role, names in (("x", x), ("keep", keep), ("hide", hide))
        )
        _check_apart(x_names, keep_names, hide_names)
        cells: Mapping[Any, Any] = frame_cells(df, x_names, (*keep_names, *hide_names), weight, bins or {}, missing)
        made, size = [], len(keep_names)
        for names, own in ((keep_names, slice(size)), (hide_names, slice(size, None))):
            part: dict[Any, float] = {}
            for (letter, values), amount in cells.items():
                key = letter, values[own] if len(names) > 1 else values[own][0]
                part[key] = part.get(key, 0.0) + amount
            table, x_labels, y_labels = tabulated(part)
            made.append(Joint.from_counts(table, 0.0, x_labels, y_labels, x_names, names))
        return cls(*made)

    @classmethod
    def of(cls, joint: Joint) -> TaskJoint:
        """The tasks again, from the joint of a solution or a file, in which they stand side by side."""
        made = []
        for target in joint.roles():
            labels: tuple[Any, ...] = joint.y_labels
            values = [labels[column][1] for column in target.columns]
            table = joint.p_xy[:, target.columns] / target.weight
            names = target.name.split(" ", 1)[1].split(", ")
            fits = len(names) > 1 and all(isinstance(one, tuple) and len(one) == len(names) for one in values)
            made.append(Joint(table, joint.x_labels, values, joint.x_names, names if fits else ", ".join(names)))
        return cls(*made)

    @property
    def p_x(self) -> Any:
        """p(x)."""
        return self.keep.p_x

    @property
    def records(self) -> int | None:
        """Of how many records it is the table; None if one of the two is none."""
        return self.keep.records if self.keep.records == self.hide.records else None

    @cached_property
    def caution(self) -> str | None:
        """What a sample of this size says less than it seems to, of either; or that x determines what is to be hidden; else None."""
        hide, both = self.hide, {"keep": self.keep, "hide": self.hide}
        said = [f"{role}: {joint.caution}" for role, joint in both.items() if joint.caution]
        if np.count_nonzero(hide.p_y) > 1 and hide.entropy_y - hide.mutual_information < 1e-12:
            said.append(
                f"x determines {target_name(hide)}: every letter has one value of it. Leave out the columns that tell it, or group "
                "letters"
            )
        return "; ".join(said) or None

    def __repr__(self) -> str:
        keep, hide = self.keep, self.hide
        told = 0.0 if abs(hide.mutual_information) < 1e-15 else bits(hide.mutual_information)
        records = "" if self.records is None else f", {counted(self.records, 'record')}"
        return (
            f"TaskJoint({keep.shape[0]} x, keep {target_name(keep)} ({keep.shape[1]}): I(U;X) = {bits(keep.mutual_information):.6g} bits, "
            f"hide {target_name(hide)} ({hide.shape[1]}): I(S;X) = {told:.6g} bits{records})"
        )

    def __eq__(self, other: object) -> bool:
        return (self.keep, self.hide) == (other.keep, other.hide) if isinstance(other, TaskJoint) else NotImplemented

    def __hash__(self) -> int:
        return hash((self.keep, self.hide))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.keep, self.hide)


def _check_apart(x: tuple[str, ...], keep: tuple[str, ...], hide: tuple[str, ...]) -> None:
    for name in hide:
        if name in keep:
            raise InvalidJointError(f"a column is to be kept or to be hidden; found {name!r} in both.")
        if name in x:
            raise InvalidJointError(
                f"x must not tell what is to be hidden; found the column {name!r} in both. Leave it out of x."
            )
