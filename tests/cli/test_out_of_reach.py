"""Changes of a killed command on absent mounts and in other namespaces: kept, and no obstacle."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from iostudy.settings import kinds
from iostudy.settings.change import Change, Setting
from iostudy.settings.transaction.transaction import Transaction
from iostudy.settings.work_folder import WorkFolder
from tests.attack import in_namespace
from tests.cli.program import HANG_GUARD_SECONDS, LOOPBACK, Program, endless, study
from tests.device.mounted import mount, unmount

pytestmark = pytest.mark.root

NOTE = "not restored yet: "
NOT_RESTORED = 4


@pytest.fixture
def data(loop: str, tmp_path: Path) -> Iterator[Path]:
    """The mount point of an ext4, mounted at the end as well."""
    point = tmp_path / "data"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{loop}"], check=True)
    mount(f"/dev/{loop}", point)
    yield point
    unmount(point)


def perform(program: Program, *changes: Change) -> None:
    """What a command does that is killed before it can restore anything."""
    Transaction(directory=program.folder / "state").apply(*changes)


def journals(program: Program) -> list[Path]:
    return list((program.folder / "state").glob("*.journal"))


def test_a_work_folder_waits_for_its_file_system(program: Program, loop: str, data: Path) -> None:
    in_namespace.killed(lambda: perform(program, WorkFolder.prepare(data)))
    (folder,) = data.glob("iostudy-work-*")
    unmount(data)
    try:
        program.write(study(blocks=5))
        done = program.run_study()
        assert done.returncode == 0, done.stderr
        assert done.stderr.count(NOTE) == 1
        assert f"to remove the work folder {folder}" in done.stderr
        refused = program("restore")
        assert refused.returncode == NOT_RESTORED
        assert "mount it there" in refused.stderr
        assert "--accept" in refused.stderr
        assert len(journals(program)) == 1
    finally:
        mount(f"/dev/{loop}", data)
    done = program("restore")
    assert done.returncode == 0, done.stderr
    assert f"restored: work folder {folder}: removed" in done.stderr
    assert not folder.exists()
    assert journals(program) == []


def test_a_file_system_that_is_gone_for_good_is_accepted(
    program: Program, loop: str, data: Path
) -> None:
    in_namespace.killed(lambda: perform(program, WorkFolder.prepare(data)))
    unmount(data)
    subprocess.run(["mkfs.ext4", "-q", "-F", f"/dev/{loop}"], check=True)
    mount(f"/dev/{loop}", data)
    assert program("restore").returncode == NOT_RESTORED
    assert program("restore", "--force").returncode == NOT_RESTORED
    done = program("restore", "--accept")
    assert done.returncode == 0, done.stderr
    assert "accepted unchanged" in done.stderr
    assert journals(program) == []


def test_options_in_another_namespace_stop_only_their_own_target(
    program: Program, loop: str, data: Path
) -> None:
    def act() -> None:
        wanted: dict[Setting, str] = dict.fromkeys(kinds.bind("mount.atime", data), "noatime")
        perform(program, *kinds.prepare_changes(wanted))

    with in_namespace.kept(act) as pid:
        done = program("set", "block.read_ahead_kb=64", "--on", loop)
        assert done.returncode == NOT_RESTORED, done.stderr
        assert "mount.atime" in done.stderr
        program.write(study(LOOPBACK.replace("{loopback: {size: 64MiB}}", str(data))))
        assert program.run_study().returncode == NOT_RESTORED
        assert f"nsenter --mount=/proc/{pid}/ns/mnt" in program("restore").stderr
        done = program("settings")
        assert (done.returncode, done.stderr.count(NOTE)) == (0, 1)
    done = program("restore")
    assert done.returncode == 0, done.stderr
    assert "its mount namespace has ended" in done.stderr
    assert journals(program) == []


@pytest.mark.exclusive("host")
def test_a_sysctl_of_another_network_namespace_waits_there(program: Program) -> None:
    key = "net.ipv4.tcp_fin_timeout"
    file = Path("/proc/sys", key.replace(".", "/"))
    level = f"{int(file.read_text()) + 1}"

    def act() -> None:
        wanted: dict[Setting, str] = dict.fromkeys(kinds.bind(f"sysctl.{key}", "."), level)
        perform(program, *kinds.prepare_changes(wanted))

    with in_namespace.kept(act, in_namespace.NETWORK) as pid:
        inside = ["nsenter", f"--net=/proc/{pid}/ns/net"]

        def read() -> str:
            return subprocess.check_output([*inside, "cat", file], text=True).strip()

        refused = program("restore")
        assert refused.returncode == NOT_RESTORED, refused.stderr
        assert f"{shlex.join(inside)} iostudy restore" in refused.stderr
        assert read() == level
        assert program("settings").returncode == 0
        environment = {**program.env, "PYTHONPATH": os.pathsep.join(sys.path)}
        restore = [*inside, sys.executable, "-m", "iostudy", "restore"]
        subprocess.run(restore, env=environment, check=True)
        assert int(read()) != int(level)
    assert journals(program) == []


def remount_read_only(point: str) -> None:
    """Remount as soon as no file is open for writing, which the kernel refuses (EBUSY)."""
    deadline = time.monotonic() + HANG_GUARD_SECONDS
    while subprocess.run(["mount", "-o", "remount,ro", point], check=False).returncode:
        assert time.monotonic() < deadline, f"{point} stays busy"


def test_a_scratch_file_system_that_turns_read_only_is_a_failed_trial(program: Program) -> None:
    program.write(endless())
    process = program.start_study()
    point = first_mount(program.out)
    remount_read_only(point)
    _, error = process.communicate(timeout=300)
    assert process.returncode == 3, error
    assert journals(program) == []
    assert list(program.out.glob("scratch-*")) == []


def first_mount(folder: Path) -> str:
    """The first mount point below the folder, once there is one."""
    while True:
        lines = Path("/proc/self/mounts").read_text(errors="replace").splitlines()
        for point in (line.split()[1] for line in lines):
            if point.startswith(str(folder)) and list(Path(point).glob("iostudy-work-*/*")):
                return point
