"""The read-ahead of mounts without a block device: FUSE and btrfs."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.host.mounts import find_mount
from iostudy.settings import kinds
from iostudy.settings.change import ConflictPolicy
from iostudy.settings.transaction.transaction import Transaction
from tests.fixtures_loop import MIB, loop_disk, queue_state

pytestmark = pytest.mark.root
NAME = "bdi.read_ahead_kb"


@contextmanager
def fuse(point: Path) -> Iterator[Path]:
    """A FUSE mount that no server answers for: enough for its settings."""
    if not Path("/dev/fuse").exists():
        pytest.skip("this kernel has no FUSE")
    point.mkdir(exist_ok=True)
    server = os.open("/dev/fuse", os.O_RDWR)
    try:
        options = f"fd={server},rootmode=40000,user_id=0,group_id=0"
        mount = ["mount", "-i", "-t", "fuse", "-o", options, "iostudy-test", str(point)]
        subprocess.run(mount, check=True, pass_fds=[server])
        yield Path("/sys/class/bdi", find_mount(point).device, "read_ahead_kb")
    finally:
        subprocess.run(["umount", "-i", "--lazy", str(point)], check=True)
        os.close(server)


@contextmanager
def on_loop(point: Path, filesystem: str) -> Iterator[str]:
    """The name of the loop device that the file system at ``point`` is on."""
    if shutil.which(f"mkfs.{filesystem}") is None:
        pytest.skip(f"needs mkfs.{filesystem}")
    point.mkdir()
    with loop_disk(256 * MIB) as loop:
        subprocess.run([f"mkfs.{filesystem}", "-q", f"/dev/{loop}"], check=True)
        subprocess.run(["mount", "-t", filesystem, f"/dev/{loop}", str(point)], check=True)
        try:
            yield loop
        finally:
            subprocess.run(["umount", str(point)], check=True)


def test_a_fuse_mount(tmp_path: Path) -> None:
    with fuse(tmp_path / "with blank") as path:
        before = path.read_text()
        (setting,) = kinds.bind(NAME, tmp_path / "with blank")
        assert setting.label == f"{NAME}@{tmp_path / 'with blank'}"
        (change,) = kinds.prepare_changes({setting: "1024"})
        assert change.affected_resources() == (path.parent.name,)
        with Transaction() as transaction:
            transaction.apply(change)
            assert setting.read() == path.read_text().strip() == "1024"
        assert path.read_text() == before


def test_a_value_between_two_pages_is_refused(tmp_path: Path) -> None:
    with fuse(tmp_path / "m") as path:
        before = path.read_text()
        (change,) = kinds.prepare_changes(dict.fromkeys(kinds.bind(NAME, tmp_path / "m"), "77"))
        with pytest.raises(SettingError, match="the actual value is 76"):
            change.apply()
        assert path.read_text() == before


def test_a_foreign_value_is_left_alone(tmp_path: Path) -> None:
    with fuse(tmp_path / "m") as path:
        (change,) = kinds.prepare_changes(dict.fromkeys(kinds.bind(NAME, tmp_path / "m"), "1024"))
        change.apply()
        path.write_text("64")
        with pytest.raises(RestoreError, match="read_ahead_kb is 64: another process"):
            change.undo()


def test_an_unmounted_file_system_is_reported(tmp_path: Path) -> None:
    with fuse(tmp_path / "m"):
        (change,) = kinds.prepare_changes(dict.fromkeys(kinds.bind(NAME, tmp_path / "m"), "1024"))
        change.apply()
    record = json.loads(json.dumps(change.record()))
    (said,) = kinds.rebuild_change(change.kind, record).undo(ConflictPolicy.OVERWRITE)
    assert "it is no longer mounted" in said


def test_another_mount_got_the_number(tmp_path: Path) -> None:
    with fuse(tmp_path / "m") as path:
        (change,) = kinds.prepare_changes(dict.fromkeys(kinds.bind(NAME, tmp_path / "m"), "1024"))
        change.apply()
        record = json.loads(json.dumps(change.record()))
        record["owner"]["source"] = "another"
        (said,) = kinds.rebuild_change(change.kind, record).undo()
        assert "it is no longer mounted" in said
        assert path.read_text() == "1024\n"


def test_btrfs_has_its_own(tmp_path: Path) -> None:
    point = tmp_path / "m"
    with on_loop(point, "btrfs") as loop:
        of_device = queue_state(loop)["read_ahead_kb"]
        (setting,) = kinds.bind(NAME, point)
        before = setting.read()
        (change,) = kinds.prepare_changes({setting: "512"})
        assert change.affected_resources() == (loop,)
        with Transaction() as transaction:
            transaction.apply(change)
            assert setting.read() == "512"
            assert queue_state(loop)["read_ahead_kb"] == of_device
        assert setting.read() == before


def test_a_file_system_on_a_block_device_is_refused(tmp_path: Path) -> None:
    with on_loop(tmp_path / "m", "ext4"), pytest.raises(TargetError) as caught:
        kinds.bind(NAME, tmp_path / "m")
    assert "lies on a block device" in caught.value.found
    assert "use block.read_ahead_kb" in caught.value.remedy


@pytest.mark.parametrize("place", ["/proc", "/nonesuch", "loop0"])
def test_places_without(place: str) -> None:
    with pytest.raises(TargetError):
        kinds.bind(NAME, place)
