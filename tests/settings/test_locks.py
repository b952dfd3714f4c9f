import os
from pathlib import Path

import pytest

from iostudy.errors import BusyError, TargetError
from iostudy.host.stack import whole_stack
from iostudy.settings.locks import lock_devices, lock_directory
from tests.fixtures_loop import loop_disk


def test_a_folder_has_one_holder(tmp_path: Path) -> None:
    with lock_directory(tmp_path):
        with pytest.raises(BusyError) as caught, lock_directory(tmp_path):
            pytest.fail("locked twice")
        assert f"process {os.getpid()} (" in caught.value.found
    with lock_directory(tmp_path):
        pass


def test_a_lock_leaves_nothing_behind(tmp_path: Path, state_dir: Path) -> None:
    with pytest.raises(ValueError, match="inside"), lock_directory(tmp_path):
        raise ValueError("inside")
    assert list((state_dir / "locks").iterdir()) == []


def test_a_place_without_a_device_is_locked_itself() -> None:
    with lock_devices("/proc"):
        with pytest.raises(BusyError, match="/proc"), lock_devices("/proc"):
            pytest.fail("locked twice")
        with lock_devices("/sys"):
            pass


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
