"""Tests of each rule on a host with its fault, and on one without."""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.host.advice.facts import Facts
from iostudy.host.advice.finding import Certainty, DoctorFinding
from iostudy.host.advice.gather import gather_facts
from iostudy.host.advice.registry import RULES, evaluate_rules
from tests.host import recorded
from tests.host.sysfs import add_disk, add_partition, link, stack_on, write


def facts_of(root: Path, **room: float) -> Facts:
    return gather_facts(root=root, statvfs=lambda _: recorded.room(**room))


def found(facts: Facts, rule: str) -> dict[str, DoctorFinding]:
    """What that rule finds, by subject."""
    return {finding.subject: finding for finding in evaluate_rules(facts) if finding.id == rule}


@pytest.fixture
def old(tmp_path: Path) -> Facts:
    return facts_of(recorded.old_hadoop_node(tmp_path))


@pytest.fixture
def md(tmp_path: Path) -> Facts:
    return facts_of(recorded.lvm_on_md(tmp_path / "md"))


def test_identifiers_are_unique_and_every_rule_is_whole() -> None:
    assert len({rule.id for rule in RULES}) == len(RULES)
    assert all(rule.why and rule.source and rule.title for rule in RULES)
    assert {rule.certainty for rule in RULES} == set(Certainty)


def test_strict_access_times(old: Facts) -> None:
    assert list(found(old, "atime-strict")) == ["/data/1"]
    assert found(old, "atime-strict")["/data/1"].found == "strictatime"
    assert list(found(old, "atime-relative")) == ["/", "/boot"]


def test_no_access_times(md: Facts) -> None:
    assert found(md, "atime-strict") == {}
    assert list(found(md, "atime-relative")) == ["/mnt"]


def test_a_data_node_with_few_files(old: Facts) -> None:
    (finding,) = found(old, "hadoop-nofile").values()
    assert finding.subject == "DataNode (4711)"
    assert finding.found == "soft 1024, hard 4096"
    assert finding.command == "prlimit --pid 4711 --nofile=32768:32768"


def test_no_data_node(md: Facts) -> None:
    assert found(md, "hadoop-nofile") == {}


def test_limits_of_the_host(old: Facts, tmp_path: Path) -> None:
    assert found(old, "file-max")["host"].found == "48000"
    assert found(old, "epoll-watches") == found(old, "file-handles-nearly-used") == {}
    write(tmp_path / "proc/sys/fs/epoll/max_user_watches", "512\n")
    write(tmp_path / "proc/sys/fs/file-nr", "46000\t100\t48000\n")
    again = facts_of(tmp_path)
    assert found(again, "epoll-watches")["host"].found == "512"
    assert found(again, "file-handles-nearly-used")["host"].found == "95.6 % of 48000 in use"


def test_an_array_that_recovers(md: Facts) -> None:
    assert found(md, "raid-moving-data")["md127"].found == "recover, 25 % done"
    assert found(md, "raid-degraded")["md127"].found == "raid1 with 1 of 2 members missing"
    assert list(found(md, "lvm-raid-sync-unseen")) == ["vg0/home"]


def test_an_array_at_rest(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "sys/block/md127/md/sync_action", "idle\n")
    write(root / "sys/block/md127/md/degraded", "0\n")
    assert found(facts_of(root), "raid-moving-data") == {}
    assert found(facts_of(root), "raid-degraded") == {}


