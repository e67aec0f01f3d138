"""What commands say and write, and how they end: results on stdout, everything else on stderr, tables and pages as files, an exit code.

Labels, headers and names of files come from elsewhere, and may hold characters that clear a screen or rename a window. Text is
printed here, and in errors (`app`), always through `formatting.shown_lines`.

A cell that begins with ``=``, ``+``, ``-`` or ``@``, or with a tab or a carriage return, is a formula to a spreadsheet, whoever wrote it
into the data. Labels are written as they are, since they must come back as they were (an escaped label is another label); a line on
stderr says that there are such cells, and with ``--escape-formulas`` each has an apostrophe in front of it.

Exit codes: 0 done, 2 usage, 3 bad data, 4 finished but not converged, 5 cannot write; 1 is a bug, and shows its traceback. 130 interrupted
by Ctrl-C, 143 by SIGTERM, as batch systems send it, 129 by SIGHUP, a terminal that was closed: all three end a command in the same way.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import click

from ..formatting import counted, shown_lines
from ..information import bits
from ..runtime.budget import heard_like_control_c
from ..storage.files import to_json, whole_file

if TYPE_CHECKING:
    import pandas as pd

    from ..frontier.frontier import Frontier
    from ..joint.joint import Joint


def say(text: str) -> None:
    """A line on stdout."""
    click.echo(shown_lines(text))


def note(text: str) -> None:
    """A line on stderr."""
    click.echo(shown_lines(text), err=True)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object, and nothing else, on stdout."""
    say(json.dumps(to_json(value), allow_nan=False))


@dataclass
class TextTable:
    """Columns hold numbers, aligned to the right and never broken, unless named in ``left``; those ``hidden`` are not drawn."""

    title: str
    columns: Sequence[str]
    left: Sequence[str] = ()
    hidden: Sequence[str] = ()
    headed: bool = True
    rows: list[tuple[str, ...]] = field(default_factory=list)
    ends: set[int] = field(default_factory=set)
    """Rows with a line below them."""

    def add_row(self, *cells: str, end_section: bool = False) -> None:
        """One more row."""
        self.rows.append(cells)
        if end_section:
            self.ends.add(len(self.rows) - 1)

    def drawn(self, without: Sequence[str] = ()) -> Any:
        """As rich prints it, in words that cannot command a terminal."""
        from rich import box
        from rich.table import Table

        kept = [at for at, name in enumerate(self.columns) if name not in (*self.hidden, *without)]
        style = {"box": box.SIMPLE_HEAD, "title_justify": "left", "title_style": "bold", "pad_edge": False}
        made = Table(title=shown_lines(self.title), show_header=self.headed, **style)  # type: ignore[arg-type]
        for name in (self.columns[at] for at in kept):
            justify: Any = "left" if name in self.left else "right"
            made.add_column(shown_lines(name), justify=justify, no_wrap=name not in self.left)
        for number, row in enumerate(self.rows):
            made.add_row(*(shown_lines(row[at]) for at in kept), end_section=number in self.ends)
        return made


