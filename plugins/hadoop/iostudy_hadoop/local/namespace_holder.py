"""Makes the namespaces of a local cluster or NameNode, then becomes the program that needs them.

A script of its own, ``python -I -S namespace_holder.py REQUEST``, in which the request is JSON. It
ends with exit code UNAVAILABLE where the kernel refuses namespaces.

With ``paths`` root makes a mount namespace too, in which another user reaches the cluster's folders
below folders of root: an empty file system covers each folder that only root may enter, and holds
bind mounts of the cluster's folders at their own paths. Unmounting on the host reaches this
namespace (MS_SLAVE), unless the host's mounts are private, as in containers; flags of mounts do
not. So a disk that the cluster does not need is unmounted here: otherwise it would stay busy on the
host.

Source: unshare(2), mount_namespaces(7), user_namespaces(7), netdevice(7), <linux/sched.h>,
<linux/mount.h>.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import re
import socket
import stat
import struct
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

UNAVAILABLE = 3

_NEWNS, _NEWUSER, _NEWNET = 0x20000, 0x10000000, 0x40000000
_DETACH = 0x2
_NOSUID, _NODEV, _NOEXEC, _BIND, _RECURSIVE, _SLAVE = 0x2, 0x4, 0x8, 0x1000, 0x4000, 0x80000
_SIOCGIFFLAGS, _SIOCSIFFLAGS, _IFF_UP = 0x8913, 0x8914, 0x1
_REQUEST = "16sH22x"
"""struct ifreq with flags."""
_SYSCTLS = ("/proc/sys/net/core", "/proc/sys/net/ipv4")

_SYSTEM = (
    "/bin",
    "/dev",
    "/etc",
    "/lib",
    "/lib64",
    "/opt",
    "/proc",
    "/run",
    "/sbin",
    "/usr",
    "/var",
)
"""Directories of the host's system; the mounts above and below them stay."""

_libc = ctypes.CDLL(None, use_errno=True)


def main(request: Mapping[str, object]) -> None:
    """Make the namespaces and execute the command of the request."""
    command, paths = _texts(request["command"]), _texts(request["paths"])
    sysctls, uid, gid = _read_sysctls(), os.geteuid(), os.getegid()
    try:
        if paths:
            _unshare(_NEWNET | _NEWNS)
            _mount("none", "/", flags=_SLAVE | _RECURSIVE)
            _unmount_disks([Path(path).resolve() for path in paths])
        elif uid == 0:
            _unshare(_NEWNET)
        else:
            _unshare(_NEWNET | _NEWUSER)
            _map_user(uid, gid)
        _enable_loopback()
    except OSError as error:
        sys.stderr.write(f"{error.strerror}: {error.filename}\n")
        sys.exit(UNAVAILABLE)
    _write_sysctls(sysctls)
    if paths:
        _expose([Path(path) for path in paths])
        _mount(str(request["users"]), "/etc/passwd", flags=_BIND)
    os.chdir(str(request["directory"]))
    os.execvp(command[0], command)


def _map_user(uid: int, gid: int) -> None:
    """Let this user be the same in its new user namespace, where it has all capabilities."""
    Path("/proc/self/setgroups").write_bytes(b"deny")
    Path("/proc/self/uid_map").write_bytes(b"%d %d 1" % (uid, uid))
    Path("/proc/self/gid_map").write_bytes(b"%d %d 1" % (gid, gid))


def _enable_loopback() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        request = struct.pack(_REQUEST, b"lo", 0)
        name, flags = struct.unpack(_REQUEST, fcntl.ioctl(control, _SIOCGIFFLAGS, request))
        fcntl.ioctl(control, _SIOCSIFFLAGS, struct.pack(_REQUEST, name, flags | _IFF_UP))


def _read_sysctls() -> dict[Path, bytes]:
    """Return the network settings that every user can read and the owner can write."""
    files = (file for folder in _SYSCTLS for file in Path(folder).iterdir() if file.is_file())
    wanted = stat.S_IWUSR | stat.S_IROTH
    return {file: file.read_bytes() for file in files if file.stat().st_mode & wanted == wanted}


def _write_sysctls(host: Mapping[Path, bytes]) -> None:
    """Give the new namespace the host's values of those settings that it has of its own.

    The log names what the kernel refuses, such as groups that a user namespace does not have.
    """
    for file, value in _read_sysctls().items():
        if file in host and host[file] != value:
            try:
                file.write_bytes(host[file])
            except OSError as error:
                sys.stderr.write(f"{file} keeps {value!r}: {error.strerror}\n")


def _unmount_disks(needed: Sequence[Path]) -> None:
    """Unmount disks and FUSE mounts that hold no directory of the system or of the cluster."""
    kept = [*needed, *map(Path, _SYSTEM)]
    # Any user may mount by FUSE, and the kernel only escapes newlines: a path may hold U+2028.
    for line in reversed(Path("/proc/self/mountinfo").read_bytes().rstrip(b"\n").split(b"\n")):
        _unmount_disk(os.fsdecode(line), kept)


def _unmount_disk(line: str, kept: Sequence[Path]) -> None:
    """Unmount the disk of a line of mountinfo, unless it holds or is below a kept path."""
    fields, _, filesystem = line.partition(" - ")
    point = Path(re.sub(r"\\(\d{3})", lambda code: chr(int(code[1], 8)), fields.split(" ")[4]))
    type_, source = filesystem.split(" ")[:2]
    is_disk = source.startswith("/dev/") or type_.startswith("fuse")
    near = any(path.is_relative_to(point) or point.is_relative_to(path) for path in kept)
    if is_disk and not near and _libc.umount2(os.fsencode(point), _DETACH):
        raise _error(f"umount2(2) of {point}")


def _expose(paths: Sequence[Path]) -> None:
    """Make these directories reachable for every user, at the same paths."""
    wanted = sorted({path for named in paths for path in (named, named.resolve())})
    opened = {path: os.open(path, os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC) for path in wanted}
    closed = {path: _first_closed(path) for path in wanted}
    # The uppermost closed folder of one path is never below that of another.
    for folder in {folder for folder in closed.values() if folder is not None}:
        _mount("none", str(folder), "tmpfs", _NOSUID | _NODEV | _NOEXEC, "mode=755")
    for path in wanted:
        if closed[path] is not None:
            path.mkdir(parents=True, exist_ok=True)
            _mount(f"/proc/self/fd/{opened[path]}", str(path), flags=_BIND | _RECURSIVE)


def _first_closed(path: Path) -> Path | None:
    """Return the uppermost folder above the path that other users may not enter."""
    above = reversed(path.parents)
    return next(
        (directory for directory in above if not directory.stat().st_mode & stat.S_IXOTH), None
    )


def _unshare(flags: int) -> None:
    if _libc.unshare(flags):
        raise _error("unshare(2)")


def _mount(source: str, point: str, kind: str = "", flags: int = 0, options: str = "") -> None:
    arguments = (os.fsencode(text) for text in (source, point, kind))
    if _libc.mount(*arguments, ctypes.c_ulong(flags), os.fsencode(options)):
        raise _error(f"mount(2) on {point}")


def _error(call: str) -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number), call)


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(item) for item in value]


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
