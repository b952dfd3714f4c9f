"""Collection of the facts, the only part of the advice that reads the host."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Mapping
from pathlib import Path

from iostudy.host import device_kinds, devices, mounts, stack, volumes
from iostudy.host.advice.facts import DeviceFacts, Facts, FilesystemSpace, HostFacts, is_storage
from iostudy.host.configuration.assignment import Stage
from iostudy.host.configuration.writers import read_writers, sysctl_path
from iostudy.host.device_kinds import DeviceKind
from iostudy.host.devices import SECTOR_BYTES
from iostudy.host.files import ROOT, Reader, parse_choice, read_attribute, read_number
from iostudy.host.inventory import read_memory_bytes, read_queue
from iostudy.host.processes import read_daemons
from iostudy.host.topology import (
    DeviceNode,
    MountEntry,
    Topology,
    find_mount_entry,
    read_places,
    read_topology,
)

StatVfs = Callable[[Path], os.statvfs_result]

_SYSCTLS = (
    "fs.aio-max-nr",
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


def gather_facts(
    place: str | None = None, root: Path = ROOT, statvfs: StatVfs = os.statvfs
) -> Facts:
    """Collect facts about the host, or about the devices of ``place`` and the host.

    ``place`` is a directory, a file, or any name of a device; TargetError if it does not exist.
    ``statvfs`` is not called for network and FUSE mounts, where an absent server would block it.
    """
    reader = Reader(root)
    target = _target(place, root) if place is not None else None
    topology = _narrowed(read_topology(root), place, target, root)
    writers = read_writers(reader)
    keys = {line.name for line in writers if line.stage is Stage.SYSCTL and is_storage(line.name)}
    return Facts(
        topology=topology,
        devices=tuple(_device(node, root) for node in topology.nodes),
        space=_space(topology, reader, statvfs),
        host=_host(reader, keys),
        writers=writers,
        target=target,
        refused=reader.refused,
    )


def parse_kernel(release: str) -> tuple[int, int]:
    """``6.1.0-18-amd64`` -> (6, 1); (0, 0) of what begins otherwise."""
    match = re.match(r"(\d+)\.(\d+)", release)
    return (int(match[1]), int(match[2])) if match else (0, 0)


def _target(place: str, root: Path) -> MountEntry | None:
    """Return the mount of a directory or file; None for a device or a missing path."""
    path = Path(place)
    if not path.is_absolute() and volumes.find_device_by_name(place, root):
        return None
    if not path.exists() or stat.S_ISBLK(path.stat().st_mode):
        return None
    return find_mount_entry(path.resolve(), read_places(root))


def _narrowed(
    all_of_it: Topology, place: str | None, target: MountEntry | None, root: Path
) -> Topology:
    if place is None:
        return all_of_it
    if target is not None:
        around = all_of_it.select_related(target.devices)
        return around if target.devices else Topology((), (target,))
    return all_of_it.select_related(device.name for device in stack.find_devices(place, root))


def _device(node: DeviceNode, root: Path) -> DeviceFacts:
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


def _space(topology: Topology, reader: Reader, statvfs: StatVfs) -> Mapping[Path, FilesystemSpace]:
    facts = {}
    for entry in topology.places:
        if entry.devices and not entry.is_network:
            try:
                status = statvfs(entry.mount.point)
                facts[entry.mount.point] = FilesystemSpace(
                    size_bytes=status.f_blocks * status.f_frsize,
                    free_bytes=status.f_bfree * status.f_frsize,
                    available_bytes=status.f_bavail * status.f_frsize,
                    inodes=status.f_files,
                    free_inodes=status.f_ffree,
                    block_bytes=status.f_frsize,
                )
            except OSError as error:
                reader.refuse(entry.mount.point, error)
    return facts


def _host(reader: Reader, more_keys: set[str]) -> HostFacts:
    root = reader.root
    thp = root / "sys/kernel/mm/transparent_hugepage"
    profile = reader.text(root / "etc/tuned/active_profile") or ""
    keys = {*_SYSCTLS, *more_keys}
    paths = {key: root / sysctl_path(key).lstrip("/") for key in sorted(keys)}
    texts = {key: reader.text(path) for key, path in paths.items() if path.is_file()}
    return HostFacts(
        kernel=parse_kernel(read_attribute(root / "proc/sys/kernel/osrelease") or ""),
        memory_bytes=read_memory_bytes("MemTotal", root),
        sysctls={key: " ".join(text.split()) for key, text in texts.items() if text is not None},
        thp_enabled=_chosen(reader.text(thp / "enabled")),
        thp_defrag=_chosen(reader.text(thp / "defrag")),
        disk_swaps=tuple(swap for swap in mounts.read_swaps(root) if not _is_memory(swap, root)),
        daemons=read_daemons(reader),
        tuned_profile=profile.strip(),
    )


def _is_memory(swap: Path, root: Path) -> bool:
    """Whether a swap area is compressed memory, which wants to be used."""
    if not devices.device_exists(swap.name, root):
        return False
    kind = device_kinds.detect_kind(devices.read_device(swap.name, root), root)
    return kind is DeviceKind.MEMORY


def _chosen(text: str | None) -> str:
    """Return the selected name; empty on a kernel without huge pages."""
    return parse_choice(text).current if text else ""
