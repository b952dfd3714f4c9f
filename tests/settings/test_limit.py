"""Limits of this very process: they change, they come back, and iostudy survives them."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from iostudy.errors import RestoreError, SettingError
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Setting
from iostudy.settings.definition import Reach
from iostudy.settings.definitions.limit import DEFINITIONS
from iostudy.settings.identity import ProcessIdentity
from iostudy.settings.kinds import limit
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.transaction import Transaction

NOFILE = resource.RLIMIT_NOFILE


def wanted(values: Mapping[str, str]) -> dict[Setting, str]:
    found: dict[Setting, str] = {}
    for name, value in values.items():
        (setting,) = kinds.bind(f"limit.{name}", "/nowhere")
        found[setting] = catalog.get(f"limit.{name}").parse(value)
    return found


@pytest.fixture
def original() -> Iterator[tuple[int, int]]:
    """The soft limit is below the hard one."""
    before = resource.getrlimit(NOFILE)
    resource.setrlimit(NOFILE, (before[1] - 1000, before[1]))
    yield resource.getrlimit(NOFILE)
    resource.setrlimit(NOFILE, before)


@pytest.fixture
def mighty(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if hard limits could be raised again."""
    monkeypatch.setattr(limit, "_may_raise", lambda: True)


@pytest.fixture
def powerless(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limit, "_may_raise", lambda: False)


def test_every_resource_of_the_kernel_has_two_settings() -> None:
    names = {definition.name for definition in DEFINITIONS}
    assert len(names) == 2 * 16
    assert {"limit.nofile_soft", "limit.nofile_hard", "limit.rttime_hard"} <= names
    assert all(definition.reach is Reach.WORKLOAD for definition in DEFINITIONS)


def test_limits_are_read_from_proc() -> None:
    titles = {"nofile": "Max open files", "locks": "Max file locks", "as": "Max address space"}
    lines = Path("/proc/self/limits").read_text().splitlines()
    for definition in DEFINITIONS:
        (setting,) = limit.bind(definition, ".")
        assert setting.label == definition.name
        assert definition.parse(setting.read()) == setting.read()
        if definition.resource in titles:
            (line,) = [each for each in lines if each.startswith(titles[definition.resource])]
            assert setting.read() == line[26:].split()[definition.bound == "hard"]


@pytest.mark.child
def test_the_soft_limit_holds_in_this_process_and_in_its_children(
    original: tuple[int, int],
) -> None:
    values = wanted({"nofile_soft": "1200"})
    with (
        Transaction() as transaction,
        transaction.apply_temporarily(*kinds.prepare_changes(values)),
    ):
        assert [setting.read() for setting in values] == ["1200"]
        assert resource.getrlimit(NOFILE) == (1200, original[1])
        assert subprocess.check_output(["sh", "-c", "ulimit -n"], text=True) == "1200\n"
    assert resource.getrlimit(NOFILE) == original


def test_several_resources_are_one_change(original: tuple[int, int]) -> None:
    (change,) = kinds.prepare_changes(wanted({"nofile_soft": "1200", "core_soft": "0"}))
    assert f"process {os.getpid()}" in change.describe()
    with Transaction() as transaction, transaction.apply_temporarily(change):
        assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 0
    assert resource.getrlimit(NOFILE) == original


@pytest.mark.usefixtures("mighty")
def test_soft_and_hard_are_one_call_whatever_their_order(original: tuple[int, int]) -> None:
    higher = str(original[1] + 1000)
    for values in ({"nofile_soft": higher, "nofile_hard": higher}, {"nofile_hard": "400"}):
        for order in (values, dict(reversed(values.items()))):
            (change,) = kinds.prepare_changes(wanted(order))
            after = change.record()["after"]
            assert after == {"nofile": " ".join([values["nofile_hard"]] * 2)}


@pytest.mark.child
def test_a_hard_limit_really_goes_down_and_the_soft_one_with_it(original: tuple[int, int]) -> None:
    """In a process of its own, for without CAP_SYS_RESOURCE it cannot come back."""
    script = (
        "import resource\n"
        "from iostudy.settings import kinds\n"
        "from iostudy.settings.kinds import limit\n"
        "may_raise, limit._may_raise = limit._may_raise(), lambda: True\n"
        "(setting,) = kinds.bind('limit.nofile_hard', '.')\n"
        "(change,) = kinds.prepare_changes({setting: '700'})\n"
        "change.apply()\n"
        "print(*resource.getrlimit(resource.RLIMIT_NOFILE))\n"
        "print(may_raise and change.undo() and resource.getrlimit(resource.RLIMIT_NOFILE))\n"
    )
    down, back = subprocess.check_output([sys.executable, "-c", script], text=True).splitlines()
    assert down == "700 700"
    assert back in ("False", str(original))


