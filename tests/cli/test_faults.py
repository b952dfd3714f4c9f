"""Tests of faults: a clear error, restored settings, and every finished trial kept."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from iostudy.host.devices import read_device
from iostudy.ledger.rows import TrialStatus
from iostudy.ledger.store import FILE_NAME
from tests.cli.program import LOOPBACK, endless, study
from tests.fixtures_loop import new_loop, queue_state

pytestmark = pytest.mark.root
ENDLESS = endless()
ON_DEVICE = LOOPBACK.replace("{loopback: {size: 64MiB}}", "PLACE")


@pytest.fixture
def mounted(loop, tmp_path):
    """A small ext4 on a loop device: (device name, mount point)."""
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{loop}"], check=True)
    subprocess.run(["mount", f"/dev/{loop}", point], check=True)
    try:
        yield loop, point
    finally:
        subprocess.run(["umount", point], check=True)


def finished(program):
    return [row for row in program.rows() if row.status is TrialStatus.FINISHED]


@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGTERM, 143), (signal.SIGINT, 130), (signal.SIGHUP, 129)],
    ids=["TERM", "INT", "HUP"],
)
def test_signal_ends_a_study_and_restores_everything(program, number, code):
    program.write(ENDLESS)
    process = program.start_study()
    program.wait_for_trials(process, 3)
    process.send_signal(number)
    _, stderr = process.communicate()
    assert process.returncode == code
    assert "Show them with: iostudy report out\n" in stderr
    assert "Resume with: iostudy run out --resume\n" in stderr
    assert "Traceback" not in stderr
    assert program.residue() == []
    assert len(finished(program)) >= 3


def test_repeated_signals_do_not_prevent_the_restore(program):
    program.write(ENDLESS)
    process = program.start_study()
    program.wait_for_trials(process, 1)
    process.send_signal(signal.SIGINT)
    while process.poll() is None:
        process.send_signal(signal.SIGTERM)
        process.send_signal(signal.SIGINT)
        time.sleep(0.001)
    process.communicate()
    assert process.returncode in (130, 143)
    assert program.residue() == []


def test_next_command_restores_after_kill_9_and_the_study_resumes(program):
    program.write(study(blocks=12).replace("3%", "0.01%"))
    process = program.start_study()
    program.wait_for_trials(process, 4)
    program.kill_without_watchdog(process)
    assert program.residue() != []
    kept = finished(program)
    done = program("settings")
    assert "restored: " in done.stderr
    assert "scratch disk" in done.stderr
    assert program.residue() == []
    done = program.run_study("--resume")
    assert done.returncode == 0, done.stderr
    assert [row.id for row in finished(program)][: len(kept)] == [row.id for row in kept]
    assert sum(row.status is TrialStatus.INTERRUPTED for row in program.rows()) <= 1
    assert program.residue() == []


def test_next_command_removes_further_disks_after_kill_9(program):
    others = "{loopback: {size: 32MiB, beside: {disk2: ext4, disk3: ext2}}}"
    program.write(ENDLESS.replace("{loopback: {size: 64MiB}}", others))
    process = program.start_study()
    program.wait_for_trials(process, 1)
    program.kill_without_watchdog(process)
    assert len(list(program.out.glob("scratch-*"))) == 3
    assert program("restore").returncode == 0
    assert program.residue() == []


def test_files_in_directories_of_the_user_go_after_kill_9(program, tmp_path):
    other = tmp_path / "other"
    other.mkdir()
    program.write(ENDLESS.replace("files: 2", f"files: 2, directories: [target, {other}]"))
    process = program.start_study()
    program.wait_for_trials(process, 1)
    program.kill_without_watchdog(process)
    assert any(other.iterdir())
    done = program("restore")
    assert done.returncode == 0, done.stderr
    assert list(other.iterdir()) == []
    assert program.residue() == []


def test_complete_study_is_only_rendered_again(program):
    """No disk is made for it, and whoever asks for its verdicts gets them."""
    program.write(study().replace("3%", "0.01%").replace("1000%", "9999%"))
    first = program.run_study()
    assert first.returncode == 0, first.stderr
    kept = program.rows()
    (program.out / "report.html").unlink()
    again = program.run_study("--resume", "--fail-on", "inconclusive")
    assert "creating a loop-back disk" not in again.stderr
    assert "the study in out is complete; this is its answer" in again.stderr
    assert (again.stdout, program.rows()) == (first.stdout, kept)
    assert (program.out / "report.html").exists()
    # A one-sided verdict decides one side only, and counts as inconclusive.
    undecided = ("inconclusive", "not worse", "not better")
    assert again.returncode == any(verdict in first.stdout for verdict in undecided)


def test_a_device_that_the_user_owns_gets_its_settings_back_after_kill_9(program, mounted):
    loop, point = mounted
    before = queue_state(loop)
    program.write(endless(ON_DEVICE.replace("PLACE", str(point))))
    process = program.start_study()
    program.wait_for_trials(process, 2)
    program.kill_without_watchdog(process)
    program("workloads")
    assert queue_state(loop) == before
    assert [path.name for path in point.iterdir()] == ["lost+found"]


def take_all_room(file):
    free = os.statvfs(file.fileno())
    room = free.f_bavail * free.f_frsize
    while room > 4096:
        try:
            os.posix_fallocate(file.fileno(), file.seek(0, os.SEEK_END), room)
        except OSError:
            room //= 2


def test_no_space_left_in_mid_trial(program, mounted):
    _, point = mounted
    text = endless(ON_DEVICE.replace("PLACE", str(point)))
    program.write(text)
    process = program.start_study()
    program.wait_for_trials(process, 2)
    with (point / "somebody-elses-data").open("wb") as file:
        # Again and again: what a trial removes is room once more.
        while process.poll() is None:
            take_all_room(file)
            time.sleep(0.01)
    _, stderr = process.communicate()
    assert process.returncode == 3
    assert "No space left" in stderr
    assert "remedy: " in stderr
    assert len(finished(program)) >= 2
    assert (program.out / "report.html").exists()
    assert sorted(p.name for p in point.iterdir()) == ["lost+found", "somebody-elses-data"]


def test_a_level_that_the_kernel_refuses_is_found_before_the_first_trial(program):
    program.write(study().replace("bfq", "cfq"))
    done = program.run_study()
    assert done.returncode == 3
    assert "cfq" in done.stderr
    assert "bfq" in done.stderr  # what is offered instead
    assert "remedy: " in done.stderr
    assert not (program.out / FILE_NAME).exists()
    assert program.residue() == []


def test_two_runs_on_one_device(program, mounted):
    _, point = mounted
    program.write(endless(ON_DEVICE.replace("PLACE", str(point))))
    process = program.start_study()
    program.wait_for_trials(process, 1)
    second = program("run", "study.yaml", "--out", "other")
    process.terminate()
    process.communicate()
    assert second.returncode == 2
    assert "is at work" in second.stderr
    assert str(process.pid) in second.stderr


@pytest.mark.process
def test_one_folder_under_two_lock_folders(program, tmp_path):
    """The second command names the first, which continues; its report can be read meanwhile."""
    program.write(ENDLESS.replace("foreign_io: 1000%", "foreign_io: 9999%, attempts: 10"))
    process = program.start_study()
    program.wait_for_trials(process, 1)
    program.env["IOSTUDY_LOCK_DIR"] = str(tmp_path / "other locks")
    second = program.run_study("--resume")
    reading = program("report", "out")
    process.terminate()
    _, stderr = process.communicate()
    assert second.returncode == 2, second.stderr
    assert "is at work on out" in second.stderr
    assert f"process {process.pid} " in second.stderr
    assert reading.returncode == 0, reading.stderr
    assert "Traceback" not in stderr


def test_the_output_folder_of_another_study(program):
    program.write(study())
    assert program.run_study().returncode == 0
    kept = program.rows()
    assert "already contains one" in program.run_study().stderr
    program.write(study().replace("Which?", "Which else?"))
    done = program.run_study("--resume")
    assert done.returncode == 2
    assert "another study" in done.stderr
    assert program.rows() == kept


def test_a_ledger_cut_short(program):
    program.write(study())
    assert program.run_study().returncode == 0
    path = program.out / FILE_NAME
    path.write_bytes(path.read_bytes()[:9000])
    for arguments in (("report", "out"), ("run", "study.yaml", "--out", "out", "--resume")):
        done = program(*arguments)
        assert done.returncode == 2
        assert "an intact ledger" in done.stderr
        assert "Traceback" not in done.stderr
    assert path.stat().st_size == 9000


@pytest.mark.parametrize(
    ("target", "words"),
    [
        ("/no/such/place", "it does not exist"),
        ("/proc", "a folder to work in"),
        ("/etc/passwd", "it is not a directory"),
        ("{scratch: {device: /etc/passwd}}", "no block device"),
        ("{loopback: {size: 15TiB}}", "free"),
    ],
)
def test_a_target_that_cannot_be_used(program, target, words):
    program.write(study(ON_DEVICE.replace("PLACE", target)))
    done = program.run_study("--yes")
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "remedy: " in done.stderr
    assert not (program.out / FILE_NAME).exists()


def test_a_target_that_is_read_only(program, mounted):
    loop, point = mounted
    subprocess.run(["mount", "-o", "remount,ro", f"/dev/{loop}", point], check=True)
    program.write(study(ON_DEVICE.replace("PLACE", str(point))))
    done = program.run_study()
    assert done.returncode == 2
    assert "Read-only file system" in done.stderr


def test_a_target_that_is_full(program, mounted):
    _, point = mounted
    text = ON_DEVICE.replace("PLACE", str(point)).replace("size: 4MiB", "size: 1GiB")
    program.write(study(text))
    done = program.run_study()
    assert done.returncode == 2
    assert " are free" in done.stderr
    assert [path.name for path in point.iterdir()] == ["lost+found"]


@pytest.mark.parametrize("form", ["{scratch: {device: PLACE}}", "PLACE"])
def test_a_device_that_holds_a_mounted_file_system_is_never_written_to(program, mounted, form):
    loop, point = mounted
    (point / "precious").write_text("data")
    program.write(study(ON_DEVICE.replace("PLACE", form.replace("PLACE", f"/dev/{loop}"))))
    done = program.run_study("--yes")
    assert done.returncode == 2
    assert str(point) in done.stderr
    assert (point / "precious").read_text() == "data"


def test_a_scratch_device_is_only_destroyed_after_leave(program, loop):
    text = ON_DEVICE.replace("PLACE", f"{{scratch: {{device: /dev/{loop}}}}}")
    program.write(study(text))
    before = queue_state(loop)
    done = program.run_study()
    assert done.returncode == 2
    assert "--yes" in done.stderr
    assert not program.out.exists()
    done = program.run_study("--yes")
    assert done.returncode == 0, done.stderr
    assert queue_state(loop) == before
    assert program.residue() == []


def test_a_study_is_not_resumed_on_another_disk_of_the_same_name(program, tmp_path):
    with new_loop() as loop:
        program.write(
            ENDLESS.replace("{loopback: {size: 64MiB}}", f"{{scratch: {{device: /dev/{loop}}}}}")
        )
        process = program.start_study("--yes")
        program.wait_for_trials(process, 1)
        process.terminate()
        process.communicate()
        first, other = read_device(loop).backing_file, tmp_path / "other"
        subprocess.run(["mkfs.ext4", "-q", other, "64M"], check=True)
        content = other.read_bytes()
        subprocess.run(["losetup", "--detach", f"/dev/{loop}"], check=True)
        subprocess.run(["losetup", f"/dev/{loop}", other], check=True)
        try:
            done = program.run_study("--resume", "--yes")
            assert done.returncode == 2
            assert f"/dev/{loop} is {other}, 64MiB; " in done.stderr
            assert other.read_bytes() == content
        finally:
            subprocess.run(["losetup", "--detach", f"/dev/{loop}"], check=True)
            subprocess.run(["losetup", "--direct-io=on", f"/dev/{loop}", first], check=True)
        resumed = program.start_study("--resume", "--yes")
        program.wait_for_trials(resumed, 2)
        resumed.terminate()
        resumed.communicate()
        assert program.residue() == []


@pytest.mark.parametrize(
    "arguments", [("settings",), ("doctor", "--json"), ("get", "block.nomerges")]
)
def test_a_full_disk_below_stdout_is_an_error_and_no_traceback(program, arguments):
    with Path("/dev/full").open("w") as full:
        done = program.start(*arguments, stdout=full)
        _, stderr = done.communicate()
    assert done.returncode == 3
    assert "stdout" in stderr
    assert "No space left on device" in stderr
    assert "Traceback" not in stderr
    assert "Exception ignored" not in stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("settings",),
        ("doctor", "--json"),
        ("get", "block.nomerges"),
        ("watch",),
        ("watch", "--json"),
        ("watch", "--csv"),
        ("--help",),
        ("run", "--help"),
        ("--version",),
    ],
)
def test_closed_pipe_of_stdout_exits_with_141(program, arguments):
    reads, writes = os.pipe()
    os.close(reads)
    with os.fdopen(writes, "w") as gone:
        done = program.start(*arguments, stdout=gone)
        _, stderr = done.communicate()
    assert (done.returncode, stderr) == (128 + signal.SIGPIPE, "")


@pytest.mark.parametrize("gone", ["full", "unread"])
def test_closed_stderr_does_not_change_the_exit_code(program, gone):
    reads, writes = os.pipe()
    os.close(reads)
    with Path("/dev/full").open("w") as full, os.fdopen(writes, "w") as unread:
        stderr = full if gone == "full" else unread
        done = program.start("doctor", "/no/such/place", stderr=stderr)
        stdout, _ = done.communicate()
    assert (done.returncode, stdout) == (2, "")


def test_closed_stdout_is_an_error_and_its_descriptor_is_not_reused(program):
    done = program.start("settings", before=lambda: os.close(1))
    _, stderr = done.communicate()
    assert done.returncode == 3
    assert "Bad file descriptor" in stderr
    assert "Traceback" not in stderr


def test_inaccessible_state_directory_is_reported(program):
    state = program.folder / "state"
    state.write_text("no folder")
    done = program("restore")
    assert (done.returncode, "is not a directory" in done.stderr) == (2, True)
    done = program("settings")
    assert (done.returncode, "warning: " in done.stderr) == (0, True)
    state.unlink()
