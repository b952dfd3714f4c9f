"""Mount options on real file systems: read back, refused with a reason, and restored."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import SettingError, TargetError
from iostudy.host import mounts
from iostudy.settings import catalog, kinds
from iostudy.settings.definitions.mount import MountDefinition
from iostudy.settings.mounting import calls as mount_calls
from iostudy.settings.mounting import owners as mount_values
from iostudy.settings.transaction.transaction import Transaction
from tests.device.mounted import (
    NO_SUCH_CALL,
    bound,
    changes,
    filesystem,
    mounted,
    rebuilt,
    shown,
)

pytestmark = pytest.mark.root

LEVELS = {
    "ext4": [
        ("atime", "noatime"),
        ("atime", "strictatime"),
        ("nodiratime", "on"),
        ("lazytime", "on"),
        ("commit", "60"),
        ("barrier", "off"),
        ("discard", "on"),
        ("data", "ordered"),
        ("options", "noauto_da_alloc,commit=17,noatime,nosuid,nodev,noexec,nosymfollow"),
        ("options", "sync,errors=remount-ro,stripe=64"),
    ],
    "xfs": [
        ("atime", "noatime"),
        ("nodiratime", "on"),
        ("lazytime", "on"),
        ("options", "inode32,noatime,sync"),
    ],
    "btrfs": [
        ("atime", "noatime"),
        ("nodiratime", "on"),
        ("lazytime", "on"),
        ("commit", "60"),
        ("barrier", "off"),
        ("discard", "on"),
        ("discard", "off"),
        ("options", "compress=zstd:3,flushoncommit,notreelog"),
        ("options", "nodatacow,autodefrag,metadata_ratio=4"),
    ],
}


@pytest.mark.parametrize("given", ["defaults", "noatime,nodiratime,nosuid,lazytime,sync", "ro"])
def test_every_level_and_back_byte_for_byte(
    made: tuple[str, str], given: str, way: str, tmp_path: Path
) -> None:
    kind, device = made
    with mounted(device, tmp_path / "data", given) as point:
        before = shown(point)
        for name, value in LEVELS[kind]:
            with Transaction() as transaction:
                transaction.apply(*changes(point, **{name: value}))
                setting = bound(name, point)
                assert setting.definition.matches(value, setting.read()), (way, name)
                assert kept(shown(point)) == kept(before), name
            assert shown(point) == before, name


UNUSUAL = {
    "ext4": "commit=33,nobarrier,discard,noauto_da_alloc,stripe=16,errors=remount-ro,"
    "dioread_lock,data=writeback,max_batch_time=9,nodelalloc,inode_readahead_blks=16,grpid",
    "xfs": "inode32,logbufs=4,logbsize=64k,allocsize=128k,noalign,largeio,discard,filestreams",
    "btrfs": "commit=33,nobarrier,discard,compress=lzo,thread_pool=3,max_inline=0,notreelog,"
    "metadata_ratio=2,autodefrag,flushoncommit,ssd_spread,noacl,skip_balance",
}


def test_unchanged_options_stay(made: tuple[str, str], way: str, tmp_path: Path) -> None:
    """Some file systems forget what a reconfiguration does not say."""
    kind, device = made
    with mounted(device, tmp_path / "data", UNUSUAL[kind]) as point:
        before = shown(point)
        missing = {o for o in UNUSUAL[kind].split(",") if o.encode() not in before}
        assert missing <= {"dioread_lock"}, "shown under another name"
        with Transaction() as transaction:
            transaction.apply(*changes(point, lazytime="on", nodiratime="on"))
            now = shown(point)
            assert now.replace(b",lazytime", b"").replace(b",nodiratime", b"") == before, way
        assert shown(point) == before


def kept(line: bytes) -> set[bytes]:
    """Whether mount and file system are read only, which nothing here changes."""
    fields = line.split()
    return {fields[5].split(b",")[0], fields[-1].split(b",")[0]}


def test_all_at_once(data: Path, way: str) -> None:
    before = shown(data)
    values = {"atime": "noatime", "lazytime": "on", "commit": "60", "options": "discard,stripe=8"}
    wanted = changes(data, **values)
    assert len(wanted) == 2, "one change for the mount and one for its file system"
    with Transaction() as transaction:
        transaction.apply(*wanted)
        assert shown(data) != before
        assert b"rw,noatime " in shown(data)
        for option in (b"lazytime", b"commit=60", b"discard", b"stripe=8"):
            assert option in shown(data)
    assert shown(data) == before, way


def test_options_changed_beforehand_are_restored(ext4: str, tmp_path: Path, way: str) -> None:
    """Not the defaults, but what the administrator had."""
    given = "commit=33,nobarrier,strictatime,nodiratime,discard"
    with mounted(ext4, tmp_path / "data", given) as point:
        before = shown(point)
        values = {"commit": "5", "barrier": "on", "atime": "relatime", "discard": "off"}
        with Transaction() as transaction:
            transaction.apply(*changes(point, **values))
            assert shown(point).endswith(b" rw")
        assert shown(point) == before, way


def test_compression_goes_with_copying(tmp_path: Path, way: str) -> None:
    with filesystem("btrfs") as device:
        for given, value in [
            ("nodatacow", "compress=lzo"),
            ("nodatasum", "nodatacow"),
            ("compress-force=zstd:5", "nodatacow"),
            ("compress-force=lzo", "compress=zlib:3"),
            ("compress=lzo", "nodatasum"),
            ("nodatacow", "datasum"),
        ]:
            with mounted(device, tmp_path / "data", given) as point:
                before = shown(point)
                with Transaction() as transaction:
                    transaction.apply(*changes(point, options=value))
                    assert shown(point) != before
                assert shown(point) == before, (way, given)


def test_the_data_mode_is_not_changed_by_a_remount(data: Path, way: str) -> None:
    before = shown(data)
    with pytest.raises(SettingError) as caught, Transaction() as transaction:
        transaction.apply(*changes(data, data="writeback", commit="60"))
    assert "Cannot change data mode on remount" in caught.value.found, way
    assert "filesystem.options" in caught.value.remedy
    assert shown(data) == before


@contextmanager
def a_mount_of(kind: str, folder: Path) -> Iterator[Path]:
    if kind in LEVELS:
        with filesystem(kind) as device, mounted(device, folder / "data") as point:
            yield point
        return
    lower = folder / "upper", folder / "lower"
    for each in lower:
        each.mkdir()
    options = {"overlay": f"lowerdir={lower[0]}:{lower[1]}"}.get(kind, "defaults")
    with mounted(kind, folder / "data", options, kind) as point:
        yield point


@pytest.mark.parametrize(
    ("kind", "values", "reason"),
    [
        ("ext4", {"options": "nonsense"}, "ext4: Unknown parameter 'nonsense'"),
        ("ext4", {"options": "commit=soon"}, "ext4: Bad value for 'commit'"),
        ("ext4", {"discard": "async"}, "ext4: Unexpected value for 'discard'"),
        ("ext4", {"options": "debug"}, "could not restore it"),
        ("ext4", {"options": "noacl"}, "ext4: Unknown parameter 'noacl'"),
        ("xfs", {"commit": "5"}, "xfs: Unknown parameter 'commit'"),
        ("xfs", {"barrier": "off"}, "xfs: Unknown parameter"),
        ("btrfs", {"data": "ordered"}, "btrfs: Unknown parameter 'data'"),
        ("btrfs", {"options": "user_subvol_rm_allowed"}, "could not restore it"),
        ("tmpfs", {"commit": "5"}, "tmpfs: Unknown parameter 'commit'"),
        ("tmpfs", {"options": "nr_blocks=100"}, "could not restore it"),
        ("overlay", {"options": "metacopy=on"}, "No changes allowed in reconfigure"),
        ("proc", {"commit": "5"}, "proc: Unknown parameter 'commit'"),
    ],
)
def test_a_refusal_says_why_before_anything_is_changed(
    kind: str, values: dict[str, str], reason: str, tmp_path: Path
) -> None:
    with a_mount_of(kind, tmp_path) as point:
        before = shown(point)
        with pytest.raises(SettingError) as caught:
            changes(point, atime="noatime", **values)
        assert reason in caught.value.found
        assert kind in caught.value.where
        assert shown(point) == before


def test_an_old_kernel_says_why_as_well(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has no call for a check beforehand."""
    monkeypatch.setattr(mount_calls, "_FSPICK", NO_SUCH_CALL)
    before = shown(data)
    with pytest.raises(SettingError, match="could not restore it"):
        changes(data, options="nonsense")
    with pytest.raises(SettingError, match="Bad value for 'commit'"), Transaction() as transaction:
        transaction.apply(*changes(data, atime="noatime", options="commit=soon"))
    assert shown(data) == before


