import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.cli.doctor import build_document, build_trees
from iostudy.host import inventory as host
from iostudy.host.advice.gather import gather_facts
from iostudy.host.advice.registry import evaluate_rules
from iostudy.host.mounts import parse_mountinfo
from tests.host import recorded
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
    assert found["cpu"] == {"model": None, "count": None}
    assert found["block_devices"] == {}


@pytest.mark.parametrize(
    ("mounted", "version"),
    [(("cgroup",), "v1"), (("cgroup2",), "v2"), (("cgroup", "cgroup2"), "hybrid"), ((), None)],
)
def test_cgroup_version(mounted: tuple[str, ...], version: str | None) -> None:
    lines = "".join(f"1 0 0:9 / /sys/fs/cgroup rw - {each} none rw\n" for each in mounted)
    assert host.detect_cgroup_version(parse_mountinfo(lines.encode())) == version


S390X = (
    "vendor_id       : IBM/S390\n# processors    : 2\n"
    "processor 0: version = FF,  identification = 0133E8,  machine = 2964\n"
    "processor 1: version = FF,  identification = 0133E8,  machine = 2964\n\n"
    "cpu number      : 0\ncpu MHz dynamic : 5000\n"
)


DMI = "sys/class/dmi/id"


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"proc/sysinfo": "LPAR Name: A\nVM00 Control Program: KVM/Linux       \n"}, "KVM/Linux"),
        ({"proc/sysinfo": "VM00 Name: L1\nVM00 Control Program: z/VM    7.3.0\n"}, "z/VM    7.3.0"),
        ({"proc/sysinfo": "Manufacturer: IBM\nLPAR Name: A\n"}, None),
        ({f"{DMI}/sys_vendor": "QEMU\n", f"{DMI}/product_name": "virt\n"}, "QEMU virt"),
        (
            {f"{DMI}/sys_vendor": "Amazon EC2\n", f"{DMI}/product_name": "m7g.large\n"},
            "Amazon EC2 m7g.large",
        ),
        ({f"{DMI}/sys_vendor": "Amazon EC2\n", f"{DMI}/product_name": "m7g.metal\n"}, None),
        ({f"{DMI}/sys_vendor": "Ampere\n", f"{DMI}/product_name": "Mt. Jade\n"}, None),
        (
            {"proc/device-tree/hypervisor/compatible": "xen,xen-4.17\0xen,xen\0"},
            "xen,xen-4.17 xen,xen",
        ),
        ({"proc/device-tree/compatible": "linux,dummy-virt\0"}, "linux,dummy-virt"),
        ({"proc/device-tree/compatible": "raspberrypi,4-model-b\0brcm,bcm2711\0"}, None),
        ({}, None),
    ],
)
def test_virtual_machines_without_flags_of_x86(
    tmp_path: Path, files: dict[str, str], expected: str | None
) -> None:
    write(tmp_path / "proc/cpuinfo", "processor\t: 0\nFeatures\t: fp asimd\n")
    for name, text in files.items():
        write(tmp_path / name, text)
    assert host.detect_virtualisation(tmp_path) == expected


def test_firmware_says_nothing_on_x86_without_the_flag(root: Path) -> None:
    write(root / "proc/cpuinfo", "flags\t\t: fpu lm\n")
    assert host.detect_virtualisation(root) is None


# Forms of the kernel's arch/*/kernel (show_cpuinfo); s390x and POWER as machines print them.
@pytest.mark.parametrize(
    ("cpuinfo", "model", "count"),
    [
        (S390X, "IBM/S390", 2),
        ("processor\t: 0\ncpu\t\t: POWER9, altivec supported\n", "POWER9, altivec supported", 1),
        ("processor\t: 0\nBogoMIPS\t: 50.00\nCPU part\t: 0xd0c\n", None, 1),
        ("processor\t: 0\nmodel name\t: ARMv7 Processor rev 3\n", "ARMv7 Processor rev 3", 1),
        ("cpu\t\t: UltraSparc T5\nncpus probed\t: 9\nncpus active\t: 8\n", "UltraSparc T5", 8),
        ("cpu\t\t\t: Alpha\ncpus detected\t\t: 3\ncpus active\t\t: 2\n", "Alpha", 2),
        ("system type\t: x\nprocessor\t: 0\ncpu model\t: MIPS 74Kc\n", "MIPS 74Kc", 1),
        ("", None, None),
    ],
)
def test_cpus_of_other_architectures(cpuinfo: str, model: str | None, count: int | None) -> None:
    assert host.parse_cpuinfo(cpuinfo) == {"model": model, "count": count}


@pytest.mark.parametrize(
    ("value", "name"),
    [
        ("Bob's Linux", "Bob's Linux"),
        ('"Bob\'s \\"own\\" Linux"', 'Bob\'s "own" Linux'),
        ("'Single Linux' ", "Single Linux"),
        ('"never closed', '"never closed'),
        ("Alpine", "Alpine"),
        ("", ""),
    ],
)
def test_any_name_of_a_distribution_is_shown(root: Path, value: str, name: str) -> None:
    write(root / "etc/os-release", f"ID=x\nPRETTY_NAME={value}\n")
    assert host.read_distribution(root) == name


TEXTS = (
    *("etc/os-release", "proc/cpuinfo", "sys/class/dmi/id/sys_vendor"),
    *("sys/class/dmi/id/product_name", "proc/sys/kernel/hostname", "proc/sys/kernel/version"),
    *("proc/sys/kernel/osrelease", "proc/meminfo"),
    *(
        f"sys/class/block/sda/{name}"
        for name in ("device/model", "device/serial", "device/wwid", "device/vendor", "device/rev")
    ),
    *("sys/class/block/sda/queue/iosched/read_expire", "run/udev/data/b8:0"),
)


@given(st.dictionaries(st.sampled_from(TEXTS), st.binary(), min_size=1), st.sampled_from("P'\" "))
def test_no_text_for_display_ends_a_program(
    tmp_path_factory: pytest.TempPathFactory, texts: dict[str, bytes], prefix: str
) -> None:
    root = tmp_path_factory.mktemp("host")
    add_disk(root, "sda", "8:0", scheduler=SINGLE_QUEUE)
    write(root / "proc/self/mountinfo", "1 0 0:9 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n")
    write(root / "proc/self/limits", "")
    for name, content in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(b"PRETTY_NAME=" + prefix.encode() + content)
    facts = gather_facts(root=root, statvfs=lambda _: recorded.room())
    shown = build_document(facts, evaluate_rules(facts), host.collect_inventory(root=root))
    json.dumps(shown["host"], ensure_ascii=False).encode()
    build_trees(facts.topology)


@pytest.mark.parametrize("name", ["etc/os-release", "sys/class/dmi/id/sys_vendor"])
def test_a_text_that_cannot_be_read_is_unknown(root: Path, name: str) -> None:
    (root / name).unlink()
    (root / name).mkdir()
    found = host.collect_inventory(root=root)
    assert found["distribution" if name == "etc/os-release" else "virtualisation"] != "QEMU"


def test_this_host_as_json() -> None:
    found = json.loads(json.dumps(host.collect_inventory([Path("/")])))
    assert found["mounts"]["/"]["point"] == "/"
    assert found["cpu"]["count"] > 0


def test_a_chroot_that_is_no_mount_point_has_no_known_mount(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find_mount(path: Path) -> None:
        raise FileNotFoundError(path)

    monkeypatch.setattr(host.mounts, "find_mount", find_mount)
    assert host.collect_inventory([root], root)["mounts"] == {str(root): None}
