"""Volumes of killed processes: the next command removes each, whatever step it had reached."""

from __future__ import annotations

import pytest

from tests.vm.machine import Machine
from tests.vm.volumes import MEMBERS, by_id, kernel_name

KINDS = ("lvm-striped", "lvm-raid10", "lvm-mirror", "md-raid10", "md-raid5")
MANAGERS = ("lvm-raid10", "md-raid10")
HOURS = 3600.0


def kill(machine: Machine, kind: str, *how: str) -> int:
    """The number of points at which it was killed and recovered."""
    disks = [kernel_name(machine, by_id(serial)) for serial in MEMBERS]
    work = machine.shell("mktemp --directory").strip() + "/work"
    machine.run("mkdir", work)
    command = (".venv/bin/python", "-m", "tests.crash.killer", "volume", disks[0], work, *how)
    given = ("--volume", kind, "--disks", *disks)
    return int(machine.run(*command, *given, seconds=HOURS).stdout)


@pytest.mark.parametrize("kind", MANAGERS)
def test_killed_at_some_steps(machine: Machine, kind: str) -> None:
    assert kill(machine, kind, "--steps", "--stride", "16", "--start", "3") >= 3


@pytest.mark.parametrize("kind", MANAGERS)
def test_killed_at_some_moments(machine: Machine, kind: str) -> None:
    assert kill(machine, kind, "--moments", "4") == 4


@pytest.mark.slow
@pytest.mark.parametrize("kind", (*MANAGERS, "lvm-mirror"))
def test_killed_at_every_step(machine: Machine, kind: str) -> None:
    assert kill(machine, kind, "--steps") > 20


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_killed_at_300_moments(machine: Machine, kind: str) -> None:
    moments = 300 // len(KINDS)
    assert kill(machine, kind, "--moments", str(moments), "--start", "2") == moments