@pytest.mark.usefixtures("powerless")
@pytest.mark.parametrize("step", [-1, 1])
def test_a_hard_limit_without_the_privilege(original: tuple[int, int], step: int) -> None:
    """It could not be restored, or not be set: an error before any change."""
    with pytest.raises(SettingError, match="CAP_SYS_RESOURCE") as caught:
        kinds.prepare_changes(wanted({"nofile_hard": str(original[1] + step)}))
    assert "run as root" in caught.value.remedy
    assert resource.getrlimit(NOFILE) == original
    assert kinds.prepare_changes(wanted({"nofile_hard": str(original[1])}))


def test_a_soft_limit_above_the_hard_one(original: tuple[int, int]) -> None:
    with pytest.raises(SettingError, match="a hard limit of"):
        kinds.prepare_changes(wanted({"nofile_soft": str(original[1] + 1)}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("nofile_soft", "3"),
        ("as_soft", "100MiB"),
        ("data_soft", "1MiB"),
        ("stack_soft", "8KiB"),
        ("fsize_soft", "1MB"),
        ("cpu_soft", "10"),
    ],
)
def test_limits_that_iostudy_would_not_survive(name: str, value: str) -> None:
    with pytest.raises(SettingError, match=r"needs \d+ itself") as caught:
        kinds.prepare_changes(wanted({name: value}))
    assert caught.value.remedy.startswith("choose ")


@pytest.mark.parametrize("name", ["nofile", "as", "data", "stack", "fsize", "cpu"])
def test_the_usage_of_this_process_is_known(name: str) -> None:
    used = limit._used(name)
    assert 0 <= used < 1 << 45
    assert used > 2 or name in ("fsize", "cpu")


def test_unlimited_and_sizes() -> None:
    assert catalog.get("limit.fsize_soft").parse(" 2GiB") == str(2 << 30)
    assert catalog.get("limit.core_hard").parse("unlimited") == "unlimited"
    for name, text in (("nofile_soft", "-1"), ("nice_soft", "41"), ("as_hard", "8EiB")):
        with pytest.raises(ValueError, match=r"allowed|not a size"):
            catalog.get(f"limit.{name}").parse(text)


@pytest.mark.usefixtures("mighty")
def test_a_refusal_of_the_kernel_has_a_remedy(original: tuple[int, int]) -> None:
    """No kernel takes more than fs.nr_open."""
    values = wanted({"nofile_hard": "unlimited", "nofile_soft": "unlimited"})
    with pytest.raises(SettingError, match="refused") as caught, Transaction() as transaction:
        transaction.apply(*kinds.prepare_changes(values))
    assert "fs.nr_open" in caught.value.remedy
    assert resource.getrlimit(NOFILE) == original


def test_a_foreign_limit_is_reported(original: tuple[int, int]) -> None:
    (change,) = kinds.prepare_changes(wanted({"nofile_soft": "1200"}))
    change.apply()
    resource.setrlimit(NOFILE, (1300, original[1]))
    with pytest.raises(RestoreError, match="nofile is 1300"):
        change.undo()


@pytest.mark.child
def test_after_a_kill_there_is_nothing_to_undo(state_dir: Path) -> None:
    script = (
        "import os, signal\n"
        "from iostudy.settings import kinds\n"
        "from iostudy.settings.transaction.transaction import Transaction\n"
        "(setting,) = kinds.bind('limit.nofile_soft', '.')\n"
        "Transaction().apply(*kinds.prepare_changes({setting: '700'}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", script], check=False)
    assert killed.returncode == -signal.SIGKILL
    before = resource.getrlimit(NOFILE)
    (said,) = restore_stale().undo_result.restored_values
    assert "the process has ended" in said
    assert resource.getrlimit(NOFILE) == before
    assert not list(state_dir.glob("*.journal"))


def test_a_process_that_has_ended_is_not_the_one_that_has_its_number() -> None:
    own = ProcessIdentity.current()
    assert own.absence_reason() is None
    assert ProcessIdentity.from_record(own.record()) == own
    for other in (
        replace(own, start_ticks=own.start_ticks + 1),
        replace(own, boot="another"),
        replace(own, pid=2**22 + 1),
    ):
        assert other.absence_reason() == "the process has ended"


@pytest.mark.child
def test_a_zombie_has_ended() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    own = ProcessIdentity.current()
    stat = Path(f"/proc/{child.pid}/stat").read_text()
    ticks = int(stat.rpartition(")")[2].split()[19])
    assert (
        replace(own, pid=child.pid, start_ticks=ticks).absence_reason() == "the process has ended"
    )
    child.wait()