def test_an_array_with_a_bitmap(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    bitmap = root / "sys/block/md127/md/bitmap"
    write(bitmap / "location", "none\n")
    write(bitmap / "chunksize", "67108864\n")
    assert found(facts_of(root), "raid-write-bitmap") == {}
    write(bitmap / "location", "+8\n")
    finding = found(facts_of(root), "raid-write-bitmap")["md127"]
    assert finding.found == "a bit for each 64MiB, at +8"
    assert finding.command == "mdadm --grow --bitmap=none /dev/md127"


def test_a_volume_of_unlike_disks(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    assert found(facts_of(root), "volume-mixed-members") == {}
    write(root / "sys/block/sdb/queue/rotational", "0\n")
    findings = found(facts_of(root), "volume-mixed-members")
    assert list(findings) == ["dm-2", "md127"]
    assert findings["md127"].found == "rotational disk HGST HUS726T4: sda; SSD HGST HUS726T4: sdb"
    assert "sdc" in findings["dm-2"].found


@pytest.fixture
def striped(tmp_path: Path) -> Path:
    """vg0/home with units of 64 KiB over four disks."""
    root = recorded.lvm_on_md(tmp_path)
    write(root / "sys/block/dm-2/queue/minimum_io_size", "65536\n")
    write(root / "sys/block/dm-2/queue/optimal_io_size", "262144\n")
    return root


def mount_home(root: Path, filesystem: str, options: str) -> Facts:
    line = f"30 29 253:2 / /home rw - {filesystem} /dev/mapper/vg0-home rw{options}\n"
    write(root / "proc/self/mountinfo", f"29 1 8:33 / / rw - ext4 /dev/sdc1 rw\n{line}")
    return facts_of(root)


@pytest.mark.parametrize(
    ("filesystem", "options", "expected"),
    [
        ("ext4", "", "no stripe"),
        ("ext4", ",stripe=64", None),
        ("ext4", ",stripe=16", "stripes of 64KiB"),
        ("xfs", ",attr2", "no stripe"),
        ("xfs", ",sunit=128,swidth=512", None),
        ("xfs", ",sunit=256,swidth=512", "stripes of 256KiB in units of 128KiB"),
        ("btrfs", "", None),
    ],
)
def test_a_file_system_off_the_stripe_of_its_volume(
    striped: Path, filesystem: str, options: str, expected: str | None
) -> None:
    findings = found(mount_home(striped, filesystem, options), "file-system-off-stripe")
    assert {place: finding.found for place, finding in findings.items()} == (
        {"/home": expected} if expected else {}
    )


def test_remedies_for_a_file_system_off_the_stripe(striped: Path) -> None:
    rule = "file-system-off-stripe"
    finding = found(mount_home(striped, "ext4", ""), rule)["/home"]
    assert finding.advised == "stripes of 256KiB in units of 64KiB"
    assert finding.command == "tune2fs -E stride=16,stripe_width=64 /dev/dm-2"
    assert found(mount_home(striped, "xfs", ""), rule)["/home"].command == "xfs_info /home"
    write(striped / "sys/block/dm-2/queue/optimal_io_size", "0\n")
    assert found(mount_home(striped, "xfs", ""), rule) == {}


def test_schedulers_of_rotational_disks(old: Facts, md: Facts) -> None:
    assert {s: f.advised for s, f in found(old, "scheduler-rotational").items()} == {
        "sdb": "deadline"
    }
    assert found(md, "scheduler-rotational")["sda"].command == (
        "iostudy set block.scheduler=mq-deadline --on sda"
    )


@pytest.mark.parametrize(
    ("kernel", "subjects"),
    [("4.18.0-553", ["sda"]), ("6.9.1", ["sda"]), ("6.10.0", []), ("6.18.0", []), ("4.12", [])],
)
def test_zoned_disks_of_several_kernels(tmp_path: Path, kernel: str, subjects: list[str]) -> None:
    facts = facts_of(recorded.nvme_and_zoned(tmp_path, kernel))
    assert list(found(facts, "scheduler-zoned")) == subjects
    assert found(facts, "scheduler-rotational") == {}


def test_nvme(tmp_path: Path) -> None:
    facts = facts_of(recorded.nvme_and_zoned(tmp_path))
    finding = found(facts, "scheduler-nvme")["nvme0n1"]
    assert (finding.certainty, finding.found) == (Certainty.MEASURE, "bfq")
    assert '"reader.read_latency_p99"' in finding.command
    assert "nvme id-ctrl" in found(facts, "write-cache-unknown-protection")["nvme0n1"].command


def test_paths_of_multipath(tmp_path: Path) -> None:
    root = recorded.multipath(tmp_path)
    assert list(found(facts_of(root), "scheduler-multipath-path")) == ["sda", "sdb"]
    write(root / "sys/block/sda/queue/scheduler", "mq-deadline kyber bfq [none]\n")
    assert list(found(facts_of(root), "scheduler-multipath-path")) == ["sdb"]
    assert found(facts_of(root), "scheduler-rotational") == {}
    write(root / "sys/block/dm-3/queue/scheduler", "none\n")
    assert found(facts_of(root), "scheduler-multipath-path") == {}


def test_advice_on_a_virtual_disk_is_to_measure(tmp_path: Path) -> None:
    add_disk(tmp_path, "vda", "254:0", scheduler="none [mq-deadline] bfq\n", **recorded.LIMITS)
    write(tmp_path / "proc/self/mountinfo", "1 0 254:0 / / rw - ext4 /dev/vda rw\n")
    finding = found(facts_of(tmp_path), "scheduler-virtual")["vda"]
    assert '"block.scheduler": ["mq-deadline", "none", "bfq"]' in finding.command


def test_queues(old: Facts, md: Facts) -> None:
    assert list(found(old, "queue-depth-one")) == ["sdb"]
    assert list(found(old, "max-sectors-below-hardware")) == ["sda", "sdb"]
    assert list(found(old, "read-ahead-streaming")) == ["dm-0", "sda", "sdb"]
    assert list(found(old, "nr-requests-to-sort")) == ["sda", "sdb"]
    assert {s: f.advised for s, f in found(md, "nr-requests-below-depth").items()} == dict.fromkeys(
        ["sda", "sdb", "sdc"], "at least 128"
    )


def test_a_disk_behind_usb_takes_one_command_at_a_time(tmp_path: Path) -> None:
    root = recorded.old_hadoop_node(tmp_path)
    write(root / "sys/block/sdb/device/vendor", "Generic \n")
    assert found(facts_of(root), "queue-depth-one") == {}


def test_good_queue_settings_have_no_finding(tmp_path: Path) -> None:
    root = recorded.old_hadoop_node(tmp_path)
    for attribute, value in (("read_ahead_kb", "4096\n"), ("max_sectors_kb", "32767\n")):
        write(root / "sys/block/sdb/queue" / attribute, value)
    write(root / "sys/block/sdb/device/queue_depth", "31\n")
    write(root / "sys/block/sdb/queue/nr_requests", "31\n")
    facts = facts_of(root)
    assert found(facts, "queue-depth-one") == found(facts, "nr-requests-below-depth") == {}
    assert "sdb" not in found(facts, "max-sectors-below-hardware")
    assert "sdb" not in found(facts, "read-ahead-streaming")


def test_barriers_off_over_a_volatile_cache(old: Facts, tmp_path: Path) -> None:
    (finding,) = found(old, "flush-disabled-volatile-cache").values()
    assert (finding.subject, finding.found, finding.setting) == (
        "/data/1", "barrier=0", "mount.barrier",
    )  # fmt: skip
    assert "is unknown" in found(old, "write-cache-unknown-protection")["sdb"].found
    write(tmp_path / "sys/block/sdb/queue/write_cache", "write through\n")
    again = facts_of(tmp_path)
    assert found(again, "flush-disabled-volatile-cache") == {}
    assert found(again, "write-cache-unknown-protection") == {}


def test_partitions(old: Facts, tmp_path: Path) -> None:
    finding = found(old, "partition-misaligned")["sdb1"]
    assert finding.found == "begins at 32256 B"
    assert finding.advised == "a multiple of 4KiB"
    assert finding.command == "parted --script /dev/sdb align-check minimal 1"
    assert found(old, "partition-off-stripe") == {}


def partition_off_the_stripe(root: Path, disk: str, **files: str) -> dict[str, DoctorFinding]:
    """What is said of a partition at 1028 KiB of a disk with these attributes."""
    recorded.lvm_on_md(root)
    add_disk(root, disk, "99:0", scheduler="[none]\n", size="4194304\n", **files)
    part = add_partition(root, disk, f"{disk}p1", "99:1")
    write(part / "start", "2056\n")
    write(part / "alignment_offset", "0\n")
    return found(facts_of(root), "partition-off-stripe")


STRIPE = {"queue__minimum_io_size": "65536\n", "queue__optimal_io_size": "262144\n"}
MD = {"md__raid_disks": "5\n", **STRIPE}


@pytest.mark.parametrize(
    ("disk", "files"),
    [
        ("md5", {"md__level": "raid5\n", **MD}),
        ("md6", {"md__level": "raid6\n", **MD}),
        ("sdz", {"device__vendor": "AVAGO\n", **STRIPE}),
    ],
)
def test_a_partition_off_the_stripe(tmp_path: Path, disk: str, files: dict[str, str]) -> None:
    (finding,) = partition_off_the_stripe(tmp_path, disk, **files).values()
    assert finding.advised == "a multiple of 256KiB"
    assert finding.command == f"parted --script /dev/{disk} align-check optimal 1"
    write(tmp_path / f"sys/class/block/{disk}p1/start", "2048\n")
    assert found(facts_of(tmp_path), "partition-off-stripe") == {}


@pytest.mark.parametrize(
    ("disk", "files"),
    [
        ("md1", {"md__level": "raid10\n", **MD}),
        ("nvme0n1", {"queue__optimal_io_size": "131072\n"}),
        ("nvme1n1", STRIPE),
        ("sdy", {"queue__optimal_io_size": "33550336\n", "queue__minimum_io_size": "4096\n"}),
        ("sdz", {"queue__optimal_io_size": "33553920\n", "queue__minimum_io_size": "512\n"}),
        ("sdz", {"device__vendor": "ATA     \n", **STRIPE}),
    ],
)
def test_a_disk_without_parity_has_no_stripe(
    tmp_path: Path, disk: str, files: dict[str, str]
) -> None:
    """Plain disks report sizes as optimal that are no stripe, and some that are nonsense."""
    assert partition_off_the_stripe(tmp_path, disk, **files) == {}


@pytest.mark.parametrize("state", ["journal", "spare", "in_sync,write_mostly", "faulty"])
def test_members_of_another_role_are_no_unlike_disks(tmp_path: Path, state: str) -> None:
    root = recorded.lvm_on_md(tmp_path)
    add_disk(root, "nvme0n1", "259:0", scheduler="[none]\n", model="Flash\n")
    stack_on(root, "md127", "nvme0n1")
    assert "md127" in found(facts_of(root), "volume-mixed-members")
    write(root / "sys/class/block/md127/md/dev-nvme0n1/state", f"{state}\n")
    assert found(facts_of(root), "volume-mixed-members") == {}


def test_a_linear_array_does_not_spread_a_request(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "sys/block/sdb/queue/rotational", "0\n")
    write(root / "sys/block/md127/md/level", "linear\n")
    assert "md127" not in found(facts_of(root), "volume-mixed-members")


def test_a_volume_on_others_has_no_write_cache_of_its_own(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    cached = {"queue__write_cache": "write back\n"}
    add_disk(root, "sdz", "8:240", scheduler="[none]\n", **cached)
    add_disk(root, "vda", "253:9", scheduler="[none]\n", **cached)
    add_disk(root, "bcache0", "252:0", scheduler="none\n", **cached)
    stack_on(root, "bcache0", "sdz")
    findings = found(facts_of(root), "write-cache-unknown-protection")
    assert findings["sdz"].command == "smartctl --xall /dev/sdz"
    assert findings["vda"].command.startswith("lsblk --nodeps")
    assert "bcache0" not in findings


def test_a_mount_with_softerr_is_soft(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    line = "40 29 0:50 / /nfs rw - nfs4 server:/x rw,vers=4.2,softerr,rsize=1048576\n"
    write(root / "proc/self/mountinfo", line)
    finding = found(facts_of(root), "nfs-soft")["/nfs"]
    assert (finding.found, finding.advised) == ("softerr", "hard")
    assert "softerr" not in finding.command


def test_all_writers_that_services_show(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    unit = "[Service]\nExecStart=/bin/sh -c 'echo never > {}'\n"
    thp = "/sys/kernel/mm/transparent_hugepage/enabled"
    write(root / "etc/systemd/system/thp.service", unit.format(thp))
    write(root / "etc/systemd/system/idle.service", unit.format(thp))
    link(
        root / "etc/systemd/system/multi-user.target.wants/thp.service",
        root / "etc/systemd/system/thp.service",
    )
    write(root / "etc/sysfs.d/x.conf", "block/sda/queue/nr_requests = 64\n")
    write(root / "etc/rc.local", "#!/bin/sh\n\nblockdev --setra 256 /dev/sdx\n")
    findings = found(facts_of(root), "service-writes")
    assert {where: (finding.setting, finding.found) for where, finding in findings.items()} == {
        "/etc/systemd/system/idle.service:2": (
            "thp.enabled",
            f"{thp} = never; no link in *.wants or *.requires starts it at boot",
        ),
        "/etc/systemd/system/thp.service:2": ("thp.enabled", f"{thp} = never"),
        "/etc/sysfs.d/x.conf:1": ("block.nr_requests", "/sys/block/sda/queue/nr_requests = 64"),
    }


def test_a_file_that_nothing_reads_at_boot_is_called_that(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "etc/sysctl.conf", "vm.swappiness = 10\n")
    finding = found(facts_of(root), "sysctl-file-sets")["/etc/sysctl.conf:1"]
    assert "nothing reads this file at boot" in finding.found


def test_a_partition_off_the_chunk_of_a_raid(tmp_path: Path) -> None:
    root = recorded.old_hadoop_node(tmp_path)
    write(root / "sys/block/sdb/queue/minimum_io_size", "65536\n")
    write(root / "sys/class/block/sdb1/start", "2056\n")
    write(root / "sys/class/block/sdb1/alignment_offset", "61440\n")
    finding = found(facts_of(root), "partition-misaligned")["sdb1"]
    assert finding.advised == "a multiple of 64KiB"
    assert "alignment_offset: 61440" in finding.evidence


def test_old_kernels_have_no_alignment_offset(tmp_path: Path) -> None:
    root = recorded.old_hadoop_node(tmp_path)
    (root / "sys/class/block/sdb1/alignment_offset").unlink()
    assert "sdb1" in found(facts_of(root), "partition-misaligned")
    write(root / "sys/class/block/sdb1/start", "2048\n")
    assert found(facts_of(root), "partition-misaligned") == {}


@pytest.mark.parametrize(
    ("used", "inodes", "rules"),
    [
        (0.5, 0.5, set()),
        (0.95, 0.5, {"file-system-nearly-full"}),
        (0.995, 0.5, {"file-system-full"}),
        (0.5, 0.95, {"inodes-nearly-used"}),
    ],
)
def test_free_space_rules(tmp_path: Path, used: float, inodes: float, rules: set[str]) -> None:
    facts = facts_of(recorded.lvm_on_md(tmp_path), used=used, inodes=inodes)
    of_space = {f.id for f in evaluate_rules(facts) if f.id.startswith(("file-system", "inodes"))}
    assert of_space == rules


def test_full_read_only_image_has_no_finding(tmp_path: Path) -> None:
    root = recorded.nvme_and_zoned(tmp_path)
    add_disk(root, "loop0", "7:0", scheduler=None)
    facts = facts_of(root, used=1.0)
    assert Path("/snap/core22/1122") in facts.space
    assert list(found(facts, "file-system-full")) == ["/"]


def test_unknown_free_space_is_not_judged(tmp_path: Path) -> None:
    def refuse(_: Path) -> os.statvfs_result:
        raise PermissionError(13, "Permission denied")

    facts = gather_facts(root=recorded.lvm_on_md(tmp_path), statvfs=refuse)
    assert facts.refused == tuple(f"{p}: Permission denied" for p in ("/", "/home", "/mnt"))


def test_options_of_nfs(old: Facts) -> None:
    ids = {f.id: f for f in evaluate_rules(old) if f.id.startswith("nfs-")}
    assert {name: finding.found for name, finding in ids.items()} == {
        "nfs-soft": "soft",
        "nfs-udp": "proto=udp",
        "nfs-local-locks": "nolock",
        "nfs-small-transfers": "rsize=32768,wsize=32768",
        "nfs-version": "vers=3",
    }


def options_of_command(finding: DoctorFinding) -> set[str]:
    words = shlex.split(finding.command)
    assert words[:7] == ["umount", "/mnt/filer", "&&", "mount", "-t", "nfs", "-o"]
    return set(words[7].split(","))


def test_nfs_is_mounted_again_with_all_other_options(old: Facts) -> None:
    ids = {f.id: f for f in evaluate_rules(old) if f.id.startswith("nfs-")}
    kept = {"rw", "relatime", "vers=3", "timeo=11", "retrans=3", "sec=sys"}
    size = {"rsize=32768", "wsize=32768"}
    udp, soft, alone = {"proto=udp"}, {"soft"}, {"nolock"}
    assert options_of_command(ids["nfs-udp"]) == kept | size | soft | alone | {"proto=tcp"}
    assert options_of_command(ids["nfs-soft"]) == kept | size | udp | alone | {"hard"}
    assert ids["nfs-small-transfers"].certainty is Certainty.MEASURE
    assert options_of_command(ids["nfs-local-locks"]) == (
        kept | size | soft | udp | {"lock", "local_lock=none"}
    )


def test_good_nfs_options_have_no_finding(tmp_path: Path) -> None:
    root = recorded.old_hadoop_node(tmp_path)
    write(
        root / "proc/self/mountinfo",
        "44 1 0:38 / /h rw - nfs4 nas:/h rw,vers=4.2,rsize=1048576,wsize=1048576,hard,proto=tcp\n"
        "45 1 0:39 / /s rw,sync - nfs4 nas:/s rw,vers=4.2,rsize=1048576,wsize=1048576,proto=tcp\n"
        "46 1 0:40 / /r ro,soft - nfs4 nas:/r rw,vers=4.2,rsize=1048576,wsize=1048576,proto=tcp\n",
    )
    facts = facts_of(root)
    assert [(f.id, f.subject) for f in evaluate_rules(facts) if f.id.startswith("nfs-")] == [
        ("nfs-sync", "/s")
    ]


def test_memory(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "proc/meminfo", f"MemTotal: {256 * 1024 * 1024} kB\n")
    write(root / "proc/swaps", "Filename Type\n/dev/sda2 partition 1 0 -2\n")
    thp = root / "sys/kernel/mm/transparent_hugepage"
    write(thp / "enabled", "[always] madvise never\n")
    write(thp / "defrag", "[always] defer defer+madvise madvise never\n")
    values = {"swappiness": "60", "dirty_ratio": "20", "dirty_bytes": "0", "zone_reclaim_mode": "1"}
    for key, value in values.items():
        write(root / "proc/sys/vm" / key, f"{value}\n")
    assert found(facts_of(root), "swappiness") == {}
    recorded.process(root, 4711, f"java\0{recorded.DATA_NODE}\0", "limits-6.8")
    facts = facts_of(root)
    assert found(facts, "swappiness")["host"].command == "iostudy set sysctl.vm.swappiness=1"
    assert found(facts, "dirty-limit-large-memory")["host"].found == "20 %, up to 51.2 GiB"
    assert found(facts, "thp-always")
    assert found(facts, "thp-defrag-always")
    assert found(facts, "zone-reclaim")


def test_good_memory_settings_have_no_finding(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "proc/meminfo", f"MemTotal: {256 * 1024 * 1024} kB\n")
    thp = root / "sys/kernel/mm/transparent_hugepage"
    write(thp / "enabled", "always [madvise] never\n")
    write(thp / "defrag", "[always] defer defer+madvise madvise never\n")
    write(root / "proc/swaps", "Filename Type\n/dev/zram0 partition 1 0 100\n")
    add_disk(root, "zram0", "251:0", scheduler=None, comp_algorithm="[zstd]\n")
    values = {"swappiness": "60", "dirty_ratio": "0", "dirty_bytes": "99", "zone_reclaim_mode": "0"}
    for key, value in values.items():
        write(root / "proc/sys/vm" / key, f"{value}\n")
    ids = {finding.id for finding in evaluate_rules(facts_of(root))}
    assert not ids & {
        "swappiness", "dirty-limit-large-memory", "thp-always", "thp-defrag-always", "zone-reclaim",
    }  # fmt: skip


def test_conflicts(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "etc/tuned/active_profile", "throughput-performance\n")
    recorded.process(root, 800, "/usr/bin/python3\0-Es\0/usr/sbin/tuned\0", "limits-6.8")
    write(root / "proc/sys/vm/swappiness", "60\n")
    write(root / "usr/lib/sysctl.d/50-x.conf", "vm.swappiness = 10\nkernel.sysrq = 1\n")
    write(
        root / "etc/udev/rules.d/60-io.rules",
        'KERNEL=="sd[ab]", ATTR{queue/rotational}=="1", ATTR{queue/scheduler}="bfq"\n'
        'KERNEL=="nvme*", ATTR{queue/scheduler}="none"\n'
        'KERNEL!="nvme*", ATTR{queue/iosched/slice_idle}="0"\n',
    )
    write(root / "etc/tmpfiles.d/thp.conf", "w /sys/kernel/mm/x - - - - never\n")
    facts = facts_of(root)
    assert found(facts, "tuned-active")["host"].found == "profile throughput-performance is active"
    rules = found(facts, "udev-sets-attribute")
    assert {where: finding.setting for where, finding in rules.items()} == {
        "/etc/udev/rules.d/60-io.rules:1": "block.scheduler",
        "/etc/udev/rules.d/60-io.rules:3": "",
    }
    sysctl = found(facts, "sysctl-file-sets")["/usr/lib/sysctl.d/50-x.conf:1"]
    assert sysctl.setting == "sysctl.vm.swappiness"
    assert sysctl.found == "vm.swappiness = 10 (now 60)"
    assert sysctl.command == (
        "{ test -e /etc/sysctl.d/50-x.conf"
        " || cp /usr/lib/sysctl.d/50-x.conf /etc/sysctl.d/50-x.conf; }"
        " && sed --in-place --follow-symlinks '1,1s/^/#/' /etc/sysctl.d/50-x.conf"
    )
    assert found(facts, "tmpfiles-writes")["/etc/tmpfiles.d/thp.conf:1"].command == (
        "sed --in-place --follow-symlinks '1,1s/^/#/' /etc/tmpfiles.d/thp.conf"
    )


def test_tuned_that_does_not_run(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "etc/tuned/active_profile", "throughput-performance\n")
    assert found(facts_of(root), "tuned-active") == {}


@pytest.mark.parametrize(
    ("filesystem", "rule"),
    [
        ("tmpfs", "target-in-memory"),
        ("overlay", "target-on-overlay"),
        ("fuse.sshfs", "target-on-fuse"),
    ],
)
def test_targets_without_a_disk(tmp_path: Path, filesystem: str, rule: str) -> None:
    write(tmp_path / "proc/self/mountinfo", f"1 0 0:9 / / rw - {filesystem} some rw\n")
    facts = gather_facts("/", tmp_path)
    assert [place.filesystem for place in facts.topology.deviceless_mounts] == [filesystem]
    targets = [f.id for f in evaluate_rules(facts) if f.id.startswith("target-")]
    assert targets == [rule]
    assert not [
        f.id for f in evaluate_rules(replace(facts, target=None)) if f.id.startswith("target-")
    ]


@pytest.mark.parametrize(
    "host",
    [
        recorded.old_hadoop_node,
        recorded.lvm_on_md,
        recorded.multipath,
        recorded.btrfs_raid,
        recorded.nvme_and_zoned,
    ],
)
def test_all_rules_run_on_every_recorded_host(tmp_path: Path, host: Callable[[Path], Path]) -> None:
    for finding in evaluate_rules(facts_of(host(tmp_path))):
        assert finding.found
        assert finding.advised
        assert finding.evidence
        assert finding.command


def test_rules_concern_the_named_device(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    facts = gather_facts("vg0/home", root, statvfs=lambda _: recorded.room())
    assert [d.name for d in facts.disks] == ["sda", "sdb", "sdc"]
    assert facts.target is None
    names = [d.name for d in gather_facts("md127", root, statvfs=lambda _: recorded.room()).devices]
    assert names == ["dm-0", "dm-2", "loop0", "md127", "sda", "sdb"]


def test_a_partition_of_a_device_with_a_slash_in_its_name(tmp_path: Path) -> None:
    add_disk(tmp_path, "cciss!c0d0", "104:0", scheduler=None, queue__physical_block_size="4096\n")
    part = add_partition(tmp_path, "cciss!c0d0", "cciss!c0d0p1", "104:1")
    write(part / "start", "63\n")
    write(tmp_path / "proc/self/mountinfo", "")
    finding = found(facts_of(tmp_path), "partition-misaligned")["cciss!c0d0p1"]
    assert finding.command == "parted --script /dev/cciss/c0d0 align-check minimal 1"


def test_absent_subsystems_have_no_findings(tmp_path: Path) -> None:
    root = recorded.lvm_on_md(tmp_path)
    write(root / "proc/sys/fs/file-max", "9223372036854775807\n")
    write(root / "etc/sysctl.conf", "kernel.sysrq = 1\n")
    write(root / "etc/tmpfiles.d/x.conf", "d /run/x 0755 root root -\n")
    assert not {finding.id for finding in evaluate_rules(facts_of(root))} & {
        "file-max", "scheduler-nvme", "scheduler-virtual",
        "sysctl-file-sets", "tmpfiles-writes",
    }  # fmt: skip
