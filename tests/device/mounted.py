"""File systems on loop disks for tests, and what the kernel shows of a mount, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.settings import kinds
from iostudy.settings.change import Change, Setting
from iostudy.settings.scratch.filesystem import Filesystem
from tests.fixtures_loop import MIB, loop_disk

NO_SUCH_CALL = 0x7FFF
"""The number of no system call, for kernels that lack one."""
SIZE_BYTES = 320 * MIB
"""The least that xfs is made on."""


@contextmanager
def filesystem(kind: str, *options: str) -> Iterator[str]:
    """The node of a loop device with a new file system, made with further options of mkfs."""
    with loop_disk(SIZE_BYTES) as name:
        make = [*Filesystem(kind).command(), *options, f"/dev/{name}"]
        subprocess.run(make, check=True, capture_output=True)
        yield f"/dev/{name}"


@contextmanager
def mounted(
    device: str, point: Path, options: str = "defaults", kind: str = "auto"
) -> Iterator[Path]:
    """The device mounted at a new folder; whatever is mounted there at the end is unmounted."""
    point.mkdir()
    mount(device, point, options, "-t", kind)
    try:
        yield point
    finally:
        while os.path.ismount(point):
            unmount(point)
        point.rmdir()


def mount(device: str, point: Path, options: str = "defaults", *more: str) -> None:
    command = ["mount", "-o", options, *more, "--", device, os.fspath(point)]
    subprocess.run(command, check=True)


def unmount(point: Path, *more: str) -> None:
    subprocess.run(["umount", *more, "--", os.fspath(point)], check=True)


def shown(point: Path) -> bytes:
    """The lines of mountinfo for a mount point, as the kernel gives them."""
    escaped = b"".join(
        rb"\%03o" % byte if byte in b" \t\n\\" else bytes([byte]) for byte in os.fsencode(point)
    )
    lines = Path("/proc/self/mountinfo").read_bytes().splitlines()
    return b"\n".join(line for line in lines if line.split()[4] == escaped)


def bound(setting: str, place: str | Path) -> Setting:
    (found,) = kinds.bind(f"mount.{setting}", place)
    return found


def changes(place: str | Path, **values: str) -> tuple[Change, ...]:
    return kinds.prepare_changes({bound(name, place): value for name, value in values.items()})


def remount(point: Path, options: str) -> None:
    """What somebody else does."""
    subprocess.run(["mount", "-o", f"remount,{options}", "--", os.fspath(point)], check=True)


def rebuilt(change: Change) -> Change:
    """The change as another process finds it in a journal."""
    return kinds.rebuild_change(change.kind, json.loads(json.dumps(change.record())))
