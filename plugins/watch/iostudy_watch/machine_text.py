"""Short texts on processors, pressure, dirty memory and the busiest process (pure)."""

from __future__ import annotations

from iostudy.telemetry.summary import Figures
from iostudy.units import format_rounded_size
from iostudy.visible import visible
from iostudy_watch.live import BusiestProcess

_STATES = ("%user", "%nice", "%system", "%iowait", "%steal", "%idle")
_STALLED = {"io": "io_some", "cpu": "cpu_some", "memory": "memory_some"}


def format_processors(figures: Figures) -> str:
    """Shares of all CPU time: ``CPU 3% user, 1% system, ...``."""
    return _titled("CPU", {state[1:]: state for state in _STATES}, figures)


def format_pressure(figures: Figures) -> str:
    """Return the share of time with stalled tasks by resource; empty if unknown."""
    return _titled("pressure", _STALLED, figures)


def format_dirty(figures: Figures) -> str:
    """Return the dirty memory, and whether writers are throttled by it."""
    if "dirty_kB" not in figures:
        return ""
    limit = f" of {_size(figures['dirty_limit_kB'])}" if "dirty_limit_kB" in figures else ""
    writeback = f"{_size(figures['writeback_kB'])} in writeback"
    paused = figures.get("%throttled", 0.0)
    text = f"dirty {_size(figures['dirty_kB'])}{limit}, {writeback}"
    return text + (f", writers paused {_percent(paused)}" if paused else "")


def format_busiest(last: BusiestProcess | None) -> str:
    """Return the busiest process with its I/O and CPU time; empty if unknown."""
    if last is None:
        return ""
    first, seconds = last.process, last.seconds
    read, written = (_size(moved / seconds) for moved in (first.read_kB, first.written_kB))
    computed = _percent(100 * first.cpu_seconds / seconds)
    text = f"{read}/s read, {written}/s written, {computed} of a core"
    return f"busiest {visible(first.name)} ({first.pid}): {text}"


def _titled(title: str, names: dict[str, str], figures: Figures) -> str:
    """Format the known figures below a title; empty if none is known."""
    texts = (f"{_percent(figures[name])} {at}" for at, name in names.items() if name in figures)
    text = ", ".join(texts)
    return f"{title} {text}" if text else ""


def _percent(value: float) -> str:
    return f"{value:.0f}%"


def _size(kilobytes: float) -> str:
    return format_rounded_size(round(kilobytes * 1024))