def test_a_value_that_the_file_system_makes_another_of(data: Path) -> None:
    before = shown(data)
    with pytest.raises(SettingError, match="the actual value is 5"), Transaction() as transaction:
        transaction.apply(*changes(data, options="commit=0,discard"))
    assert shown(data) == before


def test_xfs_that_takes_an_option_but_does_nothing(tmp_path: Path) -> None:
    with a_mount_of("xfs", tmp_path) as point:
        (change,) = changes(point, discard="on")
        with pytest.raises(SettingError, match="the actual value is off"):
            change.apply()


def test_two_settings_that_want_an_option_to_be_different_things(data: Path) -> None:
    with pytest.raises(SettingError, match="commit=60 and commit=30 are wanted at once"):
        changes(data, commit="60", options="discard,commit=30")
    assert len(changes(data, commit="60", options="commit=60")) == 1


NAMES = [b"a blank", b"new\nline", b"100%d", b"back\\040slash", b"-o ro", b"a,comma=1", b"#x",
         b"\xff\xfe", "ümläut".encode()]  # fmt: skip


@pytest.mark.parametrize("name", NAMES)
def test_mount_points_of_any_name(ext4: str, name: bytes, tmp_path: Path, way: str) -> None:
    with mounted(ext4, tmp_path / os.fsdecode(name)) as point:
        before = shown(point)
        assert before
        with Transaction() as transaction:
            transaction.apply(*changes(point, atime="noatime", commit="60"))
            assert bound("commit", point / ".").read() == "60", way
            assert bound("atime", point).label == f"mount.atime@{point}"
            change = rebuilt(changes(point, commit="7")[0])
            assert "commit of" in change.describe()
        assert shown(point) == before


