"""Storage topology of the host: all block devices, their stacking and their mounts.

The model is made of values alone and can be taken apart, cut down to what concerns one device, and
drawn without touching the host again. `read_topology` makes one from sysfs and mountinfo, also from
a recorded tree.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from iostudy.host import device_kinds, devices, mounts, stack, volumes
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT
from iostudy.host.mounts import Mount
from iostudy.host.raid_arrays import RaidArray, read_array

_NETWORK = re.compile(r"nfs4?|cifs|smb3|ceph|9p|lustre|gpfs|beegfs|afs|virtiofs|fuse(\..*)?")
_APART = ("overlay", "zfs")


@dataclass(frozen=True)
class DeviceNode:
    """One block device in the stack.

    ``names`` are its other names; ``below`` the kernel names of the devices it lies on, ``lies_in``
    the id of the mount that holds a loop device's backing file. ``filesystem`` is the type of what
    it holds, empty where neither the kernel nor udev says.
    """

    device: BlockDevice
    names: tuple[str, ...]
    kind: DeviceKind
    zoned: str
    array: RaidArray | None
    filesystem: str
    below: tuple[str, ...]
    backing_mount_id: int | None

    @property
    def name(self) -> str:
        """The kernel's name, ``dm-2``."""
        return self.device.name

    @property
    def is_zoned(self) -> bool:
        """Whether the disk has zones, host-aware or host-managed."""
        return self.zoned != device_kinds.NOT_ZONED


@dataclass(frozen=True)
class MountEntry:
    """A mount, and the kernel names of the devices of its file system.

    NFS, FUSE, tmpfs and overlays have none.
    """

    mount: Mount
    devices: tuple[str, ...]

    @property
    def options(self) -> tuple[str, ...]:
        """Return the options of the mount and of the file system, each once, as in mount(8).

        Either can be read-only, which makes the whole mount read-only.
        """
        options = dict.fromkeys((*self.mount.options, *self.mount.super_options))
        if "ro" in options:
            options.pop("rw", None)
        return tuple(options)

    @property
    def filesystem(self) -> str:
        """The type of the file system."""
        return self.mount.filesystem

    @property
    def is_network(self) -> bool:
        """Whether another host or program serves its files."""
        return _NETWORK.fullmatch(self.filesystem) is not None


@dataclass(frozen=True)
class Topology:
    """All devices and mounts, in the order of kernel names and of mountinfo."""

    nodes: tuple[DeviceNode, ...]
    places: tuple[MountEntry, ...]

    @cached_property
    def by_name(self) -> dict[str, DeviceNode]:
        """The nodes by their kernel names."""
        return {node.name: node for node in self.nodes}

    @property
    def roots(self) -> tuple[DeviceNode, ...]:
        """Devices on no other device: disks, and loop devices with an invisible backing file."""
        return tuple(n for n in self.nodes if not n.below and n.backing_mount_id not in self._shown)

    @property
    def deviceless_mounts(self) -> tuple[MountEntry, ...]:
        """Mounts without a block device."""
        return tuple(entry for entry in self.places if not entry.devices)

    def above(self, name: str) -> tuple[DeviceNode, ...]:
        """Devices on top of that one: partitions and volumes; loop devices belong to mounts."""
        return tuple(
            n for n in self.nodes if name in n.below and n.backing_mount_id not in self._shown
        )

    def places_on(self, name: str) -> tuple[MountEntry, ...]:
        """Return the mounts of the file system on that device."""
        return tuple(entry for entry in self.places if name in entry.devices)

    def loops_in(self, entry: MountEntry) -> tuple[DeviceNode, ...]:
        """Return the loop devices whose backing file lies on that mount."""
        return tuple(node for node in self.nodes if node.backing_mount_id == entry.mount.id)

    def select_related(self, names: Iterable[str]) -> Topology:
        """Select the devices below and above the named ones, and their mounts."""
        wanted = [name for name in names if name in self.by_name]
        below = _reach(wanted, lambda name: self.by_name[name].below)
        kept = below | _reach(wanted, lambda name: [n.name for n in self.nodes if name in n.below])
        places = (entry for entry in self.places if kept & set(entry.devices))
        return _closed((node for node in self.nodes if node.name in kept), places)

    @cached_property
    def _shown(self) -> frozenset[int | None]:
        return frozenset(entry.mount.id for entry in self.places)


