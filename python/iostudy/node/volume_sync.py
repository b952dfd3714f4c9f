"""Wait for the initial resync of a volume, and watch of md's background work during a trial."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.errors import TargetError
from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT
from iostudy.host.raid_arrays import RaidArray, read_array
from iostudy.line_handler import LineHandler
from iostudy.settings.scratch.volume.volume import Volume
from iostudy.telemetry.summary import Submitter
from iostudy.units import KIB, format_percent, format_seconds
from iostudy.workloads.tick import Tick

_POLL_SECONDS, _REPORT_SECONDS = 0.5, 10.0


def wait_for_sync(volume: Volume, tick: Tick, on_progress: LineHandler) -> None:
    """Wait until the volume has no background work.

    TargetError if a member fails, or the user ends the study.
    """
    if volume.read_state().progress is None:
        return
    began = reported = time.monotonic()
    while (state := volume.read_state()).progress is not None:
        if not tick(0):
            raise _unsynced(volume, "the study was ended", "resume the study")
        now = time.monotonic()
        if now - reported >= _REPORT_SECONDS:
            reported = now
            on_progress(_describe(state.progress, now - began))
        time.sleep(_POLL_SECONDS)
    # md makes a RAID 5 with a missing member and recovers it, so only the end shows faults.
    if state.faults:
        raise _unsynced(volume, "; ".join(state.faults), "replace the disk")


def _describe(progress: float, seconds: float) -> str:
    left = f", about {format_seconds(seconds / progress - seconds)} left" if progress else ""
    return f"resync of the volume: {format_percent(progress)}{left}"


def _unsynced(volume: Volume, found: str, remedy: str) -> TargetError:
    return TargetError(
        "to wait for the resync of the volume", found=found, where=volume.name, remedy=remedy
    )


@dataclass(frozen=True)
class ResyncWatch:
    """The arrays below a trial's devices, with their state at its start."""

    arrays: Mapping[BlockDevice, RaidArray]
    root: Path = ROOT

    @classmethod
    def begin(cls, names: Sequence[str], root: Path = ROOT) -> ResyncWatch:
        """Read the state of all arrays now."""
        below = dict.fromkeys(device for name in names for device in stack.whole_stack(name, root))
        arrays = ((device, read_array(device.name, root)) for device in below)
        return cls({device: array for device, array in arrays if array is not None}, root)

    def end(self) -> tuple[Submitter, ...]:
        """Return the I/O of each member for a resync, check or rebuild since the start."""
        return tuple(
            line
            for device, before in self.arrays.items()
            if (now := read_array(device.name, self.root)) is not None
            for line in describe_sync_io(device, before, now, self.root)
        )


def describe_sync_io(
    device: BlockDevice, before: RaidArray, now: RaidArray, root: Path
) -> Iterator[Submitter]:
    """Return the kB that background work moved on each active member: the part that was done.

    Work that ended in between was done to its end. Work that began and ended in between is missed.
    """
    action = next(
        (state.action for state in (before, now) if state.action and state.action.moves_data), None
    )
    if action is None:
        return
    is_done = now.action is None or not now.action.moves_data
    part = (1.0 if is_done else now.progress or 0.0) - (before.progress or 0.0)
    active = [name for name in device.slaves if name not in now.inactive]
    for member in devices.read_present_devices(active, root):
        moved_kb = part * member.size_bytes / KIB
        yield Submitter(member.name, f"{action} of {device.name}", None, max(0.0, moved_kb))
