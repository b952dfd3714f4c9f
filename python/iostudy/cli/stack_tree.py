"""Tree of the storage stack: disk, partition, volume, file system, mount."""

from __future__ import annotations

from collections.abc import Iterator

from iostudy.cli.console import Branch
from iostudy.host.topology import DeviceNode, MountEntry, Topology
from iostudy.units import format_rounded_size


def build_trees(topology: Topology) -> tuple[Branch, ...]:
    """A tree for each device that lies on no other, then one for each mount without a device.

    What lies on several devices is drawn in full below the first of them, and named below the
    others.
    """
    drawing = _TreeBuilder(topology)
    disks = tuple(drawing.device(node) for node in topology.roots)
    return (*disks, *(drawing.mount(place) for place in topology.deviceless_mounts))


def describe_device(node: DeviceNode) -> str:
    """``253:2 = dm-2 = vg0/home = vg0-home, 2.00 TiB, LVM``."""
    return ", ".join((_names(node), format_rounded_size(node.device.size_bytes), *_details(node)))


def describe_mount(place: MountEntry) -> str:
    """``ext4 on /home (rw,noatime)``; what has no device is named by its source."""
    source = "" if place.devices else f" from {place.mount.source}"
    return f"{place.filesystem}{source} on {place.mount.point} ({','.join(place.options)})"


class _TreeBuilder:
    """Draws a topology, and remembers what has been drawn already."""

    def __init__(self, topology: Topology) -> None:
        self._topology = topology
        self._drawn: set[str] = set()

    def device(self, node: DeviceNode) -> Branch:
        if node.name in self._drawn:
            return Branch(f"{_names(node)}: drawn above")
        self._drawn.add(node.name)
        places = self._topology.places_on(node.name)
        # A file system on several devices is drawn below the first of them.
        mounts = (self.mount(place) for place in places if place.devices[0] == node.name)
        above = (self.device(upper) for upper in self._topology.above(node.name))
        return Branch(describe_device(node), (*mounts, *above))

    def mount(self, place: MountEntry) -> Branch:
        loops = (self.device(loop) for loop in self._topology.loops_in(place))
        return Branch(describe_mount(place), tuple(loops))


def _names(node: DeviceNode) -> str:
    return " = ".join(filter(None, (node.device.number, node.name, *node.names)))


def _details(node: DeviceNode) -> Iterator[str]:
    if node.array:
        missing = f", {node.array.missing} missing" if node.array.missing else ""
        yield f"md {node.array.level} of {node.array.members} members{missing}"
    else:
        yield str(node.kind)
    if node.is_zoned:
        yield f"zoned ({node.zoned})"
    if node.device.model and not node.device.partition_of:
        yield node.device.model
    if node.device.backing_file:
        yield str(node.device.backing_file)
    if node.device.read_only:
        yield "read only"
    if node.filesystem:
        yield f"holds {node.filesystem}"