def print_table(made: TextTable, expendable: Sequence[str] = ()) -> None:
    """Print a table; on a narrow terminal without those of the ``expendable`` columns that there is no room for, the first of them first.

    Numbers are never shortened: a column is there whole, or it is not, and a line below says which are missing. Labels of the data are
    never read as markup, and a pipe gets 120 columns unless COLUMNS says how many.
    """
    from rich.console import Console
    from rich.measure import Measurement

    out = Console(markup=False, highlight=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = 120
    anything = out.options.update(max_width=10_000)
    for count in range(len(expendable) + 1):
        table = made.drawn(expendable[:count])
        if Measurement.get(out, anything, table).maximum <= out.width:
            break
    out.print(table)
    if count:
        dropped = ", ".join(name.split("\n")[0] for name in expendable[:count])
        out.print(f"not shown for want of room: {dropped}; --json has all", style="dim")


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """What each is, and its value, line by line."""
    print_table(TextTable(title, ("", " "), left=("", " "), headed=False, rows=list(facts)))


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


def joint_record(joint: Joint) -> dict[str, Any]:
    """The alphabets, so that rows and columns of an encoder can be read; I(X;Y), and how much of it the sample size explains."""
    expected, made = joint.expected_information, joint.denoising
    return {
        "x_names": joint.x_names,
        "y_names": joint.y_names,
        "x_labels": joint.x_labels,
        "y_labels": joint.y_labels,
        "ixy_bits": bits(joint.mutual_information),
        "records": joint.records,
        "expected_ixy_bits": None if expected is None else bits(expected),
        "caution": joint.caution,
        "denoised": None
        if made is None
        else {
            "how": made.how,
            "groups": made.groups,
            "gain_nats": made.gain,
            "curve": made.to_frame().to_dict("records"),
        },
    }


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """A frame of runs as records, each with the number of its run."""
    return [{str(name): value for name, value in record.items()} for record in frame.reset_index().to_dict("records")]


# -- files -------------------------------------------------------------------------------------------------------------


def write(path: Path | None, how: Callable[[Path], Any], said: str = "") -> None:
    """A file, if one was asked for, which is said with what more there is to say."""
    if path is not None:
        how(path)
        note(f"wrote {path}{said}")


def write_page(path: Path | None, page: Callable[[], bytes]) -> None:
    """An HTML page, made if it was asked for, whole or not at all."""

    def whole(path: Path) -> None:
        with whole_file(path) as file:
            file.write(page())

    write(path, whole)


def write_table(frame: Any, path: Path | None, said: str = "") -> None:
    """A .csv or .parquet, whole or not at all."""

    def whole(path: Path) -> None:
        if path.suffix.lower() == ".parquet":
            with whole_file(path) as file:
                frame.to_parquet(file)
        else:
            write_csv(frame, path)

    write(path, whole, said)


def write_frontier(frontier: Frontier, path: Path | None, said: str = "") -> None:
    """One row per run, or an .npz with everything."""
    if path is not None and path.suffix.lower() == ".npz":
        write(path, frontier.save, said)
    elif path is not None:
        frame = frontier.to_frame()
        write_table(frame if path.suffix.lower() == ".parquet" else frame.reset_index(), path, said)


_ESCAPE = f"{__name__}.escape"

_NUMBER = r"[+-]?\d[\d.,]*(?:e[+-]?\d+)?"

_FORMULA = re.compile(
    rf"(?!{_NUMBER}(?: to (?:under |before )?{_NUMBER}| and over| and later)?\Z)[=+\-@\t\r]", re.IGNORECASE
)
"""The beginning of a formula; a negative number, or a bin such as ``-5 to 3``, is none."""


def _keep(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
    context.meta[_ESCAPE] = value


escape_formulas = click.option(
    "--escape-formulas",
    is_flag=True,
    expose_value=False,
    callback=_keep,
    help="In a .csv, put an apostrophe before text that a spreadsheet would run as a formula.",
)


def write_csv(table: Any, path: Path) -> None:
    """Write a pandas frame, whole or not at all; say so, if cells are formulas to a spreadsheet, or escape them if that was asked for."""
    found = 0

    def checked(cell: Any) -> Any:
        nonlocal found
        if not isinstance(cell, str) or _FORMULA.match(cell) is None:
            return cell
        found += 1
        return f"'{cell}" if escape else cell

    context = click.get_current_context(silent=True)
    escape = context is not None and context.meta.get(_ESCAPE, False)
    table = table.set_axis([checked(name) for name in table.columns], axis=1)
    for place, kind in enumerate(table.dtypes):
        if kind.kind not in "biufc":
            table.isetitem(place, [checked(cell) for cell in table.iloc[:, place]])
    text = table.to_csv(index=False).encode("utf-8", "backslashreplace")
    with whole_file(path) as file:
        file.write(text)
    if found and not escape:
        note(
            f"Warning: a spreadsheet would run {counted(found, 'cell')} of {path} as a formula, since the text begins with =, +, - or @. "
            "Open it there with care, or write it with --escape-formulas, which changes those labels."
        )
    elif found:
        note(f"{path}: {counted(found, 'cell')} that a spreadsheet would run as a formula got an apostrophe in front.")


NOT_CONVERGED = 4
"""Exit code of a command that has finished, but not as well as was asked."""

INTERRUPTED = 128 + signal.SIGINT
"""What a shell reports of a process that Ctrl-C has ended."""

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a command as Ctrl-C does; not every system has the last."""


class Refused(click.ClickException):
    """An option that infoplane refuses."""

    exit_code = 2


class BadData(click.ClickException):
    """Data that is not a joint."""

    exit_code = 3


class CannotWrite(click.ClickException):
    """A disk that is full, or a place where nothing may be written."""

    exit_code = 5


class Interrupted(click.ClickException):
    """Ctrl-C before there was a result, or another end of a command that can be continued."""

    def __init__(self, message: str, code: int = INTERRUPTED) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = code  # of this end; click has one for all of a class


class Interruption:
    """Which signal came, if any. The command then counts as interrupted, even if the library returned a converged run."""

    def __init__(self, awaits_an_answer: bool = False) -> None:
        self.awaits_an_answer = awaits_an_answer
        self.signal: int | None = None

    @property
    def seen(self) -> bool:
        """Whether one came."""
        return self.signal is not None

    @property
    def code(self) -> int:
        """The exit code of an interrupted command."""
        return INTERRUPTED if self.signal is None else 128 + self.signal

    def check(self) -> None:
        """Raise KeyboardInterrupt if a signal came, also if the library has handled it."""
        if self.seen:
            raise KeyboardInterrupt


_noting: list[Interruption] = []
"""Those that remember signals, the innermost last."""


def _note(number: int, frame: FrameType | None) -> None:
    """Called without a frame once the library has heard a signal, and has ended with what there was."""
    for interruption in _noting:
        interruption.signal = number
    if frame is not None or not _noting[-1].awaits_an_answer:
        raise KeyboardInterrupt


@contextmanager
def interruptible(*, awaits_an_answer: bool = False) -> Iterator[Interruption]:
    """Remember the signals that end a command, and raise KeyboardInterrupt; one that is ignored, as by ``&`` or nohup, stays ignored.

    Who awaits an answer gets the library's best so far instead, where it has one.
    """
    interruption = Interruption(awaits_an_answer)
    handlers = {number: signal.getsignal(number) for number in SIGNALS}
    before = {number: handler for number, handler in handlers.items() if handler not in (signal.SIG_IGN, None)}
    if threading.current_thread() is not threading.main_thread():
        before = {}
    _noting.append(interruption)
    for number in before:
        signal.signal(number, _note)
    try:
        with heard_like_control_c(SIGNALS):
            yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        _noting.pop()
