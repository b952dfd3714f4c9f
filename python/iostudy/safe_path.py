"""Paths that no other user can redirect, and files opened without following links.

A path is safe if only root and this user can rename or replace any part of it. So a check stays
true after it was made: whoever could undo it may act as this user anyway. OpenSSH applies the same
rule to the files that it trusts (sshd_config(5), StrictModes).
"""

from __future__ import annotations

import errno
import grp
import os
import pwd
import re
import stat
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import UnsafePathError

ROOT_UID = 0
MAX_LINKS = 40
"""Symbolic links that the kernel follows in one path (path_resolution(7))."""

_DESCRIPTOR = re.compile(r"/dev/stdin|/dev/fd/[0-9]+|/proc/self/fd/[0-9]+")

_ACL = "system.posix_acl_access"
"""The extended attribute with the POSIX ACL of a file (acl(5))."""


def find_weakness(path: Path, *, shared: bool = False, trusted_uid: int = ROOT_UID) -> str:
    """The reason why another user could redirect the directory ``path``; empty if none could.

    A sticky directory such as /tmp is safe on the way to a directory of this user. ``shared``: it
    is safe as ``path`` itself, for callers that create exclusively named entries in it. The user
    ``trusted_uid`` may redirect it too, for callers that act as that user there. OSError if a part
    of the path is missing or cannot be examined.
    """
    trusted = {ROOT_UID, os.geteuid(), trusted_uid}
    parts = list(reversed((Path.cwd() / path).parts[1:]))
    current, links = Path("/"), 0
    weakness = _weakness_of(current, current.lstat(), trusted, sticky=bool(parts) or shared)
    while parts and not weakness:
        part = parts.pop()
        entry = current.parent if part == ".." else current / part
        status = entry.lstat()
        if stat.S_ISLNK(status.st_mode):
            links += 1
            if links > MAX_LINKS:
                raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
            weakness = _owner_weakness(entry, status, trusted)
            target = entry.readlink()
            current = Path("/") if target.is_absolute() else current
            parts += reversed(target.parts[1:] if target.is_absolute() else target.parts)
        else:
            weakness = _weakness_of(entry, status, trusted, sticky=bool(parts) or shared)
            current = entry
    return weakness


def require_safe_program(path: Path) -> None:
    """UnsafePathError if another user could replace the program, or a link to it."""
    for _ in range(MAX_LINKS):
        status = path.lstat()
        owners = {ROOT_UID, os.geteuid()}
        weakness = find_weakness(path.parent) or _owner_weakness(path, status, owners)
        if not weakness and stat.S_ISLNK(status.st_mode):
            path = path.parent / path.readlink()
            continue
        if weakness := weakness or _mode_weakness(path, status, path):
            raise unsafe(path, weakness)
        return
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))


def is_private(path: Path) -> bool:
    """Return whether no other user but root can enter a folder above ``path``, which has no links.

    With an access control list, the group bits are its mask. OSError if a folder is missing.
    """
    others_enter = stat.S_IXGRP | stat.S_IXOTH
    return any(not parent.lstat().st_mode & others_enter for parent in path.parents)


def require_safe(path: Path, *, shared: bool = False) -> None:
    """UnsafePathError unless ``path`` is a directory that no other user could redirect.

    See `find_weakness` for ``shared`` and OSError.
    """
    weakness = find_weakness(path, shared=shared)
    if weakness:
        raise unsafe(path, weakness)


def unsafe(path: Path, weakness: str) -> UnsafePathError:
    """The error for a path that another user could redirect."""
    return UnsafePathError(
        "a path that only root and this user can change",
        found=weakness,
        where=str(path),
        remedy="change the owner or the mode (chmod go-w), or name another path",
    )


@contextmanager
def closing(descriptor: int) -> Iterator[int]:
    """The descriptor, which is closed at the end."""
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def open_directory(
    path: Path | str, *, dir_fd: int | None = None, follow: bool = False
) -> Iterator[int]:
    """A descriptor of a directory; OSError if ``path`` is no directory, or a link not to follow."""
    flags = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC | (0 if follow else os.O_NOFOLLOW)
    with closing(os.open(path, flags, dir_fd=dir_fd)) as descriptor:
        yield descriptor


