"""A place to measure in: a disk of its own for root, a folder for everybody else."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from iostudy._native import FileJob, syncfs


@contextmanager
def scratch_folder(size_bytes: int) -> Iterator[Path]:
    """A folder below the current one; for root on a loop-back disk with ext4 and direct I/O.

    Whatever was made is removed again, in reverse order, however the measurement ends.
    """
    with ExitStack() as stack:
        here = Path.cwd()
        base = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="bench-", dir=here)))
        if os.geteuid() == 0:
            device = _attach(stack, _backing_file(base, size_bytes))
            yield _mount(stack, device, base / "mnt")
        else:
            yield base


def settle(folder: Path, read_next: list[Path]) -> None:
    """Write out what is dirty, and let the page cache forget what is read next."""
    syncfs(str(folder))
    if os.geteuid() == 0:
        Path("/proc/sys/vm/drop_caches").write_text("1")
        return
    for path in read_next:
        with path.open("rb") as file:
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def _backing_file(base: Path, size_bytes: int) -> Path:
    """Written once from start to end, so that no run pays for giving it room."""
    path = base / "disk"
    FileJob(
        [str(path)],
        operation="write",
        file_bytes=size_bytes,
        record_bytes=1 << 20,
        direct=False,
        fsync=True,
        seed=0,
    ).run()
    return path


def _attach(stack: ExitStack, backing: Path) -> str:
    device = _output("losetup", "--find", "--show", "--direct-io=on", str(backing))
    stack.callback(_output, "losetup", "--detach", device)
    return device


def _mount(stack: ExitStack, device: str, place: Path) -> Path:
    options = "nodiscard,lazy_itable_init=0,lazy_journal_init=0"
    _output("mkfs.ext4", "-q", "-F", "-E", options, device)
    place.mkdir()
    _output("mount", "-o", "noatime", device, str(place))
    stack.callback(_output, "umount", str(place))
    return place


def _output(*command: str) -> str:
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
