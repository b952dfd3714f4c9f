import json
from pathlib import Path

import pytest

from iostudy.host import inventory as host
from iostudy.host.mounts import parse_mountinfo
from tests.host.sysfs import SINGLE_QUEUE, add_disk, write

CPUINFO = """processor\t: 0
model name\t: AMD EPYC 7763
flags\t\t: fpu hypervisor lm

processor\t: 1
model name\t: AMD EPYC 7763
flags\t\t: fpu hypervisor lm
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    add_disk(
        tmp_path, "sda", "8:0", scheduler=SINGLE_QUEUE,
        queue__nr_requests="256\n", queue__iosched__read_expire="500\n",
    )  # fmt: skip
    write(tmp_path / "proc/sys/kernel/osrelease", "6.1.0-18-amd64\n")
    write(tmp_path / "proc/sys/kernel/version", "#1 SMP Debian 6.1.76-1\n")
    write(tmp_path / "proc/cpuinfo", CPUINFO)
    write(tmp_path / "proc/meminfo", "MemTotal:       16384 kB\nMemFree: 1 kB\n")
    write(tmp_path / "proc/self/mountinfo", "1 0 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    write(tmp_path / "etc/os-release", 'NAME="Debian"\nPRETTY_NAME="Debian GNU/Linux 12"\n')
    write(tmp_path / "sys/class/dmi/id/sys_vendor", "QEMU\n")
    return tmp_path


def test_inventory_of_a_host(root: Path) -> None:
    found = host.collect_inventory(root=root)
    assert found["kernel"]["release"] == "6.1.0-18-amd64"
    assert found["distribution"] == "Debian GNU/Linux 12"
    assert found["cpu"] == {"model": "AMD EPYC 7763", "count": 2}
    assert found["memory_bytes"] == 16384 * 1024
    assert (found["virtualisation"], found["cgroups"]) == ("QEMU", "v2")
    queue = found["block_devices"]["sda"]["queue"]
    assert queue["scheduler"] == SINGLE_QUEUE.strip()
    assert queue["iosched/read_expire"] == "500"
    assert found["block_devices"]["sda"]["firmware"] is None


def test_firmware_of_a_disk_and_of_its_partition(root: Path) -> None:
    write(root / "sys/class/block/sda/device/rev", "SN04  \n")
    found = host.collect_inventory(root=root)
    assert found["block_devices"]["sda"]["firmware"] == "SN04"
    write(root / "sys/class/block/sda/device/firmware_rev", "1.0\n")
    found = host.collect_inventory(root=root)
    assert found["block_devices"]["sda"]["firmware"] == "1.0"


@pytest.mark.parametrize(
    ("device", "features", "expected"),
    [
        ("0x0005", "0110010100000000", "reports"),
        ("0x0005", "0110000100000000", "does not"),
        ("0x0005", "0110", "old"),
        ("0x0002", "1111111111111111", "a disk"),
    ],
)
def test_free_page_reporting(root: Path, device: str, features: str, expected: str) -> None:
    assert host.collect_inventory(root=root)["free_page_reporting"] is False
    folder = root / "sys/bus/virtio/devices/virtio0"
    write(folder / "device", f"{device}\n")
    write(folder / "features", f"{features}\n")
    assert host.collect_inventory(root=root)["free_page_reporting"] is (expected == "reports")


def test_missing_facts_of_a_host_are_absent(tmp_path: Path) -> None:
    write(tmp_path / "proc/self/mountinfo", "")
    found = host.collect_inventory(root=tmp_path)
    assert found["distribution"] is found["memory_bytes"] is found["virtualisation"] is None
    assert found["cpu"] == {"model": None, "count": 0}
    assert found["block_devices"] == {}


@pytest.mark.parametrize(
    ("mounted", "version"),
    [(("cgroup",), "v1"), (("cgroup2",), "v2"), (("cgroup", "cgroup2"), "hybrid"), ((), None)],
)
def test_cgroup_version(mounted: tuple[str, ...], version: str | None) -> None:
    lines = "".join(f"1 0 0:9 / /sys/fs/cgroup rw - {each} none rw\n" for each in mounted)
    assert host.detect_cgroup_version(parse_mountinfo(lines.encode())) == version


def test_this_host_as_json() -> None:
    found = json.loads(json.dumps(host.collect_inventory([Path("/")])))
    assert found["mounts"]["/"]["point"] == "/"
    assert found["cpu"]["count"] > 0
