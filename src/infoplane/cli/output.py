"""What commands print: results on stdout as a table or one JSON object, everything else on stderr."""

from __future__ import annotations

import json
import os
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..datasets import paper_uniform
from ..frontier.frontier import Frontier
from ..information import bits
from ..solve import solve
from ..storage.files import to_json, write_whole
from ..task_problem import TaskLagrangian
from .csv_files import write_csv
from .printing import note as note
from .printing import say as say
from .typed_files import require_parquet

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from ..joint.joint import Joint
    from ..problem import MarkovLagrangian
    from ..sampling.denoising import Denoising
    from ..solution import Solution
    from ..solvers.base import Solver
    from .exit_codes import Interruption


def console() -> Console:
    """Stdout for tables; labels of the data are never read as markup, and a pipe gets 120 columns unless COLUMNS says how many."""
    from rich.console import Console

    shown = Console(markup=False, highlight=False, emoji=False)
    if shown.is_terminal or "COLUMNS" in os.environ:
        return shown
    return Console(markup=False, highlight=False, emoji=False, width=120)


def table(title: str, columns: Sequence[str], *, left: Sequence[str] = ()) -> Table:
    """An empty table; columns hold numbers, aligned to the right and never broken, unless named in ``left``."""
    from rich import box

    from .safe_table import SafeTable

    made = SafeTable(title=title, box=box.SIMPLE_HEAD, title_justify="left", title_style="bold", pad_edge=False)
    for column in columns:
        made.add_column(column, justify="left" if column in left else "right", no_wrap=column not in left)
    return made


def print_table(made: Table, expendable: Sequence[str] = ()) -> None:
    """Print a table; on a narrow terminal without those of the ``expendable`` columns that there is no room for, the first of them first.

    Numbers are never shortened: a column is there whole, or it is not, and a line below says which are missing.
    """
    from rich.measure import Measurement
    from rich.text import Text

    out = console()
    dropped: list[str] = []
    for name in expendable:
        if Measurement.get(out, out.options.update(max_width=10_000), made).maximum <= out.width:
            break
        made = _without(made, name)
        dropped.append(name.split("\n")[0])
    out.print(made)
    if dropped:
        out.print(Text(f"not shown for want of room: {', '.join(dropped)}; --json has all", style="dim"))


def _without(made: Table, name: str) -> Table:
    kept = [column for column in made.columns if column.header != name]
    left = [str(column.header) for column in kept if column.justify == "left"]
    narrower = table(str(made.title), [str(column.header) for column in kept], left=left)
    for index, row in enumerate(made.rows):
        narrower.add_row(*(list(column.cells)[index] for column in kept), end_section=row.end_section)
    return narrower


# -- JSON --------------------------------------------------------------------------------------------------------------


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object, and nothing else, on stdout."""
    say(json.dumps(to_json(value), allow_nan=False))


def joint_record(joint: Joint) -> dict[str, Any]:
    """The alphabets, so that rows and columns of an encoder can be read; I(X;Y), and how much of it the sample size explains."""
    expected = joint.expected_information
    return {
        "x_names": joint.x_names,
        "y_names": joint.y_names,
        "x_labels": joint.x_labels,
        "y_labels": joint.y_labels,
        "ixy_bits": bits(joint.mutual_information),
        "records": joint.records,
        "expected_ixy_bits": None if expected is None else bits(expected),
        "caution": joint.caution,
        "denoised": None if joint.denoising is None else denoising_record(joint.denoising),
    }


def denoising_record(made: Denoising) -> dict[str, Any]:
    """How the joint was denoised, and every number of groups that was tried."""
    return {
        "how": made.how,
        "groups": made.groups,
        "gain_nats": made.gain,
        "curve": made.to_frame().to_dict("records"),
    }


def problem_record(problem: MarkovLagrangian) -> dict[str, Any]:
    """Family, parameter and the three coefficients."""
    if isinstance(problem, TaskLagrangian):
        weights = {"gamma": problem.price, "keep": problem.keep, "hide": problem.hide}
        return {"family": problem.family, "parameter": problem.parameter, **weights}
    rho_z, rho_zx, rho_zy = problem.rho
    return {
        "family": problem.family,
        "parameter": problem.parameter,
        "rho_z": rho_z,
        "rho_zx": rho_zx,
        "rho_zy": rho_zy,
    }


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame of runs as records, each with the number of its run."""
    return [{str(name): value for name, value in record.items()} for record in frame.reset_index().to_dict("records")]


