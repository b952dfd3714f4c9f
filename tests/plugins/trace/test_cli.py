"""Tests of ``iostudy trace`` on a real disk: complete, stopped, failed and killed."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from iostudy.settings.trace_instance import PREFIX
from iostudy_trace.matching import match
from iostudy_trace.trace_file import read_trace
from tests.cli.program import HANG_GUARD_SECONDS, Program

pytestmark = [pytest.mark.root, pytest.mark.usefixtures("tracing")]
MIB = 1 << 20


def read(loop: str, count: int = 64) -> list[str]:
    """dd that reads 64 KiB at a time."""
    node = f"/dev/{loop}"
    return ["dd", f"if={node}", "of=/dev/null", "bs=64k", f"count={count}", "iflag=direct"]


def instances(tracing: Path) -> list[Path]:
    return list((tracing / "instances").glob(f"{PREFIX}*"))


def wait_until_records(tracing: Path, running: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + HANG_GUARD_SECONDS
    while not any(_records(path) for path in instances(tracing)):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)


def _records(instance: Path) -> bool:
    """Whether it is set up: a new instance is on, and is switched off before its events are on."""
    event = instance / "events/block/block_bio_queue/enable"
    try:
        return event.read_text() == "1\n" and (instance / "tracing_on").read_text() == "1\n"
    except OSError:
        return False


@pytest.mark.process
def test_a_command_is_recorded_with_its_thread_and_exit_code(
    tracing: Path, loop: str, program: Program
) -> None:
    command = ["sh", "-c", " ".join([*read(loop), "status=none;", "exit 7"])]
    done = program("trace", "record", "--device", loop, "--out", "new.parquet", "--", *command)
    assert done.returncode == 7, done.stderr
    assert "written: new.parquet" in done.stderr
    assert " 0 lost" in done.stderr
    assert instances(tracing) == []
    trace = match(read_trace(program.folder / "new.parquet"))
    (pid,) = {bio.pid for bio in trace.bios if bio.command == "dd"}
    own = [bio for bio in trace.bios if bio.pid == pid]
    assert len(own) == 64
    assert all(bio.device == loop and bio.bytes == 65536 for bio in own)
    assert all(bio.queued_ns < bio.completed_ns for bio in own)
    ends = [bio.completed_ns for bio in own]
    assert all(end < bio.queued_ns for end, bio in zip(ends, own[1:], strict=False))
    assert trace.counts["block_plug"] > 0

    document = json.loads(program("trace", "show", "new.parquet", "--json").stdout)
    assert document["schema"] == "iostudy.trace/1"
    (reads,) = [each for each in document["requests"] if each["operation"] == "read"]
    assert (reads["requests"], reads["bytes"]) == (64, 4 * MIB)
    assert reads["sequential"] > 0.9
    shown = program("trace", "show", "new.parquet").stdout
    assert "dd" in shown
    assert "latency p50/p99/max, us" in shown


@pytest.mark.process
def test_a_signal_ends_a_recording_with_a_complete_file(
    tracing: Path, loop: str, program: Program
) -> None:
    options = ("--device", f"/dev/{loop}", "--duration", "1h", "--out", "new.parquet")
    running = program.start("trace", "record", *options)
    wait_until_records(tracing, running)
    subprocess.run([*read(loop), "status=none"], check=True)
    running.send_signal(signal.SIGINT)
    _, messages = running.communicate(timeout=HANG_GUARD_SECONDS)
    assert running.returncode == 130, messages
    trace = match(read_trace(program.folder / "new.parquet"))
    assert sum(bio.bytes for bio in trace.bios if bio.command == "dd") == 4 * MIB
    assert instances(tracing) == []


@pytest.mark.process
def test_next_command_removes_what_a_killed_recording_left(
    tracing: Path, loop: str, program: Program
) -> None:
    running = program.start("trace", "record", "--device", loop, "--duration", "1h")
    wait_until_records(tracing, running)
    program.kill_without_watchdog(running)
    (left,) = instances(tracing)
    done = program("get", "block.scheduler", "--on", loop)
    assert f"restored: trace instance {left.name}" in done.stderr
    assert instances(tracing) == []
    assert not list(program.folder.glob("*.parquet"))


@pytest.mark.process
def test_bios_of_a_partition_are_those_of_its_disk(loop: str, program: Program) -> None:
    """addpart(8) makes a partition without a table."""
    subprocess.run(["addpart", f"/dev/{loop}", "1", "2048", "65536"], check=True)
    number = (Path("/sys/class/block") / f"{loop}p1" / "dev").read_text().strip()
    node = program.folder / "partition"
    subprocess.run(["mknod", node, "b", *number.split(":")], check=True)
    try:
        command = ["dd", f"if={node}", "of=/dev/null", "bs=64k", "count=8", "iflag=direct"]
        done = program(
            "trace", "record", "--device", str(node), "--out", "new.parquet", "--", *command
        )
        assert done.returncode == 0, done.stderr
    finally:
        subprocess.run(["delpart", f"/dev/{loop}", "1"], check=True)
    trace = match(read_trace(program.folder / "new.parquet"))
    own = [bio for bio in trace.bios if bio.command == "dd"]
    assert [bio.device for bio in own] == [loop] * 8
    assert own[0].sector == 2048
    assert all(bio.completed_ns for bio in own)


def test_a_time_is_recorded(loop: str, program: Program) -> None:
    done = program(
        "trace", "record", "--device", loop, "--duration", "100ms", "--out", "new.parquet"
    )
    assert done.returncode == 0, done.stderr
    assert list(read_trace(program.folder / "new.parquet")) is not None


def test_a_command_that_cannot_start_leaves_nothing(
    tracing: Path, loop: str, program: Program
) -> None:
    options = ("--device", loop, "--out", "new.parquet")
    done = program("trace", "record", *options, "--", "no-such-program")
    assert (done.returncode, "to run no-such-program" in done.stderr) == (127, True)
    assert not list(program.folder.glob("*.parquet"))
    assert instances(tracing) == []


def test_a_full_disk_is_an_error_and_the_command_is_awaited(
    tracing: Path, loop: str, program: Program, tmp_path: Path
) -> None:
    small = tmp_path / "small"
    small.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=755", "nodev", small], check=True)
    try:
        mark = tmp_path / "ended"
        work = " ".join([*read(loop, 1024), "bs=4k status=none;", f"touch {mark}"])
        options = ("--device", loop, "--out", str(small / "new.parquet"))
        done = program("trace", "record", *options, "--", "sh", "-c", work)
        assert done.returncode == 3, done.stderr
        assert "to write the trace" in done.stderr
        assert mark.exists()
        assert list(small.iterdir()) == []
    finally:
        subprocess.run(["umount", small], check=True)
    assert instances(tracing) == []


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "a command after --, or --duration"),
        (["--duration", "1s", "--", "true"], "both"),
        (["--"], "give a command after --"),
        (["--duration", "soon"], "not a time"),
        (["--duration", "1s", "--device", "no-such-device"], "no-such-device"),
    ],
)
def test_a_wrong_request_is_refused(program: Program, arguments: list[str], message: str) -> None:
    done = program("trace", "record", *arguments)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_an_existing_file_is_kept(program: Program, loop: str) -> None:
    path = program.folder / "old.parquet"
    path.write_text("precious")
    options = ("--device", loop, "--duration", "1s", "--out", str(path))
    done = program("trace", "record", *options)
    assert (done.returncode, "the name of a new file" in done.stderr) == (2, True)
    assert path.read_text() == "precious"
