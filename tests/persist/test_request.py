from __future__ import annotations

from pathlib import Path

from iostudy.host import devices
from iostudy.host.inventory import describe_device
from iostudy.persist.request import InventoryDisk, PersistedSetting

INVENTORY = {
    "sda": {"wwid": "naa.5", "model": "M", "holders": ["dm-0"], "queue": {"zoned": "none"}},
    "sdb": {"wwid": "naa.6", "holders": ["dm-1"], "queue": {"zoned": "host-managed"}},
    "dm-0": {"wwid": "mpath-3600a", "holders": []},
    "dm-1": {"wwid": "LVM-x", "holders": []},
}


def test_paths_of_a_multipath_disk_and_the_disk_itself():
    multipath = {name: InventoryDisk.described(name, INVENTORY).multipath for name in INVENTORY}
    assert multipath == {"sda": True, "sdb": False, "dm-0": True, "dm-1": False}


def test_zoned_disks():
    assert not InventoryDisk.described("sda", INVENTORY).zoned
    assert InventoryDisk.described("sdb", INVENTORY).zoned


def test_absent_disk_is_identified_by_its_name():
    assert InventoryDisk.described("loop9", INVENTORY, named=True) == InventoryDisk(
        "loop9", named=True
    )


def test_inventory_of_this_host_is_accepted():
    for device in devices.read_disks():
        disk = InventoryDisk.described(device.name, {device.name: describe_device(device)})
        assert (disk.wwid, disk.serial) == (device.wwid, device.serial)


def test_nvme_path_differs_from_its_disk_with_the_same_wwid():
    disk = {"wwid": "eui.5", "hidden": False}
    inventory = {"nvme0c0n1": {**disk, "hidden": True}, "nvme0n1": disk}
    disks = {
        name: InventoryDisk.described(name, inventory).found_in(inventory) for name in inventory
    }
    assert {name: own.here for name, own in disks.items()} == {name: name for name in inventory}
    assert "sends no events to udev" in disks["nvme0c0n1"].exclusion_reason
    assert disks["nvme0n1"].exclusion_reason == ""


def test_labels_are_those_of_the_ledger():
    assert (
        PersistedSetting("block.scheduler", "bfq", InventoryDisk("sda")).text
        == "block.scheduler@sda = bfq"
    )
    assert (
        PersistedSetting("mount.atime", "noatime", mount_point=Path("/data")).label
        == "mount.atime@/data"
    )
    assert PersistedSetting("sysctl.vm.swappiness", "1").label == "sysctl.vm.swappiness"
    assert PersistedSetting("sysctl.vm.swappiness", "1").attribute == "vm.swappiness"


def test_disk_is_found_by_its_identity_under_a_new_name():
    renamed = {"sdz": INVENTORY["sda"], "sda": INVENTORY["sdb"], "loop9": {}}
    assert InventoryDisk.described("sda", INVENTORY).found_in(renamed).here == "sdz"
    assert InventoryDisk.described("dm-0", INVENTORY).found_in(renamed).here == ""
    assert InventoryDisk("loop9").found_in(renamed).here == ""
    assert InventoryDisk("loop9", named=True).found_in(renamed).here == "loop9"
