"""Mount options on real file systems: read back, refused with a reason, and put back."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.host import mounts
from iostudy.settings import catalog, kinds, mount_calls, mount_values
from iostudy.settings.attributes import AttributeChange
from iostudy.settings.change import Change, Foreign, Setting
from iostudy.settings.transaction import Transaction
from tests.device.mounted import filesystem, mount, mounted, shown, unmount

pytestmark = pytest.mark.root

NO_SUCH_CALL = 0x7FFF


def bound(setting: str, place: str | Path) -> Setting:
    (found,) = kinds.bind(f"mount.{setting}", place)
    return found


def changes(place: str | Path, **values: str) -> tuple[Change, ...]:
    return kinds.changes({bound(name, place): value for name, value in values.items()})


def remount(point: Path, options: str) -> None:
    """What somebody else does."""
    subprocess.run(["mount", "-o", f"remount,{options}", "--", os.fspath(point)], check=True)


def rebuilt(change: Change) -> Change:
    """The change as another process finds it in a journal."""
    return kinds.rebuild(change.kind, json.loads(json.dumps(change.record())))


@pytest.fixture(scope="module", params=["ext4", "xfs", "btrfs"])
def made(request: pytest.FixtureRequest) -> Iterator[tuple[str, str]]:
    with filesystem(request.param) as device:
        yield request.param, device


@pytest.fixture(scope="module")
def ext4() -> Iterator[str]:
    with filesystem("ext4") as device:
        yield device


@pytest.fixture
def data(ext4: str, tmp_path: Path) -> Iterator[Path]:
    with mounted(ext4, tmp_path / "data") as point:
        yield point


@pytest.fixture(params=["fsconfig", "mount"])
def way(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """The calls of this kernel, and those of one before 5.2."""
    if request.param == "mount":
        monkeypatch.setattr(mount_calls, "_FSPICK", NO_SUCH_CALL)
    return str(request.param)


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
                transaction.perform(*changes(point, **{name: value}))
                setting = bound(name, point)
                assert setting.definition.met(value, setting.read()), (way, name)
                assert kept(shown(point)) == kept(before), name
            assert shown(point) == before, name


UNUSUAL = {
    "ext4": "commit=33,nobarrier,discard,noauto_da_alloc,stripe=16,errors=remount-ro,"
    "dioread_lock,data=writeback,max_batch_time=9,nodelalloc,inode_readahead_blks=16,grpid",
    "xfs": "inode32,logbufs=4,logbsize=64k,allocsize=128k,noalign,largeio,discard,filestreams",
    "btrfs": "commit=33,nobarrier,discard,compress=lzo,thread_pool=3,max_inline=0,notreelog,"
    "metadata_ratio=2,autodefrag,flushoncommit,ssd_spread,noacl,skip_balance",
}


def test_what_is_not_changed_stays(made: tuple[str, str], way: str, tmp_path: Path) -> None:
    """Some file systems forget what a reconfiguration does not say."""
    kind, device = made
    with mounted(device, tmp_path / "data", UNUSUAL[kind]) as point:
        before = shown(point)
        missing = {o for o in UNUSUAL[kind].split(",") if o.encode() not in before}
        assert missing <= {"dioread_lock"}, "shown under another name"
        with Transaction() as transaction:
            transaction.perform(*changes(point, lazytime="on", nodiratime="on"))
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
        transaction.perform(*wanted)
        assert shown(data) != before
        assert b"rw,noatime " in shown(data)
        for option in (b"lazytime", b"commit=60", b"discard", b"stripe=8"):
            assert option in shown(data)
    assert shown(data) == before, way


def test_what_was_changed_before_comes_back(ext4: str, tmp_path: Path, way: str) -> None:
    """Not the defaults, but what the administrator had."""
    given = "commit=33,nobarrier,strictatime,nodiratime,discard"
    with mounted(ext4, tmp_path / "data", given) as point:
        before = shown(point)
        values = {"commit": "5", "barrier": "on", "atime": "relatime", "discard": "off"}
        with Transaction() as transaction:
            transaction.perform(*changes(point, **values))
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
                    transaction.perform(*changes(point, options=value))
                    assert shown(point) != before
                assert shown(point) == before, (way, given)


def test_the_data_mode_is_not_changed_by_a_remount(data: Path, way: str) -> None:
    before = shown(data)
    with pytest.raises(SettingError) as caught, Transaction() as transaction:
        transaction.perform(*changes(data, data="writeback", commit="60"))
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
        ("ext4", {"options": "debug"}, "no way back"),
        ("ext4", {"options": "noacl"}, "ext4: Unknown parameter 'noacl'"),
        ("xfs", {"commit": "5"}, "xfs: Unknown parameter 'commit'"),
        ("xfs", {"barrier": "off"}, "xfs: Unknown parameter"),
        ("btrfs", {"data": "ordered"}, "btrfs: Unknown parameter 'data'"),
        ("btrfs", {"options": "user_subvol_rm_allowed"}, "no way back"),
        ("tmpfs", {"commit": "5"}, "tmpfs: Unknown parameter 'commit'"),
        ("tmpfs", {"options": "nr_blocks=100"}, "no way back"),
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
    """It cannot be asked beforehand."""
    monkeypatch.setattr(mount_calls, "_FSPICK", NO_SUCH_CALL)
    before = shown(data)
    with pytest.raises(SettingError, match="no way back"):
        changes(data, options="nonsense")
    with pytest.raises(SettingError, match="Bad value for 'commit'"), Transaction() as transaction:
        transaction.perform(*changes(data, atime="noatime", options="commit=soon"))
    assert shown(data) == before


def test_a_value_that_the_file_system_makes_another_of(data: Path) -> None:
    before = shown(data)
    with pytest.raises(SettingError, match="the kernel made it 5"), Transaction() as transaction:
        transaction.perform(*changes(data, options="commit=0,discard"))
    assert shown(data) == before


def test_xfs_that_takes_an_option_but_does_nothing(tmp_path: Path) -> None:
    with a_mount_of("xfs", tmp_path) as point:
        (change,) = changes(point, discard="on")
        with pytest.raises(SettingError, match="the kernel made it off"):
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
            transaction.perform(*changes(point, atime="noatime", commit="60"))
            assert bound("commit", point / ".").read() == "60", way
            assert bound("atime", point).label == f"mount.atime@{point}"
            change = rebuilt(changes(point, commit="7")[0])
            assert "commit of" in change.describe()
        assert shown(point) == before


def test_what_a_killed_process_left_is_undone_by_another(data: Path, way: str) -> None:
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
    with pytest.raises(RestoreError, match="atime is strictatime: somebody else"):
        rebuilt(flags).undo()
    with pytest.raises(RestoreError, match="commit is 33: somebody else has changed it") as caught:
        rebuilt(options).undo()
    assert "--force" in caught.value.remedy
    assert b"discard" not in shown(data), "what is ours was put back"
    assert rebuilt(options).undo(Foreign.OVERWRITE) == (f"commit of {data}: 33 -> 5",)
    assert rebuilt(flags).undo(Foreign.OVERWRITE) == (f"atime of {data}: strictatime -> relatime",)
    assert shown(data) == before


def test_what_was_unmounted_is_said_and_the_rest_restored(
    ext4: str, tmp_path: Path, state_dir: Path
) -> None:
    with mounted("tmpfs", tmp_path / "rest", "defaults", "tmpfs") as rest:
        before = shown(rest)
        with mounted(ext4, tmp_path / "data") as gone, Transaction(directory=state_dir) as both:
            both.perform(*changes(gone, atime="noatime", commit="60"))
            both.perform(*changes(rest, atime="noatime"))
            unmount(gone)
            said = both.restore()
        assert len(said) == 3
        assert (
            sum("it has been unmounted, and what was changed on it" in each for each in said) == 2
        )
        assert shown(rest) == before


def with_numbers_of(point: Path, change: Change) -> AttributeChange:
    """The change, had the kernel given the mount that is there now the numbers of the old one."""
    record = json.loads(json.dumps(change.record()))
    number, _, device, *_ = shown(point).decode().split()
    record["owner"] |= {"device": device}
    record["owner"] |= {"id": int(number)} if "id" in record["owner"] else {}
    later = kinds.rebuild(change.kind, record)
    assert isinstance(later, AttributeChange)
    return later


def test_a_file_system_mounted_anew_has_what_it_was_mounted_with(
    made: tuple[str, str], tmp_path: Path
) -> None:
    """The kernel gives numbers of mounts and devices anew: only sysfs tells it is another."""
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
            with pytest.raises(SettingError, match="unmounted since the setting was looked up"):
                later.prepare(later.owner, later.after)
        assert shown(data) == before


def test_another_boot_has_other_mounts(data: Path) -> None:
    before = shown(data)
    for change in changes(data, atime="noatime", commit="60"):
        record = json.loads(json.dumps(change.record()))
        record["owner"]["boot"] = "another"
        (said,) = kinds.rebuild(change.kind, record).undo()
        assert "the host has been started anew" in said
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
        assert rebuilt(change).undo() == (f"commit of {data}: 60 -> 5",)
        held.communicate(b"\n")
    assert shown(data).endswith(b" rw")


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
            transaction.perform(*changes(second, atime="noatime", commit="60"))
            assert bound("atime", data).read() == "relatime"
            assert bound("commit", data).read() == "60"
            wanted = kinds.bind("mount.options", ext4)
            assert len(kinds.changes(dict.fromkeys(wanted, "nodev,discard"))) == 3
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
                transaction.perform(*changes(sub, atime="noatime", commit="60"))
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


def test_the_lock_is_that_of_the_device(data: Path, ext4: str, tmp_path: Path) -> None:
    for change in changes(data, atime="noatime", commit="60"):
        assert change.touches() == (Path(ext4).name,)
    with mounted("tmpfs", tmp_path / "memory", "size=4096k", "tmpfs") as memory:
        before = shown(memory)
        (change,) = changes(memory, options="size=8192k")
        assert change.touches() == ()
        with Transaction() as transaction:
            transaction.perform(change)
            assert shown(memory) == before.replace(b"size=4096k", b"size=8192k")
        assert shown(memory) == before


def test_what_may_forget_is_told_again(tmp_path: Path, way: str) -> None:
    """f2fs, for one, goes back to its defaults; tmpfs is told all that it shows as well."""
    with mounted("tmpfs", tmp_path / "data", "size=4096k,nr_inodes=77,mode=700", "tmpfs") as memory:
        (now,) = (m for m in mounts.read_mounts() if m.point == memory)
        assert {"size=4096k", "nr_inodes=77"} <= set(mount_calls._beside(now, "lazytime"))
        before = shown(memory)
        with Transaction() as transaction:
            transaction.perform(*changes(memory, lazytime="on", options="nr_inodes=99"))
            assert b"size=4096k,nr_inodes=99" in shown(memory), way
        assert shown(memory) == before


def test_a_mount_read_only_on_a_file_system_that_is_not(
    data: Path, tmp_path: Path, way: str
) -> None:
    with mounted(os.fspath(data), tmp_path / "second", "bind,ro") as second:
        before = shown(data), shown(second)
        assert b" ro," in before[1]
        with Transaction() as transaction:
            transaction.perform(*changes(second, atime="noatime"))
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


def test_what_ext4_does_not_tell_has_its_documented_default(
    data: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Kernels without /proc/fs/ext4/DEVICE/options."""
    told = {name: bound(name, data).read() for name in ("commit", "barrier", "discard")}
    monkeypatch.setattr(mount_values, "ROOT", tmp_path)
    assert {name: bound(name, data).read() for name in told} == told
    with pytest.raises(SettingError):
        bound("data", data).read()


def test_every_setting_is_tried() -> None:
    tried = {f"mount.{name}" for levels in LEVELS.values() for name, _ in levels}
    assert tried == {name for name in catalog.names() if name.startswith("mount.")}
