"""What commands say and write, and how they end: results on stdout, everything else on stderr, tables and pages as files, an exit code.

Labels, headers and names of files come from elsewhere, and may hold characters that clear a screen or rename a window. Text is
printed here, and in errors (`app`), always through `formatting.shown_lines`.

A cell that begins with ``=``, ``+``, ``-`` or ``@``, or with a tab or a carriage return, is a formula to a spreadsheet, whoever wrote it
into the data. Labels are written as they are, since they must come back as they were (an escaped label is another label); a line on
stderr says that there are such cells, and with ``--escape-formulas`` each has an apostrophe in front of it.

Ctrl-C, SIGTERM, as batch systems send it, and SIGHUP, a terminal that was closed, end a command in the same way; a bug shows its traceback.
"""

from __future__ import annotations

import json
import os
import re
import signal
import threading
import warnings
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import click

from ..formatting import counted, shown_lines
from ..frontier.frontier import Frontier
from ..information import bits
from ..joint.joint import Joint
from ..runtime.budget import heard_like_control_c
from ..storage.files import to_json, whole_file


def say(text: str) -> None:
    """A line on stdout."""
    click.echo(shown_lines(text))


def note(text: str) -> None:
    """A line on stderr."""
    click.echo(shown_lines(text), err=True)


def print_json(value: dict[str, Any]) -> None:
    """Print one JSON object, and nothing else, on stdout."""
    say(json.dumps(to_json(value), allow_nan=False))


def print_table(
    title: str,
    rows: Sequence[Mapping[str, str]],
    *,
    left: Sequence[str] = (),
    expendable: Sequence[str] = (),
    sections: Container[int] = (),
    headed: bool = True,
) -> None:
    """Print rows, each with its cells by column, and a line below those in ``sections``; columns not in ``left`` hold numbers.

    On a narrow terminal it lacks those of the ``expendable`` columns that do not fit, the first of them first: numbers are never
    shortened, and a line below says which columns are missing. Labels of the data are never read as markup, and a pipe gets 120 columns
    unless COLUMNS says how many.
    """
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table

    def drawn(names: list[str]) -> Table:
        made = Table(title=shown_lines(title), box=box.SIMPLE_HEAD, pad_edge=False, show_header=headed)
        made.title_justify, made.title_style = "left", "bold"
        for name in names:
            is_text = name in left
            made.add_column(shown_lines(name), justify="left" if is_text else "right", no_wrap=not is_text)
        for number, row in enumerate(rows):
            made.add_row(*(shown_lines(row[name]) for name in names), end_section=number in sections)
        return made

    out = Console(markup=False, highlight=False, emoji=False)
    if not out.is_terminal and "COLUMNS" not in os.environ:
        out.width = 120
    anything = out.options.update(max_width=10_000)
    columns = [*rows[0]] if rows else []
    expendable = [name for name in expendable if name in columns]
    for count in range(len(expendable) + 1):
        table = drawn([name for name in columns if name not in expendable[:count]])
        if Measurement.get(out, anything, table).maximum <= out.width:
            break
    out.print(table)
    if count:
        dropped = ", ".join(name.split("\n")[0] for name in expendable[:count])
        out.print(f"not shown for want of room: {dropped}; --json has all", style="dim")


def print_facts(title: str, facts: Iterable[tuple[str, str]]) -> None:
    """What each is, and its value, line by line."""
    print_table(title, [{"": name, " ": value} for name, value in facts], left=("", " "), headed=False)


@contextmanager
def one_line_warnings() -> Iterator[None]:
    """Warnings on stderr: the first of each category in one line, and at the end how many more there were."""
    told: dict[type[Warning], int] = {}

    def show(message: Warning | str, category: type[Warning], *_where: Any, **_more: Any) -> None:
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


def named(one: Any, *names: str) -> dict[str, Any]:
    """Attributes of a result for JSON: ``loss_nats`` is its loss, ``ixz_bits`` its ixz in bits, where it has one."""
    found = {name: getattr(one, name.removesuffix("_nats").removesuffix("_bits")) for name in names}
    return {
        name: bits(value) if name.endswith("_bits") and value is not None else value for name, value in found.items()
    }


def joint_record(joint: Joint) -> dict[str, Any]:
    """The alphabets, so that rows and columns of an encoder can be read; I(X;Y), and how much of it the sample size explains."""
    expected, made, denoised = joint.expected_information, joint.denoising, None
    if made is not None:
        curve = made.to_frame().to_dict("records")
        denoised = {"how": made.how, "groups": made.groups, "gain_nats": made.gain, "curve": curve}
    return {
        **{name: getattr(joint, name) for name in ("x_names", "y_names", "x_labels", "y_labels")},
        "ixy_bits": bits(joint.mutual_information),
        "records": joint.records,
        "expected_ixy_bits": None if expected is None else bits(expected),
        "caution": joint.caution,
        "denoised": denoised,
    }


def records(frame: Any) -> list[dict[str, Any]]:
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
    if path is not None:
        with whole_file(path) as file:
            file.write(page())
        note(f"wrote {path}")


