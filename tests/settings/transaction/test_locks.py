import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from iostudy.errors import BusyError, TargetError, UsageError
from iostudy.folders import OUTPUT_LOCK
from iostudy.host.mounts import find_mount
from iostudy.host.stack import whole_stack
from iostudy.settings.transaction import locks as locks_module
from iostudy.settings.transaction.locks import (
    lock_affected,
    lock_devices,
    lock_directory,
    lock_host,
    lock_output_folder,
)
from tests.fixtures_loop import loop_disk

STRANGER = 65534


def test_a_folder_has_one_holder(tmp_path: Path) -> None:
    with lock_directory(tmp_path):
        with pytest.raises(BusyError) as caught, lock_directory(tmp_path):
            pytest.fail("locked twice")
        assert f"process {os.getpid()} of " in caught.value.found
        assert re.search(r", since \d\d:\d\d on \d\d \w+\)", caught.value.found)
        assert caught.value.wanted == f"{tmp_path} for this command alone"
    with lock_directory(tmp_path):
        pass


def test_a_holder_that_has_not_written_its_name_yet_is_another_iostudy(
    tmp_path: Path, locks: Path
) -> None:
    with lock_directory(tmp_path):
        (file,) = locks.iterdir()
        file.write_text("")
        with pytest.raises(BusyError) as caught, lock_directory(tmp_path):
            pytest.fail("locked twice")
    assert caught.value.found == f"another iostudy is at work on {tmp_path}"


def test_an_end_without_the_lock_file_of_an_output_folder_is_no_error(tmp_path: Path) -> None:
    with lock_output_folder(tmp_path):
        (tmp_path / OUTPUT_LOCK).unlink()


def test_a_lock_is_free_after_an_error_inside(tmp_path: Path) -> None:
    for _ in range(2):
        with pytest.raises(ValueError, match="inside"), lock_directory(tmp_path):
            raise ValueError("inside")


def test_a_file_system_without_a_device_is_one_place() -> None:
    with lock_devices("/proc"):
        with pytest.raises(BusyError, match="/proc/sys"), lock_devices("/proc/sys"):
            pytest.fail("locked twice")
        with lock_devices("/sys"):
            pass


def test_a_file_system_without_a_device_is_locked_by_its_number() -> None:
    number = find_mount(Path("/proc")).device
    with lock_devices("/proc"), pytest.raises(BusyError), lock_affected([number]):
        pytest.fail("locked twice")
    with lock_affected([number]), pytest.raises(BusyError), lock_devices("/proc/sys"):
        pytest.fail("locked twice")


