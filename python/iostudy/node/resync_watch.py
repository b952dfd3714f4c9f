"""Background work of md arrays during a trial: I/O of their members that is nobody's files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from iostudy.host import devices, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT
from iostudy.host.raid_arrays import RaidArray, read_array
from iostudy.telemetry.summary import Submitter
from iostudy.units import KIB


@dataclass(frozen=True)
class ResyncWatch:
    """The arrays below a trial's devices, with their state at its start."""

    arrays: Mapping[BlockDevice, RaidArray]
    root: Path = ROOT

    @classmethod
    def begin(cls, names: Sequence[str], root: Path = ROOT) -> ResyncWatch:
        """Read the state of all arrays now."""
        below = dict.fromkeys(device for name in names for device in stack.whole_stack(name, root))
        found = ((device, read_array(device.name, root)) for device in below)
        return cls({device: array for device, array in found if array is not None}, root)

    def end(self) -> tuple[Submitter, ...]:
        """Return the I/O of each member for a resync, check or rebuild since the start."""
        return tuple(
            each
            for device, before in self.arrays.items()
            if (now := read_array(device.name, self.root)) is not None
            for each in describe_sync_io(device, before, now, self.root)
        )


def describe_sync_io(
    device: BlockDevice, before: RaidArray, now: RaidArray, root: Path
) -> Iterator[Submitter]:
    """Return the kB that background work moved on each active member: the part that was done.

    Work that ended in between was done to its end. Work that began and ended in between is missed.
    """
    action = next(
        (each.action for each in (before, now) if each.action and each.action.moves_data), None
    )
    if action is None:
        return
    is_done = now.action is None or not now.action.moves_data
    part = (1.0 if is_done else now.progress or 0.0) - (before.progress or 0.0)
    active = [name for name in device.slaves if name not in now.inactive]
    for member in devices.read_present_devices(active, root):
        moved_kb = part * member.size_bytes / KIB
        yield Submitter(member.name, f"{action} of {device.name}", None, max(0.0, moved_kb))
