from __future__ import annotations

import configparser
import re
from pathlib import Path

import pytest

from iostudy.persist import tuned
from iostudy.persist.request import InventoryDisk, PersistedSetting
from tests.persist.trees import write

SDA = InventoryDisk("sda", wwid="naa.5002538e40a2b3c4")
KEPT = (
    PersistedSetting("block.scheduler", "bfq", SDA),
    PersistedSetting("block.read_ahead_kb", "4096", SDA),
    PersistedSetting("sysctl.vm.swappiness", "10"),
    PersistedSetting("thp.enabled", "madvise"),
    PersistedSetting("thp.defrag", "defer"),
    PersistedSetting("cpu.governor", "performance"),
)


def profile(root: Path, *kept: PersistedSetting, **files: str) -> configparser.ConfigParser:
    """As TuneD itself reads it."""
    (file,) = tuned.plan(kept or KEPT, "a study", write(root, files)).artifacts
    parser = configparser.ConfigParser(delimiters=("=",), inline_comment_prefixes=("#",))
    parser.read_string(file.after)
    return parser


def test_sections_of_the_plugins(tmp_path):
    found = profile(tmp_path, **{"etc/tuned/active_profile": "throughput-performance\n"})
    assert {name: dict(found[name]) for name in found.sections()} == {
        "main": {"summary": "Kept by iostudy from a study", "include": "throughput-performance"},
        "iostudy_sda": {
            "type": "disk",
            "priority": "-1",
            "devices_udev_regex": "^ID_WWN_WITH_EXTENSION=0x5002538e40a2b3c4$",
            "elevator": "bfq",
            "readahead": "4096",
        },
        "sysctl": {"vm.swappiness": "10"},
        "vm": {"transparent_hugepages": "madvise", "transparent_hugepage.defrag": "defer"},
        "cpu": {"governor": "performance"},
    }


def test_path_and_activation_of_the_profile(tmp_path):
    (old,) = tuned.plan(KEPT, "x", write(tmp_path, {})).artifacts
    assert old.path == Path("/etc/tuned/iostudy/tuned.conf")
    assert old.activations[0].command == ("tuned-adm", "profile", "iostudy")
    (tmp_path / "etc/tuned/profiles").mkdir(parents=True)
    (new,) = tuned.plan(KEPT, "x", tmp_path).artifacts
    assert new.path == Path("/etc/tuned/profiles/iostudy/tuned.conf")


@pytest.mark.parametrize(
    ("active", "command"),
    [("", "tuned-adm off"), ("virtual-guest mine\n", "tuned-adm profile virtual-guest mine")],
)
def test_undo_command_is_printed(tmp_path, active, command):
    tree = write(tmp_path, {"etc/tuned/active_profile": active})
    assert tuned.plan(KEPT, "x", tree).notes == (
        f"to take the profile iostudy back: `{command}`, then remove it",
    )


def test_undo_of_a_profile_that_tuned_chose(tmp_path):
    files = {"etc/tuned/active_profile": "virtual-guest\n", "etc/tuned/profile_mode": "auto\n"}
    (note,) = tuned.plan(KEPT, "x", write(tmp_path, files)).notes
    assert "`tuned-adm auto_profile`" in note


@pytest.mark.parametrize(
    ("active", "included"),
    [
        ("virtual-guest iostudy\n", "virtual-guest,balanced"),
        ("iostudy mine\n", "balanced,mine"),
        ("balanced iostudy\n", "balanced"),
    ],
)
def test_several_active_profiles_without_iostudys_own(tmp_path, active, included):
    files = {
        "etc/tuned/active_profile": active,
        "etc/tuned/iostudy/tuned.conf": "[main]\ninclude=balanced\n",
    }
    assert profile(tmp_path, **files)["main"]["include"] == included
    (note,) = tuned.plan(KEPT, "x", tmp_path).notes
    assert f"`tuned-adm profile {included.replace(',', ' ')}`" in note


def test_profile_does_not_include_itself(tmp_path):
    files = {
        "etc/tuned/active_profile": "iostudy\n",
        "etc/tuned/iostudy/tuned.conf": "[main]\ninclude=balanced\n",
    }
    assert profile(tmp_path, **files)["main"]["include"] == "balanced"


@pytest.mark.parametrize(
    ("disk", "line"),
    [
        (InventoryDisk("nvme0n1", wwid="eui.00253.1"), "ID_WWN=eui.00253.1"),
        (InventoryDisk("vda", serial="a[b]"), "ID_SERIAL=a[b]"),
        (InventoryDisk("nvme1n1", serial="S1+x"), "ID_SERIAL_SHORT=S1+x"),
    ],
)
def test_the_regex_finds_that_disk_alone(tmp_path, disk, line):
    found = profile(tmp_path, PersistedSetting("block.scheduler", "none", disk))
    regex = found[f"iostudy_{disk.name}"]["devices_udev_regex"]
    assert re.search(regex, f"DEVNAME=/dev/x\n{line}\nX=1\n", re.MULTILINE)
    assert not re.search(regex, f"DEVNAME=/dev/x\n{line}0\nX=1\n", re.MULTILINE)
    assert not re.search(regex, line.replace(".", "x").replace("+", "1x").replace("[b]", "b"))


@pytest.mark.parametrize(
    ("setting", "why"),
    [
        (PersistedSetting("block.nr_requests", "64", SDA), "no option for it"),
        (
            PersistedSetting("block.scheduler", "bfq", InventoryDisk("dm-0", wwid="LVM-x")),
            "no WWID or serial number",
        ),
        (
            PersistedSetting(
                "block.scheduler", "bfq", InventoryDisk("dasda", serial="d", bus="ccw")
            ),
            "SCSI, NVMe",
        ),
        (
            PersistedSetting("block.scheduler", "bfq", InventoryDisk("sdb")),
            "no WWID or serial number",
        ),
        (
            PersistedSetting("block.scheduler", "bfq", InventoryDisk("sdb", serial="a#b")),
            "no WWID or serial number",
        ),
        (
            PersistedSetting(
                "block.scheduler", "bfq", InventoryDisk("sdb", serial="b", zoned=True)
            ),
            "zoned",
        ),
        (
            PersistedSetting(
                "block.scheduler", "bfq", InventoryDisk("sdb", serial="b", multipath=True)
            ),
            "multipath",
        ),
        (PersistedSetting("sysctl.kernel.core_pattern", "core.%p"), "character"),
        (PersistedSetting("block.scheduler", "bfq"), "on which disk"),
    ],
)
def test_unsupported_settings_of_a_profile_are_named(tmp_path, setting, why):
    planned = tuned.plan([setting], "x", write(tmp_path, {}))
    assert why in planned.unsupported[0].reason
    own = "sysctl" if setting.name.startswith("sysctl.") else "udev"
    assert planned.unsupported[0].remedy == f"use --format {own}"
    assert planned.artifacts == ()
