"""Progress line of a running workload on stderr."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.live import Live
from rich.text import Text

from iostudy.cli.console import err
from iostudy.units import format_rounded_size, format_seconds, format_significant
from iostudy.visible import visible
from iostudy.workloads.definition import WorkloadDefinition
from iostudy.workloads.tick import Tick, continue_run

_REDRAW_SECONDS = 0.2
"""Often enough to be alive, and seldom enough to cost the workload nothing."""


@contextmanager
def show_progress(definition: WorkloadDefinition) -> Iterator[Tick]:
    """A tick that shows on a terminal what is done; off one it shows nothing."""
    if not err.is_interactive:
        yield continue_run
        return
    # Drawn by the tick and by no thread, which would take CPU time from the workload.
    with Live(Text(""), console=err, auto_refresh=False, transient=True) as live:
        yield ProgressLine(definition, lambda line: live.update(_line(line), refresh=True)).tick


def _line(text: str) -> Text:
    return Text(visible(text), no_wrap=True, overflow="ellipsis")


@dataclass
class ProgressLine:
    """Every phase starts its own counts: preparation is not measured."""

    definition: WorkloadDefinition
    show: Callable[[str], None]
    now: Callable[[], float] = time.monotonic
    _done: int = 0
    _began: float = field(init=False)
    _shown: float = field(init=False, default=-_REDRAW_SECONDS)

    def __post_init__(self) -> None:
        self._began = self.now()

    def tick(self, done: int) -> bool:
        """Show it, unless something was shown just before; never asks to stop."""
        now = self.now()
        if done < self._done:
            self._began = now
        self._done = done
        if now - self._shown >= _REDRAW_SECONDS:
            self._shown = now
            self.show(self._format_line(now - self._began))
        return True

    def _format_line(self, seconds: float) -> str:
        elapsed = f"{self.definition.name}: {format_seconds(seconds)}"
        if not self._done or not seconds:
            return elapsed
        rate = self._done / seconds
        if self.definition.ticks_bytes:
            done = format_rounded_size(self._done)
            return f"{elapsed}, {done}, {format_rounded_size(round(rate))}/s"
        return f"{elapsed}, {self._done} done, {format_significant(rate)} per second"
