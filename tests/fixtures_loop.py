"""Loop devices and state directories for tests; use as fixtures or as plain context managers."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.host.devices import parse_scheduler, read_device
from iostudy.host.inventory import read_queue

MIB = 1 << 20


@contextmanager
def loop_disk(size_bytes: int = 64 * MIB) -> Iterator[str]:
    """The kernel name (``loop0``) of a loop device with direct I/O, mq-deadline and defaults.

    The queue of a loop device outlives its file, so its scheduler is put back at the end.
    """
    with tempfile.TemporaryDirectory() as folder:
        image = Path(folder) / "disk"
        image.touch()
        os.truncate(image, size_bytes)
        command = ["losetup", "--find", "--show", "--direct-io=on", str(image)]
        name = Path(subprocess.check_output(command, text=True).strip()).name
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


def queue_state(name: str) -> dict[str, str]:
    """Every attribute of the device's queue, as text."""
    return read_queue(read_device(name))


@pytest.fixture
def loop() -> Iterator[str]:
    """A loop device of 64 MiB."""
    with loop_disk() as name:
        yield name


@pytest.fixture
def state_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state directory of the test's own."""
    directory = tmp_path / "state"
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(directory))
    return directory
