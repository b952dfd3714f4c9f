import os
import stat
from pathlib import Path

import pytest

from iostudy.errors import BusyError, TargetError, UsageError
from iostudy.host.mounts import mount_holding
from iostudy.host.stack import whole_stack
from iostudy.settings.locks import (
    OUTPUT_LOCK,
    lock_devices,
    lock_directory,
    lock_output_folder,
    lock_touched,
)
from tests.fixtures_loop import loop_disk


def test_a_folder_has_one_holder(tmp_path: Path) -> None:
    with lock_directory(tmp_path):
        with pytest.raises(BusyError) as caught, lock_directory(tmp_path):
            pytest.fail("locked twice")
        assert f"process {os.getpid()} (" in caught.value.found
    with lock_directory(tmp_path):
        pass


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
    number = mount_holding(Path("/proc")).device
    with lock_devices("/proc"), pytest.raises(BusyError), lock_touched([number]):
        pytest.fail("locked twice")
    with lock_touched([number]), pytest.raises(BusyError), lock_devices("/proc/sys"):
        pytest.fail("locked twice")


def test_all_users_and_state_directories_see_one_lock(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    locks = tmp_path / "locks"
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(locks))
    with lock_directory(tmp_path):
        monkeypatch.setenv("IOSTUDY_STATE_DIR", str(tmp_path / "other"))
        with pytest.raises(BusyError), lock_directory(tmp_path):
            pytest.fail("locked twice")
    assert stat.S_IMODE(locks.stat().st_mode) == 0o1777
    (file,) = locks.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o666


def test_an_output_folder_has_one_holder_in_all_lock_folders(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(tmp_path / "some locks"))
    with lock_output_folder(tmp_path):
        monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(tmp_path / "other locks"))
        with pytest.raises(BusyError) as caught, lock_output_folder(tmp_path):
            pytest.fail("locked twice")
        assert f"process {os.getpid()} (" in caught.value.found


def test_a_link_in_the_place_of_the_lock_of_an_output_folder_is_refused(tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.write_text("data")
    (tmp_path / OUTPUT_LOCK).symlink_to(precious)
    with pytest.raises(UsageError, match="a lock on the output folder"):
        lock_output_folder(tmp_path).__enter__()
    assert precious.read_text() == "data"


def test_without_a_folder_for_the_host_locks_are_in_the_state_directory(
    tmp_path: Path, state_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", "/proc/nonesuch")
    with lock_directory(tmp_path):
        assert len(list((state_dir / "locks").iterdir())) == 1


def test_a_link_in_the_place_of_a_lock_is_not_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IOSTUDY_LOCK_DIR", str(tmp_path / "locks"))
    precious = tmp_path / "precious"
    precious.write_text("data")
    with lock_directory(tmp_path):
        (file,) = (tmp_path / "locks").iterdir()
    file.unlink()
    file.symlink_to(precious)
    with pytest.raises(UsageError, match="IOSTUDY_LOCK_DIR"), lock_directory(tmp_path):
        pytest.fail("locked")
    assert precious.read_text() == "data"


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