def write_table(frame: Any, path: Path | None, said: str = "") -> None:
    """A .csv or .parquet, if one was asked for, whole or not at all."""
    if path is not None:
        with whole_file(path) as file:
            if path.suffix.lower() == ".parquet":
                frame.to_parquet(file)
            else:
                file.write(_checked(frame, path).to_csv(index=False).encode("utf-8", "backslashreplace"))
        note(f"wrote {path}{said}")


def write_frontier(frontier: Frontier, path: Path | None, said: str = "") -> None:
    """One row per run, or an .npz with everything."""
    if path is not None and path.suffix.lower() == ".npz":
        write(path, frontier.save, said)
    elif path is not None:
        frame = frontier.to_frame()
        write_table(frame if path.suffix.lower() == ".parquet" else frame.reset_index(), path, said)


_NUMBER = r"[+-]?\d[\d.,]*(?:e[+-]?\d+)?"

_FORMULA = re.compile(
    rf"(?!{_NUMBER}(?: to (?:under |before )?{_NUMBER}| and over| and later)?\Z)[=+\-@\t\r]", re.IGNORECASE
)
"""The beginning of a formula; a negative number, or a bin such as ``-5 to 3``, is none."""


escape_formulas = click.option(
    "--escape-formulas",
    is_flag=True,
    help="In a .csv, put an apostrophe before text that a spreadsheet would run as a formula.",
)


def _checked(table: Any, path: Path) -> Any:
    """A frame for a .csv; cells that are formulas to a spreadsheet are said, or escaped if that was asked for."""
    context = click.get_current_context(silent=True)
    escape = context is not None and context.params.get("escape_formulas", False)
    found = 0

    def checked(cell: Any) -> Any:
        nonlocal found
        if not isinstance(cell, str) or _FORMULA.match(cell) is None:
            return cell
        found += 1
        return f"'{cell}" if escape else cell

    table = table.set_axis([checked(name) for name in table.columns], axis=1)
    for column, kind in enumerate(table.dtypes):
        if kind.kind not in "biufc":
            table.isetitem(column, [checked(cell) for cell in table.iloc[:, column]])
    if found and not escape:
        note(
            f"Warning: a spreadsheet would run {counted(found, 'cell')} of {path} as a formula, since the text begins with =, +, - or @. "
            "Open it there with care, or write it with --escape-formulas, which changes those labels."
        )
    elif found:
        note(f"{path}: {counted(found, 'cell')} that a spreadsheet would run as a formula got an apostrophe in front.")
    return table


# -- how a command ends ------------------------------------------------------------------------------------------------

USAGE, BAD_DATA, NOT_CONVERGED, CANNOT_WRITE = 2, 3, 4, 5
"""Exit codes: of these, the third is of a command that has finished, but not as well as was asked."""

ONLY_CONSTANT = "Nothing but a constant release passes with this confidence."
"""Why a release under a cap may not be what was asked for."""

INTERRUPTED = 128 + signal.SIGINT
"""What a shell reports of a process that Ctrl-C has ended."""

SIGNALS = tuple(getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name))
"""What ends a command as Ctrl-C does; not every system has the last."""


class Ended(click.ClickException):
    """The end of a command without its results: one sentence, and an exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = code  # of this end; click has one for all of a class


def end(code: int, sentence: str) -> NoReturn:
    """The end of a command whose results are out, but are not all that was asked for: one sentence, and an exit code."""
    note(sentence)
    click.get_current_context().exit(code)


def end_interrupted(sentence: str) -> NoReturn:
    """The end of a command that a signal has cut short, after whatever there was to show."""
    end(interruption().code, f"Interrupted: {sentence}")


def interruption() -> Interruption:
    """That of the command under way."""
    found: Interruption = click.get_current_context().obj
    return found


class Interruption:
    """Which signal came, if any. The command then counts as interrupted, even if the library returned a converged run."""

    def __init__(self) -> None:
        self.signal: int | None = None
        self.awaits_an_answer = False

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

    def note(self, number: int, frame: FrameType | None) -> None:
        """A handler, called without a frame once the library has heard a signal, and has ended with what there was."""
        self.signal = number
        if frame is not None or not self.awaits_an_answer:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Interruption]:
    """Remember the signals that end a command, and raise KeyboardInterrupt; one that is ignored, as by ``&`` or nohup, stays ignored."""
    heard = Interruption()
    handled = SIGNALS if threading.current_thread() is threading.main_thread() else ()
    before = {
        number: handler for number in handled if (handler := signal.getsignal(number)) not in (signal.SIG_IGN, None)
    }
    for number in before:
        signal.signal(number, heard.note)
    try:
        with heard_like_control_c(SIGNALS):
            yield heard
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def at_work(*, awaits_an_answer: bool = False) -> Iterator[None]:
    """Where a command solves, with `one_line_warnings`; one that awaits an answer gets the library's best so far once a signal comes."""
    interruption().awaits_an_answer = awaits_an_answer
    try:
        with one_line_warnings():
            yield
    finally:
        interruption().awaits_an_answer = False
