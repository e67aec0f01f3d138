"""Groups of systems: the mean of each number with its standard error, and the paired difference of two groups.

    s.e. = sd / sqrt(m)  of m systems;    of pairs (a_i, b_i) the mean and the s.e. of a_i - b_i

Systems of one group are taken for independent; what each owes to its own trials is part of what they differ by.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ..errors import InvalidOptionError

if TYPE_CHECKING:
    import pandas as pd

NUMBERS = ("ixz_bits", "iyz_bits", "beta", "epsilon_bits", "gnid")
"""Columns of `efficiency` that are summed up."""


def efficiency_summary(frame: pd.DataFrame, group: str, pair: str | None = None) -> pd.DataFrame:
    """Mean and standard error of each group, and the paired difference of two; a pandas frame.

    Parameters
    ----------
    frame
        What `efficiency` returned, with a column that says to which group each system belongs.
    group
        That column.
    pair
        With two groups, the column that says which systems belong together, such as a subject that was tested twice: a row ``difference``,
        first group minus second in sorted order, over the pairs that are complete.

    Returns
    -------
    pandas.DataFrame
        One row per group: ``systems``, how many, and of ``ixz_bits``, ``iyz_bits``, ``beta``, ``epsilon_bits`` and ``gnid`` the mean and,
        with ``_se`` behind the name, its standard error (NaN of one system). A beta that is infinite is left out of its mean.

    Examples
    --------
    >>> import infoplane as ip
    >>> names = {"a1": [0, 0, 1], "a2": [0, 1, 0], "b1": [0, 1, 2], "b2": [0, 0, 0]}
    >>> frame = ip.efficiency(ip.datasets.paper_uniform(), names)
    >>> frame["group"] = frame["system"].str[0]
    >>> frame["who"] = frame["system"].str[1]
    >>> ip.efficiency_summary(frame, "group", "who")[["systems", "epsilon_bits"]].round(3).values.tolist()
    [[2.0, 0.138], [2.0, 0.0], [2.0, 0.138]]
    """
    import pandas as pd

    wanted = [group, *([] if pair is None else [pair])]
    for name in wanted:
        if name not in frame.columns:
            raise InvalidOptionError(
                f"the frame needs the column {name!r}; it has {', '.join(map(str, frame.columns))}."
            )
    rows = {name: _row(part) for name, part in frame.groupby(group)}
    if pair is not None:
        if len(rows) != 2:
            raise InvalidOptionError(f"a paired difference needs two groups in {group!r}; found {len(rows)}.")
        first, second = (part.set_index(pair) for _, part in frame.groupby(group))
        for part in (first, second):
            if part.index.duplicated().any():
                twice = part.index[part.index.duplicated()][0]
                raise InvalidOptionError(f"{pair!r} must name each system of a group once; found {twice!r} twice.")
        both = [at for at in first.index if at in second.index]
        rows["difference"] = _row(first.loc[both, [*NUMBERS]] - second.loc[both, [*NUMBERS]])
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis(group)


def _row(part: pd.DataFrame) -> dict[str, float]:
    found: dict[str, float] = {"systems": len(part)}
    for name in NUMBERS:
        values = part[name].replace([math.inf, -math.inf], math.nan).dropna()
        found[name] = float(values.mean())
        found[f"{name}_se"] = float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan
    return found
