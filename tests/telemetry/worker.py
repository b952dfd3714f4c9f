"""Runs the engine's job that its argument says until it is killed; tells when it has begun."""

from __future__ import annotations

import json
import sys

from iostudy import _native
from iostudy.job import JobSpec
from tests.telemetry.emulated import BEGUN


def _tell(moved_bytes: int) -> bool:
    if moved_bytes:
        sys.stdout.write(f"{BEGUN}\n")
        sys.stdout.flush()
    return True


if __name__ == "__main__":
    _native.FileJob(JobSpec(**json.loads(sys.argv[1]))).run(_tell)
