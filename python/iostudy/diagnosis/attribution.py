"""Whose data was moved: the workload's or others' (pure)."""

from __future__ import annotations

from iostudy.telemetry.summary import Figures, TelemetrySummary

OWN = 0.5
"""Share of what was moved from which on it counts as somebody's: more of it than all others'. A
choice."""


def data_kb(figures: Figures) -> float:
    """What was read and written, in kB a second: of a device, or of an NFS mount with headers."""
    return figures.get("rkB/s", 0.0) + figures.get("wkB/s", 0.0)


def moved_kb(seen: TelemetrySummary) -> float | None:
    """What the workload itself moved from and to storage, in kB; None if that is not known."""
    names = ("read_kB", "written_kB")
    if not all(name in seen.workload for name in names):
        return None
    return sum(seen.workload[name] for name in names)


def is_of_workload(seen: TelemetrySummary, mount: str) -> bool:
    """Whether so much of what was read and written over NFS there can have been the workload's.

    A process is charged with that as with all it moves (proc_pid_io(5)), but for buffered reads in
    Linux 5.18 to 6.2 without commit 9c88ea00fef0. True where it is not known what the workload
    moved, and where requests had no data: nobody is charged with those.
    """
    own = moved_kb(seen)
    return own is None or own >= OWN * data_kb(seen.nfs[mount]) * seen.seconds


def is_network_of_others(seen: TelemetrySummary) -> bool:
    """Whether so much of what an interface carried went over an NFS mount of others."""
    mounts = (mount for mount in seen.nfs if not is_of_workload(seen, mount))
    others = max((data_kb(seen.nfs[mount]) for mount in mounts), default=0.0)
    carried = (own.get("rxkB/s", 0.0) + own.get("txkB/s", 0.0) for own in seen.network.values())
    return others > 0 and others >= OWN * max(carried, default=0.0)
