"""Runs as a pandas frame that shows, where it is wider than the terminal, the columns that people look for.

pandas leaves out the middle of a wide frame, and there stand the loss and the informations.
"""

from __future__ import annotations

import shutil
from collections.abc import Sequence

import pandas as pd
from pandas.api.types import is_float_dtype

from ..formatting import rounded
from ..information import bits
from ..solution import Solution

WANTED = ("parameter", "loss_nats", "isz_bits", "iuz_bits", "ixz_bits", "iyz_bits", "clusters", "status", "gap_nats")
"""Columns that a narrow terminal shows: they fit into 80 letters, the width of most."""


COMPARED = ("parameter", "solver", "loss_nats", "above_lowest_nats", "seconds", "winner")
"""The same of solvers side by side."""


class RunsFrame(pd.DataFrame):
    """A frame of runs, or of solvers that are compared, and rows of one.

    Examples
    --------
    >>> import infoplane as ip
    >>> f = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2], starts=2, rng=0)
    >>> print(f.best().drop(columns="seconds").columns[-2:].tolist())
    ['found_at', 'chance_iyz_bits']
    """

    @property
    def _constructor(self) -> type[RunsFrame]:
        return RunsFrame

    def __repr__(self) -> str:
        """As pandas has it, if nothing is left out, or if the user has set how many columns are shown."""
        whole = pd.DataFrame(self)
        width = shutil.get_terminal_size().columns
        if pd.get_option("display.max_columns") != 0 or len(whole.head(1).to_string().partition("\n")[0]) <= width:
            return repr(whole)
        wanted = COMPARED if "above_lowest_nats" in whole else WANTED
        shown = [name for name in wanted if name in whole and not whole[name].isna().all()]
        if len(shown) < 2:
            return repr(whole)
        rest = [str(name) for name in whole if name not in shown]
        rows = {"max_rows": pd.get_option("display.max_rows"), "min_rows": pd.get_option("display.min_rows")}
        forms = {name: rounded for name in shown if name.endswith("_bits") or name == "loss_nats"}
        forms |= dict.fromkeys(("gap_nats", "above_lowest_nats"), "{:.1e}".format)
        numbers = {name: form for name, form in forms.items() if name in shown and is_float_dtype(whole[name])}
        text = whole[shown].to_string(formatters=numbers, **rows)
        return f"{text}\nand {', '.join(rest)}"


def runs_frame(numbered: Sequence[tuple[int, Solution]]) -> RunsFrame:
    """One row per run, each with its number: see `Frontier.to_frame`."""
    in_gamma = any(run.problem.record.parameter == "gamma" for _, run in numbered)
    rows = [
        {
            "parameter": run.parameter,
            **({"beta": run.problem.record.notation("beta").of(run.parameter)} if in_gamma else {}),
            "start": run.start,
            "solver": run.solver,
            "loss_nats": run.loss,
            **({} if run.problem.single_target else {"isz_bits": bits(run.isz), "iuz_bits": bits(run.iuz)}),
            "ixz_bits": bits(run.ixz),
            **({"iyz_bits": bits(run.iyz)} if run.problem.single_target else {}),
            "clusters": run.clusters,
            "at_cap": run.at_cap,
            "status": run.status.name,
            "iterations": run.iterations,
            "seconds": run.seconds,
            "gap_nats": run.gap,
        }
        for _, run in numbered
    ]
    return RunsFrame(rows, index=pd.Index([row for row, _ in numbered], name="run"))
