"""A limit of the trial's own control group on a real kernel, whichever version it has."""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from iostudy.errors import SettingError, TargetError
from iostudy.host import cgroups
from iostudy.settings import catalog, kinds
from iostudy.settings.change import Setting
from iostudy.settings.transaction.recovery import restore_stale
from iostudy.settings.transaction.transaction import Transaction
from tests.fixtures_loop import MIB


def _limits_io() -> bool:
    try:
        return bool(cgroups.group_for_children(cgroups.io_hierarchy()))
    except TargetError:
        return False


pytestmark = [
    pytest.mark.root,
    pytest.mark.exclusive("host"),  # they list the groups of all studies
    pytest.mark.skipif(not _limits_io(), reason="no control group that limits I/O"),
]


def wanted(place: str, **values: str) -> dict[Setting, str]:
    found: dict[Setting, str] = {}
    for key, text in values.items():
        value = catalog.get(f"cgroup.{key}").parse(text)
        found |= dict.fromkeys(kinds.bind(f"cgroup.{key}", place), value)
    return found


def bytes_per_second(loop: str, *, writes: int) -> float:
    """Of direct writes of 1 MiB."""
    buffer = mmap.mmap(-1, MIB)
    descriptor = os.open(f"/dev/{loop}", os.O_WRONLY | os.O_DIRECT)
    began = time.monotonic()
    for number in range(writes):
        os.pwrite(descriptor, buffer, number * MIB)
    seconds = time.monotonic() - began
    os.close(descriptor)
    return writes * MIB / seconds


def state() -> tuple[cgroups.CgroupHierarchy, list[Path], list[list[str]]]:
    hierarchy = cgroups.io_hierarchy()
    groups = sorted(path for path in hierarchy.top.rglob("iostudy-*") if path.is_dir())
    handed_down = [cgroups.read_words(p) for p in hierarchy.top.rglob("cgroup.subtree_control")]
    return hierarchy, groups, handed_down


def test_writes_are_as_slow_as_the_limit_says_and_not_after(loop: str) -> None:
    before = state()
    values = wanted(loop, wbps="8MiB")
    with (
        Transaction() as transaction,
        transaction.apply_temporarily(*kinds.prepare_changes(values)),
    ):
        assert {s.label: s.read() for s in values} == {f"cgroup.wbps@{loop}": str(8 * MIB)}
        limited = bytes_per_second(loop, writes=6)
    assert 4 * MIB < limited < 12 * MIB
    assert bytes_per_second(loop, writes=6) > 16 * MIB
    assert state() == before


def test_threads_that_were_there_before_are_limited_too(loop: str) -> None:
    begin, rates = threading.Event(), []

    def work() -> None:
        begin.wait()
        rates.append(bytes_per_second(loop, writes=4))

    thread = threading.Thread(target=work)
    thread.start()
    with (
        Transaction() as transaction,
        transaction.apply_temporarily(*kinds.prepare_changes(wanted(loop, wiops="10"))),
    ):
        begin.set()
        thread.join()
    assert rates[0] < 20 * MIB


def test_several_limits_and_a_weight_are_one_group(loop: str) -> None:
    values = wanted(loop, rbps="1MiB", wbps="max", riops="max", wiops="20", weight="250")
    changes = kinds.prepare_changes(values)
    assert len(changes) == 1
    before = state()
    with Transaction() as transaction, transaction.apply_temporarily(*changes):
        assert [setting.read() for setting in values] == [str(MIB), "max", "max", "20", "250"]
    assert state() == before
    limits = [setting.read() for setting in values if setting.label != "cgroup.weight"]
    assert limits == ["max"] * 4


def test_the_root_has_no_weight(loop: str) -> None:
    (weight,) = wanted(loop, weight="100")
    hierarchy = cgroups.io_hierarchy()
    if hierarchy.group != hierarchy.top:
        pytest.skip("this process is not in the root")
    with pytest.raises(SettingError, match="the group has no weight"):
        weight.read()


@pytest.mark.parametrize("then", ["signal.pause()", "bytes_per_second(loop, writes=50)"])
def test_after_a_kill_the_group_is_removed(loop: str, then: str, state_dir: Path) -> None:
    """Also when the process was waiting for its turn to write."""
    before = state()
    script = (
        "import signal, sys\n"
        "from tests.device.test_cgroup import bytes_per_second, wanted\n"
        "from iostudy.settings import kinds\n"
        "from iostudy.settings.transaction.transaction import Transaction\n"
        "loop = sys.argv[1]\n"
        "Transaction().apply(*kinds.prepare_changes(wanted(loop, wbps='2MiB')))\n"
        "print('applied', flush=True)\n"
    )
    command = [sys.executable, "-c", script + then, loop]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as victim:
        try:
            assert victim.stdout is not None
            assert victim.stdout.readline() == "applied\n"
            assert len(state()[1]) == len(before[1]) + 1
        finally:
            victim.kill()
    assert victim.returncode == -signal.SIGKILL
    (said, *_) = restore_stale().undo_result.restored_values
    assert said.endswith("removed")
    assert state() == before
    assert not list(state_dir.glob("*.journal"))
