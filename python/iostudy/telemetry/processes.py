"""Figures of the workload's processes, and the busiest other processes (pure).

A foreign process is only named by requests that were counted on the device itself. Its bytes in
/proc/PID/io are of all devices, and the excess over the workload's bytes is also the file system's:
journals, metadata, earlier dirty pages.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from iostudy.telemetry.samples import ProcessUsage, Samples, Values, drop_missing, total_increment
from iostudy.telemetry.summary import Figures, ForeignProcess, Submitter, TelemetrySummary
from iostudy.units import KIB

_MICROSECONDS = 1e6
_REPORTED_PROCESSES = 5


def compute_workload_figures(samples: Samples) -> Figures:
    """Compute the figures of the workload's processes; none if no process is the workload.

    %cpu and %thread (the busiest thread of each interval) are in percent of one core. read_kB,
    written_kB and cancelled_kB are in kB of 1024 bytes. threads, running and waiting (for a device)
    are mean numbers of threads. stopped_s is the time in which a thread was stopped by a signal,
    such as SIGSTOP. allowed_cores is the number of processors that it may use. Thread
    states are unknown if the threads were only scanned at the start and at the end.
    """
    columns = samples.group("workload")
    if not columns:
        return {}
    # Processes and threads are scanned independently: the columns of one may be absent.
    unknown = np.full(len(samples.seconds), np.nan)
    used = {name: total_increment(columns.get(name, unknown)) for name in _USED}
    figures = {
        "%cpu": 100 * used["cpu_us"] / (float(samples.seconds[-1]) * _MICROSECONDS),
        "%thread": _busiest_thread(samples.seconds, columns.get("busiest_thread_us", unknown)),
        "threads": _mean(samples.seconds, columns.get("threads", unknown)),
        "running": _mean(samples.seconds, columns.get("running_threads", unknown)),
        "waiting": _mean(samples.seconds, columns.get("waiting_threads", unknown)),
        "stopped_s": _stopped(samples.seconds, columns.get("stopped_threads", unknown)),
        "allowed_cores": _last(columns.get("allowed_cores", unknown)),
        "read_kB": used["read_bytes"] / KIB,
        "written_kB": used["written_bytes"] / KIB,
        "cancelled_kB": used["cancelled_bytes"] / KIB,
    }
    return {name: float(value) for name, value in figures.items() if np.isfinite(value)}


_USED = ("cpu_us", "read_bytes", "written_bytes", "cancelled_bytes")


def compute_foreign_figures(samples: Samples) -> Figures:
    """Compute the use of all other processes without kernel threads.

    ``foreign_%cpu`` is their CPU time in percent of one core, ``foreign_kB`` what they read from
    storage and wrote to it. An unknown one is absent.
    """
    columns = samples.group("foreign")
    unknown = np.full(len(samples.seconds), np.nan)
    names = ("cpu_us", "read_bytes", "written_bytes")
    cpu_us, read, written = (total_increment(columns.get(name, unknown)) for name in names)
    figures = {
        "foreign_%cpu": 100 * cpu_us / (float(samples.seconds[-1]) * _MICROSECONDS),
        FOREIGN_KB: (read + written) / KIB,
    }
    return {name: float(value) for name, value in figures.items() if np.isfinite(value)}


def find_busiest_foreign(processes: Sequence[ProcessUsage]) -> tuple[ForeignProcess, ...]:
    """Find up to five foreign processes: those with most I/O, and those with most CPU time.

    The rank of a process is its better one in the two orders.
    """
    foreign = [process for process in processes if not process.of_workload]
    moved = sorted(
        foreign, key=lambda process: process.read_bytes + process.written_bytes, reverse=True
    )
    computed = sorted(foreign, key=lambda process: process.cpu_seconds, reverse=True)
    places = {identity: index for index, identity in reversed(list(enumerate(computed)))}
    ranked = sorted(moved, key=lambda process: min(moved.index(process), places[process]))
    return tuple(
        ForeignProcess(
            process.pid,
            process.name,
            process.cpu_seconds,
            process.read_bytes / KIB,
            process.written_bytes / KIB,
        )
        for process in ranked[:_REPORTED_PROCESSES]
    )


def _busiest_thread(seconds: Values, busiest_us: Values) -> float:
    """Return the busiest thread's use of one core in percent, in all intervals but the last.

    The workload may have ended in the last one, and its threads' CPU time is lost then.
    """
    (ends,) = np.nonzero(np.isfinite(busiest_us[:-1]))
    if len(ends) < 2:
        return float("nan")
    begin, end = ends[0], ends[-1]
    ran = busiest_us[end] - busiest_us[begin]
    return float(min(100.0, 100 * ran / ((seconds[end] - seconds[begin]) * _MICROSECONDS)))


def _stopped(seconds: Values, stopped: Values) -> float:
    """Return the seconds that end with a scan of a stopped thread."""
    known = np.isfinite(stopped)
    at, values = seconds[known], stopped[known]
    return float(np.diff(at)[values[1:] > 0].sum()) if len(at) > 1 else float("nan")


def _last(gauge: Values) -> float:
    known = drop_missing(gauge)
    return float(known[-1]) if len(known) else float("nan")


def _mean(seconds: Values, gauge: Values) -> float:
    """Return the mean over all scans but the first and the last, outside the workload's run.

    Each scan has the weight of the time half way to its neighbours. NaN without further scans.
    """
    known = np.isfinite(gauge)
    at, values = seconds[known], gauge[known]
    if len(values) < 3:
        return float("nan")
    return float(np.average(values[1:-1], weights=at[2:] - at[:-2]))


FOREIGN_KB = "foreign_kB"
"""The figure with the kB that all other processes read and wrote, on whichever device."""


def compute_moved_kb(summary: TelemetrySummary, devices: Collection[str]) -> float:
    """Return the kB read and written on the recorded ones of these devices."""
    recorded = [summary.devices[name] for name in devices if name in summary.devices]
    return sum(figures["kB_read"] + figures["kB_wrtn"] for figures in recorded)


def compute_foreign_kb(
    summary: TelemetrySummary, devices: Collection[str], workload_kb: float
) -> float:
    """Return the kB on the devices that other processes caused, at most.

    On a device that the study made all is the workload's except counted requests of others. On
    other devices it is the excess over ``workload_kb``, at most what all other processes moved
    anywhere: kernel threads that serve a file system move data of those who use it. What arrives
    at a device below one that the study made is the workload's as well.
    """
    counted = sum(submitter.kB for submitter in find_submitters(summary, devices))
    if set(devices) <= set(summary.private_devices):
        return counted
    own_kb = max(workload_kb, compute_moved_kb(summary, summary.private_devices))
    excess = compute_moved_kb(summary, devices) - own_kb
    return max(counted, min(excess, summary.machine.get(FOREIGN_KB, excess)), 0.0)


def find_submitters(summary: TelemetrySummary, devices: Collection[str]) -> list[Submitter]:
    """Return the others that submitted I/O to the devices, the most first."""
    chosen = (submitter for submitter in summary.submitters if submitter.device in devices)
    return sorted(chosen, key=lambda submitter: submitter.kB, reverse=True)
