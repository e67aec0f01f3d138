"""What a command says: results on stdout, everything else on stderr, and nothing in it that a terminal would obey.

Labels, headers and names of files come from elsewhere, and may hold characters that clear a screen or rename a window. Text is
printed here, and in errors (`app`), always through `formatting.shown_lines`.
"""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import click

from ..formatting import shown_lines
from ..storage.files import to_json


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
    """Columns hold numbers, aligned to the right and never broken, unless named in ``left``."""

    title: str
    columns: Sequence[str]
    left: Sequence[str] = ()
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

        kept = [at for at, name in enumerate(self.columns) if name not in without]
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
