"""Only members of a fleet can make its nodes do anything."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from iostudy.fleet.deployment.certificates import Authority
from iostudy.fleet.deployment.dask_settings import build_security

HANG_GUARD_SECONDS = 100


@pytest.mark.child
def test_a_peer_without_a_certificate_of_the_fleet_cannot_run_a_command(tmp_path: Path):
    done = subprocess.run(
        [sys.executable, "-m", "tests.fleet.peers", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=HANG_GUARD_SECONDS,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found.pop("member worker"), "the control: a member can"
    found.pop("member scheduler")
    assert len(found) == 6
    assert not any(found.values()), found


def test_keys_are_not_in_what_is_printed():
    identity = Authority("a").issue("n1")
    assert identity.key not in repr(build_security(identity))
    assert "PRIVATE" not in identity.authority + identity.certificate
