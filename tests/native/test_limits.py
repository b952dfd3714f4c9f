"""What happens when the system does not give what a job needs."""

from __future__ import annotations

import subprocess
import sys

HANG_GUARD_SECONDS = 60

MANY_FILES_LITTLE_MEMORY = """
import resource
from iostudy._native import EngineError, FileJob

job = FileJob(["/dev/null"] * 4096, operation="write", file_bytes=2**62, record_bytes=4096,
              direct=False, fsync=False, seed=1)
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 2**28,) * 2)
try:
    job.run()
except EngineError as error:
    print(error.errno)
"""


def test_too_many_files_for_the_memory_are_an_error_and_nothing_waits_for_ever() -> None:
    done = subprocess.run(
        [sys.executable, "-c", MANY_FILES_LITTLE_MEMORY],
        check=True,
        capture_output=True,
        text=True,
        timeout=HANG_GUARD_SECONDS,
    )
    assert done.stdout.strip() in {"11", "12"}, done.stderr  # EAGAIN, ENOMEM
