"""Loop devices, attached by file descriptor and identified by label.

The kernel keeps the label. So a disk is found after another user has renamed a folder of its path.
Source: loop(4), include/uapi/linux/loop.h.
"""

from __future__ import annotations

import errno
import fcntl
import os
import struct
from contextlib import suppress
from pathlib import Path

from iostudy.host import devices
from iostudy.host.devices import BlockDevice

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


def attach(image: int, label: str) -> None:
    """Attach the file to a free loop device, with direct I/O where its file system allows it.

    ``label`` has at most 63 bytes. OSError if the kernel refuses.
    """
    name = label.encode()
    assert len(name) <= _LABEL_MAX_BYTES, "the kernel would cut it"
    configuration = _CONFIG.pack(image, 0, _INFO.pack(b"", _DIRECT_IO, name, b""))
    control = os.open(_CONTROL, os.O_RDWR | _FLAGS)
    try:
        for _ in range(_TRIES):
            if _configured(fcntl.ioctl(control, _GET_FREE), configuration):
                return
    finally:
        os.close(control)
    raise OSError(errno.EBUSY, "other processes have taken every free loop device")


def find_by_label(label: str) -> tuple[BlockDevice, ...]:
    """The loop devices with that label, of those that this user may open."""
    attached = Path("/sys/block").glob("*/loop/backing_file")
    names = sorted(file.parent.parent.name for file in attached)
    return devices.read_present_devices(name for name in names if _label(name) == label.encode())


def _configured(number: int, configuration: bytes) -> bool:
    """Whether the device was still free."""
    device = os.open(f"/dev/loop{number}", os.O_RDWR | _FLAGS)
    try:
        _configure(device, configuration)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        return False
    finally:
        os.close(device)
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
        device = os.open(f"/dev/{name}", os.O_RDONLY | _FLAGS)
        try:
            status = fcntl.ioctl(device, _GET_STATUS64, bytes(_INFO.size))
        finally:
            os.close(device)
        label: bytes = _INFO.unpack(status)[2]
        return label.rstrip(b"\0")
    return b""
