"""kill -9 at random moments of a study of declared settings: nothing is left changed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.crash.declared import ATTRIBUTE

pytestmark = [pytest.mark.root, pytest.mark.exclusive("host")]


@pytest.mark.skipif(not ATTRIBUTE.exists(), reason="a kernel without KSM")
@pytest.mark.parametrize("moments", [4, pytest.param(300, marks=pytest.mark.slow)])
def test_killed_at_random_moments(tmp_path: Path, moments: int) -> None:
    tmp_path.chmod(0o700)
    command = [sys.executable, "-m", "tests.crash.declared", str(tmp_path)]
    command += ["--moments", str(moments), "--start", str(moments)]
    if moments < 100:
        command += ["--blocks", "3"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    kills, hits = map(int, done.stdout.split())
    assert kills == moments
    if moments < 100:
        return  # so few can all come before the first change on a busy host
    assert hits > moments / 10, "hardly a kill came while something was changed"
