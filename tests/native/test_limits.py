"""Tests of native jobs at system limits: memory, threads and short transfers."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.child

HANG_GUARD_SECONDS = 300

LARGE_RECORDS_LITTLE_MEMORY = """
import resource
from iostudy._native import EngineError, FileJob
from iostudy.job import JobSpec

job = FileJob(JobSpec(threads=(("/dev/null",),) * 64, operation="write", create=True,
                      file_bytes=2**62, record_bytes=2**26, seed=1))
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**30,) * 2)
try:
    job.run()
except EngineError as error:
    print(error.errno)
"""

MORE_THREADS_THAN_ALLOWED = """
import os, resource
from iostudy._native import EngineError, FileJob
from iostudy.job import JobSpec

resource.setrlimit(resource.RLIMIT_NPROC, (20, 20))
os.setuid(54321)  # a user without any other process; root has no such limit
try:
    FileJob(JobSpec(threads=(("/dev/null",),) * 64, operation="write", create=True,
                    file_bytes=2**62, record_bytes=4096, seed=1)).run()
except EngineError as error:
    print(error.errno)
"""

SHORT_WRITE = """
import resource, sys
from iostudy._native import EngineError, FileJob
from iostudy.job import JobSpec

resource.setrlimit(resource.RLIMIT_FSIZE, (10000, 10000))
try:
    FileJob(JobSpec(threads=((sys.argv[1],),), operation="write", create=True,
                    file_bytes=32768, record_bytes=16384, seed=1)).run()
except EngineError as error:
    print(error.errno, *error.__notes__)
"""


def test_records_too_large_for_the_memory_are_an_error_and_nothing_waits_for_ever() -> None:
    # ENOMEM for a buffer, EAGAIN for the stack of a thread.
    assert int(output_of(LARGE_RECORDS_LITTLE_MEMORY)) in {errno.ENOMEM, errno.EAGAIN}


@pytest.mark.root
def test_more_threads_than_a_user_may_have_are_an_error() -> None:
    assert output_of(MORE_THREADS_THAN_ALLOWED) == f"{errno.EAGAIN}\n"


def test_short_transfer_is_continued(tmp_path: Path) -> None:
    said = output_of(SHORT_WRITE, str(tmp_path / "a"))
    assert said == f"{errno.EFBIG} pwrite at byte 10000\n"


def output_of(program: str, *arguments: str) -> str:
    command = [sys.executable, "-c", program, *arguments]
    return subprocess.run(
        command, check=True, stdout=subprocess.PIPE, text=True, timeout=HANG_GUARD_SECONDS
    ).stdout
