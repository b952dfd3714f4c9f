"""Events of a volume within a trial: a check, a failed disk, and ordinary writes."""

from __future__ import annotations

import json

import pytest

from tests.vm.machine import Machine
from tests.vm.volumes import MEMBERS, by_id, kernel_name

CHECK_MD = (
    "cd /sys/block/$DEVICE/md; echo check >sync_action; "
    "until grep -q idle sync_action; do sleep 0.1; done"
)
CHECK_LVM = (
    "dmsetup message /dev/$DEVICE 0 check; "
    "until dmsetup status /dev/$DEVICE | grep -q idle; do sleep 0.1; done; sleep 1"
)
CHECK_SLOWLY_MD = (
    "cd /sys/block/$DEVICE/md; echo 100 >sync_speed_min; echo 100 >sync_speed_max; "
    "echo check >sync_action"
)
FAIL_MD = "mdadm --quiet --fail /dev/$DEVICE /dev/$LAST"
UNPLUG_FOR_A_WRITE = (
    "cd /sys/block/$LAST/device; echo offline >state; "
    "dd if=/dev/zero of=/dev/$DEVICE bs=1M count=16 oflag=direct conv=fsync; sleep 1; "
    "echo running >state"
)
WRITE = "dd if=/dev/zero of=/dev/$DEVICE bs=1M count=16 oflag=direct conv=fsync; sleep 1"
CHECKING = ["a resync of the volume was running"]
CHECKED = ["a resync or a check of the volume ended meanwhile"]
FAILED_COPY = "the volume is not whole: 1 of 2 copies failed"
FAILED = ["the volume is not whole: 1 of 4 members missing"]


@pytest.mark.parametrize(
    ("kind", "command", "reasons"),
    [
        ("md-raid10", WRITE, []),
        ("md-raid10", CHECK_MD, CHECKED),
        ("md-raid10", CHECK_SLOWLY_MD, CHECKING),
        ("md-raid10", FAIL_MD, FAILED),
        ("md-raid0", WRITE, []),
        ("lvm-raid10", WRITE, []),
        ("lvm-raid10", CHECK_LVM, CHECKED),
        ("lvm-raid10", UNPLUG_FOR_A_WRITE, ["the volume is not whole: refresh needed"]),
        ("lvm-mirror", WRITE, []),
        ("lvm-mirror", UNPLUG_FOR_A_WRITE, [FAILED_COPY, *CHECKING]),
        ("lvm-raid1-linear", WRITE, []),
        ("lvm-one-disk", WRITE, []),
    ],
)
def test_a_disturbed_volume(machine: Machine, kind: str, command: str, reasons: list[str]) -> None:
    disks = [kernel_name(machine, by_id(serial)) for serial in MEMBERS]
    script = command.replace("$LAST", disks[-1])
    done = machine.run(".venv/bin/python", "-m", "tests.vm.watched", kind, script, *disks)
    assert json.loads(done.stdout) == reasons
