"""Matches of classes of disks: udev rules, selections of `udevadm trigger`, disks of this host."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace

import pytest

from iostudy.host.devices import read_disks
from iostudy.host.inventory import describe_device
from iostudy.persist import udev
from iostudy.persist.request import DiskMatch, InventoryDisk, PersistedSetting
from iostudy.persist.udev import find_pattern, in_class, name_pattern

SDA = InventoryDisk("sda", serial="S1", model="MZ7LH960", rotational="0", bus="scsi")
SDB = InventoryDisk("sdb", serial="S2", model="MZ7LH960", rotational="0", bus="scsi")
HDD = InventoryDisk("sdc", serial="S3", model="ST4000", rotational="1", bus="scsi")
NVME = InventoryDisk("nvme0n1", serial="S4", model="PM9A3", rotational="0", bus="nvme")
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
    [
        *(("sda", "sd*"), ("sddb", "sd*"), ("xvdf", "xvd*"), ("vdb", "vd*"), ("dasda", "dasd*")),
        *(("nvme0n1", "nvme*n*"), ("md127", "md*"), ("dm-3", "dm-*"), ("mmcblk0", "mmcblk*")),
        *(("zd16", "zd*"), ("nbd3", "nbd*"), ("cciss!c0d0", "cciss/c*d*")),
        ("etherd!e1.1", "etherd/e*.*"),
    ],
)
def test_names_of_one_driver(name, pattern):
    assert name_pattern(InventoryDisk(name)) == pattern


def test_a_name_with_a_slash_is_that_of_udev_in_rules_and_of_sysfs_in_triggers():
    disk = InventoryDisk("cciss!c0d0", named=True, here="cciss!c0d0")
    one, driver = (find_pattern(disk, m) for m in (DiskMatch.SERIAL, DiskMatch.NAME_PATTERN))
    assert one.rule == 'KERNEL=="cciss/c0d0"'
    assert one.triggers == (("--sysname-match=cciss?c0d0",),)
    assert driver.rule.startswith('KERNEL=="cciss/c*d*"')
    assert in_class(InventoryDisk("cciss!c1d0"), disk, DiskMatch.NAME_PATTERN)


@pytest.mark.parametrize("name", ["bcache0", "zd0", "drbd0", "nullb0", "ublkb0", "loop0"])
def test_a_device_of_a_driver_alone_is_no_rotational_disk(name):
    """As in the rule, which matches only devices with a `device` in sysfs."""
    assert not in_class(InventoryDisk(name, rotational="1"), HDD, DiskMatch.ROTATIONAL)


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
    physical = [disk for disk in disks if disk.bus]
    if not physical:
        pytest.skip("needs a disk that is not virtual")
    options = find_pattern(physical[0], match).triggers[0]
    command = ("udevadm", "trigger", "--dry-run", "--verbose", "--property-match=DEVTYPE=disk")
    found = subprocess.check_output([*command, "--subsystem-match=block", *options], text=True)
    selected = {path.rpartition("/")[2] for path in found.split()}
    assert selected == {disk.name for disk in disks if in_class(disk, physical[0], match)}
