"""What a command says: results on stdout, everything else on stderr, and nothing in it that a terminal would obey.

Labels, headers and names of files come from elsewhere, and may hold characters that clear a screen or rename a window. Text is
printed here, in tables (`safe_table`) and in errors (`exit_codes`), always through `formatting.shown_lines`.
"""

from __future__ import annotations

import click

from ..formatting import shown_lines


def say(text: str) -> None:
    """A line on stdout."""
    click.echo(shown_lines(text))


def note(text: str) -> None:
    """A line on stderr."""
    click.echo(shown_lines(text), err=True)
