"""Mounts and swap areas: ``/proc/self/mountinfo`` and ``/proc/swaps``.

Source: proc_pid_mountinfo(5), proc_pid_fdinfo(5), proc_swaps(5), proc.rst of the kernel.
"""

from __future__ import annotations

import errno
import os
import re
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import ROOT, decode
from iostudy.safe_path import closing
from iostudy.storage_kind import names_device

NFS = ("nfs", "nfs4")
"""The kernel's names of NFS file systems."""
ANONYMOUS = "0:"
"""Major of file systems without a block device, such as ``0:45`` (the kernel's devices.txt)."""
_ESCAPE = re.compile(rb"\\([0-7]{3})")


@dataclass(frozen=True)
class Mount:
    """One mount in the mount namespace of this process.

    ``device`` is major:minor of the mounted device, which is anonymous for btrfs, NFS and
    tmpfs. ``root`` is the folder of the file system that appears at ``point``. ``options``
    belong to the mount, ``super_options`` to the file system.
    """

    id: int
    parent: int
    device: str
    root: str
    point: Path
    options: tuple[str, ...]
    filesystem: str
    source: str
    super_options: tuple[str, ...]

    @property
    def named_device(self) -> Path | None:
        """Return the path of the device by which a file system with a number of its own is known.

        That is a btrfs. None if the source names no device, or if any user could have chosen it.
        """
        return Path(self.source) if names_device(self.filesystem, self.source) else None

    def lies_on(self, number: str, path: Path) -> bool:
        """Return whether the file system is on the device with this number and path."""
        named = self.named_device
        return self.device == number or (named is not None and named.resolve() == path)


def parse_mountinfo(data: bytes) -> tuple[Mount, ...]:
    """Return every mount in the kernel's order; ValueError names a malformed line."""
    return tuple(_mount(line) for line in data.split(b"\n") if line)


def parse_swaps(data: bytes) -> tuple[Path, ...]:
    """The files and devices that are swapped to."""
    lines = [line for line in data.split(b"\n")[1:] if line]
    return tuple(Path(_unescape(line.split()[0])) for line in lines)


def parse_mount_id(fdinfo: str) -> int:
    """The ``mnt_id`` in the text of ``/proc/self/fdinfo/N``."""
    fields = dict(line.split(":", 1) for line in fdinfo.splitlines() if ":" in line)
    return int(fields["mnt_id"])


def read_mounts(root: Path = ROOT) -> tuple[Mount, ...]:
    """Return the current mounts in the mount namespace of this process."""
    return parse_mountinfo((root / "proc/self/mountinfo").read_bytes())


def read_swaps(root: Path = ROOT) -> tuple[Path, ...]:
    """Return the current swap areas; none on a kernel without swap."""
    path = root / "proc/swaps"
    return parse_swaps(path.read_bytes()) if path.exists() else ()


def find_mount(path: Path) -> Mount:
    """Return the mount of ``path``; OSError for a missing path.

    The kernel reports the mount of an open file, so mounts that hide one another are
    distinguished exactly.
    """
    with closing(os.open(path, os.O_PATH)) as descriptor:
        number = parse_mount_id(Path(f"/proc/self/fdinfo/{descriptor}").read_text("ascii"))
    for mount in read_mounts():
        if mount.id == number:
            return mount
    # A chroot that is no mount point has no line for its root.
    raise OSError(errno.ENOENT, "its mount is not in /proc/self/mountinfo", str(path))


def find_mounts_of_device(device: str) -> tuple[Mount, ...]:
    """Return the mounts of the device with this number (major:minor); other lines are skipped."""
    number = device.encode()
    lines = (ROOT / "proc/self/mountinfo").read_bytes().split(b"\n")
    return parse_mountinfo(b"\n".join(line for line in lines if number in line.split(b" ", 3)[2:3]))


def find_mounts_at(point: Path) -> tuple[Mount, ...]:
    """The mounts on the folder ``point`` itself, the topmost last."""
    return tuple(mount for mount in read_mounts() if mount.point == point)


def _mount(line: bytes) -> Mount:
    fields = line.split(b" ")
    try:
        separator = fields.index(b"-", 6)
        filesystem, source, super_options = fields[separator + 1 : separator + 4]
        identifier, parent = int(fields[0]), int(fields[1])
    except ValueError as error:
        raise ValueError(f"not a line of mountinfo: {decode(line)!r}") from error
    return Mount(
        id=identifier,
        parent=parent,
        device=decode(fields[2]),
        root=_unescape(fields[3]),
        point=Path(_unescape(fields[4])),
        options=_options(fields[5]),
        filesystem=_unescape(filesystem),
        source=_unescape(source),
        super_options=_options(super_options),
    )


def _options(field: bytes) -> tuple[str, ...]:
    return tuple(_unescape(option) for option in field.split(b","))


def _unescape(field: bytes) -> str:
    """Blank, tab, newline, backslash and # come as a backslash and three octal digits."""
    return decode(_ESCAPE.sub(lambda match: bytes([int(match[1], 8)]), field))
