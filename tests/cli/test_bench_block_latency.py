"""Tests of ``bench --block-latency`` on a real disk, complete and killed."""

from __future__ import annotations

import json
import subprocess
import time
from contextlib import suppress
from pathlib import Path

import pytest

from iostudy.cli.bench.json_output import BenchReport
from iostudy.report.render import json_
from iostudy.settings.trace_instance import PREFIX
from tests.cli.program import HANG_GUARD_SECONDS, Program
from tests.json_schema import assert_conforms

pytestmark = pytest.mark.root


@pytest.fixture
def place(loop: str, tmp_path: Path):
    """A file system on a disk of its own."""
    point = tmp_path / "mounted"
    point.mkdir()
    subprocess.run(["mkfs.ext4", "-q", f"/dev/{loop}"], check=True)
    subprocess.run(["mount", f"/dev/{loop}", point], check=True)
    yield point
    subprocess.run(["umount", point], check=True)


def instances(tracing: Path) -> list[Path]:
    return list((tracing / "instances").glob(f"{PREFIX}*"))


def records(instance: Path) -> bool:
    """Whether it is switched on; its files come after its folder."""
    with suppress(OSError):
        return (instance / "tracing_on").read_text() == "1\n"
    return False


def test_requests_of_every_disk_below_are_reported_and_nothing_is_left(
    tracing: Path, loop: str, place: Path, program: Program
) -> None:
    bench = (
        "bench",
        "io",
        "-o",
        "sync=fsync",
        "-o",
        "operation=write",
        "--target",
        str(place),
        "-o",
        "files=1",
        "-o",
        "size=8MiB",
    )
    done = program(*bench, "--block-latency", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert_conforms(document, json_.build_schema(BenchReport))
    written = document["block_requests"]["devices"][loop]["write"]
    assert sum(size * count for size, count in written["size_bytes"]) >= 8 << 20
    assert 0 < written["latency_us"]["mean"] <= written["latency_us"]["percentiles"]["max"]
    assert document["block_requests"]["lost_events"] == 0
    assert instances(tracing) == []


def test_missing_requirement_fails_before_the_run(program: Program) -> None:
    bench = ("bench", "io", "-o", "operation=write", "--target", "/dev/shm", "--block-latency")
    done = program(*bench)
    assert done.returncode == 2
    assert "no block device below the target" in done.stderr
    assert done.stdout == ""


@pytest.mark.process
def test_next_command_restores_a_killed_recording(
    tracing: Path, place: Path, program: Program
) -> None:
    bench = ("bench", "command", "--target", str(place), "-o", "run=[sleep, '60']")
    running = program.start(*bench, "--block-latency")
    deadline = time.monotonic() + HANG_GUARD_SECONDS
    while not any(records(path) for path in instances(tracing)):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.01)
    program.kill_without_watchdog(running)
    (left,) = instances(tracing)
    done = program("get", "block.scheduler", "--on", str(place))
    assert done.returncode == 0, done.stderr
    assert f"restored: trace instance {left.name}" in done.stderr
    assert instances(tracing) == []
    assert [path.name for path in place.iterdir()] == ["lost+found"]
