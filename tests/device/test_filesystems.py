"""Every file system that is made, with real mkfs on real disks: what was made is read back."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import SettingError, TargetError
from iostudy.host import mounts
from iostudy.settings import kinds
from iostudy.settings.scratch import new_filesystem, steps
from iostudy.settings.scratch.disk import ScratchDevice
from iostudy.settings.scratch.filesystem import FILESYSTEMS, Filesystem, mkfs_program
from iostudy.settings.scratch.new_filesystem import ExtSuperblock, NewFilesystem
from iostudy.settings.transaction.transaction import Transaction
from tests.fixtures_loop import MIB, loop_disk

pytestmark = pytest.mark.root

# What xfs wants at least, with stripes; the disk's file is sparse.
SIZE = 2048 * MIB

MADE = [
    Filesystem("ext2"),
    Filesystem("ext2", block_size="1024", reserved="1"),
    Filesystem("ext3", reserved="0", options="data=writeback"),
    Filesystem("ext4"),
    Filesystem("ext4", journal="off", reserved="0", block_size="1024"),
    Filesystem("ext4", journal="on", stripe_width="64 4", options="noatime,nobarrier"),
    Filesystem("ext4", stripe_width="16 2", block_size="2048"),
    Filesystem("xfs"),
    Filesystem("xfs", block_size="1024", options="logbsize=64k"),
    Filesystem("xfs", stripe_width="64 2"),
    Filesystem("btrfs"),
    Filesystem("btrfs", block_size="4096", options="compress=zstd:3,noatime"),
]


@pytest.fixture(scope="module")
def disk():
    with loop_disk(SIZE) as name:
        yield name


def prepared(
    name: str, folder: Path, filesystem: Filesystem
) -> tuple[ScratchDevice, NewFilesystem]:
    scratch = ScratchDevice.prepare(Path("/dev") / name, folder)
    return scratch, NewFilesystem.prepare(scratch, filesystem)


def tool(filesystem: str) -> None:
    if shutil.which(mkfs_program(filesystem)) is None:
        pytest.skip(f"no {mkfs_program(filesystem)}")


@pytest.mark.parametrize("filesystem", MADE, ids=Filesystem.describe)
def test_created_file_systems_have_the_requested_options(
    disk: str, tmp_path: Path, filesystem: Filesystem
) -> None:
    tool(filesystem.type)
    scratch, made = prepared(disk, tmp_path, filesystem)
    assert NewFilesystem.from_record(json.loads(json.dumps(made.record()))) == made
    with Transaction() as transaction:
        transaction.apply(scratch, made)
        found = made.read_back()
        assert set(found) == {f"{name}@{disk}" for name in filesystem.wanted()}
        assert {"nodev", "nosuid"} <= set(mounts.find_mounts_at(made.point)[0].options)
        for name, value in filesystem.wanted().items():
            (setting,) = kinds.bind(name, made.point)
            assert found[f"{name}@{disk}"] == setting.read()
            (same,) = kinds.bind(name, f"/dev/{disk}")
            assert same.read() == setting.read()
            if name == "filesystem.options":
                assert set(value.split(",")) <= set(setting.read().split(","))
            else:
                assert setting.read() == value
        (made.point / "file").write_text("data")
    assert mounts.find_mounts_at(made.point) == ()
    assert not scratch.folder.exists()


@pytest.mark.parametrize("kind", ["ext2", "ext3", "ext4"])
def test_the_superblock_says_what_dumpe2fs_says(disk: str, tmp_path: Path, kind: str) -> None:
    wanted = Filesystem(kind, reserved="3", stripe_width="32 3")
    scratch, made = prepared(disk, tmp_path, wanted)
    with Transaction() as transaction:
        transaction.apply(scratch, made)
    output = subprocess.check_output(
        ["dumpe2fs", "-h", f"/dev/{disk}"], text=True, stderr=subprocess.DEVNULL
    )
    fields = dict(re.findall(r"^([^:\n]+):\s+(.*)$", output, re.MULTILINE))
    with Path(f"/dev/{disk}").open("rb") as device:
        device.seek(1024)
        found = ExtSuperblock.parse(device.read(1024))
    assert found == ExtSuperblock(
        block_bytes=int(fields["Block size"]),
        blocks=int(fields["Block count"]),
        reserved_blocks=int(fields["Reserved block count"]),
        has_journal="has_journal" in fields["Filesystem features"].split(),
        stride=int(fields["RAID stride"]),
        stripe_width=int(fields["RAID stripe width"]),
    )


@pytest.mark.parametrize(
    ("filesystem", "words"),
    [
        (Filesystem("ext4", block_size="512"), r"mkfs\.ext4"),
        (Filesystem("btrfs", block_size="1024"), r"mkfs\.btrfs"),
        (Filesystem("xfs", block_size="4096", stripe_width="999 1"), r"mkfs\.xfs"),
        (Filesystem("xfs", options="data=writeback"), "to make it \\(mount\\)"),
        # A share of a block cannot be a stripe: mke2fs is given a whole one, and that is reported.
        (Filesystem("ext4", stripe_width="2 4"), "it is 4 4"),
        (Filesystem("ext4", options="commit=007"), "it is commit=7"),
    ],
    ids=lambda value: value.describe() if isinstance(value, Filesystem) else "",
)
def test_failed_creation_is_reported_and_leaves_nothing(
    disk: str, tmp_path: Path, filesystem: Filesystem, words: str
) -> None:
    tool(filesystem.type)
    scratch, made = prepared(disk, tmp_path, filesystem)
    with pytest.raises(SettingError, match=words) as caught, Transaction() as transaction:
        transaction.apply(scratch, made)
    assert filesystem.describe() in caught.value.wanted
    assert "Usage" not in caught.value.found
    assert not scratch.folder.exists()
    steps.check_unused(Path("/dev") / disk)


def test_an_option_that_mkfs_ignored_is_an_error(
    disk: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Filesystem, "command", lambda _: ("mkfs.ext4", "-q", "-F"))
    scratch, made = prepared(disk, tmp_path, Filesystem("ext4", reserved="0"))
    complaint = pytest.raises(SettingError, match=r"filesystem\.reserved = 0")
    with complaint as caught, Transaction() as transaction:
        transaction.apply(scratch, made)
    assert caught.value.found == "it is 5"


def test_a_disk_that_somebody_mounts_in_between_is_not_formatted(disk: str, tmp_path: Path) -> None:
    scratch, made = prepared(disk, tmp_path, Filesystem("ext4"))
    other = replace(made, point=tmp_path / "theirs")
    with Transaction() as theirs, Transaction() as ours:
        theirs.apply(other)
        with pytest.raises(TargetError, match=f"{disk} is mounted on {other.point}"):
            ours.apply(scratch)
        (other.point / "precious").write_text("data")
        with pytest.raises(TargetError, match="not in use"):
            ours.apply(made)
        assert (other.point / "precious").read_text() == "data"


def test_a_setting_is_read_and_not_changed_where_it_is_in_use(disk: str, tmp_path: Path) -> None:
    scratch, made = prepared(disk, tmp_path, Filesystem("xfs"))
    with Transaction() as transaction:
        transaction.apply(scratch, made)
        (journal,) = kinds.bind("filesystem.journal", made.point)
        with pytest.raises(SettingError, match=r"only while filesystem\.type is ext4"):
            journal.read()
        (kind,) = kinds.bind("filesystem.type", made.point)
        assert kind.label == f"filesystem.type@{made.point}"
        assert set(kind.available_values()) <= set(FILESYSTEMS)
        with pytest.raises(SettingError, match="in a study whose target is a disk"):
            kinds.prepare_changes({kind: "ext4"})
    with pytest.raises(TargetError, match=f"{disk} is not mounted"):
        kinds.bind("filesystem.type", f"/dev/{disk}")


def test_no_stripes_are_called_none(disk: str, tmp_path: Path) -> None:
    for kind in ("ext4", "xfs"):
        scratch, made = prepared(disk, tmp_path, Filesystem(kind))
        with Transaction() as transaction:
            transaction.apply(scratch, made)
            (setting,) = kinds.bind("filesystem.stripe_width", made.point)
            assert setting.read() == new_filesystem.NO_STRIPES
