"""Places as a person names them: one or several, members of a volume, none for the host."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.errors import BusyError, SettingError, TargetError
from iostudy.host import stack
from iostudy.host.devices import read_device
from iostudy.settings import catalog, places
from iostudy.settings.transaction.locks import lock_devices

SCHEDULER = catalog.get("block.scheduler")


def test_a_place_is_itself_once() -> None:
    assert places.resolve_places(["sdb", "/data", "sdb"]) == ("sdb", "/data")


@pytest.mark.parametrize("place", ["", " ", "members of ", "members of  "])
def test_an_empty_name_is_not_the_working_directory(place: str) -> None:
    with pytest.raises(TargetError, match="an empty name"):
        places.resolve_places([place])


def test_a_device_without_members_is_refused() -> None:
    with pytest.raises(TargetError, match="no-such-group"):
        places.resolve_places(["members of no-such-group"])


@pytest.mark.root
def test_members_stand_for_their_volume(
    two_loops: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    groups = []

    def members_of(name: str) -> tuple[object, ...]:
        groups.append(name)
        return tuple(map(read_device, two_loops))

    monkeypatch.setattr(stack, "find_members", members_of)
    assert places.resolve_places([two_loops[1], "members of my group"]) == (
        two_loops[1],
        two_loops[0],
    )
    assert groups == ["my group"]


@pytest.mark.root
def test_a_setting_holds_on_each_place_once(two_loops: tuple[str, str]) -> None:
    one, other = two_loops
    bound = places.bind("block.scheduler", [one, other, f"/dev/{one}"])
    assert [s.label for s in bound] == [f"block.scheduler@{one}", f"block.scheduler@{other}"]


def test_a_setting_of_the_whole_host_needs_no_place() -> None:
    (setting,) = places.bind("sysctl.vm.swappiness", [])
    assert setting.read() == Path("/proc/sys/vm/swappiness").read_text().strip()


@pytest.mark.root
def test_a_tunable_is_there_where_its_scheduler_is(two_loops: tuple[str, str]) -> None:
    one, other = two_loops
    Path(f"/sys/block/{other}/queue/scheduler").write_text("bfq")
    there, elsewhere = places.bind("block.bfq.fifo_expire_sync", [other, one])
    assert int(there.read()) > 0
    with pytest.raises(SettingError, match="the scheduler is mq-deadline"):
        elsewhere.read()


@pytest.mark.root
def test_all_places_are_locked(two_loops: tuple[str, str]) -> None:
    one, other = two_loops
    with places.lock_places([one, other, f"/dev/{one}"], [SCHEDULER]):
        for device in two_loops:
            with pytest.raises(BusyError, match=device), lock_devices(device):
                pytest.fail("locked twice")
    with lock_devices(*two_loops):
        pass


def test_the_host_has_one_lock_for_what_it_has_once() -> None:
    host_wide = catalog.get("sysctl.vm.swappiness")
    with places.lock_places([], [SCHEDULER, host_wide]):
        with (
            pytest.raises(BusyError, match="the settings of the whole host"),
            places.lock_places([], [host_wide]),
        ):
            pytest.fail("locked twice")
        with places.lock_places([], [SCHEDULER]):
            pass