def test_a_device_means_all_its_mounts(data: Path, ext4: str, tmp_path: Path) -> None:
    with mounted(os.fspath(data), tmp_path / "second", "bind") as second:
        before = shown(data), shown(second)
        for place in (ext4, Path(ext4).name):
            labels = [setting.label for setting in kinds.bind("mount.atime", place)]
            assert labels == [f"mount.atime@{data}", f"mount.atime@{second}"]
            assert bound("commit", place).label == f"mount.commit@{data}"
        assert bound("commit", data) == bound("commit", second)
        assert bound("atime", data) != bound("atime", second)
        with Transaction() as transaction:
            transaction.apply(*changes(second, atime="noatime", commit="60"))
            assert bound("atime", data).read() == "relatime"
            assert bound("commit", data).read() == "60"
            wanted = kinds.bind("mount.options", ext4)
            assert len(kinds.prepare_changes(dict.fromkeys(wanted, "nodev,discard"))) == 3
        assert (shown(data), shown(second)) == before


def test_subvolumes_are_mounts_of_one_file_system(tmp_path: Path) -> None:
    with filesystem("btrfs") as device, mounted(device, tmp_path / "data") as data:
        subprocess.run(["btrfs", "-q", "subvolume", "create", data / "sub"], check=True)
        with mounted(device, tmp_path / "sub", "subvol=sub") as sub:
            before = shown(data), shown(sub)
            assert bound("commit", sub) == bound("commit", data)
            assert bound("options", data).read().endswith("subvol=/")
            assert bound("options", sub).read().endswith("subvol=/sub")
            labels = [setting.label for setting in kinds.bind("mount.atime", device)]
            assert labels == [f"mount.atime@{data}", f"mount.atime@{sub}"]
            with Transaction() as transaction:
                transaction.apply(*changes(sub, atime="noatime", commit="60"))
                assert bound("commit", data).read() == "60"
                assert bound("atime", data).read() == "relatime"
            assert (shown(data), shown(sub)) == before