@contextmanager
def open_real_directory(path: Path) -> Iterator[int]:
    """A descriptor of a directory of which no part is a link now; OSError if one is.

    Another user to whom a part belongs can so lead root into no folder of a third.
    """
    flags = os.O_PATH | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
    current = os.open("/", flags)
    try:
        for part in path.parts[1:]:
            below = os.open(part, flags, dir_fd=current)
            os.close(current)
            current = below
        descriptor = os.open(".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC, dir_fd=current)
    finally:
        os.close(current)
    with closing(descriptor):
        yield descriptor


def open_regular(
    path: Path | str, flags: int, mode: int = 0o600, *, dir_fd: int | None = None
) -> int:
    """A descriptor of a regular file of root or this user, without waiting for a FIFO's peer.

    OSError if it is a link, another kind of file, another user's, writable by other users, or has
    a second name (hard link).
    """
    safe = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
    descriptor = os.open(path, flags | safe, mode, dir_fd=dir_fd)
    weakness = _weakness_of_file(Path(path), descriptor)
    if weakness:
        os.close(descriptor)
        raise OSError(errno.EPERM, weakness, str(path))
    return descriptor


def read_at_most(descriptor: int, limit_bytes: int) -> bytes:
    """The first bytes of a file, whatever the descriptor's position and the file's size."""
    return os.pread(descriptor, limit_bytes, 0)


def read_regular(path: Path, limit_bytes: int) -> bytes:
    """The content of a regular file, whoever owns it.

    OSError if it is a link, another kind of file, or larger than the limit.
    """
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with closing(os.open(path, flags)) as descriptor:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EPERM, f"{path} is not a regular file", str(path))
        if status.st_size > limit_bytes:
            raise OSError(errno.EFBIG, os.strerror(errno.EFBIG), str(path))
        return read_at_most(descriptor, status.st_size)


def is_descriptor(path: Path) -> bool:
    """Return whether a path names an open descriptor of this process."""
    return _DESCRIPTOR.fullmatch(str(path)) is not None


def read_named(path: Path, limit_bytes: int) -> bytes:
    """Up to ``limit_bytes`` of a file that the user names: a regular one, or an open descriptor.

    A descriptor is /dev/stdin, or a pipe of the shell such as /dev/fd/63. OSError for any other
    FIFO or device, which may never end, and for a file of the kernel that waits for events.
    """
    is_open = is_descriptor(path)
    if not is_open and not path.is_dir() and not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "it is a FIFO, a device or a socket, and no regular file")
    flags = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY | (0 if is_open else os.O_NONBLOCK)
    with os.fdopen(os.open(path, flags), "rb", buffering=0) as file:
        content = b""
        while len(content) < limit_bytes:
            chunk = file.read(limit_bytes - len(content))
            if chunk is None:
                raise OSError(errno.EAGAIN, "it waits for events and has no end")
            if not chunk:
                break
            content += chunk
    return content


def _weakness_of_file(path: Path, descriptor: int) -> str:
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        return f"{path} is not a regular file"
    if status.st_nlink > 1:
        return f"{path} has several names"
    owners = {ROOT_UID, os.geteuid()}
    return _owner_weakness(path, status, owners) or _mode_weakness(path, status, descriptor)


def _weakness_of(
    entry: Path, status: os.stat_result, trusted: Collection[int], *, sticky: bool
) -> str:
    if not stat.S_ISDIR(status.st_mode):
        return f"{entry} is not a directory"
    is_sticky = sticky and bool(status.st_mode & stat.S_ISVTX)
    return _owner_weakness(entry, status, trusted) or (
        "" if is_sticky else _mode_weakness(entry, status, entry)
    )


def _owner_weakness(entry: Path, status: os.stat_result, trusted: Collection[int]) -> str:
    if status.st_uid in trusted:
        return ""
    return f"{entry} belongs to user {_user_name(status.st_uid)}"


def _mode_weakness(entry: Path, status: os.stat_result, opened: Path | int) -> str:
    """The weakness by mode; with an ACL, the group bits are its mask (acl(5))."""
    mode = stat.filemode(status.st_mode)
    if status.st_mode & stat.S_IWOTH:
        return f"{entry} is writable by every user ({mode})"
    if not status.st_mode & stat.S_IWGRP:
        return ""
    if _has_acl(opened):
        return f"{entry} is writable by its access control list ({mode})"
    if not _is_private_group(status.st_gid, status.st_uid):
        return f"{entry} is writable by group {_group_name(status.st_gid)} ({mode})"
    return ""


def _has_acl(opened: Path | int) -> bool:
    try:
        os.getxattr(opened, _ACL, follow_symlinks=isinstance(opened, int))
    except OSError as error:
        if error.errno in (errno.ENODATA, errno.EOPNOTSUPP):
            return False
        raise
    return True


def _is_private_group(gid: int, uid: int) -> bool:
    """Whether the group is the owner's own, as where umask 002 is the default.

    It has the owner's name (pam_umask(8), usergroups) and no other known member. Directory services
    need not list all their users, so the name is required as well.
    """
    try:
        owner, group = pwd.getpwuid(uid).pw_name, grp.getgrgid(gid)
    except KeyError:
        return False
    if group.gr_name != owner or not set(group.gr_mem) <= {owner}:
        return False
    return {user.pw_name for user in pwd.getpwall() if user.pw_gid == gid} <= {owner}


def _user_name(uid: int) -> str:
    try:
        return f"{pwd.getpwuid(uid).pw_name} ({uid})"
    except KeyError:
        return str(uid)


def _group_name(gid: int) -> str:
    try:
        return f"{grp.getgrgid(gid).gr_name} ({gid})"
    except KeyError:
        return str(gid)