@pytest.fixture
def locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for locks that is not there yet."""
    folder = tmp_path / "locks"
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(folder))
    return folder


def test_all_state_directories_see_one_lock_that_nobody_else_can_open(
    tmp_path: Path, locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with lock_directory(tmp_path):
        monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "other"))
        with pytest.raises(BusyError), lock_directory(tmp_path):
            pytest.fail("locked twice")
    assert stat.S_IMODE(locks.stat().st_mode) == (0o755 if os.geteuid() == 0 else 0o700)
    (file,) = locks.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_an_output_folder_has_one_holder_in_all_lock_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(tmp_path / "some locks"))
    with lock_output_folder(tmp_path):
        monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(tmp_path / "other locks"))
        with pytest.raises(BusyError) as caught, lock_output_folder(tmp_path):
            pytest.fail("locked twice")
        assert f"process {os.getpid()} of " in caught.value.found


def test_the_lock_of_an_output_folder_is_removed_after_any_end(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), lock_output_folder(tmp_path):
        assert [each.name for each in tmp_path.iterdir()] == [OUTPUT_LOCK]
        raise ZeroDivisionError
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("again", [False, True])
def test_a_lock_that_its_holder_removed_meanwhile_locks_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, again: bool
) -> None:
    """It was opened while another iostudy held it, which then ended."""
    own = locks_module.open_regular

    def open_and_end(path: Path, flags: int, mode: int) -> int:
        descriptor = own(path, flags, mode)
        path.unlink()
        if again:
            path.touch()
        return descriptor

    monkeypatch.setattr(locks_module, "open_regular", open_and_end)
    with pytest.raises(BusyError), lock_output_folder(tmp_path):
        pytest.fail("locked a file that is gone")


def test_no_other_user_can_open_the_lock_of_an_output_folder(tmp_path: Path) -> None:
    earlier = tmp_path / OUTPUT_LOCK
    earlier.touch()
    earlier.chmod(0o644)
    with lock_output_folder(tmp_path):
        assert stat.S_IMODE(earlier.stat().st_mode) == 0o600


def test_a_link_in_the_place_of_the_lock_of_an_output_folder_is_refused(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("data")
    (tmp_path / OUTPUT_LOCK).symlink_to(precious)
    with pytest.raises(UsageError, match="a lock on the output folder"):
        lock_output_folder(tmp_path).__enter__()
    assert precious.read_text() == "data"


def test_a_named_folder_that_cannot_be_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", "/proc/nonesuch")
    with (
        pytest.raises(UsageError, match="IOSTUDY_LOCK_DIR") as caught,
        lock_directory(tmp_path),
    ):
        pytest.fail("locked")
    assert caught.value.found == "No such file or directory"


def test_root_locks_in_a_folder_of_its_own_and_others_in_their_state_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("IOSTUDY_LOCK_DIR")
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path))
    for uid, folder in ((0, locks_module.ROOTS_FOLDER), (1000, tmp_path / "locks")):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("os.geteuid", lambda uid=uid: uid)
            assert locks_module._folder() == folder


@pytest.mark.parametrize("kind", ["link to a folder", "file", "writable", "shared"])
def test_a_folder_that_another_user_could_redirect_is_refused(
    tmp_path: Path, locks: Path, kind: str
) -> None:
    victim = tmp_path / "victim"
    victim.mkdir()
    match kind:
        case "link to a folder":
            locks.symlink_to(victim)
        case "file":
            locks.touch()
        case "writable" | "shared":
            locks.mkdir()
            locks.chmod(0o777 if kind == "writable" else 0o1777)
    with pytest.raises(UsageError), lock_directory(tmp_path):
        pytest.fail("locked")
    assert list(victim.iterdir()) == []


@pytest.mark.parametrize("kind", ["link", "dangling link", "fifo", "folder"])
def test_a_lock_must_be_a_regular_file(tmp_path: Path, locks: Path, kind: str) -> None:
    precious = tmp_path / "precious"
    with lock_directory(tmp_path):
        (file,) = locks.iterdir()
    file.unlink()
    match kind:
        case "link" | "dangling link":
            file.symlink_to(precious)
            if kind == "link":
                precious.write_text("data")
        case "fifo":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
    with pytest.raises(UsageError, match="IOSTUDY_LOCK_DIR"), lock_directory(tmp_path):
        pytest.fail("locked")
    assert (precious.read_text() if precious.exists() else "") == ("data" * (kind == "link"))


def test_the_text_of_a_lock_is_short_and_controls_no_terminal(tmp_path: Path, locks: Path) -> None:
    with lock_directory(tmp_path):
        (file,) = locks.iterdir()
        file.write_text("\x1b[2Jprocess 1\n" + "x" * 9999)
        os.truncate(file, 60 << 30)
        with pytest.raises(BusyError) as caught, lock_directory(tmp_path):
            pytest.fail("locked twice")
    assert caught.value.found.startswith("?[2Jprocess 1?xxx")
    assert len(caught.value.found) < 220 + len(str(tmp_path))


@pytest.fixture
def public() -> Iterator[Path]:
    """A folder that every user can look into; pytest closes its own to all others."""
    with TemporaryDirectory() as made:
        Path(made).chmod(0o755)
        yield Path(made)


@pytest.mark.root
def test_a_user_sees_what_root_has_locked_and_cannot_lock_it(
    public: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    strangers = public / "stranger"
    strangers.mkdir()
    os.chown(strangers, STRANGER, STRANGER)
    monkeypatch.setattr(locks_module, "ROOTS_FOLDER", public / "roots")
    monkeypatch.delenv("IOSTUDY_LOCK_DIR")
    monkeypatch.setenv("IOSTUDY_STATE_DIR", str(strangers))
    with lock_host():
        assert as_stranger(try_lock_host).startswith(f"process {os.getpid()} (")
        (file,) = (public / "roots").iterdir()
        assert "Permission denied" in as_stranger(lambda: str(file.read_bytes()))
    assert as_stranger(try_lock_host) == "locked"


def try_lock_host() -> str:
    try:
        with lock_host():
            return "locked"
    except BusyError as busy:
        return busy.found


def as_stranger(act: Callable[[], str]) -> str:
    """What the act says, or its error, in a process of a user without rights."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.setgroups([])
        os.setresgid(STRANGER, STRANGER, STRANGER)
        os.setresuid(STRANGER, STRANGER, STRANGER)
        try:
            said = act()
        except Exception as error:  # noqa: BLE001 - it is what the parent looks at
            said = str(error)
        os.write(writing, said.encode())
        os._exit(0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        said = answer.read()
    os.waitpid(child, 0)
    return said


def test_no_such_place() -> None:
    with pytest.raises(TargetError, match="No such file"), lock_devices("/no/such/place"):
        pytest.fail("locked")


@pytest.mark.root
def test_a_disk_is_locked_through_what_lies_on_it(loop: str) -> None:
    with lock_devices(loop), pytest.raises(BusyError, match=loop), lock_devices(f"/dev/{loop}"):
        pytest.fail("locked twice")


@pytest.mark.root
def test_two_devices_on_one_disk_are_not_studied_at_once(loop: str) -> None:
    if len(whole_stack(loop)) == 1:
        pytest.skip("temporary files lie on no disk")
    with loop_disk() as other, lock_devices(loop):
        with pytest.raises(BusyError) as caught, lock_devices(other):
            pytest.fail("both lie on one disk")
        assert other not in caught.value.wanted