def test_a_name_is_a_device_before_it_is_a_path(
    data: Path, ext4: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = Path(ext4).name
    (tmp_path / name).mkdir()
    monkeypatch.chdir(tmp_path)
    assert bound("commit", name).label == f"mount.commit@{data}"
    assert bound("commit", f"./{name}").label != f"mount.commit@{data}"


def test_the_lock_is_that_of_the_device_or_else_of_the_file_system(
    data: Path, ext4: str, tmp_path: Path
) -> None:
    for change in changes(data, atime="noatime", commit="60"):
        assert change.affected_resources() == (Path(ext4).name,)
    with mounted("tmpfs", tmp_path / "memory", "size=4096k", "tmpfs") as memory:
        before = shown(memory)
        (change,) = changes(memory, options="size=8192k")
        assert change.affected_resources() == (mounts.find_mount(memory).device,)
        with Transaction() as transaction:
            transaction.apply(change)
            assert shown(memory) == before.replace(b"size=4096k", b"size=8192k")
        assert shown(memory) == before


def test_option_is_repeated_where_a_remount_drops_it(tmp_path: Path, way: str) -> None:
    """f2fs, for one, goes back to its defaults; tmpfs gets all that it shows as well."""
    with mounted("tmpfs", tmp_path / "data", "size=4096k,nr_inodes=77,mode=700", "tmpfs") as memory:
        (now,) = (m for m in mounts.read_mounts() if m.point == memory)
        assert {"size=4096k", "nr_inodes=77"} <= set(mount_calls._repeated_options(now, "lazytime"))
        before = shown(memory)
        with Transaction() as transaction:
            transaction.apply(*changes(memory, lazytime="on", options="nr_inodes=99"))
            assert b"size=4096k,nr_inodes=99" in shown(memory), way
        assert shown(memory) == before


def test_a_mount_read_only_on_a_file_system_that_is_not(
    data: Path, tmp_path: Path, way: str
) -> None:
    with mounted(os.fspath(data), tmp_path / "second", "bind,ro") as second:
        before = shown(data), shown(second)
        assert b" ro," in before[1]
        with Transaction() as transaction:
            transaction.apply(*changes(second, atime="noatime"))
            assert b" ro,noatime " in shown(second), way
        assert (shown(data), shown(second)) == before
        (change,) = changes(second, commit="60")
        if way == "fsconfig":
            change.apply()
            assert bound("commit", data).read() == "60"
            change.undo()
        else:
            with pytest.raises(SettingError, match="could not keep a mount read only"):
                change.apply()
        assert (shown(data), shown(second)) == before


def test_places_that_are_no_mount(ext4: str, tmp_path: Path) -> None:
    with pytest.raises(TargetError, match="itself is mounted nowhere"):
        kinds.bind("mount.commit", ext4)
    with pytest.raises(TargetError):
        kinds.bind("mount.commit", tmp_path / "missing")


def test_unlisted_ext4_options_have_their_documented_default(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Kernels without /proc/fs/ext4/DEVICE/options."""
    options = {name: bound(name, data).read() for name in ("commit", "barrier", "discard")}
    monkeypatch.setattr(mount_values, "ROOT", tmp_path)
    assert {name: bound(name, data).read() for name in options} == options
    with pytest.raises(SettingError):
        bound("data", data).read()


def test_every_setting_is_tried() -> None:
    tried = {f"mount.{name}" for levels in LEVELS.values() for name, _ in levels}
    options = {n for n in catalog.names() if isinstance(catalog.get(n), MountDefinition)}
    assert tried == options
