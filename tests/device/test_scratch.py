"""Scratch disks on a real kernel."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.host import devices, mounts
from iostudy.host.devices import parse_scheduler
from iostudy.settings import commands, kinds
from iostudy.settings.identity import DiskIdentity, ScratchIdentity
from iostudy.settings.scratch import steps
from iostudy.settings.scratch.disk import LoopbackDisk, ScratchDevice
from iostudy.settings.scratch.filesystem import Filesystem
from iostudy.settings.scratch.new_filesystem import NewFilesystem, ScratchDisk, require_tools
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.transaction import Transaction
from tests.crash.killer import fork, kill_me
from tests.fixtures_loop import MIB, loop_disk

pytestmark = pytest.mark.root

SIZE = 32 * MIB
EXT4 = Filesystem("ext4")


def make(
    transaction: Transaction, disk: ScratchDisk, filesystem: Filesystem = EXT4
) -> NewFilesystem:
    """The disk, and a file system on it."""
    transaction.apply(disk)
    made = NewFilesystem.prepare(disk, filesystem)
    transaction.apply(made)
    return made


def test_a_loopback_disk_comes_and_goes(tmp_path: Path) -> None:
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
        make(transaction, disk)
        (mount,) = mounts.find_mounts_at(disk.mount_point)
        assert (mount.filesystem, mount.source) == ("ext4", str(disk.device.path))
        assert {"nodev", "nosuid"} <= set(mount.options)
        assert disk.device.size_bytes == SIZE
        dio = Path("/sys/block") / disk.device.name / "loop/dio"
        assert bool(disk.notes()) == (dio.read_text() != "1\n")
        # All blocks are still the image's own: formatting has not punched holes into it.
        assert disk.image.stat().st_blocks * 512 >= SIZE
        (disk.mount_point / "file").write_text("data")
        put_back = transaction.restore()
    assert put_back[0].endswith("mount: unmounted")
    assert put_back[1:] == (f"{disk.describe()}: removed",)
    assert gone(disk, tmp_path)


def gone(disk: LoopbackDisk, parent: Path) -> bool:
    mounted = mounts.find_mounts_at(disk.mount_point)
    left = [path for path in parent.iterdir() if path.name != "state"]
    return not (mounted or devices.find_loop_devices(disk.image) or left)


def test_xfs(tmp_path: Path) -> None:
    if shutil.which("mkfs.xfs") is None:
        pytest.skip("no mkfs.xfs")
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(tmp_path, 320 * MIB)
        make(transaction, disk, Filesystem("xfs"))
        assert [mount.filesystem for mount in mounts.find_mounts_at(disk.mount_point)] == ["xfs"]
    assert gone(disk, tmp_path)


def test_undo_whatever_has_been_undone_by_hand(tmp_path: Path) -> None:
    (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
    with Transaction() as transaction:
        make(transaction, disk)
        subprocess.run(["umount", disk.mount_point], check=True)
        disk.image.unlink()
    assert gone(disk, tmp_path)
    assert disk.undo() == ()


def scheduler(name: str) -> str:
    return parse_scheduler((Path("/sys/block") / name / "queue/scheduler").read_text()).current


def use_with_bfq(transaction: Transaction, folder: Path) -> LoopbackDisk:
    """A loop-back disk with a file system and bfq in place of none."""
    (disk,) = LoopbackDisk.prepare(folder, SIZE)
    make(transaction, disk)
    queue = Path("/sys/block") / disk.device.name / "queue"
    (queue / "scheduler").write_text("none")  # a free loop device keeps what its last user set
    wanted = dict.fromkeys(kinds.bind("block.scheduler", disk.mount_point), "bfq")
    transaction.apply(*kinds.prepare_changes(wanted))
    return disk


def leave(parent: Path) -> str:
    """The loop device of a command that was killed while it used a loop-back disk."""
    fork(lambda: (use_with_bfq(Transaction(), parent), kill_me()))
    (folder,) = parent.glob("scratch-*")
    (device,) = steps.find_by_label(folder.name)
    assert scheduler(device.name) == "bfq"
    return device.name


@pytest.fixture
def detached(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The scheduler of each loop device at the moment when iostudy detaches it."""
    schedulers: list[str] = []
    detach = steps.detach

    def record(image: Path, label: str) -> None:
        schedulers.extend(scheduler(device.name) for device in steps.find_loops(image, label))
        detach(image, label)

    monkeypatch.setattr(steps, "detach", record)
    return schedulers


def test_the_scheduler_is_restored_before_a_loop_device_is_detached(
    tmp_path: Path, detached: list[str]
) -> None:
    with Transaction() as transaction:
        name = use_with_bfq(transaction, tmp_path).device.name
        assert scheduler(name) == "bfq"
    assert detached == ["none"]


def test_recovery_restores_the_scheduler_before_it_detaches_a_loop_device(
    tmp_path: Path, detached: list[str]
) -> None:
    leave(tmp_path)
    restore_stale().undo_result.check()
    assert detached == ["none"]


