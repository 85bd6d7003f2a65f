"""A progress bar on a terminal, if rich is installed."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def progress(title: str, total: int, *, quiet: bool) -> Iterator[Callable[[int], None]]:
    """A function to call with the number of steps that are done."""
    bar = None
    if not quiet and sys.stderr is not None and sys.stderr.isatty():
        try:
            from rich.console import Console
            from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
        except ImportError:
            pass
        else:
            columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
            # What is printed meanwhile stands above the bar if it goes to the terminal, too.
            shares = sys.stdout is not None and sys.stdout.isatty()
            bar = Progress(*columns, console=Console(stderr=True), transient=True, redirect_stdout=shares)
    if bar is None:
        yield lambda _: None
        return
    with bar:
        task = bar.add_task(title, total=total)
        yield lambda steps: bar.advance(task, steps)
