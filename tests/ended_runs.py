"""Removal of what a killed run of the tests has left on the host, at the beginning of the next run.

Each process of a run holds a lock in its folder of temporary files. The kernel releases it when the
process ends, whatever ends it. So a folder of this user whose locks are free belongs to no run, and
neither do the clusters, mounts and loop devices below it.
"""

from __future__ import annotations

import fcntl
import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from iostudy.host.devices import disk_names, read_device
from iostudy.host.mounts import read_mounts
from tests.shared_resources import hold

if find_spec("iostudy_hadoop"):
    from iostudy_hadoop.processes import CLUSTER, UIDS
else:
    CLUSTER, UIDS = "IOSTUDY_CLUSTER", range(0)

LOCK = "run.lock"
_RUNS = "pytest-of-"
"""Beginning of the name of pytest's folder for a user."""


@pytest.fixture(scope="session", autouse=True)
def _own_folder(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[None]:
    """Hold the lock of this process; as root, remove what ended runs have left."""
    folder = tmp_path_factory.getbasetemp()
    with (folder / LOCK).open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        # Unit tests leave nothing, and start no programs.
        if os.geteuid() == 0 and pytestconfig.option.markexpr != "unit":
            for runs in folder.parents:
                if runs.name.startswith(_RUNS):
                    with hold("ended-runs"):
                        clean_up(runs)
        yield


def clean_up(runs: Path) -> None:
    """Remove what is left of the runs in this folder that have ended."""
    for run in runs.iterdir():
        if not run.is_symlink() and _has_ended(run):
            for pid in _find_processes(run):
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            for mount in reversed(read_mounts()):
                if mount.point.is_relative_to(run):
                    subprocess.run(["umount", mount.point], check=False)
            for name in disk_names():
                backing = read_device(name).backing_file
                if backing is not None and backing.is_relative_to(run):
                    subprocess.run(["losetup", "--detach", f"/dev/{name}"], check=False)


def _has_ended(run: Path) -> bool:
    """Whether processes have run tests there, and none of them is left."""
    locks = [*run.glob(LOCK), *run.glob(f"*/{LOCK}")]
    return bool(locks) and all(map(_is_free, locks))


def _is_free(lock: Path) -> bool:
    with lock.open() as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
    return True


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
