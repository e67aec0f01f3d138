"""Tables whose words come from data; a module of its own, since rich is slow to import."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from ..formatting import shown_lines


class SafeTable(Table):
    """A table of rich's whose title, headers and cells cannot command a terminal."""

    def __init__(self, *headers: Any, title: str, **options: Any) -> None:
        super().__init__(*headers, title=shown_lines(title), **options)

    def add_column(self, header: Any = "", *more: Any, **options: Any) -> None:
        """One more column."""
        super().add_column(_safe(header), *more, **options)

    def add_row(self, *cells: Any, **options: Any) -> None:
        """One more row."""
        super().add_row(*map(_safe, cells), **options)


def _safe(cell: Any) -> Any:
    return shown_lines(cell) if isinstance(cell, str) else cell
