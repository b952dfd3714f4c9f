"""I/O of other processes on devices, and the evidence of who they are (pure).

A process is only named by requests that were counted on the device itself. Its bytes in
/proc/PID/io are of all devices, and the excess over the workload's bytes is also the file system's:
journals, metadata, earlier dirty pages.
"""

from __future__ import annotations

from collections.abc import Collection

from iostudy.telemetry.summary import Submitter, TelemetrySummary

FOREIGN_KB = "foreign_kB"
"""The figure with the kB that all other processes read and wrote, on whichever device."""


def compute_moved_kb(summary: TelemetrySummary, devices: Collection[str]) -> float:
    """Return the kB read and written on the recorded ones of these devices."""
    figures = [summary.devices[name] for name in devices if name in summary.devices]
    return sum(each["kB_read"] + each["kB_wrtn"] for each in figures)


def compute_foreign_kb(
    summary: TelemetrySummary, devices: Collection[str], workload_kb: float
) -> float:
    """Return the kB on the devices that other processes caused, at most.

    On a device that the study made all is the workload's except counted requests of others. On
    other devices it is the excess over ``workload_kb``, at most what all other processes moved
    anywhere: kernel threads that serve a file system move data of those who use it. What arrives
    at a device below one that the study made is the workload's as well.
    """
    counted = sum(each.kB for each in find_submitters(summary, devices))
    if set(devices) <= set(summary.private_devices):
        return counted
    own_kb = max(workload_kb, compute_moved_kb(summary, summary.private_devices))
    excess = compute_moved_kb(summary, devices) - own_kb
    return max(counted, min(excess, summary.machine.get(FOREIGN_KB, excess)), 0.0)


def find_submitters(summary: TelemetrySummary, devices: Collection[str]) -> list[Submitter]:
    """Return the others that submitted I/O to the devices, the most first."""
    found = (each for each in summary.submitters if each.device in devices)
    return sorted(found, key=lambda each: each.kB, reverse=True)
