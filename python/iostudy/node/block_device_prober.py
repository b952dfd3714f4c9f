"""Prober of a block device: direct requests, timed by the monotonic clock."""

from __future__ import annotations

import mmap
import os
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from iostudy.errors import TrialError
from iostudy.host.devices import BlockDevice, class_folder
from iostudy.prober import BLOCK_BYTES, Request, Timing
from iostudy.safe_path import closing

_MOST_DEPTH = 32
_MOST_BYTES = 1 << 20
_SPIN_NS = 300_000
"""The end of an idle time, in which the clock is polled; a sleep may end that late."""


class BlockDeviceProber:
    """A block device by its descriptor; every request bypasses the page cache."""

    def __init__(self, descriptor: int, device: BlockDevice) -> None:
        disk = device.disk
        self._descriptor = descriptor
        self._where = str(device.path)
        self.unit = max(1, _read_queue(disk, "logical_block_size") // BLOCK_BYTES)
        self.blocks = device.size_bytes // BLOCK_BYTES // self.unit * self.unit
        largest = min(_MOST_BYTES, _read_queue(disk, "max_sectors_kb") * 1024)
        self.most_blocks = max(1, largest // BLOCK_BYTES // self.unit) * self.unit
        self.most_depth = _MOST_DEPTH
        # Memory of whole pages, as O_DIRECT needs; writes store random bytes.
        self._buffers = [mmap.mmap(-1, _MOST_BYTES) for _ in range(_MOST_DEPTH)]
        content = os.urandom(_MOST_BYTES)
        for buffer in self._buffers:
            buffer.write(content)

    def run(self, requests: Sequence[Request], depth: int) -> list[Timing]:
        """Send requests in order. TrialError names the block of a failed one."""
        if depth == 1:
            return [self._serve(request, self._buffers[0]) for request in requests]
        times: list[Timing | None] = [None] * len(requests)
        errors: list[TrialError] = []
        pending, lock = iter(enumerate(requests)), threading.Lock()

        def work(buffer: mmap.mmap) -> None:
            while not errors:
                with lock:
                    index, request = next(pending, (-1, None))
                if request is None:
                    return
                try:
                    times[index] = self._serve(request, buffer)
                except TrialError as error:
                    errors.append(error)

        workers = [threading.Thread(target=work, args=(b,)) for b in self._buffers[:depth]]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        if errors:
            raise errors[0]
        return [timing for timing in times if timing is not None]

    def _serve(self, request: Request, buffer: mmap.mmap) -> Timing:
        _idle(request.idle_ns)
        size, offset = request.blocks * BLOCK_BYTES, request.block * BLOCK_BYTES
        with memoryview(buffer)[:size] as view:
            start = time.monotonic_ns()
            try:
                moved = self._transfer(request.operation, view, offset)
            except OSError as error:
                raise self._failed(request, error.strerror or str(error)) from error
            end = time.monotonic_ns()
        if moved != size:
            raise self._failed(request, f"{moved} of {size} bytes")
        return Timing(start, end)

    def _transfer(self, operation: str, view: memoryview, offset: int) -> int:
        match operation:
            case "read":
                return os.preadv(self._descriptor, [view], offset)
            case "write":
                return os.pwritev(self._descriptor, [view], offset)
            case "fua":
                return os.pwritev(self._descriptor, [view], offset, os.RWF_DSYNC)
            case _:
                os.fdatasync(self._descriptor)
                return len(view)

    def _failed(self, request: Request, found: str) -> TrialError:
        return TrialError(
            f"a {request.operation} of {request.blocks} blocks at block {request.block}",
            found=found,
            where=self._where,
            remedy="see dmesg; a drive with errors cannot be measured there",
        )


def _idle(duration_ns: int) -> None:
    """Wait exactly: sleep first, and poll the clock at the end."""
    if not duration_ns:
        return
    end = time.monotonic_ns() + duration_ns
    if duration_ns > _SPIN_NS:
        time.sleep((duration_ns - _SPIN_NS) / 1e9)
    while time.monotonic_ns() < end:
        pass


def _read_queue(disk: str, attribute: str) -> int:
    return int((class_folder(disk) / "queue" / attribute).read_text("ascii"))


@contextmanager
def open_prober(path: Path, device: BlockDevice, *, write: bool) -> Iterator[BlockDeviceProber]:
    """Prober of the device at ``path``; TrialError if it cannot be opened.

    With ``write`` the kernel refuses a device that is in use (O_EXCL).
    """
    flags = os.O_RDWR | os.O_EXCL if write else os.O_RDONLY
    try:
        descriptor = os.open(path, flags | os.O_DIRECT | os.O_CLOEXEC)
    except OSError as error:
        raise TrialError(
            "to open the device for direct I/O",
            found=error.strerror or str(error),
            where=str(path),
            remedy="run as root; the device must not be in use if it is written",
        ) from error
    with closing(descriptor):
        yield BlockDeviceProber(descriptor, device)
