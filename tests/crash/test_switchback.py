"""kill -9 while a study switches: settings are restored, and no finished block is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from iostudy.cli.report_output import read_report
from tests.crash.switchback import BLOCKS, CONFIGURATIONS, PAIRS, are_complete, read_windows, run

pytestmark = pytest.mark.root


def kill(folder: Path, moments: int) -> tuple[int, int]:
    command = [sys.executable, "-m", "tests.crash.switchback", str(folder)]
    done = subprocess.run(
        [*command, "--moments", str(moments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    killed, windows = map(int, done.stdout.split())
    return killed, windows


def test_killed_at_some_moments(tmp_path: Path) -> None:
    assert kill(tmp_path, 4)[0] == 4


@pytest.mark.slow
def test_killed_at_300_moments(tmp_path: Path) -> None:
    killed, windows = kill(tmp_path, 300)
    assert killed == 300
    assert windows > 300


def test_the_report_of_a_study_on_a_loop_disk(tmp_path: Path) -> None:
    run(tmp_path)
    report = read_report(tmp_path)
    (workload,), (windows,) = report.workloads, report.switchback
    blocks = [result.blocks for result in workload.results]
    assert all(0 < count <= BLOCKS for count in blocks)  # a final verdict ends a comparison
    assert all(result.interval is not None for result in workload.results[1:])
    recorded = read_windows(tmp_path)
    assert are_complete(recorded)
    assert windows.windows == len(recorded) // 2 >= 2 * PAIRS * CONFIGURATIONS * min(blocks)
    assert ("mq-deadline",) in report.configurations[-1].read_back.values()
