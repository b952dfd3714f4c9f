"""Modelled drives as block devices of a real kernel."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, TargetError, UsageError
from iostudy.host import devices, files, mounts
from iostudy.host.devices import parse_scheduler
from iostudy.settings import kinds
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem
from iostudy.settings.transaction import state
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.transaction import Transaction
from iostudy_lab.device import server as drive_server
from iostudy_lab.device import user_drive
from iostudy_lab.device.drive import ModelledDrive
from iostudy_lab.device.queue import read_driver_depth
from iostudy_lab.device.statistics import DriveStatistics
from tests.crash.killer import fork, kill_me

pytestmark = [
    pytest.mark.root,
    pytest.mark.skipif(not Path("/dev/fuse").exists(), reason="this kernel has no FUSE"),
]

SIZE = 64 << 20
MODEL = "ultrastar-7k8"


def make(transaction: Transaction, drive: ModelledDrive) -> NewFilesystem:
    transaction.apply(drive)
    transaction.apply(*drive.tune())
    filesystem = NewFilesystem.prepare(drive, Filesystem("ext4"))
    transaction.apply(filesystem)
    return filesystem


def queue(name: str) -> dict[str, str]:
    folder = Path("/sys/block") / name / "queue"
    names = ("scheduler", "nr_requests", "rotational", "max_sectors_kb", "read_ahead_kb")
    return {each: (folder / each).read_text() for each in names}


def gone(drive: ModelledDrive) -> bool:
    return not (
        drive_server.find(drive.folder)
        or devices.find_loop_devices(drive.image)
        or mounts.find_mounts_at(drive.served)
        or os.path.lexists(drive.folder)
    )


def test_a_drive_comes_and_goes(tmp_path: Path) -> None:
    with Transaction() as transaction:
        drive = ModelledDrive.prepare(tmp_path, MODEL, SIZE)
        transaction.apply(drive)
        name = drive.device.name
        before = queue(name)
        transaction.apply(*drive.tune())
        assert (queue(name)["rotational"], queue(name)["max_sectors_kb"]) == ("1\n", "256\n")
        assert parse_scheduler(queue(name)["scheduler"]).current == "mq-deadline"
        assert read_driver_depth(name) in (32, None)
        assert drive.device.size_bytes == drive.size_bytes
        made = NewFilesystem.prepare(drive, Filesystem("ext4"))
        transaction.apply(made)
        file = drive.mount_point / "file"
        file.write_bytes(os.urandom(1 << 20))
        content = file.read_bytes()
        subprocess.run(["sync", "-f", file], check=True)
        Path("/proc/sys/vm/drop_caches").write_text("1")
        assert file.read_bytes() == content
        statistics = DriveStatistics.from_json(drive.read_statistics())
        assert statistics.writes and statistics.reads and statistics.flushes
        assert statistics.commands == sum(statistics.lateness_ns.values())
    assert gone(drive)
    assert queue(name) == before


def test_the_end_of_a_drive_leaves_others_attached(tmp_path: Path) -> None:
    with Transaction() as transaction:
        other = ModelledDrive.prepare(tmp_path, MODEL, SIZE)
        transaction.apply(other)
        with Transaction() as inner:
            inner.apply(ModelledDrive.prepare(tmp_path, MODEL, SIZE))
        assert other.device.size_bytes == other.size_bytes


@pytest.mark.parametrize("scheduler", ["none", "mq-deadline", "kyber", "bfq"])
def test_never_more_in_flight_than_the_drive_takes(tmp_path: Path, scheduler: str) -> None:
    with Transaction() as transaction:
        drive = ModelledDrive.prepare(tmp_path, "ssd-data-centre", SIZE)
        transaction.apply(drive)
        transaction.apply(*drive.tune())
        device = drive.device
        chosen = Path("/sys/block") / device.name / "queue/scheduler"
        if scheduler not in parse_scheduler(chosen.read_text()).available:
            pytest.skip(f"this kernel has no {scheduler}")
        chosen.write_text("none")
        chosen.write_text(scheduler)
        command = f"fio --name=x --filename={device.path} --rw=randread --bs=4k --direct=1"
        more = " --ioengine=libaio --iodepth=120 --runtime=300ms --time_based"
        subprocess.run((command + more).split(), check=True, capture_output=True)
        found = drive.read_statistics()
        assert drive.drive is not None
        assert found["over_depth"] == 0
        assert 1 < found["most_in_flight"] <= drive.drive.depth


def test_statistics_are_whole_while_commands_complete(tmp_path: Path) -> None:
    with Transaction() as transaction:
        drive = ModelledDrive.prepare(tmp_path, "ssd-data-centre", SIZE)
        transaction.apply(drive)
        command = f"fio --name=x --filename={drive.device.path} --rw=randread --bs=4k --direct=1"
        more = " --ioengine=libaio --iodepth=8 --runtime=2 --time_based"
        with subprocess.Popen((command + more).split(), stdout=subprocess.DEVNULL) as work:
            while work.poll() is None:
                statistics = DriveStatistics.from_json(drive.read_statistics())
        assert len(statistics.lateness_ns) > 1000  # longer than a buffer of Python's files
        assert statistics.commands == sum(statistics.lateness_ns.values())


def test_a_killed_server_hangs_nothing(tmp_path: Path) -> None:
    drive = ModelledDrive.prepare(tmp_path, MODEL, SIZE)
    with Transaction() as transaction:
        make(transaction, drive)
        command = ["fio", "--name=x", f"--filename={drive.mount_point}/file", "--size=16m"]
        more = ["--rw=randwrite", "--direct=1", "--ioengine=libaio", "--iodepth=16"]
        timed = ["--runtime=300", "--time_based"]
        work = subprocess.Popen([*command, *more, *timed], stderr=subprocess.DEVNULL)
        time.sleep(1)
        for pid in drive_server.find(drive.folder):
            os.kill(pid, signal.SIGKILL)
        assert work.wait(200) != 0
        with pytest.raises(TargetError, match="its server has ended"):
            drive.read_statistics()
    assert gone(drive)


def test_kill_of_the_run(tmp_path: Path) -> None:
    drive = ModelledDrive.prepare(tmp_path, MODEL, SIZE, nbd=True)

    def run() -> None:
        with Transaction() as transaction:
            make(transaction, drive)
            (drive.mount_point / "file").write_bytes(b"data")
            kill_me()

    fork(run)
    assert drive_server.find(drive.folder)
    assert drive.socket.is_socket()
    assert not restore_stale().undo_result.failures
    assert gone(drive)


@pytest.mark.parametrize("seconds", [0.05, 0.15, 0.3, 0.5, 0.8])
def test_kill_of_the_run_while_it_starts(tmp_path: Path, seconds: float) -> None:
    drive = ModelledDrive.prepare(tmp_path, MODEL, SIZE)
    pid = os.fork()
    if not pid:
        with Transaction() as transaction:
            make(transaction, drive)
            time.sleep(60)
        os._exit(1)
    time.sleep(seconds)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    assert not restore_stale().undo_result.failures
    time.sleep(0.5)
    assert gone(drive)


def test_a_users_drive(tmp_path: Path) -> None:
    drive, other = user_drive.start(MODEL, None), user_drive.start(MODEL, SIZE)
    try:
        found, _ = user_drive.find_drives()
        assert (found.folder, found.size_bytes) == (drive.folder, 8 * 10**12)
        assert found.device == drive.device
        with pytest.raises(UsageError, match=r"/dev/null; there are /dev/loop\d+, /dev/loop\d+"):
            user_drive.stop([drive.device.path, Path("/dev/null")])
        assert not user_drive.stop([drive.device.path]).undo_result.failures
        assert gone(drive)
        (found,) = user_drive.find_drives()
        assert found.device == other.device
    finally:
        recovery = user_drive.stop_all()
    assert not recovery.undo_result.failures
    assert gone(other)
    assert user_drive.find_drives() == ()


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="one of"):
        ModelledDrive.prepare(tmp_path, "nothing", SIZE)
    with pytest.raises(UsageError, match="at most"):
        ModelledDrive.prepare(tmp_path, "atlas-10k", 1 << 40)
    with pytest.raises(TargetError, match="memory"):
        ModelledDrive.prepare(tmp_path, MODEL)


def test_a_scheduler_that_the_kernel_does_not_switch_is_an_error_in_time(tmp_path: Path) -> None:
    """The switch waits for requests under way, and the server of the drive is stopped."""
    with Transaction(directory=tmp_path / "drive") as transaction:
        drive = ModelledDrive.prepare(tmp_path, MODEL, SIZE)
        transaction.apply(drive)
        scheduler = Path("/sys/block") / drive.device.name / "queue/scheduler"
        before = parse_scheduler(scheduler.read_text())
        other = next(each for each in before.available if each != before.current)
        (setting,) = kinds.bind("block.scheduler", str(drive.device.path))
        (change,) = kinds.prepare_changes({setting: other})
        (server,) = drive_server.find(drive.folder)
        os.kill(server, signal.SIGSTOP)
        reader = subprocess.Popen(
            ["dd", f"if={drive.device.path}", "of=/dev/null", "bs=4K", "count=1", "iflag=direct"],
            stderr=subprocess.DEVNULL,
        )
        try:
            while (Path("/sys/block") / drive.device.name / "inflight").read_text().split()[
                0
            ] == "0":
                time.sleep(0.01)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(files.write_attribute, "__defaults__", (0.5,))
                own = Transaction(directory=tmp_path / "switch")
                with pytest.raises(RestoreError, match="has not ended a write") as failed, own:
                    own.apply(change)
            assert f"echo {before.current} > {scheduler}" in failed.value.remedy
        finally:
            os.kill(server, signal.SIGCONT)
            reader.wait()
        while files.is_being_written():
            time.sleep(0.01)
        assert parse_scheduler(scheduler.read_text()).current == other, "the late write has come"
        (journal,) = (tmp_path / "switch").glob("*.journal")
        assert state.open_locked(journal, create=False) is None
        change.undo()
        assert parse_scheduler(scheduler.read_text()).current == before.current
