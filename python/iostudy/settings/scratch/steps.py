"""Making a disk ready and taking it away again: allocate, attach, mount, and back.

The ways forth fail with TargetError. The ways back do nothing where nothing is to be done, have
patience with what is busy for a moment, and fail with RestoreError.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

from iostudy import units
from iostudy._native import FileJob
from iostudy.errors import RestoreError, TargetError
from iostudy.host import devices, mounts, stack, usage
from iostudy.job import JobSpec
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.identity import DeviceIdentity, DiskIdentity

_PATIENCE_SECONDS = 5.0
"""How long a mount or a loop device may stay busy: udev and blkid look at new ones for a moment."""


def check_space(parent: Path, size_bytes: int) -> None:
    """TargetError unless the file system of ``parent`` has that many bytes free."""
    try:
        room = os.statvfs(parent)
    except OSError as error:
        raise _failed("a folder for a scratch disk", error, parent) from error
    free_bytes = room.f_bavail * room.f_frsize
    if free_bytes < size_bytes:
        raise TargetError(
            f"{units.format_size(size_bytes)} for a scratch disk",
            found=f"{free_bytes / units.GIB:.2f} GiB free",
            where=str(parent),
            remedy="give a smaller size, or an output folder on another file system (--out)",
        )


def check_unused(path: Path) -> None:
    """TargetError unless ``path`` is a device that can be written to and that nobody uses."""
    if not path.is_block_device():
        raise _unsafe(path, "that is no block device", "name a device such as /dev/disk/by-id/...")
    (device,) = stack.devices_of(path)
    if device.read_only:
        raise _unsafe(path, "it is read only", "name another device, or `blockdev --setrw` this")
    uses = usage.uses_of(device)
    if uses:
        raise _unsafe(
            path, "; ".join(uses), "free it (umount, swapoff ...), or name another device"
        )
    try:
        claimed = usage.is_claimed(path)
    except OSError as error:
        raise _unsafe(path, error.strerror or str(error), "run as root, or see dmesg") from error
    if claimed:
        raise _unsafe(
            path,
            "the kernel says that it is in use (another mount namespace, a volume or a pool)",
            "free it (lsblk, zpool status, lsns -t mnt), or name another device",
        )


def check_same(path: Path, found: DeviceIdentity) -> None:
    """TargetError unless ``path`` still leads to the device that was found, and nobody uses it."""
    check_unused(path)
    (device,) = stack.devices_of(path)
    if DeviceIdentity.of(device) != found:
        raise TargetError(
            f"the device {found.name} that was found to be unused",
            found=f"the name leads to another one now: {DiskIdentity.of(device).describe()}",
            where=str(path),
            remedy="see dmesg for what became of it; name it as /dev/disk/by-id/...",
        )


def make_folder(folder: Path) -> None:
    """A new folder."""
    try:
        folder.mkdir()
    except OSError as error:
        raise _failed("to make a folder for a scratch disk", error, folder) from error


def allocate(image: Path, size_bytes: int) -> None:
    """A new file, every byte of it written once.

    A file that is only allocated, or has holes, is slower to write to the first time: the first
    blocks of a study would measure that.
    """
    try:
        spec = JobSpec(
            threads=((str(image),),),
            operation="write",
            create=True,
            file_bytes=size_bytes,
            record_bytes=min(size_bytes, units.MIB),
            sync="fsync",
            seed=0,
        )
        FileJob(spec).run()
        image.chmod(0o600)
    except OSError as error:
        raise _failed("to write the image of a scratch disk", error, image) from error


def attach(image: Path) -> None:
    """Attach the image to a free loop device, with direct I/O where its file system allows it."""
    _run(image, "losetup", "--find", "--direct-io=on", str(image))


def unmount(point: Path) -> None:
    """Unmount whatever is on the folder."""

    def act() -> None:
        for _ in mounts.mounts_at(point):
            commands.run("umount", str(point))

    _patiently(act, point)


def detach(image: Path) -> None:
    """Detach every loop device of the image, also when that has been unlinked."""

    def act() -> None:
        for device in devices.loops_of(image):
            commands.run("losetup", "--detach", str(device.path))
        for device in devices.loops_of(image):
            raise CommandError(f"{device.name} is still in use")

    _patiently(act, image)


def remove(image: Path | None, *folders: Path) -> None:
    """Remove the file and the empty folders, as far as they are there."""
    try:
        if image is not None:
            image.unlink(missing_ok=True)
        for folder in folders:
            if folder.exists():
                folder.rmdir()
    except OSError as error:
        raise RestoreError(
            "to remove the scratch disk",
            found=error.strerror or str(error),
            where=str(error.filename),
            remedy="see what is in there; then `iostudy restore`",
        ) from error


def _run(where: Path, *command: str) -> None:
    try:
        commands.run(*command)
    except CommandError as error:
        raise _failed(f"to make a scratch disk ({command[0]})", error, where) from error


def _patiently(act: Callable[[], None], where: Path) -> None:
    """Try again while a tool complains; RestoreError when patience ends."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while True:
        try:
            return act()
        except CommandError as error:
            if time.monotonic() > deadline:
                raise RestoreError(
                    "to remove the scratch disk",
                    found=str(error),
                    where=str(where),
                    remedy=f"end what uses it (fuser -vm {where}), then `iostudy restore`",
                ) from error
        time.sleep(0.05)


def _unsafe(path: Path, found: str, remedy: str) -> TargetError:
    return TargetError(
        "a scratch device that nobody uses", found=found, where=str(path), remedy=remedy
    )


def _failed(wanted: str, error: Exception, where: Path) -> TargetError:
    found = (error.strerror if isinstance(error, OSError) else None) or str(error)
    remedy = "run as root, with room on the file system; see dmesg and `losetup -l`"
    return TargetError(wanted, found=found, where=str(where), remedy=remedy)
