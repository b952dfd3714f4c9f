"""Gathering the facts: the only part of the advice that reads anything."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from iostudy.host import configuration, devices, mounts, stack, volumes
from iostudy.host.advice.facts import (
    ConfigurationFacts,
    DeviceFacts,
    Facts,
    HostFacts,
    Space,
    is_storage,
)
from iostudy.host.daemons import read_daemons
from iostudy.host.devices import SECTOR_BYTES
from iostudy.host.files import ROOT, parse_chosen, read_attribute, read_number
from iostudy.host.inventory import parse_memory_bytes, read_queue
from iostudy.host.limits import parse_limits
from iostudy.host.reader import Reader
from iostudy.host.topology import Node, Place, Topology, holding, read_places, read_topology

_SLASHES = str.maketrans("./", "/.")
"""A sysctl's key as the path below /proc/sys (sysctl.d(5))."""

StatVfs = Callable[[Path], os.statvfs_result]

_SYSCTLS = (
    "fs.aio-max-nr",
    "fs.epoll.max_user_instances",
    "fs.epoll.max_user_watches",
    "fs.file-max",
    "fs.file-nr",
    "vm.dirty_background_bytes",
    "vm.dirty_background_ratio",
    "vm.dirty_bytes",
    "vm.dirty_ratio",
    "vm.swappiness",
    "vm.zone_reclaim_mode",
)


def gather(place: str | None = None, root: Path = ROOT, statvfs: StatVfs = os.statvfs) -> Facts:
    """The facts about the host, or about what lies below and above ``place`` and the host itself.

    ``place`` is a directory, a file, or anything that names a device; TargetError if there is no
    such thing. ``statvfs`` asks for the room in a mounted file system; it is not asked of network
    and FUSE mounts, where a server that is away would hold the answer back for ever.
    """
    reader = Reader(root)
    target = _target(place, root) if place is not None else None
    topology = _narrowed(read_topology(root), place, target, root)
    set_by_files = ConfigurationFacts(
        sysctl=configuration.read_sysctl(reader),
        udev=configuration.read_udev_rules(reader),
        tmpfiles=configuration.read_tmpfiles(reader),
    )
    return Facts(
        topology=topology,
        devices=tuple(_device(node, root) for node in topology.nodes),
        space=_space(topology, reader, statvfs),
        host=_host(reader, {each.name for each in set_by_files.sysctl if is_storage(each.name)}),
        configuration=set_by_files,
        target=target,
        refused=reader.refused,
    )


def parse_kernel(release: str) -> tuple[int, int]:
    """``6.1.0-18-amd64`` -> (6, 1); (0, 0) of what begins otherwise."""
    match = re.match(r"(\d+)\.(\d+)", release)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _target(place: str, root: Path) -> Place | None:
    """The mount that a directory or file is on; None for a device, or where nothing is."""
    path = Path(place)
    if not path.is_absolute() and volumes.device_named(place, root):
        return None
    if not path.exists() or stat.S_ISBLK(path.stat().st_mode):
        return None
    return holding(path.resolve(), read_places(root))


def _narrowed(all_of_it: Topology, place: str | None, target: Place | None, root: Path) -> Topology:
    if place is None:
        return all_of_it
    if target is not None:
        around = all_of_it.around(target.devices)
        return around if target.devices else Topology((), (target,))
    return all_of_it.around(device.name for device in stack.devices_of(place, root))


def _device(node: Node, root: Path) -> DeviceFacts:
    folder = root / "sys/class/block" / node.name
    start = read_number(folder / "start")
    return DeviceFacts(
        node=node,
        queue=read_queue(node.device, root),
        scheduler=devices.read_scheduler(node.device, root),
        start_bytes=None if start is None else start * SECTOR_BYTES,
        alignment_offset_bytes=read_number(folder / "alignment_offset"),
        queue_depth=read_number(folder / "device/queue_depth"),
        # SAT, SCSI / ATA Translation, gives this vendor to all of them.
        is_ata=(read_attribute(folder / "device/vendor") or "").strip() == "ATA",
    )


def _space(topology: Topology, reader: Reader, statvfs: StatVfs) -> Mapping[Path, Space]:
    found = {}
    for place in topology.places:
        if place.devices and not place.is_network:
            try:
                found[place.mount.point] = _room(statvfs(place.mount.point))
            except OSError as error:
                reader.refuse(place.mount.point, error)
    return found


def _room(told: os.statvfs_result) -> Space:
    return Space(
        size_bytes=told.f_blocks * told.f_frsize,
        free_bytes=told.f_bfree * told.f_frsize,
        available_bytes=told.f_bavail * told.f_frsize,
        inodes=told.f_files,
        free_inodes=told.f_ffree,
    )


def _host(reader: Reader, more_keys: set[str]) -> HostFacts:
    root = reader.root
    thp = root / "sys/kernel/mm/transparent_hugepage"
    profile = reader.text(root / "etc/tuned/active_profile") or ""
    return HostFacts(
        kernel=parse_kernel(read_attribute(root / "proc/sys/kernel/osrelease") or ""),
        memory_bytes=parse_memory_bytes(read_attribute(root / "proc/meminfo") or ""),
        sysctls=_sysctls(reader, {*_SYSCTLS, *more_keys}),
        thp_enabled=_chosen(reader.text(thp / "enabled")),
        thp_defrag=_chosen(reader.text(thp / "defrag")),
        swaps=mounts.read_swaps(root),
        limits=parse_limits(reader.text(root / "proc/self/limits") or ""),
        daemons=read_daemons(reader),
        tuned_profile=profile.strip(),
    )


def _chosen(text: str | None) -> str:
    """The name that holds; empty on a kernel without huge pages."""
    return parse_chosen(text).current if text else ""


def _sysctls(reader: Reader, keys: set[str]) -> Mapping[str, str]:
    folder = reader.root / "proc/sys"
    paths = {key: folder / key.translate(_SLASHES).lstrip("/") for key in sorted(keys)}
    texts = {key: reader.text(path) for key, path in paths.items() if path.is_file()}
    return {key: " ".join(text.split()) for key, text in texts.items() if text is not None}