# -- files -------------------------------------------------------------------------------------------------------------


def check_target(path: Path | None, flag: str, endings: tuple[str, ...]) -> None:
    """A usage error, before any work, if a file of that name cannot be written."""
    if path is None:
        return
    if path.suffix.lower() not in endings:
        raise click.UsageError(f"{flag} must end in {', '.join(endings)}; found {path.name!r}.")
    if path.is_dir():
        raise click.UsageError(f"{flag} names a directory, {path}.")
    check_directory(path.parent, flag)
    if path.suffix.lower() == ".parquet":
        require_parquet()


def check_directory(directory: Path, flag: str) -> None:
    """A usage error if no file can be made in the directory, which is tried with a temporary one."""
    try:
        with tempfile.TemporaryFile(dir=directory):
            pass
    except OSError as error:
        raise click.UsageError(f"{flag}: nothing can be written to {directory}: {error.strerror}.") from error


def check_picture(path: Path | None, flag: str = "--plot") -> None:
    """As `check_target`, for pictures, which need matplotlib."""
    check_target(path, flag, (".png", ".svg", ".pdf"))
    if path is not None:
        from ..view.plot import require_matplotlib

        require_matplotlib()


def write_frontier(frontier: Frontier, path: Path) -> None:
    """A .csv or .parquet with one row per run, or an .npz with everything; an interrupted write leaves no file."""
    kind = path.suffix.lower()
    if kind == ".npz":
        frontier.save(path)
    elif kind == ".parquet":
        write_whole(path, lambda file: frontier.to_frame().to_parquet(file))
    else:
        write_csv(frontier.to_frame(), path, index=True)


def write_solution(found: Solution, out: Path | None, labels: Path | None) -> None:
    """The files of ``solve`` that were asked for, each said: the encoder, and the cluster of every x."""
    if out is not None:
        write_encoder(found, out)
        note(f"wrote {out}")
    if labels is not None:
        name = next(name for name in ("cluster", "z", "word") if name not in found.joint.x_names)
        write_table(found.labels().rename(name).reset_index(), labels)
        note(f"wrote {labels}")


def write_encoder(found: Solution, path: Path) -> None:
    """The encoder with the joint's labels, one row per x; or an .npz of it with the joint and the numbers, as `Frontier.load` reads it."""
    if path.suffix.lower() == ".npz":
        Frontier(found.joint, [found]).save(path)
    else:
        write_table(found.encoder_frame().reset_index(), path)


def write_table(frame: Any, path: Path) -> None:
    """A .csv or .parquet."""
    if path.suffix.lower() == ".parquet":
        write_whole(path, frame.to_parquet)
    else:
        write_csv(frame, path)


# -- while it runs -----------------------------------------------------------------------------------------------------


def prepare_all(solvers: Iterable[Solver | None], problem: MarkovLagrangian, interruption: Interruption) -> None:
    """`prepare` for each solver once; None stands for no solver."""
    for solver in dict.fromkeys(solvers):
        if solver is not None:
            prepare(solver, problem, interruption)


def prepare(solver: Solver, problem: MarkovLagrangian, interruption: Interruption) -> None:
    """Compile or load the kernels that a solver needs, so that the seconds of its runs do not include it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        solve(paper_uniform(), problem, solver, starts=1, max_iter=1, rng=0)
    # Within solve() Ctrl-C ends a run, which is then returned; here it ends the command.
    interruption.check()


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Warnings on stderr: the first of each category in one line, and at the end how many more there were."""
    told: dict[type[Warning], int] = {}

    def show(message: Warning | str, category: type[Warning], *_place: Any, **_more: Any) -> None:
        told[category] = told.get(category, 0) + 1
        if told[category] == 1:
            note(f"Warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", UserWarning)
        warnings.showwarning = show
        yield
    for category, count in told.items():
        if count > 1:
            note(f"Warning: {count - 1} more {'was' if count == 2 else 'were'} like it ({category.__name__}).")
