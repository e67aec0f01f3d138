"""A bar on stderr for long sweeps; nothing when stderr is not a terminal."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .sweep import SweepProgress


@contextmanager
def bar(total: int, title: str = "sweep") -> Iterator[Callable[[SweepProgress], None]]:
    """A rich bar with rate, time left, the latest loss and the share converged."""
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    console = Console(stderr=True)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[said]}"),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, disable=not console.is_terminal) as shown:
        task = shown.add_task(title, total=total, said="")

        def tell(progress: SweepProgress) -> None:
            share = f"{progress.converged / progress.runs:.0%} converged, loss {progress.best_loss:.4f} at {progress.parameter:.3g}"
            shown.update(task, completed=progress.done, said=share)

        yield tell
