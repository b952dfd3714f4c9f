from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from iostudy.persist import udev
from iostudy.persist.request import DiskMatch, InventoryDisk, PersistedSetting, PersistRequest
from iostudy.persist.udev import find_pattern
from tests.fixtures_loop import queue_state
from tests.persist import private

SDA = InventoryDisk("sda", wwid="naa.5002538e40a2b3c4", model="SAMSUNG MZ7LH960", here="sdq")
VDA = InventoryDisk("vda", serial="disk*1")
ORIGIN = "configuration bfq of the study schedulers"
REQUESTED = PersistRequest(ORIGIN, ())


def lines(*kept: PersistedSetting) -> list[str]:
    """The rules and comments between the heading and the label at the end."""
    text = udev.format_rules(udev.build_rules(kept), ORIGIN)
    return text.splitlines()[4:-1]


def reasons(*kept: PersistedSetting) -> list[str]:
    return [unkept.reason for part in udev.build_rules(kept) for unkept in part.unsupported]


def test_a_disk_is_known_by_its_wwid_and_the_scheduler_comes_first():
    found = lines(
        PersistedSetting("block.nr_requests", "64", SDA),
        PersistedSetting("block.bfq.slice_idle", "0", SDA),
        PersistedSetting("block.scheduler", "bfq", SDA),
    )
    known = 'ATTRS{wwid}=="naa.5002538e40a2b3c4", '
    assert found == [
        "# sda SAMSUNG MZ7LH960",
        known + 'ATTR{queue/scheduler}="bfq"',
        known + 'ATTR{queue/nr_requests}="64"',
        known + 'ATTR{queue/iosched/slice_idle}="0"',
    ]


def test_only_whole_disks_and_only_when_they_appear_or_change():
    text = udev.format_rules(
        udev.build_rules([PersistedSetting("block.nomerges", "2", SDA)]), ORIGIN
    )
    assert text.splitlines()[:4] == [
        f"# Written by `iostudy persist`: {ORIGIN}.",
        'ACTION!="add|change", GOTO="iostudy_end"',
        'SUBSYSTEM!="block", GOTO="iostudy_end"',
        'ENV{DEVTYPE}!="disk", GOTO="iostudy_end"',
    ]
    assert text.endswith('LABEL="iostudy_end"\n')


@pytest.mark.parametrize(
    ("disk", "known"),
    [
        (
            InventoryDisk("nvme0n1", wwid="eui.0025385b71b0e6f1"),
            'ATTRS{wwid}=="eui.0025385b71b0e6f1"',
        ),
        (VDA, 'ATTRS{serial}=="disk[*]1"'),
        (InventoryDisk("dm-3", wwid="LVM-abc", wwid_file="dm/uuid"), 'ATTR{dm/uuid}=="LVM-abc"'),
        (InventoryDisk("md0", wwid="5d2f-1", wwid_file="md/uuid"), 'ATTR{md/uuid}=="5d2f-1"'),
        (InventoryDisk("loop3", named=True), 'KERNEL=="loop3"'),
        (
            InventoryDisk("sdb", wwid="t10.ATA     ST3000DM 1"),
            'ATTRS{wwid}=="t10.ATA     ST3000DM 1"',
        ),
    ],
)
def test_identities(disk, known):
    assert find_pattern(disk, DiskMatch.SERIAL).rule == known


def test_a_disk_without_identity_is_refused_unless_it_is_named():
    setting = PersistedSetting("block.scheduler", "bfq", InventoryDisk("loop3"))
    assert lines(setting) == []
    assert "neither a WWID nor a serial number" in reasons(setting)[0]
    named = replace(setting, disk=InventoryDisk("loop3", named=True))
    assert "its name only" in lines(named)[1]


@pytest.mark.parametrize("character", ['"', "\\", "|", "\n", "\x1b", "ü"])
def test_an_identity_that_no_rule_can_match_is_refused(character):
    setting = PersistedSetting(
        "block.scheduler", "bfq", InventoryDisk("sda", serial=f"a{character}b")
    )
    assert lines(setting) == []
    assert "no rule can match" in reasons(setting)[0]


@pytest.mark.parametrize("value", ['1"', "$kernel", "%k", "1\n2", ""])
def test_a_value_that_udev_would_expand_or_end_is_refused(value):
    assert "character" in reasons(PersistedSetting("block.nomerges", value, SDA))[0]


def test_a_value_with_a_blank():
    assert lines(PersistedSetting("block.write_cache", "write back", SDA))[-1].endswith(
        'ATTR{queue/write_cache}="write back"'
    )


def test_model_name_stays_in_its_comment():
    disk = replace(SDA, model='x\nRUN+="y" \\')
    (name, rule) = lines(PersistedSetting("block.scheduler", "bfq", disk))
    assert name == '# sda x?RUN+="y" ?'
    assert rule.endswith('="bfq"')


def test_multipath_devices_are_excluded_with_a_comment():
    setting = PersistedSetting("block.scheduler", "none", replace(SDA, multipath=True))
    assert lines(setting)[1].startswith("# Spared: it is a multipath device")
    assert "multipathd" in reasons(setting)[0]


