"""How far a sweep has come: what a callback gets; a bar in a notebook or on a terminal; lines elsewhere, if they are wanted.

And that other work goes on, whose end is not known: `working`.
"""

from __future__ import annotations

import html
import importlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Protocol

from ..formatting import counted, shown
from ..solvers.base import Progress as SolveProgress

if TYPE_CHECKING:
    from rich.console import Console


@dataclass(frozen=True)
class SweepProgress:
    """What a progress callback gets; losses in nats.

    Examples
    --------
    >>> import infoplane as ip
    >>> seen = []
    >>> _ = ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.1, 0.2], rng=0, progress=seen.append)
    >>> seen[-1].done == seen[-1].total
    True
    """

    done: int
    """Parameters with all their runs done."""
    total: int
    """Parameters in all; with ``points`` the number asked for."""
    parameter: float
    """The latest."""
    best_loss: float
    """The lowest so far of that parameter."""
    converged: int
    """Runs done that have converged."""
    runs: int
    """Runs done, those of earlier calls with the same store included."""
    total_runs: int
    """Runs in all."""
    seconds: float
    """Since this call began."""
    rate: float
    """Runs per second of this call."""

    @property
    def seconds_left(self) -> float:
        """At this rate."""
        return (self.total_runs - self.runs) / self.rate if self.rate > 0 else float("inf")


class ProgressCallback(Protocol):
    """A function of the user's, for notebooks and services."""

    def __call__(self, progress: SweepProgress, /) -> object:
        """Called in the thread of `sweep` after every parameter, and after every 100 runs in between."""


BETWEEN = 100
"""Runs between two calls of a callback, as long as no parameter is finished: a sweep of small joints makes thousands a second."""


@dataclass(frozen=True)
class Bar:
    """A callback that is called after every chunk."""

    show: Callable[[SweepProgress], None]

    def __call__(self, progress: SweepProgress, /) -> None:
        """Show how far the sweep has come."""
        self.show(progress)


LINE_SECONDS = 10.0
"""Between two lines, where there is no terminal to draw a bar on."""


@contextmanager
def bar(total: int, title: str = "sweep", lines: bool = False) -> Iterator[Bar]:
    """A bar over so many parameters, moved by runs: rate, time left, share converged, best loss of the latest parameter.

    In a notebook it is one element of the cell's output, which is replaced; on a terminal a rich bar on stderr; elsewhere nothing, or
    with ``lines`` a line on stderr every ten seconds.
    """
    title = shown(title)
    if in_notebook():
        yield Bar(_notebook_bar(title))
    elif lines and not _console().is_terminal:
        with _lines(title, f"0 of {counted(total, 'parameter')}") as note:
            yield Bar(lambda one: note(f"{one.done} of {counted(one.total, 'parameter')}, {sentence(one)}"))
    else:
        with drawn(title, total) as update:

            def show(one: SweepProgress) -> None:
                share = one.runs / max(one.total_runs, 1)
                update(completed=share * one.total, total=one.total, text=sentence(one))

            yield Bar(show)


def _console() -> Console:
    from rich.console import Console

    return Console(stderr=True)


@contextmanager
def drawn(title: str, total: float | None) -> Iterator[Callable[..., None]]:
    """What moves on a terminal: a bar up to ``total``, or a spinner if the end is not known, each with a ``text``; elsewhere nothing."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

    console = _console()
    how = (SpinnerColumn(),) if total is None else (BarColumn(), MofNCompleteColumn())
    text = TextColumn("{task.fields[text]}", markup=False)
    columns = (TextColumn("{task.description}"), *how, text, TimeElapsedColumn())
    with Progress(*columns, console=console, disable=not console.is_terminal, transient=total is None) as shown:
        yield partial(shown.update, shown.add_task(title, total=total, text=""))


@contextmanager
def working(title: str, lines: bool = False) -> Iterator[Callable[[SolveProgress], None]]:
    """A callback of `solve` for work whose end is not known: on a terminal a line on stderr with the time so far, which moves even if
    nothing is reported; elsewhere nothing, or with ``lines`` a line every ten seconds.
    """
    if lines and not _console().is_terminal:
        with _lines(title) as note:
            yield lambda one: note(runs_text(one))
    else:
        with drawn(title, None) as update:
            yield lambda one: update(text=runs_text(one))


@contextmanager
def _lines(title: str, text: str = "") -> Iterator[Callable[[str], None]]:
    """A line on stderr every ten seconds, with the time so far and the latest text, whether it is new or not; and what takes that text."""
    ended, began, latest = threading.Event(), time.monotonic(), [text]

    def speak() -> None:
        while not ended.wait(LINE_SECONDS):
            said = ", ".join([f"{duration(time.monotonic() - began)} so far", *filter(None, latest)])
            sys.stderr.write(f"{title}: {said}\n")
            sys.stderr.flush()

    def note(text: str) -> None:
        latest[0] = text

    speaker = threading.Thread(target=speak, daemon=True)
    speaker.start()
    try:
        yield note
    finally:
        ended.set()
        speaker.join()


def runs_text(progress: SolveProgress) -> str:
    """What the runs of a solver are doing."""
    return (
        f"{counted(progress.iterations, 'iteration')}, {progress.running} of {counted(progress.runs, 'run')} going on, "
        f"best loss {progress.best_loss:.6f} nats"
    )


def in_notebook() -> bool:
    """Whether this runs in a kernel that shows rich output; nothing is imported to find out."""
    shell = sys.modules.get("IPython")
    return shell is not None and getattr(shell.get_ipython(), "kernel", None) is not None


def _notebook_bar(title: str) -> Callable[[SweepProgress], None]:
    display = importlib.import_module("IPython.display")
    handle = display.display(display.HTML(bar_html(title, 0.0, "")), display_id=True)

    def show(one: SweepProgress) -> None:
        handle.update(display.HTML(bar_html(title, one.runs / max(one.total_runs, 1), sentence(one))))

    return show


def bar_html(title: str, share: float, text: str) -> str:
    """The bar of a notebook."""
    return (
        f'<div style="color:inherit">{html.escape(title)} <progress value="{share:.4f}" max="1" style="vertical-align:middle"></progress> '
        f"{share:.0%} {html.escape(text)}</div>"
    )


def sentence(progress: SweepProgress) -> str:
    """The text beside the bar."""
    return (
        f"{progress.rate:.3g} runs/s, {duration(progress.seconds_left)} left, "
        f"{progress.converged / max(progress.runs, 1):.0%} converged, "
        f"best loss {progress.best_loss:.4f} nats at {progress.parameter:.3g}"
    )


def duration(seconds: float) -> str:
    """Seconds in words: hours and minutes, or minutes and seconds."""
    if not seconds < 359_999:
        return "long"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s" if minutes else f"{rest} s"
