"""Sysctls of this host: each is changed a little, read, and back; nothing else moves."""

from __future__ import annotations

import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError, TargetError
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Change, ConflictPolicy, Setting
from iostudy.settings.definitions.sysctl import DEFINITIONS, SysctlDefinition
from iostudy.settings.sysctl_keys import RATIO_OF, key_path
from iostudy.settings.transaction.transaction import Transaction
from tests.settings.sysctl_kernel import Kernel

pytestmark = [pytest.mark.root, pytest.mark.exclusive("host")]

FOLDERS = ("vm", "fs", "net/core", "net/ipv4")
UNDOCUMENTED = ["kernel.pid_max", "vm.max_map_count", "net.core.somaxconn", "kernel.domainname"]
PAIRS = list(RATIO_OF.items())[:2]
PAIR_KEYS = [key for pair in PAIRS for key in pair]


def host_state() -> dict[str, str]:
    """Every sysctl of the folders that can be both read and written."""
    state = {}
    for path in (p for folder in FOLDERS for p in Path("/proc/sys", folder).iterdir()):
        mode = path.stat().st_mode
        if stat.S_ISREG(mode) and mode & 0o600 == 0o600 and path.name != "stat_refresh":
            try:
                state[str(path)] = path.read_text()
            except OSError as error:
                state[str(path)] = str(error)
    return state


@pytest.fixture(autouse=True)
def _nothing_stays_changed() -> Iterator[None]:
    before = host_state()
    yield
    assert host_state() == before


def put(key: str, value: str) -> None:
    Path("/proc/sys", key_path(key)).write_text(value)


def get(key: str) -> str:
    return Path("/proc/sys", key_path(key)).read_text().strip()


@contextmanager
def kept_pairs() -> Iterator[None]:
    """Put back what limits dirty memory, in the form that the host uses."""
    before = {key: get(key) for key in PAIR_KEYS}
    try:
        yield
    finally:
        for amount, ratio in PAIRS:
            if before[amount] != "0":
                put(amount, before[amount])
            else:
                put(ratio, "99")  # the kernel ignores a ratio that it has already
                put(ratio, before[ratio])


def bound(key: str) -> Setting:
    (setting,) = kinds.bind(f"sysctl.{key}", ".")
    return setting


def change(key: str, value: str) -> Change:
    (made,) = kinds.prepare_changes({bound(key): catalog.get(f"sysctl.{key}").parse(value)})
    return made


def nearby(text: str) -> str:
    """Another value that changes next to nothing: its last number, one less or one more."""
    *others, last = text.split()
    number = int(last)
    return " ".join([*others, str(number - 1 if number > 1 else number + 1)])


def in_range(definition: SysctlDefinition, text: str) -> str:
    """An amount that is off becomes one that no test reaches."""
    return str(1 << 34) if definition.key in RATIO_OF else nearby(text)


@pytest.mark.parametrize("definition", DEFINITIONS, ids=lambda d: d.key)
def test_every_documented_key(definition: SysctlDefinition) -> None:
    if definition.replaced_by:
        with pytest.raises(TargetError, match="this kernel has none of that name"):
            bound(definition.key)
        return
    setting = bound(definition.key)
    value = definition.parse(in_range(definition, setting.read()))
    with Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes({setting: value}))
        assert setting.read() == value
        assert get(definition.key).split() == value.split()


@pytest.mark.parametrize("key", UNDOCUMENTED)
def test_keys_without_description(key: str) -> None:
    found = get(key)
    value = str(int(found) + 1) if found.isdecimal() else "iostudy.test"
    with Transaction() as transaction:
        transaction.apply(change(key, value))
        assert get(key) == value
    assert get(key) == found


def test_an_empty_text_comes_back() -> None:
    original = get("kernel.domainname")
    put("kernel.domainname", "\n")
    try:
        with Transaction() as transaction:
            transaction.apply(change("kernel.domainname", "iostudy.test"))
        assert get("kernel.domainname") == ""
    finally:
        put("kernel.domainname", f"{original}\n")


@pytest.mark.parametrize("first", ["vm.dirty_bytes", "vm.dirty_ratio"])
@pytest.mark.parametrize("second", ["vm.dirty_bytes", "vm.dirty_ratio"])
def test_one_form_upon_the_other(first: str, second: str) -> None:
    values = {"vm.dirty_bytes": ("4294967296", "8589934592"), "vm.dirty_ratio": ("30", "40")}
    with Transaction() as transaction:
        transaction.apply(change(first, values[first][0]))
        transaction.apply(change(second, values[second][1]))
        assert get(second) == values[second][1]


@pytest.mark.parametrize("found", ["vm.dirty_background_bytes", "vm.dirty_bytes"])
def test_a_host_that_counts_in_bytes(found: str) -> None:
    ratio = RATIO_OF[found]
    with kept_pairs():
        put(found, "4294967296")
        for key, value in ((found, "8589934592"), (ratio, "30")):
            with Transaction() as transaction:
                transaction.apply(change(key, value))
                assert get(key) == value
            assert (get(found), get(ratio)) == ("4294967296", "0")


def test_background_writing_at_once_comes_back() -> None:
    with kept_pairs():
        put("vm.dirty_background_ratio", "0")
        with Transaction() as transaction:
            transaction.apply(change("vm.dirty_background_bytes", "4294967296"))
        assert get("vm.dirty_background_ratio") == get("vm.dirty_background_bytes") == "0"


def test_the_kernel_of_the_unit_tests_does_as_this_one() -> None:
    """All pairs of writes to a pair of keys, here and there."""
    values = {"bytes": ("0", "4294967296", "8589934592"), "ratio": ("20", "30")}
    model = Kernel({key_path(key): get(key) for key in PAIR_KEYS})
    steps = [(key, value) for key in PAIR_KEYS for value in values[key.rpartition("_")[2]]]
    with kept_pairs():
        for key, value in [step for one in steps for two in steps for step in (one, two)]:
            assert attempt(put, key, value) == attempt(model.store, key_path(key), value)
            assert {key_path(each): get(each) for each in PAIR_KEYS} == model.values


def attempt(work, *arguments: str) -> bool:  # type: ignore[no-untyped-def]
    """Whether it was taken."""
    try:
        work(*arguments)
    except OSError:
        return False
    return True


def test_a_foreign_value_is_left_alone() -> None:
    original = get("vm.vfs_cache_pressure")
    made = change("vm.vfs_cache_pressure", "98")
    made.apply()
    try:
        put("vm.vfs_cache_pressure", "97")
        with pytest.raises(RestoreError, match="vfs_cache_pressure is 97: another process"):
            made.undo()
        assert get("vm.vfs_cache_pressure") == "97"
    finally:
        made.undo(ConflictPolicy.OVERWRITE)
    assert get("vm.vfs_cache_pressure") == original


def test_refused_value_is_restored() -> None:
    with pytest.raises(SettingError, match="the kernel refused"), Transaction() as transaction:
        transaction.apply(change("net.ipv4.tcp_congestion_control", "no-such-algorithm"))


@pytest.mark.parametrize("key", ["vm.drop_caches", "vm.compact_memory", "kernel.osrelease"])
def test_keys_without_a_way_back(key: str) -> None:
    with pytest.raises(SettingError, match="could not restore it"):
        change(key, "1")


def test_a_folder_is_no_sysctl() -> None:
    with pytest.raises(TargetError):
        bound("net.ipv4")
