"""Steps to create and remove a scratch disk: allocate, attach, mount and their inverses.

The ways forth fail with TargetError. The ways back do nothing where nothing is left to do, have
patience with what is busy for a moment, and fail with RestoreError.

Loop devices are attached by file descriptor and identified by label. The kernel keeps the label. So
a disk is found after another user has renamed a folder of its path. Source: loop(4),
include/uapi/linux/loop.h.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from iostudy import units
from iostudy.errors import RestoreError, TargetError
from iostudy.host import devices, mounts, stack
from iostudy.host.devices import BlockDevice
from iostudy.host.mounts import Mount
from iostudy.safe_path import closing, open_directory
from iostudy.settings import commands
from iostudy.settings.commands import CommandError
from iostudy.settings.identity import DiskIdentity, ScratchIdentity
from iostudy.settings.mounting import calls

_CONTROL = Path("/dev/loop-control")
_GET_FREE, _CONFIGURE = 0x4C82, 0x4C0A
_SET_FD, _SET_STATUS64, _GET_STATUS64, _SET_DIRECT_IO = 0x4C00, 0x4C04, 0x4C05, 0x4C08
_INFO = struct.Struct("=52sI64s112s")
"""``struct loop_info64``: what comes before the flags, the flags, the name, what comes after."""
_CONFIG = struct.Struct(f"=II{_INFO.size}s64x")
"""``struct loop_config``: backing file, block size (0: the kernel's choice), information."""
_DIRECT_IO = 16
_LABEL_MAX_BYTES = 63
_TRIES = 64
_FLAGS = os.O_CLOEXEC | os.O_NOFOLLOW


def find_by_label(label: str) -> tuple[BlockDevice, ...]:
    """The loop devices with that label, of those that this user may open."""
    attached = Path("/sys/block").glob("*/loop/backing_file")
    names = sorted(file.parent.parent.name for file in attached)
    return devices.read_present_devices(name for name in names if _label(name) == label.encode())


def _configured(number: int, configuration: bytes) -> bool:
    """Whether the device was still free."""
    with closing(os.open(f"/dev/loop{number}", os.O_RDWR | _FLAGS)) as device:
        try:
            _configure(device, configuration)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            return False
    return True


def _configure(device: int, configuration: bytes) -> None:
    try:
        fcntl.ioctl(device, _CONFIGURE, configuration)
    except OSError as error:
        if error.errno != errno.EINVAL:
            raise
        # Linux before 5.8 takes one after the other.
        image, _, information = _CONFIG.unpack(configuration)
        fcntl.ioctl(device, _SET_FD, image)
        fcntl.ioctl(device, _SET_STATUS64, information)
        with suppress(OSError):  # direct I/O, where the file system of the image allows it
            fcntl.ioctl(device, _SET_DIRECT_IO, 1)


def _label(name: str) -> bytes:
    """The label of an attached loop device; empty if it is gone or may not be opened."""
    with suppress(OSError):
        with closing(os.open(f"/dev/{name}", os.O_RDONLY | _FLAGS)) as device:
            status = fcntl.ioctl(device, _GET_STATUS64, bytes(_INFO.size))
        label: bytes = _INFO.unpack(status)[2]
        return label.rstrip(b"\0")
    return b""


T = TypeVar("T")

_PATIENCE_SECONDS = 5.0
"""How long a mount or a loop device may stay busy: udev and blkid look at new ones for a moment."""

_FOLDER_MODE = 0o700
_IMAGE_MODE = 0o600


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


@contextmanager
def open_verified(path: Path, identity: ScratchIdentity) -> Iterator[int]:
    """A descriptor of the device that was found, by which it is formatted and mounted.

    As long as it is open, the kernel gives the device's number to no other one. TargetError if
    ``path`` leads to another device, or if the device is used.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _unsafe(path, error.strerror or str(error), "run as root, or see dmesg") from error
    with closing(descriptor):
        require_same(descriptor, path, identity)
        check_unused(path, descriptor_path(descriptor))
        yield descriptor


def require_same(descriptor: int, path: Path, identity: ScratchIdentity) -> None:
    """TargetError unless this is a descriptor of the device that was found."""
    node = descriptor_path(descriptor)
    if not node.is_block_device():
        raise _unsafe(path, "that is no block device", "name a device such as /dev/disk/by-id/...")
    (device,) = stack.find_devices(node)
    if not identity.matches(device):
        raise wrong_device_error(path, identity, node)


def wrong_device_error(path: Path, identity: ScratchIdentity, node: Path) -> TargetError:
    """The error for a name that leads to another device than the one that was found."""
    return TargetError(
        f"the device {identity.device.name} that was found to be unused",
        found=f"the name leads to another one now: {DiskIdentity.from_path(node).describe()}",
        where=str(path),
        remedy="see dmesg for the reason; name it as /dev/disk/by-id/...",
    )


def descriptor_path(descriptor: int) -> Path:
    """A path that leads to what was opened, for the tools that are started as well."""
    return Path(f"/proc/{os.getpid()}/fd/{descriptor}")


def check_unused(path: Path, opened: Path | None = None) -> None:
    """TargetError unless ``path`` is a writable device that is not in use.

    ``opened`` is a path of its descriptor, if it is open.
    """
    node = opened or path
    if not node.is_block_device():
        raise _unsafe(path, "that is no block device", "name a device such as /dev/disk/by-id/...")
    (device,) = stack.find_devices(node)
    if device.read_only:
        raise _unsafe(path, "it is read only", "name another device, or `blockdev --setrw` this")
    uses = stack.find_uses(device)
    if uses:
        raise _unsafe(
            path, "; ".join(uses), "free it (umount, swapoff ...), or name another device"
        )
    try:
        claimed = stack.is_claimed(node)
    except OSError as error:
        raise _unsafe(path, error.strerror or str(error), "run as root, or see dmesg") from error
    if claimed:
        raise _unsafe(
            path,
            "the kernel says that it is in use (another mount namespace, a volume or a pool)",
            "free it (lsblk, zpool status, lsns -t mnt), or name another device",
        )


@contextmanager
def create_folder(folder: Path) -> Iterator[int]:
    """A new folder that no other user can enter, and its descriptor; its parent is no link."""
    try:
        with open_directory(folder.parent) as parent:
            os.mkdir(folder.name, _FOLDER_MODE, dir_fd=parent)
            with open_directory(folder.name, dir_fd=parent) as descriptor:
                yield descriptor
    except OSError as error:
        raise _failed("to make a folder for a scratch disk", error, folder) from error


@contextmanager
def create_image(folder: int, image: Path, size_bytes: int) -> Iterator[int]:
    """A new file in that folder, every byte of it written once, and its descriptor.

    A file that is only allocated, or has holes, is slower to write to the first time: the first
    blocks of a study would measure that.
    """
    try:
        flags = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        with closing(os.open(image.name, flags, _IMAGE_MODE, dir_fd=folder)) as descriptor:
            # Random bytes, which no file system compresses away.
            piece, written = memoryview(os.urandom(units.MIB)), 0
            while written < size_bytes:
                written += os.pwrite(descriptor, piece[: size_bytes - written], written)
            os.fsync(descriptor)
            yield descriptor
    except OSError as error:
        raise _failed("to write the image of a scratch disk", error, image) from error


def attach(image: int, path: Path, label: str) -> None:
    """Attach the image to a free loop device, with direct I/O where its file system allows it.

    ``label`` has at most 63 bytes.
    """
    name = label.encode()
    assert len(name) <= _LABEL_MAX_BYTES, "the kernel would cut it"
    configuration = _CONFIG.pack(image, 0, _INFO.pack(b"", _DIRECT_IO, name, b""))
    try:
        with closing(os.open(_CONTROL, os.O_RDWR | _FLAGS)) as control:
            for _ in range(_TRIES):
                if _configured(fcntl.ioctl(control, _GET_FREE), configuration):
                    return
        raise OSError(errno.EBUSY, "other processes have taken every free loop device")
    except OSError as error:
        raise _failed("to attach a scratch disk to a loop device", error, path) from error


def unmount(point: Path, identity: ScratchIdentity | None = None) -> None:
    """Unmount every file system on the folder, whose parent is no link.

    With the identity of its device, also one that was mounted before the folder was moved.
    """

    def act() -> None:
        for mount in reversed(_mounts_of_disk(point, identity)):
            try:
                with open_directory(mount.point.parent) as parent:
                    calls.unmount(parent, mount.point.name)
            except OSError as error:
                raise CommandError(error.strerror or str(error)) from error

    retry(act, point)


def _mounts_of_disk(point: Path, identity: ScratchIdentity | None) -> tuple[Mount, ...]:
    here = mounts.find_mounts_at(point)
    if here or identity is None or not identity.is_present():
        return here
    device = identity.device
    return tuple(
        mount
        for mount in mounts.read_mounts()
        if mount.point.name == point.name
        and mount.lies_on(device.number, Path("/dev", device.name))
    )


def detach(image: Path, label: str) -> None:
    """Detach every loop device of the image, also when that has been unlinked or moved."""

    def act() -> None:
        for device in find_loops(image, label):
            commands.run("losetup", "--detach", str(device.path))
        for device in find_loops(image, label):
            raise CommandError(f"{device.name} is still in use")

    retry(act, image)


def find_loops(image: Path, label: str) -> tuple[BlockDevice, ...]:
    """Return the loop devices with that label; without one, those of the image's path."""
    return find_by_label(label) or devices.find_loop_devices(image)


def find_attached(image: Path, label: str, disk: str) -> BlockDevice:
    """Return the loop device of the disk; TargetError while it is detached."""
    for device in find_loops(image, label):
        return device
    raise TargetError(
        f"the loop device of the {disk}",
        found="it is not attached",
        where=str(image),
        remedy="see `losetup -l`; another process has detached it",
    )


def remove_file(path: Path) -> None:
    """Remove a file if it is there; its folder is no link."""
    _remove(path, os.unlink)


def remove_folder(path: Path) -> None:
    """Remove an empty folder if it is there; its parent is no link."""
    _remove(path, os.rmdir)


def _remove(path: Path, call: Callable[..., None]) -> None:
    try:
        with suppress(FileNotFoundError), open_directory(path.parent) as parent:
            call(path.name, dir_fd=parent)
    except OSError as error:
        raise RestoreError(
            "to remove the scratch disk",
            found=error.strerror or str(error),
            where=str(path),
            remedy="see what is in there; then `iostudy restore`",
        ) from error


def retry(act: Callable[[], T], where: Path | str) -> T:
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
        "a scratch device that is not in use", found=found, where=str(path), remedy=remedy
    )


def _failed(wanted: str, error: Exception, where: Path) -> TargetError:
    fault = (error.strerror if isinstance(error, OSError) else None) or str(error)
    remedy = "run as root (a container with --privileged), with room for the file; see dmesg"
    return TargetError(wanted, found=fault, where=str(where), remedy=remedy)


def require_no_signature(path: Path) -> None:
    """TargetError if the device has a signature that ``wipefs`` knows, or cannot be checked."""
    commands.require("wipefs")
    try:
        signatures = commands.run("wipefs", "--no-act", "--parsable", "--", str(path))
    except CommandError as error:
        raise TargetError(
            "to look for signatures on the device",
            found=str(error),
            where=str(path),
            remedy="run as root; see dmesg",
        ) from error
    lines = [line for line in signatures.splitlines() if not line.startswith("#")]
    if lines:
        raise TargetError(
            "a device without signatures: writes would destroy what they belong to",
            found="; ".join(lines),
            where=str(path),
            remedy="name another device; if its data are not needed, run `wipefs --all` on it",
        )
