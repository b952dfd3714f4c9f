from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from iostudy.errors import UsageError
from iostudy.persist import formats
from iostudy.persist.formats import Format, plan
from iostudy.persist.request import InventoryDisk, PersistedSetting, PersistRequest
from tests.persist.trees import write

KEPT = (
    PersistedSetting("block.scheduler", "bfq", InventoryDisk("sda", wwid="naa.5")),
    PersistedSetting("sysctl.vm.swappiness", "10"),
    PersistedSetting("thp.enabled", "madvise"),
    PersistedSetting("mount.atime", "noatime", mount_point=Path("/data")),
    PersistedSetting("limit.nofile_soft", "10000"),
    PersistedSetting("cgroup.weight", "321"),
    PersistedSetting("bdi.read_ahead_kb", "7168", mount_point=Path("/nfs")),
    PersistedSetting("filesystem.type", "xfs"),
    PersistedSetting("hadoop.dfs.replication", "1"),
)
FSTAB = "/dev/sdb1 /data ext4 defaults 0 2\n"


@pytest.fixture
def root(tmp_path):
    return write(tmp_path, {"etc/fstab": FSTAB})


def planned(root, form):
    return plan(PersistRequest("x", KEPT, ("a note",)), form, root)


def test_without_a_format_each_setting_has_its_own(root):
    plan = planned(root, None)
    assert [str(file.path) for file in plan.artifacts] == [
        "/etc/udev/rules.d/99-iostudy.rules",
        "/etc/sysctl.d/90-iostudy.conf",
        "/etc/tmpfiles.d/iostudy.conf",
        "/etc/security/limits.d/90-iostudy.conf",
        "/etc/fstab",
    ]
    assert [unkept.what.partition(" ")[0] for unkept in plan.unsupported] == [
        "cgroup.weight",
        "bdi.read_ahead_kb@/nfs",
        "filesystem.type",
        "hadoop.dfs.replication",
    ]
    assert plan.notes[0] == "a note"


@pytest.mark.parametrize("form", [None, *Format])
def test_settings_are_kept_or_listed_as_not_kept(root, form):
    plan = planned(root, form)
    written = "".join(file.after for file in plan.artifacts)
    words = ("bfq", "swappiness", "madvise", "noatime", "nofile", "321", "7168", "xfs", "replicat")
    named = [unkept.what for unkept in plan.unsupported]
    for setting, word in zip(KEPT, words, strict=True):
        assert (setting.text in named) != (word in written), setting
    assert all(unkept.reason and unkept.remedy for unkept in plan.unsupported)


def test_every_format_names_its_settings():
    assert all(map(formats.describe_kept, formats.names()))


def test_unsupported_setting_names_its_format(root):
    remedies = {u.what.partition(" ")[0]: u.remedy for u in planned(root, Format.UDEV).unsupported}
    assert remedies["sysctl.vm.swappiness"] == "use --format sysctl"
    assert remedies["mount.atime@/data"] == "use --format fstab"


@pytest.mark.all_plugins
def test_cluster_properties_refer_to_the_hadoop_format(root):
    for form in (None, Format.ANSIBLE):
        unsupported = {u.what.partition(" ")[0]: u for u in planned(root, form).unsupported}
        assert "--format hadoop" in unsupported["hadoop.dfs.replication"].remedy


def test_settings_outside_a_profile_refer_to_their_format(root):
    unsupported = {u.what.partition(" ")[0]: u for u in planned(root, Format.TUNED).unsupported}
    assert unsupported["mount.atime@/data"].remedy == "use --format fstab"
    assert unsupported["limit.nofile_soft"].remedy == "use --format limits"
    assert unsupported["limit.nofile_soft"].reason == "--format tuned cannot hold it"
    without = {u.what.partition(" ")[0]: u for u in planned(root, None).unsupported}
    assert unsupported["cgroup.weight"] == without["cgroup.weight"]


def test_role_ignores_the_files_of_this_host(root):
    write(root, {"etc/sysctl.d/99-x.conf": "vm.swappiness = 10\n", "etc/fstab": FSTAB})
    files = planned(root, Format.ANSIBLE).artifacts
    (defaults,) = (file.after for file in files if file.path.match("defaults/main.yml"))
    assert "vm.swappiness: '10'" in defaults


@pytest.mark.parametrize(
    "name",
    [
        "etc/udev/rules.d/1.rules",
        "etc/sysctl.d/1.conf",
        "etc/tmpfiles.d/1.conf",
        "etc/security/limits.conf",
        "etc/fstab",
    ],
)
def test_unreadable_file_is_an_error(root, name, monkeypatch):
    write(root, {name: ""})
    read, open_ = Path.read_bytes, os.open

    def refuse(path):
        if path == root / name:
            raise PermissionError(errno.EACCES, "Permission denied")

    def refused_read(path):
        refuse(path)
        return read(path)

    def refused_open(path, *rest):
        refuse(path)
        return open_(path, *rest)

    monkeypatch.setattr(Path, "read_bytes", refused_read)
    monkeypatch.setattr(os, "open", refused_open)
    with pytest.raises(UsageError, match=f"{name}: Permission denied"):
        planned(root, None)
    cgroup = PersistRequest("x", (PersistedSetting("cgroup.weight", "321"),))
    assert len(plan(cgroup, None, root).unsupported) == 1


@pytest.mark.parametrize(
    ("form", "words"),
    [
        (Format.SYSCTL, "remove this file"),
        (Format.TUNED, "tuned-adm"),
        (Format.ANSIBLE, "the README.md of this role"),
    ],
)
def test_each_format_says_how_to_undo_it(root, form, words):
    files = [file.after for file in planned(root, form).artifacts]
    assert any("# Undo: " in text and words in text for text in files)
