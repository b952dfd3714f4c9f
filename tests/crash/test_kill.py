"""kill -9 at any moment, then the next command: everything is as it was, byte for byte."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.root


@pytest.fixture
def unusual(loop: str) -> str:
    """What a switch of the scheduler resets is not as the kernel makes it."""
    queue = Path("/sys/block") / loop / "queue"
    (queue / "nr_requests").write_text("100")
    (queue / "iosched/read_expire").write_text("120")
    (queue / "wbt_lat_usec").write_text("12345")
    return loop


def kill(scenario: str, loop: str, folder: Path, *options: str) -> int:
    """The number of points at which it was killed."""
    work = folder / "work"
    work.mkdir()
    command = [sys.executable, "-m", "tests.crash.killer", scenario, loop, str(work), *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize(
    ("scenario", "stride", "at_least"),
    [("settings", 41, 20), ("scratch", 23, 15), ("rescue", 29, 8)],
)
def test_killed_at_some_lines(
    unusual: str, tmp_path: Path, scenario: str, stride: int, at_least: int
) -> None:
    assert kill(scenario, unusual, tmp_path, "--stride", str(stride), "--start", "7") >= at_least


@pytest.mark.parametrize("scenario", ["settings", "scratch"])
def test_killed_at_some_moments(unusual: str, tmp_path: Path, scenario: str) -> None:
    assert kill(scenario, unusual, tmp_path, "--moments", "12") == 12


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["settings", "scratch", "rescue"])
def test_killed_at_every_line(unusual: str, tmp_path: Path, scenario: str) -> None:
    assert kill(scenario, unusual, tmp_path) > 200


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["settings", "scratch"])
def test_killed_at_many_moments(unusual: str, tmp_path: Path, scenario: str) -> None:
    assert kill(scenario, unusual, tmp_path, "--moments", "300", "--start", "2") == 300
