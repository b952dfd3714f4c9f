"""Mount options when others change, hide, unmount or mount meanwhile."""

from __future__ import annotations

import json
import subprocess
from dataclasses import asdict
from pathlib import Path

import pytest

from iostudy.errors import OutOfReachError, RestoreError, SettingError
from iostudy.host.namespaces import Namespace, is_everything_visible
from iostudy.settings import kinds
from iostudy.settings.attributes import AttributeChange
from iostudy.settings.change import Change, ConflictPolicy
from iostudy.settings.transaction.transaction import Transaction
from tests.attack import in_namespace
from tests.device.mounted import (
    changes,
    mount,
    mounted,
    rebuilt,
    remount,
    shown,
    unmount,
)

pytestmark = pytest.mark.root


def test_another_process_undoes_mounts_of_a_killed_one(data: Path, way: str) -> None:
    before = shown(data)
    done = changes(data, atime="noatime", commit="60", options="noauto_da_alloc")
    for change in done:
        change.apply()
    assert shown(data) != before, way
    for change in reversed(done):
        assert rebuilt(change).undo()
    assert shown(data) == before
    assert [rebuilt(change).undo() for change in done] == [(), ()]


def test_a_foreign_change_is_left_alone_unless_forced(data: Path) -> None:
    before = shown(data)
    flags, options = changes(data, atime="noatime", commit="60", discard="on")
    flags.apply()
    options.apply()
    remount(data, "commit=33,strictatime")
    with pytest.raises(RestoreError, match="atime is strictatime: another process"):
        rebuilt(flags).undo()
    with pytest.raises(
        RestoreError, match="commit is 33: another process has changed it"
    ) as caught:
        rebuilt(options).undo()
    assert "--force" in caught.value.remedy
    assert b"discard" not in shown(data), "our own options are restored"
    done = (
        *rebuilt(options).undo(ConflictPolicy.OVERWRITE),
        *rebuilt(flags).undo(ConflictPolicy.OVERWRITE),
    )
    assert list(map(str, done)) == [
        f"mount.commit of {data}: 33 -> 5",
        f"mount.atime of {data}: strictatime -> relatime",
    ]
    assert shown(data) == before


def test_an_unmounted_file_system_is_reported_and_the_rest_restored(
    ext4: str, tmp_path: Path, state_dir: Path
) -> None:
    with mounted("tmpfs", tmp_path / "rest", "defaults", "tmpfs") as rest:
        before = shown(rest)
        with mounted(ext4, tmp_path / "data") as gone, Transaction(directory=state_dir) as both:
            both.apply(*changes(gone, atime="noatime", commit="60"))
            both.apply(*changes(rest, atime="noatime"))
            unmount(gone)
            said = both.restore()
        assert len(said) == 3
        assert sum("it has been unmounted, and its changes" in str(each) for each in said) == 2
        assert shown(rest) == before


def with_numbers_of(point: Path, change: Change) -> AttributeChange:
    """The change, had the kernel given the mount that is there now the numbers of the old one."""
    record = json.loads(json.dumps(change.record()))
    number, _, device, *_ = shown(point).decode().split()
    record["owner"] |= {"device": device}
    record["owner"] |= {"id": int(number)} if "id" in record["owner"] else {}
    later = kinds.rebuild_change(change.kind, record)
    assert isinstance(later, AttributeChange)
    return later


def test_a_file_system_mounted_anew_has_what_it_was_mounted_with(
    made: tuple[str, str], tmp_path: Path
) -> None:
    """The kernel gives numbers of mounts and devices anew: only sysfs distinguishes them."""
    _, device = made
    with mounted(device, tmp_path / "data") as data:
        done = changes(data, atime="noatime", lazytime="on")
        for change in done:
            change.apply()
        unmount(data)
        mount(device, data, "noatime,lazytime")
        before = shown(data)
        for change in done:
            later = with_numbers_of(data, change)
            (said,) = later.undo()
            assert "unmounted" in said
            with pytest.raises(SettingError, match="unmounted since the setting was found"):
                later.prepare(later.owner, later.after)
        assert shown(data) == before


def test_another_boot_has_other_mounts(data: Path) -> None:
    before = shown(data)
    for change in changes(data, atime="noatime", commit="60"):
        record = json.loads(json.dumps(change.record()))
        record["owner"]["boot"] = "another"
        (said,) = kinds.rebuild_change(change.kind, record).undo()
        assert "the host has been rebooted" in said
    assert shown(data) == before


def test_a_file_system_that_another_namespace_still_uses(data: Path, ext4: str) -> None:
    (change,) = changes(data, commit="60")
    change.apply()
    held = subprocess.Popen(["unshare", "--mount", "sh", "-c", "echo; read _"],
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE)  # fmt: skip
    with held:
        assert held.stdout
        held.stdout.readline()
        unmount(data)
        with pytest.raises(RestoreError, match="another mount namespace still uses it"):
            rebuilt(change).undo()
        mount(ext4, data)
        assert b"commit=60" in shown(data), "it is the same file system still"
        (done,) = rebuilt(change).undo()
        assert str(done) == f"mount.commit of {data}: 60 -> 5"
        held.communicate(b"\n")
    assert shown(data).endswith(b" rw")


def test_a_mount_in_another_namespace_is_out_of_reach(data: Path) -> None:
    (change,) = changes(data, atime="noatime")
    record = json.loads(json.dumps(change.record()))
    with in_namespace.kept(lambda: None) as pid:
        file = Path(f"/proc/{pid}/ns/mnt")
        record["owner"]["namespace"] = asdict(Namespace.from_file(file))
        elsewhere = kinds.rebuild_change(change.kind, record)
        with pytest.raises(OutOfReachError, match=f"nsenter --mount={file} iostudy restore"):
            elsewhere.undo()
    if not is_everything_visible():
        pytest.skip("only the first PID namespace sees that a mount namespace has ended")
    (said,) = elsewhere.undo()
    assert "its mount namespace has ended" in str(said)


def test_a_record_of_a_version_without_namespaces(data: Path) -> None:
    before = shown(data)
    (change,) = changes(data, atime="noatime")
    change.apply()
    record = json.loads(json.dumps(change.record()))
    del record["owner"]["namespace"]
    (done,) = kinds.rebuild_change(change.kind, record).undo()
    assert str(done) == f"mount.atime of {data}: noatime -> relatime"
    assert shown(data) == before


def test_a_tmpfs_that_only_another_namespace_has(tmp_path: Path) -> None:
    """It has no folder in sysfs that would show whether it is still in use."""
    with mounted("tmpfs", tmp_path / "memory", "defaults", "tmpfs") as point:
        (change,) = changes(point, lazytime="on")
        with in_namespace.kept(lambda: None) as pid:
            unmount(point)
            with pytest.raises(OutOfReachError, match=f"/proc/{pid}/ns/mnt"):
                rebuilt(change).undo()
        if is_everything_visible():
            (said,) = rebuilt(change).undo()
            assert "it has been unmounted" in str(said)


def test_a_mount_that_another_hides(data: Path, tmp_path: Path) -> None:
    before = shown(data)
    done = changes(data, atime="noatime", commit="60")
    for change in done:
        change.apply()
    mount("tmpfs", data, "defaults", "-t", "tmpfs")
    for change, name in zip(done, ("atime", "commit"), strict=True):
        with pytest.raises(RestoreError, match=rf"(?s){name} is \w+: .*another"):
            rebuilt(change).undo()
    unmount(data)
    for change in done:
        assert rebuilt(change).undo()
    assert shown(data) == before
