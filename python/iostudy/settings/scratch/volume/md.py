"""Volumes of md: one array.

The name in the metadata of the members identifies the array, also after a reboot.
Source: md(4), mdadm(8), Documentation/admin-guide/md.rst.
"""

from __future__ import annotations

import select
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy.host import devices, raid_arrays
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute, read_number, write_attribute
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.settings.scratch.volume.manager import RESYNC_KB, VolumeState
from iostudy.units import KIB

_ANY_HOST = "any"
"""The host that an array belongs to: mdadm then names its node without a number."""
_RAID10 = "10"
_NOTIFYING = ("sync_action", "degraded")
"""Attributes that the kernel reports to poll(2) when they change."""


class Md:
    """Linux software RAID as a `VolumeManager`."""

    tools = ("mdadm", "udevadm")

    def create(self, name: str, layout: VolumeLayout, members: Sequence[Path]) -> None:
        """Make and start the array."""
        commands.run(
            "mdadm",
            *("--create", f"/dev/md/{name}", "--run", "--quiet", "--metadata=1.2"),
            *(f"--homehost={_ANY_HOST}", f"--name={name}"),
            *_options(layout),
            f"--raid-devices={len(members)}",
            *map(str, members),
        )
        self._limit_resync(name)

    def find(self, name: str) -> BlockDevice | None:
        disks = devices.read_disks()
        arrays = (disk for disk in disks if devices.class_folder(disk.name).joinpath("md").exists())
        return next((a for a in arrays if _name(a.path, "--detail") == name), None)

    def _limit_resync(self, name: str) -> None:
        """Let the array resync at full speed; a level without copies has no such limits."""
        device = self.find(name)
        if device is None:
            raise CommandError("the new array has no device")
        for limit in ("sync_speed_max", "sync_speed_min"):
            path = ROOT / "sys/block" / device.name / "md" / limit
            try:
                if path.exists():
                    write_attribute(path, str(RESYNC_KB))
            except OSError as error:
                raise CommandError(f"{path}: {error.strerror}") from error

    def read_layout(self, name: str, device: BlockDevice) -> tuple[str, int]:
        folder = ROOT / "sys/block" / device.name / "md"
        level = (read_attribute(folder / "level") or "").removeprefix("raid")
        return level, read_number(folder / "chunk_size") or 0

    def read_state(self, name: str, device: BlockDevice) -> VolumeState:
        array = raid_arrays.read_array(device.name)
        if array is None:
            return VolumeState(faults=("the array is gone",))
        faults = (f"{array.missing} of {array.members} members missing",) if array.missing else ()
        busy = array.action is not None and array.action.moves_data
        return VolumeState((array.progress or 0.0) if busy else None, faults)

    @contextmanager
    def watch(self, device: BlockDevice) -> Iterator[Callable[[], bool]]:
        """Poll the attributes of background work and health; a level without copies has none."""
        folder, poll = ROOT / "sys/block" / device.name / "md", select.poll()
        with ExitStack() as stack:
            for path in filter(Path.exists, (folder / name for name in _NOTIFYING)):
                attribute = stack.enter_context(path.open())
                attribute.read()  # changes from here on count
                poll.register(attribute, select.POLLPRI)
            yield lambda: bool(poll.poll(0))

    def remove(self, name: str, members: Sequence[Path]) -> bool:
        """Stop the array, and remove its metadata from the members that carry its name.

        udev assembles an array of members whose events it has not handled yet, also right after the
        stop. So it is awaited, and the metadata are removed immediately after the stop.
        """
        commands.run("udevadm", "settle")
        paths = [path for path in members if _name(path, "--examine") == name]
        array = self.find(name)
        if array is not None:
            commands.run("mdadm", "--stop", str(array.path))
        if paths:
            commands.run("mdadm", "--zero-superblock", *map(str, paths))
        return array is not None or bool(paths)


def _options(layout: VolumeLayout) -> tuple[str, ...]:
    kind = layout.properties
    options = [f"--level={kind.level}"]
    if kind.striped:
        options.append(f"--chunk={layout.stripe_size_bytes // KIB}")
    if kind.level == _RAID10:
        options.append(f"--layout={layout.placement[0]}{kind.copies}")
    if kind.copies != 1 or kind.parity:
        options.append("--bitmap=none")
        if not layout.initial_sync:
            options.append("--assume-clean")
    return tuple(options)


def _name(path: Path, action: str) -> str:
    """Return the name in the metadata of an array or a member; empty without any."""
    try:
        output = commands.run("mdadm", action, "--export", str(path))
    except CommandError:
        return ""  # mdadm ends so for a device that is no array or member
    exported = dict(line.partition("=")[::2] for line in output.splitlines())
    return exported.get("MD_NAME", "").removeprefix(f"{_ANY_HOST}:")
