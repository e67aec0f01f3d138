"""Tables that commands write as .csv, and what a spreadsheet would make of their labels.

A cell that begins with ``=``, ``+``, ``-`` or ``@``, or with a tab or a carriage return, is a formula to a spreadsheet, whoever wrote it
into the data. Labels are written as they are, since they must come back as they were (an escaped label is another label); a line on
stderr says that there are such cells, and with ``--escape-formulas`` each has an apostrophe in front of it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from ..formatting import counted
from ..storage.files import write_whole
from .printing import note

F = TypeVar("F", bound=Callable[..., Any])

_ESCAPE = f"{__name__}.escape"

_NUMBER = r"[+-]?\d[\d.,]*(?:e[+-]?\d+)?"

_FORMULA = re.compile(
    rf"(?!{_NUMBER}(?: to (?:under |before )?{_NUMBER}| and over| and later)?\Z)[=+\-@\t\r]", re.IGNORECASE
)
"""The beginning of a formula; a negative number, or a bin such as ``-5 to 3``, is none."""


def escape_formulas(command: F) -> F:
    """The option ``--escape-formulas``, which `write_csv` asks for."""

    def keep(context: click.Context, _parameter: click.Parameter, value: bool) -> None:
        context.meta[_ESCAPE] = value

    return click.option(
        "--escape-formulas",
        is_flag=True,
        expose_value=False,
        callback=keep,
        help="In a .csv, put an apostrophe before text that a spreadsheet would run as a formula.",
    )(command)


def write_csv(frame: Any, path: Path, *, index: bool = False) -> None:
    """Write a pandas frame, whole or not at all; say so, if cells are formulas to a spreadsheet, or escape them if that was asked for."""
    table = frame.reset_index() if index else frame
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
    write_whole(path, lambda file: file.write(text))
    if found and not escape:
        note(
            f"Warning: a spreadsheet would run {counted(found, 'cell')} of {path} as a formula, since the text begins with =, +, - or @. "
            "Open it there with care, or write it with --escape-formulas, which changes those labels."
        )
    elif found:
        note(f"{path}: {counted(found, 'cell')} that a spreadsheet would run as a formula got an apostrophe in front.")
