"""Program that runs an engine job until it is killed, and reports its start."""

from __future__ import annotations

import json
import sys

from iostudy import _native
from iostudy.job import JobSpec
from tests.telemetry.emulated import BEGUN


def _report_progress(moved_bytes: int) -> bool:
    if moved_bytes:
        sys.stdout.write(f"{BEGUN}\n")
        sys.stdout.flush()
    return True


if __name__ == "__main__":
    _native.FileJob(JobSpec(**json.loads(sys.argv[1]))).run(_report_progress)
