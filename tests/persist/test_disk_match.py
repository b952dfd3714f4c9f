"""Matches of classes of disks: udev rules, selections of `udevadm trigger`, disks of this host."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest

from iostudy.host.devices import read_disks
from iostudy.host.inventory import describe_device
from iostudy.persist import udev
from iostudy.persist.disk_match import find_pattern, in_class, is_physical, name_pattern
from iostudy.persist.request import DiskMatch, InventoryDisk, PersistedSetting

SDA = InventoryDisk("sda", serial="S1", model="MZ7LH960", rotational="0")
SDB = InventoryDisk("sdb", serial="S2", model="MZ7LH960", rotational="0")
HDD = InventoryDisk("sdc", serial="S3", model="ST4000", rotational="1")
NVME = InventoryDisk("nvme0n1", serial="S4", model="PM9A3", rotational="0")
LOOP = InventoryDisk("loop0", rotational="0", named=True)
PRESENT = (SDA, SDB, HDD, NVME, LOOP, replace(SDB, name="sdd", multipath=True))


@pytest.mark.parametrize(
    ("match", "rule", "trigger", "here"),
    [
        (DiskMatch.SERIAL, 'ATTRS{serial}=="S1"', "serial=S1", ["sda"]),
        (DiskMatch.MODEL, 'ATTR{device/model}=="MZ7LH960"', "MZ7LH960*", ["sda", "sdb"]),
        (DiskMatch.ROTATIONAL, 'ATTR{queue/rotational}=="0"', "=0", ["sda", "sdb", "nvme0n1"]),
        (DiskMatch.NAME_PATTERN, 'KERNEL=="sd*"', "--sysname-match=sd*", ["sda", "sdb", "sdc"]),
    ],
)
def test_a_class_has_a_rule_a_trigger_and_its_disks(match, rule, trigger, here):
    pattern = find_pattern(SDA, match)
    assert pattern.rule.startswith(rule)
    assert pattern.triggers[0][0].endswith(trigger)
    assert [disk.name for disk in PRESENT if in_class(disk, SDA, match)] == here
    assert ("DM_MULTIPATH_DEVICE_PATH" in pattern.rule) == (match is not DiskMatch.SERIAL)


@pytest.mark.parametrize(
    ("name", "pattern"),
    [("sda", "sd*"), ("nvme0n1", "nvme*n*"), ("vdb", "vd*"), ("md127", "md*"), ("dm-3", "dm-*")],
)
def test_names_of_one_driver(name, pattern):
    assert name_pattern(name) == pattern


def test_a_disk_that_has_nothing_to_match_by_is_refused():
    for disk, match in ((LOOP, DiskMatch.MODEL), (LOOP, DiskMatch.ROTATIONAL)):
        with pytest.raises(ValueError, match=r"no model|no physical disk"):
            find_pattern(disk, match)


def test_disks_of_one_class_have_their_rules_once_and_one_value():
    kept = [
        PersistedSetting("block.scheduler", "bfq", SDA),
        PersistedSetting("block.scheduler", "bfq", SDB),
        PersistedSetting("block.nr_requests", "64", SDA),
        PersistedSetting("block.nr_requests", "32", SDB),
    ]
    (part,) = udev.build_rules(kept, DiskMatch.MODEL, PRESENT)
    assert [rule.attribute for rule in part.rules] == ["scheduler", "nr_requests"]
    assert part.here == ("sda", "sdb")
    (unkept,) = part.unsupported
    assert "the same class has block.nr_requests@sda = 64" in unkept.reason


def test_a_scheduler_for_a_class_spares_zoned_disks():
    rules = [PersistedSetting("block.scheduler", value, SDA) for value in ("bfq", "mq-deadline")]
    texts = [udev.build_rules([rule], DiskMatch.MODEL)[0].text for rule in rules]
    assert ['ATTR{queue/zoned}=="none"' in text for text in texts] == [True, False]


@pytest.mark.child
@pytest.mark.skipif(shutil.which("udevadm") is None, reason="needs udevadm")
@pytest.mark.parametrize("match", [DiskMatch.ROTATIONAL, DiskMatch.NAME_PATTERN])
def test_udevadm_selects_the_same_disks_of_this_host(match):
    disks = [InventoryDisk.described(d.name, {d.name: describe_device(d)}) for d in read_disks()]
    physical = [disk for disk in disks if is_physical(disk)]
    if not physical:
        pytest.skip("needs a disk that is not virtual")
    options = find_pattern(physical[0], match).triggers[0]
    command = ("udevadm", "trigger", "--dry-run", "--verbose", "--property-match=DEVTYPE=disk")
    found = subprocess.check_output([*command, "--subsystem-match=block", *options], text=True)
    selected = {path.rpartition("/")[2] for path in found.split()}
    assert selected == {disk.name for disk in disks if in_class(disk, physical[0], match)}
