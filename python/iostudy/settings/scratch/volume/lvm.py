"""Volumes of LVM: a volume group with one logical volume.

All output is read as JSON. LVM keeps no backup of the metadata and monitors nothing, so that no
file and no daemon outlives the volume. Source: lvm(8), lvmreport(7), lvmraid(7), lvm.conf(5).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iostudy.host import devices, volumes
from iostudy.host.devices import BlockDevice
from iostudy.host.files import ROOT, read_attribute
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.scratch.volume.layout import VolumeLayout
from iostudy.settings.scratch.volume.manager import RESYNC_KB, VolumeState
from iostudy.units import KIB

_VOLUME = "data"
_CONFIG = "devices { use_devicesfile=0 } backup { backup=0 archive=0 } activation { monitoring=0 }"
_MIRROR = "mirror"
_RAID = "raid"
_HOLD_WRITES = " 1 handle_errors"


class Lvm:
    """LVM as a `VolumeManager`."""

    tools = ("lvm", "dmsetup")

    def create(self, name: str, layout: VolumeLayout, members: Sequence[Path]) -> None:
        """Make a group of the members with one volume on all its extents."""
        _run("vgcreate", "--yes", name, *map(str, members))
        options = _options(layout, len(members))
        _run("lvcreate", "--yes", *options, "--extents", "100%FREE", "--name", _VOLUME, name)
        if layout.properties.level == _MIRROR:
            _continue_after_failures(self.find(name))

    def find(self, name: str) -> BlockDevice | None:
        return volumes.find_device_by_name(f"{name}/{_VOLUME}")

    def read_layout(self, name: str, device: BlockDevice) -> tuple[str, int]:
        """Return what lvs reports; the stripes of a mirror are those of its images."""
        fields = ("--all", "--segments", "--units", "b", "--nosuffix", "-o", "segtype,stripe_size")
        first, *images = _report("lvs", *fields, name)
        sizes = (int(row["stripe_size"]) for row in (first, *images))
        return first["segtype"], max(sizes)

    def read_state(self, name: str, device: BlockDevice) -> VolumeState:
        """Return the state that lvs reports, and the failed copies that only the kernel reports."""
        fields = "segtype,sync_percent,lv_health_status"
        segments = _report("lvs", "--segments", "-o", fields, f"{name}/{_VOLUME}")
        faults = {row["lv_health_status"] for row in segments} - {""}
        if any(row["segtype"] == _MIRROR for row in segments):
            faults |= set(find_failed_copies(commands.run("dmsetup", "status", str(device.path))))
        percents = [float(row["sync_percent"]) for row in segments if row["sync_percent"]]
        done = min(percents, default=100.0) / 100
        return VolumeState(None if done >= 1 else done, tuple(sorted(faults)))

    @contextmanager
    def watch(self, device: BlockDevice) -> Iterator[Callable[[], bool]]:
        """Compare the number of events of the device-mapper device."""
        before = _read_events(device)
        yield lambda: _read_events(device) != before

    def remove(self, name: str, members: Sequence[Path]) -> bool:
        """Remove the group, and the labels of members that belong to no group."""
        _resume_suspended(name)
        exists = bool(_report("vgs", "-o", "vg_name", "--select", f"vg_name={name}"))
        labels = _report("pvs", "-o", "pv_name,vg_name")
        groups = {Path(row["pv_name"]).resolve(): row["vg_name"] for row in labels}
        labelled = [str(path) for path in members if groups.get(path.resolve()) in ("", name)]
        if exists:
            _run("vgremove", "--force", "--yes", name)
        if labelled:
            _run("pvremove", "--yes", *labelled)
        return exists or bool(labelled)


def find_failed_copies(status: str) -> tuple[str, ...]:
    """Return the fault in a status line of dm-mirror: one letter for each copy, A if it is alive.

    The line is START LENGTH mirror COPIES DEVICE... IN_SYNC/REGIONS 1 LETTERS ..., as
    "0 128 mirror 2 253:1 253:2 2/2 1 AD 1 core".
    """
    _, _, _, copies, *rest = status.split()
    letters = rest[int(copies) + 2]
    failed = len(letters) - letters.count("A")
    return (f"{failed} of {copies} copies failed",) if failed else ()


def _continue_after_failures(device: BlockDevice | None) -> None:
    """Let a mirror write to the other copies when one has failed.

    LVM's table holds all writes until dmeventd has repaired the mirror, and here nothing monitors
    it: the workload and the unmount would hang.
    """
    if device is None:
        raise CommandError("the new mirror has no device")
    table = release_writes(commands.run("dmsetup", "table", str(device.path)))
    commands.run("dmsetup", "load", str(device.path), "--table", table)
    commands.run("dmsetup", "resume", str(device.path))


def release_writes(table: str) -> str:
    """Return a table of dm-mirror without its one feature, to hold writes after a failure."""
    table = table.strip()
    if not table.endswith(_HOLD_WRITES):
        raise CommandError(f"the table of the new mirror does not end with{_HOLD_WRITES}: {table}")
    return table.removesuffix(_HOLD_WRITES)


def _read_events(device: BlockDevice) -> int:
    columns = ("-c", "--noheadings", "-o", "events")
    return int(commands.run("dmsetup", "info", *columns, str(device.path)))


def _options(layout: VolumeLayout, members: int) -> tuple[str, ...]:
    kind = layout.properties
    options = ["--type", kind.level]
    if kind.copies != 1:
        options += ["--mirrors", str((kind.copies or members) - 1)]
    if kind.striped:
        options += ["--stripes", str(layout.stripes_on(members))]
        options += ["--stripesize", f"{layout.stripe_size_bytes // KIB}k"]
    if kind.level == _MIRROR:
        options += ["--mirrorlog", "core"]
    if kind.level.startswith(_RAID):
        options += ["--minrecoveryrate", f"{RESYNC_KB}k", "--maxrecoveryrate", f"{RESYNC_KB}k"]
    if kind.copies != 1 and not layout.initial_sync:
        options.append("--nosync")
    return tuple(options)


def _resume_suspended(name: str) -> None:
    """Resume devices that an interrupted command left suspended: all access to them would hang."""
    for disk in devices.disk_names():
        folder = ROOT / "sys/block" / disk / "dm"
        mapped = read_attribute(folder / "name") or ""
        volume = volumes.parse_lvm_name(mapped)
        is_own = volume is not None and volume.group == name
        if is_own and read_attribute(folder / "suspended") == "1":
            commands.run("dmsetup", "resume", mapped)


def _report(command: str, *arguments: str) -> list[dict[str, Any]]:
    """Return the rows of a report, whose only key is the kind of row."""
    (report,) = json.loads(_run(command, "--reportformat", "json", *arguments))["report"]
    (rows,) = report.values()
    return list(rows)


def _run(command: str, *arguments: str) -> str:
    return commands.run("lvm", command, "--config", _CONFIG, *arguments)
