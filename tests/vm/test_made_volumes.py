"""Volumes that a study makes of LVM and md, and removes after any end."""

from __future__ import annotations

import json
import random
import re

import pytest

from tests.vm.machine import Machine
from tests.vm.volumes import MEMBERS, by_id

DEVICES = ", ".join(map(by_id, MEMBERS))
STUDY = f"""\
question: Which layout?
target: {{volume: {{kind: md-raid10, devices: [{DEVICES}]}}}}
factors:
  volume.kind: [md-raid10, lvm-raid10, lvm-mirror, md-raid5]
workloads:
  - io: {{operation: write, size: 4MiB, direct: true, sync: fsync}}
decide: {{margin: 90%, blocks: [3, 3]}}
"""
KILLS = 4
LONGEST_SECONDS = 25.0
"""A little more than the time to make a volume of each kind once."""


@pytest.fixture
def study(machine: Machine) -> str:
    machine.run("sh", "-c", "cat >/tmp/layouts.yaml", text=STUDY)
    return "/tmp/layouts.yaml"


def remains(machine: Machine) -> str:
    """What a volume leaves: signatures, groups, arrays, device-mapper devices, mounts, limits."""
    return machine.shell(
        f"""
        for disk in {" ".join(map(by_id, MEMBERS))}; do wipefs --noheadings "$disk"; done
        vgs --noheadings --select 'vg_name=~^iostudy-'
        grep -E '^md' /proc/mdstat || true
        dmsetup ls | grep iostudy || true
        grep /scratch- /proc/mounts || true
        ls -d /tmp/laid-out*/scratch-* 2>/dev/null || true
        """
    )


def limits(machine: Machine) -> str:
    return machine.shell("cat /proc/sys/dev/raid/speed_limit_*")


def test_each_configuration_has_its_volume_and_nothing_remains(
    machine: Machine, study: str
) -> None:
    # So slow that no resync of a volume would end: it has a limit of its own.
    machine.shell(
        "echo 10 | tee /proc/sys/dev/raid/speed_limit_max >/proc/sys/dev/raid/speed_limit_min"
    )
    before = limits(machine)
    machine.iostudy("run", study, "--yes", "--out", "/tmp/laid-out", seconds=1800)
    document = json.loads(machine.iostudy("report", "/tmp/laid-out", "--format", "json").stdout)
    found = {
        value
        for trial in document["trials"]
        for label, value in trial["settings"].items()
        if label.startswith("volume.kind@")
    }
    assert found == {"md-raid10", "lvm-raid10", "lvm-mirror", "md-raid5"}
    assert len(document["trials"]) == 12
    members = document["volume"]["members"]
    assert len(members) == 4
    assert all(member["write_rate"] > 0 for member in members)
    assert all(rate["observed"] > 0 for rate in document["volume"]["rates"])
    copies = {
        rate["configuration"]: rate["member_requests"] / rate["requests"]
        for rate in document["volume"]["rates"]
        if rate["direction"] == "write"
    }
    assert copies["md-raid10"] == pytest.approx(2, rel=0.2)
    layers = [
        device["device"]
        for rate in document["volume"]["rates"]
        if (rate["configuration"], rate["direction"]) == ("lvm-raid10", "write")
        for device in rate["devices"]
    ]
    assert re.fullmatch(r"\d+:\d+ = dm-\d+ = iostudy-.*/data", layers[0])
    assert sum("_rimage_" in layer for layer in layers) == 4
    assert sum(" = sd" in layer for layer in layers) == 4
    assert remains(machine) == ""
    assert limits(machine) == before


def test_a_disk_with_a_signature_is_refused(machine: Machine, study: str) -> None:
    first = by_id(MEMBERS[0])
    machine.run("mkfs.ext4", "-q", first)
    try:
        refused = machine.iostudy("run", study, "--yes", "--out", "/tmp/laid-out-not", check=False)
        assert refused.returncode == 2
        assert "a device without signatures" in refused.stderr
        assert "ext4" in machine.run("wipefs", first).stdout
    finally:
        machine.run("wipefs", "--all", "--quiet", first)


def test_a_study_that_is_killed_at_any_moment_leaves_no_volume(
    machine: Machine, study: str
) -> None:
    chance, before = random.Random(23), limits(machine)
    for number in range(KILLS):
        seconds = chance.uniform(1.0, LONGEST_SECONDS)
        machine.run(
            *("timeout", "--signal", "KILL", str(seconds), ".venv/bin/iostudy"),
            *("run", study, "--yes", "--out", f"/tmp/laid-out-{number}"),
            check=False,
            seconds=120,
        )
        machine.iostudy("restore")
        assert remains(machine) == "", f"killed after {seconds:.2f} s"
    assert limits(machine) == before
