"""What the workload's processes did, and who was busiest beside them (pure)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from iostudy.telemetry.samples import Process, Samples, Values, moved, total
from iostudy.telemetry.summary import Figures, ForeignProcess
from iostudy.units import KIB

_MICROSECONDS = 1e6
_TOLD = 5


def workload_figures(samples: Samples) -> Figures:
    """What the workload's processes used; nothing where no process was said to be the workload.

    %cpu and %thread (the busiest thread of each interval) in percent of one core; read_kB,
    written_kB and cancelled_kB in kB of 1024 bytes; how many threads there are, and are running or
    waiting for a device, as means over time; and allowed_cores, how many processors it may use.
    What threads did is not known where they were looked at when the recording began and when it
    ended alone.
    """
    columns = samples.group("workload")
    if not columns:
        return {}
    # Scans of processes and looks at threads have turns of their own: one may be there alone.
    unknown = np.full(len(samples.seconds), np.nan)
    used = {name: _total(columns.get(name, unknown)) for name in _USED}
    figures = {
        "%cpu": 100 * used["cpu_us"] / (float(samples.seconds[-1]) * _MICROSECONDS),
        "%thread": _busiest_thread(samples.seconds, columns.get("busiest_thread_us", unknown)),
        "threads": _mean(samples.seconds, columns.get("threads", unknown)),
        "running": _mean(samples.seconds, columns.get("running_threads", unknown)),
        "waiting": _mean(samples.seconds, columns.get("waiting_threads", unknown)),
        "allowed_cores": _last(columns.get("allowed_cores", unknown)),
        "read_kB": used["read_bytes"] / KIB,
        "written_kB": used["written_bytes"] / KIB,
        "cancelled_kB": used["cancelled_bytes"] / KIB,
    }
    return {name: float(value) for name, value in figures.items() if np.isfinite(value)}


_USED = ("cpu_us", "read_bytes", "written_bytes", "cancelled_bytes")


def foreign_figures(samples: Samples) -> Figures:
    """What all other processes used together, the kernel's own threads apart: foreign_%cpu.

    In percent of one core.
    """
    columns = samples.group("foreign")
    used = _total(columns["cpu_us"]) if columns else float("nan")
    if not np.isfinite(used):
        return {}
    return {"foreign_%cpu": 100 * used / (float(samples.seconds[-1]) * _MICROSECONDS)}


def busiest_foreign(processes: Sequence[Process]) -> tuple[ForeignProcess, ...]:
    """Five processes at most that are not the workload's: who moved most, and who computed most.

    A process comes as early as in the one of the two orders in which it comes earlier.
    """
    foreign = [process for process in processes if not process.of_workload]
    moved = sorted(foreign, key=_bytes, reverse=True)
    computed = sorted(foreign, key=lambda process: process.cpu_seconds, reverse=True)
    places = {each: place for place, each in reversed(list(enumerate(computed)))}
    ranked = sorted(moved, key=lambda each: min(moved.index(each), places[each]))
    return tuple(
        ForeignProcess(
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


def _busiest_thread(seconds: Values, busiest_us: Values) -> float:
    """How busy the busiest thread was in all intervals but the last, in percent of one core.

    At its end the workload may be over, and its threads gone with what they did in it.
    """
    (ends,) = np.nonzero(np.isfinite(busiest_us[:-1]))
    if len(ends) < 2:
        return float("nan")
    begin, end = ends[0], ends[-1]
    ran = busiest_us[end] - busiest_us[begin]
    return float(min(100.0, 100 * ran / ((seconds[end] - seconds[begin]) * _MICROSECONDS)))


def _last(gauge: Values) -> float:
    known = gauge[np.isfinite(gauge)]
    return float(known[-1]) if len(known) else float("nan")


def _mean(seconds: Values, gauge: Values) -> float:
    """Over the looks but for the first and the last, when the workload has not begun or is over.

    Each stands for the time half way to those beside it. NaN if there are no others.
    """
    known = np.isfinite(gauge)
    at, values = seconds[known], gauge[known]
    if len(values) < 3:
        return float("nan")
    return float(np.average(values[1:-1], weights=at[2:] - at[:-2]))
