"""Tests of signals: a job ends at once, with all of its threads."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.child

HANG_GUARD_SECONDS = 300

ENDLESS = """
import os, signal
from iostudy._native import FileJob
from iostudy.job import JobSpec

class Terminated(Exception):
    pass

def terminated(number, frame):
    raise Terminated

signal.signal(signal.SIGTERM, terminated)
job = FileJob(JobSpec(threads=(("/dev/null",),) * 4, operation="write", create=True,
                      file_bytes=2**62, record_bytes=4096, seed=1))
print("ready", flush=True)
try:
    job.run()
except (KeyboardInterrupt, Terminated) as raised:
    print(type(raised).__name__, flush=True)
while len(os.listdir("/proc/self/task")) > 1:  # the kernel buries threads with a short delay
    pass
"""


@pytest.mark.parametrize(
    ("number", "raised"),
    [(signal.SIGINT, "KeyboardInterrupt"), (signal.SIGTERM, "Terminated")],
)
def test_signal_ends_every_thread(number: signal.Signals, raised: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", ENDLESS], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            _wait_for_threads(process.pid, 5)
            os.kill(process.pid, number)
            output, _ = process.communicate(timeout=HANG_GUARD_SECONDS)
        finally:
            process.kill()
    assert output == f"{raised}\n"
    assert process.returncode == 0


def _wait_for_threads(pid: int, count: int) -> None:
    while len(list(Path(f"/proc/{pid}/task").iterdir())) < count:
        pass
