"""What the workload's processes did, and who was busiest beside them (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iostudy.telemetry.samples import Process, Samples, Values, moved, total
from iostudy.telemetry.seen import Figures, Foreign
from iostudy.units import KIB

_MICROSECONDS = 1e6
_TOLD = 5


def workload_figures(samples: Samples) -> Figures:
    """What the workload's processes used; nothing where no process was said to be the workload.

    %cpu and %thread (the busiest thread of each interval) in percent of one core; read_kB,
    written_kB and cancelled_kB in kB of 1024 bytes; and how many threads there are, and are running
    or waiting for a device, as means over the scans.
    """
    columns = samples.group("workload")
    if not columns:
        return {}
    used = {name: _total(values) for name, values in columns.items()}
    seconds = float(samples.seconds[-1])
    per_cent = 100 / (seconds * _MICROSECONDS)
    figures = {
        "%cpu": used["cpu_us"] * per_cent,
        "%thread": np.minimum(100.0, used["busiest_thread_us"] * per_cent),
        "threads": _mean(columns["threads"]),
        "running": _mean(columns["running_threads"]),
        "waiting": _mean(columns["waiting_threads"]),
        "read_kB": used["read_bytes"] / KIB,
        "written_kB": used["written_bytes"] / KIB,
        "cancelled_kB": used["cancelled_bytes"] / KIB,
    }
    return {name: float(value) for name, value in figures.items() if np.isfinite(value)}


def foreign_figures(samples: Samples) -> Figures:
    """What all other processes used together, the kernel's own threads apart: foreign_%cpu.

    In percent of one core.
    """
    columns = samples.group("foreign")
    used = _total(columns["cpu_us"]) if columns else float("nan")
    if not np.isfinite(used):
        return {}
    return {"foreign_%cpu": 100 * used / (float(samples.seconds[-1]) * _MICROSECONDS)}


def busiest_foreign(processes: Sequence[Process]) -> tuple[Foreign, ...]:
    """Five processes at most that are not the workload's: who moved most, and who computed most.

    A process comes as early as in the one of the two orders in which it comes earlier.
    """
    foreign = [process for process in processes if not process.of_workload]
    moved = sorted(foreign, key=_bytes, reverse=True)
    computed = sorted(foreign, key=lambda process: process.cpu_seconds, reverse=True)
    places = {each: place for place, each in reversed(list(enumerate(computed)))}
    ranked = sorted(moved, key=lambda each: min(moved.index(each), places[each]))
    return tuple(
        Foreign(
            each.pid,
            each.name,
            each.cpu_seconds,
            each.read_bytes / KIB,
            each.written_bytes / KIB,
        )
        for each in ranked[:_TOLD]
    )


def busiest(processes: Sequence[Process]) -> Process | None:
    """The one that moved most bytes, of the workload or not; CPU time decides between equals.

    None if none did anything.
    """
    return max(processes, key=lambda each: (_bytes(each), each.cpu_seconds), default=None)


def _bytes(process: Process) -> int:
    return process.read_bytes + process.written_bytes


def _total(counter: Values) -> float:
    """How far it moved from the first scan to the last; most samples have none between them."""
    return total(moved(counter[np.isfinite(counter)]))


def _mean(gauge: Values) -> float:
    """Over the scans but for the first and the last, when the workload has not begun or is over."""
    known = gauge[np.isfinite(gauge)]
    if not len(known):
        return float("nan")
    return float(np.mean(known[1:-1] if len(known) > 2 else known))
