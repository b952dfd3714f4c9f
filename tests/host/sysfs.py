"""A small sysfs tree below a folder, in the kernel's format."""

from __future__ import annotations

import os
import re
from pathlib import Path

SINGLE_QUEUE = "none [mq-deadline] kyber bfq \n"
ONLY_NONE = "none\n"


BUSES = {"nvme": "nvme", "vd": "virtio", "xvd": "xen", "rbd": "rbd", "mmcblk": "mmc", "dasd": "ccw"}
"""The bus of disks by their drivers' names; SCSI's names are those of all other disks."""
DRIVERS = re.compile(r"(loop|ram|zram|dm-|md|nbd|zd|drbd|nullb|ublkb|bcache|etherd!)")
"""Names of devices that have no hardware behind them."""


def add_disk(root: Path, name: str, number: str, *, scheduler: str | None, **files: str) -> Path:
    """A whole disk or volume; ``files`` are attributes with __ for a slash.

    As in the kernel, a disk has a ``device`` on a bus, and a volume or loop device has none.
    """
    folder = root / "sys/devices/virtual/block" / name
    _add(root, folder, name, number)
    if scheduler is not None:
        write(folder / "queue/scheduler", scheduler)
    write(folder / "queue/rotational", "1\n")
    for attribute, text in files.items():
        write(folder / attribute.replace("__", "/"), text)
    if not DRIVERS.match(name):
        bus = next((bus for prefix, bus in BUSES.items() if name.startswith(prefix)), "scsi")
        (root / "sys/bus" / bus).mkdir(parents=True, exist_ok=True)
        link(folder / "device/subsystem", root / "sys/bus" / bus)
    link(root / "sys/block" / name, folder)
    return folder


def add_partition(root: Path, disk: str, name: str, number: str) -> Path:
    """A partition inside its disk's folder."""
    folder = root / "sys/devices/virtual/block" / disk / name
    _add(root, folder, name, number)
    write(folder / "partition", "1\n")
    return folder


def stack_on(root: Path, upper: str, *lowers: str) -> None:
    """Make ``upper`` a holder of each of the lower devices."""
    for lower in lowers:
        low, high = (root / "sys/class/block" / n for n in (lower, upper))
        link(high / "slaves" / lower, low)
        link(low / "holders" / upper, high)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def link(path: Path, target: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(os.path.relpath(target.resolve(), path.parent.resolve()))


def _add(root: Path, folder: Path, name: str, number: str) -> None:
    write(folder / "dev", f"{number}\n")
    write(folder / "size", "2048\n")
    write(folder / "ro", "0\n")
    for each in ("slaves", "holders"):
        (folder / each).mkdir()
    link(root / "sys/class/block" / name, folder)
    if number:
        link(root / "sys/dev/block" / number, folder)
