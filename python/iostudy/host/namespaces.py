"""Namespaces of running processes, and the mounts in them.

Source: namespaces(7), proc_pid_ns(5), ioctl_nsfs(2), include/linux/proc_ns.h of the kernel.
"""

from __future__ import annotations

import fcntl
import os
import struct
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from iostudy.host.files import ROOT, find_files
from iostudy.host.mounts import Mount, parse_mountinfo
from iostudy.safe_path import closing

_GET_ID = 0x8008B705
"""NS_GET_MNTNS_ID (Linux 6.11)."""
_FIRST_PID_NAMESPACE = 0xEFFFFFFC
"""PROC_PID_INIT_INO: the PID namespace in which /proc lists every process of the host."""
_NSFS = "nsfs"


@dataclass(frozen=True)
class Namespace:
    """A namespace during one boot, of the ``kind`` ``mnt``, ``net`` or ``ipc``.

    ``inode`` is that of ``/proc/PID/ns/KIND``, which a later namespace can get. ``unique`` is a
    number that no other mount namespace gets until the next boot; 0 on kernels before 6.11, and for
    the other kinds.
    """

    inode: int
    unique: int
    kind: str = "mnt"

    @classmethod
    def from_file(cls, file: Path) -> Namespace:
        """Return the namespace of a file such as ``/proc/PID/ns/mnt``; OSError if unreadable."""
        with closing(os.open(file, os.O_RDONLY | os.O_CLOEXEC)) as descriptor:
            return cls(os.fstat(descriptor).st_ino, _unique(descriptor), file.name)

    @classmethod
    def current(cls, kind: str = "mnt") -> Namespace | None:
        """Return the namespace of this process; None if the kernel has none of the kind."""
        with suppress(FileNotFoundError):
            return cls.from_file(ROOT / "proc/self/ns" / kind)
        return None

    def process(self) -> int | None:
        """Return the number of a process in it; None without a visible one."""
        return next((pid for pid, file in _files(self.kind) if self._is_at(file)), None)

    def is_gone(self) -> bool:
        """Return whether no process, open file or bind mount holds it; a socket may.

        False if this process does not see everything: in another PID namespace or without root.
        """
        return is_everything_visible() and self.process() is None and not self._is_kept()

    def _is_at(self, file: Path) -> bool:
        with suppress(OSError):  # the process has ended
            return file.stat().st_ino == self.inode and Namespace.from_file(file) == self
        return False

    def _is_kept(self) -> bool:
        """Whether its file is open or bind-mounted anywhere; a reused inode counts as kept."""
        name = f"{self.kind}:[{self.inode}]"
        bound = any(m.filesystem == _NSFS and m.root == name for _, m in _mounts_everywhere())
        return bound or any(_target(file) == name for file in find_files("proc/[0-9]*/fd/*", ROOT))


def is_everything_visible() -> bool:
    """Whether all processes of the host are visible to this process."""
    number = (ROOT / "proc/self/ns/pid").stat().st_ino
    return os.geteuid() == 0 and number == _FIRST_PID_NAMESPACE


def find_process_with_mount(device: str, filesystem: str, source: str) -> int | None:
    """Find a process that sees a mount of this file system; None if none is visible."""
    wanted = (device, filesystem, source)
    mounts = _mounts_everywhere()
    pids = (pid for pid, m in mounts if (m.device, m.filesystem, m.source) == wanted)
    return next(pids, None)


def _mounts_everywhere() -> Iterator[tuple[int, Mount]]:
    """Return the mounts of every namespace, each with a process in it."""
    inodes: set[int] = set()
    for pid, file in _files("mnt"):
        with suppress(OSError):  # the process has ended
            inode = file.stat().st_ino
            if inode not in inodes:
                data = (file.parent.parent / "mountinfo").read_bytes()
                inodes.add(inode)
                yield from ((pid, mount) for mount in parse_mountinfo(data))


def _files(kind: str) -> Iterator[tuple[int, Path]]:
    """The namespace file of every thread, with the number of the thread."""
    files = find_files(f"proc/[0-9]*/task/[0-9]*/ns/{kind}", ROOT)
    return ((int(file.parent.parent.name), file) for file in files)


def _target(link: Path) -> str:
    with suppress(OSError):  # closed meanwhile
        return str(link.readlink())
    return ""


def _unique(descriptor: int) -> int:
    try:
        return int(struct.unpack("Q", fcntl.ioctl(descriptor, _GET_ID, bytes(8)))[0])
    except OSError:
        return 0