def test_zoned_disks_take_mq_deadline_only():
    zoned = replace(SDA, zoned=True)
    spared = (
        PersistedSetting("block.scheduler", "bfq", zoned),
        PersistedSetting("block.bfq.slice_idle", "0", zoned),
    )
    assert lines(*spared)[1].startswith("# No scheduler: it is zoned")
    assert len(reasons(*spared)) == 2
    others = (*spared, PersistedSetting("block.read_ahead_kb", "4096", zoned))
    assert len(reasons(*others)) == 2
    assert lines(*others)[-1].endswith('ATTR{queue/read_ahead_kb}="4096"')
    assert reasons(PersistedSetting("block.scheduler", "mq-deadline", zoned)) == []


def test_a_tunable_of_another_scheduler_is_not_kept():
    found = reasons(
        PersistedSetting("block.scheduler", "bfq", SDA),
        PersistedSetting("block.mq-deadline.read_expire", "100", SDA),
    )
    assert found == ["it is a tunable of mq-deadline, and bfq is kept"]


def test_tunable_without_a_scheduler_applies_only_under_it():
    (_, rule) = lines(PersistedSetting("block.mq-deadline.read_expire", "100", SDA))
    pattern = rule.split('ATTR{queue/scheduler}=="')[1].split('"')[0]
    assert fnmatchcase("none [mq-deadline] bfq", pattern)
    assert not fnmatchcase("[none] mq-deadline bfq", pattern)


def test_a_setting_without_a_known_disk_is_named():
    assert reasons(PersistedSetting("block.scheduler", "bfq")) == ["it is not known on which disk"]


PRINTABLE = st.text(st.characters(min_codepoint=32, max_codepoint=126), min_size=1)


@given(PRINTABLE, PRINTABLE)
def test_a_pattern_matches_its_own_identity_alone(serial, other):
    try:
        known = find_pattern(InventoryDisk("sda", serial=serial), DiskMatch.SERIAL).rule
    except ValueError:
        return
    pattern = known.removeprefix('ATTRS{serial}=="').removesuffix('"')
    assert '"' not in pattern
    assert fnmatchcase(serial, pattern)
    assert fnmatchcase(other, pattern) == (other == serial)


def rules(root: Path, name: str, text: str, folder: str = "etc/udev/rules.d") -> None:
    path = root / folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def test_rules_of_others_are_named(tmp_path):
    rule = 'ATTR{queue/rotational}=="1", ATTR{queue/scheduler}="mq-deadline"\n'
    rules(tmp_path, "60-ioschedulers.rules", "# schedulers\n" + rule)
    rules(tmp_path, "zz-last.rules", rule, "usr/lib/udev/rules.d")
    planned = udev.plan([PersistedSetting("block.scheduler", "bfq", SDA)], REQUESTED, tmp_path)
    assert "/etc/udev/rules.d/60-ioschedulers.rules:2 may set it too" in planned.notes[0]
    (clash,) = planned.conflicts
    assert clash.where == "/usr/lib/udev/rules.d/zz-last.rules:1"


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("etc/udev/rules.d/99-zz.rules", 'ATTR{bdi/read_ahead_kb}="4096"'),
        ("etc/udev/rules.d/10-a.rules", 'SUBSYSTEM=="bdi", ATTR{read_ahead_kb}="4096"'),
        ("etc/udev/rules.d/10-a.rules", 'RUN+="/sbin/blockdev --setra 8192 /dev/%k"'),
        ("etc/tmpfiles.d/a.conf", "w /sys/block/sdq/queue/read_ahead_kb - - - - 4096"),
        ("etc/tmpfiles.d/a.conf", "w /sys/class/block/*/bdi/read_ahead_kb - - - - 4096"),
        ("etc/sysfs.conf", "block/sdq/queue/read_ahead_kb = 4096"),
    ],
)
def test_other_writers_of_the_same_value_that_run_later_are_conflicts(tmp_path, file, text):
    rules(tmp_path, Path(file).name, f"{text}\n", str(Path(file).parent))
    kept = [PersistedSetting("block.read_ahead_kb", "512", SDA)]
    (clash,) = udev.plan(kept, REQUESTED, tmp_path).conflicts
    assert (clash.where, clash.found) == (f"/{file}:1", text)
    same = [PersistedSetting("block.read_ahead_kb", "4096", SDA)]
    assert udev.plan(same, REQUESTED, tmp_path).conflicts == ()
    other = [PersistedSetting("block.nr_requests", "64", SDA)]
    assert udev.plan(other, REQUESTED, tmp_path).conflicts == ()


def test_the_rule_of_nfs_utils_sets_no_disk(tmp_path):
    rule = 'SUBSYSTEM=="bdi", PROGRAM="/usr/libexec/nfsrahead %k", ATTR{read_ahead_kb}="%c"\n'
    rules(tmp_path, "99-nfs.rules", rule, "usr/lib/udev/rules.d")
    kept = [PersistedSetting("block.read_ahead_kb", "512", SDA)]
    assert udev.plan(kept, REQUESTED, tmp_path).conflicts == ()