def read_topology(root: Path = ROOT) -> Topology:
    """Read all devices and data mounts that this process sees.

    Empty loop devices and RAM disks are skipped, and so are kernel mounts (proc, sysfs, cgroup
    ...), and tmpfs without a backing file of a loop device.
    """
    places = read_places(root)
    present = [device for device in _all_devices(root) if device.size_bytes]
    nodes = tuple(_node(device, places, root) for device in present)
    held = {node.backing_mount_id for node in nodes}
    return _closed(
        nodes,
        (
            p
            for p in places
            if p.devices or p.filesystem in _APART or p.is_network or p.mount.id in held
        ),
    )


def read_places(root: Path = ROOT) -> tuple[MountEntry, ...]:
    """Return every mount of this process, including the kernel's own, with its devices."""
    return tuple(_place(mount, root) for mount in mounts.read_mounts(root))


def find_mount_entry(path: Path, places: Sequence[MountEntry]) -> MountEntry | None:
    """Find the mount of an absolute path without links.

    It follows path_resolution(7): from the root down, it enters each mount at its first point on
    the way, so mounts hidden by later ones are not found.
    """
    current: MountEntry | None = None
    while entered := _entered(path, current, places):
        current = entered
    return current


def _entered(
    path: Path, current: MountEntry | None, places: Sequence[MountEntry]
) -> MountEntry | None:
    """The next mount on the way; the one at the top has a parent that is not in the list."""
    ids = {entry.mount.id for entry in places} if current is None else set()
    ways = [
        entry
        for entry in places
        if path.is_relative_to(entry.mount.point) and _is_child(entry, current, ids)
    ]
    return min(ways, key=lambda entry: len(entry.mount.point.parts), default=None)


def _is_child(entry: MountEntry, current: MountEntry | None, ids: set[int]) -> bool:
    mount = entry.mount
    if current is None:
        return mount.parent not in ids or mount.parent == mount.id
    return mount.parent == current.mount.id != mount.id


def _closed(nodes: Iterable[DeviceNode], places: Iterable[MountEntry]) -> Topology:
    """A topology that names no device but its own: others are not shown, or came meanwhile."""
    kept = {node.name: node for node in nodes}
    return Topology(
        nodes=tuple(replace(n, below=_among(n.below, kept)) for n in kept.values()),
        places=tuple(replace(p, devices=_among(p.devices, kept)) for p in places),
    )


def _among(names: Iterable[str], kept: Container[str]) -> tuple[str, ...]:
    return tuple(name for name in names if name in kept)


def _reach(start: Iterable[str], step: Callable[[str], Iterable[str]]) -> set[str]:
    reached: set[str] = set()
    waiting = list(start)
    while waiting:
        name = waiting.pop()
        if name not in reached:
            reached.add(name)
            waiting += step(name)
    return reached


def _all_devices(root: Path) -> Iterator[BlockDevice]:
    for disk in devices.read_disks(root):
        yield disk
        yield from devices.read_present_devices(sorted(disk.partitions, key=_natural), root)


def _natural(name: str) -> tuple[str, int]:
    """``sda2`` before ``sda10``."""
    stem = name.rstrip("0123456789")
    return stem, int(name[len(stem) :] or 0)


def _node(device: BlockDevice, places: Sequence[MountEntry], root: Path) -> DeviceNode:
    entry = find_mount_entry(device.backing_file, places) if device.backing_file else None
    mounted = [p.filesystem for p in places if device.name in p.devices]
    properties = volumes.read_properties(device.number, root)
    return DeviceNode(
        device=device,
        names=volumes.find_aliases(device, root),
        kind=device_kinds.detect_kind(device, root),
        zoned=device_kinds.read_zoned_model(device, root),
        array=read_array(device.name, root),
        filesystem=mounted[0] if mounted else properties.get("ID_FS_TYPE", ""),
        below=entry.devices
        if entry
        else ((device.partition_of,) if device.partition_of else device.slaves),
        backing_mount_id=entry.mount.id if entry else None,
    )


def _place(mount: Mount, root: Path) -> MountEntry:
    device = devices.read_device_by_number(mount.device, root) or _named_device(mount, root)
    if device is None:
        return MountEntry(mount, ())
    members = stack.btrfs_members(device, root) if mount.filesystem == "btrfs" else (device,)
    return MountEntry(mount, tuple(member.name for member in members))


def _named_device(mount: Mount, root: Path) -> BlockDevice | None:
    """Return the device that a mount names, resolving links of udev."""
    if mount.named_device is None:
        return None
    real = (root / mount.source.lstrip("/")).resolve().name
    return volumes.find_device_by_name(mount.source, root) or volumes.find_device_by_name(
        real, root
    )
