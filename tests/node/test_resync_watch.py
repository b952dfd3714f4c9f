"""I/O for the background work of an md array, whose state is a tree like /sys."""

from __future__ import annotations

from pathlib import Path

import pytest

from iostudy.node.volume_sync import ResyncWatch
from tests.host.sysfs import add_disk, stack_on, write

MEMBER_KB = 1024
"""The size of each disk in this tree."""
IDLE = ("idle", "none")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A tree with a mirror of sda and sdb, and a disk of its own."""
    for name, number in (("sda", "8:0"), ("sdb", "8:16"), ("sdc", "8:32")):
        add_disk(tmp_path, name, number, scheduler=None)
    files = {"md__level": "raid1\n", "md__raid_disks": "2\n", "md__degraded": "0\n"}
    add_disk(tmp_path, "md0", "9:0", scheduler=None, **files)
    stack_on(tmp_path, "md0", "sda", "sdb")
    return tmp_path


def set_state(root: Path, action: str, completed: str) -> None:
    write(root / "sys/class/block/md0/md/sync_action", f"{action}\n")
    write(root / "sys/class/block/md0/md/sync_completed", f"{completed}\n")


@pytest.mark.parametrize(
    ("before", "after", "part", "action"),
    [
        (("check", "250 / 1000"), ("check", "750 / 1000"), 0.5, "check"),
        (("resync", "250 / 1000"), IDLE, 0.75, "resync"),
        (IDLE, ("recover", "125 / 1000"), 0.125, "recover"),
        (("check", "900 / 1000"), ("resync", "100 / 1000"), 0.0, "check"),
        (("check", "none"), ("check", "delayed"), 0.0, "check"),
        (("reshape", "500 / 1000"), ("frozen", "none"), 0.5, "reshape"),
    ],
)
def test_every_member_has_the_part_that_was_done(root, before, after, part, action):
    set_state(root, *before)
    watch = ResyncWatch.begin(["md0"], root)
    set_state(root, *after)
    found = [(each.device, each.title, each.kB) for each in watch.end()]
    assert found == [(name, f"{action} of md0", part * MEMBER_KB) for name in ("sda", "sdb")]


MDSTAT = """\
Personalities : [raid1]
md1 : active raid1 sdd[1] sdc[0]
      1046528 blocks super 1.2 [2/2] [UU]
      [=>...................]  check =  9.0% (90/1000) finish=1.4min speed=11050K/sec

md0 : active raid1 sdb[1] sda[0]
      1046528 blocks super 1.2 [2/2] [UU]
      [=>...................]  check =  0.0% ({done}/1000) finish=1.4min speed=11050K/sec
      bitmap: 1/1 pages [4KB], 65536KB chunk

unused devices: <none>
"""


def test_a_short_trial_sees_the_current_position(root):
    """The kernel brings sync_completed up to date every 10 s."""
    set_state(root, "check", "0 / 1000")
    write(root / "proc/mdstat", MDSTAT.format(done=0))
    watch = ResyncWatch.begin(["md0"], root)
    write(root / "proc/mdstat", MDSTAT.format(done=25))
    assert [each.kB for each in watch.end()] == [pytest.approx(0.025 * MEMBER_KB)] * 2


@pytest.mark.parametrize("slot", ["none", "journal"])
def test_an_idle_spare_and_a_journal_have_none(root, slot):
    stack_on(root, "md0", "sdc")
    set_state(root, *IDLE)
    watch = ResyncWatch.begin(["md0"], root)
    for name, place in (("sda", "0"), ("sdb", "1"), ("sdc", slot)):
        write(root / f"sys/class/block/md0/md/dev-{name}/slot", f"{place}\n")
    set_state(root, "check", "500 / 1000")
    assert [each.device for each in watch.end()] == ["sda", "sdb"]


def test_an_idle_array_moves_nothing(root):
    set_state(root, *IDLE)
    assert ResyncWatch.begin(["md0"], root).end() == ()


def test_a_disk_outside_the_array_has_none(root):
    set_state(root, "check", "250 / 1000")
    watch = ResyncWatch.begin(["sdc"], root)
    set_state(root, "check", "750 / 1000")
    assert watch.end() == ()


def test_an_array_that_was_stopped_meanwhile_has_none(root):
    set_state(root, "check", "250 / 1000")
    watch = ResyncWatch.begin(["md0"], root)
    (root / "sys/class/block/md0/md/level").unlink()
    assert watch.end() == ()


def test_a_member_that_was_removed_meanwhile_has_none(root):
    set_state(root, "check", "250 / 1000")
    watch = ResyncWatch.begin(["md0"], root)
    (root / "sys/class/block/sdb").unlink()
    set_state(root, "check", "750 / 1000")
    assert [each.device for each in watch.end()] == ["sda"]