PROFILE = "[main]\ninclude=base\n[mine]\ntype=disk\nreadahead={}\n"


@pytest.mark.parametrize(
    ("readahead", "kept", "is_conflict"),
    [
        *((">4096", "512", True), (">4096", "8192", False), ("1024 s", "512", False)),
        *(("4096", "512", True), ("${x}", "512", True)),
    ],
)
def test_an_active_profile_of_tuned_is_a_conflict(tmp_path, readahead, kept, is_conflict):
    rules(tmp_path, "active_profile", "mine\n", "etc/tuned")
    rules(tmp_path, "tuned.conf", "[main]\ninclude=mine\n[sysctl]\nvm.x=1\n", "usr/lib/tuned/base")
    rules(tmp_path, "tuned.conf", PROFILE.format(readahead), "etc/tuned/profiles/mine")
    setting = PersistedSetting("block.read_ahead_kb", kept, SDA)
    conflicts = udev.plan([setting], REQUESTED, tmp_path).conflicts
    assert [clash.where for clash in conflicts] == (
        ["/etc/tuned/profiles/mine/tuned.conf:5"] if is_conflict else []
    )
    assert all("--format tuned" in clash.remedy for clash in conflicts)


def test_writers_of_other_disks_are_no_conflict(tmp_path):
    rules(tmp_path, "a.conf", "w /sys/block/sda/queue/nr_requests - - - - 9\n", "etc/tmpfiles.d")
    planned = udev.plan([PersistedSetting("block.nr_requests", "64", SDA)], REQUESTED, tmp_path)
    assert planned.conflicts == ()


def test_match_keys_are_not_taken_for_assignments(tmp_path):
    rules(tmp_path, "zz.rules", 'ATTR{queue/scheduler}=="bfq", ENV{X}="1"\n')
    planned = udev.plan([PersistedSetting("block.scheduler", "bfq", SDA)], REQUESTED, tmp_path)
    assert (planned.conflicts, planned.notes) == ((), ())


def test_only_disks_that_are_here_are_triggered_by_the_name_they_have_now(tmp_path):
    kept = [
        PersistedSetting("block.nomerges", "2", SDA),
        PersistedSetting("block.nomerges", "2", VDA),
    ]
    planned = udev.plan(kept, REQUESTED, tmp_path)
    (file,) = planned.artifacts
    assert file.activations[1].command[-2:] == ("--settle", "/sys/class/block/sdq")
    assert [str(expected.path) for expected in file.expected] == ["/sys/block/sdq/queue/nomerges"]
    assert planned.notes == ("vda is not on this host now: its rules wait for it",)
    assert planned.places == ("sdq",)


EVERY_SHAPE = (
    PersistedSetting("block.scheduler", "mq-deadline", SDA),
    PersistedSetting("block.write_cache", "write back", SDA),
    PersistedSetting(
        "block.mq-deadline.read_expire", "100", InventoryDisk("sdb", serial="S[1]?*x")
    ),
    PersistedSetting("block.scheduler", "bfq", replace(SDA, name="sdc", multipath=True)),
    PersistedSetting(
        "block.nr_requests", "64", InventoryDisk("dm-0", wwid="LVM-q w", wwid_file="dm/uuid")
    ),
)


@pytest.mark.root
@pytest.mark.skipif(shutil.which("udevadm") is None, reason="needs udevadm")
def test_udev_applies_the_rules(tmp_path, loop):
    """`udevadm test` of systemd up to 256 writes attributes as an event would."""
    disk = InventoryDisk(loop, named=True)
    wanted = {
        "block.read_ahead_kb": "256",
        "block.scheduler": "bfq",
        "block.bfq.slice_idle": "3",
        "block.nr_requests": "32",
    }
    kept = [*EVERY_SHAPE, *(PersistedSetting(name, value, disk) for name, value in wanted.items())]
    etc = private.copy_etc(tmp_path)
    (etc / "udev/rules.d").mkdir(parents=True, exist_ok=True)
    (etc / "udev/rules.d" / udev.FILE.name).write_text(
        udev.format_rules(udev.build_rules(kept), ORIGIN)
    )
    done = private.run(
        tmp_path, "udevadm", "test", "--action=change", f"/sys/block/{loop}", env=os.environ
    )
    about = [line for line in done.stdout.splitlines() if udev.FILE.name in line]
    written = [line.rpartition("/queue/")[2] for line in about if "writing" in line]
    assert written == [
        "scheduler' writing 'bfq'",
        "read_ahead_kb' writing '256'",
        "iosched/slice_idle' writing '3'",
        "nr_requests' writing '32'",
    ]
    assert len(about) == len(written) + 1, "nothing but that it was read and carried out"
    if udevadm_version() < 257:
        found = queue_state(loop)
        assert found["read_ahead_kb"] == "256"
        assert "[bfq]" in found["scheduler"]
        assert found["iosched/slice_idle"] == "3"
        assert found["nr_requests"] == "32"


def udevadm_version() -> int:
    return int(subprocess.check_output(["udevadm", "--version"], text=True).split()[0])
