"""Resources that exist once on a host: NUMA nodes, control groups of version 2."""

from __future__ import annotations

import pytest

from tests.vm.machine import Machine

ZONE_RECLAIM = "/proc/sys/vm/zone_reclaim_mode"


def test_reclaim_of_memory_nodes(machine: Machine) -> None:
    assert machine.shell("ls -d /sys/devices/system/node/node*").count("\n") == 2
    before = machine.shell(f"cat {ZONE_RECLAIM}")
    machine.iostudy("set", "sysctl.vm.zone_reclaim_mode=1")
    assert machine.shell(f"cat {ZONE_RECLAIM}") == "1\n"
    assert "zone-reclaim" in machine.iostudy("doctor").stdout
    machine.iostudy("restore")
    assert machine.shell(f"cat {ZONE_RECLAIM}") == before


@pytest.mark.usefixtures("volumes")
def test_limits_of_control_groups_of_version_2(machine: Machine) -> None:
    """The device tests of this kind, which need loop devices, on a striped volume."""
    assert "cgroup2" in machine.shell("grep /sys/fs/cgroup /proc/mounts")
    tests = ".venv/bin/pytest -q -p no:cacheprovider tests/device/test_cgroup.py"
    output = machine.shell(f"TMPDIR=/data {tests}", seconds=300)
    assert "skipped" not in output
