"""Restoration of the host, at the beginning of a run of the tests, after one that was killed.

It restores settings from journals, kills clusters, and removes mounts and loop devices of the
folders of `run_folders`.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from iostudy.host.devices import disk_names, read_device
from iostudy.host.mounts import read_mounts
from iostudy.settings.transaction.recovery import restore_all
from tests.run_folders import LOCK, PREFIX, find_locks, has_ended, lock
from tests.shared_resources import hold

if find_spec("iostudy_hadoop"):
    from iostudy_hadoop.processes import CLUSTER, UIDS
else:
    CLUSTER, UIDS = "IOSTUDY_CLUSTER", range(0)

_RUNS = "pytest-of-"
"""Beginning of the name of pytest's folder for a user."""


@pytest.fixture(scope="session", autouse=True)
def _own_folder(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Hold the lock of this process; as root, restore and remove what ended runs have left.

    A run that ends normally removes its lock, because its tests have restored what they changed.
    """
    folder = tmp_path_factory.getbasetemp()
    with lock(folder):
        # Unit tests leave nothing, and start no programs.
        if os.geteuid() == 0 and pytestconfig.option.markexpr != "unit":
            runs = [path for path in folder.parents if path.name.startswith(_RUNS)]
            others = Path(tempfile.gettempdir()).glob(f"{PREFIX}*")
            with hold("ended-runs"):
                clean_up([*(run for path in runs for run in path.iterdir()), *others])
        yield
        (folder / LOCK).unlink()


def clean_up(runs: Iterable[Path]) -> None:
    """Restore the settings of runs that have ended, and remove their mounts and devices."""
    for run in filter(has_ended, runs):
        for pid in _find_processes(run):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for held in find_locks(run):
            worker = held.parent
            journals = [*worker.glob("state/*.journal"), *worker.glob("*/state/*.journal")]
            if journals:  # The test that was running has written the last.
                restore_all(max(journals, key=lambda path: path.stat().st_mtime).parent)
        for mount in reversed(read_mounts()):
            if mount.point.is_relative_to(run):
                subprocess.run(["umount", mount.point], check=False)
        for name in disk_names():
            backing = read_device(name).backing_file
            if backing is not None and backing.is_relative_to(run):
                subprocess.run(["losetup", "--detach", f"/dev/{name}"], check=False)


def _find_processes(run: Path) -> list[int]:
    """Daemons of clusters below the folder, and iostudy with its state there."""
    below = os.fsencode(run) + b"/"
    state, cluster = b"IOSTUDY_STATE_DIR=" + below, CLUSTER.encode() + b"="
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdecimal() or int(entry.name) == os.getpid():
            continue
        with suppress(OSError):
            if entry.stat().st_uid not in (os.geteuid(), *UIDS):
                continue
            variables = (entry / "environ").read_bytes().split(b"\0")
            words = (entry / "cmdline").read_bytes()
            is_daemon = below in words and any(own.startswith(cluster) for own in variables)
            if is_daemon or any(own.startswith(state) for own in variables):
                found.append(int(entry.name))
    return found
