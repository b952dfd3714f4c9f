"""Loop devices and state directories for tests; use as fixtures or as plain context managers."""

from __future__ import annotations

import errno
import fcntl
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.host.devices import parse_scheduler, read_device
from iostudy.host.inventory import read_queue
from tests.run_folders import locked_folder

MIB = 1 << 20
_LOOP_CTL_ADD, _LOOP_CTL_REMOVE = 0x4C80, 0x4C81


@contextmanager
def loop_disk(size_bytes: int = 64 * MIB) -> Iterator[str]:
    """The kernel name (``loop0``) of a loop device with direct I/O, mq-deadline and defaults.

    The queue of a loop device outlives its file, so its scheduler is restored at the end.
    """
    with locked_folder() as folder:
        image = folder / "disk"
        image.touch()
        os.truncate(image, size_bytes)
        command = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
        name = Path(_attach(command)).name
        scheduler = Path("/sys/block") / name / "queue/scheduler"
        try:
            original = parse_scheduler(scheduler.read_text()).current
            scheduler.write_text("none")
            scheduler.write_text("mq-deadline")
            yield name
        finally:
            if read_device(name).backing_file == image:
                scheduler.write_text(original)
                subprocess.run(["losetup", "--detach", f"/dev/{name}"], check=True)


def _attach(command: list[str]) -> str:
    """Run losetup again if another process took the device that it found free."""
    for _ in range(10):
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@contextmanager
def new_loop(size_bytes: int = 64 * MIB) -> Iterator[str]:
    """The kernel name of a loop device of a new number, which is gone at the end."""
    number = 1000 + os.getpid() % 10_000
    with locked_folder() as folder, Path("/dev/loop-control").open("rb", buffering=0) as control:
        image = folder / "disk"
        image.touch()
        os.truncate(image, size_bytes)
        fcntl.ioctl(control, _LOOP_CTL_ADD, number)
        try:
            device = f"/dev/loop{number}"
            subprocess.run(["losetup", "--direct-io=on", device, str(image)], check=True)
            yield f"loop{number}"
            subprocess.run(["losetup", "--detach", device], check=True)
        finally:
            fcntl.ioctl(control, _LOOP_CTL_REMOVE, number)


def replace_loop(name: str) -> None:
    """Take the loop device away, kernel's folder and all, and make another of its name.

    Another test may get the free device; then this waits for its end.
    Source: loop(4), LOOP_CTL_REMOVE and LOOP_CTL_ADD.
    """
    image, number = read_device(name).backing_file, int(name.removeprefix("loop"))
    subprocess.run(["losetup", "--detach", f"/dev/{name}"], check=True)
    with Path("/dev/loop-control").open("rb", buffering=0) as control:
        hang_guard = time.monotonic() + 60
        while not _renewed(control.fileno(), number, image):
            assert time.monotonic() < hang_guard, f"/dev/{name} cannot be had"
            time.sleep(0.05)


def _renewed(control: int, number: int, image: Path | None) -> bool:
    """Whether nobody else held the device of this number while another was made of it."""
    try:
        fcntl.ioctl(control, _LOOP_CTL_REMOVE, number)
        fcntl.ioctl(control, _LOOP_CTL_ADD, number)
    except OSError as error:
        if error.errno in {errno.EBUSY, errno.EEXIST, errno.ENODEV}:
            return False
        raise
    attach = ["losetup", "--direct-io=on", f"/dev/loop{number}", str(image)]
    return subprocess.run(attach, capture_output=True, check=False).returncode == 0


def queue_state(name: str) -> dict[str, str]:
    """Every attribute of the device's queue, as text."""
    return read_queue(read_device(name))


@pytest.fixture
def loop() -> Iterator[str]:
    """A loop device of 64 MiB."""
    with loop_disk() as name:
        yield name


@pytest.fixture
def two_loops() -> Iterator[tuple[str, str]]:
    """Two further loop devices."""
    with loop_disk() as first, loop_disk() as second:
        yield first, second


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    directory = tmp_path / "state"
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(directory))
    return directory