@pytest.fixture(params=["diskseq", "before-5.15"])
def _kernel(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """This kernel, and one that gives no diskseq."""
    read = devices.read_number
    if request.param == "before-5.15":
        monkeypatch.setattr(
            devices, "read_number", lambda path: None if path.name == "diskseq" else read(path)
        )


@pytest.mark.usefixtures("_kernel")
@pytest.mark.parametrize("order", [("umount", "losetup --detach"), ("losetup --detach", "umount")])
def test_the_scheduler_of_a_loop_device_that_others_have_detached_is_restored(
    tmp_path: Path, order: tuple[str, str]
) -> None:
    """If the device is mounted, the kernel detaches it when it is unmounted (autoclear)."""
    left = leave(tmp_path)
    for command in order:
        subprocess.run([*command.split(), f"/dev/{left}"], check=True)
    assert devices.read_device(left).backing_file is None
    assert scheduler(left) == "bfq"
    restore_stale().undo_result.check()
    assert scheduler(left) == "none"


def test_a_mount_that_stays_busy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(steps, "_PATIENCE_SECONDS", 0.2)
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
        made = make(transaction, disk)
        with (disk.mount_point / "open").open("w"), pytest.raises(RestoreError) as caught:
            made.undo()
    assert "busy" in caught.value.found
    assert "fuser" in caught.value.remedy
    assert gone(disk, tmp_path)


def test_a_mount_that_is_busy_for_a_moment(tmp_path: Path) -> None:
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
        make(transaction, disk)
        with subprocess.Popen(["sleep", "0.3"], cwd=disk.mount_point):
            transaction.restore()
    assert gone(disk, tmp_path)


def test_no_room_is_said_beforehand(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match=r"1PiB|1024TiB") as caught:
        LoopbackDisk.prepare(tmp_path, 1 << 50)
    assert "GiB free" in caught.value.found
    assert list(tmp_path.iterdir()) == []


def test_no_such_folder_and_no_such_file_system(tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="No such file"):
        LoopbackDisk.prepare(tmp_path / "missing", SIZE)


def test_a_disk_too_small_to_format_leaves_nothing(tmp_path: Path) -> None:
    (disk,) = LoopbackDisk.prepare(tmp_path, 4096)
    with pytest.raises(SettingError, match=r"mkfs\.ext4|mount"), Transaction() as transaction:
        make(transaction, disk)
    assert gone(disk, tmp_path)


def test_missing_tools_are_named_with_their_package(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(commands, "SEARCH_PATH", "/nonexistent")
    with pytest.raises(TargetError) as caught:
        require_tools("xfs")
    assert caught.value.remedy == "apt-get install mount util-linux xfsprogs"
    with pytest.raises(commands.CommandError, match="setpriv is not installed"):
        commands.run("umount", "/nonexistent")


def test_a_scratch_device_is_formatted_and_only_unmounted(loop: str, tmp_path: Path) -> None:
    with Transaction() as transaction:
        disk = ScratchDevice.prepare(Path("/dev") / loop, tmp_path)
        make(transaction, disk)
        assert disk.device.name == loop
        assert [mount.source for mount in mounts.find_mounts_at(disk.mount_point)] == [
            f"/dev/{loop}"
        ]
        with pytest.raises(TargetError, match=f"{loop} is mounted on {disk.mount_point}"):
            ScratchDevice.prepare(Path("/dev") / loop, tmp_path)
    assert mounts.find_mounts_at(disk.mount_point) == ()
    assert not disk.folder.exists()
    assert b"ext4" in subprocess.check_output(["blkid", "-p", f"/dev/{loop}"])


def test_a_node_that_leads_to_another_device_by_now_is_not_formatted(
    loop: str, tmp_path: Path
) -> None:
    node = tmp_path / "by-id"
    with loop_disk() as other:
        node.symlink_to(f"/dev/{loop}")
        disk = ScratchDevice.prepare(node, tmp_path)
        assert ScratchDevice.from_record(json.loads(json.dumps(disk.record()))) == disk
        node.unlink()
        node.symlink_to(f"/dev/{other}")
        with pytest.raises(TargetError, match=f"another one now: {other}"), Transaction() as open_:
            make(open_, disk)
        assert subprocess.run(["blkid", "-p", f"/dev/{other}"], check=False).returncode == 2
        assert not disk.folder.exists()


def test_a_device_that_was_not_confirmed_is_refused(loop: str, tmp_path: Path) -> None:
    with loop_disk() as other:
        confirmed = ScratchIdentity.from_path(Path("/dev") / other)
        with pytest.raises(TargetError, match=f"another one now: {loop}"):
            ScratchDevice.prepare(Path("/dev") / loop, tmp_path, confirmed)
        grown = replace(confirmed, size_bytes=confirmed.size_bytes + 512)
        with pytest.raises(TargetError, match="another one now"):
            ScratchDevice.prepare(Path("/dev") / other, tmp_path, grown)
        ScratchDevice.prepare(Path("/dev") / other, tmp_path, confirmed)


def test_a_node_that_leads_elsewhere_after_its_folder_was_made_is_not_formatted(
    loop: str, tmp_path: Path
) -> None:
    node = tmp_path / "by-id"
    node.symlink_to(f"/dev/{loop}")
    with loop_disk() as other, Transaction() as transaction:
        disk = ScratchDevice.prepare(node, tmp_path)
        transaction.apply(disk)
        node.unlink()
        node.symlink_to(f"/dev/{other}")
        made = NewFilesystem.prepare(disk, EXT4)
        transaction.apply(made)
        assert made.path == Path("/dev") / loop
        assert subprocess.run(["blkid", "-p", f"/dev/{other}"], check=False).returncode == 2


def test_disk_in_a_moved_folder_is_removed_and_its_image_named(tmp_path: Path) -> None:
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
        make(transaction, disk)
        aside = tmp_path / "aside"
        disk.folder.rename(aside)
        put_back = transaction.restore()
    assert not [mount for mount in mounts.read_mounts() if mount.point.is_relative_to(tmp_path)]
    assert not devices.find_loop_devices(aside / "image")
    assert f"its image was moved to {aside / 'image'}, and stays there" in put_back


def test_an_image_that_is_a_link_is_not_written_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = tmp_path / "secret"
    secret.write_bytes(b"precious")
    mkdir = os.mkdir

    def planted(path: str, mode: int, *, dir_fd: int | None = None) -> None:
        mkdir(path, mode, dir_fd=dir_fd)
        if dir_fd is not None:
            (tmp_path / path / "image").symlink_to(secret)

    monkeypatch.setattr("iostudy.settings.scratch.steps.os.mkdir", planted)
    with pytest.raises(TargetError, match="File exists"), Transaction() as transaction:
        transaction.apply(*LoopbackDisk.prepare(tmp_path, SIZE))
    assert secret.read_bytes() == b"precious"


def test_a_replacement_of_the_folder_is_not_removed(tmp_path: Path) -> None:
    (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "image").touch()
    disk.folder.symlink_to(vault)
    with pytest.raises(RestoreError):
        disk.undo()
    assert (vault / "image").exists()


def test_kernels_before_5_8_attach_in_several_steps(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(steps, "_CONFIGURE", 0x4CFF)  # which no kernel knows
    with Transaction() as transaction:
        (disk,) = LoopbackDisk.prepare(tmp_path, SIZE)
        make(transaction, disk)
        assert [device.name for device in steps.find_by_label(disk.folder.name)] == [
            disk.device.name
        ]
    assert gone(disk, tmp_path)


def test_a_disk_is_known_by_what_it_is(loop: str) -> None:
    identity = DiskIdentity.from_path(Path("/dev") / loop)
    assert identity.describe().startswith(f"{loop}: a device without a model name (/")
    assert identity.describe().endswith("64MiB")
    assert replace(identity, name="loop99").stable() == identity.stable()
    assert replace(identity, unique="another").stable() != identity.stable()
    assert replace(identity, part="p1").stable() != identity.stable()
    nameless = replace(identity, unique="")
    assert replace(nameless, name="loop99").stable() != nameless.stable()


def test_devices_that_are_refused(loop: str, tmp_path: Path) -> None:
    node = Path("/dev") / loop
    with pytest.raises(TargetError, match="no block device"):
        steps.check_unused(tmp_path)
    subprocess.run(["blockdev", "--setro", node], check=True)
    with pytest.raises(TargetError, match="read only"):
        steps.check_unused(node)
    subprocess.run(["blockdev", "--setrw", node], check=True)
    held = os.open(node, os.O_RDONLY | os.O_EXCL)
    try:
        with pytest.raises(TargetError, match="in use"):
            steps.check_unused(node)
    finally:
        os.close(held)
    steps.check_unused(node)


def test_swap_is_refused(loop: str) -> None:
    subprocess.run(["mkswap", f"/dev/{loop}"], check=True, capture_output=True)
    subprocess.run(["swapon", f"/dev/{loop}"], check=True)
    try:
        with pytest.raises(TargetError, match=f"{loop} is swap space"):
            steps.check_unused(Path("/dev") / loop)
    finally:
        subprocess.run(["swapoff", f"/dev/{loop}"], check=True)


def test_a_disk_is_found_again_after_a_reboot_by_what_identifies_it(loop: str) -> None:
    found = ScratchIdentity.from_path(Path("/dev") / loop)
    device = found.find()
    assert device is not None
    assert device.name == loop
    earlier = replace(found.device, boot="an earlier boot", name="loop999", diskseq=1)
    renamed = replace(found, device=earlier).find()
    assert renamed is not None
    assert renamed.name == loop
    assert replace(found, device=replace(earlier, unique="")).find() is None
    assert replace(found, device=earlier, size_bytes=1).find() is None
    assert replace(found, device=replace(earlier, boot=found.device.boot)).find() is None
